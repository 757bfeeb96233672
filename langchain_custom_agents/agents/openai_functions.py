"""OpenAIFunctionsAgent: the model calls tools in its provider's own form."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from langchain_classic.agents import OpenAIFunctionsAgent as ClassicOpenAIFunctionsAgent
from langchain_classic.agents.output_parsers.openai_functions import (
    OpenAIFunctionsAgentOutputParser,
)
from langchain_classic.agents.output_parsers.tools import ToolAgentAction
from langchain_core.agents import AgentAction, AgentActionMessageLog, AgentFinish
from langchain_core.callbacks import BaseCallbackManager, Callbacks
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    get_buffer_string,
)
from langchain_core.prompts import BasePromptTemplate, ChatPromptTemplate, MessagesPlaceholder
from langchain_core.prompts.chat import HumanMessagePromptTemplate
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.runnables.fallbacks import RunnableWithFallbacks
from langchain_core.tools import BaseTool
from pydantic import ConfigDict, PrivateAttr, ValidationError, field_validator, model_validator

from langchain_custom_agents.agents._endings import StreamedArguments, broke_off, was_cut_off
from langchain_custom_agents.agents._given import check_parts
from langchain_custom_agents.agents._messages import (
    MessageScratchpad,
    as_said,
    calls_in,
    is_legacy,
    text_in,
)
from langchain_custom_agents.agents.base import (
    STOPPED,
    check_arguments,
    check_tools,
    generates,
)
from langchain_custom_agents.agents.fields import KnownFields
from langchain_custom_agents.agents.output_parser import MisreadingError
from langchain_custom_agents.agents.prompt import HISTORY, as_messages
from langchain_custom_agents.dialects import (
    ENGLISH,
    Action,
    JsonBlob,
    Misreading,
    Prose,
    Toolbox,
    ToolSpec,
)
from langchain_custom_agents.dialects.arguments import fitted, read_arguments
from langchain_custom_agents.dialects.names import resolve
from langchain_custom_agents.dialects.tags import holds_call
from langchain_custom_agents.loop import CORRECTION, Step

Mode = Literal["tools", "functions"]

_DEFAULT_SYSTEM = SystemMessage("You are a helpful AI assistant.")

# Reasoning that a server left in the reply: whole, or only its end.
_THOUGHT = re.compile(
    r"\A\s*(?:<think(?:ing)?>.*?</think(?:ing)?>|(?:(?!<think).)*?</think(?:ing)?>\s*\n)",
    re.DOTALL | re.IGNORECASE,
)


# A call as an object that is all there is: a server took the tags around it.
_BARE_CALL = re.compile(
    r'\A\s*(?:```(?:json)?\s*)?\{\s*"name"\s*:\s*"[^"]*"\s*,\s*"(?:arguments|parameters)"\s*:'
)


class OpenAIFunctionsOutputParser(KnownFields, OpenAIFunctionsAgentOutputParser):
    """Reads a model's reply: tool calls, a legacy function call, or the answer.

    Args:
        tools: The tools there are. They say how arguments are to be read.

    Example:
        >>> parser = OpenAIFunctionsOutputParser(tools=["Search"])
        >>> parser.parse_ai_message(AIMessage("Takuma is a teacher.")).return_values
        {'output': 'Takuma is a teacher.'}
        >>> call = {"name": "Search", "args": {"query": "Takuma"}, "id": "call_1"}
        >>> parser.parse_ai_message(AIMessage("", tool_calls=[call])).tool_input
        {'query': 'Takuma'}
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    tools: Toolbox = Toolbox()

    @field_validator("tools", mode="before")
    @classmethod
    def _to_toolbox(cls, tools: Any) -> Toolbox:
        return Toolbox.of(tools)

    def parse_ai_message(  # type: ignore[override]
        self, message: BaseMessage
    ) -> AgentAction | list[AgentAction] | AgentFinish:
        """Read a reply.

        Args:
            message: The reply.

        Returns:
            One action for one call, a list for several, the finish for an answer in words.

        Raises:
            TypeError: If the message is not a model's.
            MisreadingError: If nothing certain can be read; it says what to tell the model.
        """
        if not isinstance(message, AIMessage):
            msg = f"Expected an AI message got {type(message)}"
            raise TypeError(msg)
        message = self._heard(message)
        calls = calls_in(message)
        if broke_off(message):
            raise self.misread("it broke off before its end", as_said(message))
        if not calls:
            return self._finish(message)
        if was_cut_off(message):
            reason = "it was cut off before its end, so nothing in it was run; say less at a time"
            raise self.misread(reason, as_said(message))
        given = [self._given(call, message) for call in calls]
        return self._actions(message, calls, given)

    def misread(self, reason: str, heard: str = "") -> MisreadingError:
        """Make the exception that tells a model why its reply could not be taken.

        Args:
            reason: What was wrong, going on from "it".
            heard: What the model said.
        """
        named = ", ".join(self.tools.names)
        tools = f"Call one of the tools ({named}) with a JSON object" if named else "Call a tool"
        correction = f"Your reply was not taken: {reason}. {tools}, or answer in words."
        return MisreadingError(Misreading(heard, reason), correction)

    def _heard(self, message: AIMessage) -> AIMessage:
        """Return the reply; with a call as a call, where an open model wrote it as words."""
        text = "" if calls_in(message) else text_in(message.content)
        if not (_BARE_CALL.match(text) or holds_call(text, self.tools)):
            return message
        reading = JsonBlob().read(text, self.tools)
        if isinstance(reading.move, Prose):
            return message
        if not isinstance(reading.move, Action):
            reason = "a tool call stands in its words, and cannot be read; make it a tool call"
            raise self.misread(reason, text)
        given = reading.move.input
        args = given if isinstance(given, dict) else {"__arg1": given}
        call = ToolCall(name=reading.move.tool, args=args, id=None)
        return message.model_copy(update={"content": reading.thought, "tool_calls": [call]})

    def _finish(self, message: AIMessage) -> AgentFinish:
        said = text_in(message.content) or str(message.additional_kwargs.get("refusal") or "")
        answer = _THOUGHT.sub("", said).strip()
        if not answer:
            cut = ", cut off before its end" if was_cut_off(message) else ""
            raise self.misread(f"it was empty{cut}", said)
        return AgentFinish({"output": answer if answer != said.strip() else said}, said)

    def _given(self, call: Mapping[str, Any], message: AIMessage) -> tuple[str, Any]:
        """Return the tool that a call means, and its input."""
        said, args = call.get("name") or "", call.get("args")
        name = resolve(said, self.tools) or said
        spec = self.tools.get(name) or ToolSpec(name)
        if isinstance(args, str) or args is None:
            try:
                args = _arguments(args or "", spec)
            except ValueError as error:
                reason = f"the arguments of {name} cannot be read ({error}): {_shortened(args)}"
                raise self.misread(reason, as_said(message)) from error
        return name, _unpacked(args, spec)

    def _actions(
        self,
        message: AIMessage,
        calls: Sequence[Mapping[str, Any]],
        given: Sequence[tuple[str, Any]],
    ) -> AgentAction | list[AgentAction]:
        said = text_in(message.content)
        heard = _mended(message, given)
        actions: list[AgentAction] = []
        for call, (tool, tool_input) in zip(calls, given, strict=True):
            words = f"responded: {said}\n" if said else "\n"
            shared: dict[str, Any] = {
                "tool": tool,
                "tool_input": tool_input,
                "log": f"\nInvoking: `{tool}` with `{tool_input}`\n{words}\n",
                "message_log": [heard],
            }
            if is_legacy(calls):
                actions.append(AgentActionMessageLog(**shared))
            else:
                actions.append(ToolAgentAction(**shared, tool_call_id=call.get("id")))
        return actions[0] if len(actions) == 1 else actions


