"""Steps as follow-up questions and intermediate answers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from langchain_custom_agents.dialects.labelled import LabelledDialect
from langchain_custom_agents.dialects.moves import Action, Answer, Move


@dataclass(frozen=True)
class SelfAsk(LabelledDialect):
    """Follow-up questions to the one tool there is, named Intermediate Answer.

    Args:
        thought: The line that asks whether more must be asked; it is the cue.
        action: The label of a follow-up question.
        observation: The label of its answer.
        question: The label of the question.
        phrases: The plain words around the form.
        final_answer: The label of the answer.

    Raises:
        ValueError: If a label is empty, holds a line break, or is given twice.

    Source:
        Press et al., Measuring and Narrowing the Compositionality Gap in Language Models, 2022.

    Example:
        >>> print(SelfAsk().write("Yes.", Action("Intermediate Answer", "Who is her father?")))
        Are follow up questions needed here: Yes.
        Follow up: Who is her father?
    """

    thought: str = "Are follow up questions needed here:"
    action: str = "Follow up:"
    observation: str = "Intermediate answer:"
    final_answer: str = "So the final answer is:"

    only_tool: ClassVar[str | None] = "Intermediate Answer"

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels by the names of their fields."""
        return {**super().labels, "final_answer": self.final_answer}

    def _write_move(self, move: Action | Answer) -> str:
        if isinstance(move, Answer):
            return self._write_answer(self.final_answer, move.text)
        if move.tool != self.only_tool:
            msg = (
                f"This form names no tools: the tool must be {self.only_tool!r}, not {move.tool!r}."
            )
            raise ValueError(msg)
        return self._write_input(self.action, move.input)

    def match(self, text: str) -> tuple[str, Move] | None:
        """Read text in the exact written form; see `Dialect.match`."""
        parts = self._line_labels.split(text)
        if len(parts) != 5 or parts[0] or parts[1] != self.thought:
            return None
        thought = self._match_thought(parts[2])
        if thought is None:
            return None
        if parts[3] == self.final_answer:
            answer = self._match_answer(self.final_answer, parts[4])
            return (thought, Answer(answer)) if answer else None
        given = self._match_input(self.action, parts[4])
        if parts[3] != self.action or given is None:
            return None
        return thought, Action(str(self.only_tool), given)

    @cached_property
    def _line_labels(self) -> re.Pattern[str]:
        labels = (self.thought, self.action, self.final_answer)
        return re.compile(rf"^({'|'.join(re.escape(label) for label in labels)})", re.MULTILINE)
