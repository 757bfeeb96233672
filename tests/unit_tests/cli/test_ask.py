"""`lca ask`."""

import json
import sys

import pytest

from langchain_custom_agents.cli.citing import sources_of
from langchain_custom_agents.cli.drama import QUESTION
from langchain_custom_agents.cli.names import AGENTS


def test_without_anything_hiroko_is_asked_about(lca):
    """With no source and no model the stand-in reads the five sentences, and says what it is."""
    said = lca("ask", QUESTION)
    lines = said.output.splitlines()
    assert said.exit_code == 0
    assert lines[0] == "Model: the extractive stand-in, offline (not a language model)"
    assert lines[-1] == "Answer: Takuma is a teacher."


@pytest.mark.parametrize("agent", ["react", "docstore", "structured", "functions"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("宏子の父の職業は何ですか?", "琢磨は教師です。"),
        ("宏子的父亲的职业是什么?", "琢磨是教师。"),
    ],
)
def test_hiroko_is_asked_about_in_other_languages(lca, agent, question, answer):
    """Asked in Japanese or Chinese, the five sentences are in that language."""
    said = lca("ask", "--agent", agent, "--quiet", question)
    assert (said.exit_code, said.output) == (0, f"{answer}\n")


def test_steps_appear_in_order(lca):
    """Thought, call and observation are shown in the order in which they happened."""
    lines = lca("ask", QUESTION).output.splitlines()
    kinds = [line.split(":")[0] for line in lines[3:]]
    step = ["Thought", "Search", "Observation"]
    assert kinds == ["Question", *step, *step, "Thought", "Answer"]


@pytest.mark.parametrize("agent", [*AGENTS, *AGENTS.values()])
def test_every_agent_answers(lca, agent):
    """Every agent type, by its short and its full name, answers the question about Hiroko."""
    said = lca("ask", "--agent", agent, "--quiet", QUESTION)
    assert (said.exit_code, said.output) == (0, "Takuma is a teacher.\n")


def test_json_is_one_object(lca):
    """`--json` prints one object with question, steps, answer and sources."""
    told = json.loads(lca("ask", "--json", "--agent", "docstore", QUESTION).stdout)
    assert told["question"] == QUESTION
    assert told["answer"] == "Takuma is a teacher."
    assert [step["action"] for step in told["steps"]] == ["Search", "Search"]
    assert told["steps"][1]["observation"] == "takuma is a teacher."
    assert [source["title"] for source in told["sources"]] == ["Hiroko", "Takuma"]


def test_docs_are_read_page_by_page(lca, notes):
    """Documents are opened with Search and Lookup; the answer names its source."""
    told = json.loads(lca("ask", "--json", "--docs", notes, "Where does Ms Mori live?").stdout)
    assert told["agent"] == "react-docstore"
    assert "Nara" in told["answer"]
    assert [source["source"] for source in told["sources"]] == [str(notes / "mori.txt")]


@pytest.mark.parametrize("options", [("--agent", "react"), ("--k", "2")])
def test_docs_are_read_as_passages_where_passages_are_asked_for(lca, notes, options):
    """An agent of another type, or a number of passages, searches passages, with scores."""
    told = json.loads(
        lca("ask", "--json", "--docs", notes, *options, "Where does she live?").stdout
    )
    assert told["agent"] == "zero-shot-react-description"
    assert "Nara" in told["answer"]
    assert all(0 <= source["score"] <= 1 for source in told["sources"])


def test_several_paths_follow_one_option(lca, notes):
    """`--docs` takes several paths, and the question after them is still the question."""
    said = lca(
        "ask", "-q", "--docs", notes / "lease.md", notes / "mori.txt", "Where does she live?"
    )
    assert (said.exit_code, said.output) == (0, "She lives in Nara.\n")


def test_japanese_is_answered_in_japanese_form(lca, tmp_path):
    """A question in Japanese is asked, shown and answered in Japanese."""
    (tmp_path / "琢磨.txt").write_text("琢磨は教師です。", encoding="utf-8")
    said = lca("ask", "--docs", tmp_path, "--agent", "react", "琢磨の職業は何ですか?")
    assert "Agent: zero-shot-react-description, japanese" in said.output
    assert "質問: 琢磨の職業は何ですか?" in said.output
    assert "観察: 琢磨は教師です。" in said.output
    assert "回答: 琢磨は教師です。" in said.output


def test_terminal_codes_in_documents_do_nothing(lca, tmp_path):
    """Escape codes in a document, and in a question, are spelled out in every output."""
    (tmp_path / "evil.txt").write_text("Mallory is a thief\x1b[2J\x9b31m.", encoding="utf-8")
    for form in ((), ("--quiet",), ("--json",)):
        said = lca("ask", "--docs", tmp_path, *form, "Who is Mallory? \x1b[31m")
        assert said.exit_code == 0
        assert not {"\x1b", "\x9b"} & set(said.output)
        assert "Mallory is a thief" in said.output


