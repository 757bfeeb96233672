"""`lca ask`, `search` and `lookup` over a MediaWiki."""

import json

import pytest
from click.testing import CliRunner

from langchain_custom_agents.cli.commands import commands

pytestmark = pytest.mark.integration


@pytest.fixture
def lca(mediawiki):
    """Run a command over the real wiki."""

    def run(name, *args):
        return CliRunner().invoke(commands, [name, "--api-url", mediawiki.api_url, *args])

    return run


def test_a_question_is_answered_page_by_page(lca):
    """Two pages are opened, and the answer names them with their addresses."""
    said = lca("ask", "--json", "What is the occupation of Hiroko Yamada's father?")
    told = json.loads(said.stdout)
    assert said.exit_code == 0
    assert told["agent"] == "react-docstore"
    assert "teacher" in told["answer"].lower()
    assert {source["title"] for source in told["sources"]} >= {"Hiroko Yamada", "Takuma Yamada"}
    assert all(source["source"].startswith("http") for source in told["sources"])


def test_search_shows_the_beginning_of_a_page(lca):
    """`search` shows how a page begins, and where it is."""
    said = lca("search", "Chicago")
    assert said.exit_code == 0
    assert "a city on Lake Michigan" in said.output


def test_search_for_a_page_that_is_not_there(lca):
    """A title that does not exist is an error that offers the nearest."""
    said = lca("search", "Hillary Klinton")
    assert said.exit_code == 1
    assert "Hillary Clinton" in said.output


def test_lookup_shows_every_place(lca):
    """`lookup` shows every sentence that holds a word, also in Japanese."""
    told = json.loads(lca("lookup", "--json", "--page", "Hiroko", "piano").stdout)
    assert (told["page"]["title"], len(told["results"])) == ("Hiroko Yamada", 3)
    told = json.loads(lca("lookup", "--json", "--page", "賢治", "教師").stdout)
    assert (told["page"]["title"], len(told["results"])) == ("宮沢賢治", 2)


def test_japanese_questions_are_written_in_japanese(lca):
    """A question in Japanese is asked in the bracketed form in Japanese."""
    said = lca("ask", "--language", "ja", "宮沢賢治の職業は?")
    assert "Agent: react-docstore, bracketed-ja" in said.output
    assert "教師" in said.output.splitlines()[-2]
