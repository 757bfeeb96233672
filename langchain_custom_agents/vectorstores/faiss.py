"""`FAISSStore`: a LangChain vector store, exact, fast, and safe on disk."""

import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from math import sqrt
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn, cast

import numpy as np
from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables.config import run_in_executor
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from pydantic import model_validator
from typing_extensions import Self

from langchain_custom_agents._arguments import refuse_unknown
from langchain_custom_agents.vectorstores._arguments import (
    checked_documents,
    checked_ids,
    checked_metadata,
    checked_pairs,
    checked_texts,
    checked_vectors,
    given_ids,
    given_question,
    whole_number,
)
from langchain_custom_agents.vectorstores._documents import FORMAT, Documents, Held, State
from langchain_custom_agents.vectorstores._filters import Filter
from langchain_custom_agents.vectorstores._hybrid import fuse, usual_weight
from langchain_custom_agents.vectorstores._moving import read_langchain, upload
from langchain_custom_agents.vectorstores._vectors import (
    SAVE,
    Floats,
    Metric,
    Snapshot,
    Tier,
    VectorIndex,
    relevance,
)
from langchain_custom_agents.vectorstores.records import FolderRecordManager

__all__ = ["FAISSStore", "FAISSStoreRetriever", "SearchType"]

SearchType = Literal["dense", "keyword", "hybrid"]
_SEARCH_TYPES = ("dense", "keyword", "hybrid")
_METRICS = ("cosine", "dot", "l2")
_TIERS = ("auto", "exact", "codes")
_SEEN = 20_000  # documents that were read and stay in memory
_FILTERS = 256  # filters whose rows stay in memory,
_MATCHED = 1_000_000  # as long as they are no more, at 8 bytes each
_POOL = 100  # rows each side brings to a hybrid search


