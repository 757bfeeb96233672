"""`FAISSStore`: what it holds, what it refuses, and that every way in gives the same answer."""

import asyncio
import enum
import json
import multiprocessing
import os
import pickle
import signal
import sqlite3
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.vectorstores import _vectors
from langchain_custom_agents.vectorstores._arguments import checked_metadata
from langchain_custom_agents.vectorstores.faiss import FAISSStore, FAISSStoreRetriever

EMBEDDINGS = HashingEmbeddings(64)
TEXTS = [
    "takuma is a teacher",
    "hiroko's father is takuma",
    "hiroko's mather is ayako",
    "ayako is a doctor",
    "hiroko is 10 years old",
]

_ENDLESS: dict[str, Any] = {}
_ENDLESS["itself"] = _ENDLESS


@pytest.fixture(params=["memory", "folder", "codes"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """The five sentences, in each kind of store."""
    path = None if request.param == "memory" else tmp_path / "store"
    tier = "codes" if request.param == "codes" else "auto"
    metadatas = [{"place": place} for place in range(5)]
    with FAISSStore.from_texts(
        TEXTS, HashingEmbeddings(), metadatas, ids=list("abcde"), path=path, tier=tier
    ) as made:
        yield made


def test_the_tutorials_search(store: FAISSStore) -> None:
    """The tutorial's search finds one document, with its id and metadata."""
    (found,) = store.similarity_search("Takuma's occupation", top_k=1)
    assert found == Document("takuma is a teacher", id="a", metadata={"place": 0})


async def test_every_way_to_ask_gives_the_same(store: FAISSStore) -> None:
    """Sync and async, with and without scores, by text and by vector: one answer."""
    query, vector = "hiroko", HashingEmbeddings().embed_query("hiroko")
    expected = store.similarity_search_with_score(query, k=3, search_type="dense")
    documents = [document for document, _ in expected]
    scores = [score for _, score in expected]

    dense = {"k": 3, "search_type": "dense"}
    assert store.similarity_search(query, **dense) == documents
    assert await store.asimilarity_search(query, **dense) == documents
    assert await store.asimilarity_search_with_score(query, **dense) == expected
    assert store.similarity_search_by_vector(vector, k=3) == documents
    assert await store.asimilarity_search_by_vector(vector, k=3) == documents
    relevant = store.similarity_search_with_relevance_scores(query, **dense)
    assert relevant == await store.asimilarity_search_with_relevance_scores(query, **dense)
    assert [score for _, score in relevant] == pytest.approx(scores)
    assert store.search(query, "dense", k=3) == documents
    assert await store.asearch(query, "dense", k=3) == documents
    assert store.as_retriever(search_type="dense", k=3).invoke(query) == documents
    assert await store.as_retriever(search_type="dense", k=3).ainvoke(query) == documents
    diverse = store.max_marginal_relevance_search(query, k=3, lambda_mult=1.0)
    assert diverse == documents
    assert await store.amax_marginal_relevance_search(query, k=3, lambda_mult=1.0) == documents
    assert await store.aget_by_ids(["c", "a"]) == store.get_by_ids(["c", "a"])


def test_scores_go_one_way(store: FAISSStore) -> None:
    """Scores are Python floats, best first, and relevance keeps their order in [0, 1]."""
    for search_type in ("dense", "keyword", "hybrid"):
        found = store.similarity_search_with_score("hiroko takuma", k=5, search_type=search_type)
        scores = [score for _, score in found]
        assert scores == sorted(scores, reverse=True)
        assert all(type(score) is float for score in scores)
        relevant = [
            score
            for _, score in store.similarity_search_with_relevance_scores(
                "hiroko takuma", k=5, search_type=search_type
            )
        ]
        assert relevant == sorted(relevant, reverse=True)
        assert all(0 <= score <= 1 for score in relevant)


def test_a_score_threshold_is_a_least_relevance(store: FAISSStore) -> None:
    """Only documents at least so relevant come back, in each way to ask."""
    all_of_them = store.similarity_search_with_relevance_scores("takuma is a teacher", k=5)
    least = all_of_them[1][1]
    asked = {"k": 5, "score_threshold": least}
    assert len(store.similarity_search("takuma is a teacher", **asked)) == 2
    retriever = store.as_retriever(
        search_type="similarity_score_threshold", search_kwargs={"k": 5, "score_threshold": least}
    )
    assert len(retriever.invoke("takuma is a teacher")) == 2


def test_replacing_and_deleting(store: FAISSStore) -> None:
    """A text under a known id replaces the old one everywhere; a deleted one is nowhere."""
    store.add_texts(["hiroko moved to osaka"], [{"new": True}], ids=["a"])
    store.delete(["b"])
    assert len(store) == 4
    assert store.get_by_ids(["b", "a"]) == [
        Document("hiroko moved to osaka", id="a", metadata={"new": True})
    ]
    for search_type in ("dense", "keyword", "hybrid"):
        found = store.similarity_search("takuma teacher father", k=9, search_type=search_type)
        assert not {"takuma is a teacher", "hiroko's father is takuma"} & {
            document.page_content for document in found
        }
        (best,) = store.similarity_search("osaka", k=1, search_type=search_type)
        assert best.id == "a"


def test_deleting_by_filter(store: FAISSStore) -> None:
    """Documents go by filter; the empty filter empties the store."""
    store.delete(filter={"place": {"$lt": 2}})
    assert [document.id for document in store.get_by_ids(list("abcde"))] == ["c", "d", "e"]
    store.delete(filter={})
    assert len(store) == 0
    assert store.similarity_search("hiroko") == []
    with pytest.raises(ValueError, match=r"ids or a filter; delete\(filter=\{\}\) empties"):
        store.delete()


def test_compacting_changes_no_answer(store: FAISSStore) -> None:
    """After a compaction the rows are gone and every answer is the same."""
    store.delete(["a", "c"])
    before = store.similarity_search_with_score("hiroko", k=9)
    by_word = store.similarity_search("doctor", k=9, search_type="keyword")
    assert store.compact() == 2
    assert store.compact() == 0
    assert store.similarity_search_with_score("hiroko", k=9) == before
    assert store.similarity_search("doctor", k=9, search_type="keyword") == by_word
    store.add_texts(["one more"], ids=["f"])
    assert len(store.similarity_search("hiroko", k=9)) == 4


def test_a_folder_is_the_same_when_opened_again(tmp_path: Path) -> None:
    """Documents, scores, metric and words survive; `read_only` reads them and writes nothing."""
    path = tmp_path / "store"
    with FAISSStore.from_texts(TEXTS, EMBEDDINGS, path=path, metric="l2") as store:
        expected = store.similarity_search_with_score("hiroko", k=5)
    with FAISSStore(EMBEDDINGS, path, read_only=True) as store:
        assert store.metric == "l2"
        assert store.similarity_search_with_score("hiroko", k=5) == expected
        with pytest.raises(ValueError, match="read_only=True"):
            store.add_texts(["no"])
        with pytest.raises(ValueError, match="read_only=True"):
            store.delete(["no"])
    with pytest.raises(ValueError, match="is closed"):
        store.similarity_search("hiroko")
    assert {"docs.db", "vectors-1.f32"} <= {file.name for file in path.iterdir()}
    assert not [file for file in path.iterdir() if file.suffix in (".pkl", ".pickle")]


def test_an_unfinished_write_is_covered(tmp_path: Path) -> None:
    """Vectors that were written and never committed are not seen, and are written over."""
    with FAISSStore.from_texts(TEXTS[:2], EMBEDDINGS, path=tmp_path / "s") as store:
        with (tmp_path / "s" / "vectors-1.f32").open("ab") as file:
            file.write(b"\xff" * 1_000)
        store.add_texts(TEXTS[2:])
        assert len(store.similarity_search("hiroko", k=9)) == 5
    with FAISSStore(EMBEDDINGS, tmp_path / "s") as store:
        assert [d.page_content for d in store.similarity_search(TEXTS[4], k=1)] == [TEXTS[4]]


def test_codes_that_are_gone_are_made_again(tmp_path: Path) -> None:
    """Codes are derived: lost or damaged, they are made again."""
    path = tmp_path / "s"
    with FAISSStore.from_texts(TEXTS, EMBEDDINGS, path=path, tier="codes") as store:
        expected = store.similarity_search_with_score("hiroko")
    (codes,) = path.glob("codes-*.faiss")
    for damage in (lambda: codes.write_bytes(b"junk"), codes.unlink):
        damage()
        with FAISSStore(EMBEDDINGS, path, tier="codes") as store:
            assert store.similarity_search_with_score("hiroko") == expected


def test_a_shortened_vector_file_is_a_sentence(tmp_path: Path) -> None:
    """A file that was cut by other hands is named, with what to do."""
    path = tmp_path / "s"
    FAISSStore.from_texts(TEXTS, EMBEDDINGS, path=path).close()
    os.truncate(path / "vectors-1.f32", 100)
    with FAISSStore(EMBEDDINGS, path) as store, pytest.raises(ValueError, match="knows of 5"):
        store.similarity_search("hiroko")


@pytest.mark.parametrize("metric", ["cosine", "dot", "l2"])
@pytest.mark.parametrize("filtered", [False, True])
def test_both_tiers_find_the_nearest(metric: Any, filtered: bool, monkeypatch: Any) -> None:
    """At a few thousand vectors, either tier gives the true nearest ones with their true scores."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(6_000, 24)).astype(np.float32)
    metadatas = [{"even": number % 2 == 0} for number in range(6_000)]
    monkeypatch.setattr(_vectors, "_GATHER", 1_000)
    for tier in ("exact", "codes"):
        store = FAISSStore(None, metric=metric, tier=tier)
        texts = [str(number) for number in range(6_000)]
        store.add_embeddings(zip(texts, vectors.tolist(), strict=True), metadatas)
        store.delete(filter={"even": True}) if filtered else None
        for query in rng.normal(size=(5, 24)).astype(np.float32):
            points, asked = vectors.astype(np.float64), query.astype(np.float64)
            if metric == "cosine":
                points = points / np.linalg.norm(points, axis=1, keepdims=True)
                asked = asked / np.linalg.norm(asked)
            exact = points @ asked if metric != "l2" else -np.linalg.norm(points - asked, axis=1)
            if filtered:
                exact[::2] = -np.inf
            found = store.similarity_search_with_score_by_vector(
                query.tolist(), k=4, filter={"even": False} if filtered else None
            )
            order = np.argsort(-exact)[:4]
            assert [d.page_content for d, _ in found] == [str(number) for number in order]
            assert [score for _, score in found] == pytest.approx(exact[order], abs=1e-4)


@pytest.mark.parametrize("metric", ["cosine", "dot", "l2"])
def test_the_codes_look_further_until_the_answer_is_clear(metric: Any) -> None:
    """Where the first candidates miss much of what is near, more are looked at."""
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(20_000, 63)).astype(np.float32)
    if metric == "cosine":
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store = FAISSStore(None, metric=metric, tier="codes")
    store.add_embeddings((str(number), vector) for number, vector in enumerate(vectors))
    snapshot = store._index.newest
    first = found = 0
    for query in vectors[:20] + rng.normal(size=(20, 63)).astype(np.float32) / 63**0.5:
        near = _vectors.scored(vectors, query, metric)
        right = set(np.argsort(-near)[:10].tolist())
        first += len(right & set(snapshot.codes.candidates(query, _vectors._CANDIDATES)[0]))
        documents = store.similarity_search_by_vector(query.tolist(), k=10)
        found += len(right & {int(document.page_content) for document in documents})
    assert first < 195
    assert found >= 198


@pytest.mark.parametrize("dimension", [1, 2, 5, 8])
def test_codes_of_any_dimension(dimension: int) -> None:
    """The codes work for few dimensions, and for numbers of them that four does not divide."""
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(3_000, dimension)).astype(np.float32)
    store = FAISSStore(None, metric="l2", tier="codes")
    store.add_embeddings((str(number), vector) for number, vector in enumerate(vectors))
    for place in (0, 1_500, 2_999):
        (found,) = store.similarity_search_by_vector(vectors[place].tolist(), k=1)
        assert found.page_content == str(place)


def test_never_fewer_than_k(monkeypatch: Any) -> None:
    """A filter whose documents all lie far from the query still gives k of them."""
    rng = np.random.default_rng(2)
    near = rng.normal(size=(5_000, 16)) + 8
    far = rng.normal(size=(2_000, 16)) - 8
    monkeypatch.setattr(_vectors, "_GATHER", 100)
    store = FAISSStore(None, metric="l2", tier="codes")
    pairs = [("near", vector.tolist()) for vector in near]
    pairs += [("far", vector.tolist()) for vector in far]
    store.add_embeddings(pairs, [{"far": text == "far"} for text, _ in pairs])
    found = store.similarity_search_by_vector([8.0] * 16, k=10, filter={"far": True})
    assert [document.page_content for document in found] == ["far"] * 10


def test_new_rows_are_found_before_and_after_they_get_codes(monkeypatch: Any) -> None:
    """Rows behind the codes are looked at in full until there are enough to encode."""
    monkeypatch.setattr(_vectors, "_TAIL", 100)
    rng = np.random.default_rng(3)
    store = FAISSStore(None, tier="codes")
    for start in range(0, 2_000, 70):
        vectors = rng.normal(size=(70, 8))
        store.add_embeddings(
            [(f"{start + place}", vector.tolist()) for place, vector in enumerate(vectors)]
        )
        for place in (0, 69):
            (found,) = store.similarity_search_by_vector(vectors[place].tolist(), k=1)
            assert found.page_content == str(start + place)


class Model:
    """The plainest store: a dictionary, and a look at everything."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def nearest(self, query: str, k: int) -> list[str]:
        """Return the ids of the nearest texts, best first."""
        asked = np.array(EMBEDDINGS.embed_query(query))
        scored = [
            (-float(np.array(EMBEDDINGS.embed_query(t)) @ asked), i) for i, t in self.texts.items()
        ]
        return [id_ for _, id_ in sorted(scored)[:k]]


steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("add"),
            st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(TEXTS), max_size=3),
        ),
        st.tuples(st.just("delete"), st.lists(st.sampled_from("abcdef"), max_size=3)),
        st.tuples(st.just("compact"), st.none()),
    ),
    max_size=12,
)


