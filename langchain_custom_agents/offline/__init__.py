r"""The embedded default: stand-ins for trying and testing, not language models.

`ExtractiveLLM` and `ExtractiveChatModel` play an agent by rule, and `HashingEmbeddings` counts
words: no key, no download, the same result every time.

Example:
    >>> from langchain_custom_agents.offline import ExtractiveLLM
    >>> text = "takuma is a teacher\nQuestion: What is takuma's occupation?"
    >>> print(ExtractiveLLM().invoke(text))
    Takuma is a teacher.
"""

from typing import TYPE_CHECKING

from langchain_custom_agents._lazy import lazily

if TYPE_CHECKING:
    from langchain_custom_agents.offline.embeddings import HashingEmbeddings
    from langchain_custom_agents.offline.extractive import ExtractiveChatModel, ExtractiveLLM

__all__ = ("ExtractiveChatModel", "ExtractiveLLM", "HashingEmbeddings")

_HOMES = {
    "ExtractiveChatModel": "extractive",
    "ExtractiveLLM": "extractive",
    "HashingEmbeddings": "embeddings",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
