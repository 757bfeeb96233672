"""What the documentation says about the command line."""

import re
import shlex
from pathlib import Path

import pytest

from langchain_custom_agents.cli.commands import COMMANDS, commands

_ROOT = Path(__file__).parents[3]
_PAGES = [*sorted((_ROOT / "docs").rglob("*.md")), _ROOT / "README.md"]
_SHOWN = re.compile(r"^lca .+$", re.MULTILINE)
_LINES = sorted({line for page in _PAGES for line in _SHOWN.findall(page.read_text("utf-8"))})


def test_there_are_commands_to_check():
    """The page about the command line shows how every command is called."""
    assert len(_LINES) > 8


@pytest.mark.parametrize("line", _LINES)
def test_every_command_shown_is_understood(line):
    """A command line in the documentation parses: its command and its options exist."""
    name, *args = shlex.split(line.split(" #")[0])[1:]
    assert name in COMMANDS
    command = commands.get_command(None, name)
    command.make_context(name, args)


def test_every_command_is_documented():
    """Every command stands in the table of the page."""
    page = (_ROOT / "docs" / "command-line.md").read_text("utf-8")
    assert all(f"| `lca {name}` |" in page for name in COMMANDS)
