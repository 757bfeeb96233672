"""Models that say what a script tells them: for tests, lessons and replays."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.llms import LLM
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult, GenerationChunk
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from langchain_custom_agents._counted import counted
from langchain_custom_agents.agents.fields import KnownFields

Script: TypeAlias = Sequence[Any] | Callable[[Any], Any]

_PIECE = re.compile(r"\s*\S{1,6}|\s+")


class _Stage:
    """Where a script stands: one for a model and all its bound forms, safe under threads."""

    def __init__(self, script: Script) -> None:
        if isinstance(script, str) or not (callable(script) or isinstance(script, Sequence)):
            # Of a text each letter would be a reply.
            named = "a text" if isinstance(script, str) else type(script).__name__
            msg = f"`responses` is {named}; give a list of replies, or a function."
            raise TypeError(msg)
        self.script = script
        self.heard: list[Any] = []
        self.lock = threading.Lock()

    def next(self, heard: Any) -> Any:
        with self.lock:
            self.heard.append(heard)
            turn = len(self.heard)
        if callable(self.script):
            reply = self.script(heard)
        elif turn <= len(self.script):
            reply = self.script[turn - 1]
        else:
            replies = counted(len(self.script), "reply", "replies")
            msg = f"The script holds {replies}; this was call {turn}."
            raise IndexError(msg)
        if isinstance(reply, BaseException):
            raise reply
        return reply


def _stopped(text: str, stop: Sequence[str] | None) -> str:
    for sequence in stop or ():
        text = text.split(sequence, maxsplit=1)[0]
    return text


def _refuse_stop(stop: Sequence[str] | None) -> None:
    if stop:
        msg = "Error code: 400 - Unsupported parameter: 'stop' is not supported with this model."
        raise ValueError(msg)


class ScriptedLLM(KnownFields, LLM):
    r"""A text model that says what a script tells it. It is not a language model.

    Args:
        responses: The replies in order (an exception among them is raised), or a function of
            the prompt.
        honors_stop: Whether stop sequences are honoured. By default they are ignored, as some
            real models do: an agent must not depend on them.
        refuses_stop: Whether a call with stop sequences fails, as with some hosted models.

    Raises:
        TypeError: If the script is something else, or an argument is not known.
        IndexError: At a call for which the script holds no reply.

    Example:
        >>> llm = ScriptedLLM(["Hello.\nObservation: none"])
        >>> llm.invoke("Hi", stop=["\nObservation:"])
        'Hello.\nObservation: none'
        >>> llm.prompts
        ['Hi']
    """

    responses: Any
    honors_stop: bool = False
    refuses_stop: bool = False
    _stage: _Stage = PrivateAttr()
    _stops: list[list[str] | None] = PrivateAttr(default_factory=list)

    def __init__(self, responses: Script, **kwargs: Any) -> None:
        super().__init__(responses=responses, **kwargs)
        self._stage = _Stage(responses)

    @property
    def prompts(self) -> list[str]:
        """The prompts heard so far."""
        return list(self._stage.heard)

    @property
    def stops(self) -> list[list[str] | None]:
        """The stop sequences sent with each prompt."""
        return list(self._stops)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _call(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> str:
        self._stops.append(stop)
        if self.refuses_stop:
            _refuse_stop(stop)
        reply = str(self._stage.next(prompt))
        return _stopped(reply, stop) if self.honors_stop else reply

    def _stream(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[GenerationChunk]:
        for piece in _PIECE.findall(self._call(prompt, stop, run_manager, **kwargs)):
            chunk = GenerationChunk(text=piece)
            if run_manager:
                run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk


class ScriptedChatModel(KnownFields, BaseChatModel):
    r"""A chat model that says what a script tells it. It is not a language model.

    Args:
        responses: The replies in order, each a text, a message or an exception to raise; or a
            function of the messages.
        honors_stop: Whether stop sequences are honoured.
        refuses_stop: Whether a call with stop sequences fails, as with some hosted models.

    Raises:
        TypeError: If the script is something else, or an argument is not known.
        IndexError: At a call for which the script holds no reply.

    Example:
        >>> model = ScriptedChatModel([AIMessage("Hello!")])
        >>> model.invoke("Hi").content
        'Hello!'
    """

    responses: Any
    honors_stop: bool = False
    refuses_stop: bool = False
    _stage: _Stage = PrivateAttr()
    _kwargs: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    def __init__(self, responses: Script, **kwargs: Any) -> None:
        super().__init__(responses=responses, **kwargs)
        self._stage = _Stage(responses)

    @property
    def prompts(self) -> list[list[BaseMessage]]:
        """The messages heard at each call."""
        return list(self._stage.heard)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The keyword arguments of each call: `stop`, `tools`, `functions`, ..."""
        return list(self._kwargs)

    @property
    def _llm_type(self) -> str:
        return "scripted-chat"

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools as OpenAI's chat completions take them."""
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _reply(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]
    ) -> AIMessage:
        self._kwargs.append({**kwargs, "stop": stop})
        if self.refuses_stop:
            _refuse_stop(stop)
        reply = self._stage.next(messages)
        message = reply if isinstance(reply, AIMessage) else AIMessage(str(reply))
        if self.honors_stop and isinstance(message.content, str):
            message = message.model_copy(update={"content": _stopped(message.content, stop)})
        return message

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages, stop, kwargs))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        message = self._reply(messages, stop, kwargs)
        whole = AIMessageChunk(**message.model_dump(exclude={"type"}))
        pieces = _PIECE.findall(message.content) if isinstance(message.content, str) else []
        for piece in pieces or [""]:
            # Tool calls and metadata come once, with the last piece of text.
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=piece, id=message.id))
            if run_manager:
                run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk
        empty: Any = [] if isinstance(whole.content, list) else ""
        rest = whole if not pieces else whole.model_copy(update={"content": empty})
        yield ChatGenerationChunk(message=rest)