@settings(max_examples=min(60, settings().max_examples))
@given(steps, st.sampled_from(["exact", "codes"]))
def test_any_history_ends_like_a_dictionary(history: list[Any], tier: Any) -> None:
    """Whatever is added, replaced, deleted and compacted, the store holds what a dict would."""
    store, model = FAISSStore(EMBEDDINGS, tier=tier), Model()
    for step, change in history:
        if step == "add":
            store.add_texts(list(change.values()), ids=list(change))
            model.texts.update(change)
        elif step == "delete":
            store.delete(change)
            for id_ in change:
                model.texts.pop(id_, None)
        else:
            store.compact()
        assert len(store) == len(model.texts)
    found = store.similarity_search_with_score("hiroko is a teacher", k=9)
    assert {d.id: d.page_content for d, _ in found} == model.texts
    expected = [model.texts[id_] for id_ in model.nearest("hiroko is a teacher", 9)]
    scores = [score for _, score in found]
    assert sorted(d.page_content for d, _ in found) == sorted(expected)
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda s: s.similarity_search("a", k=0), ValueError, "k must be a whole number"),
        (lambda s: s.similarity_search("a", k="4"), ValueError, "k must be a whole number"),
        (lambda s: s.similarity_search("a", top_k=-1), ValueError, "top_k must be"),
        (
            lambda s: s.similarity_search("a", fetch_k=9),
            TypeError,
            "nothing has to be over-fetched",
        ),
        (
            lambda s: s.similarity_search("a", search_type="fuzzy"),
            ValueError,
            "'hybrid', not 'fuzzy'",
        ),
        (lambda s: s.similarity_search("a", filter=3), ValueError, "filter must be a mapping"),
        (lambda s: s.max_marginal_relevance_search("a", lambda_mult=2), ValueError, "lambda_mult"),
        (lambda s: s.max_marginal_relevance_search("a", lambda_mult="x"), ValueError, "from 0 to"),
        (lambda s: s.max_marginal_relevance_search("a", filter=3), ValueError, "filter must be a"),
        (lambda s: s.delete(filter="x"), ValueError, "filter must be a mapping"),
        (lambda s: s.max_marginal_relevance_search("a", lamda_mult=1), TypeError, "lambda_mult"),
        (lambda s: s.as_retriever(search_kwarg={}), TypeError, "did you mean .search_kwargs"),
        (lambda s: s.as_retriever(search_kwargs={"K": 1}), TypeError, "takes no argument .K."),
        (lambda s: s.as_retriever(search_type="best"), ValueError, "not allowed"),
        (
            lambda s: s.similarity_search_by_vector([1.0], search_type="keyword"),
            ValueError,
            "no words",
        ),
        (lambda s: s.add_texts("abc"), ValueError, "not one string"),
        (lambda s: s.add_texts([1]), ValueError, r"texts\[0\] must be a string"),
        (lambda s: s.add_texts(None), ValueError, "texts must be a list of strings, not None"),
        (lambda s: s.add_texts(["a"], 5), ValueError, "metadatas must be a list of mappings"),
        (lambda s: s.add_texts(["a"], ids=5), ValueError, "ids must be a list of strings, not 5"),
        (lambda s: s.add_texts(["a"], ids=["\ud800"]), ValueError, "ids holds half a character"),
        (lambda s: s.add_texts(["a"], [{"\ud800": 1}]), ValueError, "in a key, holds half"),
        (lambda s: s.add_texts(["a"], [{"x": _ENDLESS}]), ValueError, "nested too deeply"),
        (lambda s: s.add_texts(["a"], metadata=[{}]), TypeError, "did you mean .metadatas"),
        (lambda s: s.add_texts(["a", "b"], [{}]), ValueError, "one mapping per text: 1 for 2"),
        (lambda s: s.add_texts(["a"], {"x": 1}), ValueError, "one mapping per text"),
        (lambda s: s.add_texts(["a"], ids=["1", "2"]), ValueError, "2 ids for 1 texts"),
        (lambda s: s.add_texts(["a"], ids="1"), ValueError, "one string for 1 texts"),
        (lambda s: s.add_texts(["a", "b"], ids=["1", "1"]), ValueError, "'1' twice"),
        (lambda s: s.add_texts(["a"], ids=[1]), ValueError, "ids must be strings"),
        (
            lambda s: s.add_texts(["a"], [{"x": object()}]),
            ValueError,
            r"metadatas\[0\]\['x'\] is a",
        ),
        (lambda s: s.add_texts(["a"], [{"x": float("nan")}]), ValueError, "use None"),
        (lambda s: s.add_texts(["a"], [{"x": {1: 2}}]), ValueError, "keys must be strings"),
        (lambda s: s.add_texts(["a"], batch_size=0), ValueError, "batch_size"),
        (lambda s: s.add_texts(["\ud800"]), ValueError, "half a character"),
        (lambda s: s.add_embeddings([("a", [1.0, 2.0]), ("b", [1.0])]), ValueError, r"\[1, 2\]"),
        (
            lambda _: FAISSStore(None, metric="l2").add_embeddings([("a", [1e25, 0.0])]),
            ValueError,
            "too long for float32",
        ),
        (lambda s: s.add_texts(["a"], ids=[""]), ValueError, "empty string; give None"),
        (lambda s: s.add_documents(["a"]), ValueError, "must be a Document, not a str; add_texts"),
        (lambda s: s.add_documents(Document("a")), ValueError, r"write \[document\]"),
        (lambda s: asyncio.run(s.aadd_documents([1])), ValueError, "must be a Document, not a int"),
        (lambda s: s.add_embeddings(["a"]), ValueError, r"text_embeddings\[0\] must be a pair"),
        (lambda s: s.similarity_search(None), ValueError, "query must be a string"),
        (lambda s: s.similarity_search(None, search_type="keyword"), ValueError, "query must be"),
        (lambda s: asyncio.run(s.asimilarity_search(3)), ValueError, "query must be a string"),
        (lambda s: s.max_marginal_relevance_search(None), ValueError, "query must be a string"),
        (lambda s: s.similarity_search("a", score_threshold="high"), ValueError, "score_threshold"),
        (lambda s: s.get_by_ids("ab"), ValueError, "not one string"),
        (lambda s: s.get_by_ids(None), ValueError, "ids must be a list of strings, not None"),
        (lambda s: s.delete([5]), ValueError, "ids must be strings; 5"),
        (lambda s: s.copy_to("there"), ValueError, "needs a LangChain VectorStore, not 'there'"),
        (lambda s: s.delete("a"), ValueError, "not one string"),
        (lambda s: s.delete(["a"], fliter={}), TypeError, "did you mean .filter"),
        (lambda s: s.copy_to(s), ValueError, "another store"),
        (
            lambda s: s.save_local("x"),
            NotImplementedError,
            r"FAISSStore\(embedding, path='folder'\)",
        ),
        (lambda s: s.load_local("x"), NotImplementedError, "from_langchain"),
        (lambda _: FAISSStore(EMBEDDINGS, pth="x"), TypeError, "did you mean .path"),
        (lambda _: FAISSStore("folder"), ValueError, "must be a LangChain Embeddings object"),
        (lambda _: FAISSStore(HashingEmbeddings), ValueError, "must be a LangChain Embeddings"),
        (lambda _: FAISSStore(EMBEDDINGS, keyword_weight="x"), ValueError, "keyword_weight must"),
        (lambda _: FAISSStore(EMBEDDINGS, metric="euclid"), ValueError, "metric must be one of"),
        (lambda _: FAISSStore(EMBEDDINGS, tier="fast"), ValueError, "tier must be one of"),
        (lambda _: FAISSStore(EMBEDDINGS, keyword_weight=3), ValueError, "keyword_weight"),
        (lambda _: FAISSStore(EMBEDDINGS, read_only=True), ValueError, "needs a path"),
        (lambda _: FAISSStore(None).similarity_search("a"), ValueError, "has no embeddings"),
        (lambda s: FAISSStoreRetriever(vectorstore=s, k=0), ValueError, "k must be"),
    ],
)
def test_misuse_is_a_sentence_and_writes_nothing(call: Any, error: Any, sentence: str) -> None:
    """A mistake is refused in words that name the argument, and the store is as it was."""
    store = FAISSStore.from_texts(TEXTS, EMBEDDINGS)
    with pytest.raises(error, match=sentence):
        call(store)
    assert len(store) == 5


