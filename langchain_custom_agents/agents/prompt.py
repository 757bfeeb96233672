"""From a dialect to LangChain's prompt templates.

Tools, history, question and scratchpad enter a prompt as values: braces in them mean nothing.
"""

import re
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from string import Formatter
from typing import Any, Generic, NoReturn, TypeVar

from langchain_core.agents import AgentAction
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    convert_to_messages,
    get_buffer_string,
)
from langchain_core.prompts import BasePromptTemplate, PromptTemplate, StringPromptTemplate
from langchain_core.prompts.chat import (
    BaseChatPromptTemplate,
    ChatPromptTemplate,
    HumanMessagePromptTemplate,
    MessagesPlaceholder,
    SystemMessagePromptTemplate,
)
from pydantic import BaseModel, ConfigDict, PrivateAttr, field_validator, model_validator

from langchain_custom_agents.agents._messages import in_words
from langchain_custom_agents.agents.fields import KnownFields
from langchain_custom_agents.agents.output_parser import thought_of
from langchain_custom_agents.dialects import (
    ENGLISH,
    Action,
    Dialect,
    JsonBlob,
    Misreading,
    Move,
    Toolbox,
    ToolSpec,
)
from langchain_custom_agents.dialects.base import escape_rest
from langchain_custom_agents.loop import CORRECTION, Step
from langchain_custom_agents.models.transcript import question_label

Example = tuple[str, Sequence[tuple[str, Move, Any]]]
"""A few-shot example as data: a question, and steps of thought, move and observation."""

_MADE_OF_PARTS = (
    "The template is made of the prompt's parts. Give the parts (prefix=, format_instructions=, "
    "suffix=), or replace the whole: agent.llm_chain.prompt = PromptTemplate.from_template(...), "
    "or ChatPromptTemplate.from_messages(...)."
)

HISTORY = "chat_history"
SCRATCHPAD = "agent_scratchpad"


Made = TypeVar("Made")


class _Once(Generic[Made]):
    """Keeps what was made of each step of a run, so that it is made once."""

    def __init__(self) -> None:
        # Keyed by the identity of the action, and dropped with it: nothing is held after the run.
        self._made: dict[int, tuple[weakref.ref[AgentAction], Any, Made]] = {}

    def of(self, steps: Sequence[Step], make: Callable[[AgentAction, Any], Made]) -> list[Made]:
        """Return what is made of each step."""
        made, found = self._made, []
        for action, observation in steps:
            known = made.get(id(action))
            if known is None or known[0]() is not action or known[1] is not observation:
                known = self._remember(action, observation, make(action, observation))
            found.append(known[2])
        return found

    def _remember(
        self, action: AgentAction, observation: Any, new: Made
    ) -> tuple["weakref.ref[AgentAction]", Any, Made]:
        key = id(action)
        gone = weakref.ref(action, lambda _: self._made.pop(key, None))
        self._made[key] = gone, observation, new
        return self._made[key]


class Scratchpad:
    """Writes the transcript of a run, each step once however often it is asked for.

    Args:
        dialect: The written form.
        toolbox: The tools, to read thoughts from what was said.

    Example:
        >>> pad = Scratchpad(ENGLISH)
        >>> print(pad.write([(AgentAction("Search", "Hiroko", "I look"), "10 years old")]))
        Thought: I look
        Action: Search
        Action Input: Hiroko
        Observation: 10 years old
        Thought:
    """

    def __init__(self, dialect: Dialect, toolbox: Toolbox = Toolbox()) -> None:  # noqa: B008
        self.dialect = dialect
        self.toolbox = toolbox
        self._texts = _Once[str]()
        self._turns = _Once[list[BaseMessage]]()

    def write(self, steps: Sequence[Step]) -> str:
        """Return the scratchpad of these steps, ending with the cue."""
        return "".join([self.dialect.cue, *self._texts.of(steps, self._text)])

    def messages(self, steps: Sequence[Step]) -> list[BaseMessage]:
        """Return the scratchpad as turns of a chat: what the model said, what it was answered."""
        return [message for turn in self._turns.of(steps, self._turn) for message in turn]

    def _text(self, action: AgentAction, observation: Any) -> str:
        return self.dialect.step(*self._move(action), in_words(observation))

    def _turn(self, action: AgentAction, observation: Any) -> list[BaseMessage]:
        said = AIMessage(self.dialect.write(*self._move(action)))
        return [said, HumanMessage(self.dialect.observe(in_words(observation)))]

    def _move(self, action: AgentAction) -> tuple[str, Move]:
        """Return the thought in an action's log, and the action as it was taken."""
        if action.tool == CORRECTION:
            return "", Misreading(action.log, str(action.tool_input))
        thought = thought_of(action)
        if thought is None:
            reading = self.dialect.read(action.log, self.toolbox)
            thought = reading.thought
            if isinstance(reading.move, Misreading) and not thought:
                thought = action.log
        return thought, Action(action.tool, action.tool_input)


