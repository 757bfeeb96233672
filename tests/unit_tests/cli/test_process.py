"""The command line as a process: pipes, signals, locales, terminals."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from langchain_custom_agents.cli.names import AGENTS, DIALECTS
from tests.unit_tests.cli.terminal import PLAIN, started

LCA = (sys.executable, "-m", "langchain_custom_agents.cli")
QUESTION = "What is hiroko's father's occupation?"


def lca(*args, **env):
    """Run a command to its end."""
    return subprocess.run(
        [*LCA, *map(str, args)], env={**PLAIN, **env}, capture_output=True, check=False
    )


def on_a_terminal(*args, columns, **env):
    """Run a command on a terminal and return its exit code and everything written to it."""
    process, leader = started(*args, columns=columns, **env)
    written = b""
    while True:
        try:
            piece = os.read(leader, 65_536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not piece:
            break
        written += piece
    os.close(leader)
    process.join()
    return process.exitcode, written.decode()


def interrupted(*args, when, **env):
    """Run a command, send Ctrl-C when `when()` is true, and return what came of it."""
    process = subprocess.Popen(
        [*LCA, *map(str, args)],
        env={**PLAIN, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell has its background jobs ignore Ctrl-C, and what they start inherits that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    try:
        while process.poll() is None and not when():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, out.decode(), err.decode()


@pytest.fixture
def pipe(tmp_path):
    """Make a document that keeps its reader waiting, and tell when somebody reads it."""
    path = tmp_path / "waits"
    os.mkfifo(path)
    held: list[int] = []

    def read_by_somebody() -> bool:
        try:
            # Held open, so that the reader does not come to the end.
            held.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    yield path, read_by_somebody
    for descriptor in held:
        os.close(descriptor)


def test_help_loads_no_langchain():
    """`lca --help` is quick because nothing of LangChain is imported for it."""
    code = (
        "import sys\nfrom langchain_custom_agents.cli.commands import commands\n"
        "try:\n    commands.main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print(sorted(name for name in sys.modules if name.startswith(('langchain_c', 'faiss'))"
        " and not name.startswith('langchain_custom_agents')))"
    )
    for args in (["--help"], ["ask", "--help"]):
        said = subprocess.run(
            [sys.executable, "-c", code, *args], capture_output=True, text=True, check=True
        )
        assert said.stdout.endswith("\n[]\n")


def test_piped_output_is_plain():
    """Where nobody watches there are no colours and no boxes, and errors stay apart."""
    said = lca("ask", QUESTION)
    assert (said.returncode, said.stderr) == (0, b"")
    assert b"\x1b" not in said.stdout
    assert said.stdout.endswith(b"Answer: Takuma is a teacher.\n")


def test_errors_go_to_standard_error():
    """An error leaves standard output empty."""
    said = lca("ask", "x", "--docs", "/no such path")
    assert (said.returncode, said.stdout) == (1, b"")
    assert (
        said.stderr == b"Error: /no such path does not exist: give a file or a folder that does.\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell closes the input")
def test_stepping_without_an_input_ends():
    """Where standard input was closed, stepping ends as at the end of a pipe."""
    said = subprocess.run(
        ["/bin/sh", "-c", '"$@" <&-', "sh", *LCA, "ask", "--step", QUESTION],
        env=PLAIN,
        capture_output=True,
        check=False,
    )
    assert (said.returncode, said.stderr) == (1, b"")
    assert b"not finished" in said.stdout


def test_whoever_reads_may_stop_early():
    """A reader that goes away, as `head` does, ends the command without a traceback."""
    process = subprocess.Popen(
        [*LCA, "demo"], env=PLAIN, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    assert process.wait() != 0
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("args", [("--help",), ("agents",)])
def test_a_full_disk_is_one_line(args):
    """Output that cannot be written is one line and exit code 1, help included."""
    with Path("/dev/full").open("w") as full:
        said = subprocess.run(
            [*LCA, *args], env=PLAIN, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (said.returncode, said.stderr) == (1, b"Error: No space left on device.\n")


def test_ctrl_c_is_one_line(pipe):
    """Ctrl-C ends a run with one line and exit code 130."""
    path, somebody_reads = pipe
    code, _, err = interrupted("ask", "x", "--docs", path, when=somebody_reads)
    assert (code, err) == (130, "\nStopped by Ctrl-C.\n")


@pytest.mark.parametrize(
    "module", ["click", "langchain_custom_agents.cli.demo", "langchain_classic"]
)
def test_ctrl_c_while_loading_is_one_line(pipe, tmp_path, module):
    """Ctrl-C is met from the beginning, while modules are still being imported."""
    path, somebody_reads = pipe
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Waiting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        f"            open({str(path)!r}).read()\n"
        "sys.meta_path.insert(0, Waiting())\n",
        encoding="utf-8",
    )
    code, _, err = interrupted("demo", when=somebody_reads, PYTHONPATH=str(tmp_path))
    assert (code, err) == (130, "\nStopped by Ctrl-C.\n")


def test_an_interrupted_index_goes_on(tmp_path, pipe):
    """What was indexed before Ctrl-C is not indexed again by the next run."""
    path, somebody_reads = pipe
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(250):
        (notes / f"{number:03}.txt").write_text(f"Note number {number}.", encoding="utf-8")
    into = ("--into", tmp_path / "made", "--json")
    code, out, _ = interrupted("index", notes, path, *into, when=somebody_reads)
    assert (code, out) == (130, "")
    told = json.loads(lca("index", notes, *into).stdout)
    assert (told["passages"], told["skipped"] >= 100) == (250, True)


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "POSIX"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ],
)
def test_japanese_where_the_locale_is_c(env):
    """Questions and answers in Japanese survive a locale that knows only ASCII."""
    said = lca("ask", "--agent", "docstore", "琢磨の職業は?", **env)
    assert said.returncode == 0
    assert "質問: 琢磨の職業は?" in said.stdout.decode("utf-8")


def test_the_encoding_chosen_for_python_is_kept():
    """Where the user chose an encoding for Python, what it cannot hold is replaced."""
    said = lca("ask", "琢磨の職業は?", PYTHONIOENCODING="ascii")
    assert said.returncode == 0
    assert said.stdout.isascii()


def test_a_wide_terminal_shows_two_columns():
    """On a wide terminal the two agents of the demo stand side by side, in colour."""
    code, shown = on_a_terminal("demo", columns=140)
    assert code == 0
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert re.search(
        r"LangChain's LLMSingleActionAgent +┃ langchain-custom-agents' ReActAgent", plain
    )
    assert plain.rstrip().endswith("Answer: Takuma is a teacher.")


def test_a_narrow_terminal_shows_one_after_the_other():
    """On a narrow terminal one agent of the demo follows the other."""
    code, shown = on_a_terminal("demo", columns=70)
    assert code == 0
    assert "┃" not in shown
    assert "Takuma is a teacher." in shown.splitlines()[-1]


def test_no_color_is_honoured():
    """`NO_COLOR` takes the colours away on a terminal, too."""
    _, shown = on_a_terminal("ask", QUESTION, columns=80, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", shown)
    assert "Answer: " in shown


def test_a_progress_bar_appears_on_a_terminal(tmp_path):
    """While documents are read for passages a terminal shows how far it is."""
    for number in range(30):
        (tmp_path / f"{number}.txt").write_text(f"Note {number}. " * 50, encoding="utf-8")
    code, shown = on_a_terminal("ask", "--agent", "react", "--docs", tmp_path, "x", columns=80)
    assert code == 0
    assert "Reading" in shown
    assert "30/30" in shown


def test_the_table_of_agents_is_a_table_on_a_terminal():
    """On a terminal `lca agents` draws tables with every short name in them."""
    code, shown = on_a_terminal("agents", columns=100)
    assert code == 0
    assert all(f"│ {name} " in shown for name in (*AGENTS, *DIALECTS))


def test_both_names_are_installed():
    """The package installs `langchain-custom-agents` and `lca`, which are the same."""
    folder = Path(sys.executable).parent
    for name in ("langchain-custom-agents", "lca"):
        said = subprocess.run(
            [folder / name, "--help"], capture_output=True, text=True, check=False
        )
        assert said.returncode == 0
        assert said.stdout.startswith(f"Usage: {name} [OPTIONS]")