def _arguments(written: str, spec: ToolSpec) -> dict[str, Any] | str:
    r"""Read arguments: as they are, if they are valid JSON.

    A form feed or a backspace in them was no such thing, but a backslash: `\frac`, `\beta`.

    Raises:
        ValueError: If it cannot be known what was meant.
    """
    try:
        given = json.loads(written)
    except ValueError:
        given = None
    if isinstance(given, dict) and not re.search(r"(?<!\\)(?:\\\\)*\\[bf][a-z]", written):
        return given
    if written.strip() and not re.search(r"\w", written):
        if spec.takes_text:
            return written.strip()
        msg = "they hold no word"
        raise ValueError(msg)
    return read_arguments(written, spec)


def _unpacked(args: Any, spec: ToolSpec) -> Any:
    """Return arguments in the shape the tool takes: one text for a tool that takes one text."""
    if isinstance(args, str):
        return args
    if "__arg1" in args:
        # The name that LangChain gives to the one argument of a tool without a schema.
        args = args["__arg1"]
        return args if isinstance(args, str | dict) else str(args)
    if spec.takes_text and not args:
        return ""
    if spec.takes_text and len(args) == 1:
        only = next(iter(args.values()))
        if isinstance(only, str):
            return only
    try:
        return fitted(args, spec)
    except ValueError:
        return args  # The tool itself says best what it misses.


