"""What an agent does, told step by step."""

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.types import make_agent
from langchain_custom_agents.cli.steps import Steps
from langchain_custom_agents.dialects import Toolbox
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM


@tool
def search(query: str) -> str:
    """Finds things."""
    return f"found {query}"


@tool
def fail(query: str) -> str:
    """Fails."""
    msg = f"no {query}"
    raise RuntimeError(msg)


TOOLS = [search, fail]


def run(llm, kind="zero-shot-react-description"):
    """Run an agent and return what was told and what was kept."""
    told: list[tuple[str, str]] = []
    agent = make_agent(kind, llm, TOOLS)
    steps = Steps(
        lambda event, text, label: told.append((label or event, text)),
        getattr(agent, "dialect", None),
        Toolbox.of(TOOLS),
    )
    AgentExecutor(agent=agent, tools=TOOLS).invoke({"input": "x"}, {"callbacks": [steps]})
    return told, steps


def test_a_run_is_told_in_order():
    """Thought, call, observation and last thought are told as they happen."""
    told, steps = run(
        ScriptedLLM(["I look\nAction: search\nAction Input: a", "I know\nFinal Answer: b"])
    )
    assert told == [
        ("thought", "I look"),
        ("search", "a"),
        ("observation", "found a"),
        ("thought", "I know"),
    ]
    (step,) = steps.taken
    assert (step["thought"], step["action"], step["input"]) == ("I look", "search", "a")
    assert (step["observation"], steps.thought) == ("found a", "I know")


def test_what_was_cut_is_told():
    """Invented words are told as cut, on one line, before the call that was kept."""
    words = "I look\nAction: search\nAction Input: a\nObservation: lies\nFinal Answer: lies"
    told, steps = run(ScriptedLLM([words, "I know\nFinal Answer: b"]))
    assert told[:3] == [
        ("thought", "I look"),
        ("cut", "Observation: lies / Final Answer: lies"),
        ("search", "a"),
    ]
    assert steps.taken[0]["cut"] == "Observation: lies\nFinal Answer: lies"


def test_a_correction_is_told():
    """What the model was told about a misreading is told and kept, with what was heard."""
    told, steps = run(
        ScriptedLLM(["I look\nAction: serch the web\nAction Input: a", "I know\nFinal Answer: b"])
    )
    assert told[0][0] == "correction"
    assert steps.taken[0]["correction"] == told[0][1]
    assert "serch the web" in steps.taken[0]["heard"]


def test_a_failing_tool_is_told():
    """A tool that raises is told as an observation."""
    told, steps = run(
        ScriptedLLM(["I try\nAction: fail\nAction Input: a", "I know\nFinal Answer: b"])
    )
    assert ("observation", "RuntimeError: no a") in told
    assert steps.taken[0]["observation"] == "RuntimeError: no a"


def test_calls_side_by_side_keep_their_observations():
    """Several calls of one reply share its thought, and each keeps its own observation."""
    calls = [
        {"name": "search", "args": {"query": word}, "id": word, "type": "tool_call"}
        for word in ("a", "b", "c")
    ]
    llm = ScriptedChatModel([AIMessage("I look", tool_calls=calls), AIMessage("done")])
    told, steps = run(llm, "openai-functions")
    kept = {step["input"]["query"]: step["observation"] for step in steps.taken}
    assert kept == {"a": "found a", "b": "found b", "c": "found c"}
    # Calls side by side begin in any order.
    assert sorted(text for kind, text in told if kind == "search") == ["a", "b", "c"]


def test_whoever_listens_can_end_the_run():
    """An error while telling, such as a closed pipe, ends the run."""
    agent = make_agent(
        "zero-shot-react-description", ScriptedLLM(["I know\nFinal Answer: b"]), TOOLS
    )

    def closed(*_: object) -> None:
        raise BrokenPipeError

    steps = Steps(closed, agent.dialect, Toolbox.of(TOOLS))
    with pytest.raises(BrokenPipeError):
        AgentExecutor(agent=agent, tools=TOOLS).invoke({"input": "x"}, {"callbacks": [steps]})
