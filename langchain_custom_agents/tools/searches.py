"""Web searches by name, as a command line names them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import httpx2

__all__ = ("SEARCHES", "open_search")


@dataclass(frozen=True)
class _Kind:
    """A search that LangChain has, and what it needs."""

    home: str
    packages: str
    keys: tuple[str, ...]
    ask: Callable[[Any, str, int], Any]


_COMMUNITY = "langchain_community.utilities"
_KINDS = {
    "duckduckgo": _Kind(
        f"{_COMMUNITY}.DuckDuckGoSearchAPIWrapper",
        "langchain-community ddgs",
        (),
        lambda found, query, k: found.results(query, k),
    ),
    "tavily": _Kind(
        "langchain_tavily.TavilySearch",
        "langchain-tavily",
        ("TAVILY_API_KEY",),
        lambda found, query, _: found.invoke(query),
    ),
    "serpapi": _Kind(
        f"{_COMMUNITY}.SerpAPIWrapper",
        "langchain-community google-search-results",
        ("SERPAPI_API_KEY",),
        lambda found, query, _: found.results(query),
    ),
    "google": _Kind(
        "langchain_google_community.GoogleSearchAPIWrapper",
        "langchain-google-community",
        ("GOOGLE_API_KEY", "GOOGLE_CSE_ID"),
        lambda found, query, k: found.results(query, k),
    ),
}
SEARCHES = ("searxng:URL", *_KINDS)


def open_search(name: str, k: int = 4) -> Callable[[str], Any]:
    """Return a web search that `research_tools` can use.

    * `searxng:https://search.example.org`: any SearXNG with its JSON format switched on.
    * `duckduckgo`: needs `pip install langchain-community ddgs`.
    * `tavily`: needs `pip install langchain-tavily` and TAVILY_API_KEY.
    * `serpapi`: needs `pip install langchain-community google-search-results` and SERPAPI_API_KEY.
    * `google`: needs `pip install langchain-google-community`, GOOGLE_API_KEY and GOOGLE_CSE_ID.

    Args:
        name: The search.
        k: How many results to ask for.

    Returns:
        A function of a query.

    Raises:
        ValueError: If there is no search of this name, or it lacks its key.
        ImportError: If its packages are not installed.

    Example:
        >>> open_search("altavista")
        Traceback (most recent call last):
        ValueError: There is no web search 'altavista'; give searxng:URL, duckduckgo, tavily, ...
    """
    kind, _, address = str(name).partition(":")
    if kind == "searxng" and address.startswith(("http://", "https://")):
        return lambda query: _searxng(address, query, k)
    if name not in _KINDS:
        msg = (
            f"There is no web search {name!r}; give {', '.join(SEARCHES[:-1])} or {SEARCHES[-1]}. "
            "In Python, research_tools takes any search tool or function."
        )
        raise ValueError(msg)
    chosen = _KINDS[name]
    found = _made(name, chosen, k)
    return lambda query: chosen.ask(found, query, k)


def _searxng(address: str, query: str, k: int) -> list[dict[str, Any]]:
    asked = {"q": query, "format": "json"}
    answer = httpx2.get(
        f"{address.rstrip('/')}/search", params=asked, timeout=20, follow_redirects=True
    )
    if answer.status_code == 403:
        raise ValueError(_NO_JSON.format(address=address, why="it answered HTTP 403"))
    answer.raise_for_status()
    try:
        found = answer.json()["results"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(_NO_JSON.format(address=address, why="its answer is none")) from error
    return list(found)[:k]


_NO_JSON = (
    "{address} gave no results as JSON ({why}): check the address, and name json among "
    "search.formats in the settings.yml of that SearXNG"
)


def _made(name: str, kind: _Kind, k: int) -> Any:
    module, _, made = kind.home.rpartition(".")
    kwargs = {"max_results": k} if name == "tavily" else {}
    try:
        wrapper = getattr(import_module(module), made)
        _require(kind.keys)
        return wrapper(**kwargs)
    except (ImportError, AttributeError) as error:
        msg = f"This web search needs more packages: pip install -U {kind.packages} ({error})."
        raise ImportError(msg) from error
    except ValueError as error:
        reason = " ".join(str(error).split())[:300].rstrip(".")
        msg = f"The web search {name} could not be opened: {reason}."
        raise ValueError(msg) from error


def _require(keys: tuple[str, ...]) -> None:
    missing = [key for key in keys if not os.environ.get(key)]
    if missing:
        msg = f"set the environment variable {' and '.join(missing)}"
        raise ValueError(msg)
