"""Opening a store by its address, wherever it lives."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit, urlunsplit

from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from langchain_custom_agents.vectorstores.faiss import FAISSStore

__all__ = ["open_store"]

_TABLE = "documents"


def open_store(
    address: str, embedding: Embeddings, *, read_only: bool = False, **kwargs: Any
) -> VectorStore:
    """Open a vector store: a folder, PostgreSQL with pgvector, or Milvus.

    Folders, files, tables and collections are made if they do not exist, unless they shall only be
    read. Addresses:

    * `path/to/folder`: a `FAISSStore`.
    * `postgresql://user:password@host/database?table=documents`: needs
      `pip install langchain-postgres "psycopg[binary]"`.
    * `milvus:http://host:19530#documents` for a server or a cluster, `milvus:file.db#documents`
      for Milvus Lite, `#` naming the collection: needs `pip install langchain-milvus` (and
      `milvus-lite` for a file).

    Args:
        address: Where the store lives.
        embedding: The model that turns text into vectors.
        read_only: Refuse what does not exist, instead of making it. A folder refuses to be
            written to, too.
        **kwargs: Given to the store's own constructor.

    Returns:
        The store.

    Raises:
        ImportError: If the packages of that kind of store are not installed.
        ValueError: If the address is of no known kind, or with `read_only` if there is no such
            store.

    Example:
        >>> import tempfile
        >>> from langchain_custom_agents.offline import HashingEmbeddings
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with open_store(folder, HashingEmbeddings()) as store:
        ...         type(store).__name__
        'FAISSStore'
    """
    kind = re.match(r"([a-z][a-z0-9+.-]+):", address, re.IGNORECASE)
    scheme = kind[1].lower() if kind else ""
    if scheme.split("+")[0] in ("postgresql", "postgres"):
        return _postgres(address, embedding, read_only, **kwargs)
    if scheme == "milvus":
        return _milvus(address.split(":", 1)[1], embedding, read_only, **kwargs)
    if scheme and "://" in address:
        msg = (
            f"{address!r} is no known kind of store: give a folder, postgresql://... or "
            "milvus:...; any other LangChain VectorStore can be passed to retriever_tool()."
        )
        raise ValueError(msg)
    return FAISSStore(embedding, address, read_only=read_only, **kwargs)


def _postgres(address: str, embedding: Embeddings, read_only: bool, **kwargs: Any) -> VectorStore:
    postgres = _package("langchain_postgres", 'langchain-postgres "psycopg[binary]"')
    indexes = _package("langchain_postgres.v2.indexes", "langchain-postgres")
    parts = urlsplit(address)
    options = parse_qs(parts.query)
    table = options.pop("table", [_TABLE])[0]
    query = "&".join(f"{name}={value}" for name, values in options.items() for value in values)
    engine = postgres.PGEngine.from_connection_string(
        urlunsplit(("postgresql+psycopg", parts.netloc, parts.path, query, ""))
    )
    try:
        return _opened(postgres, engine, embedding, table, kwargs)
    except ValueError as error:
        if "does not exist" not in str(error):
            raise
        if read_only:
            msg = f"There is no table {table!r} in that database: name one with ?table=NAME."
            raise ValueError(msg) from error
    engine.init_vectorstore_table(
        table,
        vector_size=len(embedding.embed_query("How long are the vectors?")),
        id_column=postgres.Column("langchain_id", "TEXT", nullable=False),
    )
    store: Any = _opened(postgres, engine, embedding, table, kwargs)
    store.apply_vector_index(indexes.HNSWIndex())
    return cast("VectorStore", store)


def _opened(
    postgres: Any, engine: Any, embedding: Embeddings, table: str, kwargs: dict[str, Any]
) -> VectorStore:
    store: VectorStore = postgres.PGVectorStore.create_sync(
        engine, embedding_service=embedding, table_name=table, **kwargs
    )
    return store


def _milvus(address: str, embedding: Embeddings, read_only: bool, **kwargs: Any) -> VectorStore:
    milvus = _package("langchain_milvus", "langchain-milvus milvus-lite")
    place, _, collection = address.partition("#")
    if not place:
        msg = (
            "A Milvus address names a file or a server: milvus:file.db or milvus:http://host:19530."
        )
        raise ValueError(msg)
    if read_only and "://" not in place and not Path(place).exists():
        msg = f"{place} does not exist: give the file of a Milvus Lite that does."
        raise ValueError(msg)
    name = collection or _TABLE
    store: Any = milvus.Milvus(
        embedding_function=embedding,
        collection_name=name,
        connection_args={"uri": place},
        auto_id=False,
        **{"enable_dynamic_field": True, "index_params": _milvus_index(place), **kwargs},
    )
    if read_only and not store.client.has_collection(name):
        msg = f"There is no collection {name!r} at that address: name one with #NAME."
        raise ValueError(msg)
    return cast("VectorStore", store)


def _milvus_index(place: str) -> dict[str, Any]:
    # A file is searched exactly; a server keeps a graph.
    kind = "HNSW" if "://" in place else "FLAT"
    return {"index_type": kind, "metric_type": "COSINE", "params": {}}


def _package(name: str, install: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        msg = f"This store needs more packages: pip install {install} ({error})."
        raise ImportError(msg) from error
