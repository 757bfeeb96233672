"""Bringing in what LangChain's FAISS saved, and moving on to other stores."""

import datetime as dt
import os
import pickle
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_community.vectorstores import FAISS
from langchain_community.vectorstores.utils import DistanceStrategy
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.vectorstores.faiss import FAISSStore

EMBEDDINGS = HashingEmbeddings(64)


def test_ten_thousand_documents_come_in(tmp_path: Path) -> None:
    """A saved folder of 10,000 documents gives the same documents in the same order."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(10_000, 32)).astype(np.float32)
    texts = [f"document {number}" for number in range(10_000)]
    theirs = FAISS.from_embeddings(
        list(zip(texts, vectors.tolist(), strict=True)),
        EMBEDDINGS,
        [{"number": number} for number in range(10_000)],
        ids=[f"id-{number}" for number in range(10_000)],
    )
    theirs.save_local(str(tmp_path / "saved"))
    with FAISSStore.from_langchain(tmp_path / "saved", EMBEDDINGS, tmp_path / "new") as ours:
        assert len(ours) == 10_000
        for query in rng.normal(size=(20, 32)).tolist():
            expected = theirs.similarity_search_by_vector(query, k=5)
            found = ours.similarity_search_by_vector(query, k=5)
            assert [(d.id, d.page_content, d.metadata) for d in found] == [
                (d.id, d.page_content, d.metadata) for d in expected
            ]


@pytest.mark.parametrize(
    ("kwargs", "metric"),
    [
        ({}, "l2"),
        ({"normalize_L2": True}, "cosine"),
        ({"distance_strategy": DistanceStrategy.MAX_INNER_PRODUCT}, "dot"),
    ],
)
def test_the_metric_is_found_out(tmp_path: Path, kwargs: dict[str, Any], metric: str) -> None:
    """The metric that ranks like the saved index is chosen, or the one asked for."""
    pairs = [("a", [3.0, 4.0]), ("b", [1.0, 0.0])]
    FAISS.from_embeddings(pairs, EMBEDDINGS, **kwargs).save_local(str(tmp_path), "mine")
    assert FAISSStore.from_langchain(tmp_path, None, index_name="mine").metric == metric
    asked = FAISSStore.from_langchain(tmp_path, None, index_name="mine", metric="cosine")
    assert asked.metric == "cosine"


def test_dates_and_uuids_become_text(tmp_path: Path) -> None:
    """Metadata that JSON cannot hold, and LangChain's loaders do make, comes in as text."""
    metadata = {
        "when": dt.datetime(2024, 1, 2, tzinfo=dt.timezone.utc),
        "day": dt.date(2024, 1, 2),
        "who": uuid.UUID(int=7),
        "tags": ("a", "b"),
        "none": float("nan"),
    }
    FAISS.from_texts(["a"], EMBEDDINGS, [metadata]).save_local(str(tmp_path))
    (found,) = FAISSStore.from_langchain(tmp_path, EMBEDDINGS).similarity_search("a")
    assert found.metadata == {
        "when": "2024-01-02T00:00:00+00:00",
        "day": "2024-01-02",
        "who": "00000000-0000-0000-0000-000000000007",
        "tags": ["a", "b"],
        "none": None,
    }


def test_an_index_that_was_cut_is_named(tmp_path: Path) -> None:
    """An index.faiss that faiss cannot read is a sentence, not faiss' own exception."""
    FAISS.from_texts(["a"], EMBEDDINGS).save_local(str(tmp_path))
    (tmp_path / "index.faiss").write_bytes(b"cut")

    with pytest.raises(ValueError, match=r"index.faiss is no index that faiss can read"):
        FAISSStore.from_langchain(tmp_path, EMBEDDINGS)


