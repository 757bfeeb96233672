r"""Brackets around an input: where they close, and how those inside are kept apart.

In an input, a backslash stands before every bracket that has no partner; where there already
are backslashes, one more.
"""

import re

_BRACKET = re.compile(r"(?<!\\)(\\*)([\[\]])")
_JSON_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_ESCAPED_BRACKET = re.compile(r"(?<!\\)\\(\\*[\[\]])")


def escape_brackets(content: str, *, is_json: bool = False) -> str:
    r"""Put a backslash before every bracket, unless they pair up and none is escaped already.

    Args:
        content: What shall stand between brackets.
        is_json: Whether it is JSON, in which no bracket of a text may pair up with one outside:
            a grammar could not follow them.

    Example:
        >>> escape_brackets("Episodes [Season 2]"), escape_brackets("[0, 1)")
        ('Episodes [Season 2]', '\\[0, 1)')
    """
    escaped = content
    apart = [content, *(_JSON_TEXT.findall(content) if is_json else ())]
    if "\\[" in content or "\\]" in content or not all(map(_pair_up, apart)):
        escaped = _BRACKET.sub(r"\\\1\2", content)
    # A backslash at the end would escape the bracket that closes the input.
    return escaped + " " if escaped.endswith("\\") else escaped


def unescape_brackets(written: str) -> str:
    """Undo `escape_brackets`."""
    return _ESCAPED_BRACKET.sub(r"\1", written)


def _pair_up(content: str) -> bool:
    return closing(content + " ]") == len(content) + 1


def closing(rest: str) -> int | None:
    """Return where the bracket opened before the text closes; escaped brackets do not count.

    Example:
        >>> closing("Season [2]] and more")
        10
    """
    depth = 1
    for found in _BRACKET.finditer(rest):
        if found[1]:
            continue
        depth += 1 if found[2] == "[" else -1
        if depth == 0:
            return found.start(2)
    return None
