"""LangChain agents you can open.

Importing this package costs next to nothing: every public name is loaded the first
time it is used.

Example:
    >>> from langchain_custom_agents import ReActAgent, AgentExecutor  # doctest: +SKIP
"""

from typing import TYPE_CHECKING

from langchain_custom_agents._lazy import lazily
from langchain_custom_agents._version import __version__

if TYPE_CHECKING:
    from langchain_classic.agents import AgentType

    from langchain_custom_agents.agents.executor import AgentExecutor
    from langchain_custom_agents.agents.openai_functions import OpenAIFunctionsAgent
    from langchain_custom_agents.agents.react import ReActAgent
    from langchain_custom_agents.agents.streaming import astream_answer, stream_answer
    from langchain_custom_agents.agents.structured_chat import StructuredChatAgent
    from langchain_custom_agents.agents.types import initialize_agent
    from langchain_custom_agents.docstores.folder import FolderDocstore
    from langchain_custom_agents.docstores.text import TextDocstore
    from langchain_custom_agents.docstores.wikipedia import WikipediaDocstore
    from langchain_custom_agents.models.tool_calling import with_tool_calling
    from langchain_custom_agents.records import RunRecord, Stepper
    from langchain_custom_agents.tools.calculator import calculator_tool
    from langchain_custom_agents.tools.docstore import docstore_tools
    from langchain_custom_agents.tools.reference import reference_middleware, with_reference
    from langchain_custom_agents.tools.research import research_tools, with_sources
    from langchain_custom_agents.tools.retriever import retriever_tool
    from langchain_custom_agents.vectorstores.faiss import FAISSStore

__all__ = (
    "AgentExecutor",
    "AgentType",
    "FAISSStore",
    "FolderDocstore",
    "OpenAIFunctionsAgent",
    "ReActAgent",
    "RunRecord",
    "Stepper",
    "StructuredChatAgent",
    "TextDocstore",
    "WikipediaDocstore",
    "__version__",
    "astream_answer",
    "calculator_tool",
    "docstore_tools",
    "initialize_agent",
    "reference_middleware",
    "research_tools",
    "retriever_tool",
    "stream_answer",
    "with_reference",
    "with_sources",
    "with_tool_calling",
)

_HOMES = {
    "AgentExecutor": "agents.executor",
    "AgentType": "agents.types",
    "FAISSStore": "vectorstores.faiss",
    "FolderDocstore": "docstores.folder",
    "OpenAIFunctionsAgent": "agents.openai_functions",
    "ReActAgent": "agents.react",
    "RunRecord": "records.record",
    "Stepper": "records.stepper",
    "StructuredChatAgent": "agents.structured_chat",
    "TextDocstore": "docstores.text",
    "WikipediaDocstore": "docstores.wikipedia",
    "astream_answer": "agents.streaming",
    "calculator_tool": "tools.calculator",
    "docstore_tools": "tools.docstore",
    "initialize_agent": "agents.types",
    "reference_middleware": "tools.reference",
    "research_tools": "tools.research",
    "retriever_tool": "tools.retriever",
    "stream_answer": "agents.streaming",
    "with_reference": "tools.reference",
    "with_sources": "tools.research",
    "with_tool_calling": "models.tool_calling",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
