"""What happens when something goes wrong, or on for too long: small policies on the loop."""

import threading
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, ClassVar

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, get_buffer_string
from langchain_core.outputs import LLMResult
from typing_extensions import Self

from langchain_custom_agents._counted import counted
from langchain_custom_agents.loop import CORRECTION, Misread, Step, Stop

CountTokens = Callable[[str], int]
"""Counts the tokens of a text."""


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

    def after(
        self, misread: Misread, corrected: int, *, again: bool | None = None
    ) -> Step | AgentFinish:
        """Say what follows a misreading.

        Args:
            misread: What was misread.
            corrected: How often the model was corrected in this round.
            again: Whether it has said prose before in this round; if not given, whether it was
                corrected.

        Returns:
            A correction for the transcript; or the finish, if the words are the answer or the
            model was corrected often enough.
        """
        again = corrected > 0 if again is None else again
        if misread.prose is not None and (again or corrected >= self.times):
            return AgentFinish({"output": misread.prose, "unformatted": True}, misread.words)
        if corrected >= self.times:
            times = counted(corrected, "correction")
            said = f"Agent stopped: the model's reply could not be read ({times})."
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

    Raises:
        ValueError: If a limit is negative.

    Example:
        >>> Limits(iterations=1).reached(rounds=1, seconds=0.0)
        'Agent stopped due to iteration limit or time limit.'
    """

    WHY: ClassVar[str] = "Agent stopped due to iteration limit or time limit."

    iterations: int | None = 15
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        for name, most in (
            ("max_iterations", self.iterations), ("max_execution_time", self.seconds)
        ):  # fmt: skip
            if most is not None and not most >= 0:
                msg = f"{name} must be 0 or more, or None for no limit, not {most}."
                raise ValueError(msg)

    def reached(self, rounds: int, seconds: float) -> str | None:
        """Return why a run may not go on after so many rounds and seconds; None if it may."""
        over = self.iterations is not None and rounds >= self.iterations
        late = self.seconds is not None and seconds >= self.seconds
        return self.WHY if over or late else None


@dataclass(frozen=True)
class Repeats:
    """The policy for going in circles: a hint before the last chance, then the end.

    Args:
        times: A run ends when the same call has given the same result so often; None for never.

    Raises:
        ValueError: If `times` is less than 2.

    Example:
        >>> step = (AgentAction("Search", "x", ""), "nothing")
        >>> Repeats(times=3)([step, step])[0].tool_input
        'Search was called like this before, with the same result. Do something else, or answer.'
    """

    # How far back a circle is looked for, so that a round costs the same late in a long run.
    WINDOW: ClassVar[int] = 50

    times: int | None = 3

    def __post_init__(self) -> None:
        if self.times is not None and self.times < 2:
            msg = f"max_repeats must be 2 or more, or None, not {self.times}."
            raise ValueError(msg)

    def __call__(self, steps: Sequence[Step]) -> Step | Stop | None:
        """Look at the last step: a hint, a stop, or nothing."""
        if self.times is None or not steps or steps[-1][0].tool == CORRECTION:
            return None
        last, result = steps[-1]
        count = sum(
            action.tool == last.tool
            and action.tool_input == last.tool_input
            and _compared(seen) == _compared(result)
            for action, seen in steps[-self.WINDOW :]
        )
        if count >= self.times:
            why = f"Agent stopped: it called {last.tool} {count} times with the same result."
            return Stop(steps, why)
        if count < 2:
            return None
        said = (
            f"{last.tool} was called like this before, with the same result. "
            "Do something else, or answer."
        )
        return AgentAction(CORRECTION, said, ""), said


def _compared(result: Any) -> Any:
    """Return a result as it is compared: content blocks have ids that are new each time."""
    if not isinstance(result, list):
        return result
    return [
        {name: value for name, value in block.items() if name != "id"}
        if isinstance(block, dict)
        else block
        for block in result
    ]


def approximate_tokens(text: str) -> int:
    """Return about how many tokens a text has: one for four bytes, in any script.

    Example:
        >>> approximate_tokens("How old is Hiroko?")
        5
    """
    return -(-len(text.encode("utf-8", "replace")) // 4)


@dataclass(frozen=True)
class Budget:
    """The policy for room: how much of what was found may stand in a prompt.

    Args:
        observation: The tokens that one observation may have; None for any number.
        scratchpad: The tokens that all steps may have; None for any number. When they have
            more, the oldest go until half the budget is free again, and the model is told so.
            Steps of one reply go together, and those of the latest stay, however long.
        count: Counts the tokens of a text.

    Raises:
        ValueError: If a number of tokens is less than 1.

    Example:
        >>> Budget(observation=2).shortened("one two three four")
        'one two [about 3 more tokens were left out]'
    """

    observation: int | None = None
    scratchpad: int | None = None
    count: CountTokens = approximate_tokens

    def __post_init__(self) -> None:
        for name in ("observation", "scratchpad"):
            tokens = getattr(self, name)
            if tokens is not None and tokens < 1:
                msg = f"max_{name}_tokens must be 1 or more, or None, not {tokens}."
                raise ValueError(msg)

    def shortened(self, observation: Any) -> Any:
        """Return an observation that has the room it may have; the cut is announced."""
        if self.observation is None or not isinstance(observation, str):
            return observation
        if len(observation) <= self.observation or self.count(observation) <= self.observation:
            return observation
        fits, over = 0, len(observation)
        while over - fits > 1:
            middle = (fits + over) // 2
            if self.count(observation[:middle]) <= self.observation:
                fits = middle
            else:
                over = middle
        kept = observation[:fits].rstrip()
        left = self.count(observation[fits:])
        return f"{kept} [about {left} more tokens were left out]"

    def fitted(self, steps: list[Step]) -> list[Step]:
        """Return the steps that have room; that some were left out is the first of them."""
        if self.scratchpad is None:
            return steps
        replies = _replies(steps)
        sizes = [sum(self._size(step) for step in reply) for reply in replies]
        start, used = 0, 0
        for index, size in enumerate(sizes):
            used += size
            if used > self.scratchpad:
                while start < index and used > self.scratchpad // 2:
                    used -= sizes[start]
                    start += 1
        if start == 0:
            return steps
        kept = [step for reply in replies[start:] for step in reply]
        said = f"[{len(steps) - len(kept)} earlier steps were left out to save room]"
        return [(AgentAction(CORRECTION, said, ""), said), *kept]

    def _size(self, step: Step) -> int:
        action, observation = step
        return self.count(action.log or str(action.tool_input)) + self.count(str(observation))


def _replies(steps: Sequence[Step]) -> list[list[Step]]:
    """Group steps that are calls of one message, which must stay together."""
    replies: list[list[Step]] = []
    message: Any = None
    for step in steps:
        log = getattr(step[0], "message_log", None)
        if log and log[0] is message:
            replies[-1].append(step)
        else:
            replies.append([step])
        message = log[0] if log else None
    return replies


@dataclass
class Spending(BaseCallbackHandler):
    """The policy for cost: what a run's model calls use, as its handler hears it.

    Args:
        max_tokens: The tokens that a run may use; None for any number.
        max_cost: The cost that a run may have, in the unit of `cost`; None for any.
        cost: The cost of a call with so many input and output tokens.
        count: Counts the tokens of a text, where the model reports none.

    Example:
        >>> spending = Spending(max_tokens=100)
        >>> spending.add(90, 20)
        >>> spending([]).why
        'Agent stopped: it used 110 of 100 tokens.'
    """

    max_tokens: int | None = None
    max_cost: float | None = None
    cost: Callable[[int, int], float] | None = None
    count: CountTokens = approximate_tokens
    tokens: int = 0
    spent: float = 0.0
    _asked: dict[Any, int] = field(default_factory=dict)

    def __hash__(self) -> int:
        return id(self)

    def __post_init__(self) -> None:
        for name in ("max_tokens", "max_cost"):
            most = getattr(self, name)
            if most is not None and most <= 0:
                msg = f"{name} must be more than 0, or None, not {most}."
                raise ValueError(msg)
        if self.max_cost is not None and self.cost is None:
            msg = "max_cost needs `cost`: a function of input and output tokens."
            raise ValueError(msg)

    def add(self, read: int, written: int) -> None:
        """Count a call that read and wrote so many tokens."""
        self.tokens += read + written
        if self.cost is not None:
            self.spent += self.cost(read, written)

    def __call__(self, steps: Sequence[Step]) -> Stop | None:
        """Stop a run that has used more than it may."""
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
            return Stop(steps, f"Agent stopped: it used {self.tokens} of {self.max_tokens} tokens.")
        if self.max_cost is not None and self.spent >= self.max_cost:
            return Stop(steps, f"Agent stopped: it cost {self.spent:g} of {self.max_cost:g}.")
        return None

    def on_llm_start(
        self, serialized: dict[str, Any], prompts: list[str], *, run_id: Any, **kwargs: Any
    ) -> None:
        """Count the prompt, in case the model reports nothing."""
        del serialized, kwargs
        self._asked[run_id] = sum(self.count(prompt) for prompt in prompts)

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: Any,
        **kwargs: Any,
    ) -> None:
        """Count the messages, in case the model reports nothing."""
        del serialized, kwargs
        self._asked[run_id] = sum(self.count(get_buffer_string(batch)) for batch in messages)

    def on_llm_end(self, response: LLMResult, *, run_id: Any, **kwargs: Any) -> None:
        """Count what the model reports, or the texts."""
        del kwargs
        asked, written = self._asked.pop(run_id, 0), 0
        for generations in response.generations:
            for generation in generations[:1]:
                usage = getattr(getattr(generation, "message", None), "usage_metadata", None)
                if usage:
                    self.add(usage["input_tokens"], usage["output_tokens"])
                    return
                written += self.count(generation.text)
        reported = (response.llm_output or {}).get("token_usage") or {}
        self.add(reported.get("prompt_tokens", asked), reported.get("completion_tokens", written))

    def on_llm_error(self, error: BaseException, *, run_id: Any, **kwargs: Any) -> None:
        """Forget a call that failed."""
        del error, kwargs
        self._asked.pop(run_id, None)


# The handles that a context is under, the innermost last: what one context enters or leaves is
# nothing to the others, so threads and tasks may share a handle.
_CANCELS: ContextVar[tuple["Cancel", ...]] = ContextVar(
    "langchain_custom_agents_cancel", default=()
)


class Cancel:
    """A handle that ends runs from anywhere, another thread included.

    Several runs, in threads or tasks of their own, may be under one handle.

    A tool that is running is not waited for. A thread cannot be killed: the tool's thread goes on
    by itself, and its result is dropped. A model call that is running is waited for.

    Example:
        >>> cancel = Cancel()
        >>> with cancel:  # what runs in here can be cancelled
        ...     cancel.cancel()
        >>> cancel([]).why
        'Agent stopped: it was cancelled.'
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._wakers: set[Callable[[], None]] = set()
        self._lock = threading.Lock()

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._event.is_set()

    def cancel(self) -> None:
        """End the runs under this handle."""
        with self._lock:
            self._event.set()
            wakers = list(self._wakers)
        for wake in wakers:
            wake()

    def wake(self, waker: Callable[[], None]) -> None:
        """Have a function called at the cancelling; at once if that is past."""
        with self._lock:
            self._wakers.add(waker)
        if self.cancelled:
            waker()

    def forget(self, waker: Callable[[], None]) -> None:
        """Have a function called no more."""
        with self._lock:
            self._wakers.discard(waker)

    def __call__(self, steps: Sequence[Step]) -> Stop | None:
        """Stop a run that was cancelled; the model is not asked any more."""
        why = "Agent stopped: it was cancelled."
        return Stop(steps, why, last_word=False) if self.cancelled else None

    def __enter__(self) -> Self:
        _CANCELS.set((*_CANCELS.get(), self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _CANCELS.set(_CANCELS.get()[:-1])


def current_cancel() -> Cancel | None:
    """Return the handle that the current run is under; of several, the innermost."""
    handles = _CANCELS.get()
    return handles[-1] if handles else None
