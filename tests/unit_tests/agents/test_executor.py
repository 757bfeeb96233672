"""The executor: stock's where nothing goes wrong, and what it does where something does."""

import asyncio
import threading

import pytest
from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.agents import AgentAction, AgentFinish, AgentStep
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda, ensure_config
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import BaseTool, Tool, tool

from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.openai_functions import OpenAIFunctionsAgent
from langchain_custom_agents.agents.react import ReActAgent
from langchain_custom_agents.agents.structured_chat import StructuredChatAgent
from langchain_custom_agents.dialects import Action, Answer, JsonBlob
from langchain_custom_agents.loop import CORRECTION
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

LOOK = "I look\nAction: Search\nAction Input: Hiroko"
KNOW = "I know\nFinal Answer: 10"


@tool
def weather(city: str, days: int) -> str:
    """Tell the weather."""
    return f"{days} days of sun in {city}"


def search_tool(result="hiroko is 10 years old"):
    def run(query):
        if isinstance(result, Exception):
            raise result
        return result

    return Tool("Search", run, "looks things up")


def make(words, tools=None, executor=AgentExecutor, **kwargs):
    tools = tools or [search_tool()]
    model = words if not isinstance(words, list) else ScriptedLLM(words)
    return executor(agent=ReActAgent.from_llm_and_tools(model, tools), tools=tools, **kwargs)


# Nothing goes wrong: the same as stock, by every way of running.

WAYS = {
    "invoke": lambda executor: executor.invoke({"input": "How old?"}),
    "call with a text": lambda executor: executor("How old?"),
    "call with a dict": lambda executor: executor({"input": "How old?"}),
    "run": lambda executor: executor.run("How old?"),
    "only outputs": lambda executor: executor({"input": "How old?"}, return_only_outputs=True),
    "batch": lambda executor: executor.batch([{"input": "How old?"}]),
    "stream": lambda executor: list(executor.stream({"input": "How old?"})),
    "iter": lambda executor: list(executor.iter({"input": "How old?"})),
    "ainvoke": lambda executor: asyncio.run(executor.ainvoke({"input": "How old?"})),
    "astream": lambda executor: asyncio.run(collected(executor.astream({"input": "How old?"}))),
    "aiter": lambda executor: asyncio.run(collected(executor.iter({"input": "How old?"}))),
    "pipe": lambda executor: (executor | RunnableLambda(lambda out: out["output"])).invoke(
        {"input": "How old?"}
    ),
}


async def collected(chunks):
    return [chunk async for chunk in chunks]


@pytest.mark.parametrize(
    ("way", "steps"),
    # LangChain's `run` takes one output only.
    [(way, steps) for way in WAYS for steps in (False, True) if way != "run" or not steps],
)
def test_every_way_of_running_gives_what_stock_gives(way, steps):
    """A run in which nothing goes wrong cannot be told from one in LangChain's executor."""
    ours = WAYS[way](make([LOOK, KNOW], return_intermediate_steps=steps))
    stock = WAYS[way](make([LOOK, KNOW], executor=StockExecutor, return_intermediate_steps=steps))

    assert ours == stock


def test_verbose_prints_what_stock_prints(capsys):
    """Colours, prefixes and order are LangChain's."""
    make([LOOK, KNOW], verbose=True).invoke({"input": "How old?"})
    ours = capsys.readouterr().out
    make([LOOK, KNOW], executor=StockExecutor, verbose=True).invoke({"input": "How old?"})

    assert ours == capsys.readouterr().out
    assert "\x1b[32;1m\x1b[1;3mI look" in ours
    assert "Observation: \x1b[36;1m\x1b[1;3mhiroko is 10 years old" in ours


class Events(BaseCallbackHandler):
    def __init__(self):
        self.seen = []

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **kwargs):
        self.seen.append(("chain", kwargs.get("name"), parent_run_id is None))

    def on_llm_start(self, serialized, prompts, *, run_id, parent_run_id=None, **kwargs):
        self.seen.append(("llm", parent_run_id is None))

    def on_tool_start(self, serialized, text, *, run_id, parent_run_id=None, **kwargs):
        self.seen.append(("tool", text, parent_run_id is None))

    def on_agent_action(self, action, **kwargs):
        self.seen.append(("action", action.tool))

    def on_agent_finish(self, finish, **kwargs):
        self.seen.append(("finish", finish.return_values["output"]))

    def on_chain_end(self, outputs, **kwargs):
        self.seen.append(("chain end", sorted(outputs)))


