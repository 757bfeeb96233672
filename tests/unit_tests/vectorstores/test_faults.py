"""Each fault of LangChain's FAISS wrapper, by name: ours does it right, and theirs still does not.

A check is written once, for both. When LangChain repairs a fault the second half of its test fails,
and the row may leave the table in the docs.
"""

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest
from langchain_community.docstore.in_memory import InMemoryDocstore
from langchain_community.vectorstores import FAISS
from langchain_community.vectorstores.utils import DistanceStrategy
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import VectorStore

from benchmarks.faiss_store import threads
from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.vectorstores.faiss import FAISSStore

EMBEDDINGS = HashingEmbeddings(64)
Make = Callable[..., Any]


class Numbers(Embeddings):
    """Embeddings of texts that are written as numbers: "1 2 nan" is the vector [1, 2, NaN]."""

    def embed_query(self, text: str) -> list[float]:
        """Read one."""
        return [float(word) for word in text.split()]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Read several."""
        return [self.embed_query(text) for text in texts]


def ours_alone_passes(check: Callable[[Make], Any]) -> None:
    """Run a check on our store, which must pass, and on LangChain's, which must not."""
    check(FAISSStore.from_texts)
    with pytest.raises((Exception, pytest.fail.Exception)):  # any failure will do
        check(FAISS.from_texts)


class Bomb:
    """Runs a command when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.path}",)


def test_pickle_runs_code(tmp_path: Path) -> None:
    """A tampered save is refused before anything in it runs; LangChain's load runs it."""
    FAISS.from_texts(["one"], EMBEDDINGS).save_local(str(tmp_path / "saved"))
    sign = tmp_path / "code ran"
    (tmp_path / "saved" / "index.pkl").write_bytes(pickle.dumps(Bomb(tmp_path / "'code ran'")))

    with pytest.raises(ValueError, match=r"posix.system.*tampered"):
        FAISSStore.from_langchain(tmp_path / "saved", EMBEDDINGS)
    assert not sign.exists()

    with pytest.raises(Exception):  # noqa: B017 - it fails after the command has run
        FAISS.load_local(str(tmp_path / "saved"), EMBEDDINGS, allow_dangerous_deserialization=True)
    assert sign.exists()


def test_threads_crash() -> None:
    """Ten runs of three writers and three readers pass; LangChain's die or answer wrongly."""
    assert threads.runs(1, ["memory,codes,folder,codes,memory"], 20, rounds=2) == []
    assert threads.runs(1, ["langchain"], 1_000, rounds=5)


def test_adding_an_id_again_breaks_the_store() -> None:
    """A text added under a known id replaces the old one."""

    def check(make: Make) -> None:
        store = make(["takuma is a teacher"], EMBEDDINGS, ids=["t"])
        store.add_texts(["takuma is a doctor"], ids=["t"])
        assert [d.page_content for d in store.similarity_search("takuma", k=4)] == [
            "takuma is a doctor"
        ]

    ours_alone_passes(check)


class DeadlyMetadata:
    """Metadata that kills the process while it is being saved."""

    def __reduce__(self) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


SAVING = """
import sys
from langchain_community.vectorstores import FAISS
from langchain_custom_agents.offline import HashingEmbeddings
from tests.unit_tests.vectorstores.test_faults import DeadlyMetadata
folder = sys.argv[1]
store = FAISS.load_local(folder, HashingEmbeddings(64), allow_dangerous_deserialization=True)
store.add_texts(["two"], [{"deadly": DeadlyMetadata()}])
store.save_local(folder)
"""

ADDING = """
import sys
from benchmarks.faiss_store import crash
crash.work(sys.argv[1], 1, 5, [], fsync=False, die_at_line=int(sys.argv[2]))
"""


def test_kill_while_saving_tears_the_store(tmp_path: Path) -> None:
    """A store whose writer was killed opens and answers; LangChain's save is torn for good."""
    from benchmarks.faiss_store import crash

    known: dict[str, str] = {}
    for line in (200, 900):
        killed = subprocess.run(
            [sys.executable, "-c", ADDING, str(tmp_path / "ours"), str(line)],
            check=False,
            capture_output=True,
        )
        assert killed.returncode == -signal.SIGKILL
        allowed = crash.read_log(killed.stdout, known)
        known = crash.held(str(tmp_path / "ours"))
        assert known in allowed

    folder = str(tmp_path / "theirs")
    FAISS.from_texts(["one"], EMBEDDINGS).save_local(folder)
    killed = subprocess.run([sys.executable, "-c", SAVING, folder], check=False)
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(Exception):  # noqa: B017
        FAISS.load_local(folder, EMBEDDINGS, allow_dangerous_deserialization=True)


