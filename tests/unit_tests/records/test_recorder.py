"""The recorder: our executor, LangChain's, create_agent, and what goes wrong in them."""

import asyncio
from typing import Any

import pytest
from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_classic.agents import create_react_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.prompts import PromptTemplate
from langchain_core.tools import Tool, tool

from langchain_custom_agents import (
    AgentExecutor,
    OpenAIFunctionsAgent,
    ReActAgent,
    StructuredChatAgent,
)
from langchain_custom_agents.cli.stock import tutorial_executor
from langchain_custom_agents.dialects import ENGLISH
from langchain_custom_agents.models import UnreadableReplyError, with_tool_calling
from langchain_custom_agents.records import Recorder, RunRecord, replay
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM
from tests.unit_tests.records.runs import executor_of, failed_run, long_run, recorded

LOOK = " I look\nAction: Search\nAction Input: Takuma"
KNOW = " I know\nFinal Answer: a teacher"


def search(name: str = "Search") -> Tool:
    return Tool(name, lambda query: f"{query} is a teacher", "looks things up")


@tool(response_format="content_and_artifact")
def look_up(query: str) -> tuple[str, list[Document]]:
    """Look something up."""
    return f"{query} is a teacher", [Document("x", metadata={"source": "register"})]


def test_a_run_step_by_step() -> None:
    """A record holds the prompt to the letter, the words, the cut, the move and the result."""
    llm = ScriptedLLM([f"{LOOK}\nObservation: a doctor", KNOW])
    record = recorded(executor_of(llm, [search()]), "What is Takuma?")
    first, last = record.steps

    assert [step.prompt for step in record.steps] == llm.prompts
    assert first.raw == f"{LOOK}\nObservation: a doctor"
    assert (first.thought, first.cut) == ("I look", "Observation: a doctor")
    assert (first.action.tool, first.action.input) == ("Search", "Takuma")
    assert first.observation == "Takuma is a teacher"
    assert (last.answer, record.answer, record.ended) == ("a teacher", "a teacher", "answered")
    assert record.agent == "ReActAgent"
    assert record.dialect == "Labelled (Thought:)"
    assert [tool.name for tool in record.tools] == ["Search"]