def test_the_tree_of_runs_is_stocks():
    """Handlers see the same events in the same order with the same parents."""
    ours, stock = Events(), Events()
    make([LOOK, KNOW]).invoke({"input": "How old?"}, {"callbacks": [ours]})
    make([LOOK, KNOW], executor=StockExecutor).invoke({"input": "How old?"}, {"callbacks": [stock]})

    assert ours.seen == stock.seen
    assert ours.seen[:2] == [("chain", "AgentExecutor", True), ("chain", "LLMChain", False)]


async def test_astream_events_shows_chain_model_and_tool():
    """Events of every part of a run arrive."""
    events = [
        event["event"]
        async for event in make([LOOK, KNOW]).astream_events({"input": "How old?"}, version="v2")
    ]

    assert {"on_chain_start", "on_llm_start", "on_tool_start", "on_tool_end"} <= set(events)


@pytest.mark.parametrize("direct", [StockExecutor, AgentExecutor])
def test_a_tool_that_returns_directly_ends_the_run(direct):
    """The result of a `return_direct` tool is the answer."""
    tools = [Tool("Search", lambda query: 20000, "looks", return_direct=True)]
    executor = make([LOOK], tools, direct)

    assert str(executor.invoke({"input": "?"})["output"]) == "20000"


# What a run was configured with reaches its tools.


CONFIGURED_WAYS = {
    "invoke": lambda executor, *run: RunnableLambda(executor.invoke).ainvoke(*run),
    "stream": lambda executor, *run: RunnableLambda(
        lambda asked, config: list(executor.stream(asked, config))
    ).ainvoke(*run),
    "ainvoke": lambda executor, *run: executor.ainvoke(*run),
    "astream": lambda executor, *run: alist(executor.astream(*run)),
}


async def alist(chunks):
    return [chunk async for chunk in chunks]


@pytest.mark.parametrize("way", CONFIGURED_WAYS.values(), ids=CONFIGURED_WAYS)
async def test_a_tool_is_told_what_the_run_was_configured_with(way):
    """LangChain's executor gives None to a tool that asks for its configuration."""
    users = []

    @tool("Search")
    def search(query: str, config: RunnableConfig) -> str:
        """Look things up."""
        users.append(config["configurable"].get("user"))
        users.append(ensure_config()["configurable"].get("user"))
        return query

    await way(make([LOOK, KNOW], [search]), {"input": "?"}, {"configurable": {"user": "Hiroko"}})
    make([LOOK, KNOW], [search]).run("?")

    assert users == ["Hiroko", "Hiroko", None, None]


def test_a_tool_may_keep_a_state():
    """The tool itself is called, whatever it is told beside its arguments."""

    class Counter(BaseTool):
        name: str = "Search"
        description: str = "counts"
        count: int = 0

        def _run(self, query: str) -> int:
            self.count += 1
            return self.count

    counter = Counter()
    make([LOOK, KNOW], [counter]).invoke({"input": "?"}, {"configurable": {"user": "Hiroko"}})

    assert counter.count == 1


FAILURES = {
    "it failed": ({}, search_tool(ConnectionError("down")).func),
    "it was late": ({"tool_timeout": 0.01}, lambda query: threading.Event().wait(1)),
    "it was refused": ({"approve": lambda action: action.tool_input == "Taro"}, str),
}


@pytest.mark.parametrize(("settings", "run"), FAILURES.values(), ids=FAILURES)
def test_that_a_tool_failed_is_no_answer_to_return_directly(settings, run):
    """Of a `return_direct` tool only a result is the answer; the model is told what went wrong."""
    tools = [Tool("Search", run, "looks", return_direct=True)]
    llm = ScriptedLLM([LOOK, KNOW])

    assert make(llm, tools, **settings).invoke({"input": "?"})["output"] == "10"
    assert "Observation: Search" in llm.prompts[1]


# A misreading is corrected.


def test_a_misreading_is_corrected_and_is_neither_a_step_nor_a_round():
    """The model is told what was wrong; the correction counts nowhere."""
    llm = ScriptedLLM(["Action: Fly\nAction Input: x", LOOK, KNOW])
    executor = make(llm, return_intermediate_steps=True, max_iterations=2)
    result = executor.invoke({"input": "How old?"})

    assert result["output"] == "10"
    assert [action.tool for action, _ in result["intermediate_steps"]] == ["Search"]
    assert "no tool named Fly" in llm.prompts[1]
    assert llm.prompts[2].startswith(llm.prompts[1])


