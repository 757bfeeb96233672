"""Search and Lookup, one call at a time."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.load import dumps
from langchain_core.messages import ToolMessage
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from langchain_custom_agents import FolderDocstore, TextDocstore, docstore_tools
from langchain_custom_agents.offline import HashingEmbeddings

LIFE = """Ayako is a painter. She lives in Nagano.

== Work ==
She paints mountains. Her mountains are blue. Critics like her.

== Family ==
Her husband is Takuma. Takuma never paints MOUNTAINS."""
STORE = TextDocstore(
    {"Ayako": LIFE, "Takuma": "Takuma is a teacher.", "宮沢賢治": "賢治は詩人だ。教師でもあった。"}
)


class Plain:
    """A docstore with nothing but a sync search, that gives or raises what it was given."""

    def __init__(self, result):
        self.result = result
        self.terms = []

    def search(self, term):
        """Give or raise it."""
        self.terms.append(term)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


class Native(Plain):
    """A docstore with an async search of its own."""

    def search(self, term):
        """Fail, as this one must not be used."""
        raise AssertionError("the sync search was used")

    async def asearch(self, term):
        """Give or raise it."""
        await asyncio.sleep(0)
        return Plain.search(self, term)


def call(query):
    """A tool call as a chat model makes it."""
    return {"type": "tool_call", "id": "1", "name": "any", "args": {"query": query}}


@pytest.fixture
def tools():
    """Search and Lookup over three pages."""
    return docstore_tools(STORE)


def test_they_are_called_search_and_lookup(tools):
    """The names are those of the paper, in its order, and each takes a single input."""
    assert [tool.name for tool in tools] == ["Search", "Lookup"]
    assert all(list(tool.args) == ["query"] for tool in tools)


def test_search_shows_a_short_page_as_it_is(tools):
    """A page within the budget is shown whole."""
    assert tools[0].run("Takuma") == "Takuma is a teacher."


def test_search_shows_the_beginning_and_the_sections_of_a_long_page():
    """A page beyond the budget is begun, in whole paragraphs, and its sections are named."""
    search, _ = docstore_tools(STORE, search_tokens=15)

    assert search.run("Ayako") == (
        "Ayako is a painter. She lives in Nagano.\nSections: Work; Family"
    )


def test_search_shortens_a_first_paragraph_beyond_the_budget():
    """A first paragraph that alone exceeds the budget is cut, and marked."""
    search, _ = docstore_tools(TextDocstore({"A": "word " * 1_000}), search_tokens=10)

    shown = search.run("A")

    assert shown.endswith("…")
    assert len(shown) < 60


def test_search_names_the_page_when_it_is_not_the_one_asked_for():
    """A redirect is never silent."""
    search, _ = docstore_tools(Plain(Document("A city fire.", metadata={"title": "Great Fire"})))

    assert search.run("Chicago") == 'Page "Great Fire":\nA city fire.'


def test_search_begins_at_the_section_it_was_led_to():
    """A redirect to a section shows that section first."""
    led = Document(LIFE, metadata={"title": "Ayako", "section": "Family"})
    search, _ = docstore_tools(Plain(led), search_tokens=20)

    assert search.run("Ayako").startswith(
        'Page "Ayako", section "Family":\nFamily: Her husband is Takuma.'
    )


def test_search_names_related_pages(tmp_path):
    """Links of a folder's page are offered."""
    (tmp_path / "a.md").write_text("# A\n\nSee [b](b.md).", encoding="utf-8")
    (tmp_path / "b.md").write_text("# B\n\nNothing.", encoding="utf-8")
    search, _ = docstore_tools(FolderDocstore(tmp_path))

    assert search.run("A") == "See [b](b.md).\nRelated pages: B"


def test_lookup_walks_through_the_sentences(tools):
    """Each call shows the next sentence with the word, in any case, then says there are no more."""
    search, lookup = tools
    search.run("Ayako")

    assert lookup.run("mountains").splitlines()[0] == "(Result 1/3) She paints mountains."
    assert lookup.run("Mountains").splitlines()[0] == "(Result 2/3) Her mountains are blue."
    assert lookup.run("mountains").splitlines()[0] == "(Result 3/3) Takuma never paints MOUNTAINS."
    assert lookup.run("mountains") == (
        'No more results for "mountains" in the page "Ayako" (3 shown). '
        "Lookup another word or Search for another page."
    )


def test_lookup_shows_the_paragraph_as_context(tools):
    """The paragraph and its section stand below the sentence."""
    search, lookup = tools
    search.run("Ayako")

    assert lookup.run("critics") == (
        "(Result 1/1) Critics like her.\n"
        "Context (Work): She paints mountains. Her mountains are blue. Critics like her."
    )


def test_lookup_without_context():
    """With a budget of 0 the sentence stands alone."""
    search, lookup = docstore_tools(STORE, lookup_tokens=0)
    search.run("Ayako")

    assert lookup.run("critics") == "(Result 1/1) Critics like her."


