"""From a regular expression to a node, for the patterns of JSON schemas and of our own readers."""

import re
from collections.abc import Iterable
from typing import Any

from langchain_custom_agents.dialects.grammars.nodes import (
    LAST,
    Chars,
    Node,
    Ranges,
    any_case,
    either,
    joined,
    many,
    none_of,
    one_of,
    others,
    ranges_of,
    seq,
)

# Python's own parser of expressions, under the name it has had since 3.11.
try:
    from re import _constants as ops  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:
    import sre_constants as ops
    import sre_parse as parser

_DIGIT: Ranges = ((48, 57),)
_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Ranges = ((9, 13), (32, 32), (160, 160), (0x2028, 0x2029), (0x3000, 0x3000))


class PatternError(ValueError):
    """A regular expression that no grammar can hold."""


class Pattern:
    """A regular expression as a node.

    Args:
        pattern: The expression.
        beyond: Characters that count as part of words beside the ASCII ones.
        near: For what is kept clear of: in any case, without word boundaries, repeated at will.

    Raises:
        PatternError: If it cannot be parsed, or looks around or back.
    """

    def __init__(self, pattern: str, beyond: Ranges = (), *, near: bool = False) -> None:
        self.word = ranges_of((*_WORD, *beyond))
        self.near = near
        self.from_start = self.to_end = False
        try:
            parsed = list(parser.parse(pattern))
        except (re.error, RecursionError, OverflowError) as error:
            msg = f"The pattern {pattern!r} is not a regular expression: {error}."
            raise PatternError(msg) from error
        if parsed and parsed[0] == (ops.AT, ops.AT_BEGINNING):
            self.from_start = True
            parsed = parsed[1:]
        if parsed and parsed[-1] == (ops.AT, ops.AT_END):
            self.to_end = True
            parsed = parsed[:-1]
        self.source = pattern
        self.node = self._all(parsed)

    def _all(self, parsed: Iterable[tuple[Any, Any]]) -> Node:
        return seq(*(self._one(op, value) for op, value in parsed))

    def _one(self, op: Any, value: Any) -> Node:
        match str(op):
            case "LITERAL":
                return any_case(chr(value)) if self.near else seq(chr(value))
            case "NOT_LITERAL":
                return none_of(chr(value))
            case "ANY":
                return none_of("\n\r")
            case "IN":
                return self._set(value)
            case "BRANCH":
                return either(*(self._all(branch) for branch in value[1]))
            case "SUBPATTERN":
                return self._all(value[3])
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, item = value
                free = most == ops.MAXREPEAT or (self.near and most > 8)
                return many(self._all(item), least, None if free else most)
            case "AT" if value == ops.AT_BOUNDARY and self.near:
                return seq()
        msg = (
            f"The pattern {self.source!r} cannot be written as a grammar: it looks around, looks "
            "back, or has an anchor inside of it. Take it out of the schema and check it in the "
            "tool."
        )
        raise PatternError(msg)

    def _set(self, parts: Iterable[tuple[Any, Any]]) -> Chars:
        negative, classes = False, []
        for op, value in parts:
            match str(op):
                case "NEGATE":
                    negative = True
                case "LITERAL":
                    mark = chr(value)
                    classes.append(any_case(mark) if self.near else one_of(mark))
                case "RANGE":
                    low, high = value
                    classes.append(Chars(((low, high),)))
                    if self.near:
                        classes += [any_case(chr(each)) for each in range(low, min(high, 127) + 1)]
                case "CATEGORY":
                    classes.append(self._category(str(value)))
        found = joined(*classes)
        return Chars(others(found.ranges)) if negative else found

    def _category(self, name: str) -> Chars:
        kinds = {"DIGIT": _DIGIT, "WORD": self.word, "SPACE": _SPACE}
        kind = name.rpartition("_")[2]
        return Chars(others(kinds[kind]) if "_NOT_" in name else kinds[kind])


# What is not ASCII: whether it is a letter does not matter where more is kept clear of.
BEYOND: Ranges = ((128, LAST),)
