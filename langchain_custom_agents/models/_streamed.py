"""A model whose stream is closed where an observation begins, and that notices how streams end.

Everything else stays the model's own: what calls it, its callbacks, cache and rate limiter run as
LangChain wrote them, and only what they draw chunks from is put in between.
"""

import copy
import functools
import gc
import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from types import AsyncGeneratorType, GeneratorType
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.llms import BaseLLM
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import (
    ChatGenerationChunk,
    Generation,
    GenerationChunk,
    LLMResult,
)
from langchain_core.runnables import RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.tracers._streaming import _StreamingCallbackHandler, _V2StreamingCallbackHandler

from langchain_custom_agents.dialects import Dialect
from langchain_custom_agents.dialects.form import CLOSING, OPENING

# How providers say why a reply ended: OpenAI, Anthropic, Bedrock, Ollama, the Responses API.
ENDINGS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")

_REASONING = re.compile(rf"(?P<open>{OPENING})|{CLOSING}", re.IGNORECASE)

# Longer than any label with the mark-up around it.
_LABEL = 300

# What clients raise when a connection breaks, by name: none of them is a dependency.
_BREAKS = frozenset(
    ("TransportError", "APIConnectionError", "ConnectionError", "ProtocolError", "ClientError")
)


class Boundary:
    r"""Tells, while a text grows, when the model has begun what it must not write.

    Args:
        stop: The stop sequences.
        dialect: The dialect the text is read in, if it is one of ours.
        thinking: Whether the text begins within a reasoning block, which the prompt has opened.

    Example:
        >>> from langchain_custom_agents.dialects import ENGLISH
        >>> boundary = Boundary(ENGLISH.stop, ENGLISH)
        >>> [boundary.reached_by(piece) for piece in ("Action: x\n", "Obser", "vation", ":")]
        [False, False, False, True]
    """

    def __init__(
        self, stop: Sequence[str], dialect: Dialect | None = None, *, thinking: bool = False
    ) -> None:
        own = () if dialect is None else dialect.stop
        self._dialect, self._thinking = dialect, thinking
        self._stop = [sequence for sequence in stop if sequence and sequence not in own]
        self._label = "" if dialect is None else dialect.observation
        self._reach = max(map(len, [*self._stop, self._label])) - 1
        self._pieces: list[str] = []
        self._tail = ""
        self._line = ""

    def reached_by(self, piece: str) -> bool:
        """Take the next piece of the text, and tell whether it reaches the boundary."""
        self._pieces.append(piece)
        recent = self._tail + piece
        self._tail = recent[-self._reach :] if self._reach > 0 else ""
        if any(sequence in recent for sequence in self._stop):
            return True
        # Only the beginning of a line, or the label as it is written, can be where it begins, so
        # that a long text is not read again and again; what looks like it is then put to the
        # dialect with all that came before it.
        *ended, last = (self._line + piece).split("\n")
        looks = any(self._may_begin(line + "\n") for line in ended)
        looks = looks or (len(self._line) < _LABEL and self._may_begin(last))
        looks = looks or (bool(self._label) and self._label in recent)
        self._line = last[: _LABEL + 1]
        return looks and self._begins("".join(self._pieces))

    def _may_begin(self, line: str) -> bool:
        # A label that might still go on is none yet: "Observ" may become "Observing".
        return self._dialect is not None and bool(self._dialect.cut(f"\n{line[:_LABEL]}\0")[1])

    def _begins(self, text: str) -> bool:
        if self._dialect is None or not self._dialect.cut(f"{text}\0")[1]:
            return False
        # What a model writes in its reasoning is not its reply, which is still to come.
        if self._thinking and not ends_thinking(text):
            return False
        depth = 0
        for found in _REASONING.finditer(text):
            depth = depth + 1 if found["open"] else max(0, depth - 1)
        return depth == 0


def ends_thinking(text: str) -> bool:
    """Tell whether a text ends a reasoning block that it has not opened.

    Example:
        >>> ends_thinking("I look</think>"), ends_thinking("<think>I look</think>")
        (True, False)
    """
    first = _REASONING.search(text)
    return first is not None and not first["open"]


