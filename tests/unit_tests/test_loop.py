"""The loop and its policies, each alone, with no model and no tool."""

import pytest
from langchain_core.agents import AgentAction, AgentFinish

from langchain_custom_agents.loop import (
    Ask,
    Call,
    Done,
    Misread,
    Run,
    Stop,
    Turn,
    advance,
    turn,
    without_corrections,
)
from langchain_custom_agents.policies import Limits, Reask

SEARCH = AgentAction("Search", "Hiroko", "I look")
LOOKUP = AgentAction("Lookup", "age", "I look")
FINISH = AgentFinish({"output": "10"}, "I know")
UNCLEAR = Misread("???", "Say it in the form.")


def test_a_round_asks_then_calls_then_returns_the_step():
    """One action makes one step, with its observation of whatever type."""
    flow = turn([], Reask())

    assert isinstance(advance(flow), Ask)
    assert advance(flow, SEARCH) == Call([SEARCH])
    assert advance(flow, [(SEARCH, 20000)]) == Done([(SEARCH, 20000)])


def test_several_actions_of_one_reply_are_one_call():
    """All actions of a reply are asked for together and answered in order."""
    flow = turn([], Reask())
    advance(flow)

    assert advance(flow, [SEARCH, LOOKUP]) == Call([SEARCH, LOOKUP])
    assert advance(flow, [(SEARCH, "a"), (LOOKUP, "b")]) == Done([(SEARCH, "a"), (LOOKUP, "b")])


def test_a_round_that_finishes_calls_nothing():
    """A finish ends the round at once."""
    flow = turn([], Reask())
    advance(flow)

    assert advance(flow, FINISH) == Done(FINISH)


def test_a_misreading_becomes_part_of_the_transcript_and_is_asked_again():
    """The model sees its words and what was wrong; the step that follows is the only one."""
    transcript = []
    flow = turn(transcript, Reask())
    advance(flow)
    again = advance(flow, UNCLEAR)

    assert isinstance(again, Ask)
    assert [(action.log, said) for action, said in transcript] == [("???", "Say it in the form.")]
    assert again.correction == transcript[0]
    advance(flow, SEARCH)
    assert advance(flow, [(SEARCH, "x")]) == Done([(SEARCH, "x")])
    assert without_corrections([*transcript, (SEARCH, "x")]) == [(SEARCH, "x")]


def test_corrections_are_bounded():
    """After the last allowed correction the round ends, saying so, and not with the words."""
    flow = turn([], Reask(times=2))
    advance(flow)
    advance(flow, UNCLEAR)
    advance(flow, UNCLEAR)
    end = advance(flow, UNCLEAR)

    assert isinstance(end, Done)
    assert end.outcome.return_values["stopped"] is True
    assert "???" not in end.outcome.return_values["output"]


def test_prose_after_another_misreading_is_corrected_once_as_well():
    """An excuse after a wrong name is no answer: prose counts when it is said a second time."""
    flow = turn([], Reask(times=3))
    prose = Misread("Sorry.", "Say it in the form.", prose="Sorry.")
    advance(flow)
    advance(flow, Misread("Action: serch", "There is no serch."))

    assert isinstance(advance(flow, prose), Ask)
    assert advance(flow, prose).outcome.return_values["unformatted"] is True


def test_prose_is_corrected_once_and_then_taken_as_the_answer_and_marked():
    """Words with no form are the answer only when the model insists."""
    prose = Misread("It is 10.", "Say it in the form.", prose="It is 10.")
    flow = turn([], Reask())
    advance(flow)
    advance(flow, prose)
    end = advance(flow, prose)

    assert end.outcome.return_values == {"output": "It is 10.", "unformatted": True}


def test_a_negative_number_of_corrections_is_refused():
    """A policy that makes no sense cannot be made."""
    with pytest.raises(ValueError, match="max_corrections must be 0 or more"):
        Reask(times=-1)


@pytest.mark.parametrize(
    ("limits", "rounds", "seconds", "over"),
    [
        (Limits(2, None), 1, 99.0, False),
        (Limits(2, None), 2, 0.0, True),
        (Limits(None, 5.0), 99, 4.9, False),
        (Limits(None, 5.0), 0, 5.0, True),
        (Limits(None, None), 10**6, 1e6, False),
    ],
)
def test_limits_end_a_run_at_rounds_or_seconds(limits, rounds, seconds, over):
    """A limit holds from the round or second on that it names; None is no limit."""
    assert (limits.reached(rounds, seconds) is not None) is over


def test_a_run_collects_steps_until_the_finish():
    """Steps of all rounds are in the run, and its result is the finish."""
    run = Run(Limits(iterations=5))
    flow = run.rounds()

    assert advance(flow) == Turn(run.steps)
    advance(flow, [(SEARCH, "x")])
    assert advance(flow, FINISH) == Done(FINISH)
    assert run.steps == [(SEARCH, "x")]


def test_a_run_asks_for_a_finish_at_its_limit():
    """At the limit the driver is asked for a finish, with what was found and why."""
    flow = Run(Limits(iterations=1)).rounds()
    advance(flow)
    request = advance(flow, [(SEARCH, "x")])

    assert isinstance(request, Stop)
    assert request.steps == [(SEARCH, "x")]
    assert advance(flow, FINISH) == Done(FINISH)


def test_a_step_may_itself_be_the_finish():
    """A tool whose result is returned directly ends the run after its step is kept."""
    run = Run(Limits(), finish_after=lambda step: AgentFinish({"output": step[1]}, ""))
    flow = run.rounds()
    advance(flow)

    assert advance(flow, [(SEARCH, "x")]).outcome.return_values == {"output": "x"}
    assert run.steps == [(SEARCH, "x")]


def test_time_is_measured_by_the_clock_given():
    """A run is late when its own clock says so."""
    times = iter([0.0, 1.0, 7.0])
    flow = Run(Limits(None, 5.0, clock=lambda: next(times))).rounds()

    assert isinstance(advance(flow), Turn)
    assert isinstance(advance(flow, [(SEARCH, "x")]), Stop)
