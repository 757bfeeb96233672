"""Grammars of the written forms: an engine that is held to one writes only what can be read.

A grammar is made from the same labels, escapes and schemas as `write` and `match`. Ask a dialect
for it (`Dialect.grammar`), or for the keyword arguments that an engine takes (`for_engine`).
"""

from collections.abc import Callable
from typing import Any, Literal

from langchain_custom_agents.dialects.base import Dialect
from langchain_custom_agents.dialects.grammars.nodes import (
    Chars,
    Choice,
    Except,
    Grammar,
    Node,
    Ref,
    Repeat,
    either,
    many,
    maybe,
    none_of,
    one_of,
    seq,
)
from langchain_custom_agents.dialects.grammars.schemas import Schemas
from langchain_custom_agents.dialects.toolbox import Tools

Engine = Literal["llama.cpp", "llama-cpp-python", "vllm", "ollama", "llguidance"]


def for_engine(dialect: Dialect, engine: Engine) -> Callable[[Tools], dict[str, Any]]:
    """Return a function from tools to the keyword arguments that hold an engine to a dialect.

    Args:
        dialect: The dialect.
        engine: `"llama.cpp"` for its server behind `ChatOpenAI` or `OpenAI`,
            `"llama-cpp-python"` for `ChatLlamaCpp` and `LlamaCpp`, `"vllm"` for its server,
            `"ollama"` for `ChatOllama` and `OllamaLLM` (a JSON schema: `JsonBlob` only), and
            `"llguidance"` for whatever takes its Lark text.

    Returns:
        The function; `with_tool_calling` takes it as `constrain`.

    Raises:
        ValueError: If there is no such engine.

    Example:
        >>> from langchain_custom_agents.dialects import JsonBlob
        >>> held = for_engine(JsonBlob(), "ollama")
        >>> held(["Search"])["format"]["anyOf"][0]["properties"]["action"]
        {'const': 'Search'}
    """
    makers: dict[str, Callable[[Tools], dict[str, Any]]] = {
        "llama.cpp": lambda tools: {"extra_body": {"grammar": dialect.grammar(tools, "gbnf")}},
        "llama-cpp-python": lambda tools: {"grammar": _parsed(dialect.grammar(tools, "gbnf"))},
        "vllm": lambda tools: {
            "extra_body": {"structured_outputs": {"grammar": dialect.grammar(tools, "gbnf")}}
        },
        "ollama": lambda tools: {"format": dialect.grammar(tools, "json_schema")},
        "llguidance": lambda tools: {"grammar": dialect.grammar(tools, "lark")},
    }
    if engine not in makers:
        msg = f"There is no engine {engine!r}; choose one of {', '.join(makers)}."
        raise ValueError(msg)
    return makers[engine]


def _parsed(text: Any) -> Any:
    try:
        from llama_cpp import LlamaGrammar  # type: ignore[import-not-found]
    except ImportError as error:
        msg = "Grammars for llama-cpp-python need it: pip install llama-cpp-python"
        raise ImportError(msg) from error
    return LlamaGrammar.from_string(text)


__all__ = (
    "Chars",
    "Choice",
    "Engine",
    "Except",
    "Grammar",
    "Node",
    "Ref",
    "Repeat",
    "Schemas",
    "either",
    "for_engine",
    "many",
    "maybe",
    "none_of",
    "one_of",
    "seq",
)
