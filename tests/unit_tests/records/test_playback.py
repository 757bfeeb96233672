"""Replay: a recorded run as a test."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import Tool, tool

from langchain_custom_agents import AgentExecutor, OpenAIFunctionsAgent, ReActAgent
from langchain_custom_agents.dialects import JAPANESE
from langchain_custom_agents.records import Recorder, ReplayDifferenceError, RunRecord, replay
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM
from tests.unit_tests.records.runs import executor_of, failed_run, japanese_run, long_run, recorded

LOOK = " I look\nAction: Search\nAction Input: Takuma"
KNOW = " I know\nFinal Answer: a teacher"


def run() -> RunRecord:
    search = Tool("Search", lambda query: f"{query} is a teacher", "looks things up")
    return recorded(executor_of(ScriptedLLM([LOOK, KNOW]), [search]), "What is Takuma?")


def test_in_one_line(tmp_path) -> None:
    """A saved run is a test of one line."""
    file = run().save(tmp_path / "takuma.json")

    replay(file, ReActAgent.from_llm_and_tools)


@pytest.mark.parametrize("make", [long_run, failed_run])
def test_what_happened_happens_again(make: Any) -> None:
    """A run with inventions, repairs, corrections and failures is replayed as it was."""
    record = make()
    again = record.replay(ReActAgent.from_llm_and_tools)

    assert [step.correction for step in again.steps] == [step.correction for step in record.steps]
    assert [call.observation for call in again.calls] == [call.observation for call in record.calls]


def test_with_a_factory_of_ones_own() -> None:
    """What makes the agent decides on its dialect, its prompt and its executor."""

    def make(llm: Any, tools: Any) -> AgentExecutor:
        agent = ReActAgent.from_llm_and_tools(llm, tools, dialect=JAPANESE)
        return AgentExecutor(agent=agent, tools=tools, max_iterations=5)

    assert japanese_run().replay(make).answer == "宏子の父の琢磨は教師です。"


def test_with_an_agent_that_is_there() -> None:
    """An agent or an executor is copied with the recorded model; it is itself not asked."""
    executor = executor_of(ScriptedLLM([]), [Tool("Search", lambda q: "never", "looks things up")])

    run().replay(executor)
    run().replay(executor.agent)


def test_a_changed_prompt_is_shown() -> None:
    """A strict replay fails at the first prompt that differs, and shows the difference."""

    def make(llm: Any, tools: Any) -> Any:
        return ReActAgent.from_llm_and_tools(llm, tools, prefix="Be brief.\n{tools}")

    with pytest.raises(ReplayDifferenceError) as failure:
        run().replay(make)

    assert failure.value.where == "step 1, the prompt"
    assert "\n+Be brief.\n" in str(failure.value)
    assert run().replay(make, strict_prompt=False).answer == "a teacher"


def test_a_changed_action_is_shown() -> None:
    """A replay fails where another action is read from the same words."""

    class Shouting(ReActAgent):
        def _read(self, words: str) -> Any:
            move = super()._read(words)
            if hasattr(move, "tool_input"):
                return move.model_copy(update={"tool_input": move.tool_input.upper()})
            return move

    with pytest.raises(ReplayDifferenceError) as failure:
        run().replay(Shouting.from_llm_and_tools, strict_prompt=False)

    assert str(failure.value) == (
        "The replay differs from the record in step 1, the action.\n"
        "- recorded: Search[Takuma]\n+ replayed: Search[TAKUMA]"
    )


def test_a_changed_answer_is_shown() -> None:
    """A replay fails where the same words give another answer."""
    record = run()
    record.answer = "a doctor"
    with pytest.raises(ReplayDifferenceError, match="recorded: a doctor"):
        record.replay(ReActAgent.from_llm_and_tools)


def test_one_step_more_is_shown() -> None:
    """A replay in which the model is asked once more says what it was asked."""
    record = run()
    record.steps.pop()
    with pytest.raises(ReplayDifferenceError, match="one more, to:"):
        record.replay(ReActAgent.from_llm_and_tools)


def test_a_call_that_is_not_made_is_shown() -> None:
    """A replay fails if a recorded call is not made any more."""

    def make(llm: Any, tools: Any) -> AgentExecutor:
        agent = ReActAgent.from_llm_and_tools(llm, tools)
        return AgentExecutor(agent=agent, tools=tools, approve=lambda action: False)

    with pytest.raises(ReplayDifferenceError, match="it was not called"):
        run().replay(make, strict_prompt=False)


def test_a_new_failure_is_shown() -> None:
    """A replay that ends with an exception says which, where the run had an answer."""

    def make(llm: Any, tools: Any) -> Any:
        class Broken(ReActAgent):
            def plan(self, *args: Any, **kwargs: Any) -> Any:
                raise KeyError("prompt")

        return Broken.from_llm_and_tools(llm, tools)

    with pytest.raises(ReplayDifferenceError, match="failed: KeyError"):
        run().replay(make)


def test_what_makes_no_agent_is_refused() -> None:
    """Something that makes no agent is refused with a sentence that says what would."""
    with pytest.raises(TypeError, match="must make an agent of a model and tools"):
        run().replay(lambda llm, tools: "no agent")


def parallel() -> ScriptedChatModel:
    calls = [{"name": "look", "args": {"what": n}, "id": n} for n in ("a", "b")]
    return ScriptedChatModel([AIMessage("Both.", tool_calls=calls), AIMessage("Done.")])


@tool
def look(what: str) -> str:
    """Look."""
    return f"{what}!"


def test_function_calls() -> None:
    """Replies that call tools are replayed as they were said."""
    agent = OpenAIFunctionsAgent.from_llm_and_tools(parallel(), [look])
    record = recorded(AgentExecutor(agent=agent, tools=[look]), "Look!")

    assert record.replay(OpenAIFunctionsAgent.from_llm_and_tools).answer == "Done."
    assert record.replay(agent).answer == "Done."


def test_create_agent() -> None:
    """A run of create_agent is replayed in create_agent."""
    from langchain.agents import create_agent

    recorder = Recorder(tools=[look])
    graph = create_agent(parallel(), [look])
    graph.invoke({"messages": [("user", "Look!")]}, {"callbacks": [recorder]})

    assert recorder.record.replay(create_agent).answer == "Done."
