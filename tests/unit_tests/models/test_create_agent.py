"""LangChain's `create_agent` with models that only write text: the tutorials and their company."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    SummarizationMiddleware,
    ToolCallLimitMiddleware,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, Tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import BaseModel

from langchain_custom_agents import (
    FAISSStore,
    TextDocstore,
    docstore_tools,
    retriever_tool,
    with_tool_calling,
)
from langchain_custom_agents.dialects import ENGLISH, Bracketed, Dialect
from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM
from langchain_custom_agents.tools.reference import reference_middleware
from tests.unit_tests import test_tutorials as tutorials

THREAD: Any = {"configurable": {"thread_id": "1"}}


class Story(NamedTuple):
    """What a tutorial's model said, and what must come of it."""

    said: list[str]
    tools: Callable[[], list[BaseTool]]
    dialect: Dialect
    asked: str
    called: list[Any]
    answer: str


def family_tools() -> list[BaseTool]:
    return [retriever_tool(FAISSStore.from_texts(tutorials.FAMILY, HashingEmbeddings()), k=1)]


def invoice_tools() -> list[BaseTool]:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(",")]

    return [
        Tool("GetInvoice", lambda who: tutorials.AMOUNTS[who], "the invoice amount of a company"),
        Tool("Total", lambda text: sum(numbers(text)), "the total of amounts"),
        Tool("Diff", lambda text: numbers(text)[0] - numbers(text)[1], "the difference of two"),
    ]


def encyclopedia_tools() -> list[BaseTool]:
    return docstore_tools(TextDocstore(tutorials.PAGES))


STORIES = {
    "hiroko": Story(
        tutorials.SAID,
        family_tools,
        ENGLISH,
        tutorials.ASKED,
        ["Hiroko's father's occupation", "Takuma's occupation"],
        "Takuma is a teacher.",
    ),
    "invoices": Story(
        tutorials.INVOICES_SAID,
        invoice_tools,
        tutorials.IN_JAPANESE,
        tutorials.INVOICES_ASKED,
        ["C", "F", "A", "E", "20000,4100", "2000,1000", "24100,3000"],
        "21100",
    ),
    "clinton": Story(
        tutorials.CLINTON_SAID,
        encyclopedia_tools,
        Bracketed(),
        "What do Bill Clinton's wife do for a living?",
        ["Bill Clinton", "Hillary Clinton"],
        "politician, diplomat, lawyer",
    ),
}


