"""One set of tools under many runs at once: no page crosses from one run to another."""

import asyncio
import gc
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TypedDict

import pytest
from langchain.agents import create_agent
from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_classic.agents.react.base import ReActDocstoreAgent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from langchain_custom_agents import (
    AgentExecutor,
    ReActAgent,
    TextDocstore,
    docstore_tools,
    with_tool_calling,
)
from langchain_custom_agents.dialects import Bracketed
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM
from langchain_custom_agents.tools import _pages
from langchain_custom_agents.tools._pages import OpenPage, OpenPages, run_key
from langchain_custom_agents.tools._passages import Page

RUNS = 50
STORE = TextDocstore(
    {f"Page {n}": f"Page {n} begins. The secret of {n} is s{n}. It ends." for n in range(RUNS)}
)


@pytest.fixture
def tools():
    """One set of tools for all runs of a test."""
    return docstore_tools(STORE, lookup_tokens=0)


class Meeting:
    """Holds every run between Search and Lookup until all of them have searched."""

    def __init__(self, parties):
        self.barrier = threading.Barrier(parties)
        self.arrived = 0
        self.all_here = asyncio.Event()
        self.parties = parties

    def wait(self):
        """Wait in a thread."""
        self.barrier.wait(timeout=60)

    async def await_all(self):
        """Wait in a task."""
        self.arrived += 1
        if self.arrived == self.parties:
            self.all_here.set()
        await asyncio.wait_for(self.all_here.wait(), 60)


class MeetingStore:
    """The pages, but nobody goes on before every run has found its own."""

    def __init__(self, parties):
        self.meeting = Meeting(parties)

    def search(self, term):
        """Find a page and wait for the others."""
        self.meeting.wait()
        return STORE.search(term)

    async def asearch(self, term):
        """Find a page and wait for the others."""
        await self.meeting.await_all()
        return STORE.search(term)


def script(n):
    """What a model says that searches page n and looks its secret up."""
    return [
        f"Thought: Search.\nAction: Search[Page {n}]",
        "Thought: Look.\nAction: Lookup[secret]",
        "Thought: Done.\nAction: Finish[done]",
    ]


def stock(tools, n):
    """The stock docstore agent in the stock executor."""
    agent = ReActDocstoreAgent.from_llm_and_tools(ScriptedLLM(script(n)), tools)
    return StockExecutor(agent=agent, tools=tools, return_intermediate_steps=True)


def ours(tools, n):
    """Our ReAct agent in our executor."""
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM(script(n)), tools, dialect=Bracketed())
    return AgentExecutor(agent=agent, tools=tools, return_intermediate_steps=True)


def calls(n):
    """What a chat model calls that searches page n and looks its secret up."""

    def call(name, query):
        request = {"type": "tool_call", "id": f"{name}-{n}", "name": name, "args": {"query": query}}
        return AIMessage("", tool_calls=[request])

    return [call("Search", f"Page {n}"), call("Lookup", "secret"), AIMessage("done")]


def graph(tools, n):
    """LangChain's create_agent."""
    return create_agent(ScriptedChatModel(calls(n)), tools)


def text(tools, n):
    """The same with a text model."""
    return create_agent(with_tool_calling(ScriptedLLM(script(n)), Bracketed()), tools)


def looked_up(result):
    """The last observation of a run, whoever made it."""
    if "messages" in result:
        return [m for m in result["messages"] if isinstance(m, ToolMessage)][-1].content
    return result["intermediate_steps"][-1][1]


def asked(make):
    """The input that an agent takes."""
    return (
        {"messages": [HumanMessage("What is the secret?")]}
        if make in (graph, text)
        else {"input": "?"}
    )


def secret(n):
    """What Lookup must find on page n."""
    return f"(Result 1/1) The secret of {n} is s{n}."


@pytest.mark.parametrize("make", [stock, ours, graph, text])
def test_fifty_runs_in_threads_keep_their_pages(make):
    """Fifty runs that have all searched before any looks up find their own secrets."""
    tools = docstore_tools(MeetingStore(RUNS), lookup_tokens=0)

    def run(n):
        return looked_up(make(tools, n).invoke(asked(make)))

    with ThreadPoolExecutor(RUNS) as threads:
        found = list(threads.map(run, range(RUNS)))

    assert found == [secret(n) for n in range(RUNS)]


