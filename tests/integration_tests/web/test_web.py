"""Agents that search, read and answer over a site that means no good."""

import contextlib
import gzip
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from langchain_custom_agents import AgentType, initialize_agent
from langchain_custom_agents.agents.types import AGENTS
from langchain_custom_agents.dialects import CHINESE, ENGLISH, JAPANESE
from langchain_custom_agents.dialects.moves import Action, Answer, Misreading
from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM
from langchain_custom_agents.tools._fetch import Fetcher, RefusedError
from langchain_custom_agents.tools.research import research_tools, with_sources
from langchain_custom_agents.tools.searches import open_search
from langchain_custom_agents.vectorstores.faiss import FAISSStore
from tests.integration_tests.web.site import Site, pages

pytestmark = pytest.mark.integration


@pytest.fixture
def elsewhere() -> Iterator[Site]:
    """A private server that must never be contacted."""
    site = Site()
    site.pages["/secret"] = ("text/plain", b"the key of the house")
    yield site
    site.close()


@pytest.fixture
def site(elsewhere: Site) -> Iterator[Site]:
    """The site, which the tools are allowed to read though it is on loopback."""
    made = Site()
    made.pages = pages(elsewhere.url)
    made.redirects = {
        "/moved": "/takuma",
        "/loop": "/loop",
        "/inside": f"{elsewhere.url}/secret",
        "/localhost": f"{elsewhere.url.replace('127.0.0.1', 'localhost')}/secret",
        "/short": f"{elsewhere.url.replace('127.0.0.1', '127.1')}/secret",
        "/number": f"{elsewhere.url.replace('127.0.0.1', '2130706433')}/secret",
        "/mapped": f"{elsewhere.url.replace('127.0.0.1', '[::ffff:127.0.0.1]')}/secret",
        "/metadata": "http://169.254.169.254/latest/meta-data/",
    }
    yield made
    made.close()


def tools(site: Site, **kwargs: Any) -> list[Any]:
    """Make the tools over the site."""

    def search(query: str) -> list[dict[str, str]]:
        names = ["takuma", "ayako", "hostile"]
        return [{"title": name, "link": f"{site.url}/{name}", "snippet": ""} for name in names]

    store = FAISSStore(HashingEmbeddings())
    return research_tools(search, store, allow_origins=[site.url], **kwargs)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/takuma", "Takuma is a teacher of mathematics"),
        ("/moved", "Takuma is a teacher of mathematics"),
        ("/paper.pdf", "Hiroko studies the stars at night."),
        ("/wrong", "広子は十歳です。"),
        ("/none", "広子は十歳です。"),
        ("/meta", "広子は十歳です。"),
        ("/links", "and the rest"),
        ("/broken.pdf", "is a PDF that cannot be read"),
        ("/loop", "redirects too often"),
        ("/missing", "HTTP 404"),
        ("/forbidden", "robots.txt asks not to"),
    ],
)
def test_every_kind_of_page_is_read_or_refused_in_words(site, path, words):
    """Redirects, encodings and PDFs are read; what cannot be read is a sentence."""
    assert words in tools(site)[1].run(f"{site.url}{path}")


def test_a_large_page_is_refused_and_never_asked_for_again_by_robots(site):
    """A page beyond the limit is given up, and a forbidden one never asked for."""
    _, read, _ = tools(site, max_bytes=100_000)

    assert "larger than 100,000 bytes" in read.run(f"{site.url}/large")
    read.run(f"{site.url}/forbidden")
    assert "/forbidden" not in site.asked
    assert site.asked.count("/robots.txt") == 1


@pytest.mark.parametrize(
    "path", ["/inside", "/localhost", "/short", "/number", "/mapped", "/metadata"]
)
def test_no_forbidden_address_is_contacted(site, elsewhere, path):
    """A redirect to a private address, however it is written, is not followed."""
    shown = tools(site)[1].run(f"{site.url}{path}")

    assert path in site.asked
    assert elsewhere.asked == []
    assert "the key of the house" not in shown


def test_loopback_is_refused_unless_it_is_allowed(site):
    """Without the opt-in the site itself is not contacted."""
    _, read, _ = research_tools(lambda _: [], FAISSStore(HashingEmbeddings()))

    assert "not on the public internet" in read.run(f"{site.url}/takuma")
    assert site.asked == []