def test_limit_makes_the_model_answer(lca):
    """After the last round the model answers with what was found, and this is marked."""
    told = json.loads(lca("ask", "--json", "--max-iterations", "1", QUESTION).stdout)
    assert len(told["steps"]) == 1
    assert told["stopped"] is True
    assert "A limit ended the run" in lca("ask", "--max-iterations", "1", QUESTION).stdout
    assert "A limit ended the run" not in lca("ask", QUESTION).stdout


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ((), 2, "Missing argument 'QUESTION'"),
        (("",), 2, "The question is empty"),
        ((" \n",), 2, "The question is empty"),
        (("x", "--agent", "reactt"), 2, "'reactt' is not one of"),
        (("x", "--dialect", "latin"), 2, "'latin' is not one of"),
        (("x", "--k", "0"), 2, "--k"),
        (("x", "--json", "--quiet"), 2, "give one of them"),
        (("x", "--wikipedia", "--index", "y"), 2, "--wikipedia and --index name two sources"),
        (("x", "--language", "ja"), 2, "give --wikipedia"),
        (("x", "--docs", ""), 2, "The path is empty"),
        (("x", "--index", ""), 2, "The path is empty"),
        (("x", "--docs", "/no such path"), 1, "/no such path does not exist"),
        (("--docs", ".", "no such.md", "x"), 2, "there are 2: 'no such.md', 'x'. Put it in"),
        (("--docs", ".", "gone.md", "x"), 1, "gone.md does not exist"),
        (("Who", "is", "it?"), 2, "there are 3: 'Who', 'is', 'it?'"),
        (("x", "--index", "/no such path"), 1, "lca index PATH --into"),
        (("x", "--index", "mysql://h/d"), 1, "no known kind of store"),
        (("x", "--wikipedia"), 1, "--contact EMAIL"),
        (("x", "--wikipedia", "--language", "no such"), 1, "--language is"),
        (("x", "--wikipedia", "--contact", "me"), 1, "give --contact"),
        (("x", "--api-url", "my wiki"), 1, "--api-url must be"),
        (("x", "--model", "gpt-4o"), 1, "There is no key for gpt-4o"),
        (("x", "--model", "fantasy"), 1, "give PROVIDER:NAME"),
        (("x", "--model", "openai:gpt-4o"), 1, "set the environment variable OPENAI_API_KEY"),
        (("x", "--model", "openai-text:davinci"), 1, "OPENAI_API_KEY"),
        (("x", "--model", "openai-text:x", "--agent", "functions"), 1, "cannot call tools"),
        (("x", "--embeddings", "openai:small"), 1, "OPENAI_API_KEY"),
    ],
)
def test_errors_are_one_sentence(lca, args, code, said):
    """Whatever is wrong is said in a sentence on standard error, with the right exit code."""
    result = lca("ask", *args)
    last = result.output.rstrip().splitlines()[-1]
    assert (result.exit_code, last.startswith("Error: ")) == (code, True), result.output
    assert said in last
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("missing", "args", "install"),
    [
        ("langchain", ("--model", "openai:gpt-4o"), "'langchain-custom-agents[models]'"),
        ("langchain", ("--embeddings", "openai:small"), "'langchain-custom-agents[models]'"),
        ("langchain_openai", ("--model", "openai-text:x"), "'langchain-custom-agents[openai]'"),
        ("langchain_groq", ("--model", "groq:llama-3"), "langchain-groq"),
        ("langchain_postgres", ("--index", "postgresql://h/d"), "langchain-postgres"),
        ("langchain_milvus", ("--index", "milvus:x.db"), "langchain-milvus"),
        ("markitdown", ("--docs", "page.html"), "'langchain-custom-agents[docs]'"),
    ],
)
def test_what_is_not_installed_is_named(lca, monkeypatch, tmp_path, missing, args, install):
    """What needs a package that is not installed says how to install it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_text("<p>x</p>", encoding="utf-8")
    for name in [name for name in sys.modules if name.split(".")[0] == missing] or [missing]:
        monkeypatch.setitem(sys.modules, name, None)
    said = lca("ask", "x", *args)
    assert said.exit_code == 1
    assert said.output.rstrip().splitlines()[-1].startswith("Error: ")
    assert f"pip install {install}" in said.output


def test_documents_without_text_are_refused(lca, tmp_path):
    """A folder without documents, and one whose documents are empty, are named."""
    assert "holds no document" in lca("ask", "x", "--docs", tmp_path).output
    (tmp_path / "empty.md").write_text(" \n", encoding="utf-8")
    for agent in ("docstore", "react"):
        said = lca("ask", "x", "--docs", tmp_path, "--agent", agent)
        assert said.exit_code == 1
        assert "text" in said.output
        assert str(tmp_path) in said.output


def test_a_document_that_is_not_text_is_named(lca, tmp_path):
    """A file that is not UTF-8 is named, whichever way it is read."""
    file = tmp_path / "latin.txt"
    file.write_bytes("Müller".encode("latin-1"))
    for agent in ("docstore", "react"):
        said = lca("ask", "x", "--docs", file, "--agent", agent)
        assert said.exit_code == 1
        assert f"{file} is not UTF-8 text" in said.output


def test_sources_are_named_once_with_their_best_score():
    """A source found several times stands once, where it was found first, with its best score."""
    from langchain_core.documents import Document

    def found(title: str, score: float) -> Document:
        return Document("x", metadata={"title": title, "source": f"/{title}", "score": score})

    told = sources_of([found("b", 0.2), found("a", 0.9), found("b", 0.4), Document("no source")])
    assert told == [
        {"title": "b", "source": "/b", "score": 0.4},
        {"title": "a", "source": "/a", "score": 0.9},
    ]
