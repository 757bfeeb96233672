"""Asking a model for words: stop sequences are sent where they are accepted, and kept to anyway."""

import re
import weakref
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import Any

from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableConfig

from langchain_custom_agents.dialects import Dialect
from langchain_custom_agents.models._streamed import (
    Boundary,
    Watch,
    ends_thinking,
    said_in,
    watched,
)

_NAMES_STOP = re.compile(
    r"(?<![\w-])stop(?:[_ -]?sequences?|[_ -]?words?)?(?![\w-])", re.IGNORECASE
)
# What a server answers to a request that it does not take as it is.
_REFUSALS = frozenset((400, 404, 405, 422, 501))

_REPEATS = 2


class BrokenStreamError(ConnectionError):
    """A model's stream broke off before the end of the reply, more than once.

    Example:
        >>> issubclass(BrokenStreamError, ConnectionError)
        True
    """


@dataclass
class Habits:
    """What was learned about one model object by trying.

    Which models do so changes too often for a list of names.

    Args:
        refuses_stop: Whether a call with stop sequences failed naming them.
        ignores_stop: Whether it went on where it should have stopped.
        tells_ends: Whether its streams say why they end.
        thinks_first: Whether it ended a reasoning block that it had not opened: the chat template
            opens one in the prompt.
    """

    refuses_stop: bool = False
    ignores_stop: bool = False
    tells_ends: bool = False
    thinks_first: bool = False


_KNOWN: dict[int, tuple["weakref.ref[Any]", Habits]] = {}


def habits_of(llm: Any) -> Habits:
    """Return what was learned about a model object."""
    key = id(llm)
    known = _KNOWN.get(key)
    if known is None or known[0]() is not llm:
        known = (weakref.ref(llm, lambda _: _KNOWN.pop(key, None)), Habits())
        _KNOWN[key] = known
    return known[1]


def refuses_stop(llm: Any) -> bool:
    """Tell whether a model object has refused stop sequences before."""
    return habits_of(llm).refuses_stop


def say(
    llm: Any,
    prompt: PromptValue,
    stop: Sequence[str],
    config: RunnableConfig,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dialect: Dialect | None = None,
    streaming: bool | None = None,
) -> str:
    """Ask a model for words.

    Args:
        llm: A text model, a chat model, or a runnable around one.
        prompt: What to say to it.
        stop: Stop sequences. If the call fails naming them it is repeated once without them,
            and the model object is not sent any again.
        config: The callbacks of the call.
        kwargs: More keyword arguments of the call.
        dialect: The dialect the reply is read in: a stream is closed where an observation begins.
        streaming: Whether to stream the reply, if the model can. If not given, it is streamed
            where somebody listens to tokens, and where the model has not kept to a stop
            sequence before. If false, the model is called as LangChain calls it.

    Returns:
        What the model said, as text.

    Raises:
        BrokenStreamError: If the stream of a model that says why its streams end broke off
            without saying so, three times in a row.
    """
    asking = _Asking(llm, stop, config, kwargs or {}, dialect, streaming)
    while True:
        model, given = asking.next()
        try:
            reply = model.invoke(prompt, config, **given)
        except Exception as error:
            if not asking.goes_on_after(error):
                raise
            continue
        if asking.is_whole(reply):
            return said_in(reply)


async def asay(
    llm: Any,
    prompt: PromptValue,
    stop: Sequence[str],
    config: RunnableConfig,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dialect: Dialect | None = None,
    streaming: bool | None = None,
) -> str:
    """Ask a model for words without blocking; see `say`."""
    asking = _Asking(llm, stop, config, kwargs or {}, dialect, streaming)
    while True:
        model, given = asking.next()
        try:
            reply = await model.ainvoke(prompt, config, **given)
        except Exception as error:
            if not asking.goes_on_after(error):
                raise
            continue
        if asking.is_whole(reply):
            return said_in(reply)


def say_on(
    llm: Any,
    prompt: PromptValue,
    stop: Sequence[str],
    config: RunnableConfig,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dialect: Dialect | None = None,
) -> Iterator[str | None]:
    """Ask a model for words, and pass them on as they come; see `say`.

    Yields:
        The words, piece by piece; None where the model is asked again, so that what it said
        before is void.
    """
    asking = _Asking(llm, stop, config, kwargs or {}, dialect, streaming=True)
    while True:
        model, given = asking.next()
        said: list[str] = []
        try:
            with closing(model.stream(prompt, config, **given)) as chunks:
                for chunk in chunks:
                    said.append(said_in(chunk))
                    if said[-1]:
                        yield said[-1]
        except Exception as error:
            if not asking.goes_on_after(error):
                raise
        else:
            if asking.is_whole("".join(said)):
                return
        yield None


