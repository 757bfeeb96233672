"""Agents as YAML or JSON, and back. No pickle, no code: names and texts only.

The model and the tools are not saved: they are given again when the agent is loaded, and the
tools' names are checked. Every other field of an agent, of its prompt and of its chain is saved,
or it is said which one cannot be: nothing is left out without a word.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from langchain_classic.chains import LLMChain
from langchain_core.language_models import BaseLanguageModel
from langchain_core.load import dumpd, load
from langchain_core.tools import BaseTool
from pydantic import BaseModel

from langchain_custom_agents._arguments import refuse_unknown
from langchain_custom_agents.agents.base import check_tools
from langchain_custom_agents.agents.openai_functions import (
    OpenAIFunctionsAgent,
    OpenAIFunctionsOutputParser,
)
from langchain_custom_agents.agents.output_parser import (
    DialectOutputParser,
    ReActOutputParser,
    StructuredChatOutputParser,
)
from langchain_custom_agents.agents.prompt import (
    Example,
    ReActPromptTemplate,
    StructuredChatPromptTemplate,
)
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
    Misreading,
    SelfAsk,
    Toolbox,
)
from langchain_custom_agents.dialects.phrases import IN_CHINESE, IN_ENGLISH, IN_JAPANESE, Phrases

Agent: TypeAlias = ReActAgent | StructuredChatAgent | OpenAIFunctionsAgent

FORMAT = 1
_TYPE = "langchain-custom-agents"
_AGENTS = {c.__name__: c for c in (ReActAgent, StructuredChatAgent, OpenAIFunctionsAgent)}
_PROMPTS = {ReActAgent: ReActPromptTemplate, StructuredChatAgent: StructuredChatPromptTemplate}
_PARSERS = (DialectOutputParser, ReActOutputParser, StructuredChatOutputParser)
_DIALECTS = {c.__name__: c for c in (Labelled, Bracketed, JsonBlob, SelfAsk, Conversational)}
_PHRASES = {"english": IN_ENGLISH, "japanese": IN_JAPANESE, "chinese": IN_CHINESE}

# What is saved in a way of its own, follows from other fields, or is given again.
_OF_AGENT = frozenset({"llm", "llm_chain", "tools", "prompt", "output_parser", "dialect"})
_OF_PROMPT = frozenset(
    {"dialect", "tools", "examples", "memory_prompts"}
    | {"input_variables", "optional_variables", "input_types"}
)
_OF_CHAIN = frozenset({"llm", "prompt", "callbacks", "callback_manager", "verbose"})


def save_agent(agent: Agent, file_path: Path | str) -> None:
    """Save an agent.

    Args:
        agent: The agent.
        file_path: A file whose name ends in .json, .yaml or .yml; its folder is made.

    Raises:
        ValueError: If the file name ends otherwise, or the agent holds something that is code,
            such as a prompt, an output parser or a dialect of your own: code is not saved.
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
        FileNotFoundError: If there is no such file.
        ValueError: If the file holds no agent of this package, something in it cannot be read,
            or the tools are others.
        TypeError: If it holds a setting that is not known.
    """
    path = Path(file_path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        msg = f"{path} {what}; give the file that an agent was saved in."
        raise FileNotFoundError(msg)
    try:
        described = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError):
        described = None
    if not isinstance(described, dict) or described.get("_type") != _TYPE:
        msg = f"{path} does not hold an agent saved by langchain-custom-agents."
        raise ValueError(msg)
    if described.get("format", 0) > FORMAT:
        msg = f"{path} was saved by a newer version (format {described['format']})."
        raise ValueError(msg)
    saved, given = described.get("tools", ()), [tool.name for tool in tools]
    if set(saved) != set(given):
        msg = f"{path} wants the tools {', '.join(saved)}; it was given {', '.join(given)}."
        raise ValueError(msg)
    refuse_unknown(str(path), [described.get("agent", "")], _AGENTS)
    try:
        return _made(described, llm, tools)
    except (KeyError, AttributeError) as error:
        msg = f"{path} cannot be read: {error} is missing, or is not what an agent was saved with."
        raise ValueError(msg) from error


def describe_agent(agent: Agent) -> dict[str, Any]:
    """Return an agent as plain data; see `save_agent`."""
    if type(agent) not in _AGENTS.values():
        msg = f"{type(agent).__name__} is a class of your own: code is not saved."
        raise ValueError(msg)
    said: dict[str, Any] = {"_type": _TYPE, "format": FORMAT, "agent": type(agent).__name__}
    if isinstance(agent, OpenAIFunctionsAgent):
        if agent.output_parser not in (None, OpenAIFunctionsOutputParser) and (
            type(agent.output_parser) is not OpenAIFunctionsOutputParser
        ):
            _refuse("an output parser")
        said["tools"] = [tool.name for tool in agent.tools]
        said["prompt"] = _dumped(agent.prompt, "a prompt template")
        return said | _settings(agent, type(agent).model_fields, _OF_AGENT)
    prompt, chain = agent.llm_chain.prompt, agent.llm_chain
    if type(prompt) is not _PROMPTS[type(agent)]:
        _refuse("a prompt template")
    if type(agent.output_parser) not in _PARSERS:
        _refuse("an output parser")
    said["tools"] = list(prompt.tools.names)
    said["dialect"] = _write_dialect(prompt.dialect)
    said["prompt"] = _settings(prompt, _changed(prompt), _OF_PROMPT)
    memory = [_dumped(each, "a memory prompt") for each in getattr(prompt, "memory_prompts", ())]
    if memory:
        said["memory_prompts"] = memory
    said["examples"] = [_write_example(example) for example in prompt.examples]
    usual = LLMChain(llm=chain.llm, prompt=prompt)
    chained = _settings(chain, _changed(chain, usual), _OF_CHAIN)
    if chained:
        said["chain"] = chained
    return said | _settings(agent, type(agent).model_fields, _OF_AGENT)


def _made(described: Mapping[str, Any], llm: Any, tools: Sequence[BaseTool]) -> Agent:
    """Make the agent that was described."""
    cls = _AGENTS[described["agent"]]
    own = {"_type", "format", "agent", "tools", "dialect", "prompt", "memory_prompts"}
    settings = {k: v for k, v in described.items() if k not in own | {"examples", "chain"}}
    if cls is OpenAIFunctionsAgent:
        prompt = load(described["prompt"], allowed_objects="core")
        return OpenAIFunctionsAgent(llm=llm, tools=tools, prompt=prompt, **settings)
    toolbox, dialect = Toolbox.of(tools), _read_dialect(described["dialect"])
    check_tools(cls.__name__, dialect, toolbox)
    parts: dict[str, Any] = dict(described["prompt"])
    if "memory_prompts" in described:
        parts["memory_prompts"] = [
            load(each, allowed_objects="core") for each in described["memory_prompts"]
        ]
    examples = [_read_example(example) for example in described["examples"]]
    prompt = _PROMPTS[cls](dialect=dialect, tools=toolbox, examples=examples, **parts)
    chain = LLMChain(llm=llm, prompt=prompt, **described.get("chain", {}))
    agent: Any = cls
    made: Agent = agent(llm_chain=chain, **{"allowed_tools": list(toolbox.names), **settings})
    return made


# Settings.


def _changed(thing: BaseModel, usual: BaseModel | None = None) -> list[str]:
    """Return the fields of something that are not as they are if nobody says anything."""
    known = type(thing).model_fields
    if usual is None:
        defaults = {
            name: field.get_default(call_default_factory=True) for name, field in known.items()
        }
    else:
        defaults = {name: getattr(usual, name) for name in known}
    return [name for name in known if getattr(thing, name) != defaults[name]]


def _settings(thing: BaseModel, names: Collection[str], apart: Collection[str]) -> dict[str, Any]:
    """Return fields as plain data.

    Raises:
        ValueError: If one holds something else; the message names it.
    """
    said = {}
    for name in names:
        if name in apart:
            continue
        try:
            said[name] = _plain(getattr(thing, name))
        except TypeError as error:
            msg = f"The field `{name}` of {type(thing).__name__} cannot be saved: {error}."
            raise ValueError(msg) from None
    return said


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it.

    Raises:
        TypeError: If it cannot.
    """
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(item) for key, item in value.items()}
    msg = f"it holds a {type(value).__name__}, which is code or no plain data"
    raise TypeError(msg)


