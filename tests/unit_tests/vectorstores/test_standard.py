"""LangChain's own suites for vector stores and retrievers, without a shim."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests
from langchain_tests.integration_tests.vectorstores import VectorStoreIntegrationTests

from langchain_custom_agents.vectorstores.faiss import FAISSStore, FAISSStoreRetriever


class TestInMemory(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[VectorStore]:
        """A new store in memory."""
        with FAISSStore(self.get_embeddings()) as store:
            yield store


class TestInAFolder(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> Iterator[VectorStore]:
        """A new store in a folder."""
        with FAISSStore(self.get_embeddings(), tmp_path / "store") as store:
            yield store


class TestWithCodes(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> Iterator[VectorStore]:
        """A new store whose second tier begins at the first document."""
        with FAISSStore(self.get_embeddings(), tmp_path / "store", tier="codes") as store:
            yield store


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        """What `as_retriever` makes."""
        return FAISSStoreRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        """A store of five."""
        texts = [f"text number {number}" for number in range(5)]
        embeddings = VectorStoreIntegrationTests.get_embeddings()
        return {"vectorstore": FAISSStore.from_texts(texts, embeddings)}

    @property
    def retriever_query_example(self) -> str:
        """Any question."""
        return "text"
