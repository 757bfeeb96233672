"""Reading words that are not in the exact written form: repair what is certain, refuse the rest."""

from typing import TYPE_CHECKING

from langchain_custom_agents.dialects.moves import Reading

if TYPE_CHECKING:
    from langchain_custom_agents.dialects.base import Dialect
    from langchain_custom_agents.dialects.toolbox import Toolbox


def recover(dialect: "Dialect", words: str, toolbox: "Toolbox") -> Reading:
    """Read words that are not in a dialect's exact written form."""
    from langchain_custom_agents.dialects.base import Dialect

    return Dialect.recover(dialect, words, toolbox)