def test_filters_come_after_the_search() -> None:
    """A filter that leaves 1 % of the documents still gives all that are asked for."""

    def check(make: Make) -> None:
        texts = [f"text number {number}" for number in range(400)]
        store = make(texts, EMBEDDINGS, [{"rare": number % 100 == 7} for number in range(400)])
        assert len(store.similarity_search("text", k=4, filter={"rare": True})) == 4

    ours_alone_passes(check)


def test_k_above_twenty_with_a_filter() -> None:
    """Fifty documents come back when fifty are asked for and pass the filter."""

    def check(make: Make) -> None:
        store = make([f"text {n}" for n in range(60)], EMBEDDINGS, [{"all": 1}] * 60)
        assert len(store.similarity_search("text", k=50, filter={"all": 1})) == 50

    ours_alone_passes(check)


def test_a_filter_drops_fields_beside_logic() -> None:
    """A plain field beside $and counts."""

    def check(make: Make) -> None:
        store = make(["a", "b"], EMBEDDINGS, [{"z": 1, "y": 1}, {"z": 2, "y": 1}])
        found = store.similarity_search("a", filter={"z": 2, "$and": [{"y": 1}]})
        assert [d.page_content for d in found] == ["b"]

    ours_alone_passes(check)


def test_a_filter_on_a_missing_field_raises() -> None:
    """A document without the field is not greater than anything, and no error."""

    def check(make: Make) -> None:
        store = make(["a", "b"], EMBEDDINGS, [{}, {"year": 2024}])
        found = store.similarity_search("a", filter={"year": {"$gt": 2000}})
        assert [d.page_content for d in found] == ["b"]

    ours_alone_passes(check)


def test_top_k_is_ignored() -> None:
    """The tutorials' `top_k=1` gives one document."""

    def check(make: Make) -> None:
        store = make(list("abcdef"), EMBEDDINGS)
        assert len(store.similarity_search("a", top_k=1)) == 1

    ours_alone_passes(check)


def test_misspelt_keywords_are_ignored() -> None:
    """`filterr=` is refused, and the right word named."""

    def check(make: Make) -> None:
        with pytest.raises(TypeError, match="did you mean 'filter'"):
            make(["a"], EMBEDDINGS).similarity_search("a", filterr={"x": 1})

    ours_alone_passes(check)


def test_k_of_a_retriever_is_ignored() -> None:
    """`as_retriever(k=1)` gives one document."""

    def check(make: Make) -> None:
        assert len(make(list("abcdef"), EMBEDDINGS).as_retriever(k=1).invoke("a")) == 1

    ours_alone_passes(check)


def test_inner_product_relevance_is_inverted() -> None:
    """Under the dot product the better document has the higher relevance."""
    texts = ["3 0", "1 0"]

    def order(store: VectorStore) -> list[float]:
        found = store.similarity_search_with_relevance_scores("1 0", k=2)
        return [score for doc, score in sorted(found, key=lambda pair: pair[0].page_content)]

    worse, better = order(FAISSStore.from_texts(texts, Numbers(), metric="dot"))
    assert worse < better
    strategy = DistanceStrategy.MAX_INNER_PRODUCT
    worse, better = order(FAISS.from_texts(texts, Numbers(), distance_strategy=strategy))
    assert not worse < better


def test_cosine_is_plain_distance() -> None:
    """Under cosine the length of a vector does not matter."""
    texts = ["10 1", "1 1"]
    store = FAISSStore.from_texts(texts, Numbers(), metric="cosine")
    assert store.similarity_search("1 0", k=1)[0].page_content == "10 1"
    theirs = FAISS.from_texts(texts, Numbers(), distance_strategy=DistanceStrategy.COSINE)
    assert theirs.similarity_search("1 0", k=1)[0].page_content != "10 1"


