"""What is injected into the call of a tool: its id and the state, which no model gives."""

import copy
import sys
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from langchain_core.agents import AgentAction
from langchain_core.tools import BaseTool, InjectedToolCallId
from langchain_core.tools.base import get_all_basemodel_annotations
from pydantic import BaseModel


def with_injected(
    tool: BaseTool, action: AgentAction, state: Mapping[str, Any] | None = None
) -> BaseTool:
    """Return a tool that is ready to run an action: `tool.run(action.tool_input)`.

    LangChain's executors cannot run a tool that asks for the id of its call or for the state,
    and a tool with a JSON schema, as those of MCP servers, refuses a bare text.

    Args:
        tool: The tool that the action names.
        action: The action.
        state: What a tool that asks for the state is given: the inputs of the run, say, and
            `messages`.

    Returns:
        The tool itself if it asks for nothing; otherwise a copy for this one call.

    Example:
        >>> from typing import Annotated
        >>> from langchain_core.tools import tool
        >>> @tool
        ... def remember(text: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
        ...     "Remember a text."
        ...     return f"{text} under {call_id}"
        >>> action = AgentAction("remember", {"text": "tea"}, "")
        >>> with_injected(remember, action).run(action.tool_input)[:15]
        'tea under call_'
    """
    markers = _markers(tool)
    if not markers and not isinstance(tool.args_schema, dict):
        return tool
    parse = tool._parse_input
    call_id = getattr(action, "tool_call_id", None) or f"call_{uuid4().hex}"
    state_marker = _state_marker()
    states = {
        name: _part(state or {}, marker)
        for name, marker in markers.items()
        if state_marker is not None and _is(marker, state_marker)
    }

    def parse_with_injected(tool_input: Any, tool_call_id: str | None) -> Any:
        given = _named(tool_input, tool, markers)
        if isinstance(given, dict):
            given = {**given, **states}
        return parse(given, tool_call_id or call_id)

    ready = copy.copy(tool)
    # Past pydantic, which knows no such field; an instance's attribute comes before its class's.
    object.__setattr__(ready, "_parse_input", parse_with_injected)
    return ready


def _named(given: Any, tool: BaseTool, markers: Mapping[str, Any]) -> Any:
    """Return a bare text under the name of the one argument it can be for."""
    if not isinstance(given, str):
        return given
    schema = tool.args_schema
    known = schema.get("properties", {}) if isinstance(schema, dict) else tool.args
    names = [name for name in known if name not in markers]
    if len(names) == 1:
        return {names[0]: given}
    return given or {}


def _markers(tool: BaseTool) -> dict[str, Any]:
    """Return the markers of the arguments that a model neither sees nor gives, by name."""
    schema = tool.args_schema
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return {}
    kinds = [InjectedToolCallId, *filter(None, [_state_marker()])]
    return {
        name: marker
        for name, annotation in get_all_basemodel_annotations(schema).items()
        for marker in getattr(annotation, "__metadata__", ())
        if any(_is(marker, kind) for kind in kinds)
    }


def _state_marker() -> Any:
    """Return LangGraph's marker of a state argument; only who has loaded it can have used it."""
    return getattr(sys.modules.get("langgraph.prebuilt.tool_node"), "InjectedState", None)


def _is(marker: Any, kind: Any) -> bool:
    return isinstance(marker, kind) or (isinstance(marker, type) and issubclass(marker, kind))


def _part(state: Mapping[str, Any], marker: Any) -> Any:
    field = getattr(marker, "field", None)
    return dict(state) if field is None else state.get(field)
