"""Steps with the input in brackets: Action: Search[Hiroko], Action: Finish[a teacher]."""

import re
from dataclasses import dataclass
from functools import cached_property

from langchain_custom_agents.dialects.base import match_input, match_rest, write_input
from langchain_custom_agents.dialects.brackets import (
    closing,
    escape_brackets,
    unescape_brackets,
)
from langchain_custom_agents.dialects.labelled import LabelledDialect
from langchain_custom_agents.dialects.moves import Action, Answer, Move, tidy


@dataclass(frozen=True)
class Bracketed(LabelledDialect):
    r"""The form of the ReAct paper: the tool's input, or the answer, stands in brackets.

    Args:
        thought: The label of the reasoning; it is the cue.
        action: The label of the action.
        observation: The label of what the tool returned.
        question: The label of the question.
        phrases: The plain words around the form; in the labels' language if not given.
        finish: The word for finishing, in place of a tool's name.

    Raises:
        ValueError: If a label or the word for finishing is empty or holds a line break.

    Source:
        Yao et al., ReAct: Synergizing Reasoning and Acting in Language Models, 2022.

    Example:
        >>> own = Bracketed(thought="思考:", action="行動:", observation="観察:", finish="完了")
        >>> own.read("思考: C を調べる\n行動: GetInvoice[C]").move
        Action(tool='GetInvoice', input='C')
        >>> own.read("行動: 完了[21100]").move
        Answer(text='21100')
    """

    finish: str = "Finish"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._checked_name(tidy(self.finish))

    def _write_move(self, move: Action | Answer) -> str:
        data = isinstance(move, Action) and isinstance(move.input, dict)
        if isinstance(move, Answer):
            name, given = self.finish, write_input(self, move.text)
        else:
            name, given = self._checked_name(move.tool), write_input(self, move.input)
            if name.casefold() == self.finish.casefold():
                msg = f"A tool cannot be named {name!r}: in this dialect that means the answer."
                raise ValueError(msg)
        return f"{self.action} {name}[{escape_brackets(given, is_json=data)}]"

    def match(self, text: str) -> tuple[str, Move] | None:
        """Read text in the exact written form; see `Dialect.match`."""
        parts = self._line_labels.split(text)
        if len(parts) != 5 or parts[0] or [parts[1], parts[3]] != [self.thought, self.action]:
            return None
        thought = self._match_thought(parts[2])
        name, bracket, rest = parts[4].partition("[")
        inner = _inner(rest.rstrip()) if bracket else None
        matched = self._matched_name(name)
        if thought is None or inner is None or matched is None:
            return None
        if matched.casefold() == self.finish.casefold():
            given = match_input(self, tidy(inner))
            if isinstance(given, dict):
                given = match_rest(self, tidy(inner))
            return (thought, Answer(given)) if given and matched == self.finish else None
        given = match_input(self, tidy(inner))
        return None if given is None else (thought, Action(matched, given))

    def _checked_name(self, tool: str) -> str:
        if "[" in tool or "]" in tool:
            msg = f"The tool name {tool!r} cannot be written before brackets: it holds one."
            raise ValueError(msg)
        return super()._checked_name(tool)

    @cached_property
    def _line_labels(self) -> re.Pattern[str]:
        return re.compile(rf"^({re.escape(self.thought)}|{re.escape(self.action)})", re.MULTILINE)


def _inner(rest: str) -> str | None:
    """Return what stands before the closing bracket; None unless that bracket ends the text."""
    end = closing(rest)
    if end is None or end != len(rest) - 1:
        return None
    return unescape_brackets(rest[:end])
