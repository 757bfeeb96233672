"""Grammars of the written forms: an engine that is held to one writes only what can be read.

A grammar is made from the same labels, escapes and schemas as `write` and `match`. Ask a dialect
for it (`Dialect.grammar`), or for the keyword arguments that an engine takes (`for_engine`).
"""

from collections.abc import Callable
from typing import Any, Literal, Protocol

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

Syntax = Literal["gbnf", "lark", "json_schema"]
Engine = Literal["llama.cpp", "llama-cpp-python", "vllm", "ollama", "llguidance"]


class Held(Protocol):
    """A function from tools to the keyword arguments that hold an engine to a dialect."""

    def __call__(self, tools: Tools, *, forced: bool = False) -> dict[str, Any]:
        """Return the keyword arguments.

        Args:
            tools: The tools there are.
            forced: Whether one of them must be called.
        """


def for_engine(dialect: Dialect, engine: Engine) -> Held:
    """Return a function from tools to the keyword arguments that hold an engine to a dialect.

    Args:
        dialect: The dialect.
        engine: `"llama.cpp"` for its server behind `ChatOpenAI` or `OpenAI`,
            `"llama-cpp-python"` for `ChatLlamaCpp` and `LlamaCpp`, `"vllm"` for its server,
            `"ollama"` for `ChatOllama` and `OllamaLLM` (a JSON schema: `JsonBlob` only), and
            `"llguidance"` for whatever takes its Lark text.

    Returns:
        The function; `with_tool_calling` takes it as `constrain`. With `forced=True` its
        grammar admits calls only.

    Raises:
        ValueError: If there is no such engine.

    Example:
        >>> from langchain_custom_agents.dialects import JsonBlob
        >>> held = for_engine(JsonBlob(), "ollama")
        >>> held(["Search"], forced=True)["format"]["properties"]["action"]
        {'const': 'Search'}
    """
    makers: dict[str, tuple[Syntax, Callable[[Any], dict[str, Any]]]] = {
        "llama.cpp": ("gbnf", lambda text: {"extra_body": {"grammar": text}}),
        "llama-cpp-python": ("gbnf", lambda text: {"grammar": _parsed(text)}),
        "vllm": ("gbnf", lambda text: {"extra_body": {"structured_outputs": {"grammar": text}}}),
        "ollama": ("json_schema", lambda schema: {"format": schema}),
        "llguidance": ("lark", lambda text: {"grammar": text}),
    }
    if engine not in makers:
        msg = f"There is no engine {engine!r}; choose one of {', '.join(makers)}."
        raise ValueError(msg)
    syntax, given = makers[engine]

    def held(tools: Tools, *, forced: bool = False) -> dict[str, Any]:
        return given(dialect.grammar(tools, syntax, forced=forced))

    return held


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
    "Held",
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
