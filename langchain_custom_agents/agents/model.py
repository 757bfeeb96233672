"""Asking a model for words: stop sequences are sent where they are accepted."""

import re
import weakref
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableConfig

# Models that answered a call with stop sequences by an error that names them. Which models do so
# changes too often for a list of names: it is tried, and remembered for the model object.
_REFUSING: dict[int, "weakref.ref[Any]"] = {}

_NAMES_STOP = re.compile(
    r"(?<![\w-])stop(?:_sequences?|[ -]sequences?|[ -]words?)?(?![\w-])", re.IGNORECASE
)


def say(
    llm: Any, prompt: PromptValue, stop: Sequence[str], config: RunnableConfig, **kwargs: Any
) -> str:
    """Ask a model for words.

    Args:
        llm: A text model, a chat model, or a runnable around one.
        prompt: What to say to it.
        stop: Stop sequences. If the call fails naming them it is repeated once without them,
            and the model object is not sent any again.
        config: The callbacks of the call.
        **kwargs: More keyword arguments of the call.

    Returns:
        What the model said, as text.
    """
    if stop and not refuses_stop(llm):
        try:
            return text_of(llm.invoke(prompt, config, stop=list(stop), **kwargs))
        except Exception as error:
            if not _remember_refusal(llm, error):
                raise
    return text_of(llm.invoke(prompt, config, **kwargs))


async def asay(
    llm: Any, prompt: PromptValue, stop: Sequence[str], config: RunnableConfig, **kwargs: Any
) -> str:
    """Ask a model for words without blocking; see `say`."""
    if stop and not refuses_stop(llm):
        try:
            return text_of(await llm.ainvoke(prompt, config, stop=list(stop), **kwargs))
        except Exception as error:
            if not _remember_refusal(llm, error):
                raise
    return text_of(await llm.ainvoke(prompt, config, **kwargs))


def refuses_stop(llm: Any) -> bool:
    """Tell whether a model object has refused stop sequences before."""
    known = _REFUSING.get(id(llm))
    return known is not None and known() is llm


def _remember_refusal(llm: Any, error: Exception) -> bool:
    """Remember that a model refused stop sequences, if that is what the error says."""
    if not _NAMES_STOP.search(str(error)):
        return False
    key = id(llm)
    _REFUSING[key] = weakref.ref(llm, lambda _: _REFUSING.pop(key, None))
    return True


def text_of(reply: Any) -> str:
    """Return a reply as text: a string, or a message's text without reasoning blocks."""
    return str(reply.text) if isinstance(reply, BaseMessage) else str(reply)