class DialectPrompt(KnownFields, BaseModel):
    """What the prompt templates of the text agents share.

    Args:
        dialect: The written form.
        tools: The tools there are.
        prefix: Replaces the introduction. A template; `{tools}` and `{tool_names}` are known.
        format_instructions: Replaces the description of the form. A template.
        suffix: Replaces all that follows. A template with `{input}` and `{agent_scratchpad}`.
        examples: Few-shot examples, written by the dialect.
        ai_prefix: What the AI is called in a history.
        human_prefix: What the user is called in a history.

    Raises:
        ValueError: If the suffix lacks `{input}` or `{agent_scratchpad}`.
        TypeError: If an argument is not known.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    dialect: Dialect
    tools: Toolbox = Toolbox()
    prefix: str | None = None
    format_instructions: str | None = None
    suffix: str | None = None
    examples: Sequence[Example] = ()
    ai_prefix: str = "AI"
    human_prefix: str = "Human"

    _scratchpad: Scratchpad = PrivateAttr()
    _constant_head: str | None = PrivateAttr(default=None)

    @field_validator("tools", mode="before")
    @classmethod
    def _to_toolbox(cls, tools: Sequence[Any] | Toolbox) -> Toolbox:
        return Toolbox.of(tools)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field; what was written once is written anew if it is a part of the prompt."""
        part = name in type(self).model_fields and name not in BasePromptTemplate.model_fields
        super().__setattr__(name, Toolbox.of(value) if name == "tools" else value)
        if part:
            self.model_post_init(None)
            name_variables(self)

    def model_post_init(self, context: Any, /) -> None:
        """Write once what stays the same in every prompt."""
        super().model_post_init(context)
        self._constant_head = None
        self._scratchpad = Scratchpad(self.dialect, self.tools)
        if not variables_of(self.prefix, self.format_instructions) - {"tools", "tool_names"}:
            self._constant_head = self._write_head({})

    def _head(self, inputs: Mapping[str, Any]) -> str:
        """Return all that comes before history and question."""
        known = self._constant_head
        return self._write_head(inputs) if known is None else known

    def _write_head(self, inputs: Mapping[str, Any]) -> str:
        say, values = self.dialect.phrases, {**inputs, **self._tool_values()}
        introduction = say.introduction if self.prefix is None else fill(self.prefix, values)
        if self.format_instructions is None:
            form = self.dialect.instructions(self.tools)
        else:
            form = fill(self.format_instructions, values)
        parts = [introduction]
        if self.prefix is None or "{tools}" not in self.prefix:
            parts.append(values["tools"])
        parts.append(form)
        parts.extend(self._write_example(*example) for example in self.examples)
        if self.suffix is None:
            parts.append(say.begin)
        return "\n\n".join(part for part in parts if part)

    def tell_of_tools(self, prompt: BasePromptTemplate[Any]) -> BasePromptTemplate[Any]:
        """Return a prompt of somebody's own with its `{tools}` and `{tool_names}` filled in.

        Prompts for `create_react_agent` and its siblings have them, those of LangChain's hub too.

        Args:
            prompt: The prompt template; it is not changed.
        """
        told = {k: v for k, v in self._tool_values().items() if k in prompt.input_variables}
        return prompt.partial(**told) if told else prompt

    def _tool_values(self) -> dict[str, str]:
        return {
            "tools": "\n".join(self._describe(spec) for spec in self.tools),
            "tool_names": ", ".join(self.tools.names),
        }

    def _describe(self, spec: ToolSpec) -> str:
        return f"{spec.name}: {spec.description}".rstrip(": ")

    def _write_example(self, question: str, steps: Sequence[tuple[str, Move, Any]]) -> str:
        lines = [f"{question_label(self.dialect)} {question}"]
        for thought, move, observation in steps:
            lines.append(self.dialect.write(thought, move))
            if isinstance(move, Action):
                lines.append(self.dialect.observe(observation))
        return "\n".join(lines)

    def _question(self, asked: Any) -> str:
        text = escape_rest(self.dialect, str(asked))
        return f"{question_label(self.dialect)} {text}"

    def _history(self, history: Any) -> str:
        if not history:
            return ""
        text = history if isinstance(history, str) else self._buffer(history)
        return f"{self.dialect.phrases.history}\n{self.dialect.escape(text)}"

    def _buffer(self, history: Iterable[Any]) -> str:
        return get_buffer_string(as_messages(history), self.human_prefix, self.ai_prefix)

    def _pop_pad(self, values: dict[str, Any]) -> str:
        """Return the scratchpad: of the steps given, or the text given for it."""
        steps = values.pop("intermediate_steps", ())
        given: str | None = values.pop("agent_scratchpad", None)
        if given is None:
            return self._scratchpad.write(steps)
        # A caller's own text may leave the cue out, as LangChain's templates wrote it themselves.
        return given if given.startswith(self.dialect.cue) else self.dialect.cue + given

    def _suffix_text(self, values: Mapping[str, Any], pad: str) -> str:
        # A template that writes the cue before the scratchpad means the cue that is in it.
        suffix = _cued(self.dialect).sub(f"{{{SCRATCHPAD}}}", str(self.suffix))
        history = values.get(HISTORY)
        filled = {
            **self._tool_values(),
            **values,
            HISTORY: self._buffer(history) if isinstance(history, list | tuple) else history or "",
            "agent_scratchpad": pad,
        }
        return fill(suffix, filled)