@pytest.mark.parametrize("make", [stock, ours, graph, text])
async def test_fifty_runs_in_asyncio_keep_their_pages(make):
    """The same in fifty tasks of one event loop."""
    tools = docstore_tools(MeetingStore(RUNS), lookup_tokens=0)

    async def run(n):
        return looked_up(await make(tools, n).ainvoke(asked(make)))

    found = await asyncio.gather(*(run(n) for n in range(RUNS)))

    assert found == [secret(n) for n in range(RUNS)]


@pytest.mark.parametrize("make", [stock, ours, graph])
def test_a_run_does_not_see_the_page_of_the_run_before(make, tools):
    """A run that looks up without having searched is told so, whatever ran before."""
    make(tools, 1).invoke(asked(make))
    if make is graph:
        agent = create_agent(ScriptedChatModel(calls(1)[1:]), tools)
    else:
        agent = make(tools, 1)
        model = ScriptedLLM(script(1)[1:])
        agent = (
            StockExecutor(
                agent=ReActDocstoreAgent.from_llm_and_tools(model, tools),
                tools=tools,
                return_intermediate_steps=True,
            )
            if make is stock
            else AgentExecutor(
                agent=ReActAgent.from_llm_and_tools(model, tools, dialect=Bracketed()),
                tools=tools,
                return_intermediate_steps=True,
            )
        )

    assert looked_up(agent.invoke(asked(make))).startswith("No page is open.")


def test_fifty_threads_of_conversation_keep_their_pages_from_turn_to_turn(tools):
    """With a thread_id the page stays open for the next turn of that conversation only."""
    saver = InMemorySaver()

    def turn(n, messages):
        agent = create_agent(ScriptedChatModel(messages), tools, checkpointer=saver)
        return agent.invoke(asked(graph), {"configurable": {"thread_id": f"t{n}"}})

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: turn(n, [calls(n)[0], AIMessage("x")]), range(RUNS)))
        results = list(threads.map(lambda n: turn(n, calls(n)[1:]), range(RUNS)))

    assert [looked_up(result) for result in results] == [secret(n) for n in range(RUNS)]


def test_subagents_of_one_conversation_keep_their_pages():
    """Agents that run as parallel nodes of one thread do not share a page."""

    class State(TypedDict):
        found: str
        other: str

    for make in (stock, ours, graph):
        tools = docstore_tools(MeetingStore(2), lookup_tokens=0)
        builder = StateGraph(State)

        def node(n, key, make=make, tools=tools):
            return lambda _: {key: looked_up(make(tools, n).invoke(asked(make)))}

        builder.add_node("one", node(1, "found"))
        builder.add_node("two", node(2, "other"))
        builder.add_edge(START, "one")
        builder.add_edge(START, "two")
        state = builder.compile(checkpointer=InMemorySaver()).invoke(
            {"found": "", "other": ""}, {"configurable": {"thread_id": "t"}}
        )

        assert state == {"found": secret(1), "other": secret(2)}, make.__name__


def test_by_hand_in_a_script(tools):
    """In a plain script, `run` after `run`, Lookup reads what Search opened."""
    search, lookup = tools
    search.run("Page 3")

    assert lookup.run("secret") == secret(3)
    assert lookup.invoke({"query": "ends"}) == "(Result 1/1) It ends."

    search.invoke("Page 4")

    assert lookup.run({"query": "secret"}) == secret(4)


async def test_by_hand_in_a_coroutine(tools):
    """In a coroutine, sync and async calls read the same page."""
    search, lookup = tools
    await search.ainvoke("Page 3")

    assert await lookup.arun("secret") == secret(3)
    assert lookup.run("ends") == "(Result 1/1) It ends."


async def test_tasks_by_hand_keep_their_pages(tools):
    """Tasks that begin from the same page go their own ways, and leave it as it was."""
    search, lookup = tools
    await search.arun("Page 0")

    async def work(n):
        await search.arun(f"Page {n}")
        await asyncio.sleep(0)
        return await lookup.arun("secret")

    found = await asyncio.gather(*(work(n) for n in range(RUNS)))

    assert found == [secret(n) for n in range(RUNS)]
    assert await lookup.arun("secret") == secret(0)


