"""OpenAIFunctionsAgent: calls are read, run and answered in the provider's own form."""

import asyncio
import json
import sys
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_classic.agents import OpenAIFunctionsAgent as StockAgent
from langchain_classic.agents.format_scratchpad.tools import format_to_tool_messages
from langchain_classic.agents.output_parsers.openai_functions import (
    OpenAIFunctionsAgentOutputParser,
)
from langchain_classic.agents.output_parsers.tools import (
    ToolAgentAction,
    parse_ai_message_to_tool_action,
)
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.agents import AgentAction, AgentActionMessageLog, AgentFinish
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import InjectedToolCallId, StructuredTool, Tool, tool
from langgraph.prebuilt import InjectedState
from langgraph.types import Command

from langchain_custom_agents.agents._messages import MessageScratchpad, observed
from langchain_custom_agents.agents.calls import with_injected
from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.openai_functions import (
    OpenAIFunctionsAgent,
    OpenAIFunctionsOutputParser,
)
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

EXECUTORS = [StockExecutor, AgentExecutor]
BROKEN = '{"city": "Kyo'
DONE = AIMessage("128と345の積は44160です。")


def call(name="Calculator", args=None, call_id="call_1"):
    """Return a call of a tool."""
    return {"name": name, "args": {"__arg1": "128 * 345"} if args is None else args, "id": call_id}


def calling(*calls, **kwargs):
    """Return a reply that makes calls."""
    return AIMessage(kwargs.pop("content", ""), tool_calls=list(calls) or [call()], **kwargs)


def broken(args, name="Calculator", call_id="call_1", **kwargs):
    """Return a reply with one call whose arguments are no JSON object."""
    wrong = {"name": name, "args": args, "id": call_id, "error": None}
    return AIMessage("", invalid_tool_calls=[wrong], **kwargs)


def legacy(arguments='{\n  "__arg1": "128 * 345"\n}', name="Calculator", content=""):
    """Return a reply with a function call of before tool calls."""
    function_call = {"name": name, "arguments": arguments}
    return AIMessage(content, additional_kwargs={"function_call": function_call})


@pytest.fixture
def calculator():
    """Give a tool that takes one text."""
    return Tool("Calculator", lambda text: f"Answer: {text}", "does sums")


@tool
def weather(city: str, days: int = 1) -> str:
    """Tell the weather of a city."""
    return f"sunny in {city} for {days} days"


@tool
def now() -> str:
    """Tell the time."""
    return "noon"


def agent_of(replies, tools, **kwargs):
    """Return an agent and the model it asks."""
    model = replies if isinstance(replies, BaseChatModel) else ScriptedChatModel(replies)
    return OpenAIFunctionsAgent.from_llm_and_tools(model, tools, **kwargs), model


def assert_in_order(messages):
    """Assert that every call is answered once, right after the message that makes it."""
    seen, at = set(), 0
    while at < len(messages):
        message, at = messages[at], at + 1
        assert not isinstance(message, ToolMessage), "an answer to no call"
        if not isinstance(message, AIMessage):
            continue
        assert not message.invalid_tool_calls
        ids = [made["id"] for made in message.tool_calls]
        answers = messages[at : at + len(ids)]
        assert all(ids)
        assert len(set(ids)) == len(ids)
        assert not seen & set(ids)
        assert [getattr(answer, "tool_call_id", None) for answer in answers] == ids
        seen, at = seen | set(ids), at + len(ids)


# Planning, as in the tutorial.


def test_it_is_what_it_replaces():
    """Code that asks for LangChain's class finds it."""
    assert issubclass(OpenAIFunctionsAgent, StockAgent)


def test_plan_works_where_stock_raises_type_error(calculator):
    """Stock's plan passes the callbacks twice and fails; ours returns the action."""
    stock = StockAgent.from_llm_and_tools(ScriptedChatModel([legacy()]), [calculator])
    with pytest.raises(TypeError, match="multiple values for keyword argument 'callbacks'"):
        stock.plan([], input="128と345の積は?")
    agent, _ = agent_of([legacy()], [calculator])

    action = agent.plan([], input="128と345の積は?")

    assert (action.tool, action.tool_input) == ("Calculator", "128 * 345")


async def test_aplan_works_where_stock_raises_type_error(calculator):
    """Stock's aplan fails as its plan does; ours returns what plan returns."""
    stock = StockAgent.from_llm_and_tools(ScriptedChatModel([legacy()]), [calculator])
    with pytest.raises(TypeError, match="multiple values for keyword argument 'callbacks'"):
        await stock.aplan([], input="128と345の積は?")
    agent, _ = agent_of([legacy(), legacy()], [calculator])

    planned = await agent.aplan([], input="128と345の積は?")

    assert (planned.tool, planned.log) == ("Calculator", agent.plan([], input="?").log)


@pytest.mark.parametrize("reply", [legacy(), calling()])
def test_plan_without_steps_gives_the_calculator_action(calculator, reply):
    """A question that needs the tool gives the action as the tutorial prints it."""
    agent, _ = agent_of([reply], [calculator])

    action = agent.plan([], input="128と345の積は?")

    assert (action.tool, action.tool_input) == ("Calculator", "128 * 345")
    assert action.log == "\nInvoking: `Calculator` with `128 * 345`\n\n\n"
    assert isinstance(action, AgentActionMessageLog)


def test_a_greeting_is_a_finish(calculator):
    """A reply in words is the finish."""
    agent, _ = agent_of(["こんにちは! お困りのことはありますか?"], [calculator])

    finish = agent.plan([], input="こんにちは!")

    assert finish == AgentFinish(
        {"output": "こんにちは! お困りのことはありますか?"},
        "こんにちは! お困りのことはありますか?",
    )


