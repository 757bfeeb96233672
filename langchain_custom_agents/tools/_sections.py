"""A reference cut along its headings, each section with the way to it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from langchain_custom_agents._headings import markdown_heading, wiki_heading
from langchain_custom_agents.tools._passages import estimate_tokens, sentences

__all__ = ("Section", "cut")

_UNDERLINE = re.compile(r"([=\-~^\"'`*+#:.])\1{2,}\s*\Z")
_FENCE = re.compile(r"\s*(```+|~~~+)")


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a reference: the headings above it, outermost first, and its text."""

    path: tuple[str, ...]
    text: str


def cut(text: str, max_tokens: int = 400) -> list[Section]:
    r"""Cut a text along its headings: Markdown, wiki, or underlined.

    Code between fences is no heading, and is not cut through unless it is very long. A section
    that is too long is cut between its paragraphs. Nothing is left out.

    Args:
        text: The text.
        max_tokens: About how long a section may be.

    Returns:
        The sections that hold text, in order.

    Example:
        >>> cut("# JQL\n## Dates\nUse startOfDay().")
        [Section(path=('JQL', 'Dates'), text='Use startOfDay().')]
    """
    return [
        Section(path, piece)
        for path, body in _bodies(text.splitlines())
        for piece in _pieces(body, max_tokens)
    ]


def _bodies(lines: list[str]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    path: list[tuple[int, str]] = []
    body: list[str] = []
    marks: list[str] = []  # the order in which kinds of underlines appeared is their level
    fence = ""
    skip = False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if skip:
            skip = False
            continue
        if opened := _FENCE.match(line):
            fence = "" if fence and opened[1].startswith(fence) else fence or opened[1]
        if fence or opened or not (heading := _heading(line, following, marks)):
            body.append(line)
            continue
        yield tuple(name for _, name in path), body
        level, name, skip = heading
        path = [*((above, title) for above, title in path if above < level), (level, name)]
        body = []
    yield tuple(name for _, name in path), body


def _heading(line: str, following: str, marks: list[str]) -> tuple[int, str, bool] | None:
    """Return a heading's level, its name, and whether the next line belongs to it."""
    text = line.strip()
    if heading := markdown_heading(line) or wiki_heading(line):
        return *heading, False
    under = _UNDERLINE.match(following)
    if under and text and not _UNDERLINE.match(text) and len(following.strip()) >= len(text):
        if under[1] not in marks:
            marks.append(under[1])
        return marks.index(under[1]) + 1, text, True
    return None


def _pieces(body: list[str], max_tokens: int) -> Iterator[str]:
    piece, used = list[str](), 0
    for block in (part for whole in _blocks(body) for part in _parts(whole, 4 * max_tokens)):
        cost = estimate_tokens(block)
        if piece and used + cost > max_tokens:
            yield "\n\n".join(piece)
            piece, used = [], 0
        piece.append(block)
        used += cost
    if piece:
        yield "\n\n".join(piece)


def _parts(block: str, max_tokens: int) -> Iterator[str]:
    """Cut a block that is far too long: at its lines, its sentences, and in the end anywhere."""
    if estimate_tokens(block) <= max_tokens:
        yield block
        return
    pieces = block.splitlines() if "\n" in block else sentences(block)
    if len(pieces) == 1:
        half = len(block) // 2
        pieces = [block[:half], block[half:]]
    part = list[str]()
    for piece in pieces:
        if part and estimate_tokens(" ".join((*part, piece))) > max_tokens:
            yield from _parts("\n".join(part), max_tokens)
            part = []
        part.append(piece)
    yield from _parts("\n".join(part), max_tokens)


def _blocks(lines: list[str]) -> Iterator[str]:
    """Return paragraphs; a fenced block stays whole, with the blank lines in it."""
    block, fence = list[str](), ""
    for line in lines:
        if opened := _FENCE.match(line):
            fence = "" if fence and opened[1].startswith(fence) else fence or opened[1]
        if line.strip() or fence:
            block.append(line.rstrip())
        elif block:
            yield "\n".join(block)
            block = []
    if block:
        yield "\n".join(block)
