"""Legacy function calls, reasoning items and text completions, as mountebank answers them."""

import json
import re

import pytest
from langchain_core.tools import Tool
from langchain_openai import ChatOpenAI, OpenAI

from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.openai_functions import OpenAIFunctionsAgent
from langchain_custom_agents.agents.react import ReActAgent

pytestmark = pytest.mark.integration

ARGUMENTS = '{\n  "__arg1": "123 * 345"\n}'
SAID = "123と345をかけると、42435になります。"


@pytest.fixture
def calculator():
    """Give a tool that takes one text."""
    return Tool("Calculator", lambda text: "Answer: 42435", "does sums")


def chat(finish_reason="stop", **message):
    """Return the body of a chat completion."""
    said = {"role": "assistant", "content": None, **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-3.5-turbo-0613",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": said}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def function_call(arguments=ARGUMENTS, name="Calculator"):
    """Return the body of a chat completion with a legacy function call."""
    return chat("function_call", function_call={"name": name, "arguments": arguments})


def tool_call(arguments, name="Calculator"):
    """Return the body of a chat completion with one tool call."""
    function = {"name": name, "arguments": arguments}
    return chat("tool_calls", tool_calls=[{"id": "1", "type": "function", "function": function}])


def executor_of(address, tools, mode=None, **kwargs):
    """Return an executor around the real client."""
    llm = ChatOpenAI(model="gpt-3.5-turbo", base_url=address, api_key="none", **kwargs)
    agent = OpenAIFunctionsAgent.from_llm_and_tools(llm, tools, mode=mode)
    return AgentExecutor(agent=agent, tools=tools)


def test_legacy_functions_are_sent_and_answered(mountebank, calculator):
    """With mode='functions' the wire holds functions, a function call and its result."""
    address = mountebank.serve(function_call(), chat(content=SAID))

    result = executor_of(address, [calculator], "functions").invoke({"input": "123×345"})

    assert result["output"] == SAID
    first, second = mountebank.heard
    assert [function["name"] for function in first["functions"]] == ["Calculator"]
    assert "tools" not in first
    assert second["messages"][2]["function_call"] == {"name": "Calculator", "arguments": ARGUMENTS}
    assert second["messages"][3] == {
        "role": "function",
        "name": "Calculator",
        "content": "Answer: 42435",
    }


def test_a_legacy_reply_is_understood_though_tools_were_offered(mountebank, calculator):
    """A server that answers tools with a function call is answered in its own form."""
    address = mountebank.serve(function_call(), chat(content=SAID))

    result = executor_of(address, [calculator]).invoke({"input": "123×345"})

    assert result["output"] == SAID
    assert "tools" in mountebank.heard[0]
    assert mountebank.heard[1]["messages"][3]["role"] == "function"


@pytest.mark.parametrize("arguments", ["", "null", "3", "[1]", '"123 * 345"', "123 * 345"])
def test_odd_arguments_of_a_legacy_call_run_the_tool(mountebank, calculator, arguments):
    """Whatever stands in place of an object is the one text of a tool that takes one."""
    address = mountebank.serve(function_call(arguments), chat(content=SAID))

    result = executor_of(address, [calculator], "functions").invoke({"input": "123×345"})

    assert result["output"] == SAID
    assert mountebank.heard[1]["messages"][3]["content"] == "Answer: 42435"


@pytest.mark.parametrize("arguments", ["3", "[1]", '"123 * 345"'])
def test_arguments_that_the_client_itself_refuses_are_asked_for_again(
    mountebank, calculator, arguments
):
    """ChatOpenAI raises for a tool call whose arguments are no object; the run goes on."""
    address = mountebank.serve(tool_call(arguments), tool_call(ARGUMENTS), chat(content=SAID))

    result = executor_of(address, [calculator]).invoke({"input": "123×345"})

    assert result["output"] == SAID
    assert "a JSON object, not" in mountebank.heard[1]["messages"][-1]["content"]