class Watch:
    """What is noticed about one call of a model.

    Args:
        stop: The stop sequences.
        dialect: The dialect the reply is read in, if it is one of ours.
        thinking: Whether the reply begins within a reasoning block.

    Attributes:
        closed: Whether the stream was closed because an observation began.
        ran_out: Whether the stream came to an end of its own.
        ended: Whether the model said why its reply ended.
        tells: Whether its protocol has a place for saying so.
        broke: What broke the stream after its beginning, if something was raised.
    """

    def __init__(
        self, stop: Sequence[str], dialect: Dialect | None, *, thinking: bool = False
    ) -> None:
        self._stop, self._dialect, self._thinking = stop, dialect, thinking
        self.closed = self.ran_out = self.ended = self.tells = False
        self.broke: Exception | None = None

    def over(self, chunks: Iterator[Any]) -> Iterator[Any]:
        """Pass chunks on until an observation begins; then close where they come from."""
        boundary = Boundary(self._stop, self._dialect, thinking=self._thinking)
        try:
            for chunk in chunks:
                yield chunk
                if self._hears(chunk, boundary):
                    if not self.ended:
                        yield _stopped(chunk)
                    return
            self.ran_out = True
        except Exception as error:
            self._breaks(error)
            raise
        finally:
            for source in _sources(chunks):
                source.close()

    async def aover(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass chunks on until an observation begins; see `over`."""
        boundary = Boundary(self._stop, self._dialect, thinking=self._thinking)
        try:
            async for chunk in chunks:
                yield chunk
                if self._hears(chunk, boundary):
                    if not self.ended:
                        yield _stopped(chunk)
                    return
            self.ran_out = True
        except Exception as error:
            self._breaks(error)
            raise
        finally:
            for source in _sources(chunks):
                closing = (getattr(source, "aclose", None) or source.close)()
                if inspect.isawaitable(closing):
                    await closing

    def _hears(self, chunk: Any, boundary: Boundary) -> bool:
        said, info = _words_and_info(chunk)
        self.ended = self.ended or any(info.get(key) for key in ENDINGS)
        self.tells = (
            self.tells
            or info.get("model_provider") == "openai"
            or any(key in info for key in ENDINGS)
        )
        self.closed = boundary.reached_by(said)
        return self.closed

    def _breaks(self, error: Exception) -> None:
        if any(kind.__name__ in _BREAKS for kind in type(error).__mro__):
            self.broke = error


def _sources(chunks: Any) -> list[Any]:
    """Return what has to be closed to close a stream.

    Closing a generator closes what it draws from only if it was written with that in mind.
    OpenAI's text model leaves its connection to the garbage collector, and until then the server
    goes on writing. So the client's own stream is looked for under the generators.
    """
    streams: list[Any] = []
    seen: set[int] = set()
    left = [chunks]
    while left:
        source = left.pop()
        if id(source) in seen:
            continue
        seen.add(id(source))
        if isinstance(source, GeneratorType | AsyncGeneratorType):
            left += gc.get_referents(source)
        elif hasattr(source, "response") and hasattr(source, "close"):
            streams.append(source)
    return [*streams, chunks] if hasattr(chunks, "close") or hasattr(chunks, "aclose") else streams


def _words_and_info(chunk: Any) -> tuple[str, Mapping[str, Any]]:
    info = dict(chunk.generation_info or {})
    if isinstance(chunk, ChatGenerationChunk):
        return str(chunk.message.text), {**chunk.message.response_metadata, **info}
    return chunk.text, info


def _stopped(chunk: Any) -> Any:
    """Make the chunk that ends a closed stream, as a server that honours `stop` ends it."""
    info = {"finish_reason": "stop"}
    if not isinstance(chunk, ChatGenerationChunk):
        return GenerationChunk(text="", generation_info=info)
    nothing: Any = "" if isinstance(chunk.message.content, str) else []
    last = AIMessageChunk(content=nothing, id=chunk.message.id, chunk_position="last")
    return ChatGenerationChunk(message=last, generation_info=info)


def watched(llm: Any, watch: Watch, callbacks: Any, forced: bool, kwargs: Mapping[str, Any]) -> Any:
    """Return the model with a watch over its streams; the model itself where nothing is streamed.

    Args:
        llm: A model, as it is or wrapped by `bind`, `with_retry` or `with_fallbacks`.
        watch: The watch.
        callbacks: The callbacks of the call: who listens to tokens makes the model stream.
        forced: Whether to stream even if nobody listens.
        kwargs: The keyword arguments of the call.
    """
    if isinstance(llm, RunnableBindingBase):
        inner = watched(llm.bound, watch, callbacks, forced, {**llm.kwargs, **kwargs})
        return llm if inner is llm.bound else llm.model_copy(update={"bound": inner})
    if isinstance(llm, RunnableWithFallbacks):
        models = [watched(each, watch, callbacks, forced, kwargs) for each in llm.runnables]
        return llm.model_copy(update={"runnable": models[0], "fallbacks": models[1:]})
    if not isinstance(llm, BaseChatModel | BaseLLM) or not _streams(llm):
        return llm
    if not (forced or kwargs.get("stream") or _is_listened_to(llm, callbacks)):
        return llm
    return _chat_twin(llm, watch, forced) if isinstance(llm, BaseChatModel) else _twin(llm, watch)


def _streams(llm: Any) -> bool:
    base = BaseChatModel if isinstance(llm, BaseChatModel) else BaseLLM
    kind = type(llm)
    if kind._stream is base._stream and kind._astream is base._astream:
        return False
    return all((getattr(llm, several, 1) or 1) == 1 for several in ("n", "best_of"))


def _is_listened_to(llm: Any, callbacks: Any) -> bool:
    if getattr(llm, "streaming", None) is True:
        return True
    heard = [callbacks, llm.callbacks]
    handlers = [h for each in heard for h in (getattr(each, "handlers", each) or ())]
    return any(
        taps_streams(handler) or getattr(handler, "listens_to_tokens", False)
        for handler in handlers
    )


def taps_streams(handler: Any) -> bool:
    """Tell whether a handler makes a model stream, to pass on what it says."""
    return _kind_taps(handler.__class__)


# A check against a protocol looks at every member: too slow for every handler of every call.
@functools.lru_cache(maxsize=256)
def _kind_taps(kind: type) -> bool:
    return issubclass(kind, (_StreamingCallbackHandler, _V2StreamingCallbackHandler))


# A twin shares all that its model has. It runs LangChain's part of a call; the model's own part
# runs on the model itself, so that what it counts and remembers is not lost with the twin.


def _chat_twin(llm: BaseChatModel, watch: Watch, forced: bool) -> Any:
    def should_stream(**asked: Any) -> bool:
        return llm._should_stream(**{**asked, "stream": True})

    own: dict[str, Callable[..., Any]] = {
        "_generate": llm._generate,
        "_agenerate": llm._agenerate,
        "_stream": lambda *args, **kwargs: watch.over(llm._stream(*args, **kwargs)),
        "_astream": lambda *args, **kwargs: watch.aover(llm._astream(*args, **kwargs)),
    }
    return twin_of(llm, own | ({"_should_stream": should_stream} if forced else {}))


def _twin(llm: BaseLLM, watch: Watch) -> Any:
    def generate(
        prompts: list[str], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> LLMResult:
        (prompt,) = prompts
        said: GenerationChunk | None = None
        chunks = llm._stream(prompt, stop=stop, run_manager=run_manager, **kwargs)
        for chunk in watch.over(chunks):
            said = chunk if said is None else said + chunk
        return _result(said)

    async def agenerate(
        prompts: list[str], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> LLMResult:
        (prompt,) = prompts
        said: GenerationChunk | None = None
        chunks = llm._astream(prompt, stop=stop, run_manager=run_manager, **kwargs)
        async for chunk in watch.aover(chunks):
            said = chunk if said is None else said + chunk
        return _result(said)

    # Without a stream of its own kind a text model cannot be streamed in this way.
    sync = type(llm)._stream is not BaseLLM._stream
    own: dict[str, Callable[..., Any]] = {
        "_generate": generate if sync else llm._generate,
        "_agenerate": agenerate,
        "_stream": lambda *args, **kwargs: watch.over(llm._stream(*args, **kwargs)),
        "_astream": lambda *args, **kwargs: watch.aover(llm._astream(*args, **kwargs)),
    }
    return twin_of(llm, own)


def _result(said: GenerationChunk | None) -> LLMResult:
    # A model that says nothing may stream nothing: that is an empty reply, as without a stream.
    said = said or GenerationChunk(text="")
    whole = Generation(text=said.text, generation_info=said.generation_info)
    return LLMResult(generations=[[whole]])


def twin_of(llm: Any, methods: Mapping[str, Any]) -> Any:
    """Return a model that shares all with another, but for some methods."""
    twin = copy.copy(llm)
    # Pydantic lets only fields be set; these stand before the methods of the class.
    twin.__dict__.update(methods)
    return twin


def said_in(reply: Any) -> str:
    """Return a reply as text: a string, or a message's text without reasoning blocks."""
    return str(reply.text) if isinstance(reply, BaseMessage) else str(reply)
