"""Indexing touches only what changed, and remembers across crashes."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.indexing import InMemoryRecordManager, aindex, index
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.vectorstores.faiss import FAISSStore
from langchain_custom_agents.vectorstores.indexing import IndexReport, index_documents
from langchain_custom_agents.vectorstores.records import FolderRecordManager


class Counted(HashingEmbeddings):
    """Counts the texts it embeds."""

    count = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed and count."""
        self.count += len(texts)
        return super().embed_documents(texts)


def pages(**texts: str) -> list[Document]:
    """Return a document per word of each source."""
    return [
        Document(word, metadata={"source": f"notes/{source}.txt", "word": place})
        for source, text in texts.items()
        for place, word in enumerate(text.split())
    ]


def test_only_what_changed_is_embedded(tmp_path: Path) -> None:
    """A second run embeds the changed words, skips the rest, and deletes what is gone."""
    embeddings = Counted(64)
    with FAISSStore(embeddings, tmp_path / "s") as store:
        assert index_documents(pages(a="x y z", b="p q"), store) == IndexReport(5, 0, 0, 0)
        assert index_documents(pages(a="x y z", b="p q"), store) == IndexReport(0, 0, 5, 0)
        assert embeddings.count == 5
    with FAISSStore(embeddings, tmp_path / "s") as store:
        assert index_documents(pages(a="x w z"), store) == IndexReport(1, 0, 2, 1)
        assert embeddings.count == 6
        words = {document.page_content for document in store.similarity_search("x", k=9)}
        assert words == {"x", "w", "z", "p", "q"}


def test_sources_that_vanished_are_deleted_below_their_folder() -> None:
    """What lay below a folder that was read whole and is gone, goes; other folders stay."""
    store = FAISSStore(HashingEmbeddings(64))
    other = [Document("other", metadata={"source": "notes2/c.txt"})]
    index_documents(pages(a="x", b="y") + other, store)
    assert index_documents(pages(a="x"), store, under=["notes"]) == IndexReport(0, 0, 1, 1)
    assert len(store) == 2
    assert index_documents([], store, under=["notes/a.txt"]) == IndexReport(0, 0, 0, 1)
    assert [d.page_content for d in store.similarity_search("x")] == ["other"]


def test_an_interrupted_run_goes_on() -> None:
    """What was done before an interruption is not embedded again."""
    embeddings = Counted(64)
    store = FAISSStore(embeddings)
    documents = pages(a=" ".join(f"word{number}" for number in range(30)))

    def interrupted() -> Any:
        yield from documents[:25]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_documents(interrupted(), store, batch_size=10)
    assert len(store) == 20
    assert index_documents(documents, store, batch_size=10) == IndexReport(10, 0, 20, 0)
    assert embeddings.count == 30


def test_progress_counts_documents_that_are_done() -> None:
    """Progress is told after each batch, and at the end with the number of all."""
    done: list[int] = []
    store = FAISSStore(HashingEmbeddings(64))
    documents = pages(a=" ".join(f"word{number}" for number in range(25)))
    index_documents(iter(documents), store, batch_size=10, progress=done.append)
    assert done == [10, 20, 25]


def test_force_writes_everything_again() -> None:
    """Forced, every document is embedded and counted as updated."""
    store = FAISSStore(HashingEmbeddings(64))
    index_documents(pages(a="x y"), store)
    assert index_documents(pages(a="x y"), store, force=True) == IndexReport(0, 2, 0, 0)


def test_what_was_deleted_by_hand_is_indexed_again() -> None:
    """The records believe the store, not themselves."""
    store = FAISSStore(HashingEmbeddings(64))
    index_documents(pages(a="x y"), store)
    store.delete(filter={"word": 0})
    assert index_documents(pages(a="x y"), store) == IndexReport(1, 0, 1, 0)


