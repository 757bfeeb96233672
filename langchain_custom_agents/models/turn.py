"""One turn of a model with tool calling: words are asked for until they can be read. No I/O."""

import hashlib
import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage

from langchain_custom_agents.dialects import Action, Dialect, Misreading, Prose, Reading, Toolbox
from langchain_custom_agents.models.asking import cut_at
from langchain_custom_agents.models.transcript import (
    READING,
    Conversation,
    Scribe,
    as_arguments,
    is_plain,
    must_call,
    plain,
)

REASONING = "reasoning_content"
"""The key of `additional_kwargs` under which LangChain looks for a model's reasoning."""

Unreadable = Literal["raise", "return"]


class UnreadableReplyError(OutputParserException):
    """A model's words could not be read, however often it was asked.

    Args:
        misreading: What was misread at last.
        corrected: How often the model was corrected.

    Example:
        >>> error = UnreadableReplyError(Misreading("Action:", "its action names no tool"), 2)
        >>> error.llm_output
        'Action:'
    """

    def __init__(self, misreading: Misreading, corrected: int) -> None:
        self.misreading = misreading
        times = "once" if corrected == 1 else f"{corrected} times"
        although = f", although it was corrected {times}" if corrected else ""
        super().__init__(
            f"The model's reply could not be read{although}: {misreading.reason}. "
            f"It said: {misreading.heard!r}",
            llm_output=misreading.heard,
        )


@dataclass(frozen=True)
class Ask:
    """What the model is to be asked.

    Args:
        prompt: What to say to it.
        stop: Where it should stop.
    """

    prompt: Conversation
    stop: tuple[str, ...]


@dataclass(frozen=True)
class Turn:
    """One turn: what there is to say, and how the reply becomes a message.

    Args:
        scribe: Writes the conversation and reads the reply.
        messages: The conversation.
        tools: The tools that may be called.
        forced: Whether one must be called.
        stop: The caller's own stop sequences.
        reasks: How often a misread model is corrected.
        unreadable: What becomes of words that cannot be read after that.
    """

    scribe: Scribe
    messages: Sequence[BaseMessage]
    tools: Toolbox = field(default_factory=Toolbox)
    forced: bool = False
    stop: tuple[str, ...] = ()
    reasks: int = 2
    unreadable: Unreadable = "raise"

    @cached_property
    def formed(self) -> bool:
        """Whether the reply is to be in the written form: tools play a part."""
        return self.scribe.always or bool(self.tools) or not is_plain(self.messages)

    @property
    def read_in(self) -> Dialect | None:
        """The dialect in which the reply is read; None if it is taken as it is."""
        return self.scribe.read_in if self.formed else None

    def asking(self) -> Generator[Ask, str, AIMessage]:
        """Ask for words until they can be read.

        Yields:
            What to ask the model, to be answered with its words.

        Returns:
            The message: tool calls, or an answer.

        Raises:
            UnreadableReplyError: If they cannot be read in the end.
        """
        if not self.formed:
            words = cut_at((yield Ask(plain(self.messages), self.stop)), self.stop)
            if not words.strip() and self.unreadable == "raise":
                reason = self.scribe.dialect.phrases.empty
                raise UnreadableReplyError(Misreading(words, reason), 0)
            return AIMessage(words)
        stop = tuple(dict.fromkeys((*self.scribe.stop, *self.stop)))
        misread: list[dict[str, str]] = []
        prose = False
        while True:
            prompt = self.scribe.write(
                self.messages, self.tools, forced=self.forced, corrected=misread
            )
            said = yield Ask(prompt, stop)
            reading = self._read(said)
            move = reading.move
            if not isinstance(move, Misreading):
                return self._message(said, reading, misread, prompt)
            if self._is_taken(move, len(misread), again=prose):
                return self._message(said, reading, misread, prompt)
            prose = prose or isinstance(move, Prose)
            misread.append(
                {
                    "words": move.heard,
                    "reason": move.reason,
                    "correction": self.scribe.correction(move, self.tools),
                }
            )

    def _read(self, said: str) -> Reading:
        reading = self.scribe.read(cut_at(said, self.stop), self.tools)
        if self.forced and not isinstance(reading.move, Action | Misreading):
            reason = must_call(self.scribe.dialect.phrases)[1]
            return Reading(reading.thought, Misreading(said, reason), reading.cut)
        return reading

    def _is_taken(self, misreading: Misreading, corrected: int, *, again: bool) -> bool:
        """Tell whether the words are taken as they are, after so many corrections."""
        over = corrected >= self.reasks
        if isinstance(misreading, Prose) and not self.forced:
            # Prose said again is meant; without tools there is nothing else it could be.
            return over or again or not self.tools
        if over and self.unreadable == "raise":
            raise UnreadableReplyError(misreading, corrected)
        return over

    def _message(
        self,
        said: str,
        reading: Reading,
        misread: Sequence[Mapping[str, str]],
        prompt: Conversation,
    ) -> AIMessage:
        move, calls, content = reading.move, list[ToolCall](), ""
        read: dict[str, Any] = {"words": said, "thought": reading.thought}
        if reading.cut:
            read["cut"] = reading.cut
        if reading.repairs:
            read["repairs"] = list(reading.repairs)
        if misread:
            read["misread"] = list(misread)
        if isinstance(move, Action):
            args = as_arguments(move.input, self.tools.get(move.tool))
            calls = [ToolCall(name=move.tool, args=args, id=self._new_id(move, prompt))]
        elif isinstance(move, Misreading):
            # What is returned is no better for an observation that was invented after it.
            content = self.scribe.dialect.cut(move.heard)[0] or move.heard
            read["thought"] = ""
            read["unformatted" if isinstance(move, Prose) else "unreadable"] = move.reason
        else:
            content = move.text
        thought = read["thought"]
        return AIMessage(
            content,
            tool_calls=calls,
            additional_kwargs={REASONING: thought} if thought else {},
            response_metadata={READING: read},
        )

    def _new_id(self, action: Action, prompt: Conversation) -> str:
        """Make a call's id of all that led to it, so that a replay gives it again."""
        used = {
            message.tool_call_id for message in self.messages if isinstance(message, ToolMessage)
        }
        used |= {call["id"] for m in self.messages for call in getattr(m, "tool_calls", ())}
        led = json.dumps([prompt.text, action.tool, action.input], default=str)
        count = 0
        while True:
            digest = hashlib.sha256(f"{count}{led}".encode("utf-8", "replace")).hexdigest()
            if f"call_{digest[:24]}" not in used:
                return f"call_{digest[:24]}"
            count += 1