def _dumped(part: Any, what: str) -> Any:
    """Return a part of LangChain's as data that LangChain can load.

    Raises:
        ValueError: If it is of a class that is not LangChain's.
    """
    data = dumpd(part)
    try:
        again = load(data, allowed_objects="core")
    except Exception:  # noqa: BLE001 - whatever it is, it could not be loaded later either
        again = None
    if again != part:
        _refuse(what)
    return data


def _refuse(what: str) -> None:
    msg = f"The agent has {what} of your own: code is not saved."
    raise ValueError(msg)


# Dialects.


def _write_dialect(dialect: Dialect) -> dict[str, Any]:
    if type(dialect) not in _DIALECTS.values():
        msg = f"{type(dialect).__name__} is a dialect of your own: code is not saved."
        raise ValueError(msg)
    said: dict[str, Any] = {"class": type(dialect).__name__}
    for item in fields(dialect):  # type: ignore[arg-type]
        value = getattr(dialect, item.name)
        said[item.name] = _write_phrases(value) if isinstance(value, Phrases) else _plain(value)
    return said


def _write_phrases(phrases: Phrases) -> str | dict[str, str]:
    known = [name for name, known in _PHRASES.items() if known == phrases]
    return known[0] if known else asdict(phrases)


def _read_dialect(said: Mapping[str, Any]) -> Dialect:
    values = {name: value for name, value in said.items() if name != "class"}
    phrases = values.get("phrases", "english")
    values["phrases"] = _PHRASES[phrases] if isinstance(phrases, str) else Phrases(**phrases)
    dialect: Dialect = _DIALECTS[said["class"]](**values)
    return dialect


# Examples.


def _write_example(example: Example) -> dict[str, Any]:
    question, steps = example
    return {"question": question, "steps": [_write_step(*step) for step in steps]}


def _write_step(thought: str, move: Any, observation: Any) -> dict[str, Any]:
    if isinstance(move, Answer):
        return {"thought": thought, "answer": move.text}
    if isinstance(move, Misreading):
        return {"thought": thought, "heard": move.heard, "reason": move.reason}
    said = {"thought": thought, "tool": move.tool, "input": _plain(move.input)}
    try:
        return {**said, "observation": _plain(observation)}
    except TypeError:
        return {**said, "observation": str(observation)}


def _read_example(said: Mapping[str, Any]) -> Example:
    return said["question"], [_read_step(step) for step in said["steps"]]


def _read_step(said: Mapping[str, Any]) -> tuple[str, Action | Answer | Misreading, Any]:
    if "answer" in said:
        return said["thought"], Answer(said["answer"]), None
    if "heard" in said:
        return said["thought"], Misreading(said["heard"], said["reason"]), None
    return said["thought"], Action(said["tool"], said["input"]), said["observation"]
