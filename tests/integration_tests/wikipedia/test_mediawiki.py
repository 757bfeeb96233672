"""Debian's MediaWiki, met for real: pages, redirects, requests, and whole runs."""

import asyncio
import doctest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_custom_agents import AgentExecutor, ReActAgent, WikipediaDocstore, docstore_tools
from langchain_custom_agents.dialects import Bracketed
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM
from tests.integration_tests.wikipedia.mediawiki import MediaWiki
from tests.integration_tests.wikipedia.pages import FILLERS, LONG_TITLE, NEEDLE, PAGES

pytestmark = pytest.mark.integration


@pytest.fixture
def store(mediawiki):
    """A docstore on the real wiki, whose cache begins empty."""
    with WikipediaDocstore(api_url=mediawiki.api_url, timeout=60) as store:
        yield store


class Counted:
    """Counts the requests that the server has seen since."""

    def __init__(self, wiki):
        self.wiki = wiki
        self.before = wiki.requests()

    @property
    def requests(self):
        """How many there were."""
        return self.wiki.requests() - self.before


# -- pages and what they cost ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("search", "title", "begins"),
    [
        ("Hiroko Yamada", "Hiroko Yamada", "Hiroko Yamada is a ten-year-old girl"),
        ("hiroko yamada", "Hiroko Yamada", "Hiroko Yamada is a ten-year-old girl"),
        ("HIROKO YAMADA", "Hiroko Yamada", "Hiroko Yamada is a ten-year-old girl"),
        ("Hiroko_Yamada", "Hiroko Yamada", "Hiroko Yamada is a ten-year-old girl"),
        ("Hiroko", "Hiroko Yamada", "Hiroko Yamada is a ten-year-old girl"),
        ("Hiroko's father", "Takuma Yamada", "Takuma Yamada (born 1984)"),
        ("Chicago", "Chicago", "Chicago is a city"),
        ("1871 Chicago fire", "Great Chicago Fire", "The Great Chicago Fire"),
        ("Tree", "Tree", "A tree is a tall plant"),
        ("宮沢賢治", "宮沢賢治", "宮沢賢治は日本の詩人である。"),
        ("賢治", "宮沢賢治", "宮沢賢治は日本の詩人である。"),
        ("Café de Flore", "Café de Flore", "The Café de Flore"),
        ("Cafe\u0301 de Flore", "Café de Flore", "The Café de Flore"),
        ("ångström", "Ångström", "The ångström"),
        ("C++", "C++", "C++ is a programming language."),
        ("AC/DC", "AC/DC", "AC/DC is a band"),
        ("ＡＣ/ＤＣ", "AC/DC", "AC/DC is a band"),
        ("Village 1999", "Village 1999", "Village 1999 is a village"),
    ],
)
def test_a_page_or_a_redirect_costs_one_request(mediawiki, store, search, title, begins):
    """Any spelling of a title, and any redirect, opens its page with one request."""
    counted = Counted(mediawiki)

    found = store.search(search)

    assert isinstance(found, Document)
    assert found.metadata["title"] == title
    assert found.page_content.startswith(begins)
    assert counted.requests == 1


def test_a_page_says_where_it_comes_from(mediawiki, store):
    """Address, id, revision, language and licence are in the metadata, in the same request."""
    metadata = store.search("Hiroko").metadata

    assert metadata["source"] == mediawiki.api_url.replace("api.php", "index.php/Hiroko_Yamada")
    assert metadata["page_id"] > 0
    assert metadata["revision"] > 0
    assert metadata["language"] == "en"
    assert metadata["license"] == "Creative Commons Attribution-ShareAlike 4.0"
    assert metadata["license_url"].startswith("https://creativecommons.org/")
    assert metadata["redirected_from"] == "Hiroko"


def test_a_disambiguation_page_lists_its_options_in_one_request(mediawiki, store):
    """The options come in the order of the page; nothing is opened."""
    counted = Counted(mediawiki)

    assert store.search("mercury") == (
        '"Mercury" may refer to: Mercury (planet); Mercury (element); Freddie Mercury. '
        "Search for one of these titles."
    )
    assert counted.requests == 1


