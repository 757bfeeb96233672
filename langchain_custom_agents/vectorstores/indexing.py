"""Indexing that touches only what changed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from langchain_core.documents import Document
from langchain_core.indexing import RecordManager, index
from langchain_core.vectorstores import VectorStore

from langchain_custom_agents.vectorstores._arguments import whole_number
from langchain_custom_agents.vectorstores.faiss import FAISSStore
from langchain_custom_agents.vectorstores.records import FolderRecordManager

__all__ = ["IndexReport", "index_documents"]


class IndexReport(NamedTuple):
    """How many documents an indexing run added, updated, skipped and deleted.

    A changed piece of text is a new document: it counts as added, the old one as deleted.
    `updated` counts those written again although nothing had changed (`force=True`).
    """

    added: int
    updated: int
    skipped: int
    deleted: int


def index_documents(
    documents: Iterable[Document],
    store: VectorStore,
    *,
    records: RecordManager | None = None,
    under: Sequence[str | PurePath] = (),
    progress: Callable[[int], None] | None = None,
    batch_size: int = 100,
    source_key: str = "source",
    force: bool = False,
) -> IndexReport:
    """Bring a store up to date with documents; what did not change is not embedded again.

    Built on `langchain_core.indexing.index`. Each batch is one commit, so a run that was
    interrupted goes on where it stopped when it is started again. Documents whose source was
    read again and that are no longer in it are deleted at the end.

    Args:
        documents: The documents (read once, a batch at a time); each says in
            `metadata[source_key]` where it comes from.
        store: The store.
        records: What remembers the earlier runs; a `FAISSStore` brings its own.
        under: Folders (or other prefixes of sources) that `documents` covers completely: what is
            recorded from below one of them and was not read this time is deleted, too. A source
            that is named itself counts. Needs a `FolderRecordManager`, such as `FAISSStore`'s.
        progress: Called with the number of documents that are done, after each batch.
        batch_size: How many documents are embedded and written at once.
        source_key: The field of the metadata that names the source.
        force: Embed and write everything again.

    Returns:
        What changed.

    Raises:
        ValueError: If a document names no source, the store needs `records` and has none, or an
            argument does not fit.

    Example:
        >>> from langchain_custom_agents.offline import HashingEmbeddings
        >>> store = FAISSStore(HashingEmbeddings())
        >>> pages = [Document(text, metadata={"source": text}) for text in ("one", "two")]
        >>> index_documents(pages, store)
        IndexReport(added=2, updated=0, skipped=0, deleted=0)
        >>> pages[1].page_content = "three"
        >>> index_documents(pages, store)
        IndexReport(added=1, updated=0, skipped=1, deleted=1)
    """
    whole_number("batch_size", batch_size)
    if isinstance(under, str | PurePath):
        msg = f"under must be a list of folders, not one; write under=[{str(under)!r}]."
        raise ValueError(msg)  # noqa: TRY004
    if not isinstance(store, VectorStore):
        msg = f"store must be a LangChain VectorStore, not {store!r}."
        raise ValueError(msg)  # noqa: TRY004
    if records is None:
        if not isinstance(store, FAISSStore):
            msg = (
                f"{type(store).__name__} does not remember what was indexed; pass "
                "records=FolderRecordManager(namespace, folder)."
            )
            raise ValueError(msg)
        records = store.record_manager()
    if under and not isinstance(records, FolderRecordManager):
        msg = f"under needs records that list their sources; {type(records).__name__} does not."
        raise ValueError(msg)
    seen: set[str] = set()

    def watched() -> Iterator[Document]:
        done = 0
        for number, document in enumerate(documents):
            if number and number % batch_size == 0 and progress is not None:
                progress(number)
            if not isinstance(document, Document):
                msg = f"Document {number} is a {type(document).__name__}, no LangChain Document."
                raise ValueError(msg)  # noqa: TRY004
            source = document.metadata.get(source_key)
            if not isinstance(source, str) or not source:
                msg = (
                    f"Document {number} does not say in metadata[{source_key!r}] where it comes "
                    f"from: {document.page_content[:60]!r}."
                )
                raise ValueError(msg)
            seen.add(source)
            done = number + 1
            yield document
        total.append(done)

    total: list[int] = []
    told = index(
        watched(),
        records,
        store,
        batch_size=batch_size,
        cleanup="scoped_full",
        source_id_key=source_key,
        key_encoder="sha256",
        force_update=force,
    )
    deleted = told["num_deleted"]
    if isinstance(records, FolderRecordManager):
        gone = [
            source
            for source in records.sources()
            if source not in seen and any(_is_below(source, root) for root in under)
        ]
        if gone:
            keys = records.list_keys(group_ids=gone)
            store.delete(keys)
            records.delete_keys(keys)
            deleted += len(keys)
    if progress is not None and total and total[0]:
        progress(total[0])
    return IndexReport(told["num_added"], told["num_updated"], told["num_skipped"], deleted)


def _is_below(source: str, root: str | PurePath) -> bool:
    return source == root or PurePath(source).is_relative_to(PurePath(root))
