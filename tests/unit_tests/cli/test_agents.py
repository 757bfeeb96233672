"""`lca agents`, and the choice of agent and dialect."""

import click
import pytest

from langchain_custom_agents.agents.types import AGENTS as ROWS
from langchain_custom_agents.cli.agents import choose, dialect_named
from langchain_custom_agents.cli.names import AGENTS, DIALECTS
from langchain_custom_agents.dialects import Action, Answer


def test_names_are_those_of_the_table():
    """The short names stand for exactly the agent types of the table."""
    assert sorted(AGENTS.values()) == sorted(kind.value for kind in ROWS)


def test_output_shows_every_row(lca):
    """Every agent type with its use, and every dialect, stands on a line of its own."""
    lines = lca("agents").output.splitlines()
    for kind, row in ROWS.items():
        assert any(kind.value in line.split("\t") and row.use in line for line in lines)
    assert all(any(line.startswith(f"{name}\t") for line in lines) for name in DIALECTS)


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_can_be_made(name):
    """Every dialect that can be named writes an action and an answer and reads them back."""
    dialect = dialect_named(name)
    tool = dialect.only_tool or "Search"
    for move in (Action(tool, "Hiroko"), Answer("a teacher")):
        assert dialect.read(dialect.write("I think", move), [tool]).move == move


@pytest.mark.parametrize(
    ("agent", "dialect", "language", "chosen"),
    [
        (None, None, "en", ("zero-shot-react-description", None)),
        (None, None, "ja", ("zero-shot-react-description", "japanese")),
        (None, None, "zh", ("zero-shot-react-description", "chinese")),
        (None, "english", "ja", ("zero-shot-react-description", "english")),
        (None, "json", "en", ("structured-chat-zero-shot-react-description", "json")),
        (None, "self-ask", "en", ("self-ask-with-search", "self-ask")),
        (None, "conversational", "en", ("conversational-react-description", "conversational")),
        ("docstore", None, "zh", ("react-docstore", "bracketed-zh")),
        ("docstore", "english", "zh", ("react-docstore", "english")),
        ("react-docstore", None, "en", ("react-docstore", None)),
        ("functions", None, "ja", ("openai-functions", None)),
        ("self-ask", None, "ja", ("self-ask-with-search", None)),
    ],
)
def test_choice(agent, dialect, language, chosen):
    """What the user names is taken; the question's language chooses among what is left."""
    assert choose(agent, dialect, language, "zero-shot-react-description") == chosen


def test_a_dialect_does_not_go_with_tool_calling():
    """A dialect for an agent without one is refused, and the sentence says why."""
    with pytest.raises(click.UsageError, match="the provider owns the form"):
        choose("functions", "english", "en", "")