def _mended(message: AIMessage, given: Sequence[tuple[str, Any]]) -> AIMessage:
    """Return a reply all of whose calls are valid: itself, if they are."""
    if not message.invalid_tool_calls:
        return message
    valid = len(message.tool_calls)
    mended = [
        ToolCall(
            name=tool,
            args=tool_input if isinstance(tool_input, dict) else {"__arg1": tool_input},
            id=call.get("id"),
            type="tool_call",
        )
        for call, (tool, tool_input) in zip(message.invalid_tool_calls, given[valid:], strict=True)
    ]
    update = {"tool_calls": [*message.tool_calls, *mended], "invalid_tool_calls": []}
    return message.model_copy(update=update)


def _shortened(text: Any) -> str:
    text = str(text or "nothing")
    return text if len(text) <= 200 else f"{text[:200]}…"


class OpenAIFunctionsAgent(KnownFields, ClassicOpenAIFunctionsAgent):
    """An agent whose model calls tools in its provider's own form.

    Put it where a stock `OpenAIFunctionsAgent` or `OpenAIMultiFunctionsAgent` stood. It has no
    dialect: the provider owns the form.

    Args:
        llm: A chat model, as it is or wrapped by `bind`, `with_retry` or `with_fallbacks`.
        tools: The tools.
        prompt: The prompt template, with a place for `agent_scratchpad`.
        output_parser: What reads a reply: `OpenAIFunctionsOutputParser` if not given.
        mode: "tools" for tool calls, "functions" for OpenAI's older function calls. If not
            given it is "tools", unless the model does not know tools.

    Raises:
        TypeError: If an argument is not known.
        ValueError: If the model is not a chat model, or the prompt has no `agent_scratchpad`.

    Example:
        >>> from langchain_core.tools import Tool
        >>> from langchain_custom_agents.testing import ScriptedChatModel
        >>> calculator = Tool("Calculator", lambda sum: "Answer: 44160", "does sums")
        >>> call = {"name": "Calculator", "args": {"__arg1": "128 * 345"}, "id": "call_1"}
        >>> model = ScriptedChatModel([AIMessage("", tool_calls=[call])])
        >>> agent = OpenAIFunctionsAgent.from_llm_and_tools(model, [calculator])
        >>> agent.plan([], input="What is 128 times 345?").tool_input
        '128 * 345'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    llm: Runnable[Any, Any]  # type: ignore[assignment]
    output_parser: Any = None
    mode: Mode | None = None

    _parser: Any = PrivateAttr()
    _scratchpad: MessageScratchpad = PrivateAttr()
    _offered: tuple[Any, list[BaseTool], Runnable[Any, Any]] | None = PrivateAttr(default=None)
    _placed: tuple[Any, ChatPromptTemplate] | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _complete(self) -> "OpenAIFunctionsAgent":
        """Choose the mode, and refuse a model that could not be used."""
        model = _chat_model(self.llm)
        if self.mode is None:
            self.mode = "tools" if _knows_tools(model) else "functions"
        elif self.mode == "tools" and not _knows_tools(model):
            msg = f"mode='tools' needs a model with bind_tools; {type(model).__name__} has none."
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def validate_prompt(self) -> "OpenAIFunctionsAgent":
        """Refuse a prompt without a place for the steps; a `("placeholder", ...)` is one, too."""
        places = [*self.prompt.input_variables, *self.prompt.optional_variables]
        if "agent_scratchpad" not in places:
            msg = (
                f"`agent_scratchpad` should be one of the variables in the prompt, got {places}; "
                'put MessagesPlaceholder("agent_scratchpad") where the steps belong.'
            )
            raise ValueError(msg)
        return self

    def model_post_init(self, context: Any, /) -> None:
        """Make what reads replies and what writes steps."""
        super().model_post_init(context)
        toolbox, parser = Toolbox.of(self.tools), self.output_parser or OpenAIFunctionsOutputParser
        if isinstance(parser, type) and issubclass(parser, OpenAIFunctionsOutputParser):
            parser = parser(tools=toolbox)
        if not hasattr(parser, "parse_ai_message"):
            msg = (
                f"`output_parser` is {type(parser).__name__}, which has no `parse_ai_message`; "
                "give an `OpenAIFunctionsOutputParser`, or a parser of LangChain's for functions."
            )
            raise TypeError(msg)
        self._parser = parser
        self._scratchpad = MessageScratchpad(legacy=self.mode == "functions", toolbox=toolbox)

    @property
    def input_keys(self) -> list[str]:
        """The inputs that a run must be given."""
        return [name for name in self.prompt.input_variables if name != "agent_scratchpad"]

    @property
    def _agent_type(self) -> str:
        return "openai-functions"

    def plan(  # type: ignore[override]
        self,
        intermediate_steps: Sequence[Step],
        callbacks: Callbacks = None,
        with_functions: bool = True,
        **kwargs: Any,
    ) -> AgentAction | list[AgentAction] | AgentFinish:
        """Ask the model what to do next. No tool is run.

        Args:
            intermediate_steps: The steps so far: each action with its observation.
            callbacks: The callbacks of the call.
            with_functions: Whether the model may call tools.
            **kwargs: The inputs, such as `input` and `chat_history`.

        Returns:
            One action for one call, a list for several, or the finish.

        Raises:
            OutputParserException: If the reply cannot be read; it carries what to say to the
                model about it.
            ValueError: If an input of the prompt is missing.
        """
        model, messages = self._model(with_functions), self._messages(intermediate_steps, kwargs)
        heard = StreamedArguments()
        config = heard.config(callbacks)
        with self._refusals_of_the_client():
            reply = model.invoke(messages, config=config)
            if broke_off(reply):
                reply = model.invoke(messages, config=config)
        return self._read(heard.correct(reply))

    async def aplan(  # type: ignore[override]
        self,
        intermediate_steps: Sequence[Step],
        callbacks: Callbacks = None,
        with_functions: bool = True,
        **kwargs: Any,
    ) -> AgentAction | list[AgentAction] | AgentFinish:
        """Ask the model what to do next without blocking; see `plan`."""
        model, messages = self._model(with_functions), self._messages(intermediate_steps, kwargs)
        heard = StreamedArguments()
        config = heard.config(callbacks)
        with self._refusals_of_the_client():
            reply = await model.ainvoke(messages, config=config)
            if broke_off(reply):
                reply = await model.ainvoke(messages, config=config)
        return self._read(heard.correct(reply))

    def save(self, file_path: Path | str) -> None:
        """Save the agent without model and tools; see `saving.save_agent`."""
        from langchain_custom_agents.agents.saving import save_agent

        save_agent(self, file_path)

    def return_stopped_response(
        self, early_stopping_method: str, intermediate_steps: Sequence[Step], **kwargs: Any
    ) -> AgentFinish:
        """Finish a run that may not go on.

        Args:
            early_stopping_method: "force" for a constant text, "generate" for the model's best
                answer from what was found.
            intermediate_steps: The steps so far.
            **kwargs: The inputs, and `callbacks` of the call if there is one.

        Raises:
            ValueError: If the method is neither.
        """
        if not generates(early_stopping_method):
            return AgentFinish({"output": STOPPED}, "")
        steps = _wrapping_up(intermediate_steps)
        try:
            return _best_of(self.plan(steps, with_functions=False, **kwargs))
        except OutputParserException as error:
            return _stopped(str(error.llm_output or ""))

    async def areturn_stopped_response(
        self, early_stopping_method: str, intermediate_steps: Sequence[Step], **kwargs: Any
    ) -> AgentFinish:
        """Finish a run that may not go on without blocking; see `return_stopped_response`."""
        if not generates(early_stopping_method):
            return AgentFinish({"output": STOPPED}, "")
        steps = _wrapping_up(intermediate_steps)
        try:
            return _best_of(await self.aplan(steps, with_functions=False, **kwargs))
        except OutputParserException as error:
            return _stopped(str(error.llm_output or ""))

    @classmethod
    def from_llm_and_tools(
        cls,
        llm: Runnable[Any, Any],
        tools: Sequence[BaseTool],
        callback_manager: BaseCallbackManager | None = None,
        extra_prompt_messages: list[Any] | None = None,
        system_message: SystemMessage | str | None = _DEFAULT_SYSTEM,
        *,
        prompt: BasePromptTemplate[Any] | None = None,
        **kwargs: Any,
    ) -> "OpenAIFunctionsAgent":
        """Make an agent of a model and tools.

        Args:
            llm: A chat model, as it is or wrapped by `bind`, `with_retry` or `with_fallbacks`.
            tools: The tools.
            callback_manager: Taken as LangChain's factory takes it.
            extra_prompt_messages: Messages, templates or placeholders between the system
                message and the question.
            system_message: The system message; None for none.
            prompt: A prompt template of your own, instead of the two before.
            **kwargs: More fields of the agent, such as `mode`.

        Raises:
            TypeError: If an argument is not known.
            ValueError: If two tools share a name, or messages are given beside a prompt.
        """
        check_arguments(cls, kwargs)
        check_parts(llm, tools, prompt=prompt)
        check_tools(cls.__name__, None, Toolbox.of(tools))
        if prompt is None:
            # A text would be taken for a template of what the user says.
            said = system_message
            prompt = cls.create_prompt(
                system_message=SystemMessage(said) if isinstance(said, str) else said,
                extra_prompt_messages=extra_prompt_messages,
            )
        elif extra_prompt_messages or system_message is not _DEFAULT_SYSTEM:
            msg = "With a prompt of your own, put system_message and extra_prompt_messages into it."
            raise ValueError(msg)
        return cls(llm=llm, prompt=prompt, tools=tools, callback_manager=callback_manager, **kwargs)

    # Asking.

    def _model(self, with_functions: bool) -> Runnable[Any, Any]:
        """Return the model, offered the tools if it may call any; made once."""
        if not with_functions or not self.tools:
            return self.llm
        made = self._offered
        if made is None or made[0] is not self.llm or made[1] != list(self.tools):
            # Functions that a subclass writes itself are offered as it writes them.
            written = type(self).functions is not ClassicOpenAIFunctionsAgent.functions
            offer: list[Any] = list(self.tools)
            if written:
                offer = [{"type": "function", "function": each} for each in self.functions]
            bound = _offer(self.llm, offer, self.functions, self.mode)
            made = self._offered = (self.llm, list(self.tools), bound)
        return made[2]

    def _messages(self, steps: Sequence[Step], inputs: Mapping[str, Any]) -> list[BaseMessage]:
        """Write the prompt from the inputs and the steps."""
        missing = [name for name in self.input_keys if name not in inputs]
        if missing:
            names = ", ".join(repr(name) for name in missing)
            msg = f"The prompt needs {names}, but was given {', '.join(inputs) or 'nothing'}."
            raise ValueError(msg)
        prompt: BasePromptTemplate[Any] = self.prompt
        wanted = {*prompt.input_variables, *prompt.optional_variables}
        if inputs.get(HISTORY) and HISTORY not in wanted and isinstance(prompt, ChatPromptTemplate):
            prompt = self._with_history(prompt)
            wanted.add(HISTORY)
        slots = {
            part.variable_name
            for part in getattr(prompt, "messages", ())
            if isinstance(part, MessagesPlaceholder)
        }
        values = {
            name: _placed(value) if name in slots else _written(name, value)
            for name, value in inputs.items()
            if name in wanted
        }
        used = [
            call["id"]
            for name in slots & set(values)
            for message in values[name]
            for call in calls_in(message)
            if call.get("id")
        ]
        values["agent_scratchpad"] = self._scratchpad.write(steps, used)
        return prompt.format_prompt(**values).to_messages()

    def _with_history(self, prompt: ChatPromptTemplate) -> ChatPromptTemplate:
        """Return a prompt with a place for the history before the question; made once."""
        if self._placed is None or self._placed[0] is not prompt:
            at = _question_in(prompt.messages)
            place = MessagesPlaceholder(HISTORY, optional=True)
            parts = [*prompt.messages[:at], place, *prompt.messages[at:]]
            changed = ChatPromptTemplate(parts, partial_variables=dict(prompt.partial_variables))
            self._placed = (prompt, changed)
        return self._placed[1]

    @contextmanager
    def _refusals_of_the_client(self) -> Iterator[None]:
        """Turn arguments that a model's client could not put in a message into a misreading."""
        try:
            yield
        except ValidationError as error:
            if error.title not in ("AIMessage", "AIMessageChunk"):
                raise
            given = ", ".join(_shortened(repr(each.get("input"))) for each in error.errors())
            reason = f"the arguments of a tool call are a JSON object, not {given}"
            reader = self._parser
            if not isinstance(reader, OpenAIFunctionsOutputParser):
                reader = OpenAIFunctionsOutputParser(tools=Toolbox.of(self.tools))
            raise reader.misread(reason) from error

    def _read(self, reply: BaseMessage) -> AgentAction | list[AgentAction] | AgentFinish:
        move: AgentAction | list[AgentAction] | AgentFinish
        try:
            move = self._parser.parse_ai_message(reply)
        except OutputParserException as error:
            if error.send_to_llm:
                raise
            said = f"Your reply could not be read: {error}"
            raise OutputParserException(
                error, observation=said, llm_output=as_said(reply), send_to_llm=True
            ) from error
        return move


