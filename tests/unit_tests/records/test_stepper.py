"""The stepper: plan, act, look, change, go back, fork, feed."""

from typing import Any

import pytest
from langchain_classic.agents import AgentType as StockType
from langchain_classic.agents import initialize_agent as stock_initialize_agent
from langchain_core.agents import AgentAction
from langchain_core.messages import AIMessage
from langchain_core.tools import Tool

from langchain_custom_agents import (
    AgentExecutor,
    OpenAIFunctionsAgent,
    ReActAgent,
    StructuredChatAgent,
)
from langchain_custom_agents.dialects import Action, Answer, Misreading
from langchain_custom_agents.records import Stepper
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

LOOK = " I look\nAction: Search\nAction Input: Takuma\nObservation: a doctor"
KNOW = " I know\nFinal Answer: a teacher"


class Searches(list[str]):
    """What was searched for."""

    def tool(self) -> Tool:
        def search(query: str) -> str:
            self.append(query)
            return f"{query} is a teacher"

        return Tool("Search", search, "looks things up")


def made(said: Any = (LOOK, KNOW), **settings: Any) -> tuple[Stepper, ScriptedLLM, Searches]:
    searches, llm = Searches(), ScriptedLLM(said)
    tool = searches.tool()
    agent = ReActAgent.from_llm_and_tools(llm, [tool])
    executor = AgentExecutor(agent=agent, tools=[tool], **settings)
    return Stepper(executor, question="What is Takuma?"), llm, searches


def test_plan_runs_nothing() -> None:
    """A plan asks the model once and calls no tool; everything about it can be looked at."""
    stepper, llm, searches = made()
    move = stepper.plan()

    assert move == stepper.move == Action("Search", "Takuma")
    assert (stepper.thought, stepper.cut) == ("I look", "Observation: a doctor")
    assert stepper.raw == LOOK
    assert stepper.prompt == llm.prompts[0]
    assert (stepper.planned, stepper.done, stepper.answer) == (True, False, None)
    assert searches == []
    assert stepper.record.calls[0].observation is None


def test_act_does_what_was_planned() -> None:
    """Acting calls the tool once, and the transcript holds what the model will see."""
    stepper, llm, searches = made()
    stepper.plan()

    assert stepper.act() == "Takuma is a teacher"
    assert searches == ["Takuma"]
    assert len(llm.prompts) == 1
    assert stepper.scratchpad.endswith("Observation: Takuma is a teacher\nThought:")


def test_step_and_finish() -> None:
    """A step is a plan and its act; finishing gives the record of the whole run."""
    stepper, llm, _ = made()
    first = stepper.step()
    record = stepper.finish()

    assert first.observation == "Takuma is a teacher"
    assert [step.prompt for step in record.steps] == llm.prompts
    assert (record.answer, record.ended, stepper.done) == ("a teacher", "answered", True)
    assert stepper.answer == "a teacher"


async def test_asynchronously() -> None:
    """The same works without blocking, and gives the same record."""
    one, *_ = made()
    other, *_ = made()
    await other.aplan()
    await other.aact()
    await other.astep()
    timeless = {"steps": {"__all__": {"began": True, "seconds": True, "calls": True}}}
    exclude = {"started": True, "seconds": True, **timeless}

    assert (await other.afinish()).model_dump(exclude=exclude) == one.finish().model_dump(
        exclude=exclude
    )


def test_it_does_as_the_executor_does() -> None:
    """The prompts that a stepper sends are those that the executor sends."""
    said = [LOOK, "Hello.", " Hm.\nAction: Serch\nAction Input: x", LOOK, KNOW]
    stepper, llm, _ = made(said)
    stepper.finish()
    tool, other = Searches().tool(), ScriptedLLM(said)
    agent = ReActAgent.from_llm_and_tools(other, [tool])
    AgentExecutor(agent=agent, tools=[tool]).invoke({"input": "What is Takuma?"})

    assert llm.prompts == other.prompts


def test_a_misreading_is_corrected() -> None:
    """A plan that could not be read is a misreading; the next plan asks again."""
    stepper, _, searches = made(["Action: Serch\nAction Input: x", KNOW])
    move = stepper.plan()

    assert isinstance(move, Misreading)
    assert not stepper.planned
    assert "no tool named Serch" in stepper.scratchpad
    assert stepper.plan() == Answer("a teacher")
    assert searches == []
    assert stepper.record.steps[0].correction == move.reason


def test_the_action_can_be_changed() -> None:
    """A changed action is done instead of the planned one, and the model sees it as its own."""
    stepper, llm, searches = made()
    stepper.plan()
    stepper.edit(input="Ayako")
    stepper.act()
    stepper.finish()

    assert searches == ["Ayako"]
    assert llm.prompts[1].endswith(
        "Thought: I look\nAction: Search\nAction Input: Ayako\n"
        "Observation: Ayako is a teacher\nThought:"
    )
    assert stepper.record.calls[0].input == "Ayako"
    assert stepper.record.steps[0].differs == "Search[Takuma], but Search[Ayako] was called."


