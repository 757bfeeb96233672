"""OpenAIFunctionsAgent with the tools of a real MCP server, started as a process."""

import sys
from pathlib import Path

import pytest
from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_core.messages import AIMessage
from langchain_mcp_adapters.client import MultiServerMCPClient

from langchain_custom_agents.agents.calls import with_injected
from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.openai_functions import OpenAIFunctionsAgent
from langchain_custom_agents.testing import ScriptedChatModel

pytestmark = pytest.mark.integration

DONE = AIMessage("It is sunny.")


@pytest.fixture
async def tools():
    """Give the tools of the server: asynchronous only, with JSON schemas and artifacts."""
    program = str(Path(__file__).with_name("server.py"))
    connection = {"command": sys.executable, "args": [program], "transport": "stdio"}
    return await MultiServerMCPClient({"weather": connection}).get_tools()


def calling(*calls):
    """Return a reply that makes calls."""
    made = [{"name": n, "args": args, "id": f"id_{i}"} for i, (n, args) in enumerate(calls)]
    return AIMessage("", tool_calls=made)


@pytest.mark.parametrize("executor_class", [StockExecutor, AgentExecutor])
async def test_the_tools_of_an_mcp_server_run(tools, executor_class):
    """Several arguments, one and none: the server's own words come back as observations."""
    model = ScriptedChatModel(
        [
            calling(("weather", {"city": "京都", "days": 2}), ("now", {})),
            calling(("weather", {"city": "大阪"})),
            DONE,
        ]
    )
    agent = OpenAIFunctionsAgent.from_llm_and_tools(model, tools)

    result = await executor_class(agent=agent, tools=tools).ainvoke({"input": "?"})

    assert result["output"] == "It is sunny."
    said = [str(m.content) for m in model.prompts[-1] if m.type == "tool"]
    for words, message in zip(
        ["sunny in 京都 for 2 days", "noon", "sunny in 大阪 for 1 days"], said, strict=True
    ):
        assert words in message


async def test_the_schemas_of_an_mcp_server_are_offered(tools):
    """A model sees the server's names, descriptions and arguments."""
    model = ScriptedChatModel([DONE])

    await OpenAIFunctionsAgent.from_llm_and_tools(model, tools).aplan([], input="?")

    offered = {sent["function"]["name"]: sent["function"] for sent in model.calls[0]["tools"]}
    assert offered["weather"]["description"] == "Tell the weather of a city."
    assert set(offered["weather"]["parameters"]["properties"]) == {"city", "days"}


async def test_one_text_for_an_mcp_tool_becomes_its_argument(tools):
    """A tool with a JSON schema refuses a bare text: it is given the name it has there."""
    [weather] = [tool for tool in tools if tool.name == "weather"]
    model = ScriptedChatModel([AIMessage("", invalid_tool_calls=[_bare("京都")])])
    agent = OpenAIFunctionsAgent.from_llm_and_tools(model, tools)

    action = await agent.aplan([], input="?")
    content = await with_injected(weather, action).arun(action.tool_input)

    assert "sunny in 京都" in str(content)


def _bare(text):
    return {"name": "weather", "args": text, "id": "id_0", "error": None}
