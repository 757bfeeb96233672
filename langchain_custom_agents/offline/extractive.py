"""Models that play an agent by rule: stand-ins for trying and testing, not language models."""

import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import (
    BaseChatModel,
    BaseLanguageModel,
    LangSmithParams,
    LanguageModelInput,
)
from langchain_core.language_models.llms import LLM
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
    Generation,
    GenerationChunk,
    LLMResult,
)
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict

from langchain_custom_agents.agents.fields import KnownFields
from langchain_custom_agents.dialects import Action, Dialect, ToolSpec
from langchain_custom_agents.offline._brain import WHAT_IT_IS, from_text, next_step, text_argument
from langchain_custom_agents.offline._hearing import Heard, hear, hear_calls, hear_messages

__all__ = ("ExtractiveChatModel", "ExtractiveLLM")

_MODEL = "extractive"
_ABOUT = {"model_name": _MODEL, "model_provider": "langchain_custom_agents", "note": WHAT_IT_IS}
Chunk = TypeVar("Chunk", GenerationChunk, ChatGenerationChunk)

_PIECE = re.compile(r"\s*\S+|\s+")


class _StandIn(KnownFields, BaseLanguageModel[Any]):
    """What the two stand-ins share: a dialect, and that they say what they are."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    dialect: Dialect | None = None

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {**_ABOUT, "dialect": repr(self.dialect) if self.dialect else None}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        params = super()._get_ls_params(stop=stop, **kwargs)
        return {**params, "ls_provider": "langchain_custom_agents", "ls_model_name": _MODEL}

    def __repr__(self) -> str:
        own = f"dialect={self.dialect!r}, " if self.dialect else ""
        return f"{type(self).__name__}({own}{WHAT_IT_IS})"

    __str__ = __repr__


class ExtractiveLLM(_StandIn, LLM):
    r"""A text model that plays an agent by rule: an extractive stand-in, not a language model.

    It looks in the prompt for the question, the tools and the steps so far, searches, follows
    "X's Y's Z" hop by hop, and answers with the sentence that fits best, word for word as it was
    read. What no sentence holds it does not guess: it says that the documents do not say. The same
    prompt gives the same words, always; nothing is downloaded and nothing is sent anywhere. For
    real work give your agent a real model.

    A prompt in no agent's form is a text with a question at its end: it answers from the text.

    Args:
        dialect: The written form to answer in. Without it, it is recognised from the
            instructions in the prompt.

    Raises:
        TypeError: If an argument is not known.
        ValueError: If `dialect` is not a `Dialect`.

    Example:
        >>> llm = ExtractiveLLM()
        >>> print(llm.invoke("takuma is a teacher\n\nQuestion: What is takuma's occupation?"))
        Takuma is a teacher.
        >>> llm
        ExtractiveLLM(an extractive stand-in for trying and testing, not a language model)
    """

    @property
    def _llm_type(self) -> str:
        return "extractive-stand-in"

    def _call(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> str:
        return _stopped(_reply(hear(prompt, self.dialect)), stop)

    # The work is short and without waiting: it needs no thread beside the event loop.

    async def _acall(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> str:
        return self._call(prompt, stop, **kwargs)

    def _generate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> LLMResult:
        said = [self._call(prompt, stop, **kwargs) for prompt in prompts]
        return LLMResult(
            generations=[[Generation(text=text, generation_info=dict(_ABOUT))] for text in said],
            llm_output=dict(_ABOUT),
        )

    async def _agenerate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> LLMResult:
        return self._generate(prompts, stop, **kwargs)

    def _chunks(self, prompt: str, stop: list[str] | None) -> Iterator[GenerationChunk]:
        pieces = _PIECE.findall(self._call(prompt, stop)) or [""]
        for number, piece in enumerate(pieces, 1):
            last = number == len(pieces)
            yield GenerationChunk(text=piece, generation_info=dict(_ABOUT) if last else None)

    def _stream(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> Iterator[GenerationChunk]:
        return _heard_of(self._chunks(prompt, stop), run_manager)

    async def _astream(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> AsyncIterator[GenerationChunk]:
        async for chunk in _aheard_of(self._chunks(prompt, stop), run_manager):
            yield chunk


class ExtractiveChatModel(_StandIn, BaseChatModel):
    """A chat model that plays an agent by rule: an extractive stand-in, not a language model.

    With tools bound (`bind_tools`, or the `functions` argument of older agents) it answers with
    tool calls and reads their results; without, it writes its steps in a text dialect. How it
    finds an answer, and what it cannot do, is said at `ExtractiveLLM`.

    Args:
        dialect: The written form to answer in when no tools are bound. Without it, it is
            recognised from the instructions in the messages.

    Raises:
        TypeError: If an argument is not known.
        ValueError: If `dialect` is not a `Dialect`; from `bind_tools`, if a tool is forced by
            `tool_choice`: a stand-in cannot fill just any tool's arguments.

    Example:
        >>> model = ExtractiveChatModel()
        >>> search = {"name": "Search", "parameters": {"properties": {"query": {"type": "string"}}}}
        >>> call = model.bind_tools([search]).invoke("Who is hiroko's father?").tool_calls[0]
        >>> call["name"], call["args"]
        ('Search', {'query': "hiroko's father"})
    """

    @property
    def _llm_type(self) -> str:
        return "extractive-stand-in-chat"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools that the model may call.

        Args:
            tools: LangChain tools, functions, pydantic classes or schemas.
            tool_choice: None or "auto"; "none" to answer without a tool.
            **kwargs: Bound as they are.

        Returns:
            The model with the tools.

        Raises:
            ValueError: If `tool_choice` would force a tool.
        """
        if tool_choice not in (None, "auto", "none", False):
            msg = (
                f"tool_choice={tool_choice!r} would force a tool, and this model is {WHAT_IT_IS}: "
                "it chooses by rule. Leave tool_choice out, or use a real model."
            )
            raise ValueError(msg)
        if tool_choice == "none":
            kwargs["tool_choice"] = tool_choice
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _message(
        self, messages: Sequence[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]
    ) -> AIMessage:
        offered = kwargs.get("tools") or kwargs.get("functions")
        if not offered:
            text = _stopped(_reply(hear_messages(messages, self.dialect)), stop)
            return AIMessage(text, response_metadata=dict(_ABOUT))
        specs = {spec.name: spec for spec in map(ToolSpec.of, offered)}
        question, steps = hear_calls(messages)
        refused = "none" in (kwargs.get("tool_choice"), kwargs.get("function_call"))
        heard = Heard(question)
        thought, move = next_step(
            question, specs.values(), steps, language=heard.language, may_act=not refused
        )
        if not isinstance(move, Action):
            return AIMessage(_stopped(move.text, stop), response_metadata=dict(_ABOUT))
        args = move.input
        if isinstance(args, str):
            args = {text_argument(specs[move.tool]) or "__arg1": args}
        if kwargs.get("functions"):
            call = {"name": move.tool, "arguments": json.dumps(args, ensure_ascii=False)}
            return AIMessage(
                "", additional_kwargs={"function_call": call}, response_metadata=dict(_ABOUT)
            )
        said = json.dumps([len(messages), question, move.tool, args], ensure_ascii=False)
        name = f"call_{blake2b(said.encode(), digest_size=12).hexdigest()}"
        return AIMessage(
            _stopped(thought, stop),
            tool_calls=[{"name": move.tool, "args": args, "id": name, "type": "tool_call"}],
            response_metadata=dict(_ABOUT),
        )

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        message = self._message(messages, stop, kwargs)
        return ChatResult(generations=[ChatGeneration(message=message)], llm_output=dict(_ABOUT))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, **kwargs)

    def _chunks(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]
    ) -> Iterator[ChatGenerationChunk]:
        message = self._message(messages, stop, kwargs)
        for piece in _PIECE.findall(str(message.content)):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        # Calls and metadata come once, after the words.
        calls = [
            {
                "name": call["name"],
                "args": json.dumps(call["args"], ensure_ascii=False),
                "id": call["id"],
                "index": index,
                "type": "tool_call_chunk",
            }
            for index, call in enumerate(message.tool_calls)
        ]
        yield ChatGenerationChunk(
            message=AIMessageChunk(
                content="",
                additional_kwargs=message.additional_kwargs,
                response_metadata=message.response_metadata,
                tool_call_chunks=calls,
            )
        )

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        return _heard_of(self._chunks(messages, stop, kwargs), run_manager)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for chunk in _aheard_of(self._chunks(messages, stop, kwargs), run_manager):
            yield chunk