def test_times_and_tokens() -> None:
    """Steps and calls lie within the run, in order; tokens are counted where none are reported."""
    record = long_run()
    times = [(step.began, step.seconds) for step in record.steps]

    assert times == sorted(times)
    assert all(began + seconds <= record.seconds for began, seconds in times)
    assert all(call.began >= 0 and call.seconds >= 0 for call in record.calls)
    assert record.tokens.counted
    assert record.steps[0].tokens.read == -(-len(record.steps[0].prompt.encode()) // 4)


def test_tokens_of_the_model() -> None:
    """What a model reports is taken for its tokens, and not marked as counted."""
    usage = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
    model = ScriptedChatModel([AIMessage("Hello!", usage_metadata=usage)])
    agent = OpenAIFunctionsAgent.from_llm_and_tools(model, [search()])
    record = recorded(AgentExecutor(agent=agent, tools=[search()]), "Hello?")

    assert (record.tokens.read, record.tokens.written, record.tokens.counted) == (11, 7, False)


def test_what_went_wrong_is_in_its_step() -> None:
    """Repairs, corrections and a tool's failure stand in the step where they happened."""
    steps = long_run().steps

    assert steps[3].repairs
    assert steps[5].correction.startswith("That reply could not be read: there is no tool named")
    assert steps[5].calls == []
    assert steps[9].action.error == "ConnectionError: the index does not answer"
    assert steps[9].observation == ("Search failed: ConnectionError: the index does not answer")


def test_a_failed_run() -> None:
    """A run that fails is recorded to its failure, which ends its last step."""
    record = failed_run()

    assert (record.ended, record.answer) == ("failed", None)
    assert record.why == "RuntimeError: 429 Too many requests, key [redacted]"
    assert record.steps[-1].raw is None
    assert record.steps[-1].error == record.why


def test_a_refused_stop_sequence_is_a_retry() -> None:
    """The same prompt sent again after a failure is one step, which says that it was tried."""
    llm = ScriptedLLM([LOOK, KNOW], refuses_stop=True)
    record = recorded(executor_of(llm, [search()]), "What is Takuma?")

    assert [step.retries for step in record.steps] == [1, 0]
    assert [step.error for step in record.steps] == ["", ""]


def test_a_stopped_run_says_why() -> None:
    """A run that was stopped says so, and by what."""
    record = recorded(executor_of(ScriptedLLM([LOOK]), [search()], max_iterations=1), "Who?")

    assert record.ended == "stopped"
    assert record.why == "Agent stopped due to iteration limit or time limit."


def test_words_without_form_are_marked() -> None:
    """An answer without form says that it was taken for one."""
    record = recorded(executor_of(ScriptedLLM(["Hello!", "Hello!"]), [search()]), "Hello?")

    assert record.answer == "Hello!"
    assert record.why == "The model's words had no form and were taken for the answer."


def test_a_tool_that_returns_directly() -> None:
    """A result that is returned directly is the answer, and the record says so."""
    direct = Tool("Search", lambda query: "a teacher", "looks things up", return_direct=True)
    record = recorded(executor_of(ScriptedLLM([LOOK]), [direct]), "What is Takuma?")

    assert record.answer == "a teacher"
    assert record.why == "Search returns its result as the answer."


def test_a_refused_call_was_not_run() -> None:
    """A call that was not approved has what the model was told, and no time."""
    llm = ScriptedLLM([LOOK, KNOW])
    executor = executor_of(llm, [search()], approve=lambda action: "too expensive")
    record = recorded(executor, "What is Takuma?")

    assert record.calls[0].observation == "Search was not called: too expensive"
    assert record.calls[0].began is None


def test_artifacts_and_sources() -> None:
    """The artifact of a tool and the sources in it are kept with its call."""
    llm = ScriptedLLM([LOOK.replace("Search", "look_up"), KNOW])
    call = recorded(executor_of(llm, [look_up]), "What is Takuma?").calls[0]

    assert call.artifact == [{"page_content": "x", "metadata": {"source": "register"}}]
    assert call.sources == [{"source": "register"}]


def two_calls() -> list[AIMessage]:
    calls = [
        {"name": "Search", "args": {"__arg1": name}, "id": f"call_{name}"}
        for name in ("Takuma", "Ayako")
    ]
    return [AIMessage("Both.", tool_calls=calls), AIMessage("Teachers.")]


def test_several_calls_of_one_reply() -> None:
    """Calls that run side by side each have their own input and result."""
    agent = OpenAIFunctionsAgent.from_llm_and_tools(ScriptedChatModel(two_calls()), [search()])
    record = recorded(AgentExecutor(agent=agent, tools=[search()]), "What are they?")
    first = record.steps[0]

    assert (first.raw, first.thought) == ("Both.", "Both.")
    assert [call["id"] for call in first.tool_calls] == ["call_Takuma", "call_Ayako"]
    assert [(call.input, call.observation) for call in first.calls] == [
        ("Takuma", "Takuma is a teacher"),
        ("Ayako", "Ayako is a teacher"),
    ]
    assert record.steps[1].prompt[-1] == {
        "role": "tool",
        "content": "Ayako is a teacher",
        "tool_call_id": "call_Ayako",
        "name": "Search",
    }


def test_a_structured_chat_agent() -> None:
    """Messages are recorded as messages, and arguments as arguments."""

    @tool
    def weather(city: str, days: int) -> str:
        """Tell the weather."""
        return "sunny"

    said = (
        'Action:\n```json\n{"action": "weather", "action_input": {"city": "Nara", "days": 2}}\n```'
    )
    last = 'Action:\n```json\n{"action": "Final Answer", "action_input": "Sunny."}\n```'
    agent = StructuredChatAgent.from_llm_and_tools(ScriptedChatModel([said, last]), [weather])
    record = recorded(AgentExecutor(agent=agent, tools=[weather]), "How is the weather?")

    assert record.calls[0].input == {"city": "Nara", "days": 2}
    assert [message["role"] for message in record.steps[0].prompt] == ["system", "user"]
    assert record.answer == "Sunny."


def test_langchains_executor() -> None:
    """LangChain's own agent is recorded, and the record says what the dialect would have done."""
    llm = ScriptedLLM([f"{LOOK}\nObservation: a doctor\nFinal Answer: a doctor"])
    executor = tutorial_executor(llm, search())
    recorder = Recorder(executor, dialect=ENGLISH)
    executor.invoke({"input": "What is Takuma?"}, {"callbacks": [recorder]})
    record = recorder.record

    assert isinstance(executor, StockExecutor)
    assert record.answer == "a doctor"
    assert record.steps[0].cut == "Observation: a doctor\nFinal Answer: a doctor"
    assert record.steps[0].differs == "Search[Takuma], but the run took it for the answer."


def test_langchains_executor_with_our_agent() -> None:
    """Our agent in LangChain's executor gives the same record as in ours."""

    def run(executor_class: Any) -> RunRecord:
        agent = ReActAgent.from_llm_and_tools(ScriptedLLM([LOOK, KNOW]), [search()])
        return recorded(executor_class(agent=agent, tools=[search()]), "What is Takuma?")

    ours, stock = run(AgentExecutor), run(StockExecutor)
    timeless = {"began", "seconds"}
    same = [
        [step.model_dump(exclude={*timeless, "calls"}) for step in record.steps]
        for record in (ours, stock)
    ]

    assert same[0] == same[1]
    assert [call.observation for call in ours.calls] == [call.observation for call in stock.calls]


@pytest.mark.parametrize("executor_class", [StockExecutor, AgentExecutor])
def test_langchains_agents_of_a_prompt(executor_class: Any) -> None:
    """Each step has its own call alone, that of a tool that does not exist included."""
    prompt = PromptTemplate.from_template(
        "{tools} {tool_names} {input}\nThought:{agent_scratchpad}"
    )
    unknown = " I look\nAction: Browse\nAction Input: Takuma"
    agent = create_react_agent(ScriptedLLM([unknown, LOOK, LOOK, KNOW]), [search()], prompt)
    executor = executor_class(agent=agent, tools=[search()])
    recorder = Recorder(executor, dialect=ENGLISH)
    executor.invoke({"input": "What is Takuma?"}, {"callbacks": [recorder]})
    calls = [[(call.tool, call.input) for call in step.calls] for step in recorder.record.steps]

    assert calls == [[("Browse", "Takuma")], *[[("Search", "Takuma")]] * 2, []]
    assert recorder.record.steps[0].observation.startswith("Browse is not a valid tool")


def test_create_agent() -> None:
    """LangGraph's create_agent is recorded: its messages, its calls and its answer."""
    from langchain.agents import create_agent

    recorder = Recorder(tools=[look_up])
    calls = [{"name": "look_up", "args": {"query": "Takuma"}, "id": "call_1"}]
    model = ScriptedChatModel([AIMessage("", tool_calls=calls), AIMessage("A teacher.")])
    graph = create_agent(model, [look_up])
    graph.invoke({"messages": [("user", "What is Takuma?")]}, {"callbacks": [recorder]})
    record = recorder.record

    assert record.question == "What is Takuma?"
    assert (record.answer, record.ended) == ("A teacher.", "answered")
    assert record.calls[0].input == {"query": "Takuma"}
    assert record.calls[0].observation == "Takuma is a teacher"
    assert record.calls[0].sources == [{"source": "register"}]


@pytest.mark.parametrize("model", [ScriptedLLM, ScriptedChatModel])
def test_a_model_that_asks_another(model: Any) -> None:
    """Under `with_tool_calling` a step is what the model underneath was sent and said, once."""
    from langchain.agents import create_agent

    def make(llm: Any, tools: Any) -> Any:
        return create_agent(with_tool_calling(llm), tools)

    llm = model(
        [
            " I look\nAction: look_up\nAction Input: Takuma\nObservation: a doctor",
            "Action: dance\nAction Input: now",
            KNOW,
        ]
    )
    recorder = Recorder(tools=[look_up])
    asked = {"messages": [("user", "What is Takuma?")]}
    make(llm, [look_up]).invoke(asked, {"callbacks": [recorder]})
    record = recorder.record
    first, second, last = record.steps

    assert (first.thought, first.cut) == ("I look", "Observation: a doctor")
    assert (first.observation, first.differs) == ("Takuma is a teacher", "")
    assert first.action.input == {"query": "Takuma"}
    assert second.correction.startswith("That reply could not be read: there is no tool named")
    assert (second.calls, last.calls) == ([], [])
    assert (last.answer, record.answer) == ("a teacher", "a teacher")
    assert record.tokens.written == sum(step.tokens.written for step in record.steps)
    assert replay(RunRecord.from_json(record.to_json()), make).answer == "a teacher"


def test_a_model_that_could_not_read_another() -> None:
    """Words that could not be read in the end are the failure of the step that said them."""
    from langchain.agents import create_agent

    recorder = Recorder()
    model = with_tool_calling(ScriptedLLM(["Action: dance\nAction Input: now"]), reasks=0)
    asked = {"messages": [("user", "What is Takuma?")]}
    with pytest.raises(UnreadableReplyError):
        create_agent(model, [look_up]).invoke(asked, {"callbacks": [recorder]})
    (step,) = recorder.record.steps

    assert step.raw == "Action: dance\nAction Input: now"
    assert step.error.startswith("UnreadableReplyError: The model's reply could not be read")
    assert recorder.record.ended == "failed"


async def test_asynchronous_runs_side_by_side() -> None:
    """One recorder keeps runs that happen at once apart."""
    recorder = Recorder()

    async def run(name: str) -> None:
        executor = executor_of(ScriptedLLM([LOOK.replace("Takuma", name), KNOW]), [search()])
        await executor.ainvoke({"input": name}, {"callbacks": [recorder]})

    names = [f"person {number}" for number in range(20)]
    await asyncio.gather(*map(run, names))

    assert [record.question for record in recorder.records] == names
    assert [record.calls[0].input for record in recorder.records] == names
    assert all(record.answer == "a teacher" for record in recorder.records)
    assert recorder._under == {}


def test_an_agent_inside_of_a_tool_is_its_own() -> None:
    """What an agent does inside of a tool is no step of the outer run; its tokens are counted."""
    inner = executor_of(ScriptedLLM([LOOK, KNOW]), [search()])
    ask = Tool("Search", lambda q: inner.invoke({"input": q})["output"], "asks an agent")
    record = recorded(executor_of(ScriptedLLM([LOOK, KNOW]), [ask]), "What is Takuma?")

    assert len(record.steps) == 2
    assert record.calls[0].observation == "a teacher"
    assert record.calls[0].tokens.read > 100


def test_a_run_under_way_can_be_looked_at() -> None:
    """A record can be had before the run has ended."""
    seen: list[RunRecord] = []
    recorder = Recorder()

    def peek(query: str) -> str:
        seen.append(recorder.record)
        return "a teacher"

    executor = executor_of(ScriptedLLM([LOOK, KNOW]), [Tool("Search", peek, "looks things up")])
    executor.invoke({"input": "What is Takuma?"}, {"callbacks": [recorder]})

    assert seen[0].ended == "unfinished"
    assert seen[0].calls[0].observation is None
    assert recorder.record.ended == "answered"


def test_a_plan_by_hand() -> None:
    """A single plan, asked for by hand, is a record of one step."""
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM([LOOK]), [search()])
    recorder = Recorder(agent)
    agent.plan([], callbacks=[recorder], input="What is Takuma?")

    assert recorder.record.steps[0].raw == LOOK
    assert recorder.record.steps[0].thought == "I look"


def test_nothing_recorded_is_said() -> None:
    """Asking for a record before a run is refused with a sentence that says what to do."""
    with pytest.raises(ValueError, match="`callbacks`"):
        _ = Recorder().record


def test_recorders_can_be_cleared() -> None:
    """A recorder in a server can forget what has ended."""
    recorder = Recorder()
    executor = executor_of(ScriptedLLM([KNOW]), [search()])
    executor.invoke({"input": "Who?"}, {"callbacks": [recorder]})
    recorder.clear()

    assert recorder.runs == []


def test_a_run_is_the_same_with_a_recorder() -> None:
    """A recorder changes neither the events of a run nor its result."""

    class Names(BaseCallbackHandler):
        def __init__(self) -> None:
            self.heard: list[str] = []

        def __getattribute__(self, name: str) -> Any:
            if name.startswith("on_"):
                object.__getattribute__(self, "heard").append(name)
            return object.__getattribute__(self, name)

    def run(*more: BaseCallbackHandler) -> tuple[Any, list[str]]:
        names = Names()
        executor = executor_of(ScriptedLLM([LOOK, KNOW]), [search()])
        return executor.invoke({"input": "Who?"}, {"callbacks": [names, *more]}), names.heard

    assert run() == run(Recorder())
