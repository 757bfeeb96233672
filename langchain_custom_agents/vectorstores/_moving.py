"""Moving documents and vectors between stores, without embedding them again."""

import datetime as dt
import inspect
import json
import pickle
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

__all__ = ["read_langchain", "upload"]

_BATCH = 10_000


class _LangChainDocument:
    """Stands in for a LangChain Document while a pickle is read; it can only hold data."""


class _LangChainDocstore:
    """Stands in for LangChain's InMemoryDocstore while a pickle is read."""


class _Whitelist(pickle.Unpickler):
    """Reads what LangChain's FAISS saves, and refuses every other name."""

    allowed: ClassVar[dict[tuple[str, str], Any]] = {
        **{
            (module, "InMemoryDocstore"): _LangChainDocstore
            for module in (
                "langchain_community.docstore.in_memory",
                "langchain.docstore.in_memory",
                "langchain_classic.docstore.in_memory",
            )
        },
        **{
            (module, "Document"): _LangChainDocument
            for module in (
                "langchain_core.documents.base",
                "langchain.schema",
                "langchain.schema.document",
                "langchain.docstore.document",
            )
        },
        ("datetime", "date"): dt.date,
        ("datetime", "datetime"): dt.datetime,
        ("datetime", "time"): dt.time,
        ("datetime", "timedelta"): dt.timedelta,
        ("datetime", "timezone"): dt.timezone,
        ("uuid", "UUID"): uuid.UUID,
    }

    def find_class(self, module: str, name: str) -> Any:
        """Return what a name in the file stands for, if it is one of the few that may."""
        try:
            return self.allowed[module, name]
        except KeyError:
            msg = (
                f"The file asks for {module}.{name}, which a saved FAISS store has no use for; "
                "it may have been tampered with. Nothing was run and nothing was imported."
            )
            raise ValueError(msg) from None


def read_langchain(
    folder: Path, index_name: str
) -> tuple[str, Iterator[tuple[list[str], list[Document], Any]]]:
    """Read a folder saved by LangChain's FAISS.

    Args:
        folder: The folder.
        index_name: The name of the files, without their endings.

    Returns:
        The metric of its index, and batches of ids, documents and vectors.

    Raises:
        ValueError: If files are missing, are something else, or ask for code to be run.
    """
    import faiss

    described, indexed = folder / f"{index_name}.pkl", folder / f"{index_name}.faiss"
    for path in (described, indexed):
        if not path.is_file():
            msg = (
                f"{folder} holds no {path.name}; LangChain's FAISS saves "
                f"{index_name}.faiss and {index_name}.pkl."
            )
            raise ValueError(msg)
    order, documents = _described(described)
    try:
        index = faiss.read_index(str(indexed))
    except RuntimeError as error:
        msg = f"{indexed} is no index that faiss can read: it was cut or replaced. Save it again."
        raise ValueError(msg) from error
    if index.ntotal != len(order):
        msg = (
            f"{indexed.name} holds {index.ntotal} vectors and {described.name} {len(order)} "
            "documents: the save was torn. Save it again."
        )
        raise ValueError(msg)
    if hasattr(index, "make_direct_map"):
        index.make_direct_map()

    def batches() -> Iterator[tuple[list[str], list[Document], Any]]:
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            vectors = index.reconstruct_n(start, len(part))
            yield part, [documents[id_] for id_ in part], vectors

    try:
        if order:
            index.reconstruct(0)  # faiss would end the process if several could not be read
    except RuntimeError as error:
        msg = f"{indexed} is a {type(index).__name__}, which does not give its vectors back."
        raise ValueError(msg) from error
    sample = index.reconstruct_n(0, min(1_000, len(order))) if order else np.empty((0, 1))
    if index.metric_type == faiss.METRIC_INNER_PRODUCT:
        metric = "dot"
    elif len(sample) and np.allclose(np.linalg.norm(sample, axis=1), 1.0, atol=1e-3):
        metric = "cosine"  # at length 1 both metrics rank alike
    else:
        metric = "l2"
    return metric, batches()


