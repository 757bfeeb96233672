"""Agents saved as data and loaded again."""

import contextlib
import json
from dataclasses import replace

import pytest
from langchain_classic.chains import LLMChain
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.messages import HumanMessage
from langchain_core.output_parsers import CommaSeparatedListOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.tools import Tool

from langchain_custom_agents import initialize_agent
from langchain_custom_agents.agents.openai_functions import (
    OpenAIFunctionsAgent,
    OpenAIFunctionsOutputParser,
)
from langchain_custom_agents.agents.output_parser import ReActOutputParser
from langchain_custom_agents.agents.prompt import ReActPromptTemplate, StructuredChatPromptTemplate
from langchain_custom_agents.agents.react import ReActAgent
from langchain_custom_agents.agents.saving import describe_agent, load_agent
from langchain_custom_agents.agents.structured_chat import StructuredChatAgent
from langchain_custom_agents.agents.types import AGENTS, make_agent
from langchain_custom_agents.dialects import JAPANESE, Action, Answer, JsonBlob, Labelled
from langchain_custom_agents.dialects.phrases import IN_JAPANESE
from langchain_custom_agents.testing import ScriptedChatModel

SEARCH = [Tool("Search", str, "looks")]

# Agents in which every field, and every field of chain and prompt, has a value of its own.

OF_PROMPT = {
    "prefix": "Be {mood}. {tools}",
    "format_instructions": "{tool_names}",
    "examples": [
        ("?", [("I look", Action("Search", {"q": 1}), 20000), ("I know", Answer("2"), None)])
    ],
    "ai_prefix": "Robot",
    "human_prefix": "Guest",
    "partial_variables": {"mood": "calm"},
    "name": "mine",
    "tags": ["a"],
    "metadata": {"b": 1},
}
OF_CHAIN = {
    "tags": ["t"],
    "metadata": {"m": [1]},
    "name": "c",
    "output_key": "said",
    "llm_kwargs": {"temperature": 0.5},
    "return_final_only": False,
}


def react():
    dialect = replace(JAPANESE, thought="考え:", phrases=replace(IN_JAPANESE, begin="いざ。"))
    suffix = "{input} {agent_scratchpad} {day}"
    prompt = ReActPromptTemplate(dialect=dialect, tools=SEARCH, suffix=suffix, **OF_PROMPT)
    chain = LLMChain(llm=ScriptedChatModel([]), prompt=prompt, **OF_CHAIN)
    return ReActAgent(llm_chain=chain, stop=["STOP"], streaming=True, allowed_tools=["x"])


def structured_chat():
    prompt = StructuredChatPromptTemplate(
        dialect=JsonBlob(finish="Done"),
        tools=SEARCH,
        suffix="{day}",
        human_message_template="{input} {agent_scratchpad}",
        memory_prompts=[MessagesPlaceholder("memory", optional=True), HumanMessage("Hello!")],
        **OF_PROMPT,
    )
    chain = LLMChain(llm=ScriptedChatModel([]), prompt=prompt, **OF_CHAIN)
    return StructuredChatAgent(llm_chain=chain, streaming=False, allowed_tools=None)


def openai_functions():
    return OpenAIFunctionsAgent.from_llm_and_tools(
        ScriptedChatModel([]),
        SEARCH,
        system_message="Be calm.",
        extra_prompt_messages=[MessagesPlaceholder("memory", optional=True)],
        mode="functions",
    )


# What is given again when an agent is loaded; and what has no other value that could be saved:
# it is code, or follows from other fields.
GIVEN = {"llm", "callbacks", "callback_manager", "verbose", "input_types"}
FIXED = {"tools", "output_parser", "memory", "optional_variables"}


def fields_of(thing):
    """Return every field of an agent, of its chain and of its prompt, as it compares."""
    found = {}
    for name in type(thing).model_fields:
        value = getattr(thing, name)
        if name == "llm_chain":
            found |= {f"llm_chain.{inner}": each for inner, each in fields_of(value).items()}
        elif name == "prompt" and not isinstance(value, ChatPromptTemplate):
            found |= {f"prompt.{inner}": each for inner, each in fields_of(value).items()}
        elif name == "tools":
            found[name] = [getattr(tool, "name", tool) for tool in value]
        elif name == "output_parser":
            found[name] = (type(value), getattr(value, "dialect", None))
        elif name == "examples":
            found[name] = [(question, [*map(tuple, steps)]) for question, steps in value]
        elif name not in GIVEN:
            found[name] = list(value) if isinstance(value, tuple) else value
    return found


@pytest.mark.parametrize("make", [react, structured_chat, openai_functions])
def test_every_field_survives_saving(make, tmp_path):
    """Each field of agent, chain and prompt is loaded as it was; whoever adds one, adds it here."""
    agent = make()
    agent.save(tmp_path / "agent.yaml")
    loaded = load_agent(tmp_path / "agent.yaml", ScriptedChatModel([]), SEARCH)
    assert fields_of(loaded) == fields_of(agent)

    usual = fields_of(type(agent).from_llm_and_tools(ScriptedChatModel([]), SEARCH))
    untried = {name for name, value in fields_of(agent).items() if value == usual[name]}
    assert {name.rpartition(".")[2] for name in untried} <= FIXED


def tools_for(kind):
    names = AGENTS[kind].tools or {"Search"}
    return [Tool(name, str, "looks") for name in sorted(names)]


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
@pytest.mark.parametrize("kind", AGENTS)
def test_an_agent_of_every_type_survives_saving(kind, suffix, tmp_path):
    """What is loaded is what was saved, and asks the model the same."""
    path, tools = tmp_path / "deep" / f"agent{suffix}", tools_for(kind)
    before, after = ScriptedChatModel(lambda _: "?"), ScriptedChatModel(lambda _: "?")
    agent = make_agent(kind, before, tools)
    agent.save(path)
    loaded = load_agent(path, after, tools)

    assert describe_agent(loaded) == describe_agent(agent)
    for each in (agent, loaded):
        with contextlib.suppress(ValueError):
            each.plan([], input="How old?")
    assert after.prompts == before.prompts


