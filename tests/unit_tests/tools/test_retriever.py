"""Search over a vector store or a retriever."""

import pytest
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.unit_tests import ToolsUnitTests

from langchain_custom_agents import retriever_tool
from langchain_custom_agents.offline.embeddings import HashingEmbeddings

SENTENCES = [
    "hiroko's father is takuma",
    "hiroko's mother is ayako",
    "takuma's occupation is teacher",
    "hiroko is 10 years old",
    "ayako's occupation is painter",
]


class Given(BaseRetriever):
    """A retriever that finds what it was given, or fails."""

    found: list[Document] = []
    error: Exception | None = None

    def _get_relevant_documents(self, query, *, run_manager):
        if self.error:
            raise self.error
        return self.found


@pytest.fixture
def store():
    """The five sentences about Hiroko."""
    return InMemoryVectorStore.from_texts(
        SENTENCES, HashingEmbeddings(), metadatas=[{"n": n} for n in range(5)]
    )


def test_one_hit_is_shown_as_it_is(store):
    """With k=1 the observation is exactly the sentence."""
    assert retriever_tool(store, k=1).run("hiroko's father") == "hiroko's father is takuma"


def test_several_hits_are_numbered(store):
    """Several hits are told apart by their numbers, nearest first."""
    shown = retriever_tool(store, k=2).run("hiroko's father").splitlines()

    assert shown[0] == "[1] hiroko's father is takuma"
    assert shown[1].startswith("[2] ")
    assert len(shown) == 2


def test_the_documents_travel_as_the_artifact(store):
    """The artifact holds the documents shown, with their metadata."""
    call = {"type": "tool_call", "id": "1", "name": "Search", "args": {"query": "hiroko's age"}}

    message = retriever_tool(store, k=3).invoke(call)

    assert isinstance(message, ToolMessage)
    assert len(message.artifact) == 3
    assert all("n" in document.metadata for document in message.artifact)


def test_a_retriever_is_used_as_it_is_and_cut_to_k():
    """Any retriever serves; more documents than k are left out."""
    documents = [Document("a"), Document("b"), Document("c")]

    assert retriever_tool(Given(found=documents), k=2).run("x") == "[1] a\n[2] b"


def test_nothing_found_is_a_sentence():
    """An empty result tells the model what to do."""
    assert retriever_tool(Given()).run("x") == 'Nothing was found for "x". Try other words.'


def test_an_empty_query_is_a_sentence(store):
    """Nothing is searched for an empty query."""
    assert retriever_tool(store).run(" ") == "Search needs words to look for."


async def test_a_failing_store_is_a_sentence():
    """What the store raises becomes an observation, sync and async."""
    tool = retriever_tool(Given(error=ConnectionError("no route to host")))

    assert tool.run("x").startswith("Search failed (ConnectionError: no route to host).")
    assert await tool.arun("x") == tool.run("x")


async def test_async_finds_the_same(store):
    """The async call gives the same observation."""
    tool = retriever_tool(store, k=2)

    assert await tool.ainvoke("hiroko") == tool.invoke("hiroko")


def test_name_and_description_can_be_given(store):
    """A second source gets a name of its own."""
    tool = retriever_tool(store, name="Invoices", description="Finds invoices.")

    assert (tool.name, tool.description) == ("Invoices", "Finds invoices.")


def test_bad_arguments_are_refused(store):
    """A wrong store or k is named."""
    with pytest.raises(ValueError, match="`k` is 0"):
        retriever_tool(store, k=0)
    with pytest.raises(ValueError, match="`k` is '4'"):
        retriever_tool(store, k="4")
    with pytest.raises(ValueError, match="`name` is ''"):
        retriever_tool(store, name="")
    with pytest.raises(TypeError, match="`store_or_retriever` is str"):
        retriever_tool("store")


class TestStandard(ToolsUnitTests):
    """LangChain's standard tests for tools."""

    @property
    def tool_constructor(self):
        """A search tool."""
        return retriever_tool(Given(found=[Document("x")]))

    @property
    def tool_invoke_params_example(self):
        """A call."""
        return {"query": "x"}