def test_relevance_leaves_zero_to_one() -> None:
    """Relevance is from 0 to 1 whatever the vectors' lengths."""

    def check(make: Make, **kwargs: Any) -> None:
        store = make(["3 4", "0 -7"], Numbers(), **kwargs)
        scores = store.similarity_search_with_relevance_scores("5 9", k=2)
        assert len(scores) == 2
        assert all(0 <= score <= 1 for _, score in scores)

    for metric in ("cosine", "dot", "l2"):
        check(FAISSStore.from_texts, metric=metric)
    ours_alone_passes(check)


def test_a_better_score_is_sometimes_lower() -> None:
    """The nearest document has the highest score."""

    def check(make: Make) -> None:
        scores = [
            score
            for _, score in make(["1 0", "0 1"], Numbers()).similarity_search_with_score("1 0")
        ]
        assert scores == sorted(scores, reverse=True)

    ours_alone_passes(check)


def test_a_threshold_runs_both_ways() -> None:
    """A threshold keeps the same documents whichever scores are asked for: the better ones."""
    store = FAISSStore.from_texts(["1 0", "0 1", "-1 0"], Numbers(), search_type="dense")
    for search in (
        store.similarity_search_with_score,
        store.similarity_search_with_relevance_scores,
    ):
        found = search("1 0", k=3, score_threshold=0.5)
        assert [document.page_content for document, _ in found] == ["1 0"]
    theirs = FAISS.from_texts(["1 0", "0 1", "-1 0"], Numbers())
    kept = theirs.similarity_search_with_score("1 0", k=3, score_threshold=3.0)
    assert [document.page_content for document, _ in kept] == ["1 0", "0 1"]  # at most 3
    kept = theirs.similarity_search_with_relevance_scores("1 0", k=3, score_threshold=-1.0)
    assert [document.page_content for document, _ in kept] == ["1 0", "0 1"]  # at least -1


def test_scores_are_not_json() -> None:
    """A score is a Python float."""

    def check(make: Make) -> None:
        json.dumps([s for _, s in make(["a"], EMBEDDINGS).similarity_search_with_score("a")])

    ours_alone_passes(check)


def test_reloading_forgets_how_vectors_compare(tmp_path: Path) -> None:
    """A folder knows its metric when it is opened again."""
    texts, query = ["1 1", "10 1"], "1 0"
    with FAISSStore.from_texts(texts, Numbers(), path=tmp_path / "ours", metric="cosine"):
        pass
    with FAISSStore(Numbers(), tmp_path / "ours") as store:
        assert store.metric == "cosine"
        assert store.similarity_search(query, k=1)[0].page_content == "10 1"

    theirs = FAISS.from_texts(texts, Numbers(), normalize_L2=True)
    before = theirs.similarity_search_with_score(query, k=1)
    theirs.save_local(str(tmp_path / "theirs"))
    loaded = FAISS.load_local(
        str(tmp_path / "theirs"), Numbers(), allow_dangerous_deserialization=True
    )
    loaded.add_texts(["7 7"])
    after = loaded.similarity_search_with_score("9 1", k=1)
    assert not loaded._normalize_L2
    assert before[0][0].page_content == "10 1"
    assert after[0][1] > 1


def test_another_model_is_accepted(tmp_path: Path) -> None:
    """A folder made with one model is refused to another, both being named."""
    FAISSStore.from_texts(["a"], EMBEDDINGS, path=tmp_path / "ours").close()
    with pytest.raises(ValueError, match=r"hashing-1-64.*hashing-1-128"):
        FAISSStore(HashingEmbeddings(128), tmp_path / "ours")
    FAISS.from_texts(["a"], EMBEDDINGS).save_local(str(tmp_path / "theirs"))
    FAISS.load_local(
        str(tmp_path / "theirs"), HashingEmbeddings(128), allow_dangerous_deserialization=True
    )


def test_a_wrong_dimension_is_an_empty_assertion() -> None:
    """A vector of another dimension is refused in words that name both."""

    def check(make: Make) -> None:
        store = make(["1 0"], Numbers())
        with pytest.raises(ValueError, match=r"2 dimensions.*has 3"):
            store.similarity_search("1 0 0")
        with pytest.raises(ValueError, match=r"2 dimensions.*has 3"):
            store.add_texts(["1 0 0"])
        with pytest.raises(ValueError, match="k must be a whole number of at least 1, not 0"):
            store.similarity_search("1 0", k=0)

    ours_alone_passes(check)