class ReActPromptTemplate(DialectPrompt, StringPromptTemplate):
    """The prompt template of `ReActAgent`: instructions, history, question, scratchpad.

    Example:
        >>> prompt = ReActPromptTemplate(tools=["Search"])
        >>> print(prompt.format(input="How old is Hiroko?", intermediate_steps=[])[-37:])
        Question: How old is Hiroko?
        Thought:
    """

    dialect: Dialect = ENGLISH
    input_variables: list[str] = ["input", "intermediate_steps"]

    @model_validator(mode="after")
    def _name_variables(self) -> "ReActPromptTemplate":
        name_variables(self)
        return self

    def format(self, **kwargs: Any) -> str:
        """Write the prompt.

        Args:
            **kwargs: `input`, `intermediate_steps`, and if there is one `chat_history` (text,
                messages or pairs of role and text).
        """
        values = self._merge_partial_and_user_variables(**kwargs)
        pad = self._pop_pad(values)
        if self.suffix is not None:
            return f"{self._head(values)}\n\n{self._suffix_text(values, pad)}"
        asked = f"{self._question(values['input'])}\n{pad}"
        history = self._history(values.get(HISTORY))
        return "\n\n".join(part for part in (self._head(values), history, asked) if part)

    @property
    def template(self) -> str:
        """The prompt as an f-string template, to look at: it is made of the parts above."""
        return as_template(self.format(**stand_ins(self)))

    @template.setter
    def template(self, text: str) -> NoReturn:  # noqa: ARG002
        raise AttributeError(_MADE_OF_PARTS)

    def pretty_repr(self, html: bool = False) -> str:  # noqa: ARG002
        """Show the prompt with its variables unfilled."""
        return self.format(**{name: f"{{{name}}}" for name in stand_ins(self)})

    @property
    def _prompt_type(self) -> str:
        return "dialect"


