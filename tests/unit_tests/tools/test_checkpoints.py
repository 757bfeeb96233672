"""What our tools and models put into a run's messages comes back from strict checkpoints."""

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from langchain_custom_agents import (
    TextDocstore,
    calculator_tool,
    docstore_tools,
    retriever_tool,
    with_reference,
    with_tool_calling,
)
from langchain_custom_agents.dialects import JAPANESE
from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.testing import ScriptedLLM
from langchain_custom_agents.vectorstores.faiss import FAISSStore

CONFIG = {"configurable": {"thread_id": "1"}}


@tool
def jql(query: str) -> str:
    """Find issues."""
    return f"2 issues for {query}"


def tools(folder):
    """One of each kind, with something to find."""
    store = FAISSStore(HashingEmbeddings(32))
    store.add_documents([Document("Hiroko lives in Onomichi.", metadata={"page": 3})])
    manual = folder / "manual.md"
    manual.write_text("# Queries\n\n## assignee\n\n`assignee = NAME` finds who works on it.\n")
    return [
        *docstore_tools(TextDocstore({"Hiroko": "Hiroko sells boats."})),
        retriever_tool(store, name="Notes", k=1),
        calculator_tool(),
        with_reference(jql, manual, k=1, cache=None),
    ]


def test_messages_come_back_as_they_were(tmp_path, caplog):
    """From a checkpointer that rebuilds known classes only, messages say and hold the same."""
    given = tools(tmp_path)
    names = [each.name for each in given]
    inputs = ["Hiroko", "boats", "Onomichi", "2 * 3", "assignee = hiroko"]
    steps = [
        f"見ます。\n行動: {name}\n行動の入力: {value}"
        for name, value in zip(names, inputs, strict=True)
    ]
    llm = ScriptedLLM([*steps, "わかりました。", "わかりました。\n最終回答: 尾道です。"])
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    with SqliteSaver.from_conn_string(str(tmp_path / "c.db")) as saver:
        agent = create_agent(with_tool_calling(llm, JAPANESE), given, checkpointer=saver)
        said = agent.invoke({"messages": [("user", "どこに?")]}, CONFIG)["messages"]
    with SqliteSaver.from_conn_string(str(tmp_path / "c.db")) as saver:
        saver.serde = strict
        stored = saver.get_tuple(CONFIG).checkpoint["channel_values"]["messages"]

    assert said[-1].text == "尾道です。"
    assert [message.status for message in said if isinstance(message, ToolMessage)] == [
        "success"
    ] * len(given)
    assert [type(message) for message in stored] == [type(message) for message in said]
    assert [message.model_dump() for message in stored] == [
        message.model_dump() for message in said
    ]
    assert "Blocked deserialization" not in caplog.text


def test_a_document_beside_a_message_comes_back_as_its_data(tmp_path):
    """LangGraph stores what a tool returns beside its words as data, which make it again."""
    (search, _) = docstore_tools(TextDocstore({"Hiroko": "Hiroko sells boats."}))
    call = {"type": "tool_call", "name": "Search", "args": {"query": "Hiroko"}, "id": "1"}
    message = search.invoke(call)
    serde = JsonPlusSerializer(allowed_msgpack_modules=None)
    stored = serde.loads_typed(serde.dumps_typed(message))

    assert isinstance(message.artifact, Document)
    assert isinstance(stored.artifact, dict)
    assert Document(**stored.artifact) == message.artifact


class Booking:
    """Stands for a class of the user's own; named so that it can be imported again."""

    def __init__(self, ferry):
        self.ferry = ferry

    def model_dump(self):
        """Say what it holds, as pydantic's models do."""
        return {"ferry": self.ferry}


@pytest.mark.parametrize(("named", "kind"), [(None, dict), ([Booking], Booking)])
def test_a_class_of_your_own_has_to_be_named(named, kind):
    """What strict serialisation does not know comes back as plain data, until it is named."""
    serde = JsonPlusSerializer(allowed_msgpack_modules=named)

    assert type(serde.loads_typed(serde.dumps_typed(Booking("F-7")))) is kind


def test_exit_stores_a_run_that_an_exception_ended():
    """With durability "exit" a run that was interrupted, not killed, goes on where it was."""
    called = []

    @tool
    def ferry(town: str) -> str:
        """Books a ferry."""
        called.append("ferry")
        return "F-7"

    @tool
    def room(town: str) -> str:
        """Books a room."""
        called.append("room")
        if called.count("room") == 1:
            raise KeyboardInterrupt
        return "R-3"

    llm = ScriptedLLM(
        [
            "Go.\nAction: ferry\nAction Input: Innoshima",
            "Stay.\nAction: room\nAction Input: Innoshima",
            "Done.\nFinal Answer: F-7 and R-3.",
        ]
    )
    agent = create_agent(with_tool_calling(llm), [ferry, room], checkpointer=InMemorySaver())
    with pytest.raises(KeyboardInterrupt):
        agent.invoke({"messages": [("user", "Book.")]}, CONFIG, durability="exit")

    assert agent.invoke(None, CONFIG, durability="exit")["messages"][-1].text == "F-7 and R-3."
    assert called == ["ferry", "room", "room"]