def _described(path: Path) -> tuple[list[str], dict[str, Document]]:
    """Return the ids in the order of their vectors, and the documents by id."""
    try:
        with path.open("rb") as file:
            saved = _Whitelist(file).load()
        docstore, ids = saved[0], saved[1]
        held = _held(docstore, _LangChainDocstore)["_dict"]
        order = [ids[place] for place in range(len(ids))]
        return order, {id_: _document(id_, held[id_]) for id_ in order}
    except ValueError:
        raise
    except KeyError as error:
        msg = f"{path} names a document that it does not hold: {error}."
        raise ValueError(msg) from error
    except Exception as error:
        msg = f"{path} cannot be read as a saved FAISS store: {error}"
        raise ValueError(msg) from error


def _held(thing: Any, kind: type) -> dict[str, Any]:
    if type(thing) is not kind:
        msg = (
            f"The file holds a {type(thing).__name__} where a saved FAISS store has something else."
        )
        raise ValueError(msg)
    return vars(thing)


def _document(id_: str, held: Any) -> Document:
    state = _held(held, _LangChainDocument)
    state = state.get("__dict__", state)
    metadata = {str(key): _as_json(value) for key, value in state.get("metadata", {}).items()}
    return Document(id=id_, page_content=state["page_content"], metadata=metadata)


def _as_json(value: Any) -> Any:
    """Return what JSON can hold of a value: dates and UUIDs become their text."""
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, uuid.UUID | dt.timedelta):
        return str(value)
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_as_json(item) for item in value]
    return value


def upload(
    batches: Iterator[tuple[list[tuple[str, str, str]], Any]],
    target: VectorStore,
    total: int,
    *,
    with_vectors: bool,
    progress: Callable[[int, int], None] | None,
) -> int:
    """Write batches of ((id, text, metadata as JSON), vectors) to any store, once each.

    What the target holds already, unchanged, is not written again; that makes an interrupted
    copy resumable without a word kept anywhere else.

    Returns:
        How many documents were written.
    """
    written = done = 0
    for held, vectors in batches:
        documents = [
            Document(id=id_, page_content=text, metadata=json.loads(metadata))
            for id_, text, metadata in held
        ]
        there = _there(target, [document.id or "" for document in documents])
        new = [
            place
            for place, document in enumerate(documents)
            if there.get(document.id or "", None) != (document.page_content, document.metadata)
        ]
        if new:
            stale = [documents[place].id or "" for place in new if documents[place].id in there]
            if stale:
                target.delete(stale)
            _add(
                target, [documents[place] for place in new], vectors[new] if with_vectors else None
            )
        written += len(new)
        done += len(documents)
        if progress is not None:
            progress(done, total)
    return written


def _add(target: VectorStore, documents: Sequence[Document], vectors: Any) -> None:
    ids = [document.id or "" for document in documents]
    add: Any = getattr(target, "add_embeddings", None)
    if vectors is None or add is None:
        target.add_documents(list(documents), ids=ids)
        return
    texts = [document.page_content for document in documents]
    metadatas = [document.metadata for document in documents]
    rows = vectors.tolist()
    if "embeddings" in inspect.signature(add).parameters:
        add(texts=texts, embeddings=rows, metadatas=metadatas, ids=ids)
    else:
        add(list(zip(texts, rows, strict=True)), metadatas, ids=ids)


def _there(target: VectorStore, ids: list[str]) -> dict[str, tuple[str, Any] | None]:
    """Return what the target holds of some ids, as far as it can say."""
    try:
        found = target.get_by_ids(ids)
    except NotImplementedError:
        pass
    else:
        return {document.id or "": (document.page_content, document.metadata) for document in found}
    # Milvus cannot return documents by id, but it can search by an expression.
    client, name = getattr(target, "client", None), getattr(target, "collection_name", "")
    if client is None or not hasattr(client, "has_collection") or not client.has_collection(name):
        return {}
    key, text = target._primary_field, target._text_field  # type: ignore[attr-defined]
    hidden = {key, text, target._vector_field}  # type: ignore[attr-defined]
    return {
        str(row[key]): (row[text], {k: v for k, v in row.items() if k not in hidden})
        for row in client.get(name, ids=ids)
    }