def test_folders_that_are_something_else_are_refused(tmp_path: Path) -> None:
    """A file, a folder of other files, an empty folder to read, a later format: sentences."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(ValueError, match="is a file"):
        FAISSStore(EMBEDDINGS, tmp_path / "file")
    with pytest.raises(ValueError, match="holds other files"):
        FAISSStore(EMBEDDINGS, tmp_path)
    with pytest.raises(ValueError, match="no FAISSStore in"):
        FAISSStore(EMBEDDINGS, tmp_path / "new", read_only=True)
    saved = tmp_path / "saved"
    saved.mkdir()
    for name in ("index.faiss", "index.pkl"):
        (saved / name).write_text("x")
    with pytest.raises(ValueError, match="from_langchain"):
        FAISSStore(EMBEDDINGS, saved)
    with FAISSStore(EMBEDDINGS, tmp_path / "later") as store, store._documents.writing() as writer:
        store._documents.describe(writer, format=99)
    with pytest.raises(ValueError, match="later version"):
        FAISSStore(EMBEDDINGS, tmp_path / "later")


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("damage", ["replaced", "cut", "emptied", "another's"])
def test_a_damaged_database_is_named(tmp_path: Path, damage: str, read_only: bool) -> None:
    """A database that SQLite cannot read is a sentence with its path and what to do."""
    FAISSStore.from_texts(TEXTS, EMBEDDINGS, path=tmp_path / "s").close()
    database = tmp_path / "s" / "docs.db"
    data = database.read_bytes()
    if damage == "another's":
        database.unlink()
        with sqlite3.connect(database) as connection:
            connection.execute("CREATE TABLE theirs (name TEXT)")
        connection.close()
    else:
        kept = {"replaced": b"something else " * 99, "cut": data[: len(data) // 2], "emptied": b""}
        database.write_bytes(kept[damage])

    with pytest.raises(ValueError, match=r"docs.db cannot be read \(.*Restore the folder"):
        FAISSStore(EMBEDDINGS, tmp_path / "s", read_only=read_only)


def test_a_folder_knows_its_embeddings_and_metric(tmp_path: Path) -> None:
    """Other embeddings and another metric are refused; a name says that they are the same."""
    FAISSStore.from_texts(["a"], EMBEDDINGS, path=tmp_path / "s").close()
    with pytest.raises(ValueError, match="made with metric='cosine'"):
        FAISSStore(EMBEDDINGS, tmp_path / "s", metric="l2")

    class Wrapped(HashingEmbeddings):
        """The same model in another coat."""

    with pytest.raises(ValueError, match="embedding_id='HashingEmbeddings:hashing-1-64'"):
        FAISSStore(Wrapped(64), tmp_path / "s")
    FAISSStore(Wrapped(64), tmp_path / "s", embedding_id="HashingEmbeddings:hashing-1-64").close()


def test_metadata_comes_back_as_it_was(store: FAISSStore) -> None:
    """What JSON can hold comes back equal, in any script and any depth; numpy becomes Python."""
    metadata = {
        "名前": "琢磨",
        "list": [1, 2.5, None, True, {"deep": "x"}],
        'quo"te': "it's",
        "": 0,
    }
    store.add_texts(["x"], [{**metadata, "numpy": np.float32(0.5), "tuple": (1, 2)}], ids=["x"])
    (found,) = store.get_by_ids(["x"])
    assert found.metadata == {**metadata, "numpy": 0.5, "tuple": [1, 2]}


@given(
    st.lists(
        st.dictionaries(
            st.text('ab}{,:"\x1f\\n\n名', max_size=4),
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text('ab}{,:"\x1f\\n\n名', max_size=4),
        ),
        min_size=1,
    )
)
def test_metadata_written_together_is_each_ones_own(metadatas: list[dict[str, Any]]) -> None:
    """Many flat mappings are written as one text; each comes back as it was, to the letter."""
    written = checked_metadata(metadatas, len(metadatas))
    assert [json.loads(one) for one in written] == metadatas
    assert written == [checked_metadata([one], 1)[0] for one in metadatas]


def test_odd_texts_are_kept(store: FAISSStore) -> None:
    """Empty, huge and odd texts come back to the letter."""
    texts = ["", " ", "\0nul\0", "x" * 300_000, "😀\u202e العربية", '"quotes" OR NEAR(', "%s{}"]
    ids = store.add_texts(texts)
    assert [document.page_content for document in store.get_by_ids(ids)] == texts
    for text in texts:
        for search_type in ("dense", "keyword", "hybrid"):
            store.similarity_search(text, search_type=search_type)


def test_keyword_search_asks_no_model() -> None:
    """A store without embeddings can be searched by its words."""
    store = FAISSStore(None)
    store.add_embeddings([("takuma is a teacher", [1.0]), ("ayako is a doctor", [1.0])])
    (found,) = store.similarity_search("which doctors?", k=4, search_type="keyword")
    assert found.page_content == "ayako is a doctor"
    assert store.as_retriever(search_type="keyword").invoke("teachers") != []


class Waiting(Embeddings):
    """Embeddings that are only there asynchronously."""

    def embed_query(self, text: str) -> list[float]:
        """Refuse."""
        raise AssertionError

    embed_documents = embed_query  # type: ignore[assignment]

    async def aembed_query(self, text: str) -> list[float]:
        """Wait for a turn of the loop, then answer."""
        await asyncio.sleep(0)
        return EMBEDDINGS.embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Wait for a turn of the loop, then answer."""
        await asyncio.sleep(0)
        return EMBEDDINGS.embed_documents(texts)


