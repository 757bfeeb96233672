"""What the tests of other stores share."""

from langchain_core.documents import Document

from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.vectorstores.faiss import FAISSStore

TEXTS = [
    "takuma is a teacher",
    "hiroko's father is takuma",
    "hiroko's mather is ayako",
    "ayako is a doctor",
    "hiroko is 10 years old",
]


def the_drama() -> FAISSStore:
    """Return the tutorial's five sentences in a store."""
    metadatas = [{"place": place} for place in range(5)]
    return FAISSStore.from_texts(TEXTS, HashingEmbeddings(64), metadatas, ids=list("abcde"))


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


_Hashing = HashingEmbeddings
