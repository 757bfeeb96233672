"""A pytest plugin: puts our classes where LangChain's tests import stock's, and notes outcomes."""

import importlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

OUTCOMES: dict[str, str] = {}


def pytest_configure() -> None:
    """Swap, before any test module is imported."""
    if os.environ.get("LCA_UPSTREAM_SWAP"):
        swap()


def swap() -> None:
    """Put ours in the modules that the tests import from."""
    for place, ours in replacements().items():
        module, _, name = place.rpartition(".")
        setattr(importlib.import_module(f"langchain_classic.{module}"), name, ours)


def replacements() -> Mapping[str, Any]:
    """Return what stands where: the place in langchain_classic, and ours for it."""
    from langchain_custom_agents.agents._messages import MessageScratchpad
    from langchain_custom_agents.agents.executor import AgentExecutor
    from langchain_custom_agents.agents.openai_functions import OpenAIFunctionsOutputParser
    from langchain_custom_agents.agents.output_parser import (
        ReActOutputParser,
        StructuredChatOutputParser,
    )
    from langchain_custom_agents.agents.prompt import Scratchpad
    from langchain_custom_agents.agents.react import ReActAgent
    from langchain_custom_agents.agents.structured_chat import StructuredChatAgent
    from langchain_custom_agents.agents.types import AGENTS, initialize_agent
    from langchain_custom_agents.dialects import Conversational, Labelled, SelfAsk

    def self_ask(
        followups: Sequence[str] = ("Follow up:",),
        finish_string: str = "So the final answer is:",
    ) -> ReActOutputParser:
        dialect = SelfAsk(action=followups[0], final_answer=finish_string)
        return ReActOutputParser(dialect=dialect)

    def log_to_str(
        intermediate_steps: Any,
        observation_prefix: str = "Observation: ",
        llm_prefix: str = "Thought: ",
    ) -> str:
        dialect = Labelled(thought=llm_prefix, observation=observation_prefix)
        return Scratchpad(dialect).write(intermediate_steps)

    def messages(*, legacy: bool) -> Callable[[Any], Any]:
        return lambda intermediate_steps: MessageScratchpad(legacy=legacy).write(intermediate_steps)

    react, chat = ReActOutputParser, StructuredChatOutputParser
    return MappingProxyType(
        {
            "agents.AgentExecutor": AgentExecutor,
            "agents.initialize_agent": initialize_agent,
            "agents.initialize.initialize_agent": initialize_agent,
            "agents.types.AGENT_TO_CLASS": AGENTS,
            "agents.mrkl.base.ZeroShotAgent": ReActAgent,
            "agents.structured_chat.base.StructuredChatAgent": StructuredChatAgent,
            "agents.mrkl.output_parser.MRKLOutputParser": react,
            "agents.chat.output_parser.ChatOutputParser": chat,
            "agents.structured_chat.output_parser.StructuredChatOutputParser": chat,
            "agents.conversational.output_parser.ConvoOutputParser": (
                lambda: react(dialect=Conversational())
            ),
            "agents.output_parsers.json.JSONAgentOutputParser": chat,
            "agents.output_parsers.react_json_single_input.ReActJsonSingleInputOutputParser": chat,
            "agents.output_parsers.react_single_input.ReActSingleInputOutputParser": react,
            "agents.output_parsers.self_ask.SelfAskOutputParser": self_ask,
            "agents.output_parsers.openai_functions.OpenAIFunctionsAgentOutputParser": (
                OpenAIFunctionsOutputParser
            ),
            "agents.format_scratchpad.log.format_log_to_str": log_to_str,
            "agents.format_scratchpad.openai_functions.format_to_openai_function_messages": (
                messages(legacy=True)
            ),
            "agents.format_scratchpad.openai_tools.format_to_openai_tool_messages": (
                messages(legacy=False)
            ),
        }
    )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note how a test ended: a failure before or after it counts as one."""
    test = report.nodeid.removeprefix("tests/unit_tests/")
    if report.when == "call" or report.outcome != "passed":
        OUTCOMES[test] = report.outcome


def pytest_sessionfinish() -> None:
    """Write the outcomes down."""
    path = os.environ.get("LCA_UPSTREAM_OUTCOMES")
    if path:
        Path(path).write_text(json.dumps(OUTCOMES), encoding="utf-8")
