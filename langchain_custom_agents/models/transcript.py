"""A conversation in the written form: what a text model is sent, and how its words are read."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    get_buffer_string,
)
from langchain_core.prompt_values import PromptValue

from langchain_custom_agents.agents._messages import UNANSWERED
from langchain_custom_agents.dialects import (
    Action,
    Answer,
    Dialect,
    Misreading,
    Move,
    NoSuchTool,
    Reading,
    Toolbox,
    ToolSpec,
)
from langchain_custom_agents.dialects.base import escape_rest
from langchain_custom_agents.dialects.phrases import IN_CHINESE, IN_JAPANESE, Phrases

READING = "reading"
"""The key of a message's `response_metadata` under which stands how the reply was read."""

_TEXTS = ("text", "output_text", "text-plain", "refusal")
_MEDIA = ("image", "audio", "video", "file", "media", "document")

# What is said where a tool must be called: in the prompt, and about an answer in its place.
_MUST_CALL = {
    IN_JAPANESE: (
        "今回は回答せず、必ずツールを使ってください。",
        "今はツールを使わなければなりません",
    ),
    IN_CHINESE: ("这一次不要回答,必须使用工具。", "现在必须使用工具"),
}
_MUST_CALL_IN_ENGLISH = (
    "This time do not answer: use a tool.",
    "it answers, but a tool must be used now",
)


def question_label(dialect: Dialect) -> str:
    """Return how a question begins in a dialect."""
    return getattr(dialect, "question", "Question:")


def must_call(phrases: Phrases) -> tuple[str, str]:
    """Return how to ask for a tool call, and what is wrong with an answer in its place."""
    return _MUST_CALL.get(phrases, _MUST_CALL_IN_ENGLISH)


class Conversation(PromptValue):
    """A prompt in both forms: one text for text models, messages for chat models.

    Args:
        text: The prompt as a text.
        messages: The prompt as messages.

    Example:
        >>> Conversation(text="Question: who?", messages=[HumanMessage("who?")]).to_string()
        'Question: who?'
    """

    text: str
    messages: Sequence[Any]

    def to_string(self) -> str:
        """Return the prompt as a text."""
        return self.text

    def to_messages(self) -> list[BaseMessage]:
        """Return the prompt as messages."""
        return list(self.messages)


@dataclass(frozen=True)
class Told:
    """What stands in a conversation beside the model's steps."""

    role: str
    text: str
    name: str | None = None


@dataclass(frozen=True)
class Step:
    """One step of the model, with what followed; an answer has no observation.

    Args:
        thought: The thought.
        move: What was done; a misreading, if the words were corrected.
        observation: What came of it.
        words: What the model said, as far as it is known.
    """

    thought: str
    move: Move
    observation: str | None = None
    words: str | None = None