@pytest.mark.parametrize("reply", [legacy(), calling()])
def test_plan_with_the_step_gives_the_finish(calculator, reply):
    """A step fed by hand, made of the planned action and an observation, reaches the model."""
    agent, model = agent_of([reply, DONE], [calculator])
    step = (agent.plan([], input="128と345の積は? "), "Answer: 44160")

    finish = agent.plan([step], input="128と345の積は? ")

    assert finish.return_values == {"output": "128と345の積は44160です。"}
    assert model.prompts[1][-1].content == "Answer: 44160"
    assert len(model.prompts[1]) == 4


@pytest.mark.parametrize("executor_class", EXECUTORS)
@pytest.mark.parametrize("reply", [legacy(), calling()])
def test_the_executor_runs_at_each_depth(executor_class, reply, calculator):
    """`run`, a call, `_call` and `_take_next_step` give the answer or the raw observation."""
    agent, _ = agent_of([reply, DONE] * 3 + [reply], [calculator])
    executor = executor_class.from_agent_and_tools(agent, [calculator])
    said = "128と345の積は44160です。"

    assert executor.run("123と345をかけてください") == said
    assert executor({"input": "掛けて"}) == {"input": "掛けて", "output": said}
    assert executor._call({"input": "掛けて"}) == {"output": said}
    [(action, observation)] = executor._take_next_step(
        {"Calculator": calculator}, {"Calculator": "blue"}, {"input": "掛けて"}, []
    )
    assert (action.tool, observation) == ("Calculator", "Answer: 128 * 345")


@pytest.mark.parametrize("executor_class", EXECUTORS)
async def test_the_executor_runs_without_blocking(executor_class, calculator):
    """An asynchronous run gives the same answer."""
    agent, _ = agent_of([calling(), DONE], [calculator])

    result = await executor_class(agent=agent, tools=[calculator]).ainvoke({"input": "?"})

    assert result["output"] == "128と345の積は44160です。"


def test_content_beside_a_call_stands_in_the_log(calculator):
    """What a model says beside its call is shown as stock shows it."""
    agent, _ = agent_of([calling(content="I compute.")], [calculator])

    log = agent.plan([], input="?").log

    assert log == "\nInvoking: `Calculator` with `128 * 345`\nresponded: I compute.\n\n"


# Modes and models.


def test_tools_are_offered_as_tools_by_default(calculator):
    """A model that knows tools is sent tools and no functions."""
    agent, model = agent_of(["Hello"], [calculator])

    agent.plan([], input="?")

    assert agent.mode == "tools"
    assert model.calls[0]["tools"][0]["function"]["name"] == "Calculator"
    assert "functions" not in model.calls[0]


def test_functions_are_offered_on_request(calculator):
    """With mode='functions' a model is sent what the property `functions` holds."""
    agent, model = agent_of(["Hello"], [calculator], mode="functions")

    agent.plan([], input="?")

    assert model.calls[0]["functions"] == agent.functions
    assert agent.functions[0]["parameters"]["required"] == ["__arg1"]


class NoTools(BaseChatModel):
    """A chat model of before tool calls."""

    heard: list[Any] = []

    @property
    def _llm_type(self):
        return "no-tools"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.heard.append(kwargs)
        return ChatResult(generations=[ChatGeneration(message=legacy())])


def test_functions_are_offered_to_a_model_without_bind_tools(calculator):
    """A model that does not override bind_tools is sent functions; tools cannot be asked of it."""
    model = NoTools(heard=[])
    agent, _ = agent_of(model, [calculator])

    assert agent.mode == "functions"
    assert agent.plan([], input="?").tool_input == "128 * 345"
    assert model.heard[0]["functions"] == agent.functions
    with pytest.raises(ValueError, match="needs a model with bind_tools; NoTools has none"):
        agent_of(model, [calculator], mode="tools")


def test_a_function_call_is_answered_by_a_function_message(calculator):
    """Legacy calls keep their form in the scratchpad, whatever the mode."""
    for mode in ("tools", "functions"):
        agent, model = agent_of([legacy(), DONE], [calculator], mode=mode)
        AgentExecutor(agent=agent, tools=[calculator]).invoke({"input": "?"})
        answer = model.prompts[1][-1]

        assert isinstance(answer, FunctionMessage)
        assert (answer.name, answer.content) == ("Calculator", "Answer: 128 * 345")


def test_tool_calls_are_not_lost_in_functions_mode(calculator):
    """Stock reads a reply of tool calls as an empty answer; ours runs the tool in either mode."""
    assert OpenAIFunctionsAgentOutputParser().invoke(calling()).return_values == {"output": ""}
    agent, model = agent_of([calling(), DONE], [calculator], mode="functions")

    AgentExecutor(agent=agent, tools=[calculator]).invoke({"input": "?"})

    assert isinstance(model.prompts[1][-1], ToolMessage)
    assert_in_order(model.prompts[1])


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: model.bind(temperature=0),
        lambda model: model.with_retry(stop_after_attempt=2),
        lambda model: model.with_fallbacks([ScriptedChatModel(["later"])]),
        lambda model: model.with_config(tags=["x"]),
        lambda model: model.bind(temperature=0).with_retry().with_fallbacks([model]),
    ],
    ids=["bind", "with_retry", "with_fallbacks", "with_config", "all"],
)
def test_wrapped_models_are_accepted_and_keep_their_wrapping(calculator, wrap):
    """Stock refuses a wrapped model; ours offers it the tools and leaves the wrapping around it."""
    model = ScriptedChatModel([calling(), DONE])
    with pytest.raises(ValueError, match="llm"):
        StockAgent.from_llm_and_tools(wrap(model), [calculator])
    agent = OpenAIFunctionsAgent.from_llm_and_tools(wrap(model), [calculator])

    result = AgentExecutor(agent=agent, tools=[calculator]).invoke({"input": "?"})

    assert result["output"] == "128と345の積は44160です。"
    assert all("tools" in sent for sent in model.calls)
    if "bind" in repr(wrap(model)) and "temperature" in repr(wrap(model)):
        assert all(sent["temperature"] == 0 for sent in model.calls)


