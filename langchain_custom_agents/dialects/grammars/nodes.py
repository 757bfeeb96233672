"""Grammars as data: eight kinds of nodes, and the short words to write them with."""

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

LAST = sys.maxunicode
Ranges: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Literal:
    """Exactly this text."""

    text: str


@dataclass(frozen=True)
class Chars:
    """One character of these ranges of code points, which are sorted and do not touch."""

    ranges: Ranges


@dataclass(frozen=True)
class Sequence:
    """One after the other."""

    items: tuple["Node", ...]


@dataclass(frozen=True)
class Choice:
    """One of these."""

    items: tuple["Node", ...]


@dataclass(frozen=True)
class Repeat:
    """The same again and again; without a `most` there is no limit."""

    item: "Node"
    least: int = 0
    most: int | None = None


@dataclass(frozen=True)
class Ref:
    """What the rule of this name says."""

    name: str


@dataclass(frozen=True)
class Except:
    """What is in the base and in nothing of `without`. All of them are regular."""

    base: "Node"
    without: tuple["Node", ...]


@dataclass(frozen=True)
class Twofold:
    """One text said in two ways, for engines that know "but not" and for those that do not.

    Args:
        whole: The whole text with all its exceptions at once.
        by_lines: Line by line, so that the automaton for it stays small enough to be sent. It
            may keep clear of a little more.
    """

    whole: "Node"
    by_lines: "Node"


Node: TypeAlias = Literal | Chars | Sequence | Choice | Repeat | Ref | Except | Twofold


@dataclass(frozen=True)
class Grammar:
    """Rules by name. It begins with the rule `root`; names in capitals are terminals.

    A terminal is regular: it refers to terminals only, and not to itself.

    Args:
        rules: The rules.
    """

    rules: Mapping[str, Node]


def seq(*items: Node | str) -> Node:
    """Return one after the other; texts stand for themselves."""
    flat: list[Node] = []
    for item in items:
        node = Literal(item) if isinstance(item, str) else item
        parts = node.items if isinstance(node, Sequence) else (node,)
        for part in parts:
            if isinstance(part, Literal) and flat and isinstance(flat[-1], Literal):
                flat[-1] = Literal(flat[-1].text + part.text)
            elif part != Literal(""):
                flat.append(part)
    if not flat:
        return Literal("")
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def either(*items: Node | str) -> Node:
    """Return a choice; texts stand for themselves."""
    nodes = dict.fromkeys(Literal(item) if isinstance(item, str) else item for item in items)
    return next(iter(nodes)) if len(nodes) == 1 else Choice(tuple(nodes))


def many(item: Node, least: int = 0, most: int | None = None) -> Node:
    """Return a repetition."""
    return item if (least, most) == (1, 1) else Repeat(item, least, most)


def maybe(item: Node | str) -> Node:
    """Return what may be left out."""
    return Repeat(Literal(item) if isinstance(item, str) else item, 0, 1)


def ranges_of(found: Iterable[tuple[int, int]]) -> Ranges:
    """Sort ranges of code points and join those that touch."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(found):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def others(ranges: Ranges) -> Ranges:
    """Return the code points that are not in these ranges."""
    gaps, at = [], 0
    for low, high in ranges:
        if at < low:
            gaps.append((at, low - 1))
        at = high + 1
    return (*gaps, (at, LAST)) if at <= LAST else tuple(gaps)


def one_of(marks: str) -> Chars:
    """Return one of these characters."""
    return Chars(ranges_of((ord(mark), ord(mark)) for mark in marks))


def none_of(marks: str) -> Chars:
    """Return any character but these; line ends have to be named as well."""
    return Chars(others(one_of(marks).ranges))


def joined(*classes: Chars) -> Chars:
    """Return one character of any of these classes."""
    return Chars(ranges_of(pair for each in classes for pair in each.ranges))


ANY = none_of("\n\r")
LINE: Node = many(ANY)


# Beyond the second plane of Unicode are ideographs only, and what no text holds.
SCRIPTS = range(0x20000)


@lru_cache(maxsize=1)
def _cased() -> str:
    marks = map(chr, SCRIPTS)
    return "".join(mark for mark in marks if mark.lower() != mark or mark.upper() != mark)


@lru_cache(maxsize=1024)
def any_case(mark: str) -> Chars:
    """Return a character in every case that a reader takes it in."""
    return one_of(mark + "".join(re.findall(re.escape(mark), _cased(), re.IGNORECASE)))


def matching(pattern: str) -> Chars:
    """Return the characters that a pattern for one of them takes.

    Example:
        >>> matching("[0-2]")
        Chars(ranges=((48, 50),))
    """
    return one_of("".join(re.findall(pattern, "".join(map(chr, SCRIPTS)))))


def word(text: str) -> Node:
    """Return a word in any case."""
    return seq(*(any_case(mark) for mark in text))
