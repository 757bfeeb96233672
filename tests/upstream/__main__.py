"""Run LangChain's own tests with our classes in place of stock's.

    python -m tests.upstream                    fetches the source distribution with pip
    python -m tests.upstream ARCHIVE.tar.gz     takes one that is there already

The tests are those of the langchain-classic that is installed. They are run twice: as they are, to
see which of them hold for stock here, and with `swap.py`, which puts our classes where they import
stock's. What holds for stock and not for us must be listed, with its reason, in `differences.py`;
what is listed must differ. Nothing of LangChain's is kept in this repository.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

from tests.upstream.differences import DIFFERENCES, FILES

_HERE = Path(__file__).parent

_INI = """
[pytest]
asyncio_mode = auto
addopts =
markers =
    requires: needs packages
    community: needs langchain-community
    scheduled: runs on a schedule
    compile: imports only
"""


def _unpack(packed, folder):
    """Write the files of an archive below a folder: not every Python has the filter for it."""
    root = folder.resolve()
    for member in packed.getmembers():
        target = (root / member.name).resolve()
        if member.isfile() and target.is_relative_to(root):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(packed.extractfile(member).read())


def main(arguments: list[str]) -> int:
    """Run the tests and compare.

    Args:
        arguments: The path of a source distribution, or nothing.

    Returns:
        0 if exactly the listed tests differ.
    """
    wanted = version("langchain-classic")
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(arguments[0]) if arguments else _fetch(wanted, Path(folder))
        with tarfile.open(archive) as packed:
            _unpack(packed, Path(folder))
        source = Path(folder) / f"langchain_classic-{wanted}"
        (source / "pytest.ini").write_text(_INI, encoding="utf-8")
        stock = _outcomes(source, swapped=False)
        ours = _outcomes(source, swapped=True)
    held = {test for test, outcome in stock.items() if outcome == "passed"}
    lost = {test for test in held if ours.get(test) != "passed"}
    unexpected, stale = sorted(lost - set(DIFFERENCES)), sorted(set(DIFFERENCES) - lost)
    for test in sorted(lost & set(DIFFERENCES)):
        print(f"differs  {test}\n         {DIFFERENCES[test]}")
    for test in unexpected:
        print(f"LOST     {test}: holds for stock, and is not in tests/upstream/differences.py")
    for test in stale:
        print(f"STALE    {test}: listed in tests/upstream/differences.py, and does not differ")
    if not held:
        print("No test held for stock: the tests were not found or could not run.")
    print(
        f"langchain-classic {wanted}: {len(held)} tests hold for stock, "
        f"{len(held) - len(lost)} of them for ours, "
        f"{len(lost - set(unexpected))} differ as listed, "
        f"{len(unexpected)} unexpectedly."
    )
    return 1 if unexpected or stale or not held else 0


def _fetch(wanted: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest", str(folder)]
    package = ["--no-binary", "langchain-classic", f"langchain-classic=={wanted}"]
    subprocess.run([*command, *package], check=True)
    return next(folder.glob("langchain_classic-*.tar.gz"))


def _outcomes(source: Path, *, swapped: bool) -> dict[str, str]:
    """Run the chosen tests in a process of their own, and return how each ended."""
    report = source / "outcomes.json"
    report.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": str(_HERE),
        "LCA_UPSTREAM_OUTCOMES": str(report),
        "LCA_UPSTREAM_SWAP": "1" if swapped else "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    files = [f"tests/unit_tests/{name}" for name in FILES]
    plugins = ["-p", "swap", "-p", "pytest_asyncio.plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", *plugins, *files]
    run = subprocess.run(
        command, cwd=source, env=environment, capture_output=True, text=True, check=False
    )
    if not report.exists():
        sys.exit(f"LangChain's tests could not be run:\n{run.stdout}\n{run.stderr}")
    if swapped and os.environ.get("LCA_UPSTREAM_SHOW"):
        print(run.stdout)
    outcomes: dict[str, str] = json.loads(report.read_text(encoding="utf-8"))
    return outcomes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
