r"""Reading an answer while it is still being said: what of it is certain whatever follows.

A dialect reads whole replies. An `AnswerReader` reads one piece by piece: once the dialect agrees
that the words so far begin an answer, it passes on what can no longer turn out to be anything
else. What might still become a label or a token is held back until it is decided, and after the
first thing that is escaped or needs a repair nothing more is passed on: the rest is for the
dialect, at the end.
"""

import json
import re
from typing import Protocol

from langchain_custom_agents.dialects.base import Dialect
from langchain_custom_agents.dialects.bracketed import Bracketed
from langchain_custom_agents.dialects.form import VOCABULARY, Form, plain_word
from langchain_custom_agents.dialects.json_blob import JsonBlob
from langchain_custom_agents.dialects.labelled import LabelledDialect
from langchain_custom_agents.dialects.lenient_json import is_plain
from langchain_custom_agents.dialects.moves import Answer
from langchain_custom_agents.dialects.unwrapping import AROUND, REASONING, TEMPLATE, unwrap

# What may stand before an answer without making it doubtful.
_HARMLESS = frozenset((REASONING, TEMPLATE))

# How far back a token or the opening of an answer may begin.
_TOKEN, _OPENING = 48, 400

# What a token around a model's words begins with, perhaps escaped.
_TOKEN_START = re.compile(r"\\*[<\[◁][^\s>\]▷]*\Z|\\+\Z")
_MARKS = re.compile(r"[\W\d_]*")
_STEP = re.compile(r"step[\W\d_]*", re.IGNORECASE)
_LIKE_DATA = "{[\"'`~“”「『\\"


