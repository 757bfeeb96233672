"""LangChain's own Wikipedia docstore: behind our tools, and beside ours, fault by fault."""

import threading

import pytest
from langchain_core.documents import Document

from langchain_custom_agents import AgentExecutor, ReActAgent, WikipediaDocstore, docstore_tools
from langchain_custom_agents.dialects import Bracketed
from langchain_custom_agents.testing import ScriptedLLM

wikipedia = pytest.importorskip("wikipedia", reason="pip install wikipedia")
community = pytest.importorskip(
    "langchain_community.docstore.wikipedia", reason="pip install langchain-community"
)

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def pristine(monkeypatch):
    """Give the package's global settings back, and forget what it remembers."""
    monkeypatch.setattr(wikipedia.wikipedia, "API_URL", wikipedia.wikipedia.API_URL)
    for remembered in (wikipedia.search, wikipedia.suggest, wikipedia.summary):
        remembered.clear_cache()


def stock(api_url):
    """The stock docstore on a wiki."""
    wikipedia.wikipedia.API_URL = api_url
    return community.Wikipedia()


def ours(api_url):
    """Our docstore on a wiki."""
    timeout = 2 if "silent" in api_url else 60
    return WikipediaDocstore(api_url=api_url, timeout=timeout, retries=0)


# -- behind our tools -----------------------------------------------------------------------------


def test_the_stock_docstore_gains_our_tools(mediawiki):
    """A whole run over the stock package: pages, counted lookups, no exception."""
    tools = docstore_tools(stock(mediawiki.api_url))
    model = ScriptedLLM(
        [
            "Thought: Too early.\nAction: Lookup[teacher]",
            "Thought: Search.\nAction: Search[Hiroko]",
            "Thought: Her father.\nAction: Search[Takuma Yamada]",
            "Thought: His work.\nAction: Lookup[he was]",
            "Thought: A typo.\nAction: Search[Takuma Yamdaa]",
            "Thought: Done.\nAction: Finish[teacher]",
        ]
    )
    agent = ReActAgent.from_llm_and_tools(model, tools, dialect=Bracketed())
    executor = AgentExecutor(agent=agent, tools=tools, return_intermediate_steps=True)

    result = executor.invoke({"input": "What does Hiroko's father do?"})

    seen = [observation for _, observation in result["intermediate_steps"]]
    assert result["output"] == "teacher"
    assert seen[0].startswith("No page is open.")
    assert seen[1].startswith('Page "Hiroko Yamada":\nHiroko Yamada is a ten-year-old girl')
    assert seen[2].startswith("Takuma Yamada (born 1984)")
    assert seen[3].startswith("(Result 1/1) Before that he was a baker.")
    assert seen[4].startswith("Could not find [Takuma Yamdaa].")
    assert seen[4].endswith('Lookup still reads the page "Takuma Yamada".')


def test_the_stock_docstores_pages_say_where_they_come_from(mediawiki):
    """The address that the stock docstore gives becomes title and source of the artifact."""
    search, _ = docstore_tools(stock(mediawiki.api_url))

    call = {"type": "tool_call", "id": "1", "name": "Search", "args": {"query": "Hiroko"}}
    metadata = search.invoke(call).artifact.metadata

    assert metadata["title"] == "Hiroko Yamada"
    assert metadata["source"].endswith("/Hiroko_Yamada")


@pytest.mark.parametrize("fault", ["forbidden", "limited", "unavailable", "html", "truncated"])
def test_what_the_stock_docstore_raises_is_a_sentence(bad_wiki, fault):
    """Behind our tools its JSONDecodeError is an observation."""
    search, _ = docstore_tools(stock(bad_wiki.api_url(fault)))

    assert search.run("Tree").startswith("Search failed (JSONDecodeError")


# -- beside ours ----------------------------------------------------------------------------------


def opens_the_exact_title(make, wiki):
    """A "did you mean" must not replace a page that exists."""
    found = make(wiki.api_url("suggesting")).search("Chicago")
    assert isinstance(found, Document)
    assert found.page_content == "The text of Chicago."


def turns_a_403_into_a_sentence(make, wiki):
    """A blocked User-Agent must be told."""
    assert "403" in make(wiki.api_url("forbidden")).search("Tree")