@pytest.mark.parametrize(
    ("search", "offer"),
    [
        ("Hiroko Yamda", "Hiroko Yamada"),
        ("Cafe de Flore", "Café de Flore"),
        ("Takuma Yamadda", "Takuma Yamada"),
        ("宮沢健治", "宮沢賢治"),
        ("Freddy Mercury", "Freddie Mercury"),
        ("designed by Bjarne Stroustrup", "C++"),
        ("A|Tree", None),
        ("Tree[1]", "Tree"),
        ("Special:Nothing", None),
        ("::", None),
        ("Circle one", "Circle two"),
        ("nothing like this at all", None),
    ],
)
def test_a_missing_title_offers_the_nearest_in_two_requests_at_most(
    mediawiki, store, search, offer
):
    """Nothing else is opened in place of a page that is not there."""
    counted = Counted(mediawiki)

    found = store.search(search)

    assert isinstance(found, str)
    assert found.startswith(f'Could not find "{search}".')
    assert counted.requests <= 2
    if offer:
        assert offer in found


def test_an_over_long_title_costs_nothing(mediawiki, store):
    """A title that cannot be is answered here."""
    counted = Counted(mediawiki)

    assert "too long" in store.search("x" * 256)
    assert counted.requests == 0


def test_two_spellings_that_both_exist_do_not_mix(mediawiki, store):
    """The spelling asked for wins, though the wiki gives the text of another page first."""
    assert {"Circle one", "Three", "Tree"} <= set(PAGES)
    page, *_ = asyncio.run(_page(store, ["Tree", "Three"]))

    assert page["title"] == "Tree"
    assert page["extract"].startswith("A tree")


async def _page(store, titles):
    from langchain_custom_agents.docstores import _loop

    return await asyncio.wrap_future(_loop.start(store._page(titles)))


@pytest.mark.parametrize("search", ["Takuma Yamada#Career", "Work of Takuma"])
def test_a_section_is_found_by_name_and_by_redirect(mediawiki, store, search):
    """The page is opened at the section, and says so."""
    shown = docstore_tools(store, search_tokens=25)[0].run(search)

    assert shown.startswith('Page "Takuma Yamada", section "Career":\nCareer: Takuma is a teacher.')
    assert "Sections: Career; Family" in shown


def test_an_empty_page_is_said_to_be_empty(store):
    """A page without text is a page."""
    assert docstore_tools(store)[0].run("Empty page") == "The page is empty."


def test_a_page_of_a_megabyte_is_shown_in_its_budget(store):
    """The beginning fits the budget, and Lookup finds the needle near the end."""
    search, lookup = docstore_tools(store)

    assert len(store.search(LONG_TITLE).page_content) > 900_000
    assert len(search.run(LONG_TITLE)) < 3_000
    assert lookup.run("golden NEEDLE").startswith(f"(Result 1/1) {NEEDLE}\nContext (Chapter 97): ")


def test_the_wiki_is_large_enough_to_search(store):
    """Thousands of filler pages stand around the pages under test."""
    assert FILLERS >= 2_000
    assert isinstance(store.search(f"Village {FILLERS - 1}"), Document)


def test_repeated_searches_cost_nothing(mediawiki, store):
    """The cache answers the second time."""
    store.search("Tree")
    counted = Counted(mediawiki)
    store.search("Tree")

    assert counted.requests == 0


def test_many_at_once_get_their_pages_from_the_real_wiki(mediawiki):
    """100 tasks and 32 threads on one docstore: right pages, each fetched once."""
    titles = [f"Village {n % 40}" for n in range(100)]
    counted = Counted(mediawiki)
    with WikipediaDocstore(api_url=mediawiki.api_url, timeout=120, max_concurrency=4) as store:

        async def tasks():
            return await asyncio.gather(*map(store.asearch, titles))

        with ThreadPoolExecutor(33) as threads:
            in_tasks = threads.submit(asyncio.run, tasks())
            in_threads = list(threads.map(store.search, titles[:32]))
            found = [*in_tasks.result(), *in_threads]

    assert [page.metadata["title"] for page in found] == titles + titles[:32]
    assert counted.requests == 40


# -- other wikis ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bare_wiki(built_wiki):
    """The same pages in a wiki without the TextExtracts extension."""
    wiki = MediaWiki(built_wiki.folder, WITHOUT_TEXTEXTRACTS="1")
    wiki.start()
    yield wiki
    wiki.stop()


@pytest.fixture(scope="module")
def private_wiki(built_wiki):
    """The same pages in a wiki that only its users may read."""
    wiki = MediaWiki(built_wiki.folder, PRIVATE="1")
    wiki.start()
    yield wiki
    wiki.stop()


