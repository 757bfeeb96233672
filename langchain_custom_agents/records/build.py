"""From what happened to a record: the events of a run, told in the order of its steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.outputs import LLMResult

from langchain_custom_agents.agents._messages import text_in
from langchain_custom_agents.dialects import (
    Action,
    Answer,
    Dialect,
    Misreading,
    Move,
    Toolbox,
    ToolSpec,
)
from langchain_custom_agents.loop import CORRECTION
from langchain_custom_agents.models.transcript import READING
from langchain_custom_agents.policies import CountTokens, approximate_tokens
from langchain_custom_agents.records.messages import (
    as_json,
    as_text,
    call_data,
    heard_text,
    plain,
    prompt_data,
    said_by_tool,
    sources_in,
)
from langchain_custom_agents.records.record import (
    CallRecord,
    Ending,
    RunRecord,
    StepRecord,
    Tokens,
    ToolRecord,
)
from langchain_custom_agents.records.redaction import redact

_INVALID = "invalid_tool"  # by which LangChain's executor answers for a tool that does not exist

Event: TypeAlias = tuple[str, float, UUID | None, UUID | None, tuple[Any, ...]]
"""A kind, when, inside of which tool call, about which run, and what belongs to it."""


@dataclass(frozen=True)
class Setting:
    """What a record says of the agent, and reads its words with.

    Args:
        agent: The name of the agent's class.
        dialect: The written form; None where the provider owns it or it is not known.
        toolbox: The tools.
        count: Counts the tokens of a text.
    """

    agent: str = ""
    dialect: Dialect | None = None
    toolbox: Toolbox = field(default_factory=Toolbox)
    count: CountTokens = approximate_tokens

    @classmethod
    def of(
        cls,
        agent: Any,
        dialect: Dialect | None = None,
        tools: Sequence[Any] | None = None,
        count: CountTokens = approximate_tokens,
        name: str = "",
    ) -> "Setting":
        """Ask an executor or an agent for its name, its dialect and its tools."""
        inner = getattr(agent, "_action_agent", agent)
        dialect = dialect or getattr(inner, "dialect", None)
        if tools is None:
            tools = getattr(agent, "tools", None) or getattr(
                getattr(inner, "output_parser", None), "tools", ()
            )
        known = "" if inner is None else type(inner).__name__
        box = Toolbox.of(tools if isinstance(tools, list | tuple | Toolbox) else ())
        return cls(known or name, dialect, box, count)

    def tools(self) -> list[ToolRecord]:
        """Describe the tools."""
        return [_tool(spec) for spec in self.toolbox]


def _tool(spec: ToolSpec) -> ToolRecord:
    args = None if spec.takes_text or spec.args is None else plain(dict(spec.args))
    return ToolRecord(name=spec.name, description=spec.description, args=args)


def dialect_name(dialect: Dialect | None) -> str:
    """Return what a record calls a dialect: its class and its cue, which shows the language.

    Example:
        >>> from langchain_custom_agents.dialects import JAPANESE
        >>> dialect_name(JAPANESE)
        'Labelled (思考:)'
    """
    if dialect is None:
        return ""
    cue = dialect.cue.strip()
    return f"{type(dialect).__name__} ({cue})" if cue else type(dialect).__name__


def build(
    setting: Setting,
    inputs: Any,
    events: Sequence[Event],
    began: float,
    started: datetime,
) -> RunRecord:
    """Make a record of the events of a run.

    Args:
        setting: The agent, its dialect and its tools.
        inputs: What the run was given.
        events: What happened, in order.
        began: When it began, by the clock of the events.
        started: When it began, in UTC.
    """
    story = _Story(setting, began)
    for event in events:
        story.hear(*event)
    told = story.told()
    record = RunRecord(
        inputs=_inputs(inputs),
        agent=setting.agent,
        dialect=dialect_name(setting.dialect),
        tools=setting.tools(),
        steps=story.steps,
        answer=told.answer,
        ended=told.ended,
        why=told.why,
        started=started.isoformat(timespec="milliseconds"),
        seconds=round(events[-1][1] - began, 6) if events else 0.0,
    )
    data = record.model_dump()
    clean = redact(data)
    return record if clean == data else RunRecord.model_validate(clean)


def _inputs(inputs: Any) -> dict[str, Any]:
    if isinstance(inputs, Mapping):
        kept = {name: value for name, value in inputs.items() if name != "intermediate_steps"}
        if isinstance(kept.get("messages"), list | tuple):
            kept["messages"] = convert_to_messages(kept["messages"])
        return {name: plain(value) for name, value in kept.items()}
    return {} if inputs is None else {"input": plain(inputs)}


@dataclass
class _Ending:
    ended: Ending = "unfinished"
    why: str = "The run has not ended."
    answer: str | None = None


class _Story:
    """What a run's events come to, step by step."""

    def __init__(self, setting: Setting, began: float) -> None:
        self.setting = setting
        self.began = began
        self.steps: list[StepRecord] = []
        self._asked: dict[UUID | None, tuple[StepRecord, Any, float]] = {}
        # A model that asks another one, as `with_tool_calling` does: the steps are the other's.
        self._under: dict[UUID | None, list[StepRecord]] = {}
        self._said: list[tuple[StepRecord, dict[str, Any]]] = []
        self._running: dict[UUID | None, tuple[CallRecord, float]] = {}
        self._waiting: list[CallRecord] = []
        self._made: dict[int, CallRecord] = {}
        self._moves: dict[int, Move] = {}
        self._finish: AgentFinish | None = None
        self._end: tuple[Any, ...] | None = None
        self._failed: BaseException | None = None

    def hear(
        self, kind: str, at: float, owner: UUID | None, run_id: UUID | None, what: tuple[Any, ...]
    ) -> None:
        """Take in an event."""
        if owner is not None and kind != "found":
            self._inside(kind, owner, run_id, what)
            return
        getattr(self, f"_on_{kind}")(at, owner, run_id, *what)

    def told(self) -> _Ending:
        """Say how the run ended, and where the words and the deeds differ."""
        for step in self.steps:
            self._compare(step)
        if self._failed is not None:
            return _Ending("failed", _described(self._failed))
        finish, end = self._finish, self._end
        if finish is None and end is None:
            return _Ending()
        values = dict(finish.return_values) if finish is not None else {}
        if len(values) == 1:  # An agent may call its answer something else.
            values.setdefault("output", next(iter(values.values())))
        if end is not None and isinstance(end[0], Mapping):
            values = {**values, **end[0]}
        answer = _answer_in(values, end[0] if end else None)
        return _Ending(*self._why(values, answer), answer)

    def _why(self, values: Mapping[str, Any], answer: str | None) -> tuple[Ending, str]:
        if answer is None:
            return "answered", "The run ended."
        if values.get("stopped") or answer.startswith("Agent stopped"):
            if answer.startswith("Agent stopped"):
                return "stopped", answer
            return "stopped", "The run was stopped; the answer is the best the model had."
        if values.get("unformatted"):
            return "answered", "The model's words had no form and were taken for the answer."
        last = self.steps[-1] if self.steps else None
        if last is not None and last.calls and last.answer is None:
            return "answered", f"{last.calls[-1].tool} returns its result as the answer."
        return "answered", "The model gave its final answer."

    # The model.

    def _on_ask(
        self,
        at: float,
        _: UUID | None,
        run_id: UUID | None,
        heard: Any,
        model: str,
        parent: UUID | None = None,
    ) -> None:
        step = StepRecord(prompt=prompt_data(heard), began=_rounded(at - self.began), model=model)
        if parent in self._asked:
            outer = self._asked[parent][0]
            self.steps = [other for other in self.steps if other is not outer]
            self._under.setdefault(parent, []).append(step)
        failed = self.steps[-1] if self.steps else None
        if failed is not None and failed.prompt == step.prompt and _led_nowhere(failed):
            # The same prompt again, after a failure or a reply that broke off: one step.
            self.steps.pop()
            step.retries, step.began = failed.retries + 1, failed.began
        self.steps.append(step)
        self._asked[run_id] = step, heard, at

    def _on_said(self, at: float, _: UUID | None, run_id: UUID | None, response: LLMResult) -> None:
        step, heard, began = self._asked.pop(run_id)
        generation = response.generations[0][0]
        message = getattr(generation, "message", None)
        under = self._under.pop(run_id, None)
        if under is not None:
            self._on_said_through(under, message)
            return
        step.raw = generation.text if message is None else text_in(message.content)
        if isinstance(message, BaseMessage):
            step.tool_calls = call_data(message)
            self._said += [(step, call) for call in step.tool_calls]
            step.model = step.model or str(message.response_metadata.get("model_name") or "")
        step.tokens = _tokens(response, heard, step, self.setting.count)
        step.seconds = _rounded(at - began)
        self._read(step)

    def _on_said_through(self, under: Sequence[StepRecord], message: Any) -> None:
        """Take what a model made of another one's words for the reading of them."""
        steps = [step for step in self.steps if any(step is own for own in under)]
        if not steps or not isinstance(message, BaseMessage):
            return
        last, read = steps[-1], message.response_metadata.get(READING) or {}
        for step, misread in zip(steps, read.get("misread", ()), strict=False):
            step.correction = str(misread["correction"])
        last.thought = read.get("thought", last.thought)
        last.cut = read.get("cut", last.cut)
        last.repairs = list(read.get("repairs", last.repairs))
        self._said += [(last, call) for call in call_data(message)]

    def _on_silent(
        self, at: float, _: UUID | None, run_id: UUID | None, error: BaseException
    ) -> None:
        step, heard, began = self._asked.pop(run_id)
        for last in self._under.pop(run_id, [])[-1:]:
            last.error = last.error or _described(error)
            return
        step.error, step.seconds = _described(error), _rounded(at - began)
        step.tokens = Tokens(read=self.setting.count(heard_text(heard)), counted=True)

    def _on_retry(self, _at: float, _owner: UUID | None, run_id: UUID | None) -> None:
        if run_id in self._asked:
            self._asked[run_id][0].retries += 1

    def _read(self, step: StepRecord) -> None:
        """Read the words again: what was thought, cut and repaired."""
        words, dialect = step.raw or "", self.setting.dialect
        if dialect is None:
            step.thought = words.strip() if step.tool_calls else ""
            return
        reading = dialect.read(words, self.setting.toolbox)
        step.thought, step.cut, step.repairs = reading.thought, reading.cut, [*reading.repairs]
        self._moves[id(step)] = reading.move

    def _compare(self, step: StepRecord) -> None:
        """Say what the dialect reads in the words, if something else was done."""
        move, made = self._moves.get(id(step)), step.action
        if isinstance(move, Action) and step.answer is not None:
            step.differs = f"{_call(move.tool, move.input)}, but the run took it for the answer."
        elif isinstance(move, Answer) and made is not None:
            step.differs = f"the answer, but {_call(made.tool, made.input)} was called."
        elif isinstance(move, Misreading) and made is not None:
            step.differs = f"nothing certain, but {_call(made.tool, made.input)} was called."
        elif isinstance(move, Action) and made is not None:
            given = move.input
            if move.tool != made.tool or not means(made.input, plain(given)):
                called = _call(made.tool, made.input)
                step.differs = f"{_call(move.tool, given)}, but {called} was called."

    # Deeds.

    def _on_action(
        self, _at: float, _owner: UUID | None, _run: UUID | None, action: AgentAction
    ) -> None:
        if not self.steps:
            self.steps.append(StepRecord(prompt="", raw=action.log))
        if action.tool == CORRECTION:
            self.steps[-1].correction = str(action.tool_input)
            return
        call = CallRecord(tool=action.tool, input=plain(action.tool_input))
        self.steps[-1].calls.append(call)
        self._waiting.append(call)
        self._made[id(action)] = call

    def _on_call(
        self,
        at: float,
        _: UUID | None,
        run_id: UUID | None,
        name: str,
        given: Any,
        call_id: str | None,
    ) -> None:
        if not self.steps:
            self.steps.append(StepRecord(prompt=""))
        call = self._called(name, given, call_id)
        call.began = _rounded(at - self.began)
        self._running[run_id] = call, at

    def _called(self, name: str, given: Any, call_id: str | None) -> CallRecord:
        """Find the call that a tool's start belongs to: calls may run side by side."""
        if name == _INVALID and isinstance(given, Mapping):
            name = str(given.get("requested_tool_name", name))
        same = [call for call in self._waiting if call.tool == name]
        exact = [call for call in same if means(call.input, given)]
        for call in (exact or same)[:1]:
            self._waiting.remove(call)
            return call
        # An agent without action events, as create_agent: the model's reply says the input.
        own, said = next(
            ((step, c) for step, c in reversed(self._said) if call_id and c.get("id") == call_id),
            (self.steps[-1], None),
        )
        call = CallRecord(tool=name, input=plain(given if said is None else said["args"]))
        own.calls.append(call)
        return call

    def _on_result(self, at: float, _: UUID | None, run_id: UUID | None, output: Any) -> None:
        call, began = self._running.pop(run_id)
        call.seconds = _rounded(at - began)
        call.observation, artifact = said_by_tool(output)
        if artifact is not None:
            _keep(call, artifact)

    def _on_broken(
        self, at: float, _: UUID | None, run_id: UUID | None, error: BaseException
    ) -> None:
        call, began = self._running.pop(run_id)
        call.seconds, call.error = _rounded(at - began), _described(error)

    def _on_found(
        self, _at: float, owner: UUID | None, _run: UUID | None, documents: Sequence[Any]
    ) -> None:
        if owner in self._running:
            _keep(self._running[owner][0], list(documents))

    def _on_text(self, _at: float, _owner: UUID | None, _run: UUID | None, text: str) -> None:
        """Take what the executor told the model of a call for its observation."""
        silent = [c for s in self.steps[-1:] for c in s.calls if c.observation is None]
        silent = silent or self._refused(text)
        named = [call for call in silent if call.tool in text]
        for call in (named or silent)[:1]:
            call.observation = self._without_marks(text)
            if call in self._waiting:
                self._waiting.remove(call)

    def _refused(self, text: str) -> list[CallRecord]:
        """Return the call that a text is about, if it was refused and so never announced."""
        last = self.steps[-1] if self.steps else None
        if last is None or last.raw is None or last.correction:
            return []
        said: list[tuple[str, Any]] = [(call["name"], call["args"]) for call in last.tool_calls]
        move = self._moves.get(id(last))
        if move is not None:
            said = [(move.tool, plain(move.input))] if isinstance(move, Action) else []
        for name, given in said[len(last.calls) :]:
            if name in text:
                last.calls.append(CallRecord(tool=name, input=given))
                return last.calls[-1:]
        return []

    def _without_marks(self, text: str) -> str:
        dialect, said = self.setting.dialect, text.strip()
        if dialect is None:
            return said
        said = said.removesuffix(dialect.cue.strip()) if dialect.cue.strip() else said
        return said.strip().removeprefix(dialect.observation.strip()).strip()

    def _on_steps(
        self, _at: float, _owner: UUID | None, _run: UUID | None, steps: Sequence[Any]
    ) -> None:
        """Take what the model is shown of a call for its observation."""
        for action, observation in steps:
            call = self._made.get(id(action)) or self._unannounced(action)
            if call is not None:
                call.observation = said_by_tool(observation)[0]

    def _unannounced(self, action: AgentAction) -> CallRecord | None:
        """Return the call of an action that no event announced."""
        if action.tool == CORRECTION or not self.steps:
            return None
        given, announced = plain(action.tool_input), {id(call) for call in self._made.values()}
        for call in self.steps[-1].calls:
            if (call.tool, call.input) == (action.tool, given) and id(call) not in announced:
                break
        else:
            call = CallRecord(tool=action.tool, input=given)
            self.steps[-1].calls.append(call)
        self._made[id(action)] = call
        return call

    def _on_artifact(
        self, _at: float, _owner: UUID | None, _run: UUID | None, action: AgentAction, found: Any
    ) -> None:
        call = self._made.get(id(action)) or next(
            (
                c
                for s in reversed(self.steps)
                for c in s.calls
                if c.tool == action.tool and means(c.input, action.tool_input)
            ),
            None,
        )
        if call is not None:
            _keep(call, found)

    # Endings.

    def _on_finish(
        self, _at: float, _owner: UUID | None, _run: UUID | None, finish: AgentFinish
    ) -> None:
        self._finish = finish
        if finish.log and self.steps and not self.steps[-1].calls:
            values = finish.return_values
            only = next(iter(values.values())) if len(values) == 1 else None
            self.steps[-1].answer = _answer_in(values, only if isinstance(only, str) else None)

    def _on_end(
        self,
        at: float,
        owner: UUID | None,
        run_id: UUID | None,
        outputs: Any,
        artifacts: Sequence[tuple[AgentAction, Any]] = (),
    ) -> None:
        self._end = (outputs,)
        given = outputs.get("artifacts") if isinstance(outputs, Mapping) else None
        for action, found in artifacts or (given if isinstance(given, list) else ()):
            self._on_artifact(at, owner, run_id, action, found)
        last = self.steps[-1] if self.steps else None
        if last is not None and last.answer is None and not last.calls and not last.correction:
            last.answer = _answer_in({}, outputs)

    def _on_failed(
        self, _at: float, _owner: UUID | None, _run: UUID | None, error: BaseException
    ) -> None:
        self._failed = error

    def _inside(self, kind: str, owner: UUID, run_id: UUID | None, what: tuple[Any, ...]) -> None:
        """Count what models use inside of a tool: the steps of another agent are its own."""
        if kind == "ask":
            self._asked[run_id] = StepRecord(prompt=""), what[0], 0.0
            if what[2] in self._asked:
                self._under[what[2]] = []
        elif kind == "said" and run_id in self._asked:
            _step, heard, _began = self._asked.pop(run_id)
            if self._under.pop(run_id, None) is None and owner in self._running:
                call = self._running[owner][0]
                inner = StepRecord(prompt="", raw=what[0].generations[0][0].text)
                call.tokens = call.tokens + _tokens(what[0], heard, inner, self.setting.count)