class FAISSStore(VectorStore):
    """Documents and their vectors, in memory or in a folder.

    A folder is safe: SQLite is the only commit point, nothing is pickled, and every write that
    returned is there after a crash. Threads, asyncio and other processes may read while one
    writes; writers wait for each other. Searches answer exactly what is asked: filters come
    first, a higher score is always better, and unknown keywords are refused.

    Up to 20,000 documents every vector is compared; from there on codes of one bit per dimension
    choose some hundred candidates that are compared in full (`tier` overrides this). See
    `docs/faiss-store.md` for measurements.

    Args:
        embedding: The model that turns text into vectors. None for a store that is only given
            vectors, or only searched by keyword.
        path: A folder, made if need be; None keeps everything in memory.
        metric: "cosine" (the default), "dot" or "l2". Fixed when a store is made.
        search_type: What searches by text do unless they say otherwise: "dense" (by vector),
            "keyword" (BM25) or "hybrid" (both, joined by score), the default because it found
            more of what was asked for on every question set it was measured on.
        keyword_weight: How much the keywords count in a hybrid search, from 0 to 1; None for what
            measured best: 0.3, and 0.6 for queries in Japanese, Chinese, Korean or Thai, unless
            the embeddings have a `keyword_weight` of their own.
        tier: "auto", "exact" (compare every vector) or "codes".
        fsync: Wait until writes are on the disk, so that they also survive a power cut. Without,
            they survive the end of the process, however sudden.
        read_only: Refuse writes; the folder may then be on a read-only disk.
        embedding_id: The name under which the store recognises its embeddings; by default made
            of their class and model name.

    Raises:
        ValueError: If the folder belongs to other embeddings, another metric, a later version or
            something else altogether, or an argument does not fit.

    Example:
        >>> from langchain_custom_agents.offline import HashingEmbeddings
        >>> texts = ["takuma is a teacher", "ayako is a doctor"]
        >>> store = FAISSStore.from_texts(texts, HashingEmbeddings())
        >>> [doc.page_content for doc in store.similarity_search("Ayako's occupation", k=1)]
        ['ayako is a doctor']
    """

    def __init__(
        self,
        embedding: Embeddings | None,
        path: str | Path | None = None,
        *,
        metric: Metric | None = None,
        search_type: SearchType = "hybrid",
        keyword_weight: float | None = None,
        tier: Tier = "auto",
        fsync: bool = True,
        read_only: bool = False,
        embedding_id: str | None = None,
        **unknown: Any,
    ) -> None:
        refuse_unknown("FAISSStore", unknown, _CONSTRUCTOR)
        if embedding is not None and (
            isinstance(embedding, type) or not hasattr(embedding, "embed_query")
        ):
            msg = (
                f"embedding must be a LangChain Embeddings object, not {embedding!r}; "
                "write FAISSStore(embedding, path)."
            )
            raise ValueError(msg)
        _one_of("metric", metric or "cosine", _METRICS)
        _one_of("search_type", search_type, _SEARCH_TYPES)
        _one_of("tier", tier, _TIERS)
        if keyword_weight is not None:
            _from_0_to_1("keyword_weight", keyword_weight)
        if path is None and read_only:
            msg = "read_only=True needs a path: a store in memory would stay empty."
            raise ValueError(msg)
        self._embedding = embedding
        self._embedding_id = embedding_id or _name_of(embedding)
        self._search_type = search_type
        usual = getattr(embedding, "keyword_weight", None)
        self._keyword_weight: float | None = usual if keyword_weight is None else keyword_weight
        self._tier = tier
        self._fsync = fsync
        self._read_only = read_only
        self._path = None if path is None else _folder(Path(path).absolute(), read_only=read_only)
        self._documents = Documents(self._path, read_only=read_only, fsync=fsync)
        self._index: VectorIndex | None = None
        with self._documents.reading() as connection:
            self._metric = self._agreed(self._documents.manifest(connection), metric)

    # What a store is made of.

    @property
    def embeddings(self) -> Embeddings | None:
        """The model that turns text into vectors."""
        return self._embedding

    @property
    def path(self) -> Path | None:
        """The folder, or None in memory."""
        return self._path

    @property
    def metric(self) -> Metric:
        """What is compared: "cosine", "dot" or "l2"."""
        return self._metric

    def __len__(self) -> int:
        """Return how many documents the store holds."""
        with self._documents.reading() as connection:
            return self._documents.count(connection)

    def __bool__(self) -> bool:
        """Return True: a store is something even while it is empty."""
        return True

    def __enter__(self) -> Self:
        """Use the store in a `with` statement, which closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Release the files; writes are safe without it, too.

        Codes that were made since they were last saved are saved, so the next opening is quick.

        Example:
            >>> with FAISSStore(None) as store:
            ...     len(store)
            0
        """
        newest = self._index.newest if self._index is not None else None
        if newest is not None and newest.unsaved() and not self._documents.closed:
            self._save_codes()
        self._documents.close()

    def _agreed(self, manifest: Mapping[str, Any], metric: Metric | None) -> Metric:
        """Check the folder against what was asked for, and return its metric."""
        if int(manifest.get("format", FORMAT)) > FORMAT:
            msg = (
                f"{self._path} was written by a later version (format {manifest['format']}, this "
                f"one reads up to {FORMAT}); upgrade langchain-custom-agents."
            )
            raise ValueError(msg)
        made_with = manifest.get("embedding")
        if made_with and self._embedding_id and made_with != self._embedding_id:
            msg = (
                f"{self._path} was made with the embeddings {made_with!r}, not "
                f"{self._embedding_id!r}: their vectors cannot be compared. If they are the same "
                f"model, pass embedding_id={made_with!r}."
            )
            raise ValueError(msg)
        stored = manifest.get("metric")
        if stored and metric and stored != metric:
            msg = f"{self._path} was made with metric={stored!r}; it cannot be {metric!r} now."
            raise ValueError(msg)
        return cast("Metric", stored or metric or "cosine")

    # Writing.

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        batch_size: int | None = None,
        **unknown: Any,
    ) -> list[str]:
        """Add texts; one whose id is there already replaces it.

        Everything is checked and embedded first, then written in one commit: all of the texts
        are in the store afterwards, or none.

        Args:
            texts: The texts.
            metadatas: One mapping per text, of what JSON can hold.
            ids: One id per text; None (for all, or in places) makes one up.
            batch_size: How many texts are embedded at once; None leaves that to the embeddings.
            **unknown: Refused, with a suggestion.

        Returns:
            The ids.

        Raises:
            ValueError: If the arguments do not fit together, or a vector is not finite or has
                the wrong dimension.
            TypeError: If a keyword is unknown.

        Example:
            >>> from langchain_custom_agents.offline import HashingEmbeddings
            >>> store = FAISSStore(HashingEmbeddings())
            >>> store.add_texts(["one", "two"], ids=["1", "2"])
            ['1', '2']
        """
        refuse_unknown("add_texts", unknown, _ADD)
        batch = _Batch.checked(texts, metadatas, ids)
        if batch.texts:
            embed = self._embedder().embed_documents
            parts = [embed(part) for part in batch.parts(batch_size)]
            self._write(batch, [vector for part in parts for vector in part])
        return batch.ids

    async def aadd_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        batch_size: int | None = None,
        **unknown: Any,
    ) -> list[str]:
        """Add texts without blocking the event loop; see `add_texts`."""
        refuse_unknown("aadd_texts", unknown, _ADD)
        batch = await run_in_executor(None, _Batch.checked, texts, metadatas, ids)
        if batch.texts:
            embed = self._embedder().aembed_documents
            parts = [await embed(part) for part in batch.parts(batch_size)]
            await run_in_executor(
                None, self._write, batch, [vector for part in parts for vector in part]
            )
        return batch.ids

    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """Add documents under their own ids; see `add_texts`."""
        return super().add_documents(checked_documents(documents), **kwargs)

    async def aadd_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """Add documents without blocking the event loop; see `add_documents`."""
        return await super().aadd_documents(checked_documents(documents), **kwargs)

    def add_embeddings(
        self,
        text_embeddings: Iterable[tuple[str, Sequence[float]]],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
    ) -> list[str]:
        """Add texts whose vectors are known already.

        Args:
            text_embeddings: Pairs of a text and its vector.
            metadatas: One mapping per text.
            ids: One id per text.

        Returns:
            The ids.

        Raises:
            ValueError: As `add_texts`.

        Example:
            >>> FAISSStore(None).add_embeddings([("north", [0.0, 1.0])], ids=["n"])
            ['n']
        """
        texts, vectors = checked_pairs(text_embeddings)
        batch = _Batch.checked(texts, metadatas, ids)
        if batch.texts:
            self._write(batch, vectors)
        return batch.ids

    def delete(
        self,
        ids: list[str] | None = None,
        *,
        filter: Filter | None = None,  # noqa: A002 - LangChain's word
        **unknown: Any,
    ) -> bool:
        """Take documents out, by id or by filter.

        Args:
            ids: The ids; those that do not exist are no error.
            filter: Instead of ids: whose metadata passes.
            **unknown: Refused, with a suggestion.

        Returns:
            True: none of them is in the store any more.

        Raises:
            ValueError: If neither or both are given.

        Example:
            >>> store = FAISSStore(None)
            >>> _ = store.add_embeddings([("north", [0.0, 1.0])], ids=["n"])
            >>> store.delete(["n", "never there"]), len(store)
            (True, 0)
        """
        refuse_unknown("delete", unknown, ("ids", "filter"))
        if (ids is None) == (filter is None):
            msg = "delete() takes ids or a filter; delete(filter={}) empties the store."
            raise ValueError(msg)
        named = [] if ids is None else given_ids(ids)
        passing = _filter({"filter": filter}) or {}
        with self._documents.writing() as connection:
            rows = (
                self._documents.matching(connection, passing)
                if ids is None
                else self._documents.rows_of(connection, named)
            )
            if rows:
                self._documents.remove(connection, rows)
                self._documents.committed(connection)
        if rows:
            self._published()
        return True

    def compact(self) -> int:
        """Give back the space of deleted and replaced documents.

        This happens by itself when more rows are empty than full (and more than a few thousand).

        Returns:
            How many empty rows went.

        Example:
            >>> FAISSStore(None).compact()
            0
        """
        with self._documents.writing() as connection:
            state = self._documents.state(connection)
            snapshot = self._snapshot(connection, state)
            if snapshot is None or not len(snapshot.dead):
                return 0
            rows = np.flatnonzero(snapshot.alive)
            cast("VectorIndex", self._index).rewrite(snapshot, rows)
            self._documents.renumber(connection, rows.tolist())
            self._documents.committed(connection)
        self._published()
        self._tidy()
        return len(snapshot.dead)

    def _write(self, batch: "_Batch", vectors: Any) -> None:
        with self._documents.writing() as connection:
            manifest = self._documents.manifest(connection)
            matrix = checked_vectors(
                vectors,
                len(batch.texts),
                manifest.get("dimension"),
                normalise=self._metric == "cosine",
            )
            if "dimension" not in manifest:
                self._documents.describe(connection, dimension=matrix.shape[1], metric=self._metric)
            if "embedding" not in manifest and self._embedding_id:
                self._documents.describe(connection, embedding=self._embedding_id)
            # The vectors first: a commit must never speak of one that is not there.
            index = self._vectors(matrix.shape[1])
            index.write(self._documents.state(connection), matrix)
            self._documents.insert(connection, batch.ids, batch.texts, batch.metadatas)
            self._documents.committed(connection)
            self._index = index  # not before: a first write that fails fixes no dimension
        self._published()

    def _published(self) -> None:
        """Bring the index up to the commit just made, and the files after it."""
        with self._reading() as (_, snapshot):
            if snapshot is None:
                return
        if len(snapshot.dead) > max(4_096, len(snapshot.vectors) // 2):
            self.compact()
        elif snapshot.unsaved() >= max(SAVE, len(snapshot.vectors) // 8):
            self._save_codes()

    def _save_codes(self) -> None:
        if self._path is None or self._read_only:
            return
        index = cast("VectorIndex", self._index)
        with self._documents.writing() as connection:
            state = self._documents.state(connection)
            snapshot = self._snapshot(connection, state)
            if snapshot is None or not snapshot.unsaved():
                return
            covered = index.save_codes(snapshot)
            self._documents.encoded(connection, covered)
        self._tidy()

    def _tidy(self) -> None:
        """Remove files that no commit speaks of; nobody can be writing one meanwhile."""
        with self._documents.writing() as connection:
            cast("VectorIndex", self._index).tidy(self._documents.state(connection))

    # Reading.

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return documents by id, in the order asked for; those that do not exist are left out.

        Args:
            ids: The ids.

        Returns:
            The documents, each once.

        Raises:
            ValueError: If they are not a list of strings.

        Example:
            >>> FAISSStore(None).get_by_ids(["never there"])
            []
        """
        ids = given_ids(ids)
        with self._documents.reading() as connection:
            rows = self._documents.rows_of(connection, ids)
            found = {held.id: held for held in self._documents.fetch(connection, rows).values()}
        return [found[id_].document() for id_ in ids if id_ in found]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Return the documents nearest to a question, best first.

        Args:
            query: The question.
            k: How many. Fewer come back only when fewer exist (or pass).
            **kwargs: `filter` (a mapping in the operator language, or a function of the
                metadata), `search_type` ("dense", "keyword", "hybrid"), `score_threshold` (the
                least relevance, from 0 to 1), `top_k` (another name for `k`).

        Returns:
            The documents.

        Raises:
            ValueError: If an argument does not fit.
            TypeError: If a keyword is unknown; the sentence suggests one.

        Example:
            >>> from langchain_custom_agents.offline import HashingEmbeddings
            >>> store = FAISSStore.from_texts(
            ...     ["a cat", "a dog"], HashingEmbeddings(), [{"legs": 4}, {"legs": 3}]
            ... )
            >>> store.similarity_search("cat", top_k=1, filter={"legs": {"$lt": 4}})[0].page_content
            'a dog'
        """
        return [doc for doc, _ in self.similarity_search_with_score(query, k, **kwargs)]

    async def asimilarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Search without blocking the event loop; see `similarity_search`."""
        return [doc for doc, _ in await self.asimilarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return the nearest documents with their scores, best first; higher is better.

        In a hybrid search the score joins both rankings on a scale from 0 to 1: it compares the
        answers to one question, not to another. In a dense search it is the cosine, the dot
        product or minus the distance ("l2"), in a keyword search BM25.

        Args:
            query: The question.
            k: How many.
            **kwargs: As `similarity_search`.

        Returns:
            Pairs of a document and its score.

        Example:
            >>> from langchain_custom_agents.offline import HashingEmbeddings
            >>> store = FAISSStore.from_texts(["a cat", "a dog"], HashingEmbeddings())
            >>> [(doc, score)] = store.similarity_search_with_score("a cat", 1, search_type="dense")
            >>> round(score, 3)
            1.0
        """
        query, asked, vector = given_question(query), self._asked(k, kwargs), None
        if asked.search_type != "keyword":
            vector = self._checked_query(self._embedder().embed_query(query))
        return self._found(asked, query, vector)

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Search without blocking the event loop; see `similarity_search_with_score`."""
        query, asked, vector = given_question(query), self._asked(k, kwargs), None
        if asked.search_type != "keyword":
            vector = self._checked_query(await self._embedder().aembed_query(query))
        return await run_in_executor(None, self._found, asked, query, vector)

    def similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return the nearest documents with their relevance from 0 to 1, best first.

        Args:
            query: The question.
            k: How many.
            **kwargs: As `similarity_search`.

        Returns:
            Pairs of a document and its relevance.

        Example:
            >>> from langchain_custom_agents.offline import HashingEmbeddings
            >>> store = FAISSStore.from_texts(["a cat", "a dog"], HashingEmbeddings())
            >>> len(store.similarity_search_with_relevance_scores("a cat", score_threshold=0.9))
            1
        """
        found = self.similarity_search_with_score(query, k, **kwargs)
        kind = kwargs.get("search_type") or self._search_type
        return [(doc, self._relevance(kind, score)) for doc, score in found]

    async def asimilarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Search off the event loop; see `similarity_search_with_relevance_scores`."""
        found = await self.asimilarity_search_with_score(query, k, **kwargs)
        kind = kwargs.get("search_type") or self._search_type
        return [(doc, self._relevance(kind, score)) for doc, score in found]

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, **kwargs: Any
    ) -> list[Document]:
        """Return the documents nearest to a vector; arguments as `similarity_search`.

        Example:
            >>> store = FAISSStore(None)
            >>> _ = store.add_embeddings([("north", [0.0, 1.0]), ("east", [1.0, 0.0])])
            >>> [doc.page_content for doc in store.similarity_search_by_vector([0.1, 1.0], k=1)]
            ['north']
        """
        found = self.similarity_search_with_score_by_vector(embedding, k, **kwargs)
        return [doc for doc, _ in found]

    def similarity_search_with_score_by_vector(
        self, embedding: list[float], k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return the documents nearest to a vector with their scores; higher is better.

        Example:
            >>> store = FAISSStore(None, metric="l2")
            >>> _ = store.add_embeddings([("here", [0.0, 1.0])])
            >>> store.similarity_search_with_score_by_vector([0.0, 3.0])[0][1]
            -2.0
        """
        asked = self._asked(k, kwargs, "dense")
        if asked.search_type != "dense":
            msg = "A search by vector has no words to look for: search_type must be 'dense'."
            raise ValueError(msg)
        return self._found(asked, "", self._checked_query(embedding))

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **kwargs: Any,
    ) -> list[Document]:
        """Return documents near the question and unlike each other.

        Carbonell and Goldstein, SIGIR 1998 (https://doi.org/10.1145/290941.291025).

        Args:
            query: The question.
            k: How many.
            fetch_k: Among how many of the nearest to choose.
            lambda_mult: From 0 (only unlike each other) to 1 (only near).
            **kwargs: `filter`, `top_k`.

        Returns:
            The documents, in the order chosen.

        Example:
            >>> from langchain_custom_agents.offline import HashingEmbeddings
            >>> store = FAISSStore.from_texts(["a cat", "a cat!", "cat dog"], HashingEmbeddings())
            >>> [d.page_content for d in store.max_marginal_relevance_search("cat", k=2)]
            ['a cat', 'cat dog']
        """
        return self.max_marginal_relevance_search_by_vector(
            self._embedder().embed_query(given_question(query)), k, fetch_k, lambda_mult, **kwargs
        )

    async def amax_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **kwargs: Any,
    ) -> list[Document]:
        """Search without blocking the event loop; see `max_marginal_relevance_search`."""
        vector = await self._embedder().aembed_query(given_question(query))
        return await self.amax_marginal_relevance_search_by_vector(
            vector, k, fetch_k, lambda_mult, **kwargs
        )

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **kwargs: Any,
    ) -> list[Document]:
        """Return documents near a vector and unlike each other.

        Arguments as `max_marginal_relevance_search`.

        Example:
            >>> FAISSStore(None).max_marginal_relevance_search_by_vector([1.0, 0.0])
            []
        """
        known = ("k", "fetch_k", "lambda_mult", "filter", "top_k")
        refuse_unknown("max_marginal_relevance_search", kwargs, known)
        k = _k(k, kwargs)
        fetch_k = max(k, whole_number("fetch_k", fetch_k))
        _from_0_to_1("lambda_mult", lambda_mult)
        asked = _Asked(fetch_k, _filter(kwargs), "dense", None)
        vector = self._checked_query(embedding)
        self._documents.prepare(asked.filter)
        with self._reading() as (connection, snapshot):
            if snapshot is None or vector is None:
                return []
            rows = list(self._nearest(connection, snapshot, asked, vector, fetch_k))
            places = maximal_marginal_relevance(
                vector, list(snapshot.vectors[rows]), lambda_mult, k
            )
            chosen = [rows[place] for place in places]
            return [held.document() for held in self._held(connection, snapshot, chosen)]

    def search(self, query: str, search_type: str, **kwargs: Any) -> list[Document]:
        """Search in any of the ways a retriever can; see `as_retriever`.

        Example:
            >>> FAISSStore(None).search("anything", "keyword")
            []
        """
        if search_type in _SEARCH_TYPES:
            return self.similarity_search(query, search_type=search_type, **kwargs)
        return super().search(query, search_type, **kwargs)

    async def asearch(self, query: str, search_type: str, **kwargs: Any) -> list[Document]:
        """Search in any of the ways a retriever can; see `as_retriever`."""
        if search_type in _SEARCH_TYPES:
            return await self.asimilarity_search(query, search_type=search_type, **kwargs)
        return await super().asearch(query, search_type, **kwargs)

    def as_retriever(self, **kwargs: Any) -> "FAISSStoreRetriever":
        """Return the store as a retriever.

        Args:
            **kwargs: `search_type` ("similarity", "similarity_score_threshold", "mmr", "dense",
                "keyword" or "hybrid"), `search_kwargs` (given to each search), `k` and `filter`
                for short, and what every retriever takes (`tags`, `metadata`, `name`).

        Returns:
            The retriever.

        Raises:
            TypeError: If a keyword is unknown; the sentence suggests one.

        Example:
            >>> from langchain_custom_agents.offline import HashingEmbeddings
            >>> store = FAISSStore.from_texts(["a cat", "a dog"], HashingEmbeddings())
            >>> [doc.page_content for doc in store.as_retriever(k=1).invoke("dog")]
            ['a dog']
        """
        known = ("search_type", "search_kwargs", "k", "top_k", "filter", "tags", "metadata", "name")
        refuse_unknown("as_retriever", kwargs, known)
        search_kwargs = dict(kwargs.pop("search_kwargs", None) or {})
        search_kwargs.update(
            (name, kwargs.pop(name)) for name in ("k", "top_k", "filter") if name in kwargs
        )
        refuse_unknown("as_retriever(search_kwargs=...)", search_kwargs, _RETRIEVER)
        tags = [*(kwargs.pop("tags", None) or []), *self._get_retriever_tags()]
        return FAISSStoreRetriever(
            vectorstore=self, search_kwargs=search_kwargs, tags=tags, **kwargs
        )

    # How a search goes.

    def _asked(self, k: int, kwargs: dict[str, Any], search_type: str | None = None) -> "_Asked":
        search_type = search_type or self._search_type
        if not kwargs:
            return _Asked(whole_number("k", k), None, search_type, None)
        refuse_unknown("similarity_search", kwargs, _SEARCH, _HINTS)
        search_type = kwargs.get("search_type") or search_type
        _one_of("search_type", search_type, _SEARCH_TYPES)
        threshold = kwargs.get("score_threshold")
        if threshold is not None and not isinstance(threshold, int | float | np.number):
            msg = f"score_threshold must be a number from 0 to 1, not {threshold!r}."
            raise ValueError(msg)
        least = None if threshold is None else float(threshold)
        return _Asked(_k(k, kwargs), _filter(kwargs), search_type, least)

    def _checked_query(self, vector: Sequence[float]) -> Floats | None:
        """Return the query as the store compares it, or None while there is nothing to compare."""
        if self._index is not None:
            dimension = self._index.dimension
        else:
            with self._documents.reading() as connection:
                dimension = self._documents.manifest(connection).get("dimension", 0)
        try:
            # A list of floats is packed in a third of the time numpy takes to look through it.
            made = (
                np.frombuffer(_packer(dimension)(*vector), np.float32)
                if type(vector) is list
                else np.array(vector, np.float32)
            )
            length = sqrt(made.dot(made)) if made.shape == (dimension,) else 0.0
        except (TypeError, ValueError, OverflowError, struct.error):
            length = 0.0
        if 1e-12 < length < 1e12:
            return made / length if self._metric == "cosine" else made
        # What is out of the ordinary, or wrong and to be put into words.
        matrix = checked_vectors(
            [vector], 1, dimension or None, normalise=self._metric == "cosine", what="query vector"
        )
        return matrix[0] if dimension else None

    def _found(
        self, asked: "_Asked", query: str, vector: Floats | None
    ) -> list[tuple[Document, float]]:
        """Search one commit of the store, whatever is written meanwhile."""
        newest = self._index.newest if self._index is not None else None
        scores: dict[int, float] | None = None
        held: list[Held] | None = None
        if (
            newest is not None
            and vector is not None
            and asked.search_type == "dense"
            and self._documents.still(newest.state)
        ):
            # SQLite need not be asked for what is in memory and has not changed.
            allowed = newest.matched.get(_written(asked.filter)) if asked.filter else None
            if allowed is not None or not asked.filter:
                scores = newest.nearest(vector, asked.k, allowed)
                seen = [newest.seen.get(row) for row in scores]
                held = cast("list[Held]", seen) if all(seen) else None
        if scores is None or held is None:
            self._documents.prepare(asked.filter)
            with self._reading() as (connection, snapshot):
                if snapshot is None:
                    return []
                if scores is None or snapshot is not newest:
                    scores = self._scores(connection, snapshot, asked, query, vector)
                held = self._held(connection, snapshot, list(scores))
                self._documents.looked(connection, snapshot.state)
        pairs = zip(held, scores.values(), strict=True)
        least = asked.score_threshold
        if least is None:
            return [(found.document(), score) for found, score in pairs]
        kind = asked.search_type
        return [
            (found.document(), score)
            for found, score in pairs
            if self._relevance(kind, score) >= least
        ]

    def _scores(
        self,
        connection: Any,
        snapshot: Snapshot,
        asked: "_Asked",
        query: str,
        vector: Floats | None,
    ) -> dict[int, float]:
        """Return the best rows with their scores, best first."""
        pool = asked.k if asked.search_type != "hybrid" else max(_POOL, 2 * asked.k)
        keyword = {}
        if asked.search_type != "dense":
            keyword = self._documents.keyword(connection, query, pool, asked.filter)
            if asked.search_type == "keyword":
                return keyword
        if vector is None:
            return {}
        dense = self._nearest(connection, snapshot, asked, vector, pool)
        if asked.search_type == "dense":
            return dense
        missed = np.array([row for row in keyword if row not in dense], np.int64)
        dense.update(zip(missed.tolist(), snapshot.scores(vector, missed).tolist(), strict=True))
        weight = self._keyword_weight
        fused = fuse(dense, keyword, usual_weight(query) if weight is None else weight)
        return dict(fused[: asked.k])

    def _nearest(
        self,
        connection: Any,
        snapshot: Snapshot,
        asked: "_Asked",
        vector: Floats,
        count: int,
    ) -> dict[int, float]:
        allowed = None
        if asked.filter is not None:
            name = _written(asked.filter)
            allowed = snapshot.matched.get(name)
            if allowed is None:
                allowed = np.array(self._documents.matching(connection, asked.filter), np.int64)
                if name:
                    known = snapshot.matched.values()
                    if len(known) >= _FILTERS or sum(map(len, known)) > _MATCHED:
                        snapshot.matched.clear()
                    snapshot.matched[name] = allowed
        return snapshot.nearest(vector, count, allowed)

    def _held(self, connection: Any, snapshot: Snapshot, rows: Sequence[int]) -> list[Held]:
        """Return documents by row; what was read stays in memory for a while."""
        held = {row: snapshot.seen.get(row) for row in rows}
        missing = [row for row, found in held.items() if found is None]
        read = self._documents.fetch(connection, missing) if missing else {}
        if len(snapshot.seen) > _SEEN:
            snapshot.seen.clear()
        snapshot.seen.update(read)
        return [held[row] or read[row] for row in rows]

    def _relevance(self, search_type: str, score: float) -> float:
        if search_type == "dense":
            return relevance(score, self._metric)
        if search_type == "keyword":
            return score / (1.0 + score) if score > 0 else 0.0
        return min(1.0, max(0.0, score))

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return partial(relevance, metric=self._metric)

    @contextmanager
    def _reading(self) -> Iterator[tuple[Any, Snapshot | None]]:
        """See one commit, whole: its documents, and its vectors if there are any."""
        seen: State | None = None
        while True:
            with self._documents.reading() as connection:
                before, seen = seen, self._documents.state(connection)
                try:
                    snapshot = self._snapshot(connection, seen)
                except ValueError:
                    # Since this began, a writer may have compacted the store: look again.
                    if before is not None and before.generation == seen.generation:
                        raise
                    continue
                yield connection, snapshot
                return

    def _snapshot(self, connection: Any, state: State) -> Snapshot | None:
        if self._index is None:
            dimension = self._documents.manifest(connection).get("dimension")
            if dimension is None:
                return None
            self._index = self._vectors(dimension)
        return self._index.snapshot(state, partial(self._documents.dead_since, connection))

    def _vectors(self, dimension: int) -> VectorIndex:
        if self._index is not None and self._index.dimension == dimension:
            return self._index
        return VectorIndex(self._path, dimension, self._metric, tier=self._tier, fsync=self._fsync)

    def _embedder(self) -> Embeddings:
        if self._embedding is None:
            msg = (
                "This FAISSStore has no embeddings; open it with FAISSStore(embedding, path), or "
                "search with search_type='keyword' or by vector."
            )
            raise ValueError(msg)
        return self._embedding

    # Making stores.

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        path: str | Path | None = None,
        **kwargs: Any,
    ) -> "FAISSStore":
        """Make a store (or open the one at `path`) and add texts to it.

        Args:
            texts: The texts; none gives an empty store.
            embedding: The model that turns text into vectors.
            metadatas: One mapping per text.
            ids: One id per text.
            path: A folder, or None for memory.
            **kwargs: As `FAISSStore`.

        Returns:
            The store.

        Example:
            >>> from langchain_custom_agents.offline import HashingEmbeddings
            >>> len(FAISSStore.from_texts([], HashingEmbeddings()))
            0
        """
        store = cls(embedding, path, **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    @classmethod
    async def afrom_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        path: str | Path | None = None,
        **kwargs: Any,
    ) -> "FAISSStore":
        """Make a store without blocking the event loop; see `from_texts`."""
        store = await run_in_executor(None, cls, embedding, path, **kwargs)
        await store.aadd_texts(texts, metadatas, ids=ids)
        return store

    @classmethod
    def from_langchain(
        cls,
        folder: str | Path,
        embedding: Embeddings | None,
        path: str | Path | None = None,
        *,
        index_name: str = "index",
        **kwargs: Any,
    ) -> "FAISSStore":
        """Bring in a folder that LangChain's FAISS saved, vectors and all.

        The pickle in it is read by a reader that knows documents, dates and UUIDs and refuses
        everything else; no code in it is ever run. Dates and UUIDs in the metadata become text.

        Args:
            folder: The folder saved with `save_local`.
            embedding: The model its vectors were made with.
            path: Where to keep the new store; None for memory.
            index_name: The `index_name` it was saved under.
            **kwargs: As `FAISSStore`; `metric` is found out unless it is given.

        Returns:
            The store.

        Raises:
            ValueError: If the folder is incomplete, torn, or asks for code to be run.

        Example:
            >>> FAISSStore.from_langchain("no such folder", None)
            Traceback (most recent call last):
            ValueError: no such folder holds no index.pkl; LangChain's FAISS saves index.faiss ...
        """
        metric, batches = read_langchain(Path(folder), index_name)
        store = cls(embedding, path, **{"metric": metric, **kwargs})
        for ids, documents, vectors in batches:
            texts = [document.page_content for document in documents]
            metadatas = [document.metadata for document in documents]
            store._write(_Batch.checked(texts, metadatas, ids), vectors)
        return store

    def copy_to(
        self,
        store: VectorStore,
        *,
        progress: Callable[[int, int], None] | None = None,
        batch_size: int = 500,
    ) -> int:
        """Copy every document to another store, with its vector where that store takes vectors.

        Any LangChain `VectorStore` will do. One that has other embeddings embeds the texts itself.
        Started again after an interruption, it goes on: what the other store holds unchanged is
        not written twice. Under the metric "cosine" the vectors have length 1.

        Args:
            store: The other store.
            progress: Called after each batch with the number done and the number in all.
            batch_size: How many documents are written at once.

        Returns:
            How many documents were written.

        Raises:
            ValueError: If it is this store, or no store.

        Example:
            >>> here, there = FAISSStore(None), FAISSStore(None)
            >>> _ = here.add_embeddings([("north", [0.0, 1.0])], ids=["n"])
            >>> here.copy_to(there), here.copy_to(there), len(there)
            (1, 0, 1)
        """
        if not isinstance(store, VectorStore):
            msg = f"copy_to() needs a LangChain VectorStore, not {store!r}."
            raise ValueError(msg)  # noqa: TRY004
        kin = store if isinstance(store, FAISSStore) else None
        if kin is self or (kin and kin.path and self._path and self._path.samefile(kin.path)):
            msg = "copy_to() needs another store: this one is already here."
            raise ValueError(msg)
        whole_number("batch_size", batch_size)
        theirs = kin._embedding_id if kin is not None else _name_of(store.embeddings)
        same_model = len({self._embedding_id, theirs} - {None}) < 2

        def batches(connection: Any, snapshot: Snapshot) -> Iterator[tuple[Any, Floats]]:
            row = -1
            while found := self._documents.after(connection, row, batch_size):
                row = found[-1][0]
                yield [held[1:] for held in found], snapshot.vectors[[held[0] for held in found]]

        with self._reading() as (connection, snapshot):
            if snapshot is None:
                return 0
            total = self._documents.count(connection)
            return upload(
                batches(connection, snapshot),
                store,
                total,
                with_vectors=same_model,
                progress=progress,
            )

    def record_manager(self, namespace: str = "default") -> FolderRecordManager:
        """Return the record manager for `langchain_core.indexing.index`, kept with the documents.

        Args:
            namespace: Keeps several sets of records in one store apart.

        Returns:
            The record manager.

        Example:
            >>> FAISSStore(None).record_manager().exists(["never there"])
            [False]
        """
        return FolderRecordManager.beside(self._documents, namespace)

    def save_local(self, *_: Any, **__: Any) -> NoReturn:
        """Say what takes the place of LangChain FAISS's `save_local`."""
        msg = (
            "There is nothing to save: FAISSStore(embedding, path='folder') keeps every write in "
            "its folder. To move this store: store.copy_to(FAISSStore(embedding, path='folder'))."
        )
        raise NotImplementedError(msg)

    @classmethod
    def load_local(cls, *_: Any, **__: Any) -> NoReturn:
        """Say what takes the place of LangChain FAISS's `load_local`."""
        msg = (
            "Open a folder with FAISSStore(embedding, path='folder'). A folder that LangChain's "
            "FAISS saved comes in with FAISSStore.from_langchain('folder', embedding)."
        )
        raise NotImplementedError(msg)


