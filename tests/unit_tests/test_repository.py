"""What the repository itself must keep to: nothing of one machine, locks in step, a typed wheel."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAME = "langchain-custom-agents"

FORBIDDEN = {
    "a machine path": re.compile(r"(?<![\w.~-])/(?:work|root|home/\w+|Users/\w+|opt/lca)/"),
    "a folder outside the repository": re.compile(r"\.\./shared"),
    "a registry host": re.compile(
        r"files\.pythonhosted|registry\.npmjs|index-url|find-links|registry="
    ),
}


def tracked() -> list[Path]:
    """Return the files under version control, or all of them outside of it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.split("\0") if name]
    return [file for file in ROOT.rglob("*") if file.is_file() and ".git" not in file.parts]


def texts() -> list[tuple[str, str]]:
    """Return the tracked texts by their names."""
    found = []
    for file in tracked():
        try:
            found.append((file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")))
        except (UnicodeDecodeError, FileNotFoundError):
            continue
    return found


@pytest.mark.parametrize("what", FORBIDDEN)
def test_nothing_names_this_machine(what: str) -> None:
    """No tracked file names a path of one machine, a folder outside, or a registry host."""
    pattern = FORBIDDEN[what]
    allowed = {".ci/lock", "tests/unit_tests/test_repository.py"}
    found = [
        f"{name}:{number}: {line.strip()[:80]}"
        for name, text in texts()
        if name not in allowed
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]

    assert found == []


def test_ci_is_executable() -> None:
    """The CI script is a program that can be started as it stands."""
    assert (ROOT / ".ci/run").stat().st_mode & 0o111


USERS = ("models", "openai", "community", "wikipedia", "testing")  # what needs no server


def requirements(*extras: str) -> list[Requirement]:
    """Return what the package and these extras ask for."""
    project = PYPROJECT["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][name] for name in extras)]
    asked = [Requirement(text) for requirements in lists for text in requirements]
    return [requirement for requirement in asked if requirement.name != NAME]


def tools() -> list[Requirement]:
    """Return what the dependency groups of CI ask for; a fuzzer is built by whoever fuzzes."""
    groups = PYPROJECT["dependency-groups"]
    asked = [Requirement(text) for name in groups if name != "fuzz" for text in groups[name]]
    return [requirement for requirement in asked if requirement.name != NAME]


def pins(lock: str) -> dict[str, set[str]]:
    """Return the versions in a lock by name."""
    found: dict[str, set[str]] = {}
    for line in (ROOT / lock).read_text(encoding="utf-8").splitlines():
        if pinned := re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line):
            found.setdefault(canonicalize_name(pinned[1]), set()).add(pinned[2])
    return found


@pytest.mark.parametrize(
    ("lock", "asked"),
    [
        ("requirements.lock", requirements(*USERS)),
        (
            ".ci/requirements.lock",
            [*requirements(*PYPROJECT["project"]["optional-dependencies"]), *tools()],
        ),
    ],
    ids=["users", "ci"],
)
def test_the_locks_are_in_step(lock: str, asked: list[Requirement]) -> None:
    """Every requirement is locked at a version it allows; if not, run `.ci/lock`."""
    locked = pins(lock)
    missing = [
        f"{requirement} is locked as {sorted(locked.get(canonicalize_name(requirement.name), []))}"
        for requirement in asked
        if not locked.get(canonicalize_name(requirement.name))
        or not all(
            requirement.specifier.contains(version, prereleases=True)
            for version in locked[canonicalize_name(requirement.name)]
        )
    ]

    assert missing == []


@pytest.mark.parametrize("lock", ["requirements.lock", ".ci/requirements.lock"])
def test_every_pin_has_a_hash(lock: str) -> None:
    """No line of a lock pins a version without hashes, and none names a place to load it from."""
    blocks = re.split(
        r"^(?=[A-Za-z0-9])", (ROOT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE
    )

    assert [block.split()[0] for block in blocks if block and "--hash=sha256:" not in block] == []
    assert "://" not in "".join(blocks)


def test_one_lock_contains_the_other() -> None:
    """CI tests with the versions that users get."""
    users, ci = pins("requirements.lock"), pins(".ci/requirements.lock")
    other = {name: ci[name] for name in users.keys() & ci.keys() if not ci[name] <= users[name]}

    assert other == {}


def test_the_changelog_names_the_version() -> None:
    """The version that would be built has its section in the changelog."""
    from langchain_custom_agents import __version__

    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert re.search(rf"^## \[(?:Unreleased|{re.escape(__version__)})\]", changelog, re.MULTILINE)


def test_every_test_says_what_it_specifies() -> None:
    """Every test function has a docstring: the sentence for which it can fail."""
    import ast

    silent = []
    for name, text in texts():
        if not (name.startswith("tests/") and Path(name).name.startswith("test_")):
            continue
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                and node.name.startswith("test_")
                and not ast.get_docstring(node)
            ):
                silent.append(f"{name}: {node.name}")

    assert silent == []
