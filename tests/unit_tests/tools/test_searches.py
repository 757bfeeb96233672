"""Web searches by name."""

import sys

import pytest

from langchain_custom_agents.tools.searches import open_search


@pytest.mark.parametrize("name", ["altavista", "", "searxng", "searxng:ftp://x"])
def test_an_unknown_search_is_refused_with_the_known_ones(name):
    """A name of no search is refused in a sentence that names those there are."""
    with pytest.raises(ValueError, match="give searxng:URL, duckduckgo, tavily, serpapi or google"):
        open_search(name)


@pytest.mark.parametrize("name", ["duckduckgo", "tavily", "serpapi", "google"])
def test_a_search_without_its_packages_says_so(name, monkeypatch):
    """Where packages are missing, the error says what to install."""
    for module in ("langchain_community.utilities", "langchain_tavily"):
        monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(ImportError, match="This web search needs more packages: pip install"):
        open_search(name)