def test_threads_by_hand_keep_their_pages():
    """Plain threads have pages of their own."""
    search, lookup = docstore_tools(MeetingStore(RUNS), lookup_tokens=0)

    def work(n):
        search.run(f"Page {n}")
        return lookup.run("secret")

    with ThreadPoolExecutor(RUNS) as threads:
        assert list(threads.map(work, range(RUNS))) == [secret(n) for n in range(RUNS)]


def test_two_sets_of_tools_do_not_mix():
    """Tools over different docstores have different pages open at the same time."""
    search, lookup = docstore_tools(TextDocstore({"A": "One."}), lookup_tokens=0)
    other_search, other_lookup = docstore_tools(TextDocstore({"A": "Two."}), lookup_tokens=0)
    search.run("A")
    other_search.run("A")

    assert lookup.run("o") == "(Result 1/1) One."
    assert other_lookup.run("o") == "(Result 1/1) Two."


def test_a_chain_is_a_run(tools):
    """Within a chain the calls share a page, which the next call of the chain does not see."""
    search, lookup = tools
    chain = RunnableLambda(lambda n: search.invoke(f"Page {n}") and lookup.invoke("secret"))
    late = RunnableLambda(lambda _: lookup.invoke("secret"))

    assert chain.batch(list(range(RUNS))) == [secret(n) for n in range(RUNS)]
    assert late.invoke(0).startswith("No page is open.")


def test_memory_is_flat_after_ten_thousand_runs():
    """Ten thousand runs leave no more behind than the first thousand."""
    text = "word " * 200
    search, lookup = docstore_tools(
        type("Store", (), {"search": lambda _, term: Document(f"{text}{term}.")})()
    )
    pages = search.pages

    def runs(first, last):
        for n in range(first, last):
            config = {"configurable": {"thread_id": str(n)}}
            search.invoke(f"t{n}", config)
            lookup.invoke(f"t{n}", config)

    def objects():
        gc.collect()
        return len(gc.get_objects())

    runs(0, 2_000)
    before = objects()
    runs(2_000, 10_000)

    assert len(pages) == 1_000
    assert objects() < before * 1.01


def test_many_letters_are_bounded_too():
    """Large pages push older runs out before there are a thousand."""
    pages = OpenPages()
    page = Page(Document("x" * 10_000_000), "T")
    for n in range(10):
        pages.change(("run", n), lambda _: OpenPage(page))

    assert len(pages) == 3
    assert pages.change(("run", 9), lambda opened: opened) is not None
    assert pages.change(("run", 0), lambda opened: opened) is None


def test_graph_runs_are_forgotten_with_their_run(tools):
    """A finished run of create_agent leaves no key behind."""
    for n in range(20):
        graph(tools, n).invoke(asked(graph))
    gc.collect()

    assert len(_pages._graph_runs) <= 1


def test_a_run_has_a_key_and_a_call_by_hand_has_none():
    """A thread of conversation comes first, then the parent run, then nothing."""
    assert run_key({"configurable": {"thread_id": "t"}}, None) == ("thread", "t", "")
    assert run_key({"configurable": {"thread_id": 7}}, None) == ("thread", "7", "")
    assert run_key(None, None) is None
    assert run_key({}, None) is None


@pytest.mark.parametrize("make", [stock, ours])
async def test_streams_keep_their_pages(make, tools):
    """Streaming a run, sync and async, is one run too."""
    steps = [step for step in make(tools, 5).stream(asked(make)) if "steps" in step]
    asteps = [s async for s in make(tools, 6).astream(asked(make)) if "steps" in s]

    assert steps[-1]["steps"][0].observation == secret(5)
    assert asteps[-1]["steps"][0].observation == secret(6)


def test_the_secret_is_only_on_its_page():
    """The test itself can fail: pages differ in what Lookup finds."""
    texts = [document.page_content for document in STORE.documents]

    assert all(len(re.findall(rf"\bs{n}\b", " ".join(texts))) == 1 for n in range(RUNS))