@dataclass(frozen=True)
class Scribe:
    r"""Writes a conversation in a dialect, and reads what the model says.

    For a text model the conversation is one transcript that only grows: each question, each
    step with its observation, each answer, and the cue at the end. For a chat model the
    instructions stand in the system message, and steps and observations are turns.

    Args:
        dialect: The written form.
        introduction: What opens the instructions; in the dialect's language if not given.

    Example:
        >>> from langchain_custom_agents.dialects import ENGLISH
        >>> prompt = Scribe(ENGLISH).write([HumanMessage("How old is Hiroko?")], Toolbox())
        >>> print(prompt.to_string()[-37:])
        Question: How old is Hiroko?
        Thought:
    """

    # Whether the form is asked for although no tool plays a part.
    always: ClassVar[bool] = False

    dialect: Dialect
    introduction: str | None = None

    @property
    def read_in(self) -> Dialect | None:
        """The dialect in which replies are read; None where somebody's own parser reads them."""
        return self.dialect

    @property
    def stop(self) -> tuple[str, ...]:
        """The stop sequences to send to the model."""
        return self.dialect.stop

    def read(self, words: str, tools: Toolbox) -> Reading:
        """Read a model's words. A call where there is no tool is a misreading."""
        reading = self.dialect.read(words, tools)
        if isinstance(reading.move, Action) and not tools:
            reason = self.dialect.phrases.no_such_tool.format(tool=reading.move.tool, tools="-")
            return Reading(reading.thought, NoSuchTool(words, reason, reading.move), reading.cut)
        return reading

    def correction(self, misreading: Misreading, tools: Toolbox) -> str:
        """Say to the model what was misread."""
        return self.dialect.correction(misreading, tools)

    def write(
        self,
        messages: Sequence[BaseMessage],
        tools: Toolbox,
        *,
        forced: bool = False,
        corrected: Sequence[Mapping[str, str]] = (),
    ) -> Conversation:
        """Write the prompt from which the model goes on.

        Args:
            messages: The conversation.
            tools: The tools that may be called.
            forced: Whether one must be called.
            corrected: What was misread in this turn, as in `response_metadata`.

        Raises:
            ValueError: If a message holds anything but text.
        """
        opening, entries = entries_of(messages, tools, corrected)
        head = "\n\n".join(part for part in (opening, self.head(tools, forced)) if part)
        return Conversation(
            text=self._as_text(head, entries), messages=self._as_messages(head, entries)
        )

    def head(self, tools: Toolbox, forced: bool) -> str:
        """Write the instructions: what there is to call, and in which form."""
        say = self.dialect.phrases
        parts = [self.dialect.instructions(tools)]
        if tools:
            introduction = say.introduction if self.introduction is None else self.introduction
            described = "\n".join(_described(spec) for spec in tools)
            parts = [introduction, described, *parts]
        if forced:
            parts.append(must_call(say)[0])
        parts.append(say.begin)
        return "\n\n".join(part for part in parts if part)

    def _as_text(self, head: str, entries: Iterable[Told | Step]) -> str:
        dialect, parts = self.dialect, [head]
        for entry in entries:
            if isinstance(entry, Step):
                parts.append("\n" + dialect.write(entry.thought, entry.move))
                if entry.observation is not None:
                    parts.append("\n" + dialect.observe(entry.observation))
            elif entry.role == "human":
                asked = escape_rest(dialect, entry.text)
                parts.append(f"\n\n{question_label(dialect)} {asked}")
            elif entry.role == "observation":
                parts.append("\n" + dialect.observe(entry.text))
            else:
                parts.append("\n\n" + entry.text)
        return "".join(parts) + "\n" + dialect.cue

    def _as_messages(self, head: str, entries: Iterable[Told | Step]) -> list[BaseMessage]:
        dialect = self.dialect
        turns: list[BaseMessage] = [SystemMessage(head)] if head else []
        for entry in entries:
            if isinstance(entry, Step):
                turns.append(AIMessage(dialect.write(entry.thought, entry.move)))
                if entry.observation is not None:
                    turns.append(HumanMessage(dialect.observe(entry.observation)))
            elif entry.role == "human":
                turns.append(HumanMessage(entry.text, name=entry.name))
            elif entry.role == "observation":
                turns.append(HumanMessage(dialect.observe(entry.text)))
            else:
                turns.append(SystemMessage(entry.text))
        return _merged(turns)


def plain(messages: Sequence[BaseMessage]) -> Conversation:
    """Return a conversation in which no tool plays a part, as it is.

    Raises:
        ValueError: If a message holds anything but text.
    """
    texts = [text_of(message) for message in messages]
    several = is_dialogue(messages)
    text = f"{get_buffer_string(messages)}\nAI:" if several else "\n\n".join(texts)
    return Conversation(text=text, messages=messages)


def is_dialogue(messages: Sequence[BaseMessage]) -> bool:
    """Tell whether there is more to a conversation than one question."""
    return [message.type for message in messages if message.type != "system"] != ["human"]


def is_plain(messages: Sequence[BaseMessage]) -> bool:
    """Tell whether no tool plays a part in a conversation."""
    return not any(
        isinstance(message, ToolMessage | FunctionMessage) or getattr(message, "tool_calls", None)
        for message in messages
    )


def text_of(message: BaseMessage) -> str:
    """Return a message's text.

    Raises:
        ValueError: If the message holds anything else that would be lost.
    """
    if isinstance(message.content, str):
        return message.content
    parts = []
    for block in message.content:
        if isinstance(block, str):
            parts.append(block)
            continue
        kind = str(block.get("type"))
        if kind in _TEXTS:
            parts.append(str(block.get("text") or block.get("refusal") or ""))
        elif any(word in kind for word in _MEDIA) or isinstance(message, HumanMessage):
            msg = (
                f"A message of type {message.type!r} holds a content block of type {kind!r}, but "
                "with_tool_calling says everything to its model as text: leave the block out, or "
                "put what it shows in words."
            )
            raise ValueError(msg)
        elif not isinstance(message, AIMessage):
            # What a tool returned as data; a model's own blocks are reasoning and calls.
            parts.append(json.dumps(block, ensure_ascii=False, default=str))
    # Blocks of a tool are findings of their own; those of a model are pieces of one text.
    return ("\n" if isinstance(message, ToolMessage) else "").join(parts)


def entries_of(
    messages: Sequence[BaseMessage], tools: Toolbox, corrected: Iterable[Mapping[str, str]]
) -> tuple[str, list[Told | Step]]:
    """Return what the system says at first, and what follows it.

    Raises:
        ValueError: If a message holds anything but text.
    """
    entries = [*_entries(messages, tools), *_corrections(corrected)]
    lead = 0
    while lead < len(entries) and getattr(entries[lead], "role", "") == "system":
        lead += 1
    opening = [entry.text for entry in entries[:lead] if isinstance(entry, Told)]
    return "\n\n".join(opening), entries[lead:]