async def test_async_uses_the_embeddings_async_side(tmp_path: Path) -> None:
    """The async twins await the model; its blocking side is never called."""
    store = await FAISSStore.afrom_texts(TEXTS, Waiting(), path=tmp_path / "s")
    await store.aadd_texts(["more"], batch_size=1)
    assert len(await store.asimilarity_search("hiroko", k=9)) == 6
    assert await store.amax_marginal_relevance_search("hiroko", k=2)
    found = await asyncio.gather(*(store.asimilarity_search(text, k=1) for text in TEXTS * 4))
    assert [documents[0].page_content for documents in found] == TEXTS * 4
    assert await store.adelete(filter={})


def look(path: str, results: Any) -> None:
    """Open a folder in another process, look, wait for a word, and look again."""
    with FAISSStore(EMBEDDINGS, path, read_only=True) as store:
        results.send([d.page_content for d in store.similarity_search("hiroko", k=9)])
        results.recv()
        results.send([d.page_content for d in store.similarity_search("hiroko", k=9)])


@pytest.mark.parametrize("tier", ["exact", "codes"])
def test_another_process_sees_each_commit(tmp_path: Path, tier: Any) -> None:
    """A reader in another process sees additions, deletions and a compaction as they happen."""
    path = tmp_path / "s"
    with FAISSStore.from_texts(TEXTS, EMBEDDINGS, ids=list("abcde"), path=path, tier=tier) as store:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=look, args=(str(path), there))
        process.start()
        assert sorted(here.recv()) == sorted(TEXTS)
        store.delete(["a", "b"])
        store.compact()
        store.add_texts(["hiroko moved"])
        here.send("look again")
        assert sorted(here.recv()) == sorted([*TEXTS[2:], "hiroko moved"])
        process.join()
        assert process.exitcode == 0