def _chat_model(llm: Any) -> Any:
    """Return the model inside its wrappers.

    Raises:
        ValueError: If it is not a chat model.
    """
    model = llm
    while True:
        if isinstance(model, RunnableBindingBase):
            model = model.bound
        elif isinstance(model, RunnableWithFallbacks):
            model = model.runnable
        elif isinstance(model, DynamicRunnable):
            model = model.default
        else:
            break
    if isinstance(model, BaseChatModel) or hasattr(type(model), "bind_tools"):
        return model
    msg = (
        f"OpenAIFunctionsAgent needs a chat model; {type(model).__name__} is none. "
        "For a text model take ReActAgent or StructuredChatAgent."
    )
    raise ValueError(msg)


def _knows_tools(model: Any) -> bool:
    return getattr(type(model), "bind_tools", None) is not BaseChatModel.bind_tools


def _offer(
    llm: Any, tools: Sequence[Any], functions: Sequence[Any], mode: Mode | None
) -> Runnable[Any, Any]:
    """Offer tools to the model inside its wrappers, which stay around it."""
    if isinstance(llm, RunnableWithFallbacks):
        models = [_offer(each, tools, functions, mode) for each in llm.runnables]
        return llm.model_copy(update={"runnable": models[0], "fallbacks": models[1:]})
    if isinstance(llm, RunnableBindingBase):
        own = {_name_of(tool) for tool in tools}
        # A provider's own tools, such as a web search, may have been bound before.
        others = [tool for tool in llm.kwargs.get("tools", ()) if _name_of(tool) not in own]
        kept = {k: v for k, v in llm.kwargs.items() if k not in ("tools", "functions")}
        bound = _offer(llm.bound, [*tools, *others], functions, mode)
        return llm.model_copy(update={"bound": bound, "kwargs": kept})
    if isinstance(llm, DynamicRunnable):
        bound = _offer(llm.default, tools, functions, mode)
        return llm.bind(**bound.kwargs) if isinstance(bound, RunnableBindingBase) else bound
    if mode == "functions" or not _knows_tools(llm):
        offered: Runnable[Any, Any] = llm.bind(functions=list(functions))
    else:
        offered = llm.bind_tools(list(tools))
    return offered


