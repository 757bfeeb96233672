"""Any text model as a chat model with tool calling."""

import functools
import hashlib
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import (
    BaseChatModel,
    BaseLanguageModel,
    LangSmithParams,
    LanguageModelInput,
    ModelProfile,
)
from langchain_core.language_models.llms import BaseLLM
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, Field, field_validator

from langchain_custom_agents.agents.fields import KnownFields
from langchain_custom_agents.dialects import ENGLISH, Action, Dialect, Toolbox, ToolSpec
from langchain_custom_agents.models._streamed import twin_of
from langchain_custom_agents.models.asking import asay, asay_on, say, say_on
from langchain_custom_agents.models.listening import Listener
from langchain_custom_agents.models.runs import Ears, begun, child_of
from langchain_custom_agents.models.transcript import Scribe, is_dialogue
from langchain_custom_agents.models.turn import Turn, Unreadable
from langchain_custom_agents.policies import approximate_tokens

Constrain = Callable[..., Mapping[str, Any]]
"""Gives the keyword arguments that make an engine keep to the form, for these tools.

It is called with a list of function schemas. If it takes `forced` it is told as well whether one
of them must be called.
"""

# Arguments of a call that are for a provider's own tool calling: here they have done their work.
_OURS = frozenset(("tools", "tool_choice", "parallel_tool_calls", "strict", "stream"))


def with_tool_calling(
    llm: Runnable[Any, Any],
    dialect: Dialect = ENGLISH,
    *,
    reasks: int = 2,
    unreadable: Unreadable = "raise",
    constrain: Constrain | None = None,
    introduction: str | None = None,
    **kwargs: Any,
) -> "ToolCallingModel":
    r"""Make a chat model with tool calling of any model that writes text.

    Tools are described to the model in words, its steps are read in a dialect, and become
    `AIMessage.tool_calls`; tool messages are written back as observations. So LangChain's
    `create_agent`, LangGraph and whatever else needs a model that calls tools can use it.

    Args:
        llm: A text model, a chat model, or one of these with `bind`, `with_retry` or
            `with_fallbacks`.
        dialect: The written form.
        reasks: How often a model that was misread is told so and asked again, within one call.
        unreadable: What becomes of words that cannot be read even then: "raise" an
            `UnreadableReplyError`, or "return" them as the message's content, marked. Words with
            no form at all are the answer, marked, if they are said again.
        constrain: A function of the tools, as a list of function schemas, that returns keyword
            arguments for the call of the model: a grammar for engines that keep to one. If it
            takes `forced`, it is called with `forced=True` where a tool must be called.
        introduction: What opens the instructions; in the dialect's language if not given.
        **kwargs: The fields that every chat model has: `cache`, `callbacks`, `tags`, `metadata`,
            `name`, `rate_limiter`, `disable_streaming`, ...

    Returns:
        The chat model.

    Raises:
        TypeError: If it is no model, or an argument is not known.
        ValueError: If an argument does not fit.

    Example:
        >>> from langchain_core.tools import tool
        >>> from langchain_custom_agents.testing import ScriptedLLM
        >>> @tool
        ... def search(query: str) -> str:
        ...     "Looks something up."
        ...     return f"about {query}"
        >>> llm = ScriptedLLM(["I must look\nAction: search\nAction Input: Hiroko"])
        >>> model = with_tool_calling(llm).bind_tools([search])
        >>> [(call["name"], call["args"]) for call in model.invoke("Who is she?").tool_calls]
        [('search', {'query': 'Hiroko'})]
    """
    return ToolCallingModel(
        llm=llm,
        dialect=dialect,
        reasks=reasks,
        unreadable=unreadable,
        constrain=constrain,
        introduction=introduction,
        **kwargs,
    )


