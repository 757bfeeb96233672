"""Running what a call names: the input a tool is given, and what is injected into it."""

import sys
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from langchain_core.agents import AgentAction
from langchain_core.tools import BaseTool, InjectedToolCallId
from langchain_core.tools.base import get_all_basemodel_annotations
from pydantic import BaseModel


def tool_call_input(
    action: AgentAction, tool: BaseTool, state: Mapping[str, Any] | None = None
) -> tuple[str | dict[str, Any], str | None]:
    """Return what to run a tool with: `tool.run(tool_input, tool_call_id=call_id)`.

    A tool that asks for its call's id, or that returns an artifact, is run with an id, and then
    returns a `ToolMessage` that holds both content and artifact.

    Args:
        action: The call.
        tool: The tool it names.
        state: What a tool that asks for the state is given: the inputs of the run, and
            `messages` or whatever else there is.

    Returns:
        The tool's input and the call's id; None if the tool does without.

    Example:
        >>> from langchain_core.tools import Tool
        >>> search = Tool("Search", lambda query: "10 years old", "looks things up")
        >>> tool_call_input(AgentAction("Search", "Hiroko", ""), search)
        ('Hiroko', None)
    """
    given = action.tool_input
    if isinstance(given, str) and isinstance(tool.args_schema, dict):
        # A tool with a JSON schema, as those of MCP servers, takes named arguments only.
        names = list(tool.args_schema.get("properties", ()))
        if len(names) == 1:
            given = {names[0]: given}
        elif not given:
            given = {}
    injected = _injected(tool)
    wants_id = any(_is(marker, InjectedToolCallId) for marker in injected.values())
    state_marker = _state_marker()
    if state_marker is not None and isinstance(given, dict):
        states = {name: m for name, m in injected.items() if _is(m, state_marker)}
        given = {**given, **{name: _part(state or {}, m) for name, m in states.items()}}
    if not wants_id and tool.response_format != "content_and_artifact":
        return given, None
    if isinstance(given, str) and wants_id:
        # One text is taken for the first argument of all, so it is given its name.
        named = [name for name in tool.args if name not in injected]
        given = {named[0]: given} if named else {}
    return given, getattr(action, "tool_call_id", None) or f"call_{uuid4().hex}"


def _injected(tool: BaseTool) -> dict[str, Any]:
    """Return the markers of the arguments that a model neither sees nor gives, by name."""
    schema = tool.args_schema
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return {}
    markers = (InjectedToolCallId, *filter(None, [_state_marker()]))
    return {
        name: marker
        for name, annotation in get_all_basemodel_annotations(schema).items()
        for marker in getattr(annotation, "__metadata__", ())
        if any(_is(marker, kind) for kind in markers)
    }


def _state_marker() -> Any:
    """Return LangGraph's marker of a state argument; only who has loaded it can have used it."""
    module = sys.modules.get("langgraph.prebuilt.tool_node")
    return getattr(module, "InjectedState", None)


def _is(marker: Any, kind: Any) -> bool:
    return isinstance(marker, kind) or (isinstance(marker, type) and issubclass(marker, kind))


def _part(state: Mapping[str, Any], marker: Any) -> Any:
    field = getattr(marker, "field", None)
    return dict(state) if field is None else state.get(field)
