"""Headings in Markdown and in wiki text: read in one place, and in one pass over the line.

Lines come from strangers' pages. A pattern that tries every split of a long run of spaces would
take hours for one line, so what closes a heading is taken off by hand.
"""

import re

__all__ = ("markdown_heading", "wiki_heading")

_MARKDOWN = re.compile(r"(#{1,6})\s+(\S.*)")
_WIKI = re.compile(r"(={1,6})(.+)\1\Z")


def markdown_heading(line: str) -> tuple[int, str] | None:
    """Read a Markdown heading.

    Args:
        line: A line.

    Returns:
        The heading's level and its name; None if the line is none.

    Example:
        >>> markdown_heading("## Dates ##"), markdown_heading("# C#"), markdown_heading("#tag")
        ((2, 'Dates'), (1, 'C#'), None)
    """
    if (match := _MARKDOWN.match(line)) is None:
        return None
    name = match[2].rstrip()
    # By CommonMark, signs close a heading only after a space: those of "C#" belong to the name.
    closing = len(name) - len(name.rstrip("#"))
    if closing and name[:-closing][-1:].isspace():
        name = name[:-closing].rstrip()
    return len(match[1]), name


def wiki_heading(line: str) -> tuple[int, str] | None:
    """Read a heading of a wiki.

    Args:
        line: A line.

    Returns:
        The heading's level and its name; None if the line is none.

    Example:
        >>> wiki_heading("== Early life =="), wiki_heading("a == b")
        ((2, 'Early life'), None)
    """
    match = _WIKI.match(line.strip())
    name = match[2].strip() if match else ""
    # A row of signs alone is no heading but the line under one.
    return (len(match[1]), name) if match and name.strip("=") else None