def test_a_fallback_model_is_offered_the_tools_in_its_own_way(calculator):
    """Where the first model fails, a fallback of before tool calls is sent functions."""
    first, second = ScriptedChatModel([RuntimeError("down")]), NoTools(heard=[])
    agent = OpenAIFunctionsAgent.from_llm_and_tools(first.with_fallbacks([second]), [calculator])

    assert agent.plan([], input="?").tool == "Calculator"
    assert second.heard[0]["functions"] == agent.functions


def test_tools_bound_before_stay_beside_the_agents(calculator):
    """A provider's own tool, bound by the user, is still offered, and none twice."""
    model = ScriptedChatModel(["Hello"])
    search = {"type": "function", "function": {"name": "web_search", "parameters": {}}}
    agent = OpenAIFunctionsAgent.from_llm_and_tools(
        model.bind(tools=[search, {"type": "function", "function": agent_function(calculator)}]),
        [calculator],
    )

    agent.plan([], input="?")

    names = [offered["function"]["name"] for offered in model.calls[0]["tools"]]
    assert names == ["Calculator", "web_search"]


def agent_function(one):
    """Return the function that stock makes of a tool."""
    return StockAgent.from_llm_and_tools(ScriptedChatModel([]), [one]).functions[0]


def test_a_text_model_is_refused_with_a_way_out(calculator):
    """A text model cannot call functions; the message names the agents that can use it."""
    with pytest.raises(ValueError, match=r"ScriptedLLM is none.*ReActAgent or StructuredChatAgent"):
        OpenAIFunctionsAgent.from_llm_and_tools(ScriptedLLM([]), [calculator])
    with pytest.raises(ValueError, match="RunnableLambda is none"):
        OpenAIFunctionsAgent.from_llm_and_tools(RunnableLambda(str), [calculator])


def test_the_model_is_bound_once(calculator):
    """Tools are turned into schemas once for an agent, and again only when they change."""
    agent, model = agent_of(["a", "b", "c"], [calculator])

    agent.plan([], input="?")
    first = agent._offered
    agent.plan([], input="?")
    assert agent._offered is first
    agent.tools = [calculator, weather]
    agent.plan([], input="?")

    assert len(model.calls[2]["tools"]) == 2


def test_functions_that_a_subclass_writes_are_offered(calculator):
    """A user's override of `functions` is honoured in both modes."""

    class Own(OpenAIFunctionsAgent):
        @property
        def functions(self):
            return [{"name": "Calculator", "description": "mine", "parameters": {}}]

    for mode, read in (
        ("tools", lambda sent: sent["tools"][0]["function"]),
        ("functions", lambda sent: sent["functions"][0]),
    ):
        model = ScriptedChatModel(["Hello"])
        Own.from_llm_and_tools(model, [calculator], mode=mode).plan([], input="?")

        assert read(model.calls[0])["description"] == "mine"


# Arguments.


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", ""),
        ("null", ""),
        ("3", "3"),
        ('"128 * 345"', "128 * 345"),
        ("128 * 345", "128 * 345"),
        ('{"__arg1": "128 * 345"}', "128 * 345"),
        ('{"query": "128 * 345"}', "128 * 345"),
        ('{"__arg1": 42}', "42"),
    ],
)
def test_odd_arguments_reach_a_tool_that_takes_one_text(calculator, arguments, expected):
    """Empty, null, a bare string, a number and code are the one text, legacy or not."""
    agent, _ = agent_of([legacy(arguments), broken(arguments)], [calculator])

    assert agent.plan([], input="?").tool_input == expected
    assert agent.plan([], input="?").tool_input == expected


@pytest.mark.parametrize("arguments", ["{{{", ")(", "?"])
def test_marks_alone_are_not_taken_for_no_arguments(calculator, arguments):
    """Arguments of which nothing can be read run no tool, but may be one text."""
    agent, _ = agent_of([legacy(arguments, "now"), legacy(arguments)], [calculator, now])

    with pytest.raises(OutputParserException, match="the arguments of now cannot be read"):
        agent.plan([], input="?")
    assert agent.plan([], input="?").tool_input == arguments


@pytest.mark.parametrize("arguments", ["null", "3", "[1]"])
def test_arguments_that_crash_stock_do_not(calculator, arguments):
    """Stock raises a TypeError for arguments that are no object; ours makes the action."""
    with pytest.raises((TypeError, ValueError)) as stock:
        OpenAIFunctionsAgentOutputParser().invoke(legacy(arguments))
    assert not isinstance(stock.value, OutputParserException)
    parser = OpenAIFunctionsOutputParser(tools=[calculator])

    assert parser.invoke(legacy(arguments)).tool == "Calculator"


def test_valid_arguments_are_taken_to_the_letter(calculator):
    """A line break before a word stays one; only what JSON makes a form feed was a backslash."""
    for arguments, expected in (
        (r'{"__arg1": "x\neq = 1"}', "x\neq = 1"),
        (r'{"__arg1": "\frac{1}{2}"}', r"\frac{1}{2}"),
    ):
        agent, _ = agent_of([legacy(arguments)], [calculator])

        assert agent.plan([], input="?").tool_input == expected


@pytest.mark.parametrize(
    "words",
    [
        '<tool_call>\n{"name": "weather", "arguments": {"city": "京都"}}\n</tool_call>',
        '{"name": "weather", "parameters": {"city": "京都"}}',
        '<|python_tag|>{"name": "weather", "parameters": {"city": "京都"}}',
        '[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "京都"}}]',
        '<tool_use>{"name": "weather", "arguments": {"city": "京都"}}</tool_use>',
        '<invoke name="weather"><parameter name="city">京都</parameter></invoke>',
        '<|tool_call_start|>[weather(city="京都")]<|tool_call_end|>',
        '<|START_ACTION|>[{"tool_name": "weather", "parameters": {"city": "京都"}}]<|END_ACTION|>',
        '✿FUNCTION✿: weather\n✿ARGS✿: {"city": "京都"}',
        'functools[{"name": "weather", "arguments": {"city": "京都"}}]',
        '[Calling tool: weather({"city": "京都"})]',
    ],
)
def test_a_call_that_a_server_left_in_the_words_is_a_call_where_stock_answers_it(words):
    """Stock hands the call of an open model to the user as the answer; ours runs it."""
    assert parse_ai_message_to_tool_action(AIMessage(words)).return_values == {"output": words}
    agent, model = agent_of([words, DONE], [weather])

    result = AgentExecutor(agent=agent, tools=[weather]).invoke({"input": "?"})

    assert result["output"] == DONE.content
    assert model.prompts[1][-1].content == "sunny in 京都 for 1 days"
    assert_in_order(model.prompts[1])


