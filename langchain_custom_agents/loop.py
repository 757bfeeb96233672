"""The loop: a question goes round until it is answered. One generator, no input or output.

It asks for words (`Ask`), receives what was read in them, asks for calls (`Call`), receives
observations, and ends. A driver answers the requests: an executor, sync or async, a stepper, a
graph. What happens when something goes wrong is said by small policies.

Two levels are there to be driven: `turn` is one round, `run` the rounds and what ends them. A
driver may run a round by any means of its own: `run` only asks for it (`Turn`).
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.agents import AgentAction, AgentFinish

if TYPE_CHECKING:
    from langchain_custom_agents.policies import Limits, Reask

Step: TypeAlias = tuple[AgentAction, Any]
Outcome: TypeAlias = AgentFinish | list[Step]

CORRECTION = "_Exception"
"""The tool name of a correction in the transcript: LangChain's own name for it."""


@dataclass(frozen=True)
class Ask:
    """Asks the driver for the model's next move.

    Args:
        steps: The transcript so far, corrections included.
        correction: The correction just made, if this asks again.
    """

    steps: Sequence[Step]
    correction: Step | None = None


@dataclass(frozen=True)
class Call:
    """Asks the driver to call tools and for one step each, in order.

    Args:
        actions: The calls.
    """

    actions: Sequence[AgentAction]


@dataclass(frozen=True)
class Turn:
    """Asks the driver for one round: new steps, or the finish.

    Args:
        steps: The transcript so far; the driver's round may add corrections to it.
    """

    steps: list[Step]


@dataclass(frozen=True)
class Stop:
    """Asks the driver for a finish, because the loop may not go on.

    Args:
        steps: The transcript so far.
        why: The reason, as a sentence.
        last_word: Whether the model may still be asked for its best answer.
    """

    steps: Sequence[Step]
    why: str
    last_word: bool = True


@dataclass(frozen=True)
class Done:
    """Tells a driver that a round or a run has ended.

    Args:
        outcome: What it returned.
    """

    outcome: Any


@dataclass(frozen=True)
class Misread:
    """Tells the loop that the model's words could not be read.

    Args:
        words: What the model said.
        correction: What to say to it.
        prose: The words themselves, if they have no form at all and may be the answer.
    """

    words: str
    correction: str
    prose: str | None = None


Planned: TypeAlias = AgentAction | Sequence[AgentAction] | AgentFinish | Misread


Guard: TypeAlias = Callable[[Sequence[Step]], "Step | Stop | None"]
"""A policy asked before each round: nothing, a hint for the transcript, or a stop."""


def advance(flow: Generator[Any, Any, Any], reply: Any = None) -> Any:
    """Answer the last request of a round or a run.

    Args:
        flow: The round or the run.
        reply: The answer; None to start it.

    Returns:
        The next request, or `Done`.
    """
    try:
        return flow.send(reply)
    except StopIteration as end:
        return Done(end.value)


def turn(
    steps: list[Step], reask: "Reask", guards: Sequence[Guard] = ()
) -> Generator[Ask | Call | Stop, Any, Outcome]:
    """Run one round: ask until the words can be read, then call what they name.

    Args:
        steps: The transcript so far. Corrections and hints become part of it at once; they are
            neither steps of the result nor rounds.
        reask: What to do about words that cannot be read.
        guards: The policies to ask first.

    Yields:
        `Ask`, to be answered with what was planned or a `Misread`; then `Call`, to be answered
        with one step for each action. If a guard stops the run: `Stop`, to be answered with the
        finish.

    Returns:
        The new steps, or the finish.
    """
    for guard in guards:
        found = guard(steps)
        if isinstance(found, Stop):
            stopped: AgentFinish = yield found
            return stopped
        if found is not None:
            steps.append(found)
    corrected, correction, prose = 0, None, False
    while True:
        planned = yield Ask(steps, correction)
        if not isinstance(planned, Misread):
            break
        follows = reask.after(planned, corrected, again=prose)
        prose = prose or planned.prose is not None
        if isinstance(follows, AgentFinish):
            return follows
        steps.append(follows)
        corrected, correction = corrected + 1, follows
    if isinstance(planned, AgentFinish):
        return planned
    actions = [planned] if isinstance(planned, AgentAction) else list(planned)
    taken: list[Step] = yield Call(actions)
    return taken


@dataclass
class Run:
    """Rounds until a finish or a limit. Drive it as a generator; look at its steps any time.

    Args:
        limits: What ends it early.
        finish_after: Says whether a step is itself the finish, as with a tool whose result is
            returned directly.
        steps: The transcript, growing.

    Example:
        >>> from langchain_core.agents import AgentFinish
        >>> from langchain_custom_agents.policies import Limits
        >>> rounds = Run(Limits(iterations=3)).rounds()
        >>> request = advance(rounds)
        >>> advance(rounds, AgentFinish({"output": "42"}, "")).outcome.return_values
        {'output': '42'}
    """

    limits: "Limits"
    finish_after: Callable[[Step], AgentFinish | None] = lambda _: None
    steps: list[Step] = field(default_factory=list)

    def rounds(self) -> Generator[Turn | Stop, Outcome, AgentFinish]:
        """Ask for rounds until one finishes.

        Yields:
            `Turn`, to be answered with new steps or the finish; at a limit `Stop`, to be
            answered with the finish.

        Returns:
            The finish.
        """
        began, count = self.limits.clock(), 0
        while True:
            why = self.limits.reached(count, self.limits.clock() - began)
            outcome = yield Turn(self.steps) if why is None else Stop(self.steps, why)
            if isinstance(outcome, AgentFinish):
                return outcome
            self.steps.extend(outcome)
            finish = self.finish_after(outcome[0]) if len(outcome) == 1 else None
            if finish is not None:
                return finish
            count += 1


def without_corrections(steps: Sequence[Step]) -> list[Step]:
    """Return the steps in which a tool was called: a correction is not a step."""
    return [step for step in steps if step[0].tool != CORRECTION]
