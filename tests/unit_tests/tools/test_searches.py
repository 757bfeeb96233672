"""Web searches by name."""

import sys
from types import ModuleType
from typing import Any

import pytest

from langchain_custom_agents.tools.searches import open_search


@pytest.mark.parametrize("name", ["altavista", "", "searxng", "searxng:ftp://x", None])
def test_an_unknown_search_is_refused_with_the_known_ones(name):
    """A name of no search is refused in a sentence that names those there are."""
    with pytest.raises(ValueError, match="give searxng:URL, duckduckgo, tavily, serpapi or google"):
        open_search(name)


@pytest.mark.parametrize("name", ["duckduckgo", "tavily", "serpapi", "google"])
def test_a_search_without_its_packages_says_so(name, monkeypatch):
    """Where packages are missing, the error says what to install."""
    for module in (
        "langchain_community.utilities",
        "langchain_tavily",
        "langchain_google_community",
    ):
        monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(ImportError, match="This web search needs more packages: pip install"):
        open_search(name)


class Wrapper:
    """A search of LangChain's that gives back what it is asked."""

    def __init__(self, **kwargs: Any) -> None:
        self.kwargs = kwargs

    def results(self, *asked: Any) -> list[Any]:
        return [*asked]

    def invoke(self, query: str) -> dict[str, Any]:
        return {"results": [query, self.kwargs]}


@pytest.fixture
def installed(monkeypatch):
    """Put a package with a search where LangChain's would be, and leave its keys unset."""

    def install(module: str, name: str) -> None:
        made = ModuleType(module)
        setattr(made, name, Wrapper)
        monkeypatch.setitem(sys.modules, module, made)

    for key in ("TAVILY_API_KEY", "SERPAPI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CSE_ID"):
        monkeypatch.delenv(key, raising=False)
    return install


KINDS = [
    ("duckduckgo", "langchain_community.utilities", "DuckDuckGoSearchAPIWrapper", ["q", 7], []),
    ("serpapi", "langchain_community.utilities", "SerpAPIWrapper", ["q"], ["SERPAPI_API_KEY"]),
    ("tavily", "langchain_tavily", "TavilySearch", {"results": ["q", {"max_results": 7}]},
     ["TAVILY_API_KEY"]),
    ("google", "langchain_google_community", "GoogleSearchAPIWrapper", ["q", 7],
     ["GOOGLE_API_KEY", "GOOGLE_CSE_ID"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "module", "wrapper", "found", "keys"), KINDS)
def test_each_search_is_asked_in_its_way(
    name, module, wrapper, found, keys, installed, monkeypatch
):
    """A search by name asks its wrapper for the query, and for the number of results if it can."""
    installed(module, wrapper)
    for key in keys:
        monkeypatch.setenv(key, "x")

    assert open_search(name, k=7)("q") == found


@pytest.mark.parametrize(("name", "module", "wrapper", "found", "keys"), KINDS)
def test_a_missing_key_is_named(name, module, wrapper, found, keys, installed):
    """A search that needs keys says which environment variables to set."""
    del found
    installed(module, wrapper)
    if not keys:
        assert open_search(name)
        return

    with pytest.raises(ValueError, match=f"{name} could not be opened: set .*{' and '.join(keys)}"):
        open_search(name)


def test_a_search_that_has_moved_says_what_to_install(installed):
    """Where a package is there and the search no longer in it, the error names the package."""
    installed("langchain_google_community", "SomethingElse")

    with pytest.raises(ImportError, match="pip install -U langchain-google-community"):
        open_search("google")
