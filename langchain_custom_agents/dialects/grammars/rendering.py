"""Writing a grammar out as GBNF, for llama.cpp, or as Lark, for llguidance."""

import json
from collections.abc import Iterable

from langchain_custom_agents.dialects.grammars.automata import automaton
from langchain_custom_agents.dialects.grammars.nodes import (
    LAST,
    Chars,
    Choice,
    Except,
    Grammar,
    Literal,
    Node,
    Ranges,
    Ref,
    Repeat,
    Sequence,
    Twofold,
    others,
)


def gbnf(grammar: Grammar) -> str:
    """Write a grammar as GBNF; every "but not" becomes the rules of an automaton.

    Raises:
        ValueError: If an exception leaves nothing over.
    """
    exceptions = tuple(
        dict.fromkeys(each for node in grammar.rules.values() for each in _exceptions(node))
    )
    lines = []
    made = automaton(exceptions)
    writer = _GBNF({node: f"t{at}" for node, at in zip(exceptions, made.starts, strict=True)})
    for name, node in grammar.rules.items():
        lines.append(f"{writer.name(name)} ::= {writer.write(node)}")
    for state, moves in enumerate(made.moves):
        ways = [f"{writer.chars(ranges)} t{to}" for ranges, to in moves]
        if state in made.accepting:
            ways.append('""')
        if not ways:
            msg = "An exception leaves nothing over: every text of its base is kept out."
            raise ValueError(msg)
        lines.append(f"t{state} ::= {' | '.join(ways)}")
    named = {**writer.classes, **writer.parts}
    lines += [f"{name} ::= {written}" for written, name in named.items()]
    return "\n".join(lines) + "\n"


def lark(grammar: Grammar) -> str:
    """Write a grammar as Lark, in the spelling of llguidance."""
    writer = _Lark()
    lines = [f"{writer.name(name)}: {writer.write(node)}" for name, node in grammar.rules.items()]
    return "\n".join([*lines, *writer.extra]) + "\n"


def _exceptions(node: Node) -> Iterable[Except]:
    if isinstance(node, Except):
        yield node
    elif isinstance(node, Sequence | Choice):
        for item in node.items:
            yield from _exceptions(item)
    elif isinstance(node, Repeat):
        yield from _exceptions(node.item)
    elif isinstance(node, Twofold):
        yield from _exceptions(node.by_lines)


def _count(node: Repeat) -> str:
    match (node.least, node.most):
        case (0, None):
            return "*"
        case (1, None):
            return "+"
        case (0, 1):
            return "?"
        case (least, None):
            return f"{{{least},}}"
        case (least, most):
            return f"{{{least},{most}}}"


class _Writer:
    """What both syntaxes share: sequences, choices, repetitions, and the order they bind in."""

    def write(self, node: Node) -> str:
        match node:
            case Literal(text):
                return self.literal(text)
            case Chars(ranges):
                return self.chars(ranges)
            case Sequence(items):
                return " ".join(self.inner(item) for item in items)
            case Choice(items):
                return " | ".join(self.write(item) for item in items)
            case Repeat(item):
                return self.inner(item, Sequence, Repeat) + _count(node)
            case Ref(name):
                return self.name(name)
            case Except():
                return self.exception(node)
            case Twofold():
                return self.write(self.chosen(node))

    def inner(self, node: Node, *more: type) -> str:
        written = self.write(node)
        kind = self.chosen(node) if isinstance(node, Twofold) else node
        return f"({written})" if isinstance(kind, (Choice, *more)) else written

    def name(self, name: str) -> str:
        raise NotImplementedError

    def literal(self, text: str) -> str:
        raise NotImplementedError

    def chars(self, ranges: Ranges) -> str:
        if ranges and ranges[-1][1] == LAST:
            return f"[^{self.members(others(ranges))}]"
        return f"[{self.members(ranges)}]"

    def members(self, ranges: Ranges) -> str:
        return "".join(
            self.mark(low) if low == high else f"{self.mark(low)}-{self.mark(high)}"
            for low, high in ranges
        )

    def mark(self, point: int) -> str:
        raise NotImplementedError

    def exception(self, node: Except) -> str:
        raise NotImplementedError

    def chosen(self, node: Twofold) -> Node:
        raise NotImplementedError


class _GBNF(_Writer):
    def __init__(self, names: dict[Except, str]) -> None:
        self.names = names
        self.classes: dict[str, str] = {}
        self.parts: dict[str, str] = {}
        self._known: dict[Ranges, str] = {}

    def chars(self, ranges: Ranges) -> str:
        if ranges not in self._known:
            # A long class is spelled once.
            written = super().chars(ranges)
            if len(written) > 12:
                written = self.classes.setdefault(written, f"c{len(self.classes)}")
            self._known[ranges] = written
        return self._known[ranges]

    def inner(self, node: Node, *more: type) -> str:
        written = super().inner(node, *more)
        # llama.cpp counts the rules in what is repeated, and refuses more than 2,000 in all.
        if Repeat in more and written.startswith("("):
            return self.parts.setdefault(written, f"p{len(self.parts)}")
        return written

    def name(self, name: str) -> str:
        return name.lower().replace("_", "-")

    def literal(self, text: str) -> str:
        marks = (each if each in "-^" else self.mark(ord(each)) for each in text)
        return f'"{"".join(marks)}"'

    def mark(self, point: int) -> str:
        mark = chr(point)
        if mark in "\n\r\t":
            return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[mark]
        if mark in '"\\[]':
            return "\\" + mark
        if mark in "-^" or point < 32 or 127 <= point < 160:
            return f"\\x{point:02X}"
        if mark.isprintable() and point < 0xFFFF:
            return mark
        return f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"

    def exception(self, node: Except) -> str:
        return self.names[node]

    def chosen(self, node: Twofold) -> Node:
        return node.by_lines


_ALL = Repeat(Chars(((0, LAST),)))
_BYTES = "~/[^\\s\\S]/"


class _Lark(_Writer):
    def __init__(self) -> None:
        self.extra: list[str] = []
        self.known: dict[Except, str] = {}
        self.outside = False

    def name(self, name: str) -> str:
        return "start" if name == "root" else name.replace("-", "_")

    def literal(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=True)

    def chars(self, ranges: Ranges) -> str:
        return "/(?s:.)/" if ranges == ((0, LAST),) else f"/{super().chars(ranges)}/"

    def mark(self, point: int) -> str:
        return chr(point) if chr(point).isalnum() and point < 128 else f"\\u{{{point:X}}}"

    def write(self, node: Node) -> str:
        # Any bytes at all: what follows on it need not be looked at any more.
        return _BYTES if node == _ALL and self.outside else super().write(node)

    def exception(self, node: Except) -> str:
        if node not in self.known:
            name = f"T{len(self.known)}"
            self.known[node] = name
            without = [self._negated(each) for each in node.without]
            self.extra.append(f"{name}: {' & '.join([self._named(node.base), *without])}")
        return self.known[node]

    def chosen(self, node: Twofold) -> Node:
        return node.whole

    def _negated(self, node: Node) -> str:
        self.outside = True
        name = self._named(node)
        self.outside = False
        return f"~{name}"

    def _named(self, node: Node) -> str:
        """Give a part a name of its own: operators bind in a way that is hard to see."""
        written = self.write(node)
        for line in self.extra:
            name, _, body = line.partition(": ")
            if body == written:
                return name
        name = f"P{len(self.extra)}"
        self.extra.append(f"{name}: {written}")
        return name
