"""The text agents with the real ChatOpenAI against llmock: both APIs, streamed and not."""

import pytest
from langchain_core.tools import Tool
from langchain_openai import ChatOpenAI

from langchain_custom_agents import initialize_agent
from langchain_custom_agents.agents.types import AGENTS
from langchain_custom_agents.dialects import Action, Answer
from tests.integration_tests.openai.test_tool_calls import KINDS, one_loop

pytestmark = pytest.mark.integration

TEXT_TYPES = [kind.value for kind, row in AGENTS.items() if row.dialect is not None]


def executor_for(llmock, kind, api):
    """Make an executor of a type whose server acts, inventing an observation, and answers."""
    dialect = AGENTS[kind].dialect
    names = sorted(AGENTS[kind].tools or {"Search"})
    name = dialect.only_tool or "Search"
    acting = dialect.write("I look", Action(name, "Hiroko"))
    llmock.reply(f"{acting}\n{dialect.observation} hiroko is 99 years old\n")
    llmock.reply(dialect.write("I know", Answer("10")))
    llm = ChatOpenAI(model="gpt-4o", base_url=llmock.base_url(), api_key="none", **KINDS[api])
    tools = [Tool(each, lambda text: "hiroko is 10 years old", "looks") for each in names]
    return initialize_agent(tools, llm, agent=kind, return_intermediate_steps=True)


@pytest.mark.parametrize("api", KINDS)
@pytest.mark.parametrize("kind", TEXT_TYPES)
def test_every_text_type_acts_and_answers(llmock, kind, api):
    """The invented observation is cut, the tool is called, and its result is in the next prompt."""
    result = executor_for(llmock, kind, api).invoke({"input": "How old is Hiroko?"})

    assert result["output"] == "10"
    assert [seen for _, seen in result["intermediate_steps"]] == ["hiroko is 10 years old"]


@one_loop
@pytest.mark.parametrize("kind", TEXT_TYPES)
async def test_every_text_type_runs_without_blocking(llmock, kind):
    """The same through the asynchronous client."""
    executor = executor_for(llmock, kind, "chat")

    assert (await executor.ainvoke({"input": "How old is Hiroko?"}))["output"] == "10"


@one_loop
async def test_tokens_of_a_text_agent_are_streamed_as_events(llmock):
    """astream_events gives the model's tokens as they come."""
    executor = executor_for(llmock, "zero-shot-react-description", "chat")
    tokens = [
        event["data"]["chunk"].content
        async for event in executor.astream_events({"input": "How old?"}, version="v2")
        if event["event"] == "on_chat_model_stream"
    ]

    assert len(tokens) > 2