def asked(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def run(agent: Any, inputs: Any) -> list[Any]:
    return agent.invoke(inputs, THREAD)["messages"]


def run_async(agent: Any, inputs: Any) -> list[Any]:
    return asyncio.run(agent.ainvoke(inputs, THREAD))["messages"]


def run_values(agent: Any, inputs: Any) -> list[Any]:
    *_, last = agent.stream(inputs, THREAD, stream_mode="values")
    return last["messages"]


def run_updates(agent: Any, inputs: Any) -> list[Any]:
    updates = agent.stream(inputs, THREAD, stream_mode="updates")
    return [message for each in updates for part in each.values() for message in part["messages"]]


def run_messages(agent: Any, inputs: Any) -> list[Any]:
    """Put the streamed chunks of each message together."""
    whole: dict[str, Any] = {}
    for chunk, _ in agent.stream(inputs, THREAD, stream_mode="messages"):
        before = whole.get(chunk.id)
        whole[chunk.id] = chunk if before is None else before + chunk
    return list(whole.values())


def run_messages_async(agent: Any, inputs: Any) -> list[Any]:
    async def gather() -> list[Any]:
        whole: dict[str, Any] = {}
        async for chunk, _ in agent.astream(inputs, THREAD, stream_mode="messages"):
            before = whole.get(chunk.id)
            whole[chunk.id] = chunk if before is None else before + chunk
        return list(whole.values())

    return asyncio.run(gather())


WAYS = pytest.mark.parametrize(
    "way", [run, run_async, run_values, run_updates, run_messages, run_messages_async]
)
KINDS = pytest.mark.parametrize("kind", [ScriptedLLM, ScriptedChatModel])


def inputs_of(messages: list[Any]) -> list[Any]:
    """Return what the tools were called with."""
    calls = [call for message in messages for call in getattr(message, "tool_calls", ())]
    return [value for call in calls for value in call["args"].values()]


def texts_in(heard: Any) -> str:
    return heard if isinstance(heard, str) else "\n".join(str(m.content) for m in heard)


@KINDS
@WAYS
@pytest.mark.parametrize("name", STORIES)
def test_a_tutorial_runs_under_create_agent(name: str, way: Any, kind: Any) -> None:
    """The same words lead to the same calls and the same answer, without inventions."""
    story = STORIES[name]
    model = kind(story.said)
    agent = create_agent(with_tool_calling(model, story.dialect), story.tools())
    messages = way(agent, asked(story.asked))

    assert inputs_of(messages) == story.called
    assert messages[-1].content == story.answer
    assert "website" not in texts_in(model.prompts[-1])


@KINDS
@pytest.mark.parametrize("name", STORIES)
def test_a_tutorial_runs_from_checkpoint_to_checkpoint(name: str, kind: Any) -> None:
    """Stopped before every tool and taken up by a new agent, a run calls and answers the same."""
    story = STORIES[name]
    memory, model = InMemorySaver(), kind(story.said)
    inputs: Any = asked(story.asked)
    for _ in range(len(story.called) + 1):
        agent = create_agent(
            with_tool_calling(model, story.dialect),
            story.tools(),
            checkpointer=memory,
            interrupt_before=["tools"],
        )
        messages = agent.invoke(inputs, THREAD)["messages"]
        inputs = None

    assert inputs_of(messages) == story.called
    assert messages[-1].content == story.answer


@KINDS
@pytest.mark.parametrize("name", STORIES)
def test_a_tutorial_runs_with_every_call_approved(name: str, kind: Any) -> None:
    """A human sees each call before it is made, and the run goes on as if nobody had looked."""
    story = STORIES[name]
    tools = story.tools()
    agent = create_agent(
        with_tool_calling(kind(story.said), story.dialect),
        tools,
        middleware=[HumanInTheLoopMiddleware({each.name: True for each in tools})],
        checkpointer=InMemorySaver(),
    )
    state = agent.invoke(asked(story.asked), THREAD)
    shown = []
    while "__interrupt__" in state:
        [request] = state["__interrupt__"][0].value["action_requests"]
        shown += request["args"].values()
        state = agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)

    assert shown == story.called
    assert state["messages"][-1].content == story.answer


@pytest.mark.parametrize("name", STORIES)
def test_a_prompt_begins_with_the_whole_one_before(name: str) -> None:
    """A provider's cache stays warm: what a text model is sent only grows."""
    story = STORIES[name]
    llm = ScriptedLLM(story.said)
    create_agent(with_tool_calling(llm, story.dialect), story.tools()).invoke(asked(story.asked))

    assert len(llm.prompts) == len(story.called) + 1
    for before, after in zip(llm.prompts, llm.prompts[1:], strict=False):
        assert after.startswith(before)


# What a human decides.


@tool
def send(to: str, text: str) -> str:
    """Sends a message."""
    return f"sent to {to}: {text}"


SENDS = 'I write\nAction: send\nAction Input: {"to": "Ayako", "text": "Hello"}'


def approving(llm: Any) -> Any:
    return create_agent(
        with_tool_calling(llm),
        [send],
        middleware=[HumanInTheLoopMiddleware({"send": True})],
        checkpointer=InMemorySaver(),
    )


def test_an_edited_call_is_run_and_read() -> None:
    """The edited arguments are run, and the model reads what became of them."""
    llm = ScriptedLLM([SENDS, "done\nFinal Answer: It is sent."])
    agent = approving(llm)
    agent.invoke(asked("Greet her"), THREAD)
    edited = {"name": "send", "args": {"to": "Takuma", "text": "Hello"}}
    decision = {"type": "edit", "edited_action": edited}
    state = agent.invoke(Command(resume={"decisions": [decision]}), THREAD)

    assert "sent to Takuma: Hello" in state["messages"][-2].content
    assert "sent to Takuma: Hello" in llm.prompts[1]
    assert state["messages"][-1].content == "It is sent."


def test_a_rejected_call_is_an_observation() -> None:
    """Why a human rejected a call is what the model reads next; the tool did not run."""
    llm = ScriptedLLM([SENDS, "I may not\nFinal Answer: I did not send it."])
    agent = approving(llm)
    agent.invoke(asked("Greet her"), THREAD)
    decision = {"type": "reject", "message": "She is asleep."}
    state = agent.invoke(Command(resume={"decisions": [decision]}), THREAD)

    assert state["messages"][-1].content == "I did not send it."
    assert "She is asleep." in llm.prompts[1].rpartition("Observation:")[2]
    assert "sent to" not in llm.prompts[1]


