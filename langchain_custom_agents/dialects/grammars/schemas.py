r"""From the JSON schemas of a tool's arguments to rules, spelled as `to_json` spells JSON.

What a grammar cannot hold is left to the tool's own check: `format`, `multipleOf`, `uniqueItems`,
bounds of numbers that are far apart, names beyond the declared ones, `oneOf` meaning exactly one.
A text of limited length, or of a pattern, holds no line break.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_custom_agents.dialects.brackets import closing
from langchain_custom_agents.dialects.grammars.nodes import (
    LINE,
    Chars,
    Choice,
    Except,
    Literal,
    Node,
    Ref,
    Repeat,
    either,
    many,
    maybe,
    none_of,
    one_of,
    others,
    ranges_of,
    seq,
    word,
)
from langchain_custom_agents.dialects.grammars.nodes import Sequence as Row
from langchain_custom_agents.dialects.grammars.patterns import Pattern
from langchain_custom_agents.dialects.grammars.texts import space
from langchain_custom_agents.dialects.lenient_json import to_json

# Named arguments may come in any order; each more of them doubles the rules for that.
_ANY_ORDER = 6
# As many whole numbers are listed one by one.
_FEW = 200

_CONTROL = "".join(map(chr, range(32)))
_HEX = Chars(ranges_of([(48, 57), (65, 70), (97, 102)]))
_LOW = Chars(ranges_of([(48, 57), (65, 67), (69, 70), (97, 99), (101, 102)]))
_CODE = seq(
    "\\u",
    either(seq(_LOW, many(_HEX, 3, 3)), seq(one_of("dD"), one_of("01234567"), many(_HEX, 2, 2))),
)


class UnwritableSchemaError(ValueError):
    """A schema that no grammar can hold."""


class UnbalancedError(Exception):
    """A text with brackets that must be escaped."""


class Schemas:
    """The rules of JSON, and of the schemas asked for.

    Args:
        rules: Where the rules are put.
        prefix: What their names begin with.
        brackets: How JSON stands: "free", or within brackets with its own "paired" or "escaped".
    """

    def __init__(self, rules: dict[str, Node], prefix: str = "", brackets: str = "free") -> None:
        self.rules, self.prefix, self.brackets = rules, prefix, brackets
        self.left, self.right = ("\\[", "\\]") if brackets == "escaped" else ("[", "]")

    # Texts.

    def text(self, least: int = 0) -> Node:
        """Return any text in quotation marks; with a `least` of 1, one that is not blank."""
        name = "WORDS" if least else "STRING"
        if self.brackets == "free":
            return self._rule(name, lambda: seq('"', self._body(least), '"'))
        # With brackets that pair up it is no terminal; then the other must not be one either, as
        # the longer terminal would be taken for both.
        if self.brackets == "paired":
            return self._rule(name.lower(), lambda: self._paired(least))
        body = self._rule(f"{name}_BODY", lambda: self._body(least))
        return self._rule(name.lower(), lambda: seq('"', body, '"'))

    def _plain(self) -> Node:
        if self.brackets == "free":
            return none_of('"\\' + _CONTROL)
        plain = none_of('"\\[]' + _CONTROL)
        return either(plain, "\\[", "\\]") if self.brackets == "escaped" else plain

    def _unit(self) -> Node:
        slash = one_of('"\\/nr')
        return either(self._plain(), seq("\\", slash), _CODE)

    def _body(self, least: int = 0, *, before_bracket: bool = False) -> Node:
        r"""Return what stands in a text, without escapes that may be LaTeX or a path.

        See `is_plain`: `\nabla` and `C:\new` are what models write for the words themselves.
        """
        units = many(self._unit())
        command = either(
            *("\\n" + rest for rest in ("abla", "otin")),
            *("\\r" + rest for rest in ("ho", "ight", "angle", "floor", "ceil")),
        )
        commands = [
            seq(units, command, LINE),
            seq(units, Chars(((67, 69),)), ":\\", one_of("nr"), LINE),
        ]
        if least:
            marks = (chr(at) for low, high in space().ranges for at in range(low, high + 1))
            codes = (seq("\\u", word(f"{ord(mark):04x}")) for mark in ("\n", "\r", *marks))
            commands.append(many(either(space(), "\\n", "\\r", *codes)))
        if before_bracket:
            commands.append(seq(units, "\\\\"))
        return Except(units, tuple(commands))

    def _paired(self, least: int) -> Node:
        piece = self._rule("PIECE", lambda: self._body(before_bracket=True))
        last = self._rule("PIECE_END", self._body)
        group = Ref(self._named("group"))
        self.rules[group.name] = seq("[", many(seq(piece, group)), piece, "]")
        body = self._rule("PIECE_WORDS", lambda: self._body(least)) if least else last
        return either(seq('"', body, '"'), seq('"', many(seq(piece, group), 1), last, '"'))

    def literal(self, value: Any) -> Node:
        """Return one value, spelled as it is."""
        text = to_json(value)
        if self.brackets == "paired":
            if "\\[" in text or "\\]" in text or closing(text + " ]") != len(text) + 1:
                raise UnbalancedError
        elif self.brackets == "escaped":
            text = text.replace("[", "\\[").replace("]", "\\]")
        return Literal(text)

    # Any value.

    def value(self) -> Node:
        """Return any JSON value."""
        return self._rule(
            "value",
            lambda: either(
                self.text(), self.number(), self.boolean(), "null", self.object(), self.array()
            ),
        )

    def boolean(self) -> Node:
        """Return true or false."""
        return either("true", "false")

    def whole(self) -> Node:
        """Return a whole number."""
        return self._rule("WHOLE", self._whole)

    def _whole(self) -> Node:
        digits = seq(Chars(((49, 57),)), many(Chars(((48, 57),)), 0, 40))
        return seq(maybe("-"), either("0", digits))

    def number(self) -> Node:
        """Return a number."""
        digit = Chars(((48, 57),))
        small = seq("-", many(digit, 1, 3))
        high = either(seq(one_of("12"), digit, digit), seq("30", one_of("012345678")))
        large = seq(maybe("+"), either(many(digit, 1, 2), high))
        exponent = seq(one_of("eE"), either(small, large))
        return self._rule(
            "NUMBER",
            lambda: seq(self._whole(), maybe(seq(".", many(digit, 1, 30))), maybe(exponent)),
        )

    def array(self) -> Node:
        """Return a list of any values."""

        def rule() -> Node:
            rest = many(seq(", ", self.value()))
            return seq(self.left, maybe(seq(self.value(), rest)), self.right)

        return self._rule("array", rule)

    def object(self, values: Node | None = None) -> Node:
        """Return an object of any names; its values are of one kind."""
        if values is None:
            return self._rule("object", lambda: self._mapping(self.value()))
        return self._mapping(values)

    def _mapping(self, values: Node) -> Node:
        pair = seq(self.text(), ": ", values)
        return seq("{", maybe(seq(pair, many(seq(", ", pair)))), "}")

    # What a schema says.

    def arguments(
        self, properties: Mapping[str, Any], required: Sequence[str], definitions: Mapping[str, Any]
    ) -> Node:
        """Return the object of a tool's arguments."""
        schema = {"type": "object", "properties": properties, "required": list(required)}
        return self.of(schema, definitions)

    def of(self, schema: Any, definitions: Mapping[str, Any]) -> Node:
        """Return what a schema admits.

        Raises:
            UnwritableSchemaError: If no grammar can hold it.
        """
        if schema is True or schema is None or schema == {}:
            return self.value()
        if not isinstance(schema, Mapping):
            msg = f"The schema {schema!r} admits nothing; leave the argument out."
            raise UnwritableSchemaError(msg)
        if "$ref" in schema:
            return self._referred(str(schema["$ref"]), definitions)
        if "const" in schema:
            return self.literal(schema["const"])
        if "enum" in schema:
            return either(*(self.literal(value) for value in schema["enum"]))
        for union in ("anyOf", "oneOf"):
            if union in schema:
                return either(*(self.of(each, definitions) for each in schema[union]))
        if "allOf" in schema:
            return self.of(_merged(schema, definitions), definitions)
        if "not" in schema:
            msg = "A schema with `not` cannot be written as a grammar; check it in the tool."
            raise UnwritableSchemaError(msg)
        kind = schema.get("type") or _kind_of(schema)
        if isinstance(kind, list):
            return either(*(self.of({**schema, "type": each}, definitions) for each in kind))
        match kind:
            case "string":
                return self._string(schema)
            case "integer":
                return self._integer(schema)
            case "number":
                return self.number()
            case "boolean":
                return self.boolean()
            case "null":
                return Literal("null")
            case "array":
                return self._array(schema, definitions)
            case "object":
                return self._object(schema, definitions)
        if kind is None:
            return self.value()
        msg = (
            f"{kind!r} is no type of JSON schemas; use string, integer, number, boolean, null, "
            "array or object."
        )
        raise UnwritableSchemaError(msg)

    def _referred(self, reference: str, definitions: Mapping[str, Any]) -> Node:
        name = reference.rpartition("/")[2]
        if name not in definitions:
            msg = (
                f"The schema refers to {reference!r}, which is not among its definitions "
                f"({', '.join(definitions) or 'there are none'})."
            )
            raise UnwritableSchemaError(msg)
        schema = definitions[name]
        plain = "".join(mark if mark.isalnum() and mark.isascii() else "-" for mark in name.lower())
        key = json.dumps(schema, sort_keys=True, default=str)
        return self._rule(f"def-{plain}", lambda: self.of(schema, definitions), key)

    def _string(self, schema: Mapping[str, Any]) -> Node:
        if "pattern" in schema:
            return self._pattern(str(schema["pattern"]))
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        if most is None and not least:
            return self.text()
        unit = either(self._plain(), seq("\\", one_of('"\\/')), _CODE)
        if self.brackets == "paired":
            unit = either(self._plain(), seq("\\", one_of('"/')), _CODE)
        return self._rule(
            "LIMITED", lambda: seq('"', many(unit, least, most), '"'), f"{least} {most}"
        )

    def _pattern(self, source: str) -> Node:
        pattern = Pattern(source)
        around = many(either(self._plain(), seq("\\", one_of('"/')), _CODE))
        start = Literal("") if pattern.from_start else around
        end = Literal("") if pattern.to_end else around
        spelled = seq('"', start, self._spelled(pattern.node), end, '"')
        return self._rule("PATTERN", lambda: spelled, source)

    def _spelled(self, node: Node) -> Node:
        """Spell the characters of a pattern as JSON does."""
        match node:
            case Literal(text):
                return seq(*(self._mark(mark) for mark in text))
            case Chars(ranges):
                special = '"\\' + _CONTROL + ("" if self.brackets == "free" else "[]")
                bare = Chars(others(ranges_of((*others(ranges), *one_of(special).ranges))))
                inside = [mark for mark in '"\\[]' if mark in special and _holds(ranges, mark)]
                if self.brackets == "paired":
                    inside = [mark for mark in inside if mark == '"']
                plain = [bare] if bare.ranges else []
                return either(*plain, *(self._mark(mark) for mark in inside))
            case Row(items):
                return seq(*(self._spelled(item) for item in items))
            case Choice(items):
                return either(*(self._spelled(item) for item in items))
            case Repeat(item, least, most):
                return many(self._spelled(item), least, most)
        return node

    def _mark(self, mark: str) -> Node:
        if mark in '"\\':
            return Literal("\\" + mark)
        if mark in "[]":
            return self.literal(mark) if self.brackets == "free" else self._bracket(mark)
        return Literal(json.dumps(mark, ensure_ascii=False)[1:-1])

    def _bracket(self, mark: str) -> Node:
        if self.brackets == "paired":
            raise UnbalancedError
        return Literal("\\" + mark)

    def _integer(self, schema: Mapping[str, Any]) -> Node:
        low, high = _bounds(schema)
        if low is not None and high is not None and 0 <= high - low <= _FEW:
            return either(*(str(each) for each in range(low, high + 1)))
        if low is not None and low >= 0:
            digits = seq(Chars(((49, 57),)), many(Chars(((48, 57),)), 0, 30))
            return digits if low == 1 else either("0", digits)
        return self.whole()

    def _array(self, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Node:
        first = [self.of(each, definitions) for each in schema.get("prefixItems", ())]
        if first:
            rows = (seq(", ", each) for each in first[1:])
            return seq(self.left, first[0], *rows, self.right)
        item = self.of(schema.get("items", True), definitions)
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        if most == 0:
            return Literal(self.left + self.right)
        rest = many(seq(", ", item), max(least - 1, 0), None if most is None else most - 1)
        inside = seq(item, rest)
        return seq(self.left, inside if least else maybe(inside), self.right)

    def _object(self, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Node:
        properties = schema.get("properties") or {}
        if not properties:
            more = schema.get("additionalProperties", True)
            if more is False or "properties" in schema:
                return Literal("{}")
            return self.object(None if more in (True, {}) else self.of(more, definitions))
        required = set(schema.get("required", ()))
        pairs = [
            (seq(self.literal(name), ": ", self.of(each, definitions)), name in required)
            for name, each in properties.items()
        ]
        return seq("{", self._pairs(tuple(pairs), tuple(range(len(pairs))), first=True), "}")

    def _pairs(
        self, pairs: tuple[tuple[Node, bool], ...], left: tuple[int, ...], *, first: bool
    ) -> Node:
        """Return what may still follow: in any order if there are few, else in theirs."""
        any_order = len(pairs) <= _ANY_ORDER
        ways: list[Node] = []
        for place, number in enumerate(left):
            node, needed = pairs[number]
            rest = left[:place] + left[place + 1 :] if any_order else left[place + 1 :]
            lead = seq(node) if first else seq(", ", node)
            ways.append(seq(lead, self._pairs(pairs, rest, first=False)))
            if needed and not any_order:
                break
        if not any(pairs[number][1] for number in left):
            ways.append(Literal(""))
        key = repr((pairs, left, first))
        return ways[0] if len(ways) == 1 else self._rule("pairs", lambda: either(*ways), key)

    # Names.

    def _named(self, name: str) -> str:
        prefix = self.prefix.upper() if name.isupper() else self.prefix
        return f"{prefix}{name}"

    def _rule(self, name: str, make: Callable[[], Node], key: str | None = None) -> Ref:
        """Return a reference to a rule, which is made when it is first asked for."""
        known: dict[str, str] = self.__dict__.setdefault("_known", {})
        whole = f"{name}\0{key or ''}"
        if whole not in known:
            taken = len([each for each in known if each.startswith(f"{name}\0")])
            known[whole] = self._named(f"{name}-{taken + 1}" if taken else name)
            self.rules[known[whole]] = Literal("")
            self.rules[known[whole]] = make()
        return Ref(known[whole])


def _holds(ranges: Sequence[tuple[int, int]], mark: str) -> bool:
    return any(low <= ord(mark) <= high for low, high in ranges)


def _bounds(schema: Mapping[str, Any]) -> tuple[int | None, int | None]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None and isinstance(schema.get("exclusiveMinimum"), int | float):
        low = schema["exclusiveMinimum"] + 1
    if high is None and isinstance(schema.get("exclusiveMaximum"), int | float):
        high = schema["exclusiveMaximum"] - 1
    return (None if low is None else int(low)), (None if high is None else int(high))


def _kind_of(schema: Mapping[str, Any]) -> str | None:
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else None


def _merged(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Join the parts of `allOf` into one schema, as far as they are about different things."""
    whole: dict[str, Any] = {}
    for part in ({**schema, "allOf": []}, *schema["allOf"]):
        said = dict(part)
        said.pop("allOf", None)
        if "$ref" in said:
            said = {**definitions.get(str(said.pop("$ref")).rpartition("/")[2], {}), **said}
        for key, value in said.items():
            if key == "properties":
                whole[key] = {**whole.get(key, {}), **value}
            elif key == "required":
                whole[key] = [*whole.get(key, []), *value]
            else:
                whole[key] = value
    return whole
