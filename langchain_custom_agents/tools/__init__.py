"""What an agent may do.

Example:
    >>> from langchain_custom_agents.tools import calculator_tool
    >>> calculator_tool().run("6 * 7")
    'Answer: 42'
"""

from typing import TYPE_CHECKING

from langchain_custom_agents._lazy import lazily

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

__getattr__, __dir__ = lazily(__name__, _HOMES)
