"""Models: how words are asked for, and any text model as a chat model with tool calling.

A name is loaded when it is first used: who only asks a model loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __dir__() -> list[str]:
    """Name what is public, loaded or not."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Load a public name from its home the first time it is asked for (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{home}"), name)