_CONSTRUCTOR = (
    "embedding", "path", "metric", "search_type", "keyword_weight", "tier", "fsync", "read_only",
    "embedding_id",
)  # fmt: skip
_ADD = ("texts", "metadatas", "ids", "batch_size")
_SEARCH = ("k", "filter", "search_type", "score_threshold", "top_k")
_RETRIEVER = (*_SEARCH, "fetch_k", "lambda_mult")
_HINTS = {"fetch_k": "filters are applied before the search, so nothing has to be over-fetched."}


class FAISSStoreRetriever(VectorStoreRetriever):
    """A `FAISSStore` as a retriever; `store.as_retriever()` makes one.

    Besides LangChain's search types it knows "dense", "keyword" and "hybrid", and `k` may be
    given directly.

    Example:
        >>> from langchain_custom_agents.offline import HashingEmbeddings
        >>> store = FAISSStore.from_texts(["a cat", "a dog"], HashingEmbeddings())
        >>> retriever = FAISSStoreRetriever(vectorstore=store, k=1)
        >>> [doc.page_content for doc in retriever.invoke("cat")]
        ['a cat']
    """

    k: int | None = None
    """How many documents; `search_kwargs` and the call itself come first."""

    allowed_search_types: ClassVar[Sequence[str]] = (
        *VectorStoreRetriever.allowed_search_types,
        *_SEARCH_TYPES,
    )

    @model_validator(mode="after")
    def _k_is_a_search_argument(self) -> "FAISSStoreRetriever":
        given = dict(self.search_kwargs)
        if "top_k" in given:  # a call's own k must come first
            given["k"] = given.pop("top_k")
        if self.k is not None:
            given.setdefault("k", whole_number("k", self.k))
        self.search_kwargs = given
        return self

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        if self.search_type in _SEARCH_TYPES:
            given = {**self.search_kwargs, **kwargs}
            return self.vectorstore.search(query, self.search_type, **given)
        return super()._get_relevant_documents(query, run_manager=run_manager, **kwargs)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        if self.search_type in _SEARCH_TYPES:
            given = {**self.search_kwargs, **kwargs}
            return await self.vectorstore.asearch(query, self.search_type, **given)
        return await super()._aget_relevant_documents(query, run_manager=run_manager, **kwargs)


