"""Text from outside is shown as text: no terminal and no reader is deceived by it."""

import re
from typing import Any

# Control characters, lone surrogates, and the marks that reverse or reorder text.
INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: Any) -> str:
    r"""Return text in which what acts instead of being read is spelled out.

    These are terminal codes, control characters, and the marks that change the direction of
    text, which can hide what is really said.

    Example:
        >>> visible("\x1b[2Jgone\r\n\ttab\u200f")
        '\\x1b[2Jgone\n\ttab\\u200f'
    """
    unix = str(text).replace("\r\n", "\n")
    return INVISIBLE.sub(lambda found: ascii(found[0])[1:-1], unix)


def hanging(text: str) -> str:
    r"""Indent all lines of a text but the first: none can pass for a line of its own in a run.

    Example:
        >>> hanging("a page\n\nAnswer: forged")
        'a page\n\n  Answer: forged'
    """
    return re.sub(r"\n(?=[^\n])", "\n  ", text)