@pytest.mark.skipif(os.name != "posix", reason="file times are not asked elsewhere")
@pytest.mark.parametrize("age", [-3600, 3600])
def test_a_commit_is_seen_whatever_the_clock_says(tmp_path: Path, age: int) -> None:
    """A commit of somebody else's is found, even one that leaves the log with the same time."""
    path = tmp_path / "s"
    log = path / "docs.db-wal"
    here = FAISSStore(EMBEDDINGS, path, search_type="dense")
    here.add_texts(["one"])
    began = time.time_ns() - age * 10**9
    os.utime(log, ns=(began, began))
    for _ in range(3):
        assert len(here.similarity_search("one")) == 1
    with FAISSStore(EMBEDDINGS, path) as there:
        there.add_texts(["two"])
    if age < 0:  # as within one tick of a coarse clock
        os.utime(log, ns=(began, began))
    assert len(here.similarity_search("one")) == 2
    here.close()


def test_a_document_given_out_is_like_any_other(store: FAISSStore) -> None:
    """A result has every field of a Document, and can be copied, changed, dumped and pickled."""
    for _ in range(2):
        (found,) = store.similarity_search("Takuma's occupation", k=1)
        made = Document("takuma is a teacher", id="a", metadata={"place": 0})
        assert found == made
        assert vars(found) == vars(made)
        assert found.model_fields_set == made.model_fields_set
        assert found.model_dump() == made.model_dump()
        assert found.model_copy(deep=True) == pickle.loads(pickle.dumps(found)) == made
        found.page_content, found.metadata["more"] = "changed", 1