def test_a_wiki_without_text_extracts_is_read_from_its_html(bare_wiki):
    """A company's wiki without the extension costs one request more, and reads the same."""
    counted = Counted(bare_wiki)
    with WikipediaDocstore(api_url=bare_wiki.api_url, timeout=60) as store:
        found = store.search("Hiroko")

    assert counted.requests == 2
    assert found.metadata["title"] == "Hiroko Yamada"
    assert found.page_content.startswith("Hiroko Yamada is a ten-year-old girl from Nagano.")
    assert "== Music ==\n\nShe plays the piano." in found.page_content


def test_a_private_wiki_says_what_it_needs(private_wiki):
    """Without permission there is a sentence that names `headers`."""
    with WikipediaDocstore(api_url=private_wiki.api_url) as store:
        assert "is a private wiki; give the `headers`" in store.search("Tree")


# -- whole runs -----------------------------------------------------------------------------------

CLINTON = [
    "Thought: I need Bill Clinton's wife.\nAction: Search[Bill Clinton]",
    "Thought: She is Hillary Clinton.\nAction: Search[Hillary Clinton]",
    "Thought: Now I know.\nAction: Finish[politician, diplomat, lawyer]",
]


def test_a_clinton_run_costs_two_requests(mediawiki, store):
    """The ReAct agent, the executor and HTTP together: two searches, two requests."""
    tools = docstore_tools(store)
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM(CLINTON), tools, dialect=Bracketed())
    executor = AgentExecutor(agent=agent, tools=tools, return_intermediate_steps=True)
    counted = Counted(mediawiki)

    result = executor.invoke({"input": "What does Bill Clinton's wife do for a living?"})

    assert result["output"] == "politician, diplomat, lawyer"
    observations = [observation for _, observation in result["intermediate_steps"]]
    assert "husband of Hillary Clinton" in observations[0]
    assert "politician, diplomat and lawyer" in observations[1]
    assert counted.requests == 2


async def test_a_run_in_japanese(store):
    """The same road with Japanese words: search, lookup, answer."""
    dialect = Bracketed(thought="思考:", action="行動:", observation="観察:", finish="完了")
    tools = docstore_tools(store)
    model = ScriptedLLM(
        [
            "思考: 賢治を調べる。\n行動: Search[賢治]",
            "思考: 仕事を調べる。\n行動: Lookup[教師]",
            "思考: わかった。\n行動: 完了[詩人で教師]",
        ]
    )
    agent = ReActAgent.from_llm_and_tools(model, tools, dialect=dialect)
    executor = AgentExecutor(agent=agent, tools=tools, return_intermediate_steps=True)

    result = await executor.ainvoke({"input": "宮沢賢治の仕事は?"})

    assert result["output"] == "詩人で教師"
    assert result["intermediate_steps"][1][1].startswith("(Result 1/2) 賢治は農学校の教師だった。")


def test_create_agent_reads_wikipedia_and_keeps_the_sources(store):
    """Under LangChain's create_agent the artifacts carry title, address and licence."""

    def call(name, query):
        request = {"type": "tool_call", "id": query, "name": name, "args": {"query": query}}
        return AIMessage("", tool_calls=[request])

    model = ScriptedChatModel(
        [call("Search", "Hiroko's father"), call("Lookup", "baker"), "A baker."]
    )
    agent = create_agent(model, docstore_tools(store))

    messages = agent.invoke({"messages": [HumanMessage("What was he before?")]})["messages"]

    found, looked_up = (m for m in messages if isinstance(m, ToolMessage))
    assert looked_up.content.startswith("(Result 1/1) Before that he was a baker.")
    for message in (found, looked_up):
        assert message.artifact.metadata["title"] == "Takuma Yamada"
        assert message.artifact.metadata["license"].startswith("Creative Commons")
        assert message.artifact.metadata["source"].endswith("/Takuma_Yamada")


@pytest.mark.parametrize("page", ["wikipedia.md", "ja/wikipedia.md"])
def test_the_examples_of_the_documentation_run(mediawiki, page):
    """What the page about Wikipedia shows, in either language, is what the real wiki answers."""
    file = Path(__file__).parents[3] / "docs" / page
    text = file.read_text(encoding="utf-8")
    text = text.replace("https://wiki.example.org/w/api.php", mediawiki.api_url)
    examples = doctest.DocTestParser().get_doctest(text, {}, page, str(file), 0)

    failed, run = doctest.DocTestRunner().run(examples)

    assert run > 5
    assert failed == 0