class _Asked(NamedTuple):
    """One search, its arguments checked."""

    k: int
    filter: Filter | None
    search_type: str
    score_threshold: float | None


@dataclass(frozen=True, slots=True)
class _Batch:
    """Texts to be written, checked."""

    ids: list[str]
    texts: list[str]
    metadatas: list[str]

    def parts(self, size: int | None) -> list[list[str]]:
        """Return the texts in parts of at most a size."""
        step = len(self.texts) if size is None else whole_number("batch_size", size)
        return [self.texts[start : start + step] for start in range(0, len(self.texts), step)]

    @classmethod
    def checked(
        cls,
        texts: Iterable[str],
        metadatas: Sequence[Mapping[str, Any] | None] | None,
        ids: Sequence[str | None] | None,
    ) -> "_Batch":
        made = checked_texts(texts)
        return cls(checked_ids(ids, len(made)), made, checked_metadata(metadatas, len(made)))


@lru_cache
def _packer(length: int) -> Callable[..., bytes]:
    """Return what writes so many numbers as float32."""
    return struct.Struct(f"{length}f").pack


def _k(k: int, kwargs: Mapping[str, Any]) -> int:
    """Return how many documents are asked for; the tutorials' word for it is `top_k`."""
    return whole_number("top_k", kwargs["top_k"]) if "top_k" in kwargs else whole_number("k", k)