def test_every_kind_of_vector_asks_the_same(store: FAISSStore) -> None:
    """A list, a tuple, numpy's arrays and numpy's numbers in a list find the same, equally near."""
    vector = HashingEmbeddings().embed_query("hiroko")
    expected = store.similarity_search_with_score_by_vector(vector)
    for same in (tuple(vector), np.array(vector), list(np.array(vector, np.float32))):
        assert store.similarity_search_with_score_by_vector(same) == expected  # type: ignore[arg-type]


def test_two_writers_take_turns(tmp_path: Path) -> None:
    """Two stores on one folder both write, and both see everything."""
    one = FAISSStore(EMBEDDINGS, tmp_path / "s")
    two = FAISSStore(EMBEDDINGS, tmp_path / "s")
    for number in range(5):
        one.add_texts([f"from one {number}"])
        two.add_texts([f"from two {number}"])
    assert len(one) == len(two) == 10
    assert (
        len(one.similarity_search("from", k=20)) == len(two.similarity_search("from", k=20)) == 10
    )
    one.close()
    two.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_can_read_and_write(tmp_path: Path) -> None:
    """A store opened before a fork works on both sides of it, whatever faiss did before."""
    with FAISSStore.from_texts(TEXTS, EMBEDDINGS, path=tmp_path / "s") as store:
        store.similarity_search("hiroko")
        many = FAISSStore(None)
        many.add_embeddings([("text", [1.0, place]) for place in range(999)])
        everything = {"none": {"$exists": False}}
        many.similarity_search_by_vector([1.0, 0.0], filter=everything)
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(60)  # a thread that did not come along would be waited for
                many.similarity_search_by_vector([1.0, 0.0], filter=everything)
                store.add_texts(["from the child"])
                os._exit(0 if len(store.similarity_search("hiroko", k=9)) == 6 else 1)
            except BaseException:
                traceback.print_exc()
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert len(store.similarity_search("hiroko", k=9)) == 6