def _entries(messages: Sequence[BaseMessage], tools: Toolbox) -> Iterator[Told | Step]:
    """Go through a conversation: each call of the model with its result."""
    at = 0
    while at < len(messages):
        message, at = messages[at], at + 1
        role = message.role if isinstance(message, ChatMessage) else message.type
        if isinstance(message, AIMessage) and message.tool_calls:
            begin = at
            while at < len(messages) and isinstance(messages[at], ToolMessage):
                at += 1
            yield from _calls(message, messages[begin:at], tools)
        elif role.lower() in ("ai", "assistant", "aimessagechunk"):
            read = message.response_metadata.get(READING) or {}
            yield from _corrections(read.get("misread", ()))
            text = text_of(message)
            if text.strip():
                yield Step(read.get("thought", ""), Answer(text))
        elif isinstance(message, ToolMessage | FunctionMessage):
            yield Told("observation", text_of(message))
        elif role in ("system", "developer"):
            yield Told("system", text_of(message))
        else:
            yield Told("human", text_of(message), message.name)


def _calls(
    message: AIMessage, answers: Sequence[BaseMessage], tools: Toolbox
) -> Iterator[Told | Step]:
    """Write the calls of one message and their results as one step after the other."""
    read = message.response_metadata.get(READING) or {}
    yield from _corrections(read.get("misread", ()))
    thought = read.get("thought", text_of(message))
    words = read.get("words")
    left = [answer for answer in answers if isinstance(answer, ToolMessage)]
    known = {call["id"] for call in message.tool_calls}
    for call in message.tool_calls:
        own = next((answer for answer in left if answer.tool_call_id == call["id"]), None)
        if own is None:
            own = next((answer for answer in left if answer.tool_call_id not in known), None)
        observation = UNANSWERED if own is None else text_of(own)
        left = [answer for answer in left if answer is not own]
        action = Action(call["name"], _as_input(call["args"], tools.get(call["name"])))
        yield Step(thought, action, observation, words)
        thought, words = "", None
    for answer in left:
        yield Told("observation", text_of(answer))


def _corrections(corrected: Iterable[Mapping[str, str]]) -> Iterator[Step]:
    for each in corrected:
        yield Step("", Misreading(each["words"], each["reason"]), each["correction"])


def _merged(turns: Iterable[BaseMessage]) -> list[BaseMessage]:
    """Join turns of the same side: many chat templates refuse two in a row."""
    merged: list[BaseMessage] = []
    for turn in turns:
        if merged and merged[-1].type == turn.type != "system":
            before = merged.pop()
            turn = type(turn)(f"{before.content}\n{turn.content}", name=before.name)  # noqa: PLW2901
        merged.append(turn)
    return merged


# Tool calls have named arguments; a form may write one text.


def takes_one_text(spec: ToolSpec) -> bool:
    """Tell whether a tool is best called with a text: its one argument, or all that is known."""
    if spec.args is None or spec.takes_text:
        return True
    return len(spec.args) == 1 and next(iter(spec.args.values())).get("type") == "string"


def _described(spec: ToolSpec) -> str:
    said = f"{spec.name}: {spec.description}".rstrip(": ")
    if takes_one_text(spec):
        return said
    args = {
        name: {key: value for key, value in schema.items() if key != "title"}
        for name, schema in (spec.args or {}).items()
    }
    return f"{said}, args: {json.dumps(args, ensure_ascii=False)}"


def _as_input(args: Mapping[str, Any], spec: ToolSpec | None) -> str | dict[str, Any]:
    """Return a call's arguments as a model would write them."""
    names = list(args)
    if len(names) == 1 and isinstance(args[names[0]], str):
        known = [] if spec is None or spec.args is None else list(spec.args)
        if names in (known, ["__arg1"]):
            return str(args[names[0]])
    return dict(args)


def as_arguments(given: str | dict[str, Any], spec: ToolSpec | None) -> dict[str, Any]:
    """Return what a model wrote as named arguments.

    Example:
        >>> as_arguments("3", ToolSpec("magic", args={"number": {"type": "integer"}}))
        {'number': 3}
    """
    if isinstance(given, dict):
        return given
    if spec is None or spec.args is None:
        return {"__arg1": given}
    if not spec.args:
        return {}
    name, schema = next(iter(spec.args.items()))
    return {name: _typed(given, schema)}


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    """Return a text as the value that a schema asks for, if it is written as one."""
    kinds = [schema.get("type"), *(part.get("type") for part in schema.get("anyOf", ()))]
    if "string" in kinds or not any(kinds):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
