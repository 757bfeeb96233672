"""Keywords: how texts become words in any script, and how rankings are joined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings

from langchain_custom_agents.vectorstores import _documents
from langchain_custom_agents.vectorstores._hybrid import fuse, query_words
from langchain_custom_agents.vectorstores.faiss import FAISSStore


def store_of(*texts: str) -> FAISSStore:
    """Return a store that can only be searched by word."""
    store = FAISSStore(None)
    store.add_embeddings([(text, [1.0]) for text in texts])
    return store


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("東京の天気", "明日の東京は晴れです"),
        ("猫", "黒猫がいる"),
        ("猫", "庭に猫"),
        ("北京", "我爱北京天安门"),
        ("서울에서", "서울에서 만나요"),
        ("ภาษา", "ภาษาไทย"),
        ("ﾃｽﾄ", "テストです"),
        ("RUNNING", "she runs"),
        ("café", "a Cafe in Paris"),
        ("C3PO", "c3po walked"),
        ("naïve 日本", "日本 only"),
    ],
)
def test_words_are_found_in_any_script(query: str, text: str) -> None:
    """A word finds the text that holds it: by pairs of characters, by stem, without accents."""
    store = store_of(text, "something else entirely", "他の文章")
    assert store.similarity_search(query, k=1, search_type="keyword")[0].page_content == text


@given(st.text(), st.text())
def test_no_query_is_a_syntax_error(text: str, query: str) -> None:
    """Whatever is asked, the full-text engine never sees it as its own language."""
    store = store_of(text.encode("utf-8", "replace").decode())
    store.similarity_search(query, search_type="keyword")


@given(st.text(alphabet="ab 東京都\n,.\"'*", min_size=1))
def test_a_text_is_found_by_itself(text: str) -> None:
    """A text that holds a word at all is found by its own words."""
    found = store_of(text).similarity_search(text, search_type="keyword")
    assert bool(found) == bool(query_words(text))


def test_common_words_are_left_out_unless_alone() -> None:
    """Words that say nothing are asked for only when there are no others."""
    assert query_words("What is the capital of Hiroko's France?") == [
        '"capital"',
        '"hiroko"',
        '"france"',
    ]
    assert query_words("who are you") == ['"who"', '"are"', '"you"']
    assert query_words("?!") == []


def test_words_of_nearly_every_document_are_left_out_of_large_stores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a large store a common word beside a rare one is not looked for; alone it is."""
    monkeypatch.setattr(_documents, "_LARGE", 50)
    store = store_of(*(f"common number{place}" for place in range(100)), "rare")
    found = store.similarity_search("common rare", k=9, search_type="keyword")
    assert [document.page_content for document in found] == ["rare"]
    assert len(store.similarity_search("common common", k=9, search_type="keyword")) == 9


def test_rankings_join_by_score() -> None:
    """The weight moves a join from the vectors' order to the keywords'."""
    dense, keyword = {1: 0.9, 2: 0.5, 3: 0.4}, {2: 8.0, 3: 6.0}
    orders = [[row for row, _ in fuse(dense, keyword, weight)] for weight in (0.0, 0.4, 1.0)]
    assert orders == [[1, 2, 3], [1, 2, 3], [2, 3, 1]]
    assert fuse({}, {}, 0.5) == []
    assert fuse({7: 0.1}, {}, 0.5)[0][0] == 7


def test_a_filter_holds_for_keywords_too() -> None:
    """A keyword search looks only at documents that pass the filter."""
    store = FAISSStore(None)
    store.add_embeddings(
        [("a cat", [1.0]), ("a cat cat cat", [1.0])], [{"ok": True}, {"ok": False}]
    )
    for wanted in ({"ok": True}, lambda held: held["ok"]):
        found = store.similarity_search("cat", search_type="keyword", filter=wanted)
        assert [document.page_content for document in found] == ["a cat"]


def test_replaced_and_deleted_words_are_gone() -> None:
    """A word of a text that was replaced or deleted finds nothing."""
    store = FAISSStore(None)
    store.add_embeddings([("zebra", [1.0]), ("yak", [1.0])], ids=["1", "2"])
    store.add_embeddings([("xerus", [1.0])], ids=["1"])
    store.delete(["2"])
    for word, count in (("zebra", 0), ("yak", 0), ("xerus", 1)):
        assert len(store.similarity_search(word, search_type="keyword")) == count


class Lopsided(Embeddings):
    """Embeddings to which every document is right but the one that holds the word."""

    def __init__(self, keyword_weight: float) -> None:
        self.keyword_weight = keyword_weight

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[0.0, 1.0] if "cat" in text else [1.0, 0.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0]


@pytest.mark.parametrize(
    ("own", "given_weight", "first"),
    [(0.9, None, "a cat"), (0.1, None, "a dog"), (0.9, 0.1, "a dog"), (0.1, 0.9, "a cat")],
)
def test_embeddings_say_how_much_keywords_count_beside_them(
    own: float, given_weight: float | None, first: str
) -> None:
    """The weight that embeddings bring decides, unless one is given."""
    store = FAISSStore(Lopsided(own), keyword_weight=given_weight)
    store.add_texts(["a cat", "a dog"])
    assert store.similarity_search("cat", k=1)[0].page_content == first