class _Shown(PromptTemplate):
    """A template that was made to be looked at: what is written into it would be lost."""

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(_MADE_OF_PARTS)


class StructuredChatPromptTemplate(DialectPrompt, BaseChatPromptTemplate):
    """The prompt template of `StructuredChatAgent`: a system message, history, and the question.

    Args:
        human_message_template: Replaces the human message. A template with `{input}` and
            `{agent_scratchpad}`.
        memory_prompts: Message templates or placeholders between system and human message.

    Example:
        >>> prompt = StructuredChatPromptTemplate(tools=["Search"])
        >>> messages = prompt.format_messages(input="How old is Hiroko?", intermediate_steps=[])
        >>> [message.type for message in messages]
        ['system', 'human']
    """

    dialect: Dialect = JsonBlob()
    human_message_template: str | None = None
    memory_prompts: Sequence[Any] = ()
    input_variables: list[str] = ["input", "agent_scratchpad"]

    @model_validator(mode="after")
    def _name_variables(self) -> "StructuredChatPromptTemplate":
        name_variables(self)
        return self

    def format_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Write the prompt; see `ReActPromptTemplate.format`."""
        values = self._merge_partial_and_user_variables(**kwargs)
        pad = self._pop_pad(values)
        history = values.get(HISTORY)
        placed = list(self._placed(values))
        between: list[BaseMessage] = []
        if history and not placed:
            if isinstance(history, str):
                between = [HumanMessage(self._history(history))]
            else:
                between = as_messages(history)
        system = SystemMessage(self._system(values))
        return [system, *placed, *between, HumanMessage(self._human(values, pad))]

    def _system(self, values: Mapping[str, Any]) -> str:
        head = self._head(values)
        if self.suffix is None:
            return head
        return f"{head}\n\n{fill(self.suffix, {**self._tool_values(), **values})}"

    @property
    def messages(self) -> tuple[Any, ...]:
        """The prompt as message templates, to look at: they are made of the parts above."""
        values = stand_ins(self)
        pad = self._pop_pad(values)
        system = _Shown.from_template(as_template(self._system(values)))
        human = _Shown.from_template(as_template(self._human(values, pad)))
        between = self.memory_prompts or [MessagesPlaceholder(HISTORY, optional=True)]
        return (
            SystemMessagePromptTemplate(prompt=system),
            *between,
            HumanMessagePromptTemplate(prompt=human),
        )

    @messages.setter
    def messages(self, messages: Any) -> NoReturn:  # noqa: ARG002
        raise AttributeError(_MADE_OF_PARTS)

    def _placed(self, values: Mapping[str, Any]) -> Iterable[BaseMessage]:
        for prompt in self.memory_prompts:
            if isinstance(prompt, BaseMessage):
                yield prompt
            else:
                wanted = {k: values[k] for k in prompt.input_variables if k in values}
                yield from prompt.format_messages(**wanted)

    def _human(self, values: Mapping[str, Any], pad: str) -> str:
        if self.human_message_template is None:
            return f"{self._question(values['input'])}\n{pad}"
        filled = {**self._tool_values(), **values, "agent_scratchpad": pad}
        return fill(self.human_message_template, filled)

    def _describe(self, spec: ToolSpec) -> str:
        args = "" if spec.args is None else f", args: {dict(spec.args)}"
        return super()._describe(spec) + args

    def pretty_repr(self, html: bool = False) -> str:  # noqa: ARG002
        """Show the template with its variables unfilled."""
        shown = {name: f"{{{name}}}" for name in self.input_variables}
        shown.pop("agent_scratchpad", None)
        return "\n\n".join(message.pretty_repr() for message in self.format_messages(**shown))

    @property
    def _prompt_type(self) -> str:
        return "dialect-chat"


def as_messages(history: Iterable[Any]) -> list[BaseMessage]:
    """Return a history of messages, or of pairs of role and text, as messages.

    Pairs may also be of what a user and what an AI said, as older LangChain memories kept them.
    """
    messages: list[BaseMessage] = []
    for turn in history:
        roles = ("human", "user", "ai", "assistant", "system")
        if isinstance(turn, tuple) and len(turn) == 2 and turn[0] not in roles:
            messages += [HumanMessage(str(turn[0])), AIMessage(str(turn[1]))]
        else:
            messages += convert_to_messages([turn])
    return messages


def _cued(dialect: Dialect) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(dialect.cue)}\s*\{{{SCRATCHPAD}\}}")


def takes_messages(prompt: Any) -> bool:
    """Tell whether a prompt's place for the scratchpad is one for messages."""
    return isinstance(prompt, ChatPromptTemplate) and any(
        isinstance(part, MessagesPlaceholder) and part.variable_name == SCRATCHPAD
        for part in prompt.messages
    )


