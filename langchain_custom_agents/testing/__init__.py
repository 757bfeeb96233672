"""What the package's own tests are made of, for yours: the dialects' laws and scripted models.

`ScriptedLLM` and `ScriptedChatModel` need nothing more than the package; `DialectLaws` needs
pytest and hypothesis: `pip install 'langchain-custom-agents[testing]'`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from langchain_custom_agents.testing.scripted import ScriptedChatModel, ScriptedLLM

if TYPE_CHECKING:
    from langchain_custom_agents.testing.laws import DialectLaws

__all__ = ("DialectLaws", "ScriptedChatModel", "ScriptedLLM")


def __dir__() -> list[str]:
    """Name what is public, loaded or not."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Load the laws when they are asked for: they need hypothesis, the models do not."""
    if name == "DialectLaws":
        return import_module("langchain_custom_agents.testing.laws").DialectLaws
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