def test_lookup_reads_scripts_without_spaces(tools):
    """A Japanese word is found within its sentence."""
    search, lookup = tools
    search.run("宮沢賢治")

    assert lookup.run("教師").splitlines()[0] == "(Result 1/1) 教師でもあった。"


def test_another_word_starts_again(tools):
    """Looking up another word begins at its first place, and so does coming back."""
    search, lookup = tools
    search.run("Ayako")
    lookup.run("mountains")

    assert lookup.run("takuma").startswith("(Result 1/2)")
    assert lookup.run("mountains").startswith("(Result 1/3)")


def test_a_new_search_resets_the_lookup(tools):
    """On a new page, and on the same page again, the count begins at one."""
    search, lookup = tools
    search.run("Ayako")
    lookup.run("takuma")
    search.run("Takuma")

    assert lookup.run("takuma") == "(Result 1/1) Takuma is a teacher."

    search.run("Takuma")

    assert lookup.run("takuma") == "(Result 1/1) Takuma is a teacher."


def test_lookup_before_search_is_a_sentence(tools):
    """Without a page there is a hint, not an error."""
    assert tools[1].run("x") == (
        "No page is open. Search for a page first, then Lookup a word in it."
    )


def test_a_word_that_is_not_there_is_a_sentence(tools):
    """A word that the page does not hold is said to be missing."""
    search, lookup = tools
    search.run("Takuma")

    assert lookup.run("zebra") == 'No results for "zebra" in the page "Takuma".'


def test_a_miss_keeps_the_page_open_and_says_so(tools):
    """As in the paper's environment a failed search closes nothing."""
    search, lookup = tools
    search.run("Takuma")

    assert search.run("Tacuma").endswith(' Lookup still reads the page "Takuma".')
    assert lookup.run("teacher") == "(Result 1/1) Takuma is a teacher."


@pytest.mark.parametrize("query", ["", "   "])
def test_empty_input_is_a_sentence(tools, query):
    """Nothing to look for is said, by both tools."""
    assert "needs a title" in tools[0].run(query)
    assert "needs a word" in tools[1].run(query)


@pytest.mark.parametrize(
    "given", ["Takuma", {"query": "Takuma"}, {"term": "Takuma"}, {"input": "Takuma"}]
)
def test_a_text_and_a_dict_are_both_understood(tools, given):
    """Agents pass plain texts or arguments by name."""
    assert tools[0].run(given) == "Takuma is a teacher."
    assert tools[0].invoke(given) == "Takuma is a teacher."


@pytest.mark.parametrize("given", [{}, {"a": "1", "b": "2"}, {"query": ["x"]}])
def test_other_arguments_are_refused_in_a_sentence(tools, given):
    """A wrong call is told how to call."""
    assert "takes one text" in tools[0].run(given)


@pytest.mark.parametrize(
    "error", [ConnectionError("no route"), KeyError("x"), ValueError(), RuntimeError("a\nb")]
)
async def test_what_the_docstore_raises_is_a_sentence(error):
    """No exception of the docstore ends a run, sync or async."""
    search, _ = docstore_tools(Plain(error))

    assert search.run("x").startswith(f"Search failed ({type(error).__name__}")
    assert await search.arun("x") == search.run("x")
    assert "\n" not in search.run("x")


@pytest.mark.parametrize("nothing", [None, "", []])
def test_an_empty_answer_of_the_docstore_is_a_sentence(nothing):
    """A docstore that gives nothing has found nothing."""
    assert docstore_tools(Plain(nothing))[0].run("x") == 'Could not find "x".'


async def test_the_async_search_of_a_docstore_is_used():
    """A docstore with asearch is searched without a thread."""
    search, lookup = docstore_tools(Native(Document("A needle.", metadata={"title": "x"})))

    assert await search.ainvoke("x") == "A needle."
    assert await lookup.ainvoke("needle") == "(Result 1/1) A needle."


async def test_a_docstore_without_async_search_works_asynchronously():
    """A sync docstore serves async agents."""
    search, lookup = docstore_tools(Plain(Document("A needle.", metadata={"title": "x"})))

    assert await search.ainvoke("x") == "A needle."
    assert await lookup.ainvoke("needle") == "(Result 1/1) A needle."


def test_what_was_shown_is_the_artifact_with_its_source():
    """The artifact is the text shown, with title, source and licence."""
    metadata = {"title": "A", "source": "https://example.org/A", "license": "CC BY-SA"}
    search, lookup = docstore_tools(Plain(Document("Hay. A needle.", metadata=metadata)))

    found = search.invoke(call("A"))
    looked_up = lookup.invoke(call("needle"))

    assert isinstance(found, ToolMessage)
    assert found.artifact == Document("Hay. A needle.", metadata=metadata)
    assert looked_up.artifact.page_content == "A needle."
    assert metadata.items() <= looked_up.artifact.metadata.items()
    assert lookup.invoke(call("zebra")).artifact is None