def test_a_correction_is_not_streamed():
    """Streams hold actions, steps and the answer, and no correction."""
    chunks = list(make(["Action: Fly\nAction Input: x", LOOK, KNOW]).stream({"input": "?"}))

    assert [min(chunk) for chunk in chunks] == ["actions", "messages", "messages"]
    assert CORRECTION not in str(chunks)


def test_corrections_end_and_say_so():
    """A model that cannot be read ends the run with a sentence, and its words are no answer."""
    executor = make(["Action: Fly\nAction Input: x"] * 3, max_corrections=2)
    result = executor.invoke({"input": "?"})

    assert result["stopped"] is True
    assert "could not be read" in result["output"]
    assert "Fly" not in result["output"]


def test_prose_is_returned_and_marked_when_the_model_insists():
    """An answer with no form is taken the second time."""
    result = make(["It is 10.", "It is 10."]).invoke({"input": "How old?"})

    assert result["output"] == "It is 10."
    assert result["unformatted"] is True


@pytest.mark.parametrize(
    ("handling", "said"),
    [
        ("Speak up!", "Speak up!"),
        (lambda error: f"Hm: {type(error).__name__}", "Hm: MisreadingError"),
    ],
)
def test_handle_parsing_errors_takes_a_text_or_a_function(handling, said):
    """What LangChain lets users say to the model is said."""
    llm = ScriptedLLM(["Action: Fly\nAction Input: x", KNOW])
    make(llm, handle_parsing_errors=handling).invoke({"input": "?"})

    assert f"Observation: {said}" in llm.prompts[1]


def test_handle_parsing_errors_false_raises_as_stock_does():
    """Who asks for the exception gets it."""
    with pytest.raises(ValueError, match="handle_parsing_errors is False"):
        make(["Action: Fly\nAction Input: x"], handle_parsing_errors=False).invoke({"input": "?"})


# A tool fails.


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream"])
def test_an_exception_of_a_tool_is_an_observation(way):
    """The model is told the failure and goes on, however the run is driven."""
    llm = ScriptedLLM([LOOK, KNOW])
    executor = make(llm, [search_tool(RuntimeError("the line is down"))])
    if way == "invoke":
        executor.invoke({"input": "?"})
    elif way == "ainvoke":
        asyncio.run(executor.ainvoke({"input": "?"}))
    else:
        list(executor.stream({"input": "?"}))

    assert "Observation: Search failed: RuntimeError: the line is down" in llm.prompts[1]


def test_wrong_arguments_are_an_observation_that_says_what_the_tool_takes():
    """A missing argument is named, and the arguments there are."""
    model = ScriptedChatModel(
        [
            JsonBlob().write("I look", Action("weather", {"city": "Kyoto"})),
            JsonBlob().write("I know", Answer("sun")),
        ]
    )
    agent = StructuredChatAgent.from_llm_and_tools(model, [weather])
    executor = AgentExecutor(agent=agent, tools=[weather], return_intermediate_steps=True)
    [(_, observation)] = executor.invoke({"input": "?"})["intermediate_steps"]

    assert "days" in observation
    assert "weather takes: city (string), days (integer)." in observation


def test_handle_tool_errors_false_raises():
    """Who asks for the tool's exception gets it."""
    with pytest.raises(RuntimeError, match="down"):
        make([LOOK], [search_tool(RuntimeError("down"))], handle_tool_errors=False).invoke(
            {"input": "?"}
        )


def test_a_graphs_control_flow_is_not_swallowed():
    """LangGraph's interrupt goes through the executor."""
    from langgraph.errors import GraphInterrupt

    with pytest.raises(GraphInterrupt):
        make([LOOK], [search_tool(GraphInterrupt())]).invoke({"input": "?"})


@pytest.mark.parametrize("event", ["on_agent_action", "on_tool_start", "on_tool_end"])
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_callback_handler_may_end_a_run(event, asynchronous):
    """What a handler with `raise_error` raises ends the run, as with stock: a human said no."""

    class RejectedError(Exception):
        pass

    class Human(BaseCallbackHandler):
        raise_error = True

    def reject(*args, **kwargs):
        raise RejectedError

    setattr(Human, event, reject)
    executor, config = make([LOOK, KNOW]), {"callbacks": [Human()]}
    run = executor.ainvoke if asynchronous else RunnableLambda(executor.invoke).ainvoke
    with pytest.raises(RejectedError):
        await run({"input": "?"}, config)