# Limits, summaries, manuals.

LOOKS = "I look\nAction: look\nAction Input: {}"


@tool
def look(where: str) -> str:
    """Looks somewhere."""
    return f"nothing in {where}"


def test_a_limit_of_model_calls_ends_the_run() -> None:
    """After as many calls of the model as are allowed the run ends, with LangChain's words."""
    llm = ScriptedLLM(lambda _: LOOKS.format("the garden"))
    limit = ModelCallLimitMiddleware(run_limit=3, exit_behavior="end")
    state = create_agent(with_tool_calling(llm), [look], middleware=[limit]).invoke(asked("Where?"))

    assert len(llm.prompts) == 3
    assert "limit" in state["messages"][-1].content


def test_a_limit_of_tool_calls_is_told_to_the_model() -> None:
    """A call over the limit does not run; the model reads why, and answers."""
    said = [LOOKS.format("a"), LOOKS.format("b"), "enough\nFinal Answer: Nowhere."]
    llm = ScriptedLLM(said)
    limit = ToolCallLimitMiddleware(run_limit=1)
    state = create_agent(with_tool_calling(llm), [look], middleware=[limit]).invoke(asked("Where?"))

    assert state["messages"][-1].content == "Nowhere."
    assert "nothing in a" in llm.prompts[-1]
    assert "nothing in b" not in llm.prompts[-1]
    assert "limit" in llm.prompts[-1]


def test_old_turns_are_summarised_by_the_same_model() -> None:
    """The summary is asked for without the form, and the run goes on from it."""

    def says(prompt: str) -> str:
        if "Thought:" not in prompt:
            return "They looked in the garden."
        return "I know\nFinal Answer: Hm."

    llm = ScriptedLLM(says)
    model = with_tool_calling(llm)
    middleware = SummarizationMiddleware(model, trigger=("messages", 4), keep=("messages", 1))
    agent = create_agent(model, [look], middleware=[middleware], checkpointer=InMemorySaver())
    for text in ("Hello", "Are you there?", "Where is she?"):
        state = agent.invoke(asked(text), THREAD)

    assert state["messages"][-1].content == "Hm."
    assert any("They looked in the garden." in str(m.content) for m in state["messages"])
    assert "They looked in the garden." in llm.prompts[-1]


def test_a_refused_call_shows_the_manual() -> None:
    """Our reference middleware adds the section that mends a refused input."""

    @tool
    def find_issues(jql: str) -> str:
        """Finds issues. Input: JQL."""
        if "==" in jql:
            raise ValueError("Expecting a value but got '='.")
        return "LCA-7"

    manual = "# JQL\n## Operators\nEquality is one sign: status = Done.\n## Dates\n..."
    llm = ScriptedLLM(
        [
            "I search\nAction: find_issues\nAction Input: status == Done",
            "One sign\nAction: find_issues\nAction Input: status = Done",
            "found\nFinal Answer: LCA-7",
        ]
    )
    middleware = reference_middleware(manual, k=1, cache=None)
    agent = create_agent(with_tool_calling(llm), [find_issues], middleware=[middleware])
    state = agent.invoke(asked("Which are done?"))

    assert "Equality is one sign" in llm.prompts[1]
    assert state["messages"][-1].content == "LCA-7"


# Structured answers.


class Person(BaseModel):
    """A person."""

    name: str
    age: int


@pytest.mark.parametrize("form", [Person, ToolStrategy(Person)])
@KINDS
def test_a_structured_answer(form: Any, kind: Any) -> None:
    """The answer is asked for as a call of the schema's tool, after the tools that were needed."""
    model = kind(
        [
            LOOKS.format("the family book"),
            'I know\nAction: Person\nAction Input: {"name": "Hiroko", "age": 10}',
        ]
    )
    agent = create_agent(with_tool_calling(model), [look], response_format=form)
    state = agent.invoke(asked("Who is she?"))

    assert state["structured_response"] == Person(name="Hiroko", age=10)


def test_a_structured_answer_that_does_not_fit_is_corrected() -> None:
    """What the schema refuses is read by the model, which says it again."""
    llm = ScriptedLLM(
        [
            'I know\nAction: Person\nAction Input: {"name": "Hiroko", "age": "ten"}',
            'I know\nAction: Person\nAction Input: {"name": "Hiroko", "age": 10}',
        ]
    )
    state = create_agent(with_tool_calling(llm), [], response_format=Person).invoke(asked("Who?"))

    assert state["structured_response"] == Person(name="Hiroko", age=10)
    assert "Observation: Error" in llm.prompts[1]