def test_a_docstore_without_search_is_refused():
    """What cannot be searched is refused by name."""
    with pytest.raises(TypeError, match="`docstore` is dict, which has no `search`"):
        docstore_tools({})


def test_a_vector_store_is_refused():
    """A vector store has a `search`, too, but another one: the tool for it is named."""
    store = InMemoryVectorStore(HashingEmbeddings())
    with pytest.raises(TypeError, match=r"the vector store InMemoryVectorStore.*retriever_tool"):
        docstore_tools(store)


@given(st.text(), st.text(), st.integers(1, 60), st.integers(0, 60))
def test_any_page_can_be_searched_and_looked_up(text, word, search_tokens, lookup_tokens):
    """No text of a page, no word and no budget ends in an exception."""
    search, lookup = docstore_tools(
        Plain(Document(text)), search_tokens=search_tokens, lookup_tokens=lookup_tokens
    )

    assert isinstance(search.run("x"), str)
    assert isinstance(lookup.run(word), str)


@given(st.lists(st.sampled_from(["A cat sat. ", "== H ==\n", "the\n", "猫だ。", "\n\n", "Cat! "])))
def test_lookup_shows_every_occurrence_once_and_then_ends(parts):
    """Walking on, each sentence that holds the word is shown once, in order, with right counts."""
    search, lookup = docstore_tools(Plain(Document("".join(parts))), lookup_tokens=0)
    search.run("x")
    shown = []
    while (observation := lookup.run("cat")).startswith("(Result"):
        shown.append(observation)

    total = len(shown)
    assert [s.split(")")[0] for s in shown] == [f"(Result {n}/{total}" for n in range(1, total + 1)]
    assert sum(s.lower().count("cat") for s in shown) == "".join(parts).lower().replace(
        "== h ==", ""
    ).count("cat")
    assert observation.startswith(("No results", "No more results"))


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ({"search_tokens": 0}, "`search_tokens` is 0; give a whole number, at least 1"),
        ({"lookup_tokens": -1}, "`lookup_tokens` is -1; give a whole number, at least 0"),
        ({"search_tokens": "300"}, "`search_tokens` is '300'; give a whole number"),
    ],
)
def test_a_budget_leaves_room(budget, said):
    """A budget is a number that leaves room; another is named."""
    with pytest.raises(ValueError, match=said):
        docstore_tools(STORE, **budget)


def test_traces_do_not_hold_the_docstore():
    """Neither the serialised form of a tool nor its repr shows the docstore."""

    class Secret(TextDocstore):
        def __repr__(self):
            return "s3cret"

    for tool in docstore_tools(Secret({"A": "x"})):
        assert "s3cret" not in dumps(tool) + repr(tool) + str(tool.model_dump())


class TestSearchCalls(ToolsIntegrationTests):
    """LangChain's standard tests for calls of a tool, on Search."""

    @property
    def tool_constructor(self):
        """The tool."""
        return docstore_tools(STORE)[0]

    @property
    def tool_invoke_params_example(self):
        """A call."""
        return {"query": "Ayako"}


class TestSearchStandard(ToolsUnitTests):
    """LangChain's standard tests for tools, on Search."""

    @property
    def tool_constructor(self):
        """The tool."""
        return docstore_tools(STORE)[0]

    @property
    def tool_invoke_params_example(self):
        """A call."""
        return {"query": "Ayako"}


class TestLookupStandard(ToolsUnitTests):
    """LangChain's standard tests for tools, on Lookup."""

    @property
    def tool_constructor(self):
        """The tool."""
        return docstore_tools(STORE)[1]

    @property
    def tool_invoke_params_example(self):
        """A call."""
        return {"query": "paints"}


@pytest.mark.parametrize(
    ("section", "begins"),
    [
        ("career", 'Page "Takuma", section "Career":\nCareer: He teaches.'),
        ("Music", 'Page "Takuma", without a section "Music":\nTakuma is a father.'),
    ],
)
def test_a_section_is_shown_only_if_the_page_has_it(section, begins):
    """A section is found without regard to case; one that is not there is not claimed."""

    class Wiki:
        def search(self, term):
            text = (
                "Takuma is a father.\n\n== Career ==\n\nHe teaches.\n\n== Family ==\n\n"
                + "x " * 200
            )
            return Document(text, metadata={"title": "Takuma", "section": term.partition("#")[2]})

    search, _ = docstore_tools(Wiki(), search_tokens=20)

    assert search.run(f"Takuma#{section}").startswith(begins)


def test_a_title_of_none_is_no_title():
    """A page whose loader knew no title is called as it was asked for."""

    class Loaded:
        def search(self, _):
            return Document("He teaches.", metadata={"title": None})

    assert docstore_tools(Loaded())[0].run("Takuma") == "He teaches."
