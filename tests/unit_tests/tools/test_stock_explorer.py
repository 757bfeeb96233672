"""What goes wrong in LangChain's DocstoreExplorer goes right here: each fault, side by side."""

import threading

import pytest
from langchain_classic.agents.react.base import DocstoreExplorer
from langchain_classic.agents.react.output_parser import ReActOutputParser
from langchain_core.documents import Document

from langchain_custom_agents import TextDocstore, docstore_tools
from langchain_custom_agents.dialects import Bracketed

PAGES = {
    "A": "The word is here.\n\nThe word is there.",
    "B": "Another word.\n\nOne more word.",
    "C": "word and word",
}


class Store:
    """A docstore as the stock explorer wants it."""

    def search(self, term):
        """Find a page."""
        return Document(PAGES[term]) if term in PAGES else f"Could not find {term}."


class Stock:
    """The stock explorer, with the calls of a pair of tools."""

    def __init__(self):
        explorer = DocstoreExplorer(Store())
        self.search, self.lookup = explorer.search, explorer.lookup


class Ours:
    """Our tools, with the same calls."""

    def __init__(self):
        search, lookup = docstore_tools(TextDocstore(PAGES), lookup_tokens=0)
        self.search, self.lookup = search.run, lookup.run


def lookup_before_search_is_an_observation(tools):
    """Lookup before Search must not end the run."""
    assert isinstance(tools.lookup("word"), str)


def a_new_page_begins_a_new_count(tools):
    """On a new page the first result comes first."""
    tools.search("A")
    tools.lookup("word")
    tools.search("B")
    assert tools.lookup("word").startswith("(Result 1/2)")


def a_miss_keeps_the_page(tools):
    """After a search that found nothing the page is still there."""
    tools.search("A")
    tools.search("nowhere")
    assert tools.lookup("there") == "(Result 1/1) The word is there."


def both_users_keep_their_pages(tools):
    """Two users of one set of tools, each in a thread, keep their pages."""
    found = {}
    both = threading.Barrier(2)

    def user(title, word):
        tools.search(title)
        both.wait(60)
        try:
            found[title] = tools.lookup(word)
        finally:
            both.wait(60)

    threads = [threading.Thread(target=user, args=a) for a in (("A", "here"), ("B", "more"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "The word is here." in found["A"]
    assert "One more word." in found["B"]


CHECKS = [
    lookup_before_search_is_an_observation,
    a_new_page_begins_a_new_count,
    a_miss_keeps_the_page,
    both_users_keep_their_pages,
]


@pytest.mark.parametrize("check", CHECKS)
def test_our_tools_have_no_fault_of_the_stock_explorer(check):
    """Each check holds for our tools."""
    check(Ours())


@pytest.mark.parametrize("check", CHECKS)
def test_the_stock_explorer_has_the_fault(check):
    """Each check fails for the stock explorer: the faults are real."""
    with pytest.raises((AssertionError, ValueError)):
        check(Stock())


async def test_only_ours_are_async():
    """Our tools are called asynchronously; the stock explorer has no async at all."""
    search, lookup = docstore_tools(TextDocstore(PAGES), lookup_tokens=0)

    assert await search.arun("C") == "word and word"
    assert await lookup.arun("and") == "(Result 1/1) word and word"
    assert not any(name.startswith("a") for name in vars(DocstoreExplorer))


def test_a_bracket_in_a_title_is_read_whole():
    """`Search[a[1]]` asks for "a[1]"; the stock parser cuts at the first bracket."""
    text = "Thought: Search.\nAction: Search[a[1]]"

    assert Bracketed().read(text, ("Search",)).move.input == "a[1]"
    assert ReActOutputParser().parse(text).tool_input == "a[1"
