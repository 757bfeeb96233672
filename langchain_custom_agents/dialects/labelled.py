"""Steps under labels: Thought, Action, Action Input, Observation, Final Answer."""

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from typing_extensions import Self

from langchain_custom_agents.dialects.base import (
    Dialect,
    match_answer,
    match_input,
    write_answer,
    write_input,
)
from langchain_custom_agents.dialects.form import (
    Form,
    escape_fences,
    label_pattern,
    unescape_fences,
)
from langchain_custom_agents.dialects.moves import Action, Answer, Misreading, Move, Reading, tidy
from langchain_custom_agents.dialects.names import LONGEST_NAME, is_echo, is_none
from langchain_custom_agents.dialects.phrases import IN_CHINESE, IN_ENGLISH, IN_JAPANESE, Phrases
from langchain_custom_agents.dialects.recovery import recover
from langchain_custom_agents.dialects.segments import Words, introduces_example
from langchain_custom_agents.dialects.toolbox import Toolbox
from langchain_custom_agents.dialects.unwrapping import AROUND

# A tool name in quotes, brackets or markdown is somebody's mark-up around a name.
_MARKUP = "`*_\"'“”「」[](){}<>:："
_LEAD = re.compile(r"[ \t*_`]{0,9}(?:\n[ \t]{0,20})?")
_NOT_A_NAME = re.compile(r"[\n\r]|\A\s*\Z")


def _language_of(labels: Mapping[str, str]) -> Phrases:
    words = "".join(labels.values())
    if re.search(r"[\u3040-\u30ff観動終質]", words):
        return IN_JAPANESE
    return IN_CHINESE if re.search(r"[\u4e00-\u9fff]", words) else IN_ENGLISH


