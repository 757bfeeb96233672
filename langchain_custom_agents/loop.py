"""The loop: a question goes round until it is answered. One generator, no input or output.

It asks for words (`Ask`), receives what was read in them, asks for calls (`Call`), receives
observations, and ends. A driver answers the requests: an executor, sync or async, a stepper, a
graph. What happens when something goes wrong is said by small policies.

Two levels are there to be driven: `turn` is one round, `run` the rounds and what ends them. A
driver may run a round by any means of its own: `run` only asks for it (`Turn`).
"""

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from langchain_core.agents import AgentAction, AgentFinish

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
    """Asks the driver to call tools and for one observation each, in order.

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
    """

    steps: list[Step]
    why: str


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


@dataclass(frozen=True)
class Reask:
    """The policy for misreadings: say what was wrong and ask again, a bounded number of times.

    Prose is corrected once. Said again, it is taken as the answer, and marked.

    Args:
        times: How often a model is corrected within one round.

    Raises:
        ValueError: If `times` is negative.

    Example:
        >>> Reask(times=2).after(Misread("?", "Say it again."), corrected=0)
        (AgentAction(tool='_Exception', tool_input='Say it again.', log='?'), 'Say it again.')
    """

    times: int = 3

    def __post_init__(self) -> None:
        if self.times < 0:
            msg = f"max_corrections must be 0 or more, not {self.times}."
            raise ValueError(msg)

    def after(self, misread: Misread, corrected: int) -> Step | AgentFinish:
        """Say what follows a misreading.

        Args:
            misread: What was misread.
            corrected: How often the model was corrected in this round.

        Returns:
            A correction for the transcript; or the finish, if the words are the answer or the
            model was corrected often enough.
        """
        if misread.prose is not None and (corrected > 0 or self.times == 0):
            return AgentFinish({"output": misread.prose, "unformatted": True}, misread.words)
        if corrected >= self.times:
            said = f"Agent stopped: the model's reply could not be read ({corrected} corrections)."
            return AgentFinish({"output": said, "stopped": True}, misread.words)
        action = AgentAction(CORRECTION, misread.correction, misread.words)
        return action, misread.correction


@dataclass(frozen=True)
class Limits:
    """The policy for ending: how many rounds and how much time a run may take.

    Args:
        iterations: The number of rounds; None for no limit.
        seconds: The wall-clock time in seconds; None for no limit.
        clock: The clock, in seconds.

    Example:
        >>> Limits(iterations=1).reached(rounds=1, seconds=0.0)
        'Agent stopped due to iteration limit or time limit.'
    """

    iterations: int | None = 15
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic

    def reached(self, rounds: int, seconds: float) -> str | None:
        """Return why a run may not go on after so many rounds and seconds; None if it may."""
        over = self.iterations is not None and rounds >= self.iterations
        late = self.seconds is not None and seconds >= self.seconds
        return "Agent stopped due to iteration limit or time limit." if over or late else None


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


def turn(steps: list[Step], reask: Reask) -> Generator[Ask | Call, Any, Outcome]:
    """Run one round: ask until the words can be read, then call what they name.

    Args:
        steps: The transcript so far. A correction becomes part of it at once; it is neither a
            step of the result nor a round.
        reask: What to do about words that cannot be read.

    Yields:
        `Ask`, to be answered with what was planned or a `Misread`; then `Call`, to be answered
        with one observation for each action.

    Returns:
        The new steps, or the finish.
    """
    corrected, correction = 0, None
    while True:
        planned = yield Ask(steps, correction)
        if not isinstance(planned, Misread):
            break
        follows = reask.after(planned, corrected)
        if isinstance(follows, AgentFinish):
            return follows
        steps.append(follows)
        corrected, correction = corrected + 1, follows
    if isinstance(planned, AgentFinish):
        return planned
    actions = [planned] if isinstance(planned, AgentAction) else list(planned)
    observations = yield Call(actions)
    return list(zip(actions, observations, strict=True))


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
        >>> rounds = Run(Limits(iterations=3)).rounds()
        >>> request = advance(rounds)
        >>> advance(rounds, AgentFinish({"output": "42"}, "")).outcome.return_values
        {'output': '42'}
    """

    limits: Limits = field(default_factory=Limits)
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
