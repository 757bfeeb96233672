"""A search tool over a vector store or a retriever."""

from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, Field

from langchain_custom_agents.tools._input import ToolInput, failure, refusal

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
        ValueError: If `k` is less than 1.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> store = InMemoryVectorStore.from_texts(
        ...     ["Hiroko's father is Takuma."], DeterministicFakeEmbedding(size=8)
        ... )
        >>> retriever_tool(store, k=1).run("Hiroko's father")
        "Hiroko's father is Takuma."
    """
    if k < 1:
        msg = f"`k` is {k}; give the number of passages to show, at least 1."
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
    return _Retrieve(
        name=name,
        description=description
        or "Finds the passages nearest to a question. Input: what you want to know, in words.",
        retriever=retriever,
        k=k,
    )


class _Retrieve(BaseTool):
    name: str
    description: str
    args_schema: Any = ToolInput
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_validation_error: Any = refusal
    retriever: BaseRetriever = Field(repr=False, exclude=True)
    k: int

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def _run(
        self, query: str, run_manager: CallbackManagerForToolRun | None = None
    ) -> tuple[str, list[Document]]:
        if not query.strip():
            return self._nothing_asked()
        callbacks = run_manager.get_child() if run_manager else None
        try:
            found = self.retriever.invoke(query, {"callbacks": callbacks})
        except Exception as error:  # noqa: BLE001 - whatever a store raises, the run goes on
            return failure(self.name, error), []
        return self._shown(query, found)

    async def _arun(
        self, query: str, run_manager: AsyncCallbackManagerForToolRun | None = None
    ) -> tuple[str, list[Document]]:
        if not query.strip():
            return self._nothing_asked()
        callbacks = run_manager.get_child() if run_manager else None
        try:
            found = await self.retriever.ainvoke(query, {"callbacks": callbacks})
        except Exception as error:  # noqa: BLE001 - whatever a store raises, the run goes on
            return failure(self.name, error), []
        return self._shown(query, found)

    def _nothing_asked(self) -> tuple[str, list[Document]]:
        return f"{self.name} needs words to look for.", []

    def _shown(self, query: str, found: list[Document]) -> tuple[str, list[Document]]:
        found = found[: self.k]
        if not found:
            return f'Nothing was found for "{query}". Try other words.', []
        if len(found) == 1:
            return found[0].page_content, found
        numbered = (f"[{number}] {hit.page_content}" for number, hit in enumerate(found, 1))
        return "\n".join(numbered), found