def test_a_call_in_the_words_that_cannot_be_read_is_asked_for_again():
    """A call that breaks off in the words is neither run nor handed to the user."""
    agent, _ = agent_of(['<tool_call>{"name": "weather", "arguments": {"ci'], [weather])

    with pytest.raises(OutputParserException, match="a tool call stands in its words"):
        agent.plan([], input="?")


@pytest.mark.parametrize(
    "words",
    [
        "<｜tool▁calls▁begin｜>",
        "<tool_call>weather of Kyoto</tool_call>",
        '<invoke name="weather"><parameter name="city">京',
    ],
)
def test_tags_of_a_call_without_a_call_are_not_handed_to_the_user(words):
    """Tags that no user writes stand for a call, even where nothing in them can be read."""
    agent, _ = agent_of([words], [weather])

    with pytest.raises(OutputParserException, match="a tool call stands in its words"):
        agent.plan([], input="?")


@pytest.mark.parametrize(
    "words",
    [
        "The functools module caches calls; functools[0] is no such thing.",
        "Our <tool> is a hammer, and <answer> marks an answer.",
        "Please call: 0123",
        "<answer>It is sunny.</answer>",
    ],
)
def test_an_answer_that_only_speaks_of_tags_is_the_answer(words):
    """Words that merely look like the beginning of a call are the user's."""
    agent, _ = agent_of([words], [weather])

    assert agent.plan([], input="?").return_values == {"output": words}


def test_several_and_no_arguments(calculator):
    """A tool with several arguments is given an object, one with none an empty one."""
    agent, _ = agent_of(
        [calling(call("weather", {"city": "京都", "days": 2})), calling(call("now", {}))],
        [weather, now],
    )

    assert agent.plan([], input="?").tool_input == {"city": "京都", "days": 2}
    assert agent.plan([], input="?").tool_input == {}


def test_an_empty_call_of_a_one_text_tool_does_not_end_the_run(calculator):
    """Stock's executor dies of an empty argument object; ours passes an empty text."""
    [stock] = parse_ai_message_to_tool_action(calling(call(args={})))
    with pytest.raises(Exception, match="Too many arguments"):
        calculator.run(stock.tool_input)
    agent, _ = agent_of([calling(call(args={})), DONE], [calculator])

    result = StockExecutor(agent=agent, tools=[calculator]).invoke({"input": "?"})

    assert result["output"] == DONE.content


@pytest.mark.parametrize("name", ["calculator", "`Calculator`", "functions.Calculator"])
def test_a_name_that_is_nearly_right_is_understood(calculator, name):
    """Case, mark-up and a namespace do not make another tool of one."""
    agent, _ = agent_of([calling(call(name))], [calculator])

    assert agent.plan([], input="?").tool == "Calculator"


def test_an_unknown_tool_is_named_to_the_model_with_those_there_are(calculator):
    """A tool that does not exist becomes an observation that lists those that do."""
    agent, model = agent_of([calling(call("Oven", {})), DONE], [calculator])

    AgentExecutor(agent=agent, tools=[calculator]).invoke({"input": "?"})

    assert "Calculator" in model.prompts[1][-1].content
    assert_in_order(model.prompts[1])


def test_invalid_tool_calls_are_repaired_where_stock_answers_nothing(calculator):
    """Stock answers with an empty text when arguments are no JSON; ours reads them."""
    reply = broken('{"city": "京都"', "weather")
    assert parse_ai_message_to_tool_action(reply).return_values == {"output": ""}
    agent, model = agent_of([broken("128 * 345"), DONE], [calculator, weather])

    AgentExecutor(agent=agent, tools=[calculator, weather]).invoke({"input": "?"})

    assert model.prompts[1][-1].content == "Answer: 128 * 345"
    assert_in_order(model.prompts[1])


@pytest.mark.parametrize("executor_class", EXECUTORS)
@pytest.mark.parametrize("make", [broken, legacy])
def test_unreadable_arguments_are_asked_for_again(executor_class, make):
    """What cannot be read is not run: the model is told, in messages that are in order."""
    agent, model = agent_of([make(BROKEN, name="weather"), DONE], [weather])
    executor = executor_class(agent=agent, tools=[weather], handle_parsing_errors=True)

    result = executor.invoke({"input": "?"})

    assert result["output"] == DONE.content
    assert "the arguments of weather cannot be read" in model.prompts[1][-1].content
    assert_in_order(model.prompts[1])


def test_one_unreadable_call_of_several_runs_none_of_them(calculator):
    """Half a reply is not executed; each of its calls is answered by the correction."""
    wrong = {"name": "weather", "args": BROKEN, "id": "b", "error": None}
    reply = AIMessage("", tool_calls=[call(call_id="a")], invalid_tool_calls=[wrong])
    agent, model = agent_of([reply, DONE], [calculator, weather])
    ran = AgentExecutor(agent=agent, tools=[calculator, weather], return_intermediate_steps=True)

    assert ran.invoke({"input": "?"})["intermediate_steps"] == []
    assert [m.tool_call_id for m in model.prompts[1] if isinstance(m, ToolMessage)] == ["a", "b"]
    assert_in_order(model.prompts[1])