def test_no_texts_is_an_index_error() -> None:
    """A store can be made of nothing, and searched."""

    def check(make: Make) -> None:
        assert make([], EMBEDDINGS).similarity_search("anything") == []

    ours_alone_passes(check)


@pytest.mark.parametrize("bad", ["nan 1", "inf 1"])
def test_nan_is_accepted_and_never_found(bad: str) -> None:
    """A vector that nothing could find is refused, and nothing is written."""

    def check(make: Make) -> None:
        store = make(["1 0"], Numbers())
        with pytest.raises(ValueError, match="NaN or infinity"):
            store.add_texts(["0 1", bad])
        with pytest.raises(ValueError, match="NaN or infinity"):
            store.similarity_search(bad)
        assert [d.page_content for d in store.similarity_search("1 0")] == ["1 0"]

    ours_alone_passes(check)


def test_deleting_a_missing_id_raises() -> None:
    """Deleting what is not there is no error, and deletes the rest."""

    def check(make: Make) -> None:
        store = make(["a", "b"], EMBEDDINGS, ids=["a", "b"])
        assert store.delete(["a", "never there"])
        assert [d.page_content for d in store.similarity_search("a")] == ["b"]

    ours_alone_passes(check)


def test_a_quick_index_cannot_delete() -> None:
    """Documents go from the quick tier, too; LangChain's graph index refuses."""
    pairs = [(f"{number} 1", [float(number), 1.0]) for number in range(2_000)]
    ids = [text for text, _ in pairs]
    store = FAISSStore(None, metric="l2", tier="codes")
    store.add_embeddings(pairs, ids=ids)
    store.delete(["7 1"])
    assert store.similarity_search_by_vector([7.2, 1.0], k=1)[0].id == "8 1"

    theirs = FAISS(Numbers(), faiss.IndexHNSWFlat(2, 16), InMemoryDocstore(), {})
    theirs.add_embeddings(pairs, ids=ids)
    with pytest.raises(RuntimeError, match="remove_ids"):
        theirs.delete(["7 1"])


def test_merging_a_shared_id_breaks_both() -> None:
    """Copying into a store that shares an id leaves both stores whole."""
    ours = FAISSStore.from_texts(["a", "b"], EMBEDDINGS, ids=["1", "2"])
    other = FAISSStore.from_texts(["b", "c"], EMBEDDINGS, ids=["2", "3"])
    other.copy_to(ours)
    assert (len(ours), len(other)) == (3, 2)
    assert len(ours.similarity_search("a", k=9)) == 3

    theirs = FAISS.from_texts(["a", "b"], EMBEDDINGS, ids=["1", "2"])
    other_theirs = FAISS.from_texts(["b", "c"], EMBEDDINGS, ids=["2", "3"])
    with pytest.raises(ValueError, match="exist"):
        theirs.merge_from(other_theirs)
    assert theirs.index.ntotal != len(theirs.index_to_docstore_id)


def test_mmr_with_a_filter_mixes_up_documents() -> None:
    """With a filter, the diverse search ranks the documents that pass by their own scores."""
    texts = ["1 0", "0.9 0.1", "0 1", "0.8 0.6"]
    metadatas = [{"ok": False}, {"ok": True}, {"ok": True}, {"ok": True}]
    found = FAISSStore.from_texts(texts, Numbers(), metadatas).max_marginal_relevance_search(
        "1 0", k=3, fetch_k=3, lambda_mult=1.0, filter={"ok": True}
    )
    assert [d.page_content for d in found] == ["0.9 0.1", "0.8 0.6", "0 1"]

    theirs = FAISS.from_texts(texts, Numbers(), metadatas)
    scored = theirs.max_marginal_relevance_search_with_score_by_vector(
        [1.0, 0.0], k=3, fetch_k=3, filter={"ok": True}
    )
    assert scored[0][0].page_content == "0.9 0.1"
    assert scored[0][1] == 0.0  # the distance of "1 0", which the filter removed