class ToolCallingModel(KnownFields, BaseChatModel):
    """A chat model whose tool calls are written and read in a dialect; see `with_tool_calling`.

    Args:
        llm: The model underneath.
        dialect: The written form.
        reasks: How often a misread model is asked again.
        unreadable: What becomes of words that cannot be read.
        constrain: Gives more keyword arguments for the model underneath.
        introduction: What opens the instructions.
        streaming: Whether the model underneath streams, if it can, when nobody asked for a
            stream; if false, it never does. If not given, it streams where it is asked to, and
            where it has not kept to a stop sequence before.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    llm: Any = Field(repr=False)
    dialect: Dialect = ENGLISH
    reasks: int = 2
    unreadable: Unreadable = "raise"
    constrain: Constrain | None = Field(default=None, repr=False)
    introduction: str | None = None
    streaming: bool | None = None

    @field_validator("dialect", mode="before")
    @classmethod
    def _check_dialect(cls, dialect: Any) -> Any:
        if not isinstance(dialect, Dialect):
            msg = f"`dialect` is {dialect!r}; give a dialect, such as `dialects.JAPANESE`."
            raise TypeError(msg)
        return dialect

    def model_post_init(self, context: Any, /) -> None:
        """Refuse what does not fit.

        Raises:
            TypeError: If there is no model.
            ValueError: If a field has a value that means nothing.
        """
        super().model_post_init(context)
        model_in(self.llm)
        if self.reasks < 0:
            msg = f"reasks must be 0 or more, not {self.reasks}."
            raise ValueError(msg)

    def _scribe(self) -> Scribe:
        """Return who writes the prompt and reads the reply."""
        return Scribe(self.dialect, self.introduction)

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: Any = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools to the model.

        Args:
            tools: LangChain tools, functions, pydantic or TypedDict classes, or schemas.
            tool_choice: "auto" or None: the model chooses; "any", "required" or True: it must
                call a tool; the name of one: it must call that; "none" or False: it must not
                call any. What providers take as a dict is understood as well.
            **kwargs: More keyword arguments for the model underneath.

        Raises:
            TypeError: If `tools` is no list.
            ValueError: If a tool cannot be written in the dialect, two tools share a name, or
                `tool_choice` names none of them.
        """
        if isinstance(tools, BaseTool | str | Mapping) or not isinstance(tools, Iterable):
            kind = "one tool" if isinstance(tools, BaseTool) else repr(tools)
            msg = f"`tools` is {kind}; give a list of tools: bind_tools([search])."
            raise TypeError(msg)
        schemas = [_schema_of(tool) for tool in tools]
        offered, _ = self._offer(schemas, tool_choice)
        for spec in offered:
            self.dialect.write("", Action(spec.name, ""))
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        return self.bind(tools=schemas, **kwargs)

    def _offer(
        self, schemas: Sequence[Mapping[str, Any]], tool_choice: Any
    ) -> tuple[Toolbox, bool]:
        """Return the tools that may be called, and whether one must be."""
        toolbox = _toolbox_of(schemas)
        choice = _choice(tool_choice)
        if choice in (None, "auto"):
            return toolbox, False
        if choice == "none":
            return Toolbox(), False
        if choice not in ("any", "required"):
            if choice not in toolbox:
                known = ", ".join(toolbox.names) or "none"
                msg = f"tool_choice names {choice!r}, but the tools are: {known}."
                raise ValueError(msg)
            toolbox = Toolbox(tuple(spec for spec in toolbox if spec.name == choice))
        elif not toolbox:
            msg = f"tool_choice={tool_choice!r} wants a tool to be called, but there is none."
            raise ValueError(msg)
        return toolbox, True

    # Asking.

    def _turn(
        self, messages: Sequence[BaseMessage], stop: Sequence[str] | None, kwargs: dict[str, Any]
    ) -> tuple[Turn, dict[str, Any]]:
        """Return what there is to do, and the keyword arguments for the model underneath."""
        schemas = [_schema_of(tool) for tool in kwargs.get("tools") or ()]
        tools, forced = self._offer(schemas, kwargs.get("tool_choice"))
        given = {key: value for key, value in kwargs.items() if key not in _OURS}
        own = tuple(stop or ())
        turn = Turn(self._scribe(), messages, tools, forced, own, self.reasks, self.unreadable)
        if not turn.formed and is_dialogue(messages) and isinstance(model_in(self.llm), BaseLLM):
            # A text model would go on with the human's next turn.
            turn = replace(turn, stop=(*own, "\nHuman:"))
        if self.constrain is not None and turn.formed:
            allowed = [schema for schema in schemas if schema["function"]["name"] in tools]
            told = {"forced": True} if forced and _takes_forced(self.constrain) else {}
            given |= self.constrain(allowed, **told)
        return turn, given

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn, given = self._turn(messages, stop, kwargs)
        ears = Ears()
        config, asking = ears.on(child_of(run_manager)), turn.asking()
        ask = next(asking)
        while True:
            words = say(
                *(self.llm, ask.prompt, ask.stop, config, given),
                dialect=turn.read_in,
                streaming=self.streaming,
            )
            try:
                ask = asking.send(words)
            except StopIteration as done:
                message = ears.told(done.value)
                return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn, given = self._turn(messages, stop, kwargs)
        ears = Ears()
        config, asking = ears.on(child_of(run_manager)), turn.asking()
        ask = next(asking)
        while True:
            words = await asay(
                *(self.llm, ask.prompt, ask.stop, config, given),
                dialect=turn.read_in,
                streaming=self.streaming,
            )
            try:
                ask = asking.send(words)
            except StopIteration as done:
                message = ears.told(done.value)
                return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        turn, given = self._turn(messages, stop, kwargs)
        ears, listener = Ears(), Listener(turn)
        config, asking = ears.on(child_of(run_manager)), turn.asking()
        ask = next(asking)
        while True:
            listener.again()
            said = say_on(*(self.llm, ask.prompt, ask.stop, config, given), dialect=turn.read_in)
            with closing(said) as pieces:  # type: ignore[type-var]
                for piece in pieces:
                    chunk = listener.hear(piece)
                    if chunk is not None:
                        yield ChatGenerationChunk(message=chunk)
            try:
                ask = asking.send(listener.words)
            except StopIteration as done:
                yield ChatGenerationChunk(message=listener.rest(ears.told(done.value)))
                return

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        turn, given = self._turn(messages, stop, kwargs)
        ears, listener = Ears(), Listener(turn)
        config, asking = ears.on(child_of(run_manager)), turn.asking()
        ask = next(asking)
        while True:
            listener.again()
            said = asay_on(*(self.llm, ask.prompt, ask.stop, config, given), dialect=turn.read_in)
            async with aclosing(said) as pieces:  # type: ignore[type-var]
                async for piece in pieces:
                    chunk = listener.hear(piece)
                    if chunk is not None:
                        yield ChatGenerationChunk(message=chunk)
            try:
                ask = asking.send(listener.words)
            except StopIteration as done:
                yield ChatGenerationChunk(message=listener.rest(ears.told(done.value)))
                return

    # LangChain streams a model without telling it under which run. A twin of the model knows.

    def _under(self, run: Any) -> "ToolCallingModel":
        twin: ToolCallingModel = twin_of(
            self,
            {
                "_stream": functools.partial(self._stream, run_manager=run),
                "_astream": functools.partial(self._astream, run_manager=run),
            },
        )
        return twin

    def stream(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> Iterator[AIMessageChunk]:
        """Stream a reply; see `Runnable.stream`."""
        config, run = begun(config)
        yield from super(ToolCallingModel, self._under(run)).stream(
            input, config, stop=stop, **kwargs
        )

    async def astream(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AIMessageChunk]:
        """Stream a reply without blocking; see `Runnable.astream`."""
        config, run = begun(config, is_async=True)
        said = super(ToolCallingModel, self._under(run)).astream(input, config, stop=stop, **kwargs)
        async with aclosing(said) as chunks:  # type: ignore[type-var]
            async for chunk in chunks:
                yield chunk

    def _generate_with_cache(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        twin = self._under(run_manager)
        return super(ToolCallingModel, twin)._generate_with_cache(
            messages, stop, run_manager, **kwargs
        )

    async def _agenerate_with_cache(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        twin = self._under(run_manager)
        return await super(ToolCallingModel, twin)._agenerate_with_cache(
            messages, stop, run_manager, **kwargs
        )

    # What is told about the model.

    def get_num_tokens(self, text: str) -> int:
        """Count the tokens of a text: by the model underneath if it counts itself.

        Otherwise it is an estimate, one for four bytes: LangChain's own way would download a
        tokenizer that is not the model's.
        """
        model = model_in(self.llm)
        if type(model).get_num_tokens is not BaseLanguageModel.get_num_tokens:
            return model.get_num_tokens(text)
        own = self.custom_get_token_ids or model.custom_get_token_ids
        return approximate_tokens(text) if own is None else len(own(text))

    def get_token_ids(self, text: str) -> list[int]:
        """Return the ids of a text's tokens, if the model underneath was given a tokenizer.

        Raises:
            NotImplementedError: If it was not.
        """
        own = self.custom_get_token_ids or model_in(self.llm).custom_get_token_ids
        if own is None:
            msg = (
                "The ids of tokens are the model's own: give the model underneath "
                "custom_get_token_ids, or count with get_num_tokens."
            )
            raise NotImplementedError(msg)
        return own(text)

    def get_num_tokens_from_messages(
        self, messages: list[BaseMessage], tools: Sequence[Any] | None = None
    ) -> int:
        """Count the tokens of the prompt that would be sent, instructions and tools included."""
        turn, _ = self._turn(messages, None, {"tools": tools or ()})
        return self.get_num_tokens(next(turn.asking()).prompt.to_string())

    def _resolve_model_profile(self) -> ModelProfile | None:
        # Its context window is that of the model underneath; what it can do is its own.
        inner: Mapping[str, Any] = getattr(model_in(self.llm), "profile", None) or {}
        profile = ModelProfile(tool_calling=True, tool_choice=True, structured_output=False)
        if "max_input_tokens" in inner:
            profile["max_input_tokens"] = inner["max_input_tokens"]
        if "max_output_tokens" in inner:
            profile["max_output_tokens"] = inner["max_output_tokens"]
        return profile

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        params = model_in(self.llm)._get_ls_params(stop, **kwargs)
        params["ls_model_type"] = "chat"
        return params

    @property
    def _identifying_params(self) -> dict[str, Any]:
        model = model_in(self.llm)
        return {
            "llm": {
                "_type": model._llm_type,
                **{
                    key: value
                    for key, value in model._identifying_params.items()
                    if key not in model.lc_secrets
                },
            },
            "bound": hashlib.sha256(repr(_bound_in(self.llm)).encode()).hexdigest(),
            "dialect": repr(self.dialect),
            "reasks": self.reasks,
            "unreadable": self.unreadable,
            "introduction": self.introduction,
        }

    @property
    def _llm_type(self) -> str:
        return f"tool-calling-{model_in(self.llm)._llm_type}"


def model_in(llm: Any) -> BaseChatModel | BaseLLM:
    """Return the model that a runnable is made around.

    Raises:
        TypeError: If there is none.
    """
    inner = llm
    while not isinstance(inner, BaseChatModel | BaseLLM):
        if isinstance(inner, RunnableBindingBase):
            inner = inner.bound
        elif isinstance(inner, RunnableWithFallbacks):
            inner = inner.runnable
        else:
            msg = (
                "with_tool_calling takes a text model, a chat model, or one of these with bind, "
                f"with_retry or with_fallbacks; {type(llm).__name__} is none of them."
            )
            raise TypeError(msg)
    return inner


def _bound_in(llm: Any) -> dict[str, Any]:
    """Return the keyword arguments bound to the model in a runnable."""
    bound: dict[str, Any] = {}
    while isinstance(llm, RunnableBindingBase):
        bound = {**llm.kwargs, **bound}
        llm = llm.bound
    return bound


def _takes_forced(constrain: Constrain) -> bool:
    """Tell whether a function can be told that a tool must be called."""
    try:
        taken = inspect.signature(constrain).parameters
    except ValueError:
        return False
    return "forced" in taken or any(each.kind is each.VAR_KEYWORD for each in taken.values())


def _schema_of(tool: Any) -> dict[str, Any]:
    schema = convert_to_openai_tool(tool)
    if schema.get("type") != "function" or "name" not in schema.get("function", {}):
        msg = (
            f"The tool {schema} is a provider's own; a text model can be offered tools that have "
            "a name, a description and parameters."
        )
        raise ValueError(msg)
    return schema


def _toolbox_of(schemas: Sequence[Mapping[str, Any]]) -> Toolbox:
    """Return the tools by name; a tool that is given twice is one."""
    by_name: dict[str, ToolSpec] = {}
    for spec in map(_spec_of, schemas):
        known = by_name.setdefault(spec.name, spec)
        if set(known.args or ()) != set(spec.args or ()):
            msg = f"Two different tools are named {spec.name!r}; names must differ."
            raise ValueError(msg)
    return Toolbox(tuple(by_name.values()))


def _spec_of(schema: Mapping[str, Any]) -> ToolSpec:
    spec = ToolSpec.of(schema)
    if set(spec.args or ()) != {"__arg1"}:
        return spec
    # LangChain's `Tool`, which takes one text.
    return ToolSpec(spec.name, spec.description, spec.args, spec.required, takes_text=True)


def _choice(given: Any) -> str | None:
    """Return what providers' ways to say a tool choice come to."""
    if isinstance(given, bool):
        return "any" if given else "none"
    if isinstance(given, Mapping):
        named = given.get("function", given)
        chosen = isinstance(named, Mapping) and (named.get("name") or named.get("type"))
        if not chosen:
            msg = f'tool_choice is {dict(given)!r}, which names no tool; give "any" or a name.'
            raise ValueError(msg)
        given = chosen
    if given is None or isinstance(given, str):
        return given
    msg = f"tool_choice must be a text, a dict or a bool, not {type(given).__name__}."
    raise ValueError(msg)
