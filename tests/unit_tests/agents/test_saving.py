"""Agents saved as data and loaded again."""

import contextlib
import json

import pytest
from langchain_core.tools import Tool

from langchain_custom_agents import initialize_agent
from langchain_custom_agents.agents.output_parser import ReActOutputParser
from langchain_custom_agents.agents.react import ReActAgent
from langchain_custom_agents.agents.saving import describe_agent, load_agent
from langchain_custom_agents.agents.types import AGENTS, make_agent
from langchain_custom_agents.testing import ScriptedChatModel


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
        ('{"_type": "langchain-custom-agents", "format": 99}', "newer version"),
        ('{"_type": "langchain-custom-agents", "tools": ["Lookup"]}', "wants the tools Lookup"),
    ],
)
def test_other_files_and_other_tools_are_refused(content, said, tmp_path):
    """A file that is no saved agent, or wants other tools, is refused in words."""
    (tmp_path / "agent.json").write_text(content)

    with pytest.raises(ValueError, match=said):
        load_agent(tmp_path / "agent.json", ScriptedChatModel([]), [Tool("Search", str, "looks")])


def test_code_is_not_saved(tmp_path):
    """An agent with a parser of one's own says that it cannot be saved, and writes nothing."""

    class Own(ReActOutputParser):
        pass

    tools = [Tool("Search", str, "looks")]

    class OwnAgent(ReActAgent):
        pass

    agent = OwnAgent.from_llm_and_tools(ScriptedChatModel([]), tools)
    with pytest.raises(ValueError, match="code is not saved"):
        agent.save(tmp_path / "agent.json")
    assert list(tmp_path.iterdir()) == []


def test_no_secret_and_no_model_is_in_the_file(tmp_path):
    """The file holds names and texts: nothing of the model."""
    tools = [Tool("Search", str, "looks")]
    ReActAgent.from_llm_and_tools(ScriptedChatModel(["sk-secret"]), tools).save(tmp_path / "a.json")
    saved = json.loads((tmp_path / "a.json").read_text())

    assert "sk-secret" not in str(saved)
    assert saved["tools"] == ["Search"]
