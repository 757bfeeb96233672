"""Agents as YAML or JSON, and back. No pickle, no code: names and texts only.

The model and the tools are not saved: they are given again when the agent is loaded, and the
tools' names are checked.
"""

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from langchain_core.language_models import BaseLanguageModel
from langchain_core.load import dumpd, load
from langchain_core.tools import BaseTool

from langchain_custom_agents.agents.fields import refuse_unknown
from langchain_custom_agents.agents.openai_functions import OpenAIFunctionsAgent
from langchain_custom_agents.agents.output_parser import DialectOutputParser
from langchain_custom_agents.agents.prompt import DialectPrompt, Example
from langchain_custom_agents.agents.react import ReActAgent
from langchain_custom_agents.agents.structured_chat import StructuredChatAgent
from langchain_custom_agents.dialects import (
    Action,
    Answer,
    Bracketed,
    Conversational,
    Dialect,
    JsonBlob,
    Labelled,
    SelfAsk,
)
from langchain_custom_agents.dialects.phrases import IN_CHINESE, IN_ENGLISH, IN_JAPANESE

FORMAT = 1
_TYPE = "langchain-custom-agents"
_AGENTS = {c.__name__: c for c in (ReActAgent, StructuredChatAgent, OpenAIFunctionsAgent)}
_DIALECTS = {c.__name__: c for c in (Labelled, Bracketed, JsonBlob, SelfAsk, Conversational)}
_PHRASES = {"english": IN_ENGLISH, "japanese": IN_JAPANESE, "chinese": IN_CHINESE}
_PARTS = ("prefix", "format_instructions", "suffix", "human_message_template")

Agent: TypeAlias = ReActAgent | StructuredChatAgent | OpenAIFunctionsAgent


def save_agent(agent: Agent, file_path: Path | str) -> None:
    """Save an agent.

    Args:
        agent: The agent.
        file_path: A file whose name ends in .json, .yaml or .yml; its folder is made.

    Raises:
        ValueError: If the file name ends otherwise, or the agent has a prompt, an output parser
            or a dialect of your own: code is not saved.
    """
    path = Path(file_path)
    described = describe_agent(agent)
    if path.suffix == ".json":
        text = json.dumps(described, ensure_ascii=False, indent=2) + "\n"
    elif path.suffix in (".yaml", ".yml"):
        text = yaml.safe_dump(described, allow_unicode=True, sort_keys=False)
    else:
        msg = f"An agent is saved as .json, .yaml or .yml; {path.name} is none of these."
        raise ValueError(msg)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def load_agent(
    file_path: Path | str, llm: BaseLanguageModel[Any], tools: Sequence[BaseTool]
) -> Agent:
    """Load a saved agent.

    Args:
        file_path: The file.
        llm: The model.
        tools: The tools; their names must be those of the saved agent's.

    Raises:
        ValueError: If the file holds no agent of this package, or the tools are others.
    """
    path = Path(file_path)
    described = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(described, dict) or described.get("_type") != _TYPE:
        msg = f"{path} does not hold an agent saved by langchain-custom-agents."
        raise ValueError(msg)
    if described.get("format", 0) > FORMAT:
        msg = f"{path} was saved by a newer version (format {described['format']})."
        raise ValueError(msg)
    saved, given = described["tools"], [tool.name for tool in tools]
    if set(saved) != set(given):
        msg = f"{path} wants the tools {', '.join(saved)}; it was given {', '.join(given)}."
        raise ValueError(msg)
    refuse_unknown(str(path), [described["agent"]], _AGENTS)
    cls = _AGENTS[described["agent"]]
    if cls is OpenAIFunctionsAgent:
        prompt = load(described["prompt"], allowed_objects="core")
        return OpenAIFunctionsAgent(llm=llm, tools=tools, prompt=prompt, mode=described["mode"])
    settings: dict[str, Any] = {
        **described["prompt"],
        "examples": [_read_example(example) for example in described["examples"]],
        "dialect": _read_dialect(described["dialect"]),
    }
    if "stop" in described:
        settings["stop"] = described["stop"]
    factory: Any = cls.from_llm_and_tools
    made: Agent = factory(llm, tools, **settings)
    return made


def describe_agent(agent: Agent) -> dict[str, Any]:
    """Return an agent as plain data; see `save_agent`."""
    said: dict[str, Any] = {"_type": _TYPE, "format": FORMAT, "agent": type(agent).__name__}
    if type(agent) not in _AGENTS.values():
        msg = f"{type(agent).__name__} is a class of your own: code is not saved."
        raise ValueError(msg)
    if isinstance(agent, OpenAIFunctionsAgent):
        names = [tool.name for tool in agent.tools]
        return {**said, "tools": names, "mode": agent.mode, "prompt": dumpd(agent.prompt)}
    prompt = agent.llm_chain.prompt
    own = not isinstance(prompt, DialectPrompt)
    if own or len(getattr(prompt, "memory_prompts", [])):
        msg = "The agent has a prompt template of your own: code is not saved."
        raise ValueError(msg)
    if not isinstance(agent.output_parser, DialectOutputParser):
        msg = "The agent has an output parser of your own: code is not saved."
        raise ValueError(msg)  # noqa: TRY004 - what is wrong is the agent's content
    said["tools"] = list(prompt.tools.names)
    said["dialect"] = _write_dialect(prompt.dialect)
    parts = {name: getattr(prompt, name, None) for name in _PARTS}
    said["prompt"] = {name: text for name, text in parts.items() if text is not None}
    if isinstance(agent, ReActAgent):
        said["prompt"] |= {"ai_prefix": prompt.ai_prefix, "human_prefix": prompt.human_prefix}
        said["stop"] = list(agent.stop)
    said["examples"] = [_write_example(example) for example in prompt.examples]
    return said


def _write_dialect(dialect: Dialect) -> dict[str, Any]:
    if type(dialect) not in _DIALECTS.values():
        msg = f"{type(dialect).__name__} is a dialect of your own: code is not saved."
        raise ValueError(msg)
    said: dict[str, Any] = {"class": type(dialect).__name__}
    for item in fields(dialect):  # type: ignore[arg-type]
        value = getattr(dialect, item.name)
        said[item.name] = value if isinstance(value, str) else _language(value)
    return said


def _language(phrases: Any) -> str:
    for name, known in _PHRASES.items():
        if known == phrases:
            return name
    msg = "The dialect has phrases of your own, which are not saved."
    raise ValueError(msg)


def _read_dialect(said: dict[str, Any]) -> Dialect:
    labels = dict(said)
    cls = _DIALECTS[labels.pop("class")]
    dialect: Dialect = cls(**{**labels, "phrases": _PHRASES[labels["phrases"]]})
    return dialect


def _write_example(example: Example) -> dict[str, Any]:
    question, steps = example
    return {"question": question, "steps": [_write_step(*step) for step in steps]}


def _write_step(thought: str, move: Any, observation: Any) -> dict[str, Any]:
    if isinstance(move, Answer):
        return {"thought": thought, "answer": move.text}
    said = {"thought": thought, "tool": move.tool, "input": move.input}
    return {**said, "observation": str(observation)}


def _read_example(said: dict[str, Any]) -> Example:
    return said["question"], [_read_step(step) for step in said["steps"]]


def _read_step(said: dict[str, Any]) -> tuple[str, Action | Answer, str | None]:
    if "answer" in said:
        return said["thought"], Answer(said["answer"]), None
    return said["thought"], Action(said["tool"], said["input"]), said["observation"]
