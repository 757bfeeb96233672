"""The policies, each alone."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.agents import AgentAction, AgentActionMessageLog
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation, LLMResult

from langchain_custom_agents.loop import CORRECTION
from langchain_custom_agents.policies import (
    Budget,
    Cancel,
    Limits,
    Repeats,
    Spending,
    approximate_tokens,
    current_cancel,
)


def step(tool="Search", given="x", seen="nothing"):
    return (AgentAction(tool, given, f"Action: {tool}[{given}]"), seen)


def test_the_same_call_with_the_same_result_draws_a_hint_then_an_end():
    """The second time a hint, the third time the end."""
    repeats = Repeats(times=3)

    assert repeats([step()]) is None
    action, said = repeats([step(), step()])
    assert action.tool == CORRECTION
    assert "same result" in said
    assert "Search 3 times" in repeats([step(), step(), step()]).why


@pytest.mark.parametrize(
    "steps",
    [
        [step(seen="running"), step(seen="done")],
        [step(given="x"), step(given="y")],
        [step("Search"), step("Lookup")],
        [step(), step(), (AgentAction(CORRECTION, "hint", ""), "hint")],
        [],
    ],
)
def test_other_calls_and_other_results_are_no_repetition(steps):
    """A call is repeated only if tool, input and result are the same, and a hint is given once."""
    assert Repeats(times=3)(steps) is None


def test_content_blocks_are_compared_without_their_ids():
    """The same words in blocks, whose ids are new each time, are the same result."""
    seen = [[{"type": "text", "text": "nothing", "id": f"lc_{at}"}] for at in range(3)]

    assert "Search 3 times" in Repeats(times=3)([step(seen=each) for each in seen]).why


def test_none_never_ends_a_run():
    """Who polls on purpose can switch the policy off."""
    assert Repeats(times=None)([step()] * 50) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: Limits(iterations=-1),
        lambda: Limits(seconds=float("nan")),
        lambda: Repeats(times=1),
        lambda: Budget(observation=0),
        lambda: Budget(scratchpad=-1),
        lambda: Spending(max_cost=1.0),
    ],
)
def test_settings_that_make_no_sense_are_refused(make):
    """A policy that could not work cannot be made."""
    with pytest.raises(ValueError, match="max_"):
        make()


@given(st.text(max_size=400), st.integers(1, 60))
def test_an_observation_keeps_within_its_tokens_and_says_so(text, tokens):
    """What is kept is a beginning of the text within the budget; if not all of it, that is said."""
    shortened = Budget(observation=tokens).shortened(text)
    kept, announced, _ = shortened.partition(" [about ")

    assert approximate_tokens(kept) <= max(tokens, approximate_tokens(text) if not announced else 0)
    assert text.startswith(kept)
    assert bool(announced) is (shortened != text)


def test_only_texts_are_shortened():
    """Data keep their shape."""
    observation = ["x" * 1000]

    assert Budget(observation=1).shortened(observation) is observation


def test_steps_within_the_budget_are_left_alone():
    """Nothing is announced where nothing is left out."""
    steps = [step()] * 3

    assert Budget(scratchpad=1000).fitted(steps) is steps


def test_the_oldest_steps_go_first_and_the_model_is_told():
    """The latest steps stay, in order, after a sentence that says how many were left out."""
    steps = [step(given=str(number), seen="x" * 400) for number in range(10)]
    fitted = Budget(scratchpad=500).fitted(steps)

    assert fitted[1:] == steps[-len(fitted) + 1 :]
    assert fitted[0][1] == f"[{10 - len(fitted) + 1} earlier steps were left out to save room]"


def test_the_latest_step_stays_however_long_it_is():
    """What was just found is never left out; its own length is bounded by `observation`."""
    steps = [step(given="old", seen="x" * 4000), step(given="new", seen="y" * 4000)]

    assert Budget(scratchpad=10).fitted(steps)[1:] == steps[1:]


def test_shortening_is_rare_so_that_caches_stay_warm():
    """Half the budget is freed at once: over a long run the beginning changes few times."""
    budget, steps, beginnings = Budget(scratchpad=2000), [], set()
    for number in range(100):
        steps.append(step(given=str(number), seen="x" * 400))
        beginnings.add(budget.fitted(list(steps))[0][1])

    assert len(beginnings) <= 15


def test_calls_of_one_reply_are_left_out_together():
    """Steps that answer one message are kept or left out as a whole."""
    message = AIMessage("", tool_calls=[])
    together = [
        (
            AgentActionMessageLog(
                tool="A", tool_input=str(n), log="x" * 400, message_log=[message]
            ),
            "y",
        )
        for n in range(3)
    ]
    fitted = Budget(scratchpad=260).fitted([*together, step(), step()])

    assert not any(action.tool == "A" for action, _ in fitted)


def test_reported_tokens_are_counted():
    """What the model reports counts, as message metadata or as the provider's output."""
    spending = Spending()
    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    message = ChatGeneration(message=AIMessage("x", usage_metadata=usage))
    spending.on_llm_end(LLMResult(generations=[[message]]), run_id=1)
    reported = {"token_usage": {"prompt_tokens": 20, "completion_tokens": 5}}
    text = LLMResult(generations=[[Generation(text="x")]], llm_output=reported)
    spending.on_llm_end(text, run_id=2)

    assert spending.tokens == 35