@dataclass(frozen=True)
class LabelledDialect(Dialect):
    """What the dialects with labels share: the labels as fields, and the common reading.

    Args:
        thought: The label of the reasoning; it is the cue.
        action: The label of the action.
        observation: The label of what a tool returned.
        question: The label of the question.
        phrases: The plain words around the form; in the labels' language if not given.

    Raises:
        TypeError: If a label is no text.
        ValueError: If a label is empty, holds a line break, or is given twice.
    """

    thought: str = "Thought:"
    action: str = "Action:"
    observation: str = "Observation:"
    question: str = "Question:"
    phrases: Phrases = IN_ENGLISH

    def __post_init__(self) -> None:
        seen: dict[str, str] = {}
        for name, label in self.labels.items():
            word = tidy(label, name).rstrip(":：").rstrip()
            if not word or "\n" in label or "\r" in label:
                msg = f"The label {name!r} of a dialect must be one word or more on one line."
                raise ValueError(msg)
            if word.lower() in seen:
                msg = (
                    f"The labels {seen[word.lower()]!r} and {name!r} of a dialect are both "
                    f"{label!r}; each label must be told from the others."
                )
                raise ValueError(msg)
            seen[word.lower()] = name
            object.__setattr__(self, name, self._spelled(tidy(label)))
        if self.phrases is IN_ENGLISH:
            object.__setattr__(self, "phrases", _language_of(self.labels))

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels by the names of their fields."""
        return {
            "thought": self.thought,
            "action": self.action,
            "observation": self.observation,
            "question": self.question,
        }

    def _spelled(self, label: str) -> str:
        return label if label.endswith((":", "：")) else label + ":"

    @property
    def cue(self) -> str:  # type: ignore[override]
        """The label of the reasoning: a step begins with a thought."""
        return self.thought

    @cached_property
    def form(self) -> Form:
        """What counts as form in a text."""
        return Form(tuple(self.labels.values()), self.observation)

    def recover(self, words: str, toolbox: Toolbox) -> Reading:
        """Repair what is certain in words that are not in the exact form, or refuse them."""
        return recover(self, words, toolbox)

    def cut(self, words: str) -> tuple[str, str]:
        """Split words at the first invented observation, on its own line or after an input."""
        head, cut = super().cut(words)
        # Nearly all words hold no such label, however many lines of actions they have.
        if not self.form.may_observe_within(head):
            return head, cut
        for line in self._acting.finditer(head):
            # The input may begin on the line below its label.
            lead = _LEAD.match(head, line.end())
            at = self.form.observation_within(head, lead.end() if lead else line.end())
            if at is not None:
                return tidy(words[:at]), tidy(words[at:])
        return head, cut

    @cached_property
    def _acting(self) -> re.Pattern[str]:
        """The labels of an action and of its input, where a line begins."""
        words = Words.of(self).spelled
        label = label_pattern(
            tuple(word for role in ("action", "input", "follow_up") for word in words.get(role, ()))
        )
        return re.compile(rf"^(?=[^\n])[ \t]{{0,20}}{label}", re.MULTILINE | re.IGNORECASE)

    def with_phrases(self, phrases: Phrases) -> Self:
        """Return the same form with other plain words around it."""
        return replace(self, phrases=phrases)

    def write(self, thought: str, move: Move) -> str:
        """Write one step; see `Dialect.write`."""
        if isinstance(move, Misreading):
            return self._write_thought(move.heard)
        if not isinstance(move, Action | Answer):
            msg = f"`move` is {move!r}; give an Action, an Answer or a Misreading."
            raise TypeError(msg)
        return f"{self._write_thought(thought)}\n{self._write_move(move)}"

    # The parts of a step.

    @abstractmethod
    def _write_move(self, move: Action | Answer) -> str:
        """Write what stands under the thought of a step."""

    def _write_thought(self, thought: str) -> str:
        content = escape_fences(tidy(thought, "thought"), self.escape)
        # What comes after such a thought would be taken as the example.
        mark = "\\" if introduces_example(content.rstrip("\\")) else ""
        escaped = self.escape(content + mark)
        lead = "\\" if self._is_quoted_step(escaped.lstrip("\\")) else ""
        return f"{self.thought} {lead}{escaped}".rstrip()

    def _is_quoted_step(self, content: str) -> bool:
        """Tell whether content looks like a whole reply in quotation marks or in a tag."""
        around = AROUND.match(content)
        return around is not None and self.form.is_nearly_in(content[around.end() :])

    def _match_thought(self, written: str) -> str | None:
        content = tidy(written)
        if self.form.is_in(content) or self._is_quoted_step(content):
            return None
        if content.startswith("\\") and self._is_quoted_step(content.lstrip("\\")):
            content = content[1:]
        content = self.unescape(content)
        if introduces_example(content.rstrip("\\")):
            if not content.endswith("\\"):
                return None
            content = content[:-1]
        return unescape_fences(content)

    def _write_after(self, label: str, content: str) -> str:
        """Write content after its label: one that begins with the label itself is escaped."""
        mark = "\\" if content.lstrip("\\").startswith(label) else ""
        return f"{label} {mark}{content}".rstrip()

    def _matched_after(self, label: str, content: str) -> str | None:
        """Undo `_write_after`; None if the label is repeated."""
        written = content.strip()
        if written.startswith(label):
            return None
        again = written.lstrip("\\").startswith(label)
        return written[1:] if again else written

    def _write_input(self, label: str, given: str | dict[str, Any]) -> str:
        written = write_input(self, given)
        if isinstance(given, str):
            written = self.form.escape_within(written)
        return self._write_after(label, written)

    def _match_input(self, label: str, content: str) -> str | dict[str, Any] | None:
        written = self._matched_after(label, content)
        if written is None:
            return None
        if not written.startswith("{"):
            written = self.form.unescape_within(written)
        return match_input(self, written)

    def _write_answer(self, label: str, text: str) -> str:
        return self._write_after(label, write_answer(self, text))

    def _match_answer(self, label: str, content: str) -> str | None:
        written = self._matched_after(label, content)
        return None if written is None else match_answer(self, written)

    def _checked_name(self, tool: str) -> str:
        if self._is_marked(tool):
            msg = (
                f"The tool name {tool!r} cannot be written in {type(self).__name__}: a name is on "
                f"one line, neither begins nor ends with one of {_MARKUP}, and does not repeat "
                f"the label {self.action!r}."
            )
            raise ValueError(msg)
        if len(tool) > LONGEST_NAME or is_none(tool) or is_echo(tool):
            msg = (
                f"The tool name {tool!r} cannot be written in {type(self).__name__}: it is longer "
                f"than {LONGEST_NAME} letters, or means that there is no tool."
            )
            raise ValueError(msg)
        return tool

    def _matched_name(self, written: str) -> str | None:
        name = written.strip()
        no_name = len(name) > LONGEST_NAME or is_none(name) or is_echo(name)
        return None if self._is_marked(name) or no_name else name

    def _is_marked(self, name: str) -> bool:
        return (
            bool(_NOT_A_NAME.search(name))
            or name[0] in _MARKUP
            or name[-1] in _MARKUP
            or name.startswith(self.action)
        )


@dataclass(frozen=True)
class Labelled(LabelledDialect):
    r"""Thought, Action, Action Input, Observation, Final Answer, in words of any language.

    Args:
        thought: The label of the reasoning; it is the cue.
        action: The label of the tool's name.
        observation: The label of what the tool returned.
        question: The label of the question.
        phrases: The plain words around the form; in the labels' language if not given.
        action_input: The label of the tool's input.
        final_answer: The label of the answer.

    Raises:
        ValueError: If a label is empty, holds a line break, or is given twice.

    Example:
        >>> german = Labelled(thought="Gedanke", action="Handlung", action_input="Eingabe",
        ...                   observation="Beobachtung", final_answer="Antwort", question="Frage")
        >>> print(german.write("Ich suche", Action("Suche", "Hiroko")))
        Gedanke: Ich suche
        Handlung: Suche
        Eingabe: Hiroko
    """

    action_input: str = "Action Input:"
    final_answer: str = "Final Answer:"

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels by the names of their fields."""
        return {
            **super().labels,
            "action_input": self.action_input,
            "final_answer": self.final_answer,
        }

    def _write_move(self, move: Action | Answer) -> str:
        if isinstance(move, Answer):
            return self._write_answer(self.final_answer, move.text)
        name = self._checked_name(move.tool)
        if self._is_answer(name):
            msg = f"A tool cannot be named {name!r}: in this dialect that means the answer."
            raise ValueError(msg)
        given = self._write_input(self.action_input, move.input)
        return f"{self.action} {name}\n{given}"

    def match(self, text: str) -> tuple[str, Move] | None:
        """Read text in the exact written form; see `Dialect.match`."""
        parts = self._line_labels.split(text)
        before, labels, contents = parts[0], parts[1::2], parts[2::2]
        if before or not labels or labels[0] != self.thought:
            return None
        thought = self._match_thought(contents[0])
        if thought is None:
            return None
        if labels[1:] == [self.final_answer]:
            answer = self._match_answer(self.final_answer, contents[1])
            return (thought, Answer(answer)) if answer else None
        if labels[1:] == [self.action, self.action_input]:
            name = self._matched_name(contents[1])
            given = self._match_input(self.action_input, contents[2])
            if name is None or given is None or self._is_answer(name):
                return None
            return thought, Action(name, given)
        return None

    @cached_property
    def _line_labels(self) -> re.Pattern[str]:
        labels = (self.thought, self.action, self.action_input, self.final_answer)
        return re.compile(rf"^({'|'.join(re.escape(label) for label in labels)})", re.MULTILINE)

    def _is_answer(self, name: str) -> bool:
        return name.casefold() == self.final_answer.rstrip(":：").casefold()


@dataclass(frozen=True)
class Conversational(Labelled):
    """The labelled form in which the answer is what the AI says, for chats.

    Args:
        final_answer: How the answer begins: what the AI is called in the conversation.

    Example:
        >>> print(Conversational().write("No tool is needed", Answer("Hello!")))
        Thought: No tool is needed
        AI: Hello!
    """

    final_answer: str = "AI:"

    @property
    def turns(self) -> tuple[str, ...]:
        """How the human's turns may begin: what a model must not write either."""
        return ("Human:", "User:", "New input:")

    @cached_property
    def form(self) -> Form:
        """What counts as form in a text."""
        return Form((*self.labels.values(), *self.turns), self.observation)


ENGLISH = Labelled()

JAPANESE = Labelled(
    question="質問:",
    thought="思考:",
    action="行動:",
    action_input="行動の入力:",
    observation="観察:",
    final_answer="最終回答:",
    phrases=IN_JAPANESE,
)

CHINESE = Labelled(
    question="问题:",
    thought="思考:",
    action="行动:",
    action_input="行动输入:",
    observation="观察:",
    final_answer="最终答案:",
    phrases=IN_CHINESE,
)
