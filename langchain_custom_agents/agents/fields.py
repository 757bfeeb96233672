"""Arguments that nobody would use are refused, with the nearest right name.

LangChain's classes drop unknown constructor arguments without a word.
"""

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, model_validator


def refuse_unknown(owner: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names that are not known.

    Args:
        owner: What the names are given to, for the message.
        given: The names given.
        known: The names understood.

    Raises:
        TypeError: If a name is not known; the message offers the nearest one.

    Example:
        >>> refuse_unknown("AgentExecutor", ["max_iteration"], ["max_iterations", "verbose"])
        Traceback (most recent call last):
        ...
        TypeError: AgentExecutor takes no argument 'max_iteration'; did you mean 'max_iterations'?
    """
    names = sorted(known)
    for name in given:
        if name in names:
            continue
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
        hint = f"did you mean {near[0]!r}?" if near else f"it takes: {', '.join(names)}."
        msg = f"{owner} takes no argument {name!r}; {hint}"
        raise TypeError(msg)


class KnownFields(BaseModel):
    """A base for models that refuse unknown constructor arguments.

    `callback_manager` is let through where it is None: LangChain's own factories pass it.
    """

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, values: Any) -> Any:
        if isinstance(values, dict):
            known = set(cls.model_fields) | cls._also_accepted()
            known |= {field.alias for field in cls.model_fields.values() if field.alias}
            refuse_unknown(cls.__name__, values, known)
        return values

    @classmethod
    def _also_accepted(cls) -> set[str]:
        """Name what a validator of the class understands beside its fields."""
        return {"callback_manager"}