def test_missing_and_repeated_ids_are_set_right_on_the_wire(mountebank, calculator):
    """Two turns with one id, and a turn without: each call on the wire has its own."""
    bare = tool_call("3 * 3")
    bare["choices"][0]["message"]["tool_calls"][0]["id"] = ""
    address = mountebank.serve(tool_call("1 * 1"), tool_call("2 * 2"), bare, chat(content=SAID))

    assert executor_of(address, [calculator]).invoke({"input": "?"})["output"] == SAID
    messages = mountebank.heard[-1]["messages"]
    called = [call["id"] for m in messages for call in m.get("tool_calls") or ()]
    answered = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    assert called == answered
    assert len(set(called)) == 3
    assert all(called)


def response(*output):
    """Return the body of a reply of the Responses API."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "gpt-5",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def test_reasoning_items_of_the_responses_api_travel_along(mountebank, calculator):
    """The reasoning before a call is sent back with the call and its result."""
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"}
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "Calculator",
        "arguments": json.dumps({"__arg1": "123 * 345"}),
        "status": "completed",
    }
    text = {"type": "output_text", "text": SAID, "annotations": []}
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    address = mountebank.serve(response(reasoning, call), response(message))

    executor = executor_of(address, [calculator], use_responses_api=True)

    assert executor.invoke({"input": "123×345"})["output"] == SAID
    items = mountebank.heard[1]["input"]
    assert [item.get("type") for item in items[-3:]] == [
        "reasoning",
        "function_call",
        "function_call_output",
    ]
    assert items[-3]["encrypted_content"] == "opaque"
    assert (items[-1]["call_id"], items[-1]["output"]) == ("call_1", "Answer: 42435")


ACT = "I compute\nAction: Calculator\nAction Input: 123 * 345\n"
ANSWER = f"I know\nFinal Answer: {SAID}"


def part(text, finish_reason):
    """Return a text completion, or a part of its stream."""
    choice = {"index": 0, "finish_reason": finish_reason, "logprobs": None, "text": text}
    return {
        "id": "cmpl-1",
        "object": "text_completion",
        "created": 1,
        "model": "gpt-3.5-turbo-instruct",
        "choices": [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def streamed(text):
    """Return the stream of a text completion, a word at a time."""
    parts = [part(word, None) for word in re.findall(r"\S+\s*", text)] + [part("", "stop")]
    events = [f"data: {json.dumps(one)}\n\n" for one in parts]
    return "".join(events) + "data: [DONE]\n\n"


@pytest.mark.parametrize("streaming", [False, True])
def test_a_text_completion_model_acts_and_answers(mountebank, calculator, streaming):
    """The real OpenAI text client runs ReActAgent, streamed or not: stop is sent, and honoured."""
    made = streamed if streaming else (lambda text: part(text, "stop"))
    address = mountebank.serve(made(ACT), made(ANSWER))
    llm = OpenAI(
        base_url=address, api_key="none", model="gpt-3.5-turbo-instruct", streaming=streaming
    )
    agent = ReActAgent.from_llm_and_tools(llm, [calculator])

    result = AgentExecutor(agent=agent, tools=[calculator]).invoke({"input": "123×345"})

    assert result["output"] == SAID
    first, second = mountebank.heard
    assert first["stop"] == ["\nObservation:"]
    [prompt] = [second["prompt"]] if streaming else second["prompt"]
    assert prompt.endswith("Observation: Answer: 42435\nThought:")


def test_an_invented_observation_of_a_text_completion_model_is_cut(mountebank, calculator):
    """A server that ignores stop is not believed: the tool runs, and its result counts."""
    invented = "Observation: 99\nThought: I know\nFinal Answer: 99"
    address = mountebank.serve(streamed(ACT + invented), streamed(ANSWER))
    llm = OpenAI(base_url=address, api_key="none", model="gpt-3.5-turbo-instruct", streaming=True)
    agent = ReActAgent.from_llm_and_tools(llm, [calculator])

    result = AgentExecutor(agent=agent, tools=[calculator]).invoke({"input": "123×345"})

    assert result["output"] == SAID
    assert "99" not in mountebank.heard[1]["prompt"]
