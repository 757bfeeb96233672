"""What the tests of other stores share."""

import json

import pytest
from click.testing import CliRunner
from langchain_core.documents import Document

from langchain_custom_agents.cli.commands import commands
from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.vectorstores.faiss import FAISSStore
from langchain_custom_agents.vectorstores.opening import open_store

TEXTS = [
    "takuma is a teacher",
    "hiroko's father is takuma",
    "hiroko's mather is ayako",
    "ayako is a doctor",
    "hiroko is 10 years old",
]


def the_drama(embeddings: HashingEmbeddings | None = None) -> FAISSStore:
    """Return the tutorial's five sentences in a store."""
    metadatas = [{"place": place, "source": "drama.txt"} for place in range(5)]
    return FAISSStore.from_texts(
        TEXTS, embeddings or HashingEmbeddings(64), metadatas, ids=list("abcde")
    )


def counted() -> HashingEmbeddings:
    """Return embeddings that count the documents they embed."""

    class HashingEmbeddings(_Hashing):
        documents = 0

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            """Embed and count."""
            self.documents += len(texts)
            return super().embed_documents(texts)

    return HashingEmbeddings(64)


def pages(text: str) -> list[Document]:
    """Return a document per word, all of one source."""
    return [Document(word, metadata={"source": "notes.txt"}) for word in text.split()]


def copying_goes_on(address: str) -> None:
    """Interrupt a copy after its first batch; the next one writes the rest, and only that."""
    here, embeddings = the_drama(), counted()
    there = open_store(address, embeddings)
    told: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        told.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        here.copy_to(there, batch_size=2, progress=stop)
    assert told == [(2, 5)]
    told.clear()
    written = here.copy_to(
        open_store(address, embeddings),
        batch_size=2,
        progress=lambda done, total: told.append((done, total)),
    )
    assert (written, told) == (3, [(2, 5), (4, 5), (5, 5)])
    assert embeddings.documents == 0
    found = open_store(address, embeddings).similarity_search("anything", k=9)
    assert sorted(document.page_content for document in found) == sorted(TEXTS)


def the_command_line_reads(address: str) -> None:
    """`lca search` and `lca ask` find in a store elsewhere what they find in a folder."""
    embeddings = HashingEmbeddings()
    the_drama(embeddings).copy_to(open_store(address, embeddings))
    searched = CliRunner().invoke(commands, ["search", "--index", address, "--json", "ayako"])
    assert searched.exit_code == 0, searched.output
    results = json.loads(searched.stdout)["results"]
    assert "ayako is a doctor" in [result["text"] for result in results]
    assert {result["source"] for result in results} == {"drama.txt"}
    question = "What is Hiroko's father's occupation?"
    asked = CliRunner().invoke(commands, ["ask", "--index", address, "--json", question])
    assert asked.exit_code == 0, asked.output
    answered = json.loads(asked.stdout)
    assert "teacher" in answered["answer"]
    assert [source["source"] for source in answered["sources"]] == ["drama.txt"]


_Hashing = HashingEmbeddings