async def asay_on(
    llm: Any,
    prompt: PromptValue,
    stop: Sequence[str],
    config: RunnableConfig,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dialect: Dialect | None = None,
) -> AsyncIterator[str | None]:
    """Ask a model for words without blocking, and pass them on as they come; see `say_on`."""
    asking = _Asking(llm, stop, config, kwargs or {}, dialect, streaming=True)
    while True:
        model, given = asking.next()
        said: list[str] = []
        try:
            async with aclosing(model.astream(prompt, config, **given)) as chunks:
                async for chunk in chunks:
                    said.append(said_in(chunk))
                    if said[-1]:
                        yield said[-1]
        except Exception as error:
            if not asking.goes_on_after(error):
                raise
        else:
            if asking.is_whole("".join(said)):
                return
        yield None


def cut_at(words: str, stop: Sequence[str]) -> str:
    r"""Cut words at the first stop sequence, even one broken off at the end.

    Example:
        >>> cut_at("Action Input: x\nObserv", ["\nObservation:"])
        'Action Input: x'
    """
    ends = [at for sequence in stop if (at := words.find(sequence)) >= 0]
    if ends:
        return words[: min(ends)]
    for sequence in stop:
        for length in range(len(sequence) - 1, len(sequence) // 2, -1):
            if words.endswith(sequence[:length]):
                return words[:-length]
    return words


class UntilStop:
    r"""Passes a growing text on up to the first stop sequence, and holds back what may begin one.

    Args:
        stop: The stop sequences.

    Example:
        >>> until = UntilStop(["\nHuman:"])
        >>> [until.feed(piece) for piece in ("Hello\nHu", "ge!", "\nHuman: Hi")]
        ['Hello', '\nHuge!', '']
    """

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self._stop, self._held = tuple(stop), ""

    def feed(self, piece: str) -> str:
        """Take the next piece, and return what can be passed on."""
        if not self._stop:
            return piece
        words = self._held + piece
        ends = [at for stop in self._stop if (at := words.find(stop)) >= 0]
        begun = (n for stop in self._stop for n in range(1, len(stop)) if words.endswith(stop[:n]))
        at = min(ends) if ends else len(words) - max(begun, default=0)
        self._held = words[at:]
        return words[:at]


class _Asking:
    """One question to a model: what to call it with, and whether to call it again."""

    def __init__(
        self,
        llm: Any,
        stop: Sequence[str],
        config: RunnableConfig,
        kwargs: Mapping[str, Any],
        dialect: Dialect | None,
        streaming: bool | None,
    ) -> None:
        self._llm, self._stop, self._kwargs = llm, list(stop), dict(kwargs)
        self._callbacks, self._dialect, self._streaming = (
            config.get("callbacks"),
            dialect,
            streaming,
        )
        self._habits = habits_of(llm)
        self._sends_stop = bool(stop) and not self._habits.refuses_stop
        self._refused: Exception | None = None
        self._breaks = 0
        self._watch = self._new_watch()

    def next(self) -> tuple[Any, dict[str, Any]]:
        """Return the model to call, and the keyword arguments."""
        given = {**self._kwargs, "stop": self._stop} if self._sends_stop else self._kwargs
        if self._streaming is False:
            return self._llm, given
        runs_on = bool(self._stop) and (not self._sends_stop or self._habits.ignores_stop)
        self._watch = self._new_watch()
        forced = bool(self._streaming) or runs_on
        return watched(self._llm, self._watch, self._callbacks, forced, given), given

    def _new_watch(self) -> Watch:
        return Watch(self._stop, self._dialect, thinking=self._habits.thinks_first)

    def goes_on_after(self, error: Exception) -> bool:
        """Tell whether to ask again after an exception."""
        if self._refused is None and self._sends_stop and _names_stop(error):
            # It is remembered once the call without them has not failed as well.
            self._refused, self._sends_stop = error, False
            return True
        if self._watch.broke is not None:
            self._breaks += 1
            return self._breaks <= _REPEATS
        return self._broke_off()

    def is_whole(self, reply: Any) -> bool:
        """Tell whether a reply is to be taken; remember what it shows about the model.

        Raises:
            BrokenStreamError: If it broke off once too often.
        """
        habits, watch = self._habits, self._watch
        habits.refuses_stop = habits.refuses_stop or self._refused is not None
        if watch.ended:
            habits.tells_ends = True
        if self._broke_off():
            return False
        words = said_in(reply)
        habits.thinks_first = habits.thinks_first or ends_thinking(words)
        if self._sends_stop and not habits.ignores_stop:
            went_on = Boundary(self._stop, self._dialect).reached_by(words)
            habits.ignores_stop = watch.closed or went_on
        return True

    def _broke_off(self) -> bool:
        """Tell whether a stream ended without saying why, and may be asked for again."""
        watch = self._watch
        tells = watch.tells or self._habits.tells_ends
        if not watch.ran_out or watch.ended or not tells:
            return False
        self._breaks += 1
        if self._breaks > _REPEATS:
            msg = (
                f"The model's stream ended {self._breaks} times without a finish reason, so that "
                "its reply may not be whole. If its server never gives one, make the agent with "
                "streaming=False."
            )
            raise BrokenStreamError(msg)
        return True


def _names_stop(error: Exception) -> bool:
    """Tell whether an exception says that stop sequences are not taken."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status not in _REFUSALS:
        return False
    return bool(_NAMES_STOP.search(str(error)))
