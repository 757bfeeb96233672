r"""The written forms of an agent's steps.

Example:
    >>> from langchain_custom_agents.dialects import ENGLISH
    >>> ENGLISH.read("I know now\nFinal Answer: Takuma is a teacher.").move
    Answer(text='Takuma is a teacher.')
"""

from langchain_custom_agents.dialects.base import Dialect
from langchain_custom_agents.dialects.bracketed import Bracketed
from langchain_custom_agents.dialects.json_blob import JsonBlob
from langchain_custom_agents.dialects.labelled import (
    CHINESE,
    ENGLISH,
    JAPANESE,
    Conversational,
    Labelled,
)
from langchain_custom_agents.dialects.moves import (
    Action,
    Answer,
    Misreading,
    Move,
    NoSuchTool,
    Prose,
    Reading,
)
from langchain_custom_agents.dialects.self_ask import SelfAsk
from langchain_custom_agents.dialects.toolbox import Toolbox, ToolSpec

__all__ = (
    "CHINESE",
    "ENGLISH",
    "JAPANESE",
    "Action",
    "Answer",
    "Bracketed",
    "Conversational",
    "Dialect",
    "JsonBlob",
    "Labelled",
    "Misreading",
    "Move",
    "NoSuchTool",
    "Prose",
    "Reading",
    "SelfAsk",
    "ToolSpec",
    "Toolbox",
)