def test_arguments_the_client_refuses_are_asked_for_again():
    """ChatOpenAI raises for arguments that are a list; ours tells the model instead."""

    def script(messages):
        if len(messages) > 2:
            return DONE
        return calling(call("weather", ["京都"]))

    agent, model = agent_of(script, [weather])

    result = AgentExecutor(agent=agent, tools=[weather]).invoke({"input": "?"})

    assert result["output"] == DONE.content
    assert "are a JSON object, not ['京都']" in model.prompts[1][-1].content


# Replies that are no answer.


@pytest.mark.parametrize(
    "reply", [AIMessage(""), AIMessage(" \n"), AIMessage([{"type": "reasoning", "summary": []}])]
)
def test_an_empty_reply_is_asked_again_where_stock_answers_it(calculator, reply):
    """Stock hands an empty text to the user; ours asks again."""
    stock = parse_ai_message_to_tool_action(reply)
    assert not str(stock.return_values["output"]).strip("[]' \n") or isinstance(
        stock.return_values["output"], list
    )
    agent, model = agent_of([reply, DONE], [calculator])

    result = AgentExecutor(agent=agent, tools=[calculator]).invoke({"input": "?"})

    assert result["output"] == DONE.content
    assert "it was empty" in model.prompts[1][-1].content


@pytest.mark.parametrize(
    "metadata",
    [
        {"finish_reason": "length"},
        {"stop_reason": "max_tokens"},
        {"finish_reason": "MAX_TOKENS"},
        {"status": "incomplete"},
    ],
)
def test_a_truncated_call_is_not_executed_where_stock_runs_it(calculator, metadata):
    """A reply cut off at the token limit is not run, as its arguments may lack their end."""
    reply = calling(response_metadata=metadata)
    assert isinstance(parse_ai_message_to_tool_action(reply), list)
    agent, model = agent_of([reply, DONE], [calculator])
    executor = AgentExecutor(agent=agent, tools=[calculator], return_intermediate_steps=True)

    result = executor.invoke({"input": "?"})

    assert result["intermediate_steps"] == []
    assert "cut off before its end" in model.prompts[1][-1].content
    assert_in_order(model.prompts[1])


def test_a_truncated_answer_is_still_an_answer(calculator):
    """Words cut off at the token limit are what there is to say."""
    reply = AIMessage("It is 44", response_metadata={"finish_reason": "length"})
    agent, _ = agent_of([reply], [calculator])

    assert agent.plan([], input="?").return_values == {"output": "It is 44"}


async def test_a_stream_without_an_end_is_repeated(calculator):
    """OpenAI's streams end with a reason: one without is asked for again, not answered."""
    cut = AIMessage("It is 4", response_metadata={"model_provider": "openai"})
    whole = AIMessage(
        "It is 44160", response_metadata={"model_provider": "openai", "finish_reason": "stop"}
    )
    agent, model = agent_of([cut, whole] * 2, [calculator])

    assert agent.plan([], input="?").return_values == {"output": "It is 44160"}
    assert (await agent.aplan([], input="?")).return_values == {"output": "It is 44160"}
    assert model.prompts[0] == model.prompts[1]
    with pytest.raises(OutputParserException, match="broke off"):
        agent_of([cut, cut], [calculator])[0].plan([], input="?")


@pytest.mark.parametrize(
    "content",
    [
        "<think>128 * 345 <b>is</b> 44160</think>\n\nIt is 44160.",
        "128 * 345 is 44160\n</think>\n\nIt is 44160.",
        [{"type": "thinking", "thinking": "..."}, {"type": "text", "text": "It is 44160."}],
        [{"type": "text", "text": "It is "}, "44160."],
    ],
)
def test_the_answer_is_text_without_reasoning(calculator, content):
    """Blocks become text, and reasoning is not part of what the user is told."""
    agent, _ = agent_of([AIMessage(content)], [calculator])

    assert agent.plan([], input="?").return_values == {"output": "It is 44160."}


def test_a_refusal_is_an_answer(calculator):
    """What a model says to decline is told to the user, not taken for silence."""
    beside = AIMessage("", additional_kwargs={"refusal": "I cannot help."})
    block = AIMessage([{"type": "refusal", "refusal": "I cannot help."}])

    for reply in (beside, block):
        agent, _ = agent_of([reply], [calculator])
        assert agent.plan([], input="?").return_values == {"output": "I cannot help."}


def test_reasoning_travels_along_unchanged(calculator):
    """The Responses API's items reach the next call as they came."""
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "call_id": "call_1", "name": "Calculator", "arguments": "{}"},
    ]
    reply = AIMessage(items, tool_calls=[call()])
    agent, model = agent_of([reply, DONE], [calculator])

    AgentExecutor(agent=agent, tools=[calculator]).invoke({"input": "?"})

    assert model.prompts[1][2].content == items


# The scratchpad.


def test_parallel_calls_are_grouped(calculator):
    """Several calls give a list of actions, and one message followed by all its answers."""
    reply = calling(call(call_id="a"), call("weather", {"city": "京都"}, "b"))
    agent, model = agent_of([reply, DONE], [calculator, weather])

    result = AgentExecutor(agent=agent, tools=[calculator, weather]).invoke({"input": "?"})

    assert result["output"] == DONE.content
    assert [message.type for message in model.prompts[1][2:]] == ["ai", "tool", "tool"]
    assert_in_order(model.prompts[1])


def test_ids_used_twice_keep_their_turns_where_stock_drops_one(calculator):
    """Stock drops a turn that equals an earlier one; ours keeps it, with an id of its own."""
    [action] = parse_ai_message_to_tool_action(calling())
    again = action.model_copy(update={"message_log": [calling()]})
    assert len(format_to_tool_messages([(action, "44160"), (again, "44160")])) == 2

    messages = MessageScratchpad().write([(action, "44160"), (again, "44160")])

    assert [message.type for message in messages] == ["ai", "tool", "ai", "tool"]
    assert_in_order(messages)


