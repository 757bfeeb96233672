"""`lca ask --web` over a search and a site of ours on loopback."""

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from langchain_custom_agents.cli.commands import commands
from tests.integration_tests.web.site import Site, pages

pytestmark = pytest.mark.integration

AYAKO = "What does Ayako do?"


class Searched(Site):
    """The site, which also answers as a SearXNG does: with the same results for all."""

    def __init__(self) -> None:
        super().__init__()
        self.pages = pages("http://127.0.0.1:9")
        results = [
            {"title": name, "url": f"{self.url}/{name}", "content": f"About {name}."}
            for name in ("takuma", "ayako", "hostile", "gone")
        ]
        self.queries["/search"] = ("application/json", json.dumps({"results": results}).encode())


@pytest.fixture
def site() -> Iterator[Searched]:
    """A site with a search."""
    made = Searched()
    yield made
    made.close()


def lca(*args: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(commands, [str(arg) for arg in args])


def asked(site: Searched, *args: object) -> Result:
    """Ask over the web that is this site."""
    return lca("ask", "--web", f"searxng:{site.url}", "--allow-origin", site.url, *args)


def test_an_answer_from_the_web_has_its_source(site):
    """The stand-in's Search reads pages, telling which, and the answer names its source."""
    said = asked(site, AYAKO)
    lines = said.output.splitlines()
    assert said.exit_code == 0, said.output
    assert f"Reading {site.url}/ayako" in lines
    assert lines[-2:] == [
        "Answer: Ayako is a doctor and lives beside the lake. [1]",
        f"[1] Ayako, {site.url}/ayako",
    ]
    assert f"  ({site.url}/gone could not be read: HTTP 404.)" in lines
    assert "pages forgotten at the end" in said.output


def test_json_has_the_numbered_source(site):
    """`--json` prints one object, with the source under the number that the answer cites."""
    told = json.loads(asked(site, "--json", AYAKO).stdout)
    assert told["answer"] == "Ayako is a doctor and lives beside the lake. [1]"
    assert told["sources"] == [{"title": "Ayako", "source": f"{site.url}/ayako", "number": 1}]


@pytest.mark.parametrize("agent", ["structured", "functions", "self-ask", "conversational"])
def test_every_agent_reads_the_web(site, agent):
    """Agents of other types answer from the web, too."""
    told = json.loads(asked(site, "--json", "--agent", agent, AYAKO).stdout)
    assert told["answer"].startswith("Ayako is a doctor and lives beside the lake. [")


def test_pages_are_kept_across_runs(site, tmp_path):
    """With `--into` a second run reads nothing again, and `--index` asks without any network."""
    into = ("--into", tmp_path / "pages")
    assert asked(site, *into, AYAKO).exit_code == 0
    read = len([path for path in site.asked if path == "/ayako"])
    again = asked(site, *into, "Where is Takuma a teacher?")
    assert "Answer: Takuma is a teacher of mathematics in Nagano. [1]" in again.output
    assert [path for path in site.asked if path == "/ayako"] == ["/ayako"] * read == ["/ayako"]

    site.asked.clear()
    alone = lca("ask", "-q", "--index", tmp_path / "pages", AYAKO)
    assert alone.output == "Ayako is a doctor and lives beside the lake.\n"
    assert site.asked == []


def test_nothing_private_is_read_without_the_option(site):
    """The search is the user's own and may be private; the pages that it names may not."""
    said = lca("ask", "--web", f"searxng:{site.url}", AYAKO)
    assert f"({site.url}/ayako is not read: it is not on the public internet.)" in said.output
    assert not [path for path in site.asked if not path.startswith("/search")]


def test_search_searches_the_web(site):
    """`lca search` shows the passages that Search would show."""
    said = lca(
        "search", "--web", f"searxng:{site.url}", "--allow-origin", site.url, "--k", "2", "doctor"
    )
    assert said.exit_code == 0
    assert said.output.splitlines()[:2] == [
        f"[1] Ayako, {site.url}/ayako",
        "Ayako is a doctor and lives beside the lake.",
    ]


def test_a_search_that_is_down_is_said(site, tmp_path):
    """Where the search cannot be asked the run ends with a sentence and exit code 1."""
    site.close()
    for command in (("ask",), ("search",)):
        said = lca(*command, "--web", f"searxng:{site.url}", "--into", tmp_path / "pages", AYAKO)
        assert said.exit_code == 1
        last = said.output.rstrip().splitlines()[-1]
        assert last.startswith(f"Error: The web search searxng:{site.url} could not be asked (")
        assert f"--index {tmp_path / 'pages'}" in last


@pytest.mark.parametrize(
    ("kind", "body"), [("text/html", b"<html>Results</html>"), ("application/json", b"[]")]
)
def test_a_searxng_without_json_is_said(site, kind, body):
    """A SearXNG whose JSON format is off, or something else at its address, is told apart."""
    site.queries["/search"] = (kind, body)
    said = asked(site, AYAKO)
    assert said.exit_code == 1
    assert "name json among search.formats in the settings.yml" in said.output


def test_the_web_can_be_stepped_through(site):
    """`--step` stops between searching and answering, and lists the sources at the end."""
    said = CliRunner().invoke(
        commands,
        ["ask", "--step", "--web", f"searxng:{site.url}", "--allow-origin", site.url, AYAKO],
        input="\n\n\n",
    )
    assert said.exit_code == 0, said.output
    assert "Answer: Ayako is a doctor" in said.output
    assert said.output.splitlines()[-1] == f"[1] Ayako, {site.url}/ayako"


@pytest.fixture
def model(llmock, monkeypatch):
    """Let the models be llmock's."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", llmock.base_url())
    return llmock


def test_a_model_searches_reads_and_cites(site, model):
    """A language model has three tools, and the source that it cites is listed by its number."""
    model.reply("I search\nAction: WebSearch\nAction Input: people of Nagano")
    model.reply(f"I read\nAction: ReadPage\nAction Input: {site.url}/ayako")
    model.reply("I know\nFinal Answer: Ayako is a doctor [2].")
    said = asked(site, "--model", "openai:gpt-4o-mini", AYAKO)
    lines = said.output.splitlines()
    assert said.exit_code == 0, said.output
    assert f"Reading {site.url}/ayako" in lines
    assert lines[-2:] == ["Answer: Ayako is a doctor [2].", f"[2] Ayako, {site.url}/ayako"]
    assert [path for path in site.asked if path == "/takuma"] == []


def test_a_model_that_calls_tools_cites_too(site, model):
    """With tool calling it is the same."""
    model.call_tool("ReadPage", {"query": f"{site.url}/takuma"})
    model.reply("He is a teacher [1].")
    told = json.loads(
        asked(site, "--json", "--model", "openai:gpt-4o-mini", "--agent", "functions", "T?").stdout
    )
    assert told["answer"] == "He is a teacher [1]."
    assert told["sources"] == [{"title": "Takuma", "source": f"{site.url}/takuma", "number": 1}]


def test_a_provider_that_fails_while_stepping_leaves_what_was_done(model):
    """The last line tells how far the run went, and the error is one sentence."""
    model.fail(401, times=None)
    said = CliRunner().invoke(
        commands, ["ask", "--step", "--model", "openai:gpt-4o-mini", "Who?"], input="\n\n\n"
    )
    assert said.exit_code == 1
    lines = said.output.splitlines()
    assert lines[-2].startswith("not finished: ")
    assert lines[-1].startswith("Error: openai:gpt-4o-mini refused the key")