def test_a_search_outlives_the_closing_of_its_store(tmp_path: Path) -> None:
    """A store that is closed while a thread searches it lets that search end, but none begin."""
    store = FAISSStore.from_texts(TEXTS, EMBEDDINGS, path=tmp_path / "s")

    def closing(_: dict[str, Any]) -> bool:
        closer = threading.Thread(target=store.close)
        closer.start()
        closer.join()
        return True

    assert len(store.similarity_search("hiroko", k=5, filter=closing)) == 5
    with pytest.raises(ValueError, match="closed"):
        store.similarity_search("hiroko")


def test_a_search_that_a_compaction_overtakes_looks_again(tmp_path: Path) -> None:
    """A reader whose vectors were rewritten after it began answers from the new ones."""
    store = FAISSStore.from_texts(TEXTS, EMBEDDINGS, ids=list("abcde"), path=tmp_path / "s")
    reader = FAISSStore(EMBEDDINGS, tmp_path / "s")
    state = reader._documents.state

    def overtaken(connection: Any) -> Any:
        reader._documents.state = state  # type: ignore[method-assign]
        began = state(connection)
        store.delete(["a"])
        store.compact()
        return began

    reader._documents.state = overtaken  # type: ignore[method-assign]
    assert {found.id for found in reader.similarity_search("hiroko", k=5)} == set("bcde")
    reader.close()
    store.close()


