"""Names that nobody would read are refused, with the nearest right one."""

import difflib
from collections.abc import Iterable, Mapping
from types import MappingProxyType

__all__ = ["refuse_unknown"]


def refuse_unknown(
    owner: str,
    given: Iterable[str],
    known: Iterable[str],
    hints: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Refuse names that are not known.

    Args:
        owner: What the names are given to, for the message.
        given: The names given.
        known: The names understood.
        hints: What to say about names that are not understood but often given, instead of the
            nearest one.

    Raises:
        TypeError: If a name is not known; the message offers the nearest one.

    Example:
        >>> refuse_unknown("AgentExecutor", ["max_iteration"], ["max_iterations", "verbose"])
        Traceback (most recent call last):
        ...
        TypeError: AgentExecutor takes no argument 'max_iteration'; did you mean 'max_iterations'?
    """
    names = tuple(known)
    for name in given:
        if name in names:
            continue
        near = difflib.get_close_matches(name, names, n=1)
        nearest = f"did you mean {near[0]!r}?" if near else f"it takes: {', '.join(sorted(names))}."
        msg = f"{owner} takes no argument {name!r}; {hints.get(name, nearest)}"
        raise TypeError(msg)