def test_a_proxy_of_the_environment_is_not_asked(site, elsewhere, monkeypatch):
    """No proxy is used: it would resolve names again, behind the check."""
    monkeypatch.setenv("HTTP_PROXY", elsewhere.url)
    monkeypatch.setenv("ALL_PROXY", elsewhere.url)

    assert "teacher" in tools(site)[1].run(f"{site.url}/takuma")
    assert elsewhere.asked == []


FORMS = [
    pytest.param(kind, dialect, id=f"{kind.value}-{type(dialect).__name__}-{dialect.cue}")
    for kind, row in AGENTS.items()
    if row.dialect is not None
    for dialect in ([ENGLISH, JAPANESE, CHINESE] if row.dialect is ENGLISH else [row.dialect])
]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "0", "0.0.0.0",
     "①②⑦.⓪.⓪.①", "localhost", "localhost.", "[::1]", "[::]", "[::ffff:7f00:1]",
     "[0:0:0:0:0:ffff:127.0.0.1]", "[64:ff9b::7f00:1]"],
)  # fmt: skip
def test_every_spelling_of_loopback_is_refused(site, elsewhere, host):
    """However an address is spelled, the system's own resolver reads it, and it is refused."""
    port = elsewhere.url.rpartition(":")[2]
    shown = tools(site)[1].run(f"http://{host}:{port}/secret")

    assert any(words in shown for words in ("public internet", "was not found", "is no address"))
    assert elsewhere.asked == []


