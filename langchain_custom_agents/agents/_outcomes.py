"""What comes of a call and of a run, as pure functions: who decided, what failed, what is text."""

import json
from typing import Any

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.tools import BaseTool
from pydantic import ValidationError
from pydantic.v1 import ValidationError as ValidationErrorV1

from langchain_custom_agents.dialects import ToolSpec


class Unanswered(str):
    """What stands in the place of an observation where a tool gave none: it failed, say.

    It is for the model. A tool whose result is the answer (`return_direct`) has not given it.
    """

    __slots__ = ()


def approved(action: AgentAction, verdict: Any) -> tuple[AgentAction, str | None]:
    """Return the action to take and, if it is not to be taken, what the model is told.

    Raises:
        TypeError: If the verdict is none: a hook that forgets to answer must not let all pass.
    """
    if isinstance(verdict, AgentAction):
        # Only tool and input change: what ties the action to the model's message stays.
        changed = {"tool": verdict.tool, "tool_input": verdict.tool_input}
        return action.model_copy(update=changed), None
    if verdict is True:
        return action, None
    if verdict is False or isinstance(verdict, str):
        why = verdict or "the call was not approved."
        return action, f"{action.tool} was not called: {why}"
    msg = (
        f"`approve` returned {verdict!r}; return True to allow the call, an action to call "
        "instead, or False or a reason to refuse it."
    )
    raise TypeError(msg)


def plain(finish: AgentFinish) -> AgentFinish:
    """Return a finish whose output is text; an answer that is data keeps its shape beside it."""
    output = finish.return_values.get("output")
    if output is None or isinstance(output, str):
        return finish
    try:
        text = json.dumps(output, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(output)
    values = {**finish.return_values, "output": text, "structured_output": output}
    return AgentFinish(values, finish.log)


def describe_failure(tools: dict[str, BaseTool], action: AgentAction, error: Exception) -> str:
    """Say to a model why its call failed and, if its arguments were wrong, what the tool takes."""
    wrong_arguments = isinstance(
        error, ValidationError | ValidationErrorV1 | TypeError
    ) or "Too many arguments" in str(error)
    if isinstance(error, ValidationError | ValidationErrorV1):
        problems = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc']) or 'input'}: {problem['msg']}"
            for problem in error.errors()
        )
    else:
        problems = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    said = f"{action.tool} failed: {problems}"
    tool = tools.get(action.tool)
    if wrong_arguments and tool is not None:
        taken = ToolSpec.of(tool).args or {}
        args = ", ".join(f"{name} ({schema.get('type', 'any')})" for name, schema in taken.items())
        said = f"{said}. {action.tool} takes: {args or 'no arguments'}."
    return said