def turns_a_429_into_a_sentence(make, wiki):
    """A limit must be told."""
    assert "429" in make(wiki.api_url("limited")).search("Tree")


def asks_once_for_a_page(make, wiki):
    """A plain page must cost one request."""
    make(wiki.api_url("suggesting")).search("Tree")
    assert wiki.faults["suggesting"] == 1


def gives_up_on_a_silent_wiki(make, wiki):
    """A wiki that never answers must not hold the run for ever."""
    done = threading.Event()
    store = make(wiki.api_url("silent"))

    def search():
        try:
            store.search("Tree")
        except Exception:
            return
        done.set()

    threading.Thread(target=search, daemon=True).start()
    assert done.wait(10)


def keeps_languages_apart(make, _wiki):
    """Two docstores in two languages must not change each other."""
    if make is stock:
        wikipedia.set_lang("ja")
        one = wikipedia.wikipedia.API_URL
        wikipedia.set_lang("en")
        assert one == wikipedia.wikipedia.API_URL
    one = WikipediaDocstore("ja", user_agent="me@example.org")
    other = WikipediaDocstore("en", user_agent="me@example.org")
    assert "ja.wikipedia" in repr(one)
    assert "en.wikipedia" in repr(other)


def asks_over_https(make, _wiki):
    """Wikipedia must be asked over https."""
    if make is stock:
        wikipedia.set_lang("en")
        assert wikipedia.wikipedia.API_URL.startswith("https://")
    assert "https://en." in repr(WikipediaDocstore(user_agent="me@example.org"))


def names_a_contact(make, wiki):
    """The User-Agent must be the caller's, not one that all users of a package share."""
    if make is stock:
        make(wiki.api_url("suggesting")).search("Tree")
        assert "goldsmith" not in wiki.headers[-1]["user-agent"]
    store = WikipediaDocstore(api_url=wiki.api_url("suggesting"), user_agent="me@example.org")
    store.search("Tree")
    assert "me@example.org" in wiki.headers[-1]["user-agent"]


def is_async(make, wiki):
    """There must be an async search."""
    assert hasattr(make(wiki.api_url()), "asearch")


CHECKS = [
    opens_the_exact_title,
    turns_a_403_into_a_sentence,
    turns_a_429_into_a_sentence,
    asks_once_for_a_page,
    gives_up_on_a_silent_wiki,
    keeps_languages_apart,
    asks_over_https,
    names_a_contact,
    is_async,
]


@pytest.mark.parametrize("check", CHECKS)
def test_ours_has_no_fault_of_the_stock_docstore(bad_wiki, check):
    """Each check holds for WikipediaDocstore."""
    check(ours, bad_wiki)


@pytest.mark.parametrize("check", CHECKS)
def test_the_stock_docstore_has_the_fault(bad_wiki, check):
    """Each check fails for the stock docstore: the faults are real."""
    with pytest.raises((AssertionError, ValueError)):  # JSONDecodeError is a ValueError
        check(stock, bad_wiki)


def test_the_stock_docstore_asks_eight_times_for_a_clinton_run(mediawiki):
    """Two pages cost the stock docstore eight requests; ours two (see test_mediawiki)."""
    store = stock(mediawiki.api_url)
    before = mediawiki.requests()
    for title in ("Bill Clinton", "Hillary Clinton"):
        store.search(title)

    assert mediawiki.requests() - before == 8


def test_the_stock_docstore_asks_six_times_through_a_redirect(mediawiki):
    """A redirect costs the stock docstore six requests; ours one (see test_mediawiki)."""
    store = stock(mediawiki.api_url)
    before = mediawiki.requests()
    store.search("Hiroko's father")

    assert mediawiki.requests() - before == 6


def test_langchains_in_memory_docstore_fits():
    """LangChain's in-memory docstore gains the tools too."""
    memory = pytest.importorskip("langchain_community.docstore.in_memory")
    search, lookup = docstore_tools(memory.InMemoryDocstore({"A": Document("Ayako paints.")}))

    assert search.run("A") == "Ayako paints."
    assert lookup.run("paints") == "(Result 1/1) Ayako paints."
    assert search.run("Nobody").startswith("ID Nobody not found.")
