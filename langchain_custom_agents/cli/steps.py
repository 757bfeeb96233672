"""What an agent does, told step by step as it happens."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.outputs import LLMResult

from langchain_custom_agents.dialects import Dialect, Reading, Toolbox
from langchain_custom_agents.loop import CORRECTION

Tell = Callable[[str, str, str | None], None]
"""Takes the kind of an event (see `show.STYLES`), its text, and a label of its own or None."""


@dataclass
class Steps(BaseCallbackHandler):
    """A callback handler that tells what happens, and keeps it.

    Args:
        tell: Told each event: thought, action, observation, what was cut, mended, corrected.
        dialect: The form in which the model's words are read; None where the provider owns it.
        tools: The agent's tools, as the dialect needs them to read.
        tell_words: Tell each reply of the model word for word before it is read.

    Attributes:
        said: The model's replies, word for word.
        taken: What was kept: a mapping for each step or correction.
        thought: The last thought, before the answer.
    """

    tell: Tell
    dialect: Dialect | None = None
    tools: Toolbox = field(default_factory=Toolbox)
    tell_words: bool = False
    said: list[str] = field(default_factory=list)
    taken: list[dict[str, Any]] = field(default_factory=list)
    thought: str = ""
    _unread: bool = False
    _waiting: list[dict[str, Any]] = field(default_factory=list)
    _running: dict[UUID, dict[str, Any]] = field(default_factory=dict)

    # A closed pipe or a mistake here must end the run, not be logged by LangChain.
    raise_error = True

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        """Keep what the model said."""
        generation = response.generations[0][0]
        message = getattr(generation, "message", None)
        self.said.append(str(generation.text if message is None else message.text))
        self._unread = True
        if self.tell_words:
            self.tell("said", self.said[-1].strip(), None)

    def on_agent_action(self, action: AgentAction, **_: Any) -> None:
        """Tell what the agent is about to do, or how its model was corrected."""
        if action.tool == CORRECTION:
            self._unread = False
            self.taken.append({"heard": action.log, "correction": str(action.tool_input)})
            self.tell("correction", str(action.tool_input), None)
            return
        step = self._told()
        step.update(action=action.tool, input=action.tool_input, observation=None)
        self.taken.append(step)
        self._waiting.append(step)
        self.tell("action", _input_text(action.tool_input), action.tool)

    def on_tool_start(
        self, serialized: dict[str, Any], input_str: str, *, run_id: UUID, **_: Any
    ) -> None:
        """Remember which step this call belongs to: calls may run side by side."""
        same = [step for step in self._waiting if step["action"] == (serialized or {}).get("name")]
        exact = [step for step in same if str(step["input"]) in input_str]
        for step in (exact or same or self._waiting)[:1]:
            self._waiting.remove(step)
            self._running[run_id] = step

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Tell what a tool returned."""
        self._observed(getattr(output, "content", output), run_id)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Tell that a tool failed."""
        self._observed(f"{type(error).__name__}: {error}", run_id)

    def on_agent_finish(self, finish: AgentFinish, **_: Any) -> None:
        """Tell the last thought; the answer is the caller's to tell."""
        if finish.log:
            self.thought = self._told()["thought"]

    def _observed(self, output: Any, run_id: UUID) -> None:
        step = self._running.pop(run_id, None)
        if step is not None:
            step["observation"] = str(output)
        self.tell("observation", str(output), None)

    def _told(self) -> dict[str, Any]:
        """Tell what stands before a move; several calls of one reply share one thought."""
        step: dict[str, Any] = {"thought": "", "cut": "", "repairs": []}
        if not self._unread:
            return step
        self._unread = False
        reading = self._read(self.said[-1])
        step.update(thought=reading.thought, cut=reading.cut, repairs=list(reading.repairs))
        if reading.thought:
            self.tell("thought", reading.thought, None)
        if reading.cut:
            self.tell("cut", _one_line(reading.cut), None)
        for repair in reading.repairs:
            self.tell("repair", repair, None)
        return step

    def _read(self, words: str) -> Reading:
        from langchain_custom_agents.dialects import Answer

        if self.dialect is None:
            # With tool calling the words beside a call are the thought; alone they are the answer.
            return Reading(words if self._waiting else "", Answer(""))
        return self.dialect.read(words, self.tools)


def _input_text(given: str | Mapping[str, Any]) -> str:
    if isinstance(given, str):
        return given
    values = list(given.values())
    # A single argument needs no name: the call reads like one of a text agent.
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def _one_line(words: str) -> str:
    return " / ".join(part.strip() for part in words.splitlines() if part.strip())
