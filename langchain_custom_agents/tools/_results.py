"""What web searches give, in whatever form, as documents."""

import ast
import json
from collections.abc import Iterable
from typing import Any

from langchain_core.documents import Document
from langchain_core.tools import ToolException

from langchain_custom_agents.tools._article import visible
from langchain_custom_agents.tools._passages import clip

__all__ = ("results_of",)

_TITLES = ("title", "name")
_LINKS = ("link", "url", "href", "source")
_SNIPPETS = ("snippet", "body", "content", "text", "description")


def results_of(found: Any) -> str | list[Document]:
    """Return what a search gave as documents, or as the text it is.

    Args:
        found: A text, also one that holds a list; a document or mapping, or a list of these.

    Raises:
        ToolException: If it says why there is nothing, as Tavily and SerpAPI do.

    Example:
        >>> results_of("[{'href': 'https://a.org', 'title': 'A', 'body': 'b'}]")[0].metadata
        {'source': 'https://a.org', 'title': 'A'}
    """
    if isinstance(found, str):
        read = _literal(found)
        if read is None:
            return found
        found = read
    if isinstance(found, dict):
        for key in ("results", "organic_results", "organic", "items"):
            if isinstance(found.get(key), list):
                return results_of(found[key])
        if (trouble := found.get("error")) and not _result(found).page_content:
            raise ToolException(str(trouble))
        found = [found]
    if isinstance(found, Document):
        found = [found]
    if isinstance(found, bytes) or not isinstance(found, Iterable):
        return str(found or "")
    results = map(_result, found)
    return [one for one in results if one.page_content or any(one.metadata.values())]


def _literal(text: str) -> Any:
    """Read a list or mapping that a search wrote as text: JSON, or as Python writes it."""
    if text.lstrip()[:1] not in {"[", "{"}:
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            made = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return made if isinstance(made, (list, dict)) else None
    return None


def _result(one: Any) -> Document:
    if isinstance(one, Document):
        text, told = one.page_content, one.metadata
    elif isinstance(one, dict):
        text, told = _first(one, _SNIPPETS), one
    else:
        text, told = str(one), {}
    metadata = {"source": _first(told, _LINKS), "title": _first(told, _TITLES)}
    return Document(clip(" ".join(visible(text).split()), 250), metadata=metadata)


def _first(told: dict[str, Any], names: tuple[str, ...]) -> str:
    texts = (told.get(name) for name in names)
    return next((visible(text) for text in texts if isinstance(text, str) and text), "")
