"""`lca ask --web`: its options, and what it says when something is missing."""

import json
import sys

import pytest
from langchain_core.documents import Document

from langchain_custom_agents.cli import sources
from langchain_custom_agents.cli.citing import cited, said_source, sources_of, with_number
from langchain_custom_agents.cli.errors import Failure
from langchain_custom_agents.cli.sources import SourceOptions, open_source
from langchain_custom_agents.cli.web import Asked, Web

SEARCH = "searxng:https://search.example.org"


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("--web", SEARCH, "--docs", "."), 2, "--docs and --web name two sources"),
        (("--web", SEARCH, "--index", "y"), 2, "--index and --web name two sources"),
        (("--into", "pages"), 2, "give --web SEARCH, too"),
        (("--allow-origin", "http://x"), 2, "give --web SEARCH, too"),
        (("--contact", "me@example.org"), 2, "give --wikipedia or --web, too"),
        (("--web", "altavista"), 1, "give searxng:URL, duckduckgo, tavily, serpapi or google"),
        (("--web", "searxng:search"), 1, "no web search 'searxng:search'"),
        (("--web", "duckduckgo"), 1, "pip install -U langchain-community ddgs"),
        (("--web", "tavily"), 1, "pip install -U langchain-tavily"),
        (("--web", SEARCH, "--allow-origin", "wiki"), 1, "'wiki' is no address"),
        (("--web", SEARCH, "--agent", "docstore"), 1, "holds passages, not pages"),
        (("--web", SEARCH, "--embeddings", "openai:small"), 1, "OPENAI_API_KEY"),
    ],
)
def test_what_is_wrong_is_one_sentence(lca, monkeypatch, args, code, said):
    """Whatever does not fit or is missing is said in a sentence, before anything is asked."""
    for module in ("ddgs", "langchain_tavily"):
        monkeypatch.setitem(sys.modules, module, None)
    result = lca("ask", "x", *args)
    assert (result.exit_code, said in result.output) == (code, True), result.output
    assert result.output.rstrip().splitlines()[-1].startswith("Error: ")


def test_a_folder_that_cannot_be_used_is_named(lca, tmp_path):
    """A file, a folder of other things, and a broken store are each named in a sentence."""
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "docs.db").write_bytes(b"no database" * 1_000)
    for folder, said in (
        (file, "is a file"),
        (tmp_path, "holds other files and no FAISSStore"),
        (broken, "broken"),
        (file / "inside", str(file)),
    ):
        result = lca("ask", "x", "--web", SEARCH, "--into", folder)
        assert result.exit_code == 1, result.output
        assert result.output.startswith("Error: ")
        assert said in result.output
        assert "Something went wrong inside" not in result.output


def test_the_extra_is_named_where_it_is_missing(lca, monkeypatch):
    """Without the packages that read pages, what to install is said before the search is asked."""
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    result = lca("ask", "x", "--web", SEARCH)
    assert result.exit_code == 1
    assert "pip install 'langchain-custom-agents[web]'" in result.output


def test_the_searches_are_named_in_the_help(lca):
    """`--help` names every search that there is."""
    from langchain_custom_agents.tools.searches import SEARCHES

    said = " ".join(lca("ask", "--help").output.split())
    assert all(name in said for name in SEARCHES)


def test_a_contact_in_the_environment_is_no_mistake(lca, monkeypatch):
    """LCA_CONTACT may stand in the environment for good: no source has to need it."""
    monkeypatch.setenv("LCA_CONTACT", "me@example.org")
    said = lca("ask", "-q", "What is hiroko's father's occupation?")
    assert (said.exit_code, said.output) == (0, "Takuma is a teacher.\n")


def opened(**kwargs):
    """Open the web with a search that is never asked."""
    told = []
    source = open_source(
        SourceOptions(web=SEARCH, **kwargs.pop("options", {})),
        tell=lambda *event: told.append(event),
        **kwargs,
    )
    assert isinstance(source, Web)
    return source


@pytest.mark.parametrize(
    ("by_rule", "agent", "names"),
    [
        (False, "zero-shot-react-description", ["WebSearch", "ReadPage", "Recall"]),
        (False, "openai-functions", ["WebSearch", "ReadPage", "Recall"]),
        (False, "self-ask-with-search", ["Intermediate Answer"]),
        (True, "zero-shot-react-description", ["Search"]),
        (True, "openai-functions", ["Search"]),
        (True, "self-ask-with-search", ["Intermediate Answer"]),
    ],
)
def test_a_model_has_three_tools_and_the_stand_in_one(by_rule, agent, names):
    """A model decides what to read; for the stand-in, and for one tool, Search reads by itself."""
    assert [tool.name for tool in opened(by_rule=by_rule).tools(agent)] == names


def test_where_pages_are_kept_is_said(tmp_path):
    """The source tells its search and its folder, or that pages are forgotten."""
    assert f"by {SEARCH}, pages in {tmp_path}" in opened(options={"into": tmp_path}).name
    assert "pages forgotten at the end (--into FOLDER keeps them)" in opened().name


def found(number: int, text: str = "", **metadata: object) -> Document:
    """Return a passage of a source."""
    return Document(
        text, metadata={"number": number, "title": f"T{number}", "source": f"/{number}", **metadata}
    )


def test_sources_keep_the_numbers_that_the_model_saw():
    """Sources are those that the answer cites, under its numbers; all, if it cites none."""
    listed = sources_of([found(3), found(1), found(3), found(1, title="T", date="2026-01-31")])

    assert [one["title"] for one in cited("Yes [1] [9].", listed)] == ["T"]
    assert [one["title"] for one in cited("Yes.", listed)] == ["T", "T3"]
    assert said_source(cited("[1]", listed)[0], 7) == "[1] T, /1, 2026-01-31"


def test_an_answer_word_for_word_is_given_its_number():
    """The stand-in's answer stands in a passage; an answer in words of its own gets no number."""
    passages = [found(1, "Nobody knows."), found(2, "He said:  takuma is\na teacher. Yes.")]

    assert with_number("Takuma is a teacher.", passages) == "Takuma is a teacher. [2]"
    assert with_number("The documents do not say.", passages) == "The documents do not say."
    assert with_number("", passages) == ""


def test_a_search_that_could_not_be_asked_is_a_failure():
    """Unless something was found all the same, the run ends with what went wrong."""

    def broken(query: str) -> str:
        raise ConnectionError("unreachable https://x.org/?key=SECRET")

    asked = Asked(broken, "duckduckgo")
    web = Web("the web", search=asked, into="pages")
    web.check([])
    with pytest.raises(ConnectionError):
        asked("x")
    web.check([found(1)])
    with pytest.raises(Failure, match=r"duckduckgo could not be asked.*--index pages") as failure:
        web.check([])

    assert "SECRET" not in str(failure.value)


def test_options_of_the_web_belong_to_every_command_that_has_sources():
    """`search` takes them as `ask` does."""
    assert {"web", "into", "allow_origin"} <= set(sources.SourceOptions.NAMES)


def test_json_has_no_number_for_other_sources(lca):
    """Sources that no model saw by number have none."""
    told = json.loads(lca("ask", "--json", "What is hiroko's father's occupation?").stdout)
    assert "unfinished" not in told
    assert all("number" not in source for source in told["sources"])