def _name_of(tool: Any) -> str | None:
    if isinstance(tool, Mapping):
        name = tool.get("function", tool).get("name")
        return name if isinstance(name, str) else None
    return getattr(tool, "name", None)


def _question_in(parts: Sequence[Any]) -> int:
    """Return where the question stands in a prompt: what `input` is filled into."""
    for at, part in enumerate(parts):
        if isinstance(part, HumanMessagePromptTemplate) and "input" in part.input_variables:
            return at
    for at, part in enumerate(parts):
        if getattr(part, "variable_name", None) == "agent_scratchpad":
            return at
    return len(parts)


def _placed(value: Any) -> Any:
    """Return what is given for a place of messages as messages: a text is what somebody said."""
    if isinstance(value, str):
        said = f"{ENGLISH.phrases.history}\n{value}"
        return [HumanMessage(said)] if value.strip() else []
    return as_messages(value or ())


def _written(name: str, value: Any) -> Any:
    """Return what is given for a variable in a text: a history becomes its lines."""
    if name == HISTORY and isinstance(value, list | tuple):
        return get_buffer_string(as_messages(value))
    return value


# Ending.


def _wrapping_up(steps: Sequence[Step]) -> list[Step]:
    """Add to the transcript that no more tools can be used."""
    request = ENGLISH.phrases.wrap_up
    return [*steps, (AgentAction(CORRECTION, request, ""), request)]


def _best_of(move: AgentAction | list[AgentAction] | AgentFinish) -> AgentFinish:
    if isinstance(move, AgentFinish):
        return AgentFinish({**move.return_values, "stopped": True}, move.log)
    # Some models call a tool although none was offered; what they say beside it may be enough.
    first = move if isinstance(move, AgentAction) else move[0]
    messages = getattr(first, "message_log", ())
    return _stopped(first.log, text_in(messages[-1].content) if messages else "")


def _stopped(log: str, said: str = "") -> AgentFinish:
    return AgentFinish({"output": said.strip() or STOPPED, "stopped": True}, log)
