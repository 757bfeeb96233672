"""A small matcher for GBNF, the grammars of llama.cpp, to test grammars without an engine."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, TypeAlias

_LAST = sys.maxunicode
Ranges: TypeAlias = tuple[tuple[int, int], ...]
Row: TypeAlias = tuple["Ranges | str", ...]
"""What stands one after the other: characters by their code points, rules by their names."""

# More repetitions than these are no limit to llama.cpp, and at least as many it refuses.
_MOST = 2000

_ESCAPE = r'\\(?:[nrt"\\\[\]-]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})'
_TOKEN = re.compile(
    rf"""[ \t]+|\#[^\r\n]*
    |(?P<line>(?:\r?\n|\r)[ \t\r\n]*)
    |(?P<rule>[A-Za-z0-9-]+)[ \t]*::=
    |(?P<name>[A-Za-z0-9-]+)
    |"(?P<text>(?:[^"\\]|{_ESCAPE})*)"
    |\[(?P<chars>(?:[^\]\\]|{_ESCAPE})*)\]
    |\{{[ \t]*(?P<least>\d+)[ \t]*(?P<upto>,?)[ \t]*(?P<most>\d*)[ \t]*\}}
    |(?P<mark>[.*+?()|])""",
    re.VERBOSE,
)
_MARK = re.compile(rf"(?P<one>{_ESCAPE}|[^\\])(?P<last>-(?:{_ESCAPE}|[^\\]))?", re.DOTALL)
_NAMED = {"n": "\n", "r": "\r", "t": "\t"}
_COUNTS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class Stack(NamedTuple):
    """What is still to come: a part of a row, and what comes after it."""

    row: Row
    rest: "Stack | None"


States: TypeAlias = frozenset[Stack | None]
"""Every way in which a text may go on; None where it may end."""


@dataclass(frozen=True)
class _Token:
    kind: str
    found: re.Match[str]


class GBNF:
    r"""A grammar in GBNF, read from its text as llama.cpp reads it.

    Args:
        text: The grammar; it begins with the rule `root`.

    Raises:
        ValueError: If llama.cpp would refuse it: it is not in the form, refers to a rule there
            is not, begins a rule with itself, or repeats too often.

    Source:
        llama.cpp, `grammars/README.md`, and `src/llama-grammar.cpp` for what that leaves open.

    Example:
        >>> greeting = GBNF('root ::= "Hello" (", " name){0,2} [!?]\nname ::= [a-z]+')
        >>> greeting.admits("Hello, you!"), greeting.admits("Hello, You!")
        (True, False)
    """

    def __init__(self, text: str) -> None:
        self.rules: dict[str, list[Row]] = {}
        self._tokens = list(_tokens(text))
        self._names: set[str] = set()
        self._at = 0
        self._pass_lines()
        while self._at < len(self._tokens):
            self._read_rule()
        self._check()
        self._step = lru_cache(maxsize=50_000)(self._stepped)
        self.start: States = self._open(Stack(("root",), None))

    # Matching.

    def after(self, states: States, mark: str) -> States:
        """Return where a character leads; nothing if it is not admitted."""
        return self._step(states, ord(mark))

    def _stepped(self, states: States, point: int) -> States:
        found: set[Stack | None] = set()
        for stack in states:
            if stack is not None and _holds(stack.row[0], point):
                found |= self._open(Stack(stack.row[1:], stack.rest))
        return frozenset(found)

    def admits(self, text: str) -> bool:
        """Tell whether a whole text is in the language."""
        return self.refused_at(text) is None

    def refused_at(self, text: str) -> int | None:
        """Return how much of a text is admitted, if not all of it is."""
        states = self.start
        for at, mark in enumerate(text):
            states = self.after(states, mark)
            if not states:
                return at
        return None if None in states else len(text)

    def choices(self, states: States) -> list[Ranges]:
        """List the sets of characters that may come next, always in the same order."""
        return sorted(row for stack in states if stack and not isinstance(row := stack.row[0], str))

    def _open(self, stack: Stack) -> States:
        """Return the stacks that begin with characters, or end."""
        found: set[Stack | None] = set()
        left: list[Stack | None] = [stack]
        seen: set[Stack | None] = set()
        while left:
            each = left.pop()
            while each is not None and not each.row:
                each = each.rest
            if each in seen:
                continue
            seen.add(each)
            if each is None or not isinstance(each.row[0], str):
                found.add(each)
                continue
            # What follows a rule at the end of a row follows the row.
            rest = Stack(each.row[1:], each.rest) if each.row[1:] else each.rest
            left += [Stack(row, rest) for row in self.rules[each.row[0]]]
        return frozenset(found)

    # Reading.

    def _kind(self) -> str:
        return self._tokens[self._at].kind if self._at < len(self._tokens) else ""

    def _pass_lines(self) -> None:
        while self._kind() == "line":
            self._at += 1

    def _next(self) -> _Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _read_rule(self) -> None:
        token = self._next()
        if token.kind != "rule":
            raise _refusal("a rule with ::= is expected", token.found)
        name = token.found["rule"]
        if name in self.rules:
            raise _refusal(f"the rule {name!r} is said twice", token.found)
        self.rules[name] = []
        self._names.add(name)
        self._pass_lines()
        self.rules[name] = self._rows(name, nested=False)
        if self._at < len(self._tokens) and self._next().kind != "line":
            raise _refusal("a line break is expected", self._tokens[self._at - 1].found)

    def _rows(self, name: str, *, nested: bool) -> list[Row]:
        """Read what stands between bars."""
        rows = [self._row(name, nested=nested)]
        while self._mark() == "|":
            self._at += 1
            self._pass_lines()
            rows.append(self._row(name, nested=nested))
        return rows

    def _row(self, name: str, *, nested: bool) -> Row:
        row: list[Ranges | str] = []
        # Where the last thing begins, and how many rules it takes to say it.
        last, weight = 0, 1
        while self._at < len(self._tokens):
            token, mark = self._tokens[self._at], self._mark()
            if token.kind == "line" and nested:
                self._at += 1
                continue
            if token.kind in ("line", "rule") or mark in ("|", ")"):
                break
            self._at += 1
            if token.kind == "least" or mark in _COUNTS:
                row, times = self._repeated(name, row, last, weight, token)
                weight *= times
                continue
            last, weight = len(row), 1
            if token.kind == "text":
                row += (((ord(one), ord(one)),) for one in _unescaped(token.found["text"]))
            elif token.kind == "chars":
                if token.found["chars"] in ("", "^"):
                    raise _refusal("a set holds no character", token.found)
                row.append(_set(token.found["chars"]))
            elif token.kind == "name":
                row.append(token.found["name"])
                self._names.add(token.found["name"])
            elif mark == ".":
                row.append(((0, _LAST),))
            elif mark == "(":
                before = len(self._names)
                rows = self._rows(name, nested=True)
                if self._mark() != ")":
                    raise _refusal("a bracket is not closed", token.found)
                self._at += 1
                row.append(self._made(name, rows))
                weight = len(self._names) - before
        return tuple(row)

    def _mark(self) -> str:
        if self._kind() != "mark":
            return ""
        return self._tokens[self._at].found["mark"]

    def _made(self, name: str, rows: list[Row]) -> str:
        # No name in a text has a blank.
        made = f"{name} {len(self._names)}"
        self._names.add(made)
        self.rules[made] = rows
        return made

    def _repeated(
        self, name: str, row: list["Ranges | str"], last: int, weight: int, token: _Token
    ) -> tuple[list["Ranges | str"], int]:
        found = token.found
        if last == len(row):
            raise _refusal("there is nothing to repeat", found)
        if token.kind == "mark":
            least, most = _COUNTS[found["mark"]]
        else:
            least = int(found["least"])
            most = int(found["most"]) if found["most"] else None if found["upto"] else least
        if most is not None and most > _MOST:
            most = None
        times = most or least or 1
        if least > _MOST or weight * times > _MOST:
            raise _refusal("it is repeated too often", found)
        item = tuple(row[last:])
        kept: list[Ranges | str] = [*row[:last], *(item * least)]
        if most is None:
            loop = self._made(name, [])
            self.rules[loop] = [(*item, loop), ()]
            return [*kept, loop], times
        follows: Row = ()
        for _ in range(most - least):
            follows = (self._made(name, [(*item, *follows), ()]),)
        return [*kept, *follows], times

    # Checking.

    def _check(self) -> None:
        if "root" not in self.rules:
            msg = "The grammar has no rule named root."
            raise ValueError(msg)
        for name, rows in self.rules.items():
            for part in (part for row in rows for part in row):
                if isinstance(part, str) and part not in self.rules:
                    msg = f"The rule {name!r} refers to {part!r}, and there is no such rule."
                    raise ValueError(msg)
        empty = self._may_be_empty()
        begins: dict[str, set[str]] = {name: set() for name in self.rules}
        for name, rows in self.rules.items():
            for row in rows:
                for part in row:
                    if not isinstance(part, str):
                        break
                    begins[name].add(part)
                    if part not in empty:
                        break
        try:
            TopologicalSorter(begins).prepare()
        except CycleError as error:
            msg = f"The rule {error.args[1][0]!r} may begin with itself, which llama.cpp refuses."
            raise ValueError(msg) from error

    def _may_be_empty(self) -> set[str]:
        empty: set[str] = set()
        while True:
            more = {
                name
                for name, rows in self.rules.items()
                if name not in empty
                and any(
                    all(isinstance(part, str) and part in empty for part in row) for row in rows
                )
            }
            if not more:
                return empty
            empty |= more


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            msg = f"GBNF is broken at {text[at : at + 40]!r}."
            raise ValueError(msg)
        kind = next((name for name, part in found.groupdict().items() if part is not None), "")
        kind = "least" if found["least"] is not None else kind
        if kind:
            yield _Token(kind, found)
        at = found.end()


def _refusal(reason: str, found: re.Match[str]) -> ValueError:
    near = found.string[max(0, found.start() - 30) : found.end() + 30]
    return ValueError(f"GBNF is broken near {near!r}: {reason}.")


def _unescaped(text: str) -> str:
    return re.sub(_ESCAPE, lambda found: _character(found[0]), text)


def _character(written: str) -> str:
    if len(written) == 1:
        return written
    kind, digits = written[1], written[2:]
    return chr(int(digits, 16)) if kind in "xuU" else _NAMED.get(kind, kind)


@lru_cache(maxsize=4096)
def _set(written: str) -> Ranges:
    negative = written.startswith("^")
    ranges = []
    for found in _MARK.finditer(written, 1 if negative else 0):
        low = ord(_character(found["one"]))
        high = ord(_character(found["last"][1:])) if found["last"] else low
        ranges.append((low, high))
    if not negative:
        return tuple(ranges)
    gaps, at = [], 0
    for low, high in sorted(ranges):
        if at < low:
            gaps.append((at, low - 1))
        at = max(at, high + 1)
    return (*gaps, (at, _LAST)) if at <= _LAST else tuple(gaps)


def _holds(ranges: "Ranges | str", point: int) -> bool:
    return not isinstance(ranges, str) and any(low <= point <= high for low, high in ranges)