@given(
    turns=st.lists(
        st.lists(st.sampled_from([None, "", "a", "b", "call_0", "call_1"]), min_size=1, max_size=3),
        max_size=5,
    ),
    cut=st.integers(0, 4),
    history=st.sampled_from([(), ("a",), ("call_0", "call_1")]),
)
def test_every_call_is_answered_once_whatever_the_ids(turns, cut, history):
    """Ids may be missing, reused or repeated, and steps trimmed: the messages are in order."""
    steps = []
    for turn, ids in enumerate(turns):
        reply = calling(*(call("now", {"n": n}, call_id) for n, call_id in enumerate(ids)))
        for n, call_id in enumerate(ids):
            action = ToolAgentAction(
                tool="now", tool_input={"n": n}, log="", message_log=[reply], tool_call_id=call_id
            )
            steps.append((action, f"{turn}.{n}"))
    pad = MessageScratchpad()

    whole = [pad.write(steps[:count], history) for count in range(len(steps) + 1)][-1]
    trimmed = MessageScratchpad().write(steps[cut:], history)

    assert_in_order(whole)
    assert_in_order(trimmed)
    assert [m.content for m in whole if m.type == "tool"] == [seen for _, seen in steps]
    assert not {m.tool_call_id for m in whole if m.type == "tool"} & set(history)
    assert MessageScratchpad().write(steps, history) == whole


def test_the_ids_of_a_turn_do_not_change_from_call_to_call(calculator):
    """The messages of one call begin with all those of the call before."""
    replies = [calling(call(call_id=None)) for _ in range(4)]
    agent, model = agent_of([*replies, DONE], [calculator])

    AgentExecutor(agent=agent, tools=[calculator]).invoke({"input": "?"})

    for before, after in zip(model.prompts, model.prompts[1:], strict=False):
        assert after[: len(before)] == before


def test_changed_ids_reach_the_content_blocks():
    """Where a call stands in the content too, its id there is the one that is answered."""
    for kind, key in (("tool_use", "id"), ("function_call", "call_id"), ("tool_call", "id")):
        reply = AIMessage(
            [{"type": "text", "text": "I look"}, {"type": kind, key: "a", "name": "now"}],
            tool_calls=[call("now", {}, "a")],
        )
        action = ToolAgentAction(
            tool="now", tool_input={}, log="", message_log=[reply], tool_call_id="a"
        )

        changed, answer = MessageScratchpad().write([(action, "noon")], used=["a"])

        assert changed.content[1][key] == answer.tool_call_id != "a"


def test_observations_of_any_type_become_text():
    """Numbers, data and objects are text; content blocks stay blocks for chat models."""
    picture = [{"type": "image_url", "image_url": {"url": "data:,"}}]

    assert observed(20000) == "20000"
    assert observed({"北": [1, None]}) == '{"北": [1, null]}'
    assert observed({1}) == "{1}"
    assert observed([]) == "[]"
    assert observed(picture) == picture
    assert observed([{"type": "text", "text": "x"}], blocks=False) == "x"


def test_an_artifact_stays_with_its_observation():
    """A tool message given as an observation keeps its artifact and takes the call's id."""
    [action] = parse_ai_message_to_tool_action(calling(call(call_id=None)))
    found = ToolMessage("10", tool_call_id="?", artifact=["page"])

    _, answer = MessageScratchpad().write([(action, found)])

    assert (answer.content, answer.artifact) == ("10", ["page"])
    assert answer.tool_call_id != "?"


def test_plain_actions_fed_by_hand_are_calls_where_stock_drops_the_observation(calculator):
    """Stock forgets the observation of an action without a message; ours makes the message."""
    step = (AgentAction("Calculator", "128 * 345", ""), "Answer: 44160")
    assert "44160" not in repr(format_to_tool_messages([step]))
    for mode in ("tools", "functions"):
        agent, model = agent_of([DONE], [calculator], mode=mode)
        agent.plan([step], input="?")

        assert model.prompts[0][-1].content == "Answer: 44160"
        assert "128 * 345" in repr(model.prompts[0][-2])
        assert_in_order(model.prompts[0])


def _calls_of_our_own(run):
    """Count the calls of the package's functions."""
    count = 0

    def hook(frame, event, _):
        nonlocal count
        if event == "call" and "langchain_custom_agents/agents" in frame.f_code.co_filename:
            count += 1

    sys.setprofile(hook)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def test_the_work_of_a_run_grows_linearly_where_stock_is_cubic(calculator):
    """Twice the steps are twice the calls of our functions: each step is written once."""

    def run(length):
        agent, _ = agent_of(lambda _: DONE, [calculator])
        replies = [calling(call(call_id=f"c{n}")) for n in range(length)]
        steps = [(agent._parser.parse_ai_message(reply), "x") for reply in replies]

        def plan():
            for count in range(length):
                agent.plan(list(steps[:count]), input="?")

        return _calls_of_our_own(plan)

    run(2)
    short, long = run(50), run(400)

    assert long / short == pytest.approx(8, rel=0.1)


def test_a_finished_run_leaves_nothing_behind(calculator):
    """What is kept of a run is dropped with its steps."""
    agent, _ = agent_of([reply for _ in range(20) for reply in (calling(), DONE)], [calculator])
    executor = AgentExecutor(agent=agent, tools=[calculator])

    for _ in range(20):
        executor.invoke({"input": "?"})

    assert len(agent._scratchpad._runs) <= 1


def test_runs_side_by_side_do_not_mix(calculator):
    """One agent serves many runs at once, each with its own steps."""

    def script(messages):
        asked = messages[1].content
        if len(messages) > 3:
            return f"{asked}: {messages[-1].content}"
        return calling(call(args={"__arg1": asked}))

    agent, _ = agent_of(script, [calculator])
    executor = AgentExecutor(agent=agent, tools=[calculator])

    async def run():
        return await asyncio.gather(*(executor.ainvoke({"input": str(n)}) for n in range(50)))

    results = asyncio.run(run())

    assert [r["output"] for r in results] == [f"{n}: Answer: {n}" for n in range(50)]


# Prompts and memory.