@pytest.mark.parametrize("slow", ["headers", "body"])
def test_a_site_that_never_ends_is_given_up(slow):
    """A server that sends a letter at a time, in its headers or its page, is left in time."""
    listening = socket.create_server(("127.0.0.1", 0))
    stopped = threading.Event()

    def drip() -> None:
        with contextlib.suppress(OSError):
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                begin = b"HTTP/1.1 200 OK\r\n" + (b"X-Slow: " if slow == "headers" else b"\r\n")
                connection.sendall(begin)
                while not stopped.wait(0.2):
                    connection.sendall(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    fetcher = Fetcher(allow_origins=[url], timeout=3, obey_robots=False)
    try:
        with pytest.raises(RefusedError, match="did not answer within 3 seconds"):
            fetcher.fetch(f"{url}/page")
        thread.join(30)  # the server notices that its reader has gone

        assert not thread.is_alive()
    finally:
        stopped.set()
        listening.close()


def test_a_bomb_is_not_unpacked(site):
    """A small packed page that would be a large one is refused, over a real connection."""
    site.pages["/bomb"] = ("text/html", gzip.compress(b"0" * 50_000_000))
    site.headers["/bomb"] = {"Content-Encoding": "gzip"}
    site.pages["/packed"] = ("text/html; charset=utf-8", gzip.compress(site.pages["/takuma"][1]))
    site.headers["/packed"] = {"Content-Encoding": "gzip"}
    read = tools(site)[1]

    assert "larger than 5,000,000 bytes" in read.run(f"{site.url}/bomb")
    assert "Takuma is a teacher of mathematics" in read.run(f"{site.url}/packed")


def test_a_search_reads_pages_at_once(site):
    """With `read_first` the pages found are read, and the hostile one among them says nothing."""
    web = tools(site, read_first=3, k=2)[0]
    shown = web.run("Who is a doctor?")

    assert f"[1] Ayako ({site.url}/ayako)" in shown
    assert sorted(site.asked) == ["/ayako", "/hostile", "/robots.txt", "/takuma"]


def named_for(kind: AgentType, made: list[Any]) -> list[Any]:
    """Name ReadPage and Recall as a type wants its tools named."""
    names = {
        AgentType.REACT_DOCSTORE: ["Search", "Lookup"],
        AgentType.SELF_ASK_WITH_SEARCH: ["Intermediate Answer"],
    }
    if kind not in names:
        return made[1:]
    named = zip(made[1:], names[kind], strict=False)
    return [tool.model_copy(update={"name": name}) for tool, name in named]


@pytest.mark.parametrize("path", ["/hostile", "/plain"])
@pytest.mark.parametrize(("kind", "dialect"), FORMS)
def test_no_forged_label_becomes_a_move(site, kind, dialect, path):
    """In every dialect a page that writes labels stays an observation that says nothing."""
    used = named_for(kind, tools(site))
    asked_for = [Action(tool.name, f"{site.url}{path}") for tool in used[:1]]
    asked_for += [Action(tool.name, "How old is Hiroko?") for tool in used[1:]]
    script = [dialect.write("I read.", action) for action in asked_for]
    script.append(dialect.write("I know.", Answer("Hiroko is ten years old [1].")))
    model = ScriptedLLM(script)
    executor = initialize_agent(
        used, model, agent=kind, agent_kwargs={"dialect": dialect}, return_intermediate_steps=True
    )
    asked: dict[str, Any] = {"input": "How old is Hiroko?"}
    if AGENTS[kind].history:
        asked["chat_history"] = []
    result = executor.invoke(asked)
    observations = [observation for _, observation in result["intermediate_steps"]]

    assert [action.tool for action, _ in result["intermediate_steps"]] == [t.name for t in used]
    assert result["output"] == "Hiroko is ten years old [1]."
    for observation in observations:
        shown = dialect.observe(observation)
        body = shown.removeprefix(dialect.observation)

        assert "FORGED" in shown
        assert shown in model.prompts[-1]
        assert [stop for stop in dialect.stop if stop in body] == []
        assert isinstance(dialect.read(body).move, Misreading)


def test_tool_calling_reads_with_sources(site):
    """With tool calls the page is a tool's message, and the answer's sources are listed."""
    calls = iter(["/hostile", "/ayako"])

    def reply(_: Any) -> AIMessage:
        path = next(calls, None)
        if path is None:
            return AIMessage("Ayako is a doctor [2].")
        args = {"query": f"{site.url}{path}"}
        return AIMessage("", tool_calls=[{"name": "ReadPage", "args": args, "id": path}])

    from langchain.agents import create_agent

    agent = create_agent(ScriptedChatModel(reply), tools(site))
    messages = agent.invoke({"messages": [("user", "What is Ayako?")]})["messages"]
    found = [d for m in messages if isinstance(m, ToolMessage) for d in m.artifact]

    assert [type(message).__name__ for message in messages].count("ToolMessage") == 2
    assert with_sources(messages[-1].content, found) == (
        f"Ayako is a doctor [2].\n\nSources:\n[2] Ayako, {site.url}/ayako"
    )


def test_searxng_searches(site):
    """A SearXNG is asked in its own protocol, and its results become numbered sources."""
    hit = {"title": "Takuma", "url": f"{site.url}/takuma", "content": "A teacher."}
    site.pages["/search?q=Who+is+Takuma%3F&format=json"] = (
        "application/json",
        json.dumps({"results": [hit, hit]}).encode(),
    )
    found = open_search(f"searxng:{site.url}/", k=1)
    web, _, _ = research_tools(found, FAISSStore(HashingEmbeddings()))

    assert web.run("Who is Takuma?").splitlines()[1:] == [
        f"[1] Takuma ({site.url}/takuma)",
        "A teacher.",
    ]
    assert "WebSearch failed (HTTP 404: " in web.run("something else")


def test_search_read_recall_in_one_run(site):
    """The numbers of WebSearch, ReadPage and Recall agree in a run."""
    steps = [
        Action("WebSearch", "people of Nagano"),
        Action("ReadPage", f"{site.url}/ayako"),
        Action("Recall", "Who is a doctor?"),
        Answer("Ayako is a doctor [2]."),
    ]
    model = ScriptedLLM([ENGLISH.write("", step) for step in steps])
    executor = initialize_agent(tools(site), model, return_intermediate_steps=True)
    result = executor.invoke({"input": "Who is a doctor?"})
    searched, read, recalled = (observation for _, observation in result["intermediate_steps"])

    assert f"[2] ayako ({site.url}/ayako)" in searched
    assert f"[2] Ayako ({site.url}/ayako)" in read
    assert f"[2] Ayako ({site.url}/ayako)" in recalled
