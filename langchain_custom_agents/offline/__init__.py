r"""The embedded default: stand-ins for trying and testing, not language models.

`ExtractiveLLM` and `ExtractiveChatModel` play an agent by rule, and `HashingEmbeddings` counts
words: no key, no download, the same result every time.

Example:
    >>> from langchain_custom_agents.offline import ExtractiveLLM
    >>> text = "takuma is a teacher\nQuestion: What is takuma's occupation?"
    >>> print(ExtractiveLLM().invoke(text))
    Takuma is a teacher.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_custom_agents.offline.embeddings import HashingEmbeddings
    from langchain_custom_agents.offline.extractive import ExtractiveChatModel, ExtractiveLLM

__all__ = ("ExtractiveChatModel", "ExtractiveLLM", "HashingEmbeddings")

_HOMES = {
    "ExtractiveChatModel": "extractive",
    "ExtractiveLLM": "extractive",
    "HashingEmbeddings": "embeddings",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is asked for: numpy is for the embeddings only."""
    home = _HOMES.get(name)
    if home is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    """Name what is public, loaded or not."""
    return sorted(__all__)
