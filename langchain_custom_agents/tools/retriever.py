"""A search tool over a vector store or a retriever."""

from collections.abc import Hashable
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import VectorStore
from pydantic import Field

from langchain_custom_agents.tools._input import TextTool

__all__ = ("retriever_tool",)


def retriever_tool(
    store_or_retriever: VectorStore | BaseRetriever,
    k: int = 4,
    name: str = "Search",
    *,
    description: str | None = None,
) -> BaseTool:
    """Make a tool that finds the passages nearest to a question.

    One hit is shown as it is; several are numbered. The documents found travel as the artifact,
    with their metadata. Nothing found, and whatever the store raises, is a sentence for the model.

    Args:
        store_or_retriever: Any LangChain `VectorStore` or retriever.
        k: How many passages to show at most.
        name: The tool's name, as the model calls it.
        description: What the model is told about the tool.

    Returns:
        The tool; its artifact is a `list[Document]`.

    Raises:
        TypeError: If the first argument is neither a vector store nor a retriever.
        ValueError: If `k` is less than 1, or the tool has no name.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> store = InMemoryVectorStore.from_texts(
        ...     ["Hiroko's father is Takuma."], DeterministicFakeEmbedding(size=8)
        ... )
        >>> retriever_tool(store, k=1).run("Hiroko's father")
        "Hiroko's father is Takuma."
    """
    if not isinstance(k, int) or k < 1:
        msg = f"`k` is {k!r}; give the number of passages to show, at least 1."
        raise ValueError(msg)
    if isinstance(store_or_retriever, VectorStore):
        retriever: BaseRetriever = store_or_retriever.as_retriever(search_kwargs={"k": k})
    elif isinstance(store_or_retriever, BaseRetriever):
        retriever = store_or_retriever
    else:
        msg = (
            f"`store_or_retriever` is {type(store_or_retriever).__name__}; "
            "give a LangChain vector store or retriever."
        )
        raise TypeError(msg)
    if not isinstance(name, str) or not name.strip():
        msg = f"`name` is {name!r}; give the name by which a model calls the tool."
        raise ValueError(msg)
    return _Retrieve(
        name=name,
        description=description
        or "Finds the passages nearest to a question. Input: what you want to know, in words.",
        retriever=retriever,
        k=k,
    )


class _Retrieve(TextTool):
    name: str
    description: str
    retriever: BaseRetriever = Field(repr=False, exclude=True)
    k: int

    def _find(self, query: str, callbacks: Any) -> list[Document]:
        return self.retriever.invoke(query, {"callbacks": callbacks})

    async def _afind(self, query: str, callbacks: Any) -> list[Document]:
        return await self.retriever.ainvoke(query, {"callbacks": callbacks})

    def _shown(
        self,
        query: str,
        found: list[Document],
        run: Hashable | None,  # noqa: ARG002
    ) -> tuple[str, list[Document]]:
        found = found[: self.k]
        if not found:
            return f'Nothing was found for "{query}". Try other words.', []
        if len(found) == 1:
            return found[0].page_content, found
        numbered = (f"[{number}] {hit.page_content}" for number, hit in enumerate(found, 1))
        return "\n".join(numbered), found