def test_a_write_that_failed_fixes_no_dimension(tmp_path: Path, monkeypatch: Any) -> None:
    """Vectors of another length come in after a first write that was rolled back."""
    with FAISSStore(None, tmp_path / "s") as store:
        with monkeypatch.context() as patched:
            patched.setattr(store._documents, "insert", _full)
            with pytest.raises(OSError, match="full"):
                store.add_embeddings([("a", [1.0, 2.0, 3.0])])
        with FAISSStore(None, tmp_path / "s") as other:
            other.add_embeddings([("b", [1.0, 0.0])])
        store.add_embeddings([("c", [0.0, 1.0])])
        found = store.similarity_search_by_vector([0.0, 1.0])
        assert [document.page_content for document in found] == ["c", "b"]


def _full(*_: Any) -> None:
    msg = "the disk is full"
    raise OSError(msg)


def test_a_relative_path_is_meant_from_where_it_was_given(tmp_path: Path, monkeypatch: Any) -> None:
    """A store stays in its folder when the process goes to another one, and knows itself there."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with FAISSStore.from_texts(TEXTS, EMBEDDINGS, path="s") as store:
        monkeypatch.chdir(tmp_path / "there")
        store.add_texts(["hiroko is tall"])
        assert len(store.similarity_search("hiroko", k=9)) == 6
        with (
            FAISSStore(EMBEDDINGS, "../here/s") as same,
            pytest.raises(ValueError, match="already"),
        ):
            store.copy_to(same)
    assert not list((tmp_path / "there").iterdir())


@pytest.mark.parametrize("left", ["", "-wal", "-wal -shm"])
def test_a_copy_on_a_read_only_disk_leaves_nothing_out(
    tmp_path: Path, monkeypatch: Any, left: str
) -> None:
    """A folder copied while it was open is read whole or refused, never without a write."""
    import shutil

    store = FAISSStore.from_texts(TEXTS, EMBEDDINGS, path=tmp_path / "s")
    if not left:
        store.close()
    shutil.copytree(tmp_path / "s", tmp_path / "copy")
    if left == "-wal":
        (tmp_path / "copy" / "docs.db-shm").unlink()
    store.close()
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))

    with pytest.raises(ValueError, match="open it with read_only=True"):
        FAISSStore(EMBEDDINGS, tmp_path / "copy")
    if left == "-wal":
        with pytest.raises(ValueError, match="copy it again"):
            FAISSStore(EMBEDDINGS, tmp_path / "copy", read_only=True)
    else:
        with FAISSStore(EMBEDDINGS, tmp_path / "copy", read_only=True) as copy:
            assert len(copy.similarity_search("hiroko", k=9)) == 5


def test_an_enumeration_is_kept_by_its_value() -> None:
    """A member of an enumeration of words is the word, not the member's name."""

    class Language(str, enum.Enum):
        JA = "ja"

    store = FAISSStore.from_texts(["a"], EMBEDDINGS, [{"lang": Language.JA}])
    (found,) = store.similarity_search("a", filter={"lang": "ja"})
    assert type(found.metadata["lang"]) is str


def test_the_call_s_own_k_comes_first() -> None:
    """A retriever made for top_k=3 returns one document where k=1 is asked for."""
    store = FAISSStore.from_texts(TEXTS, EMBEDDINGS)
    retriever = store.as_retriever(top_k=3)
    assert len(retriever.invoke("hiroko")) == 3
    assert len(retriever.invoke("hiroko", k=1)) == len(retriever.invoke("hiroko", top_k=1)) == 1


def test_a_folder_of_the_first_format_opens(tmp_path: Path) -> None:
    """A folder as version 0.1.0 wrote it opens, whatever this version writes."""
    import shutil

    saved = Path(__file__).parent / "format-1"
    shutil.copytree(saved, tmp_path / "s")
    # Its codes are of a kind that is not made any more; they are read all the same.
    with FAISSStore(HashingEmbeddings(16), tmp_path / "s", tier="codes") as store:
        expected = json.loads((saved.parent / "format-1.json").read_text())
        found = [
            [document.id, document.page_content, document.metadata, round(score, 4)]
            for document, score in store.similarity_search_with_score(
                "hiroko", k=9, search_type="dense"
            )
        ]
        assert found == expected
        assert store.similarity_search("doctor", k=1, search_type="keyword")[0].id == "d"
        store.add_texts(["and can be written"])
        assert len(store) == len(expected) + 1
