"""Models: how words are asked for, and any text model as a chat model with tool calling.

A name is loaded when it is first used: who only asks a model loads nothing else.
"""

from typing import TYPE_CHECKING

from langchain_custom_agents._lazy import lazily

if TYPE_CHECKING:
    from langchain_custom_agents.models.classic import as_model
    from langchain_custom_agents.models.tool_calling import ToolCallingModel, with_tool_calling
    from langchain_custom_agents.models.turn import UnreadableReplyError

__all__ = ("ToolCallingModel", "UnreadableReplyError", "as_model", "with_tool_calling")

_HOMES = {
    "ToolCallingModel": "tool_calling",
    "UnreadableReplyError": "turn",
    "as_model": "classic",
    "with_tool_calling": "tool_calling",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