class Runs:
    """Asks a pickle to call something."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize(
    "payload",
    [
        Runs(os.system, "touch RAN"),
        Runs(eval, "open('RAN', 'w')"),
        Runs(__import__, "antigravity"),
        (Runs(print, "x"), {}),
        ({}, {0: "x"}),
        (Document("not a store"), {0: "x"}),
        42,
    ],
)
def test_a_malicious_folder_is_refused(tmp_path: Path, monkeypatch: Any, payload: Any) -> None:
    """Whatever the pickle asks for, it is refused in a sentence and nothing runs."""
    monkeypatch.chdir(tmp_path)
    FAISS.from_texts(["a"], EMBEDDINGS).save_local(str(tmp_path))
    (tmp_path / "index.pkl").write_bytes(pickle.dumps(payload))
    with pytest.raises(ValueError, match=r"tampered|has something else|cannot be read"):
        FAISSStore.from_langchain(tmp_path, EMBEDDINGS, tmp_path / "new")
    assert not (tmp_path / "RAN").exists()
    assert not (tmp_path / "new").exists()


def test_an_index_that_keeps_its_vectors_to_itself_is_named(tmp_path: Path) -> None:
    """What faiss cannot read vectors from is a sentence, and does not end the process."""
    import faiss

    saved = FAISS.from_texts(["a", "b"], EMBEDDINGS)
    saved.save_local(str(tmp_path))
    index = faiss.IndexIDMap(faiss.IndexFlatL2(64))
    index.add_with_ids(np.ones((2, 64), np.float32), np.arange(2))
    faiss.write_index(index, str(tmp_path / "index.faiss"))

    with pytest.raises(ValueError, match="IndexIDMap, which does not give its vectors back"):
        FAISSStore.from_langchain(tmp_path, EMBEDDINGS)


def test_incomplete_and_torn_folders_are_sentences(tmp_path: Path) -> None:
    """A missing file, a cut file, and two files of different saves are told apart."""
    with pytest.raises(ValueError, match=r"holds no index\.pkl"):
        FAISSStore.from_langchain(tmp_path, EMBEDDINGS)
    FAISS.from_texts(["a"], EMBEDDINGS).save_local(str(tmp_path))
    FAISS.from_texts(["a", "b"], EMBEDDINGS).save_local(str(tmp_path), "two")
    (tmp_path / "two.faiss").replace(tmp_path / "index.faiss")
    with pytest.raises(ValueError, match=r"holds 2 vectors and index\.pkl 1"):
        FAISSStore.from_langchain(tmp_path, EMBEDDINGS)
    described = tmp_path / "index.pkl"
    described.write_bytes(described.read_bytes()[:50])
    with pytest.raises(ValueError, match="cannot be read as a saved FAISS store"):
        FAISSStore.from_langchain(tmp_path, EMBEDDINGS)


class Counted(HashingEmbeddings):
    """Counts the texts it embeds."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.count = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed and count."""
        self.count += len(texts)
        return super().embed_documents(texts)


def full(embeddings: Any, count: int = 25) -> FAISSStore:
    """Return a store with documents in it."""
    return FAISSStore.from_texts(
        [f"text {number}" for number in range(count)],
        embeddings,
        [{"number": number} for number in range(count)],
        ids=[f"id-{number}" for number in range(count)],
    )


def test_copying_embeds_nothing_again(tmp_path: Path) -> None:
    """Documents and vectors move to a store of the same model, with progress, without embedding."""
    here = full(EMBEDDINGS)
    embeddings = Counted(64)
    with FAISSStore(
        embeddings, tmp_path / "s", embedding_id="HashingEmbeddings:hashing-1-64"
    ) as there:
        embeddings.__class__.__name__ = "HashingEmbeddings"
        steps: list[tuple[int, int]] = []
        written = here.copy_to(there, progress=lambda *step: steps.append(step), batch_size=10)
        assert written == 25
        assert steps == [(10, 25), (20, 25), (25, 25)]
        assert embeddings.count == 0
        found = there.similarity_search_with_score("text 7")
        assert found == here.similarity_search_with_score("text 7")


def test_copying_goes_on_where_it_stopped() -> None:
    """Copied again, only what is missing or different is written."""
    here, there = full(EMBEDDINGS), FAISSStore(EMBEDDINGS)

    def stop(done: int, _: int) -> None:
        if done >= 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        here.copy_to(there, progress=stop, batch_size=5)
    assert len(there) == 10
    there.add_texts(["changed since"], ids=["id-3"])
    assert here.copy_to(there, batch_size=5) == 16
    assert here.copy_to(there, batch_size=5) == 0
    assert len(there) == 25
    assert there.get_by_ids(["id-3"]) == here.get_by_ids(["id-3"])


def test_other_embeddings_embed_for_themselves() -> None:
    """A store with another model takes the texts, and any LangChain store the documents."""
    here, other = full(EMBEDDINGS), FAISSStore(HashingEmbeddings(128))
    assert here.copy_to(other) == 25
    assert other.similarity_search("text 7", k=1)[0].page_content == "text 7"
    langchains = InMemoryVectorStore(EMBEDDINGS)
    assert here.copy_to(langchains) == 25
    assert langchains.similarity_search("text 7", k=1)[0].id == "id-7"
    theirs = FAISS.from_texts(["seed"], EMBEDDINGS)
    assert here.copy_to(theirs) == 25
    assert theirs.similarity_search("text 7", k=1)[0].metadata == {"number": 7}
