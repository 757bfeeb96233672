"""Web searches by name, as a command line names them."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

import httpx2

__all__ = ("open_search",)

_COMMUNITY = "langchain_community.utilities"


def open_search(name: str, k: int = 4) -> Callable[[str], Any]:
    """Return a web search that `research_tools` can use.

    * `searxng:https://search.example.org`: any SearXNG with its JSON format switched on.
    * `duckduckgo`: needs `pip install langchain-community ddgs`.
    * `tavily`: needs `pip install langchain-tavily` and TAVILY_API_KEY.
    * `serpapi`: needs `pip install langchain-community google-search-results` and SERPAPI_API_KEY.
    * `google`: needs `pip install langchain-community google-api-python-client`, GOOGLE_API_KEY and
      GOOGLE_CSE_ID.

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
    kind, _, address = name.partition(":")
    if kind == "searxng" and address.startswith(("http://", "https://")):
        return lambda query: _searxng(address, query, k)
    if name == "duckduckgo":
        found = _made(_COMMUNITY, "DuckDuckGoSearchAPIWrapper", "langchain-community ddgs")
        return lambda query: found.results(query, k)
    if name == "tavily":
        found = _made("langchain_tavily", "TavilySearch", "langchain-tavily", max_results=k)
        return cast("Callable[[str], Any]", found.invoke)
    if name == "serpapi":
        packages = "langchain-community google-search-results"
        found = _made(_COMMUNITY, "SerpAPIWrapper", packages)
        return cast("Callable[[str], Any]", found.results)
    if name == "google":
        packages = "langchain-community google-api-python-client"
        found = _made(_COMMUNITY, "GoogleSearchAPIWrapper", packages)
        return lambda query: found.results(query, k)
    msg = (
        f"There is no web search {name!r}; give searxng:URL, duckduckgo, tavily, serpapi or "
        "google. In Python, research_tools takes any search tool or function."
    )
    raise ValueError(msg)


def _searxng(address: str, query: str, k: int) -> list[dict[str, Any]]:
    asked = {"q": query, "format": "json"}
    answer = httpx2.get(
        f"{address.rstrip('/')}/search", params=asked, timeout=20, follow_redirects=True
    )
    answer.raise_for_status()
    found: list[dict[str, Any]] = answer.json()["results"][:k]
    return found


def _made(module: str, name: str, packages: str, **kwargs: Any) -> Any:
    try:
        return getattr(import_module(module), name)(**kwargs)
    except ImportError as error:
        msg = f"This web search needs more packages: pip install {packages} ({error})."
        raise ImportError(msg) from error
    except ValueError as error:  # pydantic's words name the key that is missing
        reason = " ".join(str(error).split())[:300]
        msg = f"The web search could not be opened: {reason}"
        raise ValueError(msg) from error
