"""Pages in memory."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from langchain_core.documents import Document

from langchain_custom_agents import TextDocstore
from langchain_custom_agents.docstores.base import Docstore

PAGES = {
    "Hiroko": "Hiroko's father is Takuma.",
    "Takuma": "Takuma is a teacher.",
    "Chicago": "Chicago is a city.",
    "1871 Chicago fire": "A fire burned in 1871.",
    "Café de Flore": "A café in Paris.",
    "東京": "東京は日本の首都である。",
}
titles = st.text(min_size=1).filter(lambda t: t.strip() != "")


def test_it_is_a_docstore():
    """TextDocstore has what the tools ask of a docstore."""
    assert isinstance(TextDocstore(PAGES), Docstore)


@given(st.dictionaries(titles, st.text(), min_size=1))
def test_every_page_is_found_by_its_exact_title(pages):
    """Whatever the titles are, each finds its own page and no other."""
    by_title = {" ".join(title.split()): text for title, text in pages.items()}
    assume(len(by_title) == len(pages))
    store = TextDocstore(pages)
    for title, text in pages.items():
        found = store.search(title)
        assert isinstance(found, Document)
        assert found.page_content == text


@given(titles)
def test_a_search_for_anything_ends_in_a_page_or_a_sentence(term):
    """No term raises."""
    assert isinstance(TextDocstore(PAGES).search(term), (str, Document))


@pytest.mark.parametrize(
    ("term", "title"),
    [
        ("hiroko", "Hiroko"),
        ("  TAKUMA ", "Takuma"),
        ("cafe\u0301_de_flore", "Café de Flore"),
        ("ＴＡＫＵＭＡ", "Takuma"),
        ("東京", "東京"),
    ],
)
def test_case_space_and_unicode_form_do_not_matter(term, title):
    """A title is found in any case, spacing and Unicode normal form."""
    assert TextDocstore(PAGES).search(term).metadata["title"] == title


def test_chicago_is_not_its_fire():
    """An exact title never opens a page that merely contains it."""
    assert TextDocstore(PAGES).search("Chicago").page_content == "Chicago is a city."


def test_a_miss_opens_nothing_and_offers_the_nearest_titles():
    """A misspelt title is answered with similar titles, in a sentence."""
    assert TextDocstore(PAGES).search("Hirokko") == (
        'Could not find "Hirokko". Similar pages: Hiroko.'
    )


def test_a_miss_names_titles_within_a_question():
    """A question that contains a title is answered with that title."""
    assert "Hiroko" in TextDocstore(PAGES).search("Hiroko's father's occupation")


def test_a_miss_names_pages_that_mention_the_words():
    """A word that is in no title is answered with the pages whose text holds it."""
    assert "Takuma" in TextDocstore(PAGES).search("teacher")


def test_a_miss_without_anything_near_says_so():
    """Nothing near is said plainly."""
    assert TextDocstore(PAGES).search("xyzzy") == (
        'Could not find "xyzzy". No page has a similar title; try another word.'
    )


def test_titles_that_differ_in_case_only_are_offered():
    """Where the case decides between two pages, the model is asked for the exact one."""
    store = TextDocstore({"Turkey": "A country.", "turkey": "A bird."})

    assert store.search("turkey").page_content == "A bird."
    assert store.search("TURKEY") == (
        '"TURKEY" may be: Turkey; turkey. Search for one of these titles exactly.'
    )


def test_documents_keep_their_metadata():
    """Documents given as pages come back with all they carry."""
    store = TextDocstore([Document("Text.", id="7", metadata={"title": "T", "source": "t.txt"})])

    found = store.search("T")

    assert (found.id, found.metadata) == ("7", {"title": "T", "source": "t.txt"})


async def test_asearch_finds_what_search_finds():
    """The async search gives the same page."""
    store = TextDocstore(PAGES)

    assert await store.asearch("Hiroko") == store.search("Hiroko")


@pytest.mark.parametrize(
    ("pages", "error", "words"),
    [
        ({}, ValueError, "`pages` is empty"),
        ([], ValueError, "`pages` is empty"),
        ({" ": "x"}, ValueError, "title"),
        ({"A": 1}, TypeError, "'A' is int"),
        (["A"], TypeError, "Item 0"),
        (None, TypeError, "`pages` is NoneType"),
        ([Document("x")], ValueError, "document 0"),
        ([Document("x", metadata={"title": "A"})] * 2, ValueError, "used twice"),
    ],
)
def test_bad_pages_are_refused_in_a_sentence(pages, error, words):
    """A mistake in the pages names what is wrong."""
    with pytest.raises(error, match=words):
        TextDocstore(pages)
