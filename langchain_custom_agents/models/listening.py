"""What of a reply can be passed on while it is still being said: its thought, and its answer."""

import json

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk

from langchain_custom_agents.dialects import Dialect
from langchain_custom_agents.dialects.answering import _LIKE_DATA, AnswerReader, _Lines
from langchain_custom_agents.dialects.labelled import LabelledDialect
from langchain_custom_agents.models.asking import UntilStop
from langchain_custom_agents.models.turn import REASONING, Turn

_FENCES = ("\\", "`", "~")


class ThoughtReader:
    r"""Reads the thought that a reply begins with, as far as it is certain.

    A dialect of your own that is none of this package's has its thought read at the end.

    Args:
        dialect: The dialect.

    Example:
        >>> from langchain_custom_agents.dialects import ENGLISH
        >>> reader = ThoughtReader(ENGLISH)
        >>> [reader.feed(piece) for piece in ("Thought: I", " look", "\nAct", "ion: Search\n")]
        ['', 'I look', '', '']
    """

    def __init__(self, dialect: Dialect) -> None:
        self._cue = dialect.cue
        self._lines = _ThoughtLines(dialect) if isinstance(dialect, LabelledDialect) else None
        self._begun = False
        self._held = ""
        self._spaces = ""

    def feed(self, piece: str) -> str:
        """Take the next piece of the reply, and return what has become certain of the thought."""
        if self._lines is None:
            return ""
        if not self._begun:
            self._held = (self._held + piece).lstrip()
            if len(self._held) <= len(self._cue) and self._cue.startswith(self._held):
                return ""
            piece = self._held.removeprefix(self._cue).lstrip()
            if not piece:
                return ""
            self._begun = True
            if piece[0] in _LIKE_DATA:
                # It may be a call, or marked as what it is not: that is for the dialect to say.
                self._lines = None
                return ""
        said = self._spaces + self._lines.feed(piece)
        certain = said.rstrip()
        self._spaces = said[len(certain) :]
        return certain


class _ThoughtLines(_Lines):
    """Lines of which the first may be a label already: a model may leave the thought out."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self._at = "line"

    def _take(self, piece: str, *, whole: bool) -> str:
        if self._at == "line" and (self._line + piece).lstrip().startswith(_FENCES):
            # A fence, perhaps escaped: what it means is seen at its end.
            self._ended = True
        return super()._take(piece, whole=whole)


class Listener:
    """Follows one turn: makes chunks of what is certain, and at the end of what is left.

    The thought is passed on as reasoning, the answer as content. What was passed on of a reply
    that is then asked for again cannot be taken back: the reasoning goes on on a new line.

    Args:
        turn: The turn.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._reasoned = False
        self._told = ""
        self.again()

    def again(self) -> None:
        """Note that the model is asked again."""
        dialect = self._turn.read_in
        self._thoughts = None if dialect is None else ThoughtReader(dialect)
        # Where a tool must be called there is no answer.
        forced = self._turn.forced
        self._answers = None if dialect is None or forced else AnswerReader(dialect)
        self._thought, self._answer = "", ""
        self._until = UntilStop(self._turn.stop)
        self._pieces: list[str] = []

    @property
    def words(self) -> str:
        """The reply so far."""
        return "".join(self._pieces)

    def hear(self, piece: str | None) -> AIMessageChunk | None:
        """Take the next piece of a reply, and return what can be passed on of it.

        Args:
            piece: The piece; None if the reply broke off and is asked for again.
        """
        if piece is None:
            self.again()
            return None
        self._pieces.append(piece)
        piece = self._until.feed(piece)
        if not self._turn.formed:
            return self._chunk("", piece)
        thought = "" if self._answer or self._thoughts is None else self._thoughts.feed(piece)
        answer = self._answers.feed(piece) if self._answers is not None else ""
        return self._chunk(thought, answer)

    def rest(self, message: AIMessage) -> AIMessageChunk:
        """Return what is left of the message that was made of the reply."""
        thought = str(message.additional_kwargs.get(REASONING, ""))
        left = thought[len(self._thought) :] if thought.startswith(self._thought) else ""
        content = str(message.content)
        if content.startswith(self._told):
            content = content[len(self._told) :]
        elif self._told:
            # What was passed on was taken back: the answer follows, whole, on its own line.
            content = "\n" + content
        calls = [
            tool_call_chunk(
                name=call["name"],
                args=json.dumps(call["args"], ensure_ascii=False),
                id=call["id"],
                index=at,
            )
            for at, call in enumerate(message.tool_calls)
        ]
        return AIMessageChunk(
            content=content,
            additional_kwargs=self._reasoning(left),
            tool_call_chunks=calls,
            response_metadata=message.response_metadata,
            usage_metadata=message.usage_metadata,
            chunk_position="last",
        )

    def _chunk(self, thought: str, answer: str) -> AIMessageChunk | None:
        self._answer += answer
        # A reply that is asked for again, because its stream broke off, begins anew.
        fresh = ""
        if self._answer.startswith(self._told):
            fresh = self._answer[len(self._told) :]
            self._told = self._answer
        if not fresh and not thought:
            return None
        return AIMessageChunk(content=fresh, additional_kwargs=self._reasoning(thought))

    def _reasoning(self, thought: str) -> dict[str, str]:
        """Return what is passed on of a thought, parted from that of a reply before."""
        if not thought:
            return {}
        parted = "\n" if self._reasoned and not self._thought else ""
        self._thought += thought
        self._reasoned = True
        return {REASONING: parted + thought}
