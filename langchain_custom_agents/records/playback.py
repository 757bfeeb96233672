"""Replaying: a recorded run is a test of the agent, without its model and without its tools."""

import difflib
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from langchain_core.tools import BaseTool, StructuredTool, Tool

from langchain_custom_agents._counted import counted
from langchain_custom_agents.records.build import means
from langchain_custom_agents.records.messages import (
    as_text,
    plain,
    prompt_data,
    prompt_text,
    reply_of,
)
from langchain_custom_agents.records.record import CallRecord, RunRecord, StepRecord, ToolRecord
from langchain_custom_agents.records.recorder import Recorder
from langchain_custom_agents.records.redaction import redact
from langchain_custom_agents.testing.scripted import ScriptedChatModel, ScriptedLLM

MakeAgent: TypeAlias = Callable[[Any, list[BaseTool]], Any]
"""Makes an agent, an executor or a graph of a model and tools."""


class ReplayDifferenceError(AssertionError):
    """A replay that did not go as the recorded run.

    Args:
        where: What differs, such as "step 2, the prompt".
        recorded: How it was.
        replayed: How it is now.

    Example:
        >>> print(ReplayDifferenceError("the answer", "a teacher", "a doctor"))
        The replay differs from the record in the answer.
        - recorded: a teacher
        + replayed: a doctor
    """

    def __init__(self, where: str, recorded: str, replayed: str) -> None:
        self.where, self.recorded, self.replayed = where, recorded, replayed
        shown = _difference(recorded, replayed)
        super().__init__(f"The replay differs from the record in {where}.\n{shown}")


class _DivergedError(BaseException):
    """Ends a replay at the first difference. No `except Exception` on the way may hold it up."""

    def __init__(self, difference: ReplayDifferenceError) -> None:
        super().__init__()
        self.difference = difference


class ReplayedError(RuntimeError):
    """The failure of a model or a tool, as it was recorded."""


def replay(
    record: RunRecord | str | Path, agent: MakeAgent | Any, *, strict_prompt: bool = True
) -> RunRecord:
    r"""Run an agent again on the words and the results of a recorded run.

    No model is asked and no tool is called: a scripted model says what was recorded, and stand-ins
    for the tools return what was recorded. The first difference ends the replay. In a test:

        def test_hiroko():
            replay("tests/runs/hiroko.json", ReActAgent.from_llm_and_tools)

    Args:
        record: The record, or the file that holds it.
        agent: Makes what is to be tested: called with a model and tools it returns an agent, an
            executor or a graph. Or an agent or executor, which is copied with these.
        strict_prompt: Whether every prompt must be what it was, to the letter. Otherwise only
            what was done and answered is compared.

    Returns:
        The record of the replay.

    Raises:
        ReplayDifferenceError: At the first difference; it says where, and shows both.

    Example:
        >>> from langchain_core.tools import Tool
        >>> from langchain_custom_agents import ReActAgent
        >>> from langchain_custom_agents.records import Stepper
        >>> search = Tool("Search", lambda query: "a teacher", "looks things up")
        >>> llm = ScriptedLLM(["I look\nAction: Search\nAction Input: Takuma",
        ...                    "I know\nFinal Answer: a teacher"])
        >>> agent = ReActAgent.from_llm_and_tools(llm, [search])
        >>> record = Stepper(agent, [search], "What is Takuma?").finish()
        >>> replay(record, ReActAgent.from_llm_and_tools).answer
        'a teacher'
    """
    if not isinstance(record, RunRecord):
        record = RunRecord.load(record)
    script = _Script(record, strict_prompt)
    made = _made(agent, script.model(), script.tools())
    recorder = Recorder(made)
    try:
        made.invoke(dict(record.inputs), {"callbacks": [recorder]})
    except _DivergedError as diverged:
        raise diverged.difference from None
    except Exception as error:
        if record.ended != "failed":
            said = f"{type(error).__name__}: {error}"
            raise ReplayDifferenceError("how it ended", record.ended, f"failed: {said}") from error
    replayed = recorder.record
    _compare_ends(record, replayed)
    return replayed