def test_a_document_without_a_source_is_a_sentence() -> None:
    """A document that does not say where it comes from is named."""
    with pytest.raises(ValueError, match=r"Document 0 does not say in metadata\['source'\]"):
        index_documents([Document("x")], FAISSStore(HashingEmbeddings(64)))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"under": "/"}, r"write under=\['/'\]"),
        ({"under": Path("notes")}, r"write under=\['notes'\]"),
        ({"under": ["notes"], "records": InMemoryRecordManager("n")}, "records that list"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"documents": ["text"]}, "Document 0 is a str"),
        ({"store": "folder"}, "must be a LangChain VectorStore"),
    ],
    ids=lambda given: str(given)[:20],
)
def test_misuse_is_a_sentence_and_deletes_nothing(wrong: Any, sentence: str) -> None:
    """Arguments that do not fit are refused, above all one folder where a list belongs."""
    store = FAISSStore(HashingEmbeddings(64))
    index_documents(pages(a="one two"), store)
    with pytest.raises(ValueError, match=sentence):
        index_documents(**{"documents": [], "store": store, **wrong})
    assert len(store) == 2


def test_other_stores_bring_records_in_a_folder(tmp_path: Path) -> None:
    """Any store can be indexed with records of its own folder, and is refused without."""
    store = InMemoryVectorStore(HashingEmbeddings(64))
    with pytest.raises(ValueError, match="InMemoryVectorStore does not remember"):
        index_documents(pages(a="x"), store)
    for expected in (IndexReport(2, 0, 0, 0), IndexReport(0, 0, 2, 0)):
        records = FolderRecordManager("mine", tmp_path / "records")
        assert index_documents(pages(a="x y"), store, records=records) == expected


def test_the_record_manager_keeps_its_contract(tmp_path: Path) -> None:
    """Keys are recorded, listed by time and source, forgotten, and kept apart by namespace."""
    records = FolderRecordManager("one", tmp_path)
    other = FolderRecordManager("two", tmp_path)
    records.create_schema()
    start = records.get_time()
    records.update(["a", "b"], group_ids=["s", "t"])
    middle = records.get_time()
    records.update(["c"], group_ids=["s"], time_at_least=middle)
    assert records.exists(["a", "z", "c"]) == [True, False, True]
    assert other.exists(["a"]) == [False]
    assert records.list_keys(before=middle) == ["a", "b"]
    assert records.list_keys(after=start, group_ids=["s"]) == ["a", "c"]
    assert len(records.list_keys(limit=2)) == 2
    records.update(["a"])
    assert records.list_keys(group_ids=["s"], after=middle - 1) == ["a", "c"]
    assert records.sources() == ["s", "t"]
    records.delete_keys(["a", "c"])
    assert records.list_keys() == ["b"]
    with pytest.raises(ValueError, match="one source per key: 1 for 2"):
        records.update(["x", "y"], group_ids=["s"])


def test_a_clock_set_back_loses_nothing(tmp_path: Path) -> None:
    """Records made in the future do not make the next run delete what it has just seen."""
    store = FAISSStore(HashingEmbeddings(64), tmp_path / "s")
    index_documents(pages(a="x y"), store)
    with store._documents.writing() as connection:
        connection.execute("UPDATE records SET updated_at = updated_at + 1e6")
    assert index_documents(pages(a="x z"), store) == IndexReport(1, 0, 1, 1)
    assert {d.page_content for d in store.similarity_search("x")} == {"x", "z"}


async def test_langchains_index_works_in_both_ways() -> None:
    """`index` and `aindex` of langchain-core run with the store's own records, in every mode."""
    store = FAISSStore(HashingEmbeddings(64))
    options: Any = {"source_id_key": "source", "key_encoder": "sha256"}
    for mode in (None, "incremental", "full", "scoped_full"):
        records = store.record_manager(str(mode))
        told = index(pages(a="x y"), records, store, cleanup=mode, **options)
        again = await aindex(pages(a="x y"), records, store, cleanup=mode, **options)
        assert again["num_skipped"] == 2
        assert told["num_added"] + told["num_skipped"] == 2
