"""`lca ask --step`: a run that waits after every move, with keys from a pipe and on a terminal."""

import os
import re
import select
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from langchain_custom_agents.cli.commands import commands
from tests.unit_tests.cli.terminal import started

QUESTION = "What is hiroko's father's occupation?"


def stepped(*keys: str, args: tuple[str, ...] = (QUESTION,)) -> Result:
    """Step through a run with keys from a pipe."""
    said = "".join(f"{key}\n" for key in keys)
    return CliRunner().invoke(commands, ["ask", "--step", *args], input=said)


def test_enter_goes_on_to_the_answer():
    """Every Enter is one move; the answer is told once, and the exit code is 0."""
    said = stepped(*[""] * 5)
    lines = said.output.splitlines()
    assert said.exit_code == 0, said.output
    assert [line for line in lines if line.startswith("Observation")] == [
        "Observation: hiroko's father is takuma",
        "Observation: takuma is a teacher",
    ]
    assert lines.count("Answer: Takuma is a teacher.") == 1
    assert lines[-1].startswith("answered: ")


def test_the_run_can_be_changed_on_its_way():
    """Another observation leads to another answer; going back asks again."""
    said = stepped("", "", "b", "", "", "o", "hiroko's father is ayako", "f")
    assert said.exit_code == 0, said.output
    assert "Search: ayako's occupation" in said.output
    assert "Answer: Ayako is a doctor." in said.output


@pytest.mark.parametrize(("keys", "code"), [((), 1), (("", ""), 1), (("q",), 1), (("f",), 0)])
def test_a_run_that_is_left_says_how_far_it_went(keys, code):
    """The end of the input and `q` end the run with its last line; without an answer with 1."""
    said = stepped(*keys)
    last = said.output.splitlines()[-1]
    assert said.exit_code == code
    assert last.startswith("answered: " if code == 0 else "not finished: ")


@pytest.mark.parametrize("form", ["--json", "--quiet"])
def test_stepping_has_one_form(form):
    """Stepping shows everything, so it goes with no other form."""
    said = stepped(args=(QUESTION, form))
    assert said.exit_code == 2
    assert f"{form} and --step say two things about the output" in said.output


@pytest.mark.parametrize("agent", ["react", "structured", "functions", "docstore", "self-ask"])
def test_every_agent_can_be_stepped_through(agent):
    """Agents of every kind wait after every move, tool calls included."""
    said = stepped("", "p", "s", "f", args=(QUESTION, "--agent", agent))
    assert said.exit_code == 0, said.output
    assert "Takuma is a teacher." in said.output


def test_terminal_codes_in_documents_do_nothing(tmp_path):
    """What a document says is spelled out wherever a key shows it."""
    (tmp_path / "evil.txt").write_text("Mallory is a thief\x1b[2J\x9b31m.", encoding="utf-8")
    said = stepped(
        *["", "", "p", "s", "f"], args=("--docs", str(tmp_path), "--", "Who is Mallory? \x1b[31m")
    )
    assert said.exit_code == 0, said.output
    assert "Mallory is a thief" in said.output
    assert not {"\x1b", "\x9b"} & set(said.output)


class Terminal:
    """A terminal with somebody who reads what is asked before typing."""

    def __init__(self, *args: str) -> None:
        self.process, self.leader = started(*args, columns=100, COLUMNS="100")
        self.shown = ""

    def until(self, pattern: str) -> str:
        """Read until something is shown, and return what was shown since last time."""
        begin = len(self.shown)
        while not re.search(pattern, self.shown[begin:]):
            piece = self._read()
            assert piece, f"{pattern!r} was not shown:\n{self.shown}"
            self.shown += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", piece)
        return self.shown[begin:]

    def type(self, keys: str) -> None:
        """Type, once somebody reads: what comes between prompt and reading may be lost."""
        state = Path(f"/proc/{self.process.pid}/stat")
        while state.exists() and state.read_text().rpartition(")")[2].split()[0] != "S":
            time.sleep(0.01)
        os.write(self.leader, keys.encode())

    def end(self) -> int | None:
        """Read to the end and return the exit code."""
        while piece := self._read():
            self.shown += piece
        os.close(self.leader)
        self.process.join()
        return self.process.exitcode

    def _read(self) -> str:
        ready, _, _ = select.select([self.leader], [], [], 120)
        assert ready, f"Nothing more was shown after:\n{self.shown}"
        try:
            return os.read(self.leader, 65_536).decode("utf-8", "replace")
        except OSError:  # Linux says so when the other end is closed
            return ""


def test_on_a_terminal_each_key_is_answered():
    """On a real terminal a prompt waits for each key, and what is typed stands there once."""
    terminal = Terminal("ask", "--step", QUESTION)
    terminal.until(r"plan> $")
    terminal.type("\n")
    assert "Search: hiroko's father" in terminal.until(r"act> $")
    terminal.type("i\n")
    terminal.until(r"input> $")
    terminal.type("Takuma\n")
    assert "Action(tool='Search', input='Takuma')" in terminal.until(r"act> $")
    terminal.type("f\n")
    assert terminal.end() == 0
    assert terminal.shown.count("Takuma is a teacher.") == 1


@pytest.mark.parametrize(("keys", "code"), [("\x03", 130), ("\x04", 1)])
def test_ctrl_c_and_ctrl_d_end_with_what_was_done(keys, code):
    """Ctrl-C and the end of the input leave the run with its last line, and no traceback."""
    terminal = Terminal("ask", "--step", QUESTION)
    terminal.until(r"plan> $")
    terminal.type("\n")
    terminal.until(r"act> $")
    terminal.type(keys)
    assert terminal.end() == code
    assert "not finished: The run has not ended." in terminal.shown
    assert ("Stopped by Ctrl-C." in terminal.shown) == (code == 130)
    assert "Traceback" not in terminal.shown
