"""Any text model as a chat model with tool calling."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.llms import BaseLLM
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, Field

from langchain_custom_agents.dialects import ENGLISH, Action, Dialect, Toolbox, ToolSpec
from langchain_custom_agents.models.asking import asay, say
from langchain_custom_agents.models.runs import Ears, child_of
from langchain_custom_agents.models.transcript import Scribe
from langchain_custom_agents.models.turn import Turn, Unreadable

Constrain = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]
"""Gives the keyword arguments that make an engine keep to the form, for these tools."""

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
            arguments for the call of the model: a grammar for engines that keep to one.
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
    scribe = Scribe(dialect, introduction)
    return ToolCallingModel(
        llm=llm, scribe=scribe, reasks=reasks, unreadable=unreadable, constrain=constrain, **kwargs
    )


class ToolCallingModel(BaseChatModel):
    """A chat model whose tool calls are written and read in a dialect; see `with_tool_calling`.

    Args:
        llm: The model underneath.
        scribe: Writes the conversation and reads the replies.
        reasks: How often a misread model is asked again.
        unreadable: What becomes of words that cannot be read.
        constrain: Gives more keyword arguments for the model underneath.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    llm: Any = Field(repr=False)
    scribe: Scribe
    reasks: int = Field(default=2, ge=0)
    unreadable: Unreadable = "raise"
    constrain: Constrain | None = None

    def model_post_init(self, context: Any, /) -> None:
        """Refuse what is no model."""
        super().model_post_init(context)
        model_in(self.llm)

    @property
    def dialect(self) -> Dialect:
        """The written form."""
        return self.scribe.dialect

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
            ValueError: If a tool cannot be written in the dialect, two tools share a name, or
                `tool_choice` names none of them.
        """
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
        toolbox = Toolbox(tuple(_spec_of(schema) for schema in schemas))
        if len(toolbox.names) < len(schemas):
            names = [spec.name for spec in toolbox]
            twice = next(name for name in names if names.count(name) > 1)
            msg = f"Two tools are named {twice!r}; names must differ."
            raise ValueError(msg)
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

    def _turn(
        self, messages: Sequence[BaseMessage], stop: Sequence[str] | None, kwargs: dict[str, Any]
    ) -> tuple[Turn, dict[str, Any]]:
        """Return what there is to do, and the keyword arguments for the model underneath."""
        schemas = [_schema_of(tool) for tool in kwargs.get("tools") or ()]
        tools, forced = self._offer(schemas, kwargs.get("tool_choice"))
        given = {key: value for key, value in kwargs.items() if key not in _OURS}
        turn = Turn(
            self.scribe,
            messages,
            tools,
            forced,
            tuple(stop or ()),
            self.reasks,
            self.unreadable,
        )
        if self.constrain is not None and turn.formed:
            allowed = [schema for schema in schemas if schema["function"]["name"] in tools]
            given |= self.constrain(allowed)
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
        config = ears.on(child_of(run_manager))
        asking = turn.asking()
        ask = next(asking)
        while True:
            words = say(self.llm, ask.prompt, ask.stop, config, given, dialect=self._form(turn))
            try:
                ask = asking.send(words)
            except StopIteration as done:
                return _result(ears.told(done.value))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn, given = self._turn(messages, stop, kwargs)
        ears = Ears()
        config = ears.on(child_of(run_manager))
        asking = turn.asking()
        ask = next(asking)
        while True:
            words = await asay(
                self.llm, ask.prompt, ask.stop, config, given, dialect=self._form(turn)
            )
            try:
                ask = asking.send(words)
            except StopIteration as done:
                return _result(ears.told(done.value))

    def _form(self, turn: Turn) -> Dialect | None:
        """Return the dialect in which the reply is read; None if it is taken as it is."""
        return self.dialect if turn.formed else None

    @property
    def _llm_type(self) -> str:
        return f"tool-calling-{model_in(self.llm)._llm_type}"


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


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


def _schema_of(tool: Any) -> dict[str, Any]:
    schema = convert_to_openai_tool(tool)
    if schema.get("type") != "function" or "name" not in schema.get("function", {}):
        msg = (
            f"The tool {schema} is a provider's own; a text model can be offered tools that have "
            "a name, a description and parameters."
        )
        raise ValueError(msg)
    return schema


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
        given = named.get("name") or named.get("type")
    if given is None or isinstance(given, str):
        return given
    msg = f"tool_choice must be a text, a dict or a bool, not {type(given).__name__}."
    raise ValueError(msg)