@pytest.mark.parametrize("result", [20000, None, 1.5, ["a", "b"], {"a": 1}, True])
def test_observations_of_any_type_survive(result):
    """What a tool returns is in the steps as it is, and in the prompt as text."""
    llm = ScriptedLLM([LOOK, KNOW])
    executor = make(llm, [search_tool(result)], return_intermediate_steps=True)
    [(_, observation)] = executor.invoke({"input": "?"})["intermediate_steps"]

    assert observation == result
    assert f"Observation: {result}" in llm.prompts[1]


# Limits.


@pytest.mark.parametrize("method", ["force", "generate"])
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream"])
def test_the_limit_ends_a_run(method, way):
    """At the limit: stock's sentence, or the best answer from what was found, marked."""
    llm = ScriptedLLM([LOOK, LOOK, KNOW])
    executor = make(llm, max_iterations=2, early_stopping_method=method)
    if way == "invoke":
        result = executor.invoke({"input": "?"})
    elif way == "ainvoke":
        result = asyncio.run(executor.ainvoke({"input": "?"}))
    else:
        result = list(executor.stream({"input": "?"}))[-1]

    stock = "Agent stopped due to iteration limit or time limit."
    assert result["output"] == ("10" if method == "generate" else stock)


async def test_the_time_limit_interrupts_an_async_tool():
    """A run does not wait for a tool beyond its time."""

    async def forever(query):
        await asyncio.sleep(3600)

    slow = Tool("Search", lambda query: "x", "looks", coroutine=forever)
    executor = make([LOOK], [slow], max_execution_time=0.05)
    result = await executor.ainvoke({"input": "?"})

    assert "limit" in result["output"]


# Overrides are honoured.


def test_an_overridden_plan_is_used():
    """A user's subclass of an agent decides."""

    class Mine(ReActAgent):
        def plan(self, intermediate_steps, callbacks=None, **kwargs):
            return AgentFinish({"output": "mine"}, "")

    agent = Mine.from_llm_and_tools(ScriptedLLM([]), [search_tool()])

    assert AgentExecutor(agent=agent, tools=[search_tool()]).run("?") == "mine"


@pytest.mark.parametrize("method", ["_call", "_take_next_step", "_iter_next_step"])
def test_an_overridden_method_of_the_executor_is_used(method):
    """A user's subclass of the executor decides at each depth."""

    class Mine(AgentExecutor):
        pass

    def override(self, *args, **kwargs):
        return {"output": "mine"} if method == "_call" else AgentFinish({"output": "mine"}, "")

    def iterate(self, *args, **kwargs):
        yield AgentFinish({"output": "mine"}, "")

    setattr(Mine, method, iterate if method == "_iter_next_step" else override)
    executor = make([], executor=Mine)

    assert executor.run("?") == "mine"


# Memory.


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("messages", [False, True])
def test_memory_keeps_the_answer_whatever_else_is_returned(steps, messages):
    """A buffer memory holds the turn, also with steps and marks beside the answer."""
    memory = ConversationBufferMemory(memory_key="chat_history", return_messages=messages)
    llm = ScriptedLLM([LOOK, "It is 10.", "It is 10.", KNOW])
    executor = make(llm, memory=memory, return_intermediate_steps=steps)
    executor.invoke({"input": "How old?"})
    executor.invoke({"input": "And now?"})

    assert [message.content for message in memory.chat_memory.messages] == [
        *("How old?", "It is 10."),
        *("And now?", "10"),
    ]
    assert "Human: How old?\nAI: It is 10." in llm.prompts[-1]


def test_an_answer_that_is_data_is_text_for_everybody():
    """`output` is always a text; the data stand beside it, and memory does not fail."""

    class Data(ReActAgent):
        def plan(self, intermediate_steps, callbacks=None, **kwargs):
            return AgentFinish({"output": {"age": 10}}, "")

    memory = ConversationBufferMemory()
    agent = Data.from_llm_and_tools(ScriptedLLM([]), [search_tool()])
    result = AgentExecutor(agent=agent, tools=[search_tool()], memory=memory).invoke({"input": "?"})

    assert result["output"] == '{"age": 10}'
    assert result["structured_output"] == {"age": 10}
    assert memory.chat_memory.messages[-1].content == '{"age": 10}'