def _written(filter: Filter) -> str:  # noqa: A002
    """Return a filter's text, by which its rows are remembered; "" for a function."""
    return "" if callable(filter) else repr(dict(filter))


def _filter(kwargs: Mapping[str, Any]) -> Filter | None:
    """Return the filter among a search's keywords; one that lets everything pass is none."""
    filter_: Filter | None = kwargs.get("filter")
    if filter_ is not None and not callable(filter_) and not isinstance(filter_, Mapping):
        msg = f"filter must be a mapping or a function of the metadata, not {filter_!r}."
        raise ValueError(msg)
    return filter_ or None


def _from_0_to_1(name: str, value: Any) -> None:
    if not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
        msg = f"{name} must be from 0 to 1, not {value!r}."
        raise ValueError(msg)


def _one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        msg = f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}."
        raise ValueError(msg)


def _name_of(embedding: Embeddings | None) -> str | None:
    """Return a name by which embeddings are recognised without asking a model anything."""
    if embedding is None:
        return None
    parts = [type(embedding).__name__]
    for attribute in ("model", "model_name", "model_id", "deployment", "dimensions"):
        value = getattr(embedding, attribute, None)
        if isinstance(value, str | int):
            parts.append(str(value))
    return ":".join(parts)


def _folder(path: Path, *, read_only: bool) -> Path:
    """Return the folder of a store, made if need be, refusing one that is something else's."""
    if path.exists() and not path.is_dir():
        msg = f"path must be a folder; {path} is a file."
        raise ValueError(msg)
    if (path / "docs.db").is_file():
        if not read_only and not os.access(path, os.W_OK):
            msg = f"{path} cannot be written to; open it with read_only=True to search it."
            raise ValueError(msg)
        return path
    if list(path.glob("*.faiss")) and list(path.glob("*.pkl")):
        msg = (
            f"{path} was saved by LangChain's FAISS; bring it in with "
            f"FAISSStore.from_langchain({str(path)!r}, embedding, path='another folder')."
        )
        raise ValueError(msg)
    if read_only:
        msg = f"There is no FAISSStore in {path}; open it without read_only=True to make one."
        raise ValueError(msg)
    if path.exists() and any(path.iterdir()):
        msg = f"{path} holds other files and no FAISSStore; name a new or empty folder."
        raise ValueError(msg)
    path.mkdir(parents=True, exist_ok=True)
    return path
