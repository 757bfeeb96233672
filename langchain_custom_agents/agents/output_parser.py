"""From a dialect to LangChain's output parsers."""

import json
import weakref
from collections.abc import Sequence
from typing import Any

from langchain_classic.agents import AgentOutputParser
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.exceptions import OutputParserException
from pydantic import ConfigDict, field_validator

from langchain_custom_agents.agents.fields import KnownFields
from langchain_custom_agents.dialects import (
    ENGLISH,
    Action,
    Dialect,
    JsonBlob,
    Misreading,
    Prose,
    Reading,
    Toolbox,
)


class MisreadingError(OutputParserException):
    """Words that could not be read, with what to say to the model about it.

    Args:
        misreading: What was misread.
        correction: What to say to the model.

    Example:
        >>> error = MisreadingError(Misreading("?", "it has no form"), "Say it again.")
        >>> error.send_to_llm, error.observation
        (True, 'Say it again.')
    """

    def __init__(self, misreading: Misreading, correction: str) -> None:
        self.misreading = misreading
        super().__init__(
            f"Could not read the model's reply: {misreading.reason}. It said: {misreading.heard!r}",
            observation=correction,
            llm_output=misreading.heard,
            send_to_llm=True,
        )


class DialectOutputParser(KnownFields, AgentOutputParser):
    r"""An output parser that reads what its dialect writes, and repairs what is certain.

    Args:
        dialect: The written form.
        tools: The tools there are: LangChain tools, or their names.

    Example:
        >>> parser = ReActOutputParser(tools=["Search"])
        >>> said = "I look\nAction: Search\nAction Input: Hiroko\nObservation: a doctor"
        >>> parser.parse(said).log
        'I look\nAction: Search\nAction Input: Hiroko'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    dialect: Dialect
    tools: Toolbox = Toolbox()

    @field_validator("tools", mode="before")
    @classmethod
    def _to_toolbox(cls, tools: Sequence[Any] | Toolbox) -> Toolbox:
        return Toolbox.of(tools)

    def parse(self, text: str) -> AgentAction | AgentFinish:
        """Read a model's words.

        Args:
            text: The words.

        Returns:
            The action, or the finish. Its log holds the words without what was cut. An answer
            in JSON that is an object or a list stands under `structured_output`, too.

        Raises:
            MisreadingError: If they cannot be read with certainty; it says what to tell the
                model.
        """
        reading = self.dialect.read(text, self.tools)
        if isinstance(reading.move, Misreading):
            correction = self.dialect.correction(reading.move, self.tools)
            raise MisreadingError(reading.move, correction)
        log = self._log(text, reading)
        if isinstance(reading.move, Action):
            action = AgentAction(reading.move.tool, reading.move.input, log)
            _remember(action, reading.thought)
            return action
        return AgentFinish(self._values(reading.move.text), log)

    def _values(self, answer: str) -> dict[str, Any]:
        """Return what an answer gives: its text and, if it is an object or a list, that."""
        if isinstance(self.dialect, JsonBlob) and answer.startswith(("{", "[")):
            try:
                return {"output": answer, "structured_output": json.loads(answer)}
            except ValueError:
                pass
        return {"output": answer}

    def _log(self, text: str, reading: Reading) -> str:
        """Return the words as they were said, up to the cut."""
        if not reading.cut:
            return text.rstrip()
        at = text.rfind(reading.cut)
        # Line ends were normalised in the cut, so it may not be found as it stands.
        said = text[:at] if at >= 0 else self.dialect.write(reading.thought, reading.move)
        return said.rstrip()

    def get_format_instructions(self) -> str:
        """Describe the form to a model."""
        return self.dialect.instructions(self.tools)

    @property
    def _type(self) -> str:
        return "dialect"


class ReActOutputParser(DialectOutputParser):
    """The output parser of `ReActAgent`; see `DialectOutputParser`."""

    dialect: Dialect = ENGLISH


class StructuredChatOutputParser(DialectOutputParser):
    """The output parser of `StructuredChatAgent`; see `DialectOutputParser`."""

    dialect: Dialect = JsonBlob()


# The thought that was read with each action, by the action's identity, for as long as it lives:
# who writes the transcript need not read the same words again.
_thoughts: dict[int, tuple[weakref.ref[AgentAction], str]] = {}


def _remember(action: AgentAction, thought: str) -> None:
    key = id(action)
    _thoughts[key] = (weakref.ref(action, lambda _: _thoughts.pop(key, None)), thought)


def thought_of(action: AgentAction) -> str | None:
    """Return the thought that was read with an action; None if it was not read here."""
    known = _thoughts.get(id(action))
    return known[1] if known is not None and known[0]() is action else None


def prose_in(error: OutputParserException) -> str | None:
    """Return the words of a misreading that may be the answer; None if they may not."""
    misreading = getattr(error, "misreading", None)
    return misreading.heard if isinstance(misreading, Prose) else None
