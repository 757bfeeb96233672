"""`lca ask --model` and `--embeddings` through the real OpenAI clients, against llmock."""

import json

import pytest
from click.testing import CliRunner

from langchain_custom_agents.cli.commands import commands

pytestmark = pytest.mark.integration

QUESTION = "What is hiroko's father's occupation?"


@pytest.fixture
def lca(llmock, monkeypatch):
    """Run a command whose models are llmock's."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", llmock.base_url())
    monkeypatch.setenv("OPENAI_API_BASE", llmock.base_url())

    def run(*args):
        return CliRunner().invoke(commands, [str(arg) for arg in args])

    return run


def test_a_chat_model_reasons_and_acts(lca, llmock):
    """A chat model's invention is cut, its search is made, and its answer is printed."""
    llmock.reply("I look\nAction: Search\nAction Input: takuma\nObservation: a doctor")
    llmock.reply("I know\nFinal Answer: a teacher")
    said = lca("ask", "--model", "openai:gpt-4o-mini", "--json", QUESTION)
    told = json.loads(said.stdout)
    assert (said.exit_code, told["answer"], told["model"]) == (0, "a teacher", "openai:gpt-4o-mini")
    (step,) = told["steps"]
    assert step["cut"].startswith("Observation:")
    assert "takuma" in step["observation"]


def test_a_chat_model_calls_tools(lca, llmock):
    """With `--agent functions` the provider's tool calling is used, and every step is shown."""
    llmock.call_tool("Search", {"query": "takuma's occupation"})
    llmock.reply("A teacher.")
    said = lca("ask", "--model", "openai:gpt-4o-mini", "--agent", "functions", QUESTION)
    assert said.exit_code == 0
    assert said.output.splitlines()[-3:] == [
        "Search: takuma's occupation",
        "Observation: takuma is a teacher",
        "Answer: A teacher.",
    ]


def test_a_misreading_is_shown_and_corrected(lca, llmock):
    """What the model was told about a misreading is shown."""
    llmock.reply("I look\nAction: Browse the web\nAction Input: takuma")
    llmock.reply("I know\nFinal Answer: a teacher")
    said = lca("ask", "--model", "openai:gpt-4o-mini", QUESTION)
    assert said.exit_code == 0
    assert "\nCorrected: " in said.output


def test_a_model_that_is_never_read_is_a_failure(lca, llmock):
    """If no reply can be read the exit code is 1, and the last line says why."""
    llmock.reply("Action: Browse\nAction Input: x", times=None)
    said = lca("ask", "--model", "openai:gpt-4o-mini", QUESTION)
    assert said.exit_code == 1
    assert "could not be read" in said.output.splitlines()[-1]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "refused the key"),
        (404, "does not exist where it was asked for"),
        (429, "is over its limit"),
        (500, "answered with an error 500"),
    ],
)
def test_what_a_provider_answers_becomes_a_sentence(lca, llmock, status, said):
    """An error of the provider is one sentence that names the model."""
    llmock.fail(status, times=None)
    result = lca("ask", "--model", "openai:gpt-4o-mini", QUESTION)
    assert result.exit_code == 1
    last = result.output.splitlines()[-1]
    assert last.startswith("Error: openai:gpt-4o-mini")
    assert said in last


@pytest.mark.parametrize("model", ["openai:gpt-4o-mini", "openai-text:davinci"])
def test_a_model_that_is_not_there_becomes_a_sentence(lca, monkeypatch, model):
    """A server that does not listen is named as unreachable, for both kinds of model."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    result = lca("ask", "--model", model, QUESTION)
    assert result.exit_code == 1
    assert f"Error: {model} cannot be reached" in result.output


def test_embeddings_of_a_provider(lca, llmock, notes):
    """Passages and questions are embedded by the model named, as text."""
    said = lca("search", "--embeddings", "openai:text-embedding-3-small", "--docs", notes, "notice")
    assert said.exit_code == 0
    assert isinstance(llmock.requests[0].body["input"][0], str)


def test_an_index_names_the_embeddings_it_was_made_with(lca, llmock, notes, tmp_path):
    """An index opened with other embeddings is refused, and says which made it."""
    into = tmp_path / "made"
    known = ("--embeddings", "openai:text-embedding-3-small")
    assert lca("index", notes, "--into", into, *known).exit_code == 0
    assert lca("search", "--index", into, *known, "notice").exit_code == 0
    said = lca("search", "--index", into, "notice")
    assert said.exit_code == 1
    assert "text-embedding-3-small" in said.output


@pytest.fixture
def notes(tmp_path):
    """Make a document."""
    path = tmp_path / "lease.txt"
    path.write_text("The notice period is three months.", encoding="utf-8")
    return path