def test_message_history_around_the_executor():
    """RunnableWithMessageHistory gives and keeps the conversation."""
    history, llm = InMemoryChatMessageHistory(), ScriptedLLM([KNOW, KNOW])
    executor = RunnableWithMessageHistory(
        make(llm),
        lambda _: history,
        input_messages_key="input",
        history_messages_key="chat_history",
    )
    config = {"configurable": {"session_id": "1"}}
    executor.invoke({"input": "How old?"}, config)
    executor.invoke({"input": "And now?"}, config)

    assert len(history.messages) == 4
    assert "Human: How old?\nAI: 10" in llm.prompts[1]


# Construction and strictness.


def test_unknown_arguments_are_refused():
    """A misspelled setting is an error that says how it is spelled."""
    with pytest.raises(TypeError, match="did you mean 'max_iterations'"):
        make([], max_iteration=3)


def test_strict_gives_stocks_behaviour():
    """With `strict`, misreadings and failures of tools end the run as in LangChain."""
    with pytest.raises(ValueError, match="output parsing error"):
        make(["Action: Fly\nAction Input: x"], strict=True).invoke({"input": "?"})
    with pytest.raises(RuntimeError, match="down"):
        make([LOOK], [search_tool(RuntimeError("down"))], strict=True).invoke({"input": "?"})


def test_strict_keeps_stocks_exception_steps():
    """With `strict`, a handled misreading is a step named _Exception, as in LangChain."""
    executor = make(
        ["Action: Fly\nAction Input: x", KNOW],
        strict=True,
        handle_parsing_errors=True,
        return_intermediate_steps=True,
    )
    [(action, _)] = executor.invoke({"input": "?"})["intermediate_steps"]

    assert action.tool == CORRECTION


def test_stock_agents_run_in_ours():
    """LangChain's own agents and runnables need no change to run in our executor."""
    from langchain_classic.agents import ZeroShotAgent

    tools = [search_tool()]
    agent = ZeroShotAgent.from_llm_and_tools(ScriptedLLM([LOOK, KNOW], honors_stop=True), tools)

    assert AgentExecutor(agent=agent, tools=tools).run("How old?") == "10"


def test_parallel_calls_run_side_by_side():
    """Two calls of one reply overlap: each waits for the other."""
    together = threading.Barrier(2, timeout=60)
    tools = [Tool(name, lambda text: str(together.wait()), "waits") for name in ("A", "B")]
    call = [
        {"name": name, "args": {"__arg1": "x"}, "id": name, "type": "tool_call"} for name in "AB"
    ]
    model = ScriptedChatModel([AIMessage("", tool_calls=call), AIMessage("done")])
    agent = OpenAIFunctionsAgent.from_llm_and_tools(model, tools)
    executor = AgentExecutor(agent=agent, tools=tools, return_intermediate_steps=True)
    result = executor.invoke({"input": "?"})

    assert [action.tool for action, _ in result["intermediate_steps"]] == ["A", "B"]
    assert result["output"] == "done"


def test_a_hundred_runs_at_once_do_not_mix():
    """Runs of one executor in threads and in asyncio keep their own questions."""

    def answer(prompt):
        question = prompt.rsplit("Question: ", 1)[1].split("\n")[0]
        if "Observation:" in prompt.rsplit("Question: ", 1)[1]:
            return f"I know\nFinal Answer: {question}"
        return f"I look\nAction: Search\nAction Input: {question}"

    executor = make(ScriptedLLM(answer), return_intermediate_steps=True)
    inputs = [{"input": f"number {number}"} for number in range(100)]

    async def all_at_once():
        return await asyncio.gather(*(executor.ainvoke(each) for each in inputs))

    for results in (executor.batch(inputs), asyncio.run(all_at_once())):
        assert [result["output"] for result in results] == [each["input"] for each in inputs]
        assert [result["intermediate_steps"][0][0].tool_input for result in results] == [
            each["input"] for each in inputs
        ]


def test_a_hand_driven_round_keeps_corrections_in_the_transcript():
    """`_iter_next_step` by hand: the list given is the transcript."""
    tools = [search_tool()]
    executor = make(["Action: Fly\nAction Input: x", LOOK], tools)
    transcript = []
    chunks = list(
        executor._iter_next_step(
            {"Search": tools[0]}, {"Search": "blue"}, {"input": "?"}, transcript
        )
    )

    assert [type(chunk) for chunk in chunks] == [AgentAction, AgentStep]
    assert [action.tool for action, _ in transcript] == [CORRECTION]