def test_initialize_agent_takes_a_path(tmp_path):
    """`agent_path` stands for a type, as in LangChain."""
    tools = [Tool("Search", str, "looks")]
    ReActAgent.from_llm_and_tools(ScriptedChatModel([]), tools).save(tmp_path / "agent.yaml")
    model = ScriptedChatModel(["I know\nFinal Answer: 10"])

    assert initialize_agent(tools, model, agent_path=str(tmp_path / "agent.yaml")).run("?") == "10"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"_type": "zero-shot"}', "does not hold an agent"),
        ("[]", "does not hold an agent"),
        ("{", "does not hold an agent"),
        ('{"_type": "langchain-custom-agents", "format": 99}', "newer version"),
        ('{"_type": "langchain-custom-agents", "tools": ["Lookup"]}', "wants the tools Lookup"),
    ],
)
def test_other_files_and_other_tools_are_refused(content, said, tmp_path):
    """A file that is no saved agent, or wants other tools, is refused in words."""
    (tmp_path / "agent.json").write_text(content)

    with pytest.raises(ValueError, match=said):
        load_agent(tmp_path / "agent.json", ScriptedChatModel([]), [Tool("Search", str, "looks")])


class OwnAgent(ReActAgent):
    """An agent of somebody's own."""


class OwnParser(ReActOutputParser):
    """A parser of somebody's own."""


class OwnFunctionsParser(OpenAIFunctionsOutputParser):
    """Another."""


class OwnPrompt(ReActPromptTemplate):
    """A prompt template of somebody's own."""


class OwnChatPrompt(ChatPromptTemplate):
    """Another."""


class OwnDialect(Labelled):
    """A dialect of somebody's own."""


MODEL = ScriptedChatModel([])


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (OwnAgent.from_llm_and_tools(MODEL, SEARCH), "OwnAgent is a class"),
        (ReActAgent.from_llm_and_tools(MODEL, SEARCH, output_parser=OwnParser()), "output parser"),
        (ReActAgent.from_llm_and_tools(MODEL, SEARCH, prompt=OwnPrompt()), "prompt template"),
        (ReActAgent.from_llm_and_tools(MODEL, SEARCH, dialect=OwnDialect()), "OwnDialect"),
        (
            ReActAgent.from_llm_and_tools(
                *(MODEL, SEARCH),
                prompt=ReActPromptTemplate(tools=SEARCH, partial_variables={"day": lambda: "1"}),
            ),
            "`partial_variables`.*function",
        ),
        (
            ReActAgent.from_llm_and_tools(
                *(MODEL, SEARCH),
                prompt=ReActPromptTemplate(output_parser=CommaSeparatedListOutputParser()),
            ),
            "`output_parser` of ReActPromptTemplate",
        ),
        (
            ReActAgent(
                llm_chain=LLMChain(
                    llm=MODEL, prompt=ReActPromptTemplate(), memory=ConversationBufferMemory()
                )
            ),
            "`memory` of LLMChain",
        ),
        (
            OpenAIFunctionsAgent.from_llm_and_tools(
                MODEL, SEARCH, output_parser=OwnFunctionsParser()
            ),
            "output parser",
        ),
        (
            OpenAIFunctionsAgent.from_llm_and_tools(
                MODEL, SEARCH, prompt=OwnChatPrompt([MessagesPlaceholder("agent_scratchpad")])
            ),
            "prompt template",
        ),
    ],
)
def test_code_is_not_saved(agent, said, tmp_path):
    """An agent that holds code says which part cannot be saved, and writes nothing."""
    with pytest.raises(ValueError, match=said):
        agent.save(tmp_path / "agent.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dialect": None}, "cannot be read"),
        ({"prompt": {"prefics": "x"}}, "did you mean 'prefix'"),
        ({"streeming": True}, "did you mean 'streaming'"),
        ({"agent": "ReactAgent"}, "did you mean 'ReActAgent'"),
    ],
)
def test_what_was_changed_by_hand_is_checked(change, said, tmp_path):
    """A file with a part that is missing or misspelled is refused, and the part is named."""
    path = tmp_path / "agent.json"
    ReActAgent.from_llm_and_tools(MODEL, SEARCH).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))

    with pytest.raises((ValueError, TypeError), match=said):
        load_agent(path, MODEL, SEARCH)


def test_a_file_of_the_first_version_is_read(tmp_path):
    """What was saved before streaming and allowed tools were is loaded with the usual ones."""
    path = tmp_path / "agent.json"
    ReActAgent.from_llm_and_tools(MODEL, SEARCH).save(path)
    saved = json.loads(path.read_text())
    for name in ("streaming", "allowed_tools"):
        del saved[name]
    saved["prompt"] |= {"ai_prefix": "AI", "human_prefix": "Human"}
    path.write_text(json.dumps(saved))

    loaded = load_agent(path, MODEL, SEARCH)
    assert (loaded.streaming, loaded.allowed_tools) == (None, ["Search"])


def test_no_secret_and_no_model_is_in_the_file(tmp_path):
    """The file holds names and texts: nothing of the model."""
    tools = [Tool("Search", str, "looks")]
    ReActAgent.from_llm_and_tools(ScriptedChatModel(["sk-secret"]), tools).save(tmp_path / "a.json")
    saved = json.loads((tmp_path / "a.json").read_text())

    assert "sk-secret" not in str(saved)
    assert saved["tools"] == ["Search"]