def test_unreported_tokens_are_counted_from_the_texts():
    """A model that reports nothing still spends."""
    spending = Spending()
    spending.on_llm_start({}, ["x" * 40], run_id=1)
    spending.on_llm_end(LLMResult(generations=[[Generation(text="y" * 8)]]), run_id=1)

    assert spending.tokens == 12


def test_cost_ends_a_run():
    """At the cost limit a run stops, in the unit of the cost function."""
    spending = Spending(max_cost=1.0, cost=lambda read, written: read * 0.1 + written * 0.2)

    assert spending([]) is None
    spending.add(4, 3)
    assert spending([]).why == "Agent stopped: it cost 1 of 1."


def test_a_handle_cancels_what_runs_under_it():
    """Inside the handle the current run is the one it cancels; outside there is none."""
    cancel = Cancel()

    assert current_cancel() is None
    with cancel:
        assert current_cancel() is cancel
        assert cancel([]) is None
        thread = threading.Thread(target=cancel.cancel)
        thread.start()
        thread.join()
        assert cancel([]).last_word is False
    assert current_cancel() is None


def test_a_waker_is_called_at_the_cancelling_and_after_it():
    """Who waits is woken, also if the cancelling came first."""
    cancel, woken = Cancel(), []
    cancel.wake(lambda: woken.append("before"))
    cancel.cancel()
    cancel.wake(lambda: woken.append("after"))

    assert woken == ["before", "after"]


def test_threads_share_a_handle():
    """Two threads under one handle leave it in any order, and both are under it until then."""
    cancel, both, left = Cancel(), threading.Barrier(2), threading.Barrier(2)
    seen = []

    def work():
        with cancel:
            both.wait()
            seen.append(current_cancel() is cancel)
        left.wait()
        seen.append(current_cancel() is None)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(work) for _ in range(2)]:
            done.result()

    assert seen == [True] * 4


def test_tasks_share_a_handle():
    """Two tasks that enter one after the other and leave in the same order do not mind."""
    cancel = Cancel()

    async def work(pauses):
        with cancel:
            for _ in range(pauses):
                await asyncio.sleep(0)
            return current_cancel() is cancel

    async def main():
        return await asyncio.gather(work(2), work(3))

    assert asyncio.run(main()) == [True, True]


def test_handles_are_nested():
    """The innermost handle is the run's; a handle may be entered again within itself."""
    outer, inner = Cancel(), Cancel()
    with outer, outer, inner:
        assert current_cancel() is inner
    assert current_cancel() is None
