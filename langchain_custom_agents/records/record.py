"""RunRecord: one run of an agent as data."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from langchain_custom_agents._counted import counted

if TYPE_CHECKING:
    from rich.console import Console

    from langchain_custom_agents.records.playback import MakeAgent

VERSION: Final = 1
KIND: Final = "langchain-custom-agents run record"

Prompt: TypeAlias = str | list[dict[str, Any]]
"""What a model was sent: one text, or messages with `role` and `content`."""

Ending: TypeAlias = Literal["answered", "stopped", "failed", "unfinished"]


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Tokens(_Data):
    """What a model call used.

    Args:
        read: The tokens of the prompt.
        written: The tokens of the reply.
        counted: Whether they were counted here, because the model reported none.

    Example:
        >>> (Tokens(read=1, written=2) + Tokens(read=3, written=4, counted=True)).total
        10
    """

    read: int = 0
    written: int = 0
    counted: bool = False

    @property
    def total(self) -> int:
        """The tokens read and written."""
        return self.read + self.written

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            read=self.read + other.read,
            written=self.written + other.written,
            counted=self.counted or other.counted,
        )


class ToolRecord(_Data):
    """A tool that there was.

    Args:
        name: Its name.
        description: What the model was told about it.
        args: The JSON schema of each argument; None if it takes one text.
    """

    name: str
    description: str = ""
    args: dict[str, Any] | None = None


class CallRecord(_Data):
    """One call of a tool.

    Args:
        tool: The tool's name.
        input: What it was called with.
        observation: What the model was told; None if there was no result.
        artifact: What the tool returned beside it.
        sources: The metadata of the documents it comes from.
        error: The tool's exception; empty if there was none.
        began: The seconds after the run began; None if the tool was not run.
        seconds: The seconds it took; None if the tool was not run.
        tokens: What models used inside the tool, as when the tool is itself an agent.
    """

    tool: str
    input: Any = ""
    observation: str | None = None
    artifact: Any = None
    sources: list[dict[str, Any]] = Field(default_factory=list)
    error: str = ""
    began: float | None = None
    seconds: float | None = None
    tokens: Tokens = Field(default_factory=Tokens)


class StepRecord(_Data):
    """One reply of the model, and what came of it.

    Args:
        prompt: What the model was sent, to the letter.
        raw: What it said, to the letter; None if it gave no reply.
        tool_calls: The calls in its reply, where the provider owns the form.
        thought: The reasoning in its words.
        cut: The words that were cut: from the first invented observation on.
        repairs: What was mended to read the words.
        calls: The calls that were made: one, or several side by side.
        answer: The answer, if the words were taken for it.
        correction: What the model was told, if its words could not be read.
        differs: What the dialect reads in the words, if something else was done.
        error: The model's exception; empty if there was none.
        model: The model's name, as far as it gives one.
        tokens: What the call used.
        began: The seconds after the run began.
        seconds: The seconds the model took.
        retries: How often the same was asked before without a whole reply.
    """

    prompt: Prompt
    raw: str | None = None
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    thought: str = ""
    cut: str = ""
    repairs: list[str] = Field(default_factory=list)
    calls: list[CallRecord] = Field(default_factory=list)
    answer: str | None = None
    correction: str = ""
    differs: str = ""
    error: str = ""
    model: str = ""
    tokens: Tokens = Field(default_factory=Tokens)
    began: float = 0.0
    seconds: float = 0.0
    retries: int = 0

    @property
    def action(self) -> CallRecord | None:
        """The call that was made; the first, if there were several."""
        return self.calls[0] if self.calls else None

    @property
    def observation(self) -> str | None:
        """What the model was told of the first call."""
        return self.calls[0].observation if self.calls else None


class RunRecord(_Data):
    r"""One run of an agent: what was asked, sent, said, cut, done, found and answered.

    A record is data: it goes to JSON and back, is shown, exported and replayed. Secrets are left
    out by the rule of `langchain_custom_agents.records.redaction`.

    Args:
        inputs: What the run was given.
        agent: The agent's class.
        dialect: The written form; empty where the provider owns it.
        tools: The tools.
        steps: The model's replies and what came of each.
        answer: The answer; None if there is none.
        ended: How the run ended.
        why: The same as a sentence.
        started: When the run began, in UTC.
        seconds: How long it took.
        kind: What this data is.
        version: The version of the schema.

    Example:
        >>> from langchain_core.tools import Tool
        >>> from langchain_custom_agents import AgentExecutor, ReActAgent
        >>> from langchain_custom_agents.records import Recorder
        >>> from langchain_custom_agents.testing import ScriptedLLM
        >>> search = Tool("Search", lambda query: "takuma is a teacher", "looks things up")
        >>> llm = ScriptedLLM([
        ...     "I look\nAction: Search\nAction Input: Takuma\nObservation: a doctor",
        ...     "I know\nFinal Answer: a teacher",
        ... ])
        >>> agent = ReActAgent.from_llm_and_tools(llm, [search])
        >>> executor = AgentExecutor(agent=agent, tools=[search])
        >>> recorder = Recorder(executor)
        >>> _ = executor.invoke({"input": "What is Takuma?"}, {"callbacks": [recorder]})
        >>> record = recorder.record
        >>> record.steps[0].cut, record.steps[0].observation, record.answer
        ('Observation: a doctor', 'takuma is a teacher', 'a teacher')
        >>> RunRecord.from_json(record.to_json()) == record
        True
    """

    kind: Literal["langchain-custom-agents run record"] = KIND
    version: Literal[1] = VERSION
    inputs: dict[str, Any] = Field(default_factory=dict)
    agent: str = ""
    dialect: str = ""
    tools: list[ToolRecord] = Field(default_factory=list)
    steps: list[StepRecord] = Field(default_factory=list)
    answer: str | None = None
    ended: Ending = "unfinished"
    why: str = ""
    started: str = ""
    seconds: float = 0.0

    @property
    def question(self) -> str:
        """What was asked, as text."""
        given = self.inputs.get("input", self.inputs.get("question"))
        if given is None and isinstance(self.inputs.get("messages"), list):
            asked = [m for m in self.inputs["messages"] if m.get("role") == "user"]
            given = asked[-1]["content"] if asked else None
        if given is None and len(self.inputs) == 1:
            given = next(iter(self.inputs.values()))
        if given is None:
            given = self.inputs or ""
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)

    @property
    def tokens(self) -> Tokens:
        """What all model calls used."""
        used = Tokens()
        for step in self.steps:
            used = used + step.tokens
            for call in step.calls:
                used = used + call.tokens
        return used

    @property
    def calls(self) -> list[CallRecord]:
        """All calls of tools, in order."""
        return [call for step in self.steps for call in step.calls]

    # JSON.

    def to_json(self) -> str:
        """Return the record as JSON text, which can always be written as UTF-8."""
        text = json.dumps(self.model_dump(), ensure_ascii=False, indent=1) + "\n"
        # Half a pair of UTF-16, which broken streams leave, stays what it is as \ud83d.
        return text.encode("utf-8", "backslashreplace").decode("utf-8")

    @classmethod
    def from_json(cls, text: str) -> "RunRecord":
        """Read a record from JSON text.

        Raises:
            ValueError: If the text is no record, or one of a newer version.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            msg = f"This is no run record: it is not JSON ({error})."
            raise ValueError(msg) from error
        if not isinstance(data, dict) or data.get("kind") != KIND:
            msg = f"This is no run record: its `kind` is not {KIND!r}."
            raise ValueError(msg)
        version = data.get("version")
        if version != VERSION:
            msg = (
                f"This run record has the version {version!r}; this package reads {VERSION}. "
                "Read it with the package that wrote it, or a newer one."
            )
            raise ValueError(msg)
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            found = error.errors()[0]
            where = ".".join(str(part) for part in found["loc"])
            msg = f"The field `{where}` of this run record is not right: {found['msg']}."
            raise ValueError(msg) from error

    def save(self, file: str | Path) -> Path:
        """Write the record to a JSON file; its folder is made.

        Returns:
            The file.
        """
        path = Path(file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.to_json(), encoding="utf-8")
        return path

    @classmethod
    def load(cls, file: str | Path) -> "RunRecord":
        """Read a record from a JSON file.

        Raises:
            ValueError: If the file holds no record, or one of a newer version.
        """
        return cls.from_json(Path(file).read_text(encoding="utf-8-sig"))

    # Pictures.

    def show(self, console: "Console | None" = None, *, prompts: bool = False) -> None:
        """Print the run to a terminal.

        Args:
            console: The rich console to print to.
            prompts: Whether to print what is new in each prompt, too.
        """
        from langchain_custom_agents.records.show import show

        show(self, console, prompts=prompts)

    def to_html(self, file: str | Path | None = None) -> str:
        """Write the run as one web page that needs nothing else.

        Args:
            file: Where to write it.

        Returns:
            The page.
        """
        from langchain_custom_agents.records.page import page

        text = page(self)
        if file is not None:
            Path(file).write_text(text, encoding="utf-8")
        return text

    def _repr_html_(self) -> str:
        """Show the run in a notebook."""
        from langchain_custom_agents.records.page import fragment

        return fragment(self)

    def __repr__(self) -> str:
        asked = self.question if len(self.question) <= 60 else f"{self.question[:59]}…"
        return (
            f"RunRecord({asked!r}: {counted(len(self.steps), 'step')}, "
            f"{counted(len(self.calls), 'call')}, {self.ended}, {self.answer!r})"
        )

    __str__ = __repr__

    # Tests.

    def replay(self, agent: "MakeAgent | Any", *, strict_prompt: bool = True) -> "RunRecord":
        """Run the agent again on the recorded words; see `records.replay`."""
        from langchain_custom_agents.records.playback import replay

        return replay(self, agent, strict_prompt=strict_prompt)
