r"""Reading the JSON that models write: strictly first, then as Python, then with `json_repair`.

Nothing may be lost or invented on the way: what a repair returns must hold exactly the words
that were written. Input that breaks off inside a text is cut off, and is never completed.
"""

import ast
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

# What is longer than this, or nested deeper, is read strictly or not at all: repairing costs more
# than linear time in the worst case.
_LONGEST, _DEEPEST = 32_000, 40

# Commands of LaTeX that begin like an escape of JSON, and so are damaged by a strict reading.
_COMMANDS = (
    r"n(?:abla|otin)|r(?:ight\w*|ho|angle|floor|ceil)"
    r"|t(?:imes|ext\w*|heta|au|riangle\w*|an(?=[(\\{^]))"
)
_MEANT = rf'(?!{_COMMANDS}(?![A-Za-z]))[nrt]|["\\/]|u[0-9a-fA-F]{{4}}'
_ESCAPE = re.compile(rf"(\\(?:{_MEANT}))|(\\')|\\")
_DOUBTFUL = re.compile(rf"(?=\\)(?<!\\)(?:\\\\){{0,99}}\\(?!{_MEANT})")
_DRIVE = re.compile(
    r"(?=[C-E])(?<![A-Za-z0-9])([C-E]:)((?:\\(?!u[0-9a-fA-F]{4})[^\\\s\"'<>|*?:/]{1,80})+)"
)
_DAMAGED = re.compile(rf"\\\\|\\[btf]|(?<=[C-E]:)\\[nr]|\\(?={_COMMANDS}(?![A-Za-z]))[nr]")
_CODE_POINTS = {
    "\\b": "\\u0008", "\\t": "\\u0009", "\\n": "\\u000a", "\\f": "\\u000c", "\\r": "\\u000d",
}  # fmt: skip
_COMMENT = re.compile(
    r"""("(?:[^"\\]|\\.)*(?:"|\Z)|'(?:[^'\\\n]|\\.)*(?:'|\n|\Z))"""
    r"|(?:(?<=[\s,{\[])|^)(?://[^\n]*|\#[^\n]*|/\*.*?(?:\*/|\Z))",
    re.DOTALL | re.MULTILINE,
)
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")
# A text in backticks, as JavaScript writes it.
_TEMPLATE = re.compile(r"(?<=[:,\[\s])`([^`]*)`(?=\s{0,99}[,}\]])")
# A text that swallowed the marks between two others.
_SWALLOWED = re.compile(r"""["'“”]\s{0,9}:\s{0,9}["'“”]""")
_EMPTY = re.compile(r"""(["'])\1|“”""")
# JSON goes on after a bracket that stood inside a text.
_GOES_ON = re.compile(r"""["'“”]\s{0,9}(?:[,:}\]]|\Z)""")
_WRITTEN = re.compile(r"\\(?:u[0-9a-fA-F]{4}|[nrtbf])|[\s\\\"'“”`]")
_PLAIN = re.compile(r"""[^\\\n"'“”`]{1,20}""")
_OPERATOR = re.compile(r"[()+*/=]")
_STRUCTURE = re.compile(r"""["'{}\[\]]|\\.""", re.DOTALL)
_WORD = re.compile(r"[^\W_]+")
_ESCAPED = re.compile(r"\\(?:u[0-9a-fA-F]{4}|[^\w\s]|[nrt])")
_PAIRS = {"{": "}", "[": "]"}
_NAMES: dict[str, Any] = {
    "true": True, "True": True, "false": False, "False": False,
    "null": None, "None": None, "undefined": None,
}  # fmt: skip


# Texts, and the marks of East Asian keyboards that may stand for those of JSON between them.
_FULL_WIDTH = re.compile(
    r""""(?:[^"\\]|\\.)*"|'(?:[^'\\\n]|\\.)*'|“[^“”"\\]*”|「[^「」"\\]*」|『[^『』"\\]*』|[｛｝［］：，]""",
    re.DOTALL,
)
_HALVES = dict(zip("｛｝［］：，", "{}[]:,", strict=True))


class BrokenJSONError(ValueError):
    """Text that begins like JSON and cannot be read with certainty."""


class CutOffJSONError(BrokenJSONError):
    """JSON that breaks off in the middle."""


@dataclass(frozen=True)
class Value:
    """A value read at the beginning of a text.

    Args:
        value: The value.
        rest: The text after it.
        repaired: Whether it was not strict JSON.
    """

    value: Any
    rest: str = ""
    repaired: bool = False


