"""AgentTokenBufferMemory: what was asked, done and answered, where LangChain's saves nothing."""

import pytest
from langchain_classic.agents.openai_functions_agent.agent_token_buffer_memory import (
    AgentTokenBufferMemory as StockMemory,
)
from langchain_core.messages import AIMessage
from langchain_core.prompts import MessagesPlaceholder
from langchain_core.tools import Tool

from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.memory import AgentTokenBufferMemory
from langchain_custom_agents.agents.openai_functions import OpenAIFunctionsAgent
from langchain_custom_agents.testing import ScriptedChatModel

SEARCH = Tool("Search", lambda query: f"about {query}", "looks things up")
CALL = AIMessage("", tool_calls=[{"name": "Search", "args": {"__arg1": "Hiroko"}, "id": "1"}])


def executor_of(model, memory, **kwargs):
    agent = OpenAIFunctionsAgent.from_llm_and_tools(
        model, [SEARCH], extra_prompt_messages=[MessagesPlaceholder("history")]
    )
    return AgentExecutor(agent=agent, tools=[SEARCH], memory=memory, **kwargs)


def counting(replies):
    return ScriptedChatModel(replies, custom_get_token_ids=lambda text: [0] * len(text))


def test_pain_04_the_memory_of_a_run_cannot_be_saved():
    """Stock fails after the work; ours keeps question, call, result and answer for the next."""
    model = counting([CALL, AIMessage("a girl"), AIMessage("Hiroko")])
    with pytest.raises((ValueError, AttributeError)):
        StockMemory(llm=model).save_context(
            {"input": "Who?"}, {"output": "a girl", "intermediate_steps": []}
        )

    executor = executor_of(model, AgentTokenBufferMemory(llm=model), return_intermediate_steps=True)
    executor.invoke({"input": "Who?"})
    executor.invoke({"input": "What was her name?"})

    kinds = [message.type for message in model.prompts[2]]
    assert kinds == ["system", "human", "ai", "tool", "ai", "human"]


def test_the_oldest_go_first_and_no_result_without_its_call():
    """At the limit the oldest messages are dropped, a call together with its result."""
    model = counting([CALL, AIMessage("a girl")])
    memory = AgentTokenBufferMemory(llm=model, max_token_limit=40)
    executor_of(model, memory, return_intermediate_steps=True).invoke({"input": "Who? " * 9})

    assert memory.buffer[0].type != "tool"
    assert memory.buffer[-1].content == "a girl"


def test_a_model_that_cannot_count_loses_no_turn():
    """Where a tokenizer would have to be downloaded first, tokens are estimated."""

    def missing(text):
        raise ImportError(text)

    model = ScriptedChatModel([CALL, AIMessage("a girl")], custom_get_token_ids=missing)
    memory = AgentTokenBufferMemory(llm=model, max_token_limit=40)
    executor_of(model, memory, return_intermediate_steps=True).invoke({"input": "Who? " * 50})

    assert memory.buffer[-1].content == "a girl"
    assert memory.buffer[0].type != "human"


def test_without_steps_it_says_what_is_missing():
    """A run that returns no steps cannot be kept: the error says what to give the executor."""
    model = counting([AIMessage("a girl")])
    executor = executor_of(model, AgentTokenBufferMemory(llm=model))

    with pytest.raises(ValueError, match="return_intermediate_steps=True"):
        executor.invoke({"input": "Who?"})