def test_the_system_message_and_extra_messages_are_placed(calculator):
    """The prompt is the system message, the extra messages, the question and the steps."""
    for system in (SystemMessage("Be {brief}."), "Be {brief}."):
        agent, model = agent_of(
            ["Hello"],
            [calculator],
            system_message=system,
            extra_prompt_messages=[MessagesPlaceholder("memory")],
        )
        assert agent.input_keys == ["input", "memory"]
        agent.plan([], input="?", memory=[("ai", "before")])

        assert [m.content for m in model.prompts[0]] == ["Be {brief}.", "before", "?"]


def test_no_system_message_is_none(calculator):
    """With system_message=None the question stands alone."""
    agent, model = agent_of(["Hello"], [calculator], system_message=None)

    agent.plan([], input="?")

    assert [message.type for message in model.prompts[0]] == ["human"]


def test_extra_input_keys_work(calculator):
    """Stock takes `input` only; ours takes what the prompt names, and says what is missing."""
    prompt = ChatPromptTemplate.from_messages(
        [
            ("system", "Speak {language}."),
            ("human", "{input}"),
            ("placeholder", "{agent_scratchpad}"),
        ]
    )
    prompt = ChatPromptTemplate.from_messages(
        [*prompt.messages[:2], MessagesPlaceholder("agent_scratchpad")]
    )
    agent, model = agent_of(["Hello"] * 2, [calculator], prompt=prompt)
    executor = AgentExecutor(agent=agent, tools=[calculator])

    assert sorted(executor.input_keys) == ["input", "language"]
    executor.invoke({"input": "{x}", "language": "日本語"})
    assert [m.content for m in model.prompts[0]] == ["Speak 日本語.", "{x}"]
    with pytest.raises(ValueError, match="The prompt needs 'language', but was given input"):
        agent.plan([], input="?")


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([HumanMessage("I am Bob"), AIMessage("Hello Bob")], ["I am Bob", "Hello Bob"]),
        ([("human", "I am Bob"), ("ai", "Hello Bob")], ["I am Bob", "Hello Bob"]),
        ("Human: I am Bob", ["The conversation so far:\nHuman: I am Bob"]),
        ("", []),
        ([], []),
    ],
)
def test_a_history_stands_before_the_question_in_any_prompt(calculator, history, expected):
    """Messages, pairs or a text: a history is heard even if the prompt names no place for it."""
    agent, model = agent_of(["Hello"], [calculator], extra_prompt_messages=[("human", "Be kind.")])

    agent.plan([], input="Who am I?", chat_history=history)

    heard = [message.content for message in model.prompts[0]]
    assert heard == ["You are a helpful AI assistant.", "Be kind.", *expected, "Who am I?"]


def test_a_history_in_a_template_is_its_lines(calculator):
    """Where a prompt fills a history into text, messages become lines."""
    prompt = ChatPromptTemplate.from_messages(
        [("human", "{chat_history}\n{input}"), MessagesPlaceholder("agent_scratchpad")]
    )
    agent, model = agent_of(["Hello"], [calculator], prompt=prompt)

    agent.plan([], input="?", chat_history=[("human", "I am Bob")])

    assert model.prompts[0][0].content == "Human: I am Bob\n?"


@pytest.mark.parametrize("as_messages", [True, False])
@pytest.mark.parametrize("executor_class", EXECUTORS)
def test_buffer_memory_is_heard(calculator, as_messages, executor_class):
    """A conversation memory, of messages or of text, reaches the model at the next question."""
    agent, model = agent_of(["Hello Bob", "You are Bob"], [calculator])
    memory = ConversationBufferMemory(memory_key="chat_history", return_messages=as_messages)
    executor = executor_class(agent=agent, tools=[calculator], memory=memory)

    executor.invoke({"input": "I am Bob"})
    executor.invoke({"input": "Who am I?"})

    assert "Hello Bob" in repr(model.prompts[1][1:-1])
    assert model.prompts[1][-1].content == "Who am I?"


def test_message_history_is_heard(calculator):
    """RunnableWithMessageHistory passes the turns of a session."""
    agent, model = agent_of(["Hello Bob", "You are Bob"], [calculator])
    history = InMemoryChatMessageHistory()
    chain = RunnableWithMessageHistory(
        AgentExecutor(agent=agent, tools=[calculator]),
        lambda _: history,
        input_messages_key="input",
        history_messages_key="chat_history",
    )
    config = {"configurable": {"session_id": "1"}}

    chain.invoke({"input": "I am Bob"}, config)
    chain.invoke({"input": "Who am I?"}, config)

    assert [m.content for m in model.prompts[1][1:]] == ["I am Bob", "Hello Bob", "Who am I?"]


# Ending at a limit.


@pytest.mark.parametrize("executor_class", EXECUTORS)
def test_generate_gives_the_best_answer_at_the_limit(calculator, executor_class):
    """At the limit the model is asked once more, without tools, and its words are the answer."""
    agent, model = agent_of([calling(), "It is 44160."], [calculator])
    executor = executor_class(
        agent=agent, tools=[calculator], max_iterations=1, early_stopping_method="generate"
    )

    assert executor.invoke({"input": "?"})["output"] == "It is 44160."
    assert "tools" not in model.calls[1]
    assert_in_order(model.prompts[1])


@pytest.mark.parametrize(
    "last", [calling(), calling(content="It may be 44160."), AIMessage(""), broken(BROKEN)]
)
def test_generate_never_raises_where_stock_raises_value_error(calculator, last):
    """A model that calls a tool even so, or says nothing, ends the run without an exception."""
    agent, _ = agent_of([last, last], [calculator])

    finish = agent.return_stopped_response("generate", [], input="?")

    assert finish.return_values["stopped"]
    assert finish.return_values["output"] in (
        "It may be 44160.",
        "Agent stopped due to iteration limit or time limit.",
    )
    again = asyncio.run(agent.areturn_stopped_response("generate", [], input="?"))
    assert again.return_values == finish.return_values


