"""Steps whose action is a JSON object in a fence: tools with several arguments."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langchain_custom_agents.dialects.labelled import LabelledDialect
from langchain_custom_agents.dialects.lenient_json import is_plain, to_json
from langchain_custom_agents.dialects.moves import Action, Answer, Misreading, Move, tidy
from langchain_custom_agents.dialects.toolbox import Toolbox, Tools

_FENCE = re.compile(r"\A\s*```json\n(.*)\n```\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class JsonBlob(LabelledDialect):
    r"""The action, or the answer, as a JSON object with `action` and `action_input`.

    Args:
        thought: The label of the reasoning; it is the cue.
        action: The label of the action.
        observation: The label of what the tool returned.
        question: The label of the question.
        phrases: The plain words around the form; in the labels' language if not given.
        finish: The `action` that means the answer.

    Raises:
        ValueError: If a label is empty, holds a line break, or is given twice.

    Example:
        >>> print(JsonBlob().write("I look", Action("Weather", {"city": "Kyoto", "days": 2})))
        Thought: I look
        Action:
        ```json
        {"action": "Weather", "action_input": {"city": "Kyoto", "days": 2}}
        ```
    """

    finish: str = "Final Answer"

    def _write_move(self, move: Action | Answer) -> str:
        return f"{self.action}\n```json\n{self._blob(move)}\n```"

    def _blob(self, move: Action | Answer) -> str:
        if isinstance(move, Answer):
            said: dict[str, Any] = {"action": self.finish, "action_input": move.text}
        elif not move.tool or move.tool.casefold() == self.finish.casefold():
            msg = f"A tool cannot be named {move.tool!r} in this dialect."
            raise ValueError(msg)
        else:
            said = {"action": move.tool, "action_input": move.input}
        return to_json(said)

    def match(self, text: str) -> tuple[str, Move] | None:
        """Read text in the exact written form; see `Dialect.match`."""
        parts = self._line_labels.split(text)
        if len(parts) == 3 and not parts[0] and parts[2].lstrip().startswith("{"):
            # What an engine writes that is held to a JSON schema: the object and nothing else.
            thought, blob = "", parts[2].strip()
        elif (
            len(parts) == 5 and not parts[0] and [parts[1], parts[3]] == [self.thought, self.action]
        ):
            fenced, known = _FENCE.match(parts[4]), self._match_thought(parts[2])
            if known is None or fenced is None:
                return None
            thought, blob = known, fenced[1]
        else:
            return None
        if not is_plain(blob):
            return None
        try:
            said = json.loads(blob)
        except (ValueError, RecursionError):
            return None
        if not isinstance(said, dict) or set(said) != {"action", "action_input"}:
            return None
        tool, given = said["action"], said["action_input"]
        if not isinstance(tool, str) or not tidy(tool) or not isinstance(given, str | dict):
            return None
        if tool == self.finish:
            answered = isinstance(given, str) and tidy(given)
            return (thought, Answer(str(given))) if answered else None
        return None if tool.casefold() == self.finish.casefold() else (thought, Action(tool, given))

    def correction(self, misreading: Misreading, tools: Tools = ()) -> str:
        """Say to a model what was misread and how to say it instead; see `Dialect.correction`."""
        toolbox, say = Toolbox.of(tools), self.phrases
        *acting, answering = (f"`{self._blob(move)}`" for _, move in self.examples(toolbox))  # type: ignore[arg-type]
        if toolbox:
            form = say.action_form.format(
                form=f"{acting[0]} | {answering}", tools=", ".join(toolbox.names)
            )
        else:
            form = say.no_tools.format(form=answering)
        return say.misread.format(reason=misreading.reason, form=form)

    @cached_property
    def _line_labels(self) -> re.Pattern[str]:
        return re.compile(rf"^({re.escape(self.thought)}|{re.escape(self.action)})", re.MULTILINE)
