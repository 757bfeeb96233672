"""Opening a store by its address."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.vectorstores.faiss import FAISSStore
from langchain_custom_agents.vectorstores.opening import open_store


def test_a_path_is_a_folder(tmp_path: Path) -> None:
    """A plain path opens a FAISSStore, with its own arguments."""
    store = open_store(str(tmp_path / "s"), HashingEmbeddings(64), metric="l2")
    assert isinstance(store, FAISSStore)
    assert store.metric == "l2"
    store.close()


@pytest.mark.parametrize("address", ["redis://localhost", "http://localhost:6333", "qdrant://x"])
def test_an_unknown_kind_is_a_sentence(address: str) -> None:
    """An address of another kind is refused with the kinds there are."""
    with pytest.raises(ValueError, match=r"postgresql://\.\.\. or milvus:"):
        open_store(address, HashingEmbeddings(64))


def test_a_milvus_address_names_a_place() -> None:
    """A Milvus address without a file or server is refused."""
    with pytest.raises((ValueError, ImportError), match=r"milvus:file\.db|pip install"):
        open_store("milvus:", HashingEmbeddings(64))


@pytest.mark.parametrize(
    ("address", "package", "install"),
    [
        ("postgresql://localhost/x", "langchain_postgres", 'langchain-postgres "psycopg[binary]"'),
        ("milvus:x.db", "langchain_milvus", "langchain-milvus"),
    ],
)
def test_a_missing_package_is_a_sentence(
    address: str, package: str, install: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its package, a kind of store says what to install."""
    monkeypatch.setitem(sys.modules, package, None)
    assert importlib.util.find_spec("langchain_core") is not None
    with pytest.raises(ImportError) as caught:
        open_store(address, HashingEmbeddings(64))
    assert f"pip install {install}" in str(caught.value)


class _Milvus:
    """As much of Milvus as opening it takes: it notes that a file was made."""

    def __init__(self, **given: Any) -> None:
        self.client = self
        Path(given["connection_args"]["uri"]).touch()

    def has_collection(self, name: str) -> bool:
        return name == "there"


def test_what_is_only_read_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened to be read, a file or a collection of Milvus that does not exist is refused."""
    monkeypatch.setitem(sys.modules, "langchain_milvus", SimpleNamespace(Milvus=_Milvus))  # type: ignore[arg-type]
    path, embedding = tmp_path / "x.db", HashingEmbeddings(64)
    with pytest.raises(ValueError, match="does not exist: give the file"):
        open_store(f"milvus:{path}#there", embedding, read_only=True)
    assert not path.exists()

    assert isinstance(open_store(f"milvus:{path}#new", embedding), _Milvus)
    with pytest.raises(ValueError, match="There is no collection 'gone'"):
        open_store(f"milvus:{path}#gone", embedding, read_only=True)
    assert isinstance(open_store(f"milvus:{path}#there", embedding, read_only=True), _Milvus)