def test_the_observation_can_be_changed() -> None:
    """A changed observation is what the model sees."""
    stepper, llm, _ = made()
    stepper.step()
    stepper.edit(observation="Takuma is a fisherman")
    stepper.finish()

    assert "Observation: Takuma is a fisherman" in llm.prompts[1]
    assert "Takuma is a teacher" not in llm.prompts[1]
    assert stepper.record.calls[0].observation == "Takuma is a fisherman"


def test_back() -> None:
    """Going back takes the last plan and what came of it away."""
    stepper, llm, _ = made(lambda prompt: KNOW if "Observation: T" in prompt else LOOK)
    before = stepper.preview().prompt
    stepper.step()
    stepper.plan()
    assert stepper.done
    stepper.back()
    assert len(stepper.record.steps) == 1
    stepper.back()

    assert stepper.record.steps == []
    assert stepper.preview().prompt == before
    assert stepper.finish().answer == "a teacher"
    assert len(llm.prompts) == 4


def test_back_over_corrections() -> None:
    """Corrections are taken back like everything else."""
    stepper, *_ = made(lambda prompt: "Hello." if "read" not in prompt else KNOW)
    stepper.plan()
    pad = stepper.scratchpad
    stepper.plan()
    stepper.back()
    assert stepper.scratchpad == pad
    stepper.back()

    assert stepper.scratchpad == "Thought:"


def test_fork() -> None:
    """A fork goes its own way: neither sees what the other does."""
    stepper, *_ = made(
        lambda p: f" Seen.\nFinal Answer: {p.rsplit('is a ')[-1][:7]}" if "is a" in p else LOOK
    )
    stepper.step()
    other = stepper.fork()
    other.edit(observation="Takuma is a painter, they say")

    assert (stepper.finish().answer, other.finish().answer) == ("teacher", "painter")


def test_words_by_hand() -> None:
    """Words of one's own are read as the model's; the model is not asked."""
    stepper, llm, searches = made()
    move = stepper.say(" By hand.\nAction: Search\nAction Input: Ayako\nObservation: no")

    assert move == Action("Search", "Ayako")
    assert stepper.cut == "Observation: no"
    assert llm.prompts == []
    stepper.act()
    assert searches == ["Ayako"]
    assert stepper.record.steps[0].model == "by hand"


def test_steps_by_hand() -> None:
    """A step given by hand calls neither model nor tool, and the model goes on from it."""
    stepper, llm, searches = made([KNOW])
    stepper.feed("Search", "Takuma", "Takuma is a teacher", thought="I looked")
    stepper.finish()

    assert searches == []
    assert llm.prompts[0].endswith(
        "Thought: I looked\nAction: Search\nAction Input: Takuma\n"
        "Observation: Takuma is a teacher\nThought:"
    )
    assert len(stepper.record.calls) == 1


def test_preview_is_what_is_sent() -> None:
    """The preview is the prompt that the model then hears, and no call is made for it."""
    stepper, llm, _ = made()
    for _ in range(2):
        preview = stepper.preview()
        heard = len(llm.prompts)
        stepper.step()

        assert llm.prompts[heard:] == [preview.prompt]
        assert "".join(part.text for part in preview.parts) == preview.prompt


def test_preview_counts_its_parts() -> None:
    """The parts of a prompt are named and counted; the steps grow, the rest stays."""
    stepper, *_ = made()
    before = {part.name: part.tokens for part in stepper.preview().parts}
    stepper.step()
    after = {part.name: part.tokens for part in stepper.preview().parts}

    assert list(before) == ["instructions", "tools", "form", "question", "steps"]
    assert after == {**before, "steps": after["steps"]}
    assert after["steps"] > before["steps"]
    assert str(stepper.preview()).splitlines()[-1].split() == ["tokens", str(sum(after.values()))]


def test_limits_hold() -> None:
    """A run that is stepped through ends at the executor's limits, like any other."""
    stepper, *_ = made(lambda prompt: LOOK, max_iterations=2)
    record = stepper.finish()

    assert (len(record.calls), record.ended) == (2, "stopped")


def test_a_failing_model_leaves_the_state_as_it_was() -> None:
    """After a failure of the model the same plan can be asked for again."""
    stepper, *_ = made([TimeoutError("too late"), LOOK, KNOW])
    with pytest.raises(TimeoutError):
        stepper.plan()

    assert stepper.finish().answer == "a teacher"


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda s: s.act(), "call plan()"),
        (lambda s: s.raw, "call plan()"),
        (lambda s: s.move, "call plan()"),
        (lambda s: s.back(), "0 moves"),
        (lambda s: s.edit(input="x"), "call plan()"),
        (lambda s: s.edit(observation="x"), "call act()"),
        (lambda s: (s.plan(), s.plan()), "call act()"),
        (lambda s: (s.plan(), s.preview()), "act() comes first"),
        (lambda s: (s.plan(), s.edit(input="x", call=1)), "0 is the first"),
        (lambda s: (s.finish(), s.plan()), "has ended"),
        (lambda s: (s.finish(), s.act()), "has ended"),
        (lambda s: (s.finish(), s.preview()), "has ended"),
    ],
)
def test_what_makes_no_sense_is_refused(act: Any, says: str) -> None:
    """What cannot be done now is refused with a sentence that says what can."""
    with pytest.raises(ValueError) as refused:
        act(made()[0])

    assert says.casefold() in str(refused.value).casefold()