def test_force_says_that_the_run_was_stopped(calculator):
    """The constant text is stock's; another method is refused by name."""
    agent, _ = agent_of([], [calculator])
    stock = StockAgent.from_llm_and_tools(ScriptedChatModel([]), [calculator])

    assert agent.return_stopped_response("force", []) == stock.return_stopped_response("force", [])
    with pytest.raises(ValueError, match="'force' or 'generate', not 'other'"):
        agent.return_stopped_response("other", [])


# Construction.


def test_unknown_arguments_are_refused_with_the_nearest_name(calculator):
    """A typing error does not vanish."""
    with pytest.raises(TypeError, match="'sytem_message'; did you mean 'system_message'"):
        agent_of([], [calculator], sytem_message="x")
    with pytest.raises(TypeError, match="'mod'; did you mean 'mode'"):
        OpenAIFunctionsAgent(
            llm=ScriptedChatModel([]),
            tools=[calculator],
            prompt=OpenAIFunctionsAgent.create_prompt(),
            mod="tools",
        )


def test_tools_of_one_name_are_refused(calculator):
    """Two tools that a model could not tell apart are refused."""
    with pytest.raises(ValueError, match="are named 'Calculator'; names must differ"):
        agent_of([], [calculator, calculator])


def test_it_is_built_directly_as_the_parent_is(calculator):
    """The parent's documented arguments work, an output parser given as a class included."""
    model = ScriptedChatModel([legacy()])
    agent = OpenAIFunctionsAgent(
        llm=model,
        tools=[calculator],
        prompt=StockAgent.create_prompt(),
        output_parser=OpenAIFunctionsAgentOutputParser,
    )

    assert agent.plan([], input="?").tool_input == "128 * 345"
    assert agent.get_allowed_tools() == ["Calculator"]


def test_a_users_own_output_parser_gains_the_correction(calculator):
    """What stock's parser refuses is told to the model, in messages that are in order."""
    agent, model = agent_of(
        [legacy("{42]"), DONE], [calculator], output_parser=OpenAIFunctionsAgentOutputParser
    )

    AgentExecutor(agent=agent, tools=[calculator]).invoke({"input": "?"})

    assert "is not valid JSON" in model.prompts[1][-1].content


def test_a_placeholder_is_a_scratchpad(calculator):
    """The prompt that LangChain's guides write for tool calling agents is taken as it is."""
    prompt = ChatPromptTemplate.from_messages(
        [
            ("placeholder", "{chat_history}"),
            ("human", "{input}"),
            ("placeholder", "{agent_scratchpad}"),
        ]
    )
    agent, model = agent_of([calling(), "44160"], [calculator], prompt=prompt)
    AgentExecutor(agent=agent, tools=[calculator]).invoke({"input": "?"})

    assert agent.input_keys == ["input"]
    assert [message.type for message in model.prompts[1]] == ["human", "ai", "tool"]


def test_a_prompt_without_a_scratchpad_is_refused(calculator):
    """Without a place for the steps the model could not go on."""
    with pytest.raises(ValueError, match="agent_scratchpad"):
        agent_of([], [calculator], prompt=ChatPromptTemplate.from_messages([("human", "{input}")]))


# Running tools.


@tool
def remember(text: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Remember a text."""
    return f"{text} under {tool_call_id}"


@tool
def mood(text: str, state: Annotated[dict, InjectedState]) -> str:
    """Tell the mood."""
    return f"{text}: {state['mood']}"


@tool
def last_word(state: Annotated[list, InjectedState("messages")]) -> str:
    """Tell the last word."""
    return str(state[-1])


def test_injected_arguments_are_not_shown_to_the_model():
    """The schemas hold what a model can know, in both modes."""
    for mode in ("tools", "functions"):
        agent, model = agent_of(["Hello"], [remember, mood, last_word], mode=mode)
        agent.plan([], input="?")
        sent = json.dumps(model.calls[0])

        assert "tool_call_id" not in sent
        assert "state" not in sent


def test_a_call_is_run_with_what_is_injected_into_it():
    """The id of the call and the state, whole or in part, reach the tools that ask for them."""
    state = {"mood": "good", "messages": ["hello"]}
    agent, _ = agent_of(
        [
            calling(
                call("remember", {"text": "tea"}, "id_1"),
                call("mood", {"text": "now"}),
                call("last_word", {}),
            )
        ],
        [remember, mood, last_word],
    )
    with pytest.raises(ValueError, match="full model ToolCall"):
        remember.run({"text": "tea"})

    ran = []
    for action in agent.plan([], input="?"):
        one = {"remember": remember, "mood": mood, "last_word": last_word}[action.tool]
        ran.append(with_injected(one, action, state).run(action.tool_input))

    assert ran == ["tea under id_1", "now: good", "hello"]


async def test_a_bare_text_is_given_its_name_beside_what_is_injected():
    """A text for the one argument that a model can give reaches it, without blocking too."""
    action = AgentAction("remember", "tea", "")

    assert (await with_injected(remember, action).arun("tea")).startswith("tea under call_")


def test_a_tool_that_asks_for_nothing_is_left_alone(calculator):
    """Nothing is copied where nothing is injected."""
    assert with_injected(calculator, AgentAction("Calculator", "1", "")) is calculator


def test_what_a_tool_tells_a_graph_is_its_observation():
    """A Command that holds the answer to its own call becomes that answer."""
    told = Command(update={"messages": [ToolMessage("remembered", tool_call_id="x")]})

    assert observed(told) == "remembered"


async def test_tools_that_are_only_asynchronous_run(calculator):
    """A tool with nothing but a coroutine works in an asynchronous run."""

    async def look(city: str) -> str:
        """Look out of the window."""
        return f"sunny in {city}"

    window = StructuredTool.from_function(coroutine=look, name="look")
    agent, model = agent_of([calling(call("look", {"city": "京都"})), DONE], [window])

    await AgentExecutor(agent=agent, tools=[window]).ainvoke({"input": "?"})

    assert model.prompts[1][-1].content == "sunny in 京都"