def to_json(value: Any) -> str:
    r"""Write a value as one line of JSON that can be told from a model's own backslashes.

    A form feed is written `\u000c`, never `\f`, so that `\frac` in JSON can only be what it
    looks like; likewise for a tab, a backspace, and a line break before "abla".

    Example:
        >>> to_json({"a": "x\ty"})
        '{"a": "x\\u0009y"}'
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    return _DAMAGED.sub(lambda found: _CODE_POINTS.get(found[0], found[0]), text)


def is_plain(text: str) -> bool:
    r"""Tell whether JSON text is free of escapes such as \f that a model may not have meant."""
    return not any(found[0] != "\\\\" for found in _DAMAGED.finditer(text)) and not (
        _DOUBTFUL.search(text) or _DRIVE.search(text)
    )


def read_json(text: str) -> Value:
    r"""Read the value that a text begins with.

    Args:
        text: Text that begins with a value, perhaps followed by other words.

    Returns:
        The value, the text after it, and whether it had to be mended.

    Raises:
        CutOffJSONError: If the text breaks off inside the value.
        BrokenJSONError: If no value can be read with certainty.

    Example:
        >>> read_json(r'{"a": "\frac{1}{2}", "b": "C:\Users"} and so on').value
        {'a': '\\frac{1}{2}', 'b': 'C:\\Users'}
    """
    text = text.lstrip()
    try:
        return _strict(text)
    except RecursionError as error:
        msg = "the JSON is nested too deeply"
        raise BrokenJSONError(msg) from error
    except ValueError:
        pass
    if len(text) > _LONGEST:
        end = _balanced(text)
        if end is None or end > _LONGEST:
            msg = "the JSON is not valid and too long to be repaired"
            raise (CutOffJSONError if end is None else BrokenJSONError)(msg)
        text, beyond = text[:end], text[end:]
    else:
        beyond = ""
    found = _mended(text)
    return Value(found.value, found.rest + beyond, repaired=True)


def _mended(text: str) -> Value:
    # Each mark is as long as the one it stands for, so places stay the same.
    halved = _FULL_WIDTH.sub(lambda found: _halved(found[0]), text)
    if halved != text:
        with suppress(ValueError):
            value = _strict(halved)
            return Value(value.value, text[len(text) - len(value.rest) :])
        close = _balanced(halved)
        python = _as_python(halved[:close]) if close else None
        if python is not None:
            return Value(python.value, text[close:])
    end = _balanced(text)
    for candidate in _regions(text, end):
        found = _as_python(candidate)
        if found is None:
            found = _repaired(candidate)
        if found is not None:
            return Value(found.value, text[len(candidate) :])
    if end is None:
        return _completed(text)
    msg = "the JSON is not valid"
    raise BrokenJSONError(msg)


def _halved(found: str) -> str:
    return _HALVES.get(found) or (found if found[0] in "\"'" else f'"{found[1:-1]}"')


def _strict(text: str) -> Value:
    decoder = json.JSONDecoder(strict=False, parse_int=_whole, object_pairs_hook=_unique)
    if not _DOUBTFUL.search(text) and not _DRIVE.search(text):
        value, end = decoder.raw_decode(text)
        return Value(value, text[end:], repaired=False)
    guarded = _guarded(text, quote="'")
    value, end = decoder.raw_decode(guarded)
    return Value(value, guarded[end:], repaired=True)


def _guarded(text: str, quote: str) -> str:
    """Double every backslash that was not meant as an escape."""
    text = _DRIVE.sub(lambda found: found[1] + found[2].replace("\\", "\\\\"), text)
    return _ESCAPE.sub(lambda found: found[1] or (quote if found[2] else "\\\\"), text)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float("inf")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        msg = "the JSON gives one name twice"
        raise BrokenJSONError(msg)
    return made


def _balanced(text: str) -> int | None:
    """Return where the bracket that the text begins with is closed; None if it is not."""
    depth, quote = 0, ""
    for found in _STRUCTURE.finditer(text):
        mark = found[0]
        if quote:
            if mark == quote:
                quote = ""
        elif mark == '"' or (mark == "'" and _opens(text, found.start())):
            quote = mark
        elif mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth <= 0:
                return found.end()
    return None


def _opens(text: str, at: int) -> bool:
    """Tell whether an apostrophe begins a quotation, rather than standing in a word."""
    return at == 0 or text[at - 1] in " \t\n,:{[("


def _regions(text: str, end: int | None) -> Iterable[str]:
    """List the texts that may be the whole value: to its closing bracket, or to the last one."""
    if end is not None:
        yield text[:end]
    last = text.rfind(_PAIRS.get(text[:1], "}")) + 1
    if last > 1 and last != end and not _is_torn(text, last):
        yield text[:last]


def _is_torn(text: str, at: int) -> bool:
    """Tell whether a bracket stands within a text, so that the JSON does not end there."""
    quotes = re.sub(r"\\.", "", text[:at], flags=re.DOTALL).count('"')
    return quotes % 2 == 1 or _GOES_ON.search(text, at) is not None


def _nested(text: str) -> int:
    depth = deepest = 0
    for mark in re.findall(r"[{}\[\]()]", text):
        depth += 1 if mark in "{[(" else -1
        deepest = max(deepest, depth)
    return deepest


def _as_python(text: str) -> Value | None:
    if _nested(text) > _DEEPEST:
        return None
    text = _TEMPLATE.sub(lambda found: json.dumps(found[1], ensure_ascii=False), text)
    guarded = _guarded(text, quote="\\'")
    # An apostrophe inside a word ends no quotation.
    for candidate in dict.fromkeys((guarded, _APOSTROPHE.sub(r"\'", guarded))):
        with suppress(ValueError):
            return Value(literal(candidate))
    return None


def literal(text: str) -> Any:
    """Read a Python or JSON literal; arithmetic on numbers is worked out.

    Raises:
        ValueError: If it is anything but a literal.

    Example:
        >>> literal("{'a': true, 'b': (3 + 4) * 2}")
        {'a': True, 'b': 14}
    """
    try:
        return value_of(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError, OverflowError, ArithmeticError) as error:
        msg = "it is not a literal"
        raise ValueError(msg) from error


def value_of(node: ast.expr) -> Any:
    """Return what a literal stands for.

    Raises:
        ValueError: If the expression is not a literal.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | None):
        return node.value
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.List | ast.Tuple):
        return [value_of(item) for item in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [value_of(key) for key in node.keys if key is not None]
        if len({str(key) for key in keys}) == len(keys):
            return {str(key): value_of(value) for key, value in zip(keys, node.values, strict=True)}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = value_of(node.operand)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        return _worked_out(node)
    msg = "it is not a literal"
    raise ValueError(msg)


def _worked_out(node: ast.BinOp) -> Any:
    left, right = value_of(node.left), value_of(node.right)
    if isinstance(left, str) and isinstance(right, str) and isinstance(node.op, ast.Add):
        return left + right
    if all(isinstance(side, int | float) and not isinstance(side, bool) for side in (left, right)):
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult() if abs(left) < 1e150 and abs(right) < 1e150:
                return left * right
            case ast.Div():
                return left / right
    msg = "it is not a literal"
    raise ValueError(msg)


def _repaired(text: str) -> Value | None:
    """Let `json_repair` mend the text; only what holds exactly the words of the text counts."""
    if not text.endswith(("}", "]")) or _nested(text) > _DEEPEST:
        return None
    import json_repair

    guarded = _guarded(text, quote="'")
    for candidate in dict.fromkeys((guarded, _COMMENT.sub(r"\1", guarded))):
        try:
            value = json_repair.loads(candidate)
        except (ValueError, RecursionError, IndexError, TypeError):
            continue
        if not value or not isinstance(value, dict if text.startswith("{") else list):
            continue
        leaves = list(_texts(value))
        if any(_SWALLOWED.search(leaf) or _is_code(leaf, candidate) for leaf in leaves):
            continue
        if not _are_whole(leaves, candidate):
            continue
        # A value that is not there is not an empty text.
        if "" in leaves and not _EMPTY.search(candidate):
            continue
        if _words(json.dumps(value, ensure_ascii=False)) == _words(candidate):
            return Value(value)
    return None


def _is_code(leaf: str, source: str) -> bool:
    """Tell whether a text was an expression in the source, rather than a text in quotes."""
    begins = _PLAIN.match(leaf)
    if begins is None or not _OPERATOR.search(leaf):
        return False
    return not any(quote + begins[0] in source for quote in ('"', "'", "“", "”", "`"))


def _are_whole(leaves: list[str], source: str) -> bool:
    """Tell whether texts stand in the source as they are, and without the marks that end them."""
    plain, bare = source.replace("\\", ""), _WRITTEN.sub("", source)
    ends = (leaf[-12:].rpartition("\n")[2].rpartition("\\")[2] for leaf in leaves)
    return all(
        any(end + mark in plain for mark in "\"'”`") for end in ends if end.endswith(('"', "'"))
    ) and ("\\u" in source or all(_WRITTEN.sub("", leaf) in bare for leaf in leaves))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _words(text: str) -> list[str]:
    """List the words that carry meaning, whatever stands between and around them."""
    words = _WORD.findall(_ESCAPED.sub(" ", text).casefold())
    return ["null" if word == "none" else word for word in words]


def _completed(text: str) -> Value:
    """Close the brackets of JSON that ends after a whole value; anything else is cut off."""
    missing: list[str] = []
    quote = ""
    for found in _STRUCTURE.finditer(text):
        mark = found[0]
        if quote:
            quote = "" if mark == quote else quote
        elif mark == '"':
            quote = mark
        elif mark in "{[":
            missing.append(_PAIRS[mark])
        elif mark in "}]" and missing:
            missing.pop()
    bare = text.rstrip().rstrip("`~").rstrip()
    if not quote and bare.endswith(('"', "}", "]")) and 0 < len(missing) <= _DEEPEST:
        try:
            return Value(_strict(bare + "".join(reversed(missing))).value)
        except (ValueError, RecursionError):
            pass
    msg = "the JSON breaks off"
    raise CutOffJSONError(msg)