def writes_cue(template: Any, dialect: Dialect) -> bool:
    """Tell whether a template writes the cue before the scratchpad, which begins with it."""
    return isinstance(template, str) and bool(_cued(dialect).search(template))


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template's variables; values are put in as they are, whatever braces they hold.

    Raises:
        KeyError: If a variable of the template has no value; the message names both.
    """
    parts = []
    for text, name, spec, conversion in Formatter().parse(template):
        parts.append(text)
        if name is None:
            continue
        if name not in values:
            msg = f"The template has a variable {{{name}}}, but there is no value for it."
            raise KeyError(msg)
        value = Formatter().convert_field(values[name], conversion or "s")
        parts.append(format(value, spec or ""))
    return "".join(parts)


def stand_ins(prompt: Any) -> dict[str, str]:
    """Return a mark for every variable of a prompt, to write it as a template."""
    names = {*prompt.input_variables, "agent_scratchpad"} - {"intermediate_steps"}
    return {name: f"\0{name}\0" for name in sorted(names)}


def as_template(text: str) -> str:
    """Return a text in which marks stand for variables as an f-string template."""
    doubled = text.replace("{", "{{").replace("}", "}}")
    return re.sub("\0(\\w+)\0", r"{\1}", doubled)


def variables_of(*templates: str | None) -> set[str]:
    """Return the names of the variables in templates."""
    return {name for text in templates if text for _, name, _, _ in Formatter().parse(text) if name}


def name_variables(prompt: Any) -> None:
    """Let a prompt say which variables it takes: those of its templates and its own.

    Raises:
        ValueError: If a template leaves out the question or the scratchpad.
    """
    own = {"tools", "tool_names", "agent_scratchpad", "intermediate_steps", HISTORY}
    chats = isinstance(prompt, BaseChatPromptTemplate)
    asking = prompt.human_message_template if chats else prompt.suffix
    if asking is not None:
        missing = {"input", "agent_scratchpad"} - variables_of(asking)
        if missing:
            names = " and ".join(f"{{{name}}}" for name in sorted(missing))
            msg = f"The prompt's last part must hold {names}: without it the model cannot go on."
            raise ValueError(msg)
    used = variables_of(
        prompt.prefix,
        prompt.suffix,
        prompt.format_instructions,
        getattr(prompt, "human_message_template", None),
    )
    for template in getattr(prompt, "memory_prompts", ()):
        used |= set(getattr(template, "input_variables", ()))
    base = [name for name in prompt.input_variables if name in ("input", *own)]
    extra = sorted(used - own - {"input"} - set(prompt.partial_variables))
    prompt.input_variables = [*base, *(name for name in extra if name not in base)]
    prompt.optional_variables = sorted({*prompt.optional_variables, HISTORY})
