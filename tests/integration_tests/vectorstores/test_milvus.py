"""Documents outgrow one machine: Milvus, through the client that also talks to a cluster."""

from pathlib import Path

import pytest

from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.tools.retriever import retriever_tool
from langchain_custom_agents.vectorstores.indexing import IndexReport, index_documents
from langchain_custom_agents.vectorstores.opening import open_store
from langchain_custom_agents.vectorstores.records import FolderRecordManager
from tests.integration_tests.vectorstores.moves import (
    copying_goes_on,
    counted,
    pages,
    the_command_line_reads,
    the_drama,
)

pytestmark = pytest.mark.integration


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Return an address of Milvus Lite."""
    reason = "needs the client: pip install langchain-milvus milvus-lite"
    pytest.importorskip("milvus_lite", reason=reason)
    pytest.importorskip("langchain_milvus", reason=reason)
    return f"milvus:{tmp_path / 'milvus.db'}"


def test_copy_search_and_resume(place: str) -> None:
    """A store moves to Milvus without embedding again, once; agents search it like ours."""
    here, embeddings = the_drama(), counted()
    there = open_store(f"{place}#drama", embeddings)
    assert here.copy_to(there, batch_size=2) == 5
    assert here.copy_to(there, batch_size=2) == 0
    assert embeddings.documents == 0
    here.add_texts(["takuma is retired"], ids=["a"])
    assert here.copy_to(there, batch_size=2) == 1
    assert "takuma is retired" in retriever_tool(there, k=1).invoke("takuma retired")


def test_indexing_touches_what_changed(place: str, tmp_path: Path) -> None:
    """Indexing into Milvus skips what is there and deletes what is gone."""
    store = open_store(f"{place}#notes", HashingEmbeddings(64))
    records = FolderRecordManager("notes", tmp_path / "records")
    assert index_documents(pages("one two three"), store, records=records) == IndexReport(
        3, 0, 0, 0
    )
    assert index_documents(pages("one four three"), store, records=records) == IndexReport(
        1, 0, 2, 1
    )
    found = {document.page_content for document in store.similarity_search("one", k=9)}
    assert found == {"one", "three", "four"}


def test_an_interrupted_copy_goes_on(place: str) -> None:
    """A copy to Milvus that was stopped goes on where it was, and says how far it is."""
    copying_goes_on(f"{place}#broken_off")


def test_the_command_line_reads_it(place: str) -> None:
    """`lca search` and `lca ask` read Milvus by its address."""
    the_command_line_reads(f"{place}#command_line")
