"""What an agent may do.

Example:
    >>> from langchain_custom_agents.tools import calculator_tool
    >>> calculator_tool().run("6 * 7")
    'Answer: 42'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_custom_agents.tools.calculator import calculator_tool
    from langchain_custom_agents.tools.docstore import docstore_tools
    from langchain_custom_agents.tools.reference import reference_middleware, with_reference
    from langchain_custom_agents.tools.research import research_tools, with_sources
    from langchain_custom_agents.tools.retriever import retriever_tool
    from langchain_custom_agents.tools.searches import open_search

__all__ = (
    "calculator_tool",
    "docstore_tools",
    "open_search",
    "reference_middleware",
    "research_tools",
    "retriever_tool",
    "with_reference",
    "with_sources",
)

_HOMES = {
    "calculator_tool": "calculator",
    "docstore_tools": "docstore",
    "open_search": "searches",
    "reference_middleware": "reference",
    "research_tools": "research",
    "retriever_tool": "retriever",
    "with_reference": "reference",
    "with_sources": "research",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is asked for: who searches pages needs no store."""
    home = _HOMES.get(name)
    if home is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    """Name what is public, loaded or not."""
    return sorted(__all__)