def test_tools_are_needed() -> None:
    """An agent without its tools is refused when the stepper is made."""
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM([]), [Searches().tool()])
    with pytest.raises(ValueError, match="needs `tools`"):
        Stepper(agent, question="What?")


@pytest.mark.parametrize("question", [None, {}, {"chat_history": []}])
def test_what_the_prompt_asks_for_is_needed(question: Any) -> None:
    """Without the question that its prompt asks for, a stepper is refused when it is made."""
    search = Searches().tool()
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM([]), [search])
    with pytest.raises(ValueError, match="needs `question`: the prompt asks for input"):
        Stepper(agent, [search], question)


def test_a_prompt_that_asks_for_nothing_needs_no_question() -> None:
    """Where everything stands in the prompt, the question may be left out."""
    search = Searches().tool()
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM(["Final Answer: 1"]), [search])
    agent.llm_chain.prompt = agent.llm_chain.prompt.partial(input="Who is Takuma?")
    stepper = Stepper(agent, [search])
    assert "Who is Takuma?" in stepper.prompt
    assert stepper.finish().answer == "1"


def test_numbers_are_said_as_they_are() -> None:
    """One move is a move, and several are moves."""
    stepper = made()[0]
    stepper.plan()
    with pytest.raises(ValueError, match="at most 1 move, not 2"):
        stepper.back(2)
    assert "0 steps, act()" in repr(stepper)
    stepper.act()
    assert "1 step, plan()" in repr(stepper)


def test_a_functions_agent() -> None:
    """Several calls of one reply are planned together and can be changed one by one."""
    searches = Searches()
    tool = searches.tool()
    calls = [{"name": "Search", "args": {"__arg1": n}, "id": f"c{n}"} for n in ("Takuma", "Ayako")]
    model = ScriptedChatModel([AIMessage("", tool_calls=calls), AIMessage("Teachers.")])
    agent = OpenAIFunctionsAgent.from_llm_and_tools(model, [tool])
    stepper = Stepper(agent, [tool], "What are they?")

    assert [part.name for part in stepper.preview().parts] == ["system", "user", "tools"]
    assert stepper.plan() == (Action("Search", "Takuma"), Action("Search", "Ayako"))
    stepper.edit(input="Hiroko", call=1)
    assert stepper.act() == ["Takuma is a teacher", "Hiroko is a teacher"]
    assert stepper.finish().answer == "Teachers."
    assert [message.type for message in model.prompts[1]] == [
        "system",
        "human",
        "ai",
        "tool",
        "tool",
    ]
    assert model.prompts[1][2].tool_calls[1]["args"] == {"__arg1": "Hiroko"}


def test_a_structured_chat_agent() -> None:
    """A chat agent's messages are previewed one by one."""
    tool = Searches().tool()
    said = '{"action": "Final Answer", "action_input": "a teacher"}'
    agent = StructuredChatAgent.from_llm_and_tools(ScriptedChatModel([said]), [tool])
    stepper = Stepper(agent, [tool], "What is Takuma?")

    assert [part.name for part in stepper.preview().parts] == ["system", "user"]
    assert stepper.plan() == Answer("a teacher")


def test_langchains_own_agent() -> None:
    """LangChain's zero-shot agent is stepped through as well."""
    tool, llm = Searches().tool(), ScriptedLLM([LOOK, KNOW], honors_stop=True)
    stock = stock_initialize_agent([tool], llm, agent=StockType.ZERO_SHOT_REACT_DESCRIPTION)
    stepper = Stepper(stock, question="What is Takuma?")
    preview = stepper.preview()

    assert stepper.plan() == Action("Search", "Takuma")
    assert llm.prompts == [preview.prompt]
    stepper.edit(observation=stepper.act() + "!")
    assert stepper.scratchpad.endswith("Observation: Takuma is a teacher!\nThought:")
    assert stepper.finish().answer == "a teacher"


def test_inputs_beside_the_question() -> None:
    """A history can be given by name."""
    stepper, llm, _ = made([KNOW])
    history = [("user", "Hello, I am Hiroko.")]
    other = Stepper(stepper._executor, question={"input": "Who am I?", "chat_history": history})
    other.finish()

    assert "Hello, I am Hiroko." in llm.prompts[0]


def test_artifacts_are_in_the_record() -> None:
    """What a tool returns beside its observation is in the record, in a stepper, too."""
    tool = Tool(
        "Search",
        lambda q: ("a teacher", [{"page": 1}]),
        "looks things up",
        response_format="content_and_artifact",
    )
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM([LOOK, KNOW]), [tool])

    assert Stepper(agent, [tool], "Who?").finish().calls[0].artifact == [{"page": 1}]


def test_transcript_is_langchains() -> None:
    """The steps are LangChain's own actions with observations."""
    stepper, *_ = made()
    stepper.step()
    [(action, observation)] = stepper.steps

    assert isinstance(action, AgentAction)
    assert observation == "Takuma is a teacher"
