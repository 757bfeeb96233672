"""The public names, pinned: adding one is a decision, removing one a deprecation."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import langchain_custom_agents

PUBLIC = {
    "langchain_custom_agents": {
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
    },
    "langchain_custom_agents.dialects": {
        "CHINESE",
        "ENGLISH",
        "JAPANESE",
        "Action",
        "Answer",
        "Bracketed",
        "Conversational",
        "Dialect",
        "JsonBlob",
        "Labelled",
        "Misreading",
        "Move",
        "NoSuchTool",
        "Prose",
        "Reading",
        "SelfAsk",
        "ToolSpec",
        "Toolbox",
    },
    "langchain_custom_agents.models": {
        "ToolCallingModel",
        "UnreadableReplyError",
        "as_model",
        "with_tool_calling",
    },
    "langchain_custom_agents.tools": {
        "calculator_tool",
        "docstore_tools",
        "open_search",
        "reference_middleware",
        "research_tools",
        "retriever_tool",
        "with_reference",
        "with_sources",
    },
    "langchain_custom_agents.testing": {"DialectLaws", "ScriptedChatModel", "ScriptedLLM"},
    "langchain_custom_agents.offline": {
        "ExtractiveChatModel",
        "ExtractiveLLM",
        "HashingEmbeddings",
    },
}
NAMES = [(module, name) for module, names in PUBLIC.items() for name in sorted(names)]


@pytest.mark.parametrize("module", PUBLIC)
def test_all_is_pinned(module: str) -> None:
    """A module offers exactly the pinned names, in order and each once."""
    offered = list(import_module(module).__all__)

    assert set(offered) == PUBLIC[module]
    assert len(offered) == len(set(offered))


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_name_can_be_imported(module: str, name: str) -> None:
    """Every public name is there when it is asked for."""
    assert getattr(import_module(module), name) is not None


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_name_is_in_dir(module: str, name: str) -> None:
    """Every public name is in `dir()`, loaded or not, so completion offers it."""
    assert name in dir(import_module(module))


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_name_is_visible_to_a_type_checker(module: str, name: str) -> None:
    """Every public name is bound by a plain import or assignment that a type checker sees."""
    source = Path(str(import_module(module).__file__)).read_text(encoding="utf-8")
    bound = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            bound.add(node.name)

    assert name in bound


def test_a_wrong_name_is_an_attribute_error() -> None:
    """A name that does not exist fails as it does in any module."""
    with pytest.raises(AttributeError, match="has no attribute 'ReactAgent'"):
        langchain_custom_agents.ReactAgent  # noqa: B018


def test_a_name_keeps_its_identity() -> None:
    """A name loaded late is the object of its home module, and stays the same."""
    home = import_module("langchain_custom_agents.agents.react")

    assert langchain_custom_agents.ReActAgent is home.ReActAgent
    assert langchain_custom_agents.ReActAgent is langchain_custom_agents.ReActAgent