def _led_nowhere(step: StepRecord) -> bool:
    return not step.calls and step.answer is None and not step.correction


def _keep(call: CallRecord, artifact: Any) -> None:
    call.artifact = plain(artifact)
    call.sources = sources_in(artifact) or call.sources


def means(said: Any, given: Any) -> bool:
    """Tell whether a tool's input is the one that was said."""
    if said == given or str(said) == str(given):
        return True
    values = list(given.values()) if isinstance(given, Mapping) else [given]
    return said in values or (isinstance(said, Mapping) and list(said.values()) == values)


def _tokens(response: LLMResult, heard: Any, step: StepRecord, count: CountTokens) -> Tokens:
    """Return what a call used: as the model says, or counted."""
    for generation in response.generations[0][:1]:
        usage = getattr(getattr(generation, "message", None), "usage_metadata", None)
        if usage:
            return Tokens(read=usage["input_tokens"], written=usage["output_tokens"])
    said = (response.llm_output or {}).get("token_usage") or {}
    if said.get("prompt_tokens") is not None and said.get("completion_tokens") is not None:
        return Tokens(read=said["prompt_tokens"], written=said["completion_tokens"])
    words = (step.raw or "") + "".join(as_json(call) for call in step.tool_calls)
    return Tokens(read=count(heard_text(heard)), written=count(words), counted=True)


def model_name(about: Mapping[str, Any]) -> str:
    """Return the name of a model, as far as its call tells it."""
    params = about.get("invocation_params") or {}
    metadata = about.get("metadata") or {}
    names = (
        params.get("model"),
        params.get("model_name"),
        metadata.get("ls_model_name"),
        params.get("_type"),
    )
    return str(next((name for name in names if name), ""))


def _answer_in(values: Mapping[str, Any], outputs: Any) -> str | None:
    """Return the answer among a run's outputs."""
    found = values.get("output")
    if found is None and isinstance(outputs, Mapping):
        found = outputs.get("output")
        messages = outputs.get("messages")
        if found is None and isinstance(messages, list) and messages:
            last = messages[-1]
            found = text_in(last.content) if isinstance(last, BaseMessage) else None
    if found is None and isinstance(outputs, BaseMessage):
        found = text_in(outputs.content)
    if found is None and isinstance(outputs, str):
        found = outputs
    return found if found is None or isinstance(found, str) else as_json(plain(found))


def _call(tool: str, given: Any) -> str:
    return f"{tool}[{as_text(given)}]"


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