# Conversations, streams, graphs.


@KINDS
def test_a_conversation_goes_on_in_its_thread(kind: Any) -> None:
    """The second question comes after the first with its steps and its answer."""
    model = kind(
        [
            LOOKS.format("the garden"),
            "I know\nFinal Answer: She is not in the garden.",
            "I know\nFinal Answer: I looked in the garden.",
        ]
    )
    agent = create_agent(with_tool_calling(model), [look], checkpointer=InMemorySaver())
    agent.invoke(asked("Where is she?"), THREAD)
    state = agent.invoke(asked("Where did you look?"), THREAD)
    prompt = texts_in(model.prompts[-1])

    assert state["messages"][-1].content == "I looked in the garden."
    assert prompt.index("nothing in the garden") < prompt.index("She is not in the garden.")
    assert prompt.index("She is not in the garden.") < prompt.index("Where did you look?")


@KINDS
def test_what_is_streamed_as_messages_is_ours_alone(kind: Any) -> None:
    """Thoughts come as reasoning and the answer as content, in pieces; no label is ever seen."""
    model = kind([LOOKS.format("the garden"), "I know it now\nFinal Answer: She is not there."])
    agent = create_agent(with_tool_calling(model), [look])
    chunks = [
        chunk
        for chunk, _ in agent.stream(asked("Where is she?"), stream_mode="messages")
        if isinstance(chunk, AIMessageChunk)
    ]
    thought = [chunk.additional_kwargs.get("reasoning_content", "") for chunk in chunks]

    assert "".join(chunk.text for chunk in chunks) == "She is not there."
    assert sum(1 for chunk in chunks if chunk.text) > 1
    assert "".join(thought) == "I lookI know it now"
    assert [call["args"] for chunk in chunks for call in chunk.tool_calls] == [
        {"where": "the garden"}
    ]


async def test_events_show_the_model_and_what_is_underneath_once_each() -> None:
    """A stream of events has tokens of our run only; the run underneath is below it.

    Before Python 3.11 LangGraph's asynchronous nodes do not know whose events they are: no model
    under `create_agent` shows its tokens there.
    """
    known = "She is not there." if sys.version_info >= (3, 11) else ""
    model = ScriptedChatModel(["I know\nFinal Answer: She is not there."])
    agent = create_agent(with_tool_calling(model), [look])
    tokens = ""
    async for event in agent.astream_events(asked("Where is she?"), version="v2"):
        if event["event"] == "on_chat_model_stream":
            tokens += event["data"]["chunk"].text

    assert tokens == known


def test_an_agent_is_a_subgraph() -> None:
    """As a node of a bigger graph it streams with its namespace, and answers into the state."""
    llm = ScriptedLLM([LOOKS.format("the garden"), "I know\nFinal Answer: Nowhere."])
    graph = StateGraph(MessagesState)
    graph.add_node("agent", create_agent(with_tool_calling(llm), [look]))
    graph.add_edge(START, "agent")
    parts = list(graph.compile().stream(asked("Where?"), stream_mode="updates", subgraphs=True))

    assert {space[0].split(":")[0] for space, _ in parts if space} == {"agent"}
    assert parts[-1][1]["agent"]["messages"][-1].content == "Nowhere."


def test_several_calls_of_another_model_are_written_one_after_the_other() -> None:
    """A conversation that a provider's model began, with parallel calls, goes on in the form."""
    calls = [{"name": "look", "args": {"where": where}, "id": where} for where in ("a", "b")]
    history = [
        HumanMessage("Where?"),
        AIMessage("I look in both", tool_calls=calls),
        ToolMessage("in b: nothing", tool_call_id="b"),
        ToolMessage("in a: nothing", tool_call_id="a"),
    ]
    llm = ScriptedLLM(["I know\nFinal Answer: Nowhere."])
    state = create_agent(with_tool_calling(llm), [look]).invoke({"messages": history})

    assert state["messages"][-1].content == "Nowhere."
    assert llm.prompts[0].endswith(
        "Question: Where?\n"
        "Thought: I look in both\nAction: look\nAction Input: a\nObservation: in a: nothing\n"
        "Thought:\nAction: look\nAction Input: b\nObservation: in b: nothing\n"
        "Thought:"
    )
