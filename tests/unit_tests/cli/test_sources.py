"""Where answers come from."""

import click
import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_custom_agents.cli.errors import Failure
from langchain_custom_agents.cli.sources import (
    Source,
    SourceOptions,
    _without_password,
    open_source,
    progress_on,
    repeat_docs,
)
from langchain_custom_agents.docstores.base import Trouble
from langchain_custom_agents.offline import HashingEmbeddings


def test_paths_end_where_no_such_path_is(notes):
    """Only paths that exist are taken for more documents: the question is left alone."""
    a, b = str(notes / "lease.md"), str(notes / "mori.txt")
    args = ["--docs", a, b, "Who is it?", "--k", "2"]
    assert repeat_docs(args) == ["--docs", a, "--docs", b, "Who is it?", "--k", "2"]


@pytest.mark.parametrize("path", ["覚書.md", "notes/2024", "gone/", "scan.PDF", "~/lease.rst"])
def test_what_is_written_like_a_path_is_one(path):
    """A word with a document's ending, or with a slash, is a path though it does not exist."""
    args = ["--docs", ".", path, "Who?"]
    assert repeat_docs(args) == ["--docs", ".", "--docs", path, "Who?"]


@pytest.mark.parametrize(
    "question", ["What is in lease.md", "A/Bテストとは？", "and/or?", "https://example.org/x"]
)
def test_a_question_may_name_a_path(question):
    """Several words, a question mark and an address are no path, whatever they name."""
    assert repeat_docs(["--docs", ".", question]) == ["--docs", ".", question]


def test_two_dashes_end_the_paths(notes):
    """After `--` everything is the question, even the name of a file."""
    path = str(notes)
    assert repeat_docs(["--docs", path, "--", path]) == ["--docs", path, "--", path]


def test_nothing_is_not_the_folder_one_is_in():
    """An empty question stays one, to be refused: it is no path, though Python opens it as one."""
    assert repeat_docs(["--docs", ".", ""]) == ["--docs", ".", ""]


def test_a_question_too_long_for_a_name_is_a_question():
    """A question longer than any file name is no path, and no error."""
    question = "why? " * 2_000
    assert repeat_docs(["--docs", ".", question]) == ["--docs", ".", question]


@pytest.mark.parametrize("agent", ["react-docstore", "zero-shot-react-description"])
def test_folders_have_pages_and_passages(notes, agent):
    """The agent type decides which tools read a folder."""
    source = open_source(SourceOptions(docs=(notes,)))
    names = [tool.name for tool in source.tools(agent)]
    assert names == (["Search", "Lookup"] if agent == "react-docstore" else ["Search"])


def test_self_ask_has_its_own_name_for_search(notes):
    """The one tool of self-ask is named as that form wants it."""
    source = open_source(SourceOptions(docs=(notes,)))
    assert [tool.name for tool in source.tools("self-ask-with-search")] == ["Intermediate Answer"]


def test_what_is_found_is_noted(notes):
    """Pages and passages that a tool returns are noted for the sources of the answer."""
    source = open_source(SourceOptions(docs=(notes,)))
    source.tools("react-docstore")[0].run("Mori")
    source.tools("zero-shot-react-description")[0].run("the notice period")
    assert [found.metadata["title"] for found in source.found][:2] == ["mori", "Lease"]
    assert "score" in source.found[1].metadata


def test_pages_that_could_not_be_asked_for_are_a_failure():
    """Where no page could be asked for there is no answer, not even "The documents do not say."."""

    class Wiki:
        says = Trouble(
            "wiki.example.org has trouble of its own (503). Check `api_url`, or answer from what "
            "is known."
        )

        def search(self, search: str, /) -> str | Document:
            return self.says

    wiki = Wiki()
    source = Source("a wiki", lambda: wiki)
    search, _ = source.tools("react-docstore")
    assert source.answered("?", [])["answer"] == "?"  # nobody asked
    search.run("Takuma")
    with pytest.raises(Failure, match=r"trouble of its own \(503\)\. Check --api-url\.\Z"):
        source.answered("The documents do not say.", [])
    wiki.says = 'Could not find "Takuma".'
    search.run("Takuma")

    assert source.answered("The documents do not say.", [])["sources"] == []


def test_a_store_without_relevance_still_answers():
    """A store that knows no relevance gives passages without scores."""

    class Bare(InMemoryVectorStore):
        def similarity_search_with_relevance_scores(self, *_, **__):
            raise NotImplementedError

    store = Bare(HashingEmbeddings())
    store.add_documents([Document("Ayako paints.")])
    source = Source("it", store=lambda: store)
    (found,) = source.finder()("Ayako")
    assert (found.page_content, found.metadata) == ("Ayako paints.", {})


def test_passages_are_not_pages(tmp_path):
    """A source of passages cannot be looked up, and says what can."""
    with pytest.raises(Failure, match="--docs or --wikipedia"):
        Source("it", store=lambda: None).page_tools()


@pytest.mark.parametrize(
    "options",
    [
        {"docs": (".",), "wikipedia": True},
        {"docs": (".",), "api_url": "http://x"},
        {"wikipedia": True, "index": "x"},
        {"index": "x", "docs": (".",)},
        {"contact": "a@b.c"},
        {"language": "ja"},
    ],
)
def test_one_source_at_a_time(options):
    """Two sources, or an option about a source that is not named, are refused."""
    with pytest.raises(click.UsageError):
        SourceOptions(**options)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("postgresql+psycopg://:p%40ss@host:1/db?x=y", "postgresql+psycopg://:***@host:1/db?x=y"),
        ("milvus:http://me:secret@host:19530#c", "milvus:http://me:***@host:19530#c"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
    ],
)
def test_passwords_are_not_shown(address, shown):
    """An address is shown without its password."""
    assert _without_password(address) == shown


def test_no_bar_where_nobody_sees_it(capsys):
    """Without a terminal there is no progress bar."""
    with progress_on(2, "Reading") as advance:
        advance()
    assert capsys.readouterr() == ("", "")