class _Script:
    """What the model says and the tools return, and whether it is asked for in the same way."""

    def __init__(self, record: RunRecord, strict_prompt: bool) -> None:
        self.record = record
        self.strict = strict_prompt
        self.said = 0
        self.left = list(record.calls)

    def model(self) -> Any:
        chats = any(not isinstance(step.prompt, str) for step in self.record.steps)
        return ScriptedChatModel(self._reply) if chats else ScriptedLLM(self._reply)

    def tools(self) -> list[BaseTool]:
        return [self._tool(tool) for tool in self.record.tools]

    def _reply(self, heard: Any) -> Any:
        self._check_calls()
        steps, self.said = self.record.steps, self.said + 1
        if self.said > len(steps):
            number = len(steps)
            said = prompt_text(redact(prompt_data(heard)))
            self._diverge(
                "the number of steps",
                f"{counted(number, 'reply', 'replies')} of the model",
                f"one more, to:\n{said}",
            )
        step = steps[self.said - 1]
        if self.strict:
            self._check_prompt(step, heard)
        if step.raw is None:
            raise ReplayedError(step.error)
        if isinstance(heard, str):
            return step.raw
        return reply_of(step.raw, step.tool_calls)

    def _check_prompt(self, step: StepRecord, heard: Any) -> None:
        now = redact(prompt_data(heard))
        if now != step.prompt:
            where = f"step {self.said}, the prompt"
            self._diverge(where, prompt_text(step.prompt), prompt_text(now))

    def _check_calls(self) -> None:
        """Refuse to go on if a call that belongs to the replies so far was not made."""
        due = [call for step in self.record.steps[: self.said] for call in step.calls]
        missing = [
            call for call in due if any(call is left for left in self.left) and _was_run(call)
        ]
        if missing:
            self._diverge(f"step {self.said}, the action", _called(missing[0]), "it was not called")

    def _tool(self, tool: ToolRecord) -> BaseTool:
        if tool.args is None:

            def run(given: str) -> str:
                return self._result(tool.name, given)

            return Tool(name=tool.name, func=run, description=tool.description)

        def run_named(**given: Any) -> str:
            return self._result(tool.name, given)

        required = [name for name, schema in tool.args.items() if "default" not in schema]
        schema = {
            "type": "object",
            "title": tool.name,
            "description": tool.description,
            "properties": tool.args,
            "required": required,
        }
        return StructuredTool(
            name=tool.name, description=tool.description, args_schema=schema, func=run_named
        )

    def _result(self, name: str, given: Any) -> str:
        given = redact(plain(given))
        same = [call for call in self.left if call.tool == name and means(call.input, given)]
        if not same:
            due = [call for call in self.left if _was_run(call)]
            before = _called(due[0]) if due else "nothing more"
            self._diverge(f"step {self.said}, the action", before, f"{name}[{as_text(given)}]")
        call = same[0]
        self.left = [left for left in self.left if left is not call]
        if call.error and call.observation is None:
            raise ReplayedError(call.error)
        return call.observation or ""

    def _diverge(self, where: str, recorded: str, replayed: str) -> None:
        raise _DivergedError(ReplayDifferenceError(where, recorded, replayed))


def _made(agent: Any, model: Any, tools: list[BaseTool]) -> Any:
    """Return something to invoke."""
    from langchain_custom_agents.agents.executor import AgentExecutor

    if hasattr(agent, "plan") or hasattr(agent, "_action_agent"):
        agent = _with(agent, model, tools)
    elif callable(agent):
        agent = agent(model, tools)
    if hasattr(agent, "plan"):
        agent = AgentExecutor(agent=agent, tools=tools)
    if not hasattr(agent, "invoke") or inspect.isclass(agent):
        msg = (
            "`agent` must make an agent of a model and tools, such as "
            "`ReActAgent.from_llm_and_tools`, or be an agent or an executor; "
            f"it gave {type(agent).__name__}."
        )
        raise TypeError(msg)
    return agent


def _with(agent: Any, model: Any, tools: list[BaseTool]) -> Any:
    """Return a copy of an agent or an executor with another model and other tools."""
    inner = getattr(agent, "_action_agent", None)
    if inner is not None:
        copied = _with(inner, model, tools)
        given = {
            n: getattr(agent, n) for n in agent.model_fields_set if n not in ("agent", "tools")
        }
        return type(agent)(agent=copied, tools=tools, **given)
    fields = {name: getattr(agent, name) for name in agent.model_fields_set}
    if "llm_chain" in type(agent).model_fields:
        fields["llm_chain"] = agent.llm_chain.model_copy(update={"llm": model})
    elif "llm" in type(agent).model_fields:
        fields.update(llm=model, tools=tools)
    else:
        msg = f"{type(agent).__name__} holds its model out of reach: give what makes it instead."
        raise TypeError(msg)
    return type(agent)(**fields)


def _compare_ends(record: RunRecord, replayed: RunRecord) -> None:
    pairs: Sequence[tuple[str, Any, Any]] = (
        ("how it ended", record.ended, replayed.ended),
        ("the number of steps", len(record.steps), len(replayed.steps)),
        ("the answer", record.answer, replayed.answer),
    )
    for where, before, now in pairs:
        if before != now:
            raise ReplayDifferenceError(where, str(before), str(now))


def _was_run(call: CallRecord) -> bool:
    return call.began is not None


def _called(call: CallRecord) -> str:
    return f"{call.tool}[{as_text(call.input)}]"


def _difference(recorded: str, replayed: str) -> str:
    """Show two texts: whole if they are short, otherwise around their first difference."""
    before, now = recorded.splitlines() or [""], replayed.splitlines() or [""]
    if len(before) == 1 and len(now) == 1:
        return f"- recorded: {recorded}\n+ replayed: {replayed}"
    lines = list(difflib.unified_diff(before, now, "recorded", "replayed", n=2, lineterm=""))
    return "\n".join(lines[:40] + (["..."] if len(lines) > 40 else []))