class AnswerReader:
    r"""Reads the answer in a reply as far as it is certain.

    Whatever the rest of the reply, the pieces together are the beginning of the answer that the
    dialect reads in the whole; if it reads no answer there are none. Two kinds of reply are beyond
    that: one in which an answer is taken back by what follows it, as by the end of a reasoning
    block that was never opened; and a reply in a dialect of your own that is none of this
    package's, of which nothing is certain before its end.

    Args:
        dialect: The dialect.

    Example:
        >>> from langchain_custom_agents.dialects import ENGLISH
        >>> reader = AnswerReader(ENGLISH)
        >>> [reader.feed(piece) for piece in ("I know.\nFinal", " Answer:", " Ta", "kuma", "\nAct")]
        ['', '', 'Ta', 'kuma', '']
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._opening, self._closing = _opening_of(dialect)
        self._said = ""
        self._held = ""
        self._content: _Content | None = None
        self._spaces: str | None = None

    def feed(self, piece: str) -> str:
        """Take the next piece of the reply, and return what has become certain of the answer."""
        piece = self._held + piece
        # A line may end with two characters.
        self._held = "\r" if piece.endswith("\r") else ""
        piece = piece.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
        if self._content is None:
            found = self._open(piece)
            if found is None:
                return ""
            piece = found
        return self._stripped(self._content.feed(piece) if self._content else "")

    def _open(self, piece: str) -> str | None:
        """Look for the beginning of an answer; return what was said after it."""
        if self._opening is None:
            return None
        before, self._said = len(self._said), self._said + piece
        start = self._said.rfind("\n", 0, max(0, before - _OPENING)) + 1
        for found in self._opening.finditer(self._said, start):
            # An opening that was looked at before has not become one.
            if found.end() <= before:
                continue
            said = self._said[: found.end()]
            reading = self._dialect.read(said + "x" + self._closing)
            # What stands around a whole reply is known at its end.
            plain = _HARMLESS.issuperset(reading.repairs) and not AROUND.match(unwrap(said).body)
            certain = isinstance(self._dialect, JsonBlob) or plain
            if reading.move == Answer("x") and certain:
                self._content = _content_of(self._dialect)
                return self._said[found.end() :]
        return None

    def _stripped(self, text: str) -> str:
        """Leave out the white space around the answer."""
        if self._spaces is None:
            text = text.lstrip()
            if not text:
                return ""
            self._spaces = ""
        text = self._spaces + text
        certain = text.rstrip()
        self._spaces = text[len(certain) :]
        return certain.replace("\r\n", "\n").replace("\r", "\n")


class _Content(Protocol):
    """What stands after the opening of an answer, as it was written."""

    def feed(self, piece: str) -> str:
        """Take the next piece of it, and return what it certainly means."""


def _opening_of(dialect: Dialect) -> tuple[re.Pattern[str] | None, str]:
    """Return how an answer begins in a dialect, and what would end it."""
    if isinstance(dialect, Bracketed):
        start = rf"^{re.escape(dialect.action)}[ \t]*{re.escape(dialect.finish)}[ \t]*\["
        return re.compile(start, re.MULTILINE), "]"
    if isinstance(dialect, JsonBlob):
        named = re.escape(json.dumps(dialect.finish, ensure_ascii=False))
        start = (
            rf'^\s*(?:```(?:json)?\s*)?\{{\s*"action"\s*:\s*{named}\s*,\s*"action_input"\s*:\s*"'
        )
        return re.compile(start, re.MULTILINE), '"}\n```'
    label = getattr(dialect, "final_answer", None)
    if isinstance(dialect, LabelledDialect) and label:
        return re.compile(rf"^{re.escape(label)}", re.MULTILINE), ""
    return None, ""


def _content_of(dialect: Dialect) -> _Content:
    if isinstance(dialect, JsonBlob):
        return _JsonText(dialect.form)
    if isinstance(dialect, Bracketed):
        return _InBrackets(_Lines(dialect))
    return _Lines(dialect)


def _certain_to(text: str) -> int:
    """Return where something begins that may still become a token or an escape."""
    found = _TOKEN_START.search(text, max(0, len(text) - _TOKEN))
    return found.start() if found else len(text)


def _is_plain_text(form: Form, text: str) -> bool:
    """Tell whether nothing in a text counts as form, not even escaped."""
    return not form.is_in(text) and not form.is_escaped_in(text)


class _Lines:
    """An answer under a label: lines, of which none is a label."""

    def __init__(self, dialect: Dialect) -> None:
        self._form: Form = dialect.form
        labels = [*getattr(dialect, "labels", {}).values(), *getattr(dialect, "turns", ())]
        known = [word for words in VOCABULARY.values() for word in words]
        self._words = {
            plain_word(label) for label in (*labels, *known, dialect.cue, dialect.observation)
        }
        self._again: str = getattr(dialect, "final_answer", "")
        self._line = ""
        # Where on the line the reader is: the answer's own beginning, a line's, or within one.
        self._at = "answer"
        self._ended = False

    def feed(self, piece: str) -> str:
        certain = []
        *lines, last = piece.split("\n")
        for line in lines:
            certain.append(self._take(line, whole=True))
            certain.append("" if self._ended else "\n")
        certain.append(self._take(last, whole=False))
        return "".join(certain)

    def _take(self, piece: str, *, whole: bool) -> str:
        if self._ended:
            return ""
        self._line += piece
        if self._at == "answer" and (begun := self._line.lstrip()):
            if not whole and self._again.startswith(begun.rstrip()):
                return ""
            if begun[:1] in _LIKE_DATA or (self._again and begun.startswith(self._again)):
                # It may be marked as what it is not, be data, or repeat its label: that is for the
                # dialect to say.
                self._ended = True
                return ""
            self._at = "within"
        if self._at == "line" and not whole and self._may_be_label(self._line):
            return ""
        lead = "\n" if self._at == "line" else "\0"
        start = len(self._line) if whole else _certain_to(self._line)
        text, self._line = self._line[:start], self._line[start:]
        if not _is_plain_text(self._form, f"{lead}{text}\n" if whole else f"{lead}{text}\0"):
            self._ended = True
            return ""
        if whole:
            self._at = "answer" if self._at == "answer" else "line"
        elif text:
            self._at = "within" if self._at == "line" else self._at
        return text

    def _may_be_label(self, line: str) -> bool:
        marks = _MARKS.match(line)
        rest = line[marks.end() :] if marks else line
        if "step".startswith(rest[:4].casefold()):
            rest = _STEP.sub("", rest, count=1)
            if "step".startswith(rest.casefold()):
                return True
        word = plain_word(re.split("[:：]", rest, maxsplit=1)[0])
        return any(known.startswith(word) for known in self._words)


class _InBrackets:
    """An answer in brackets: to the one that closes, with those inside in pairs."""

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self._depth = 1
        self._before = ""

    def feed(self, piece: str) -> str:
        if not self._depth:
            return ""
        for at, mark in enumerate(piece):
            if mark in "[]":
                if self._before == "\\":
                    # Brackets are escaped where they do not pair up.
                    self._depth = 0
                    return self._lines.feed(piece[:at].rstrip("\\"))
                self._depth += 1 if mark == "[" else -1
            if not self._depth:
                # A line break after the last word decides what was held back.
                return self._lines.feed(piece[:at] + "\n")
            self._before = mark
        return self._lines.feed(piece)


class _JsonText:
    """An answer as a JSON text."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._text = ""
        self._raw = ""
        self._before = ""
        self._ended = False

    def feed(self, piece: str) -> str:
        self._raw += piece
        certain: list[str] = []
        while not self._ended:
            taken = self._next()
            if taken is None:
                break
            written, meant = taken
            certain.append(meant)
            self._before = (self._before + written)[-3:]
            self._raw = self._raw[len(written) :]
        text = self._text + "".join(certain)
        at = len(text) if self._ended else _certain_to(text)
        text, self._text = text[:at], text[at:]
        # A line of its own is no label in JSON, but a token may end the model's turn.
        if not _is_plain_text(self._form, "\0" + text.replace("\n", " ") + "\0"):
            self._ended, self._text = True, ""
            return ""
        return text

    def _next(self) -> tuple[str, str] | None:
        """Return what is certain next, as it is written and as it is meant."""
        plain = re.match(r'[^"\\\x00-\x1f]+', self._raw)
        if plain:
            return plain[0], plain[0]
        if not self._raw.startswith("\\"):
            # The closing quotation mark; or a control character, which has to be repaired.
            self._ended = bool(self._raw)
            return None
        if len(self._raw) < 2:
            return None
        escape = re.match(r'\\(?:["\\/nrt]|u[0-9a-fA-F]{4})', self._raw)
        if escape is None:
            self._ended = self._raw[1] != "u" or len(self._raw) > 5
            return None
        written = escape[0]
        if re.match(r"\\u[dD][89aAbB]", written):
            pair = re.match(r"\\u[0-9a-fA-F]{4}\\u[dD][c-fC-F][0-9a-fA-F]{2}", self._raw)
            if pair is None:
                self._ended = len(self._raw) > 11
                return None
            written = pair[0]
        # What follows tells whether a backslash was meant as one: `\neq`, `C:\new`.
        rest = self._raw[len(written) :]
        follows = re.match(r"[^\W\d_]{0,16}", rest)
        word = follows[0] if follows else ""
        if written[1] in "nrt" and len(word) == len(rest) < 16:
            return None
        if written != "\\\\" and not is_plain(self._before + written + word):
            self._ended = True
            return None
        return written, str(json.loads(f'"{written}"'))
