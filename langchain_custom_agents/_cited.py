"""Which sources an answer cites."""

import re

__all__ = ("numbers_in",)

_NAMED = re.compile(r"[\[［【]([\d\s,;、，；–-]+)[\]］】]")
_RANGE = re.compile(r"(?<!\d)(\d{1,4})(?!\d)(?:\s*[–-]\s*(\d{1,4})(?!\d))?")


def numbers_in(answer: str) -> set[int]:
    """Return the numbers of the sources that an answer names, in the brackets of any script.

    Args:
        answer: The answer, with numbers such as [1] or [1, 3-5].

    Example:
        >>> sorted(numbers_in("A teacher [1, 3-5], as Ayako says【12】."))
        [1, 3, 4, 5, 12]
    """
    return {
        number
        for inner in _NAMED.findall(answer)
        for first, last in _RANGE.findall(inner)
        for number in range(int(first), int(last or first) + 1)
    }