def _heard_of(
    chunks: Iterable[Chunk], run_manager: CallbackManagerForLLMRun | None
) -> Iterator[Chunk]:
    """Pass chunks on, telling those who listen to tokens."""
    for chunk in chunks:
        if run_manager:
            run_manager.on_llm_new_token(chunk.text, chunk=chunk)
        yield chunk


async def _aheard_of(
    chunks: Iterable[Chunk], run_manager: AsyncCallbackManagerForLLMRun | None
) -> AsyncIterator[Chunk]:
    for chunk in chunks:
        if run_manager:
            await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
        yield chunk


def _reply(heard: Heard) -> str:
    """Write the next step in the prompt's form, or answer a plain question in plain words."""
    if heard.dialect is None:
        return from_text(heard.question, heard.context, language=heard.language)
    thought, move = next_step(
        heard.question,
        heard.tools,
        heard.steps,
        language=heard.language,
        may_act=not heard.must_answer,
    )
    written = heard.dialect.write(thought, move)
    return written.removeprefix(heard.dialect.cue) if heard.goes_on else written


def _stopped(text: str, stop: Sequence[str] | None) -> str:
    """Cut a text at the first stop sequence in it."""
    ends = [at for sequence in stop or () if sequence and (at := text.find(sequence)) >= 0]
    return text[: min(ends)] if ends else text