class Slow(HashingEmbeddings):
    """Embeddings with an async side of their own, which says when it was used."""

    waited = False

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed, and say so."""
        type(self).waited = True
        return self.embed_documents(texts)


async def test_async_adding_blocks_the_loop() -> None:
    """While texts are added the event loop goes on turning."""

    async def turns(store: VectorStore, texts: list[str]) -> tuple[int, list[str]]:
        turned = 0
        adding = asyncio.ensure_future(store.aadd_texts(texts))
        while not adding.done():
            await asyncio.sleep(0)
            turned += 1
        return turned, adding.result()

    texts = [f"text {number}" for number in range(5_000)]
    turned, ids = await turns(FAISSStore(Slow(64)), texts)
    assert len(ids) == 5_000
    assert turned > 20
    turned, _ = await turns(FAISS.from_texts(["a"], Slow(64)), texts)
    assert turned <= 20
    assert Slow.waited


def test_a_returned_document_is_the_stored_one() -> None:
    """Changing a document that was returned changes nothing in the store."""

    def check(make: Make) -> None:
        store = make(["a"], EMBEDDINGS, [{"tags": ["x"]}])
        for _ in range(2):
            found = store.similarity_search("a")[0]
            assert found.metadata == {"tags": ["x"]}
            found.metadata["tags"].append("y")
            found.page_content = "changed"
        assert store.similarity_search("a")[0].page_content == "a"

    ours_alone_passes(check)


def test_indexing_with_force_update_raises() -> None:
    """`langchain_core.indexing.index(force_update=True)` writes everything again."""

    def check(make: Make) -> None:
        store, records = make(["seed"], EMBEDDINGS), InMemoryRecordManager("n")
        pages = [Document("takuma is a teacher", metadata={"source": "s"})]
        for _ in range(2):
            told = index(pages, records, store, force_update=True, key_encoder="sha256")
        assert told["num_updated"] == 1

    ours_alone_passes(check)


def test_indexing_skips_what_a_crash_lost(tmp_path: Path) -> None:
    """After a crash, what the records call skipped is really in the store."""
    pages = [Document("takuma is a teacher", metadata={"source": "s"})]
    store = FAISSStore(EMBEDDINGS, tmp_path / "ours")
    index(pages, store.record_manager(), store, key_encoder="sha256")
    del store  # the process ends here, without a word
    store = FAISSStore(EMBEDDINGS, tmp_path / "ours")
    told = index(pages, store.record_manager(), store, key_encoder="sha256")
    assert told["num_skipped"] == 1
    assert store.similarity_search("takuma")

    # LangChain's store is saved by hand, so its records are ahead of it after a crash.
    records = InMemoryRecordManager("n")
    theirs = FAISS.from_texts(["seed"], EMBEDDINGS)
    theirs.save_local(str(tmp_path / "theirs"))
    index(pages, records, theirs, key_encoder="sha256")
    theirs = FAISS.load_local(
        str(tmp_path / "theirs"), EMBEDDINGS, allow_dangerous_deserialization=True
    )
    told = index(pages, records, theirs, key_encoder="sha256")
    assert told["num_skipped"] == 1
    assert [d.page_content for d in theirs.similarity_search("takuma")] == ["seed"]


def test_one_deletion_costs_a_copy_of_everything() -> None:
    """A deletion leaves the vectors of the other documents where they are."""
    vectors = np.eye(50, dtype=np.float32)
    ids = [str(number) for number in range(50)]
    pairs = list(zip(ids, vectors.tolist(), strict=True))
    store = FAISSStore(None)
    store.add_embeddings(pairs, ids=ids)
    place = store._index.newest.vectors.ctypes.data
    store.delete(["3"])
    assert store._index.newest.vectors.ctypes.data == place
    assert len(store._index.newest.vectors) == 50

    theirs = FAISS.from_embeddings(pairs, Numbers(), ids=ids)
    theirs.delete(["3"])
    assert theirs.index.ntotal == 49  # every vector behind it has moved


def test_importing_loads_no_faiss() -> None:
    """Importing the module does not load faiss; only what needs it does."""
    code = (
        "import sys; from langchain_custom_agents.vectorstores.faiss import FAISSStore; "
        "assert 'faiss' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
