"""What a tool is called with: from a model's words to one text or named arguments."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_custom_agents.dialects.lenient_json import (
    BrokenJSONError,
    CutOffJSONError,
    read_json,
)
from langchain_custom_agents.dialects.moves import tidy
from langchain_custom_agents.dialects.names import letters
from langchain_custom_agents.dialects.toolbox import ToolSpec

UNFENCED = "A code fence around the input was removed."
UNQUOTED = "Quotation marks around the input were removed."
MENDED = "The JSON of the input was mended."
WORDS_AFTER = "Words after the input were cut."
RENAMED = "Arguments were renamed to those the tool takes."

_FENCED = re.compile(
    r"(```|~~~)[ \t]{0,3}(?:[A-Za-z0-9_+#.\-]{0,20}[ \t]{0,9}\n)?(.*?)"
    r"(?:\n[ \t]{0,8}|(?<=\S))\1[`~]{0,3}(?=\s|\Z)",
    re.DOTALL,
)
_OPEN_FENCE = re.compile(r"(?:```|~~~)[ \t]{0,3}[A-Za-z0-9_+#.\-]{0,20}[ \t]{0,9}(?:\n|\Z)")
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "”": "”", "‘": "’", "「": "」", "『": "』"}
_LIKE_JSON = re.compile(
    r"""\{\s{0,99}(?:["'“”][^"'“”\n]{0,99}["'“”]|\w{1,40})\s{0,9}:|\{\s{0,99}\}"""
)
_KEYWORD = re.compile(r"\A\s{0,9}(?:[-*•]\s{1,3})?([A-Za-z_]\w{0,63})\s{0,9}[:=：]\s{0,9}(?=\S)")
_LIKE_DATA = ("{", "[", '"', "'", "`", "“", "”", "「", "『")
# Arguments in tags of their own, and how a text begins that holds several.
_CHILD = re.compile(r"<([A-Za-z_]\w{0,63})>([^<]{0,9999})</\1>")
_STRUCTURED = ("{", "[", "<", '("', "('")
_WRAPPINGS = {"input", "kwargs", "args", "arguments", "parameters", "toolinput", "actioninput"}


class ArgumentsError(ValueError):
    """Arguments that do not fit the tool they are for."""


def read_input(text: str, spec: ToolSpec) -> tuple[str | dict[str, Any], tuple[str, ...]]:
    r"""Read an input that stands as text in a model's words.

    Args:
        text: The input as it was written.
        spec: The tool it is for.

    Returns:
        One text or named arguments, and what had to be mended.

    Raises:
        CutOffJSONError: If the input breaks off in the middle.
        BrokenJSONError: If it is JSON that cannot be read with certainty.
        ArgumentsError: If it does not fit the tool.

    Example:
        >>> read_input("```sql\nSELECT 1\n```", ToolSpec("query"))
        ('SELECT 1', ('A code fence around the input was removed.',))
    """
    text, repairs = tidy(text), []
    # Emphasis that ended with the label: "**Action Input: ** {...}".
    text = re.sub(r"\A(?:\*\*\s{1,9}|json\s{0,3}\n\s{0,9})(?=[{\[\"“])", "", text)
    emphasized = re.fullmatch(r"\*\*([^*\n]+)\*\*", text)
    if emphasized:
        repairs.append(UNQUOTED)
        text = tidy(emphasized[1])
    if text.startswith("\\") and text.lstrip("\\").startswith(_LIKE_DATA):
        return fitted(text[1:], spec), ()
    fenced = _FENCED.match(text)
    if fenced and "\n" not in text[fenced.end() :].strip("\n"):
        repairs.append(UNFENCED)
        if text[fenced.end() :].strip():
            repairs.append(WORDS_AFTER)
        text = tidy(fenced[2])
    elif _OPEN_FENCE.match(text):
        if text.count("```") + text.count("~~~") == 1:
            msg = "the input opens a code fence and does not close it"
            raise CutOffJSONError(msg)
        if fenced:
            repairs += [UNFENCED, WORDS_AFTER]
            text = tidy(fenced[2])
    if text.startswith("｛") and not spec.takes_text:
        text = "{" + text[1:]
    if text.startswith("{"):
        given, mended = _object(text, spec)
        repairs += mended
    else:
        given = _unquoted(text)
        if given != text:
            repairs.append(UNQUOTED)
    if isinstance(given, str) and (only := _only_keyword(given, spec)) is not None:
        given = only
    settled = fitted(given, spec)
    if isinstance(settled, dict) and isinstance(given, dict) and settled.keys() != given.keys():
        repairs.append(RENAMED)
    return settled, tuple(repairs)


def _object(text: str, spec: ToolSpec) -> tuple[str | dict[str, Any], list[str]]:
    """Read an input that begins with a brace: arguments, or a text that happens to."""
    try:
        found = read_json(text)
    except BrokenJSONError as error:
        several = bool(spec.args) and not spec.takes_text and len(spec.args or ()) > 1
        if several or (isinstance(error, CutOffJSONError) and _LIKE_JSON.match(text)):
            raise
        if _LIKE_JSON.match(text) and not spec.takes_text:
            raise
        return text, []
    if not isinstance(found.value, dict) or (not found.value and not _LIKE_JSON.match(text)):
        return text, []
    if found.rest[:1] in ("[", ".", "(") and (spec.takes_text or spec.args is None):
        # Code goes on with what it takes from the object.
        return text, []
    repairs = [MENDED] if found.repaired else []
    rest = found.rest.strip().strip("`~").strip()
    if rest:
        if rest[0] in "+-*/=^%<>&|.,)" and not _LIKE_JSON.match(text):
            return text, []
        repairs.append(WORDS_AFTER)
    if spec.takes_text and not spec.names_text(found.value):
        # A request body, say, or a value in code: the tool gets it to the letter.
        return text[: len(text) - len(found.rest)].rstrip(), [WORDS_AFTER] if rest else []
    return found.value, repairs


def _unquoted(text: str) -> str:
    """Take quotation marks off that stand around the whole text."""
    if len(text) < 2 or _QUOTES.get(text[0]) != text[-1]:
        return text
    mark, inner = text[0], text[1:-1]
    if mark == '"':
        try:
            found = read_json(text)
            if isinstance(found.value, str) and not found.rest:
                return found.value
        except BrokenJSONError:
            pass
    if len(text) >= 6 and text[:3] == text[-3:] == mark * 3:
        return text[3:-3]
    closing = text[-1]
    free = re.sub(r"\\.|(?<=\w)'(?=\w)", "", inner, flags=re.DOTALL)
    if mark in free or closing in free or inner.endswith("\\"):
        return text
    return inner.replace("\\" + closing, closing)


def fitted(given: Any, spec: ToolSpec) -> str | dict[str, Any]:
    """Return a value in the shape that a tool takes.

    Args:
        given: A JSON value.
        spec: The tool it is for.

    Returns:
        One text or named arguments.

    Raises:
        ArgumentsError: If the value does not fit what is known of the tool.

    Example:
        >>> weather = ToolSpec("weather", args={"city": {}, "days": {}}, required=("city",))
        >>> fitted({"City": "Kyoto"}, weather)
        {'city': 'Kyoto'}
    """
    known = None if spec.takes_text or spec.args is None else spec.args
    if isinstance(given, dict):
        return spec.fit(given) if known is None else _checked(given, spec)
    if given is None:
        return {}
    if known and len(known) == 1 and not isinstance(given, str):
        return {next(iter(known)): given}
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    if known is None or len(known) == 1:
        return text
    if not known:
        if is_nothing(text):
            return {}
        msg = "the tool takes no arguments"
        raise ArgumentsError(msg)
    return _from_text(text, spec)


def is_nothing(text: str) -> bool:
    """Tell whether an input says that there is none.

    Example:
        >>> is_nothing("None"), is_nothing("x")
        (True, False)
    """
    return letters(text) in {"", "none", "null", "na", "noinput", "nothing", "empty", "なし", "无"}


def _from_text(text: str, spec: ToolSpec) -> str | dict[str, Any]:
    """Read the text given to a tool of several arguments."""
    if text.lstrip().startswith("{"):
        found = read_json(text)
        if isinstance(found.value, dict) and not found.rest.strip():
            return _checked(found.value, spec)
    if text.startswith("[") and text.endswith("]") and (only := _only(text)) is not None:
        return _checked(only, spec)
    pairs = _keywords(text)
    if not pairs and not _CHILD.sub("", text).strip():
        pairs = {name: _plain(value) for name, value in _CHILD.findall(text)}
    if pairs:
        return _checked(pairs, spec)
    if text.startswith(_STRUCTURED):
        msg = f"the input must be a JSON object with {', '.join(spec.args or ())}"
        raise ArgumentsError(msg)
    if len(spec.required) == 1 and not is_nothing(text):
        return {spec.required[0]: text}
    if is_nothing(text) and not spec.required:
        return {}
    msg = f"the input must be a JSON object with {', '.join(spec.args or ())}"
    raise ArgumentsError(msg)


def _only(text: str) -> dict[str, Any] | None:
    """Return the one object that a list holds; None if it is anything else."""
    try:
        found = read_json(text)
    except BrokenJSONError:
        return None
    value = found.value
    is_one = isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict)
    return value[0] if is_one and not found.rest.strip() else None


def _keywords(text: str) -> dict[str, Any]:
    """Read lines or a list of `name=value` or `name: value`; empty if it is anything else."""
    pairs: dict[str, Any] = {}
    parts = (
        text.split("\n")
        if "\n" in text
        else re.split(r",(?=\s{0,9}[A-Za-z_]\w{0,63}\s{0,9}[:=])", text)
    )
    for part in parts[:64]:
        found = _KEYWORD.match(part)
        if found is None or found[1] in pairs:
            return {}
        pairs[found[1]] = _plain(part[found.end() :].strip().rstrip(","))
    return pairs


def _only_keyword(text: str, spec: ToolSpec) -> dict[str, Any] | None:
    """Read `query="x"` where `query` is all that a tool takes; None if it is anything else."""
    if spec.takes_text or not spec.args or len(spec.args) != 1:
        return None
    name = next(iter(spec.args))
    found = re.fullmatch(rf"{re.escape(name)}\s{{0,3}}[=:：]\s{{0,3}}(\S.*)", text, re.DOTALL)
    value = _unquoted(found[1]) if found else ""
    return {name: value} if found and value != found[1] else None


def _plain(written: str) -> Any:
    try:
        found = read_json(written)
    except BrokenJSONError:
        return _unquoted(written)
    return _unquoted(written) if found.rest.strip() else found.value


def _checked(given: dict[str, Any], spec: ToolSpec) -> dict[str, Any]:
    """Check arguments against those the tool takes; nearly right names are set right."""
    args = spec.args or {}
    if set(given) <= set(args) and set(spec.required) <= set(given):
        return given
    near: dict[str, Any] = {}
    for name, value in given.items():
        meant = name if name in args else _nearest(name, args)
        if meant is None or meant in near:
            near = {}
            break
        near[meant] = value
    if (near or not given) and set(spec.required) <= set(near):
        return near
    inner = next(iter(given.values())) if len(given) == 1 else None
    wrappings = _WRAPPINGS | {letters(spec.name)}
    if isinstance(inner, dict) and letters(next(iter(given))) in wrappings:
        return _checked(inner, spec)
    if len(args) == 1 and given:
        name, schema = next(iter(args.items()))
        if isinstance(schema, Mapping) and schema.get("type") == "object":
            return {name: given}
        if len(given) == 1 and letters(next(iter(given))) in _WRAPPINGS | {"query", "text", "arg1"}:
            return {name: inner}
    missing = [name for name in spec.required if name not in given]
    unknown = [name for name in given if name not in args]
    said = [f"{', '.join(missing)} is missing"] if missing else []
    said += [f"{', '.join(unknown)} is unknown"] if unknown else []
    msg = f"the arguments are {', '.join(args) or 'none'}; {'; '.join(said)}"
    raise ArgumentsError(msg)


def _nearest(name: str, args: Mapping[str, Any]) -> str | None:
    near = [known for known in args if letters(known) == letters(name) != ""]
    return near[0] if len(near) == 1 else None


def bound(
    positional: Sequence[Any], keywords: Mapping[str, Any], spec: ToolSpec
) -> str | dict[str, Any]:
    """Return what a tool is called with by an expression such as `weather("Kyoto", days=2)`.

    Raises:
        ArgumentsError: If the arguments do not fit what is known of the tool.

    Example:
        >>> bound(["Kyoto"], {}, ToolSpec("weather"))
        'Kyoto'
    """
    if not positional:
        return fitted(dict(keywords), spec)
    if len(positional) == 1 and not keywords:
        return fitted(positional[0], spec)
    names = list(spec.args or ())
    if (
        spec.takes_text
        or len(names) < len(positional)
        or set(names[: len(positional)]) & set(keywords)
    ):
        msg = "what is given without a name cannot be told apart"
        raise ArgumentsError(msg)
    return fitted({**dict(zip(names, positional, strict=False)), **keywords}, spec)


def read_arguments(text: str | None, spec: ToolSpec | None = None) -> str | dict[str, Any]:
    r"""Read the argument string of a provider's tool call.

    Args:
        text: The arguments as the model wrote them: JSON, or what it wrote in its place.
        spec: The tool, as far as it is known.

    Returns:
        Named arguments; a text, where only a tool of one argument can be meant and its name is
        not known.

    Raises:
        ValueError: If it cannot be known what was meant.

    Example:
        >>> read_arguments('{"a": 13, "b": 232 - 32,}')
        {'a': 13, 'b': 200}
        >>> read_arguments("print(1)", ToolSpec("python", args={"code": {}}))
        {'code': 'print(1)'}
    """
    spec = spec or ToolSpec("")
    text = tidy(text or "")
    if is_nothing(text):
        return {}
    fenced = _FENCED.fullmatch(text)
    if fenced:
        text = tidy(fenced[2])
    if text.startswith("{") and _LIKE_JSON.match(text):
        given = read_json(text)
        rest = given.rest.strip().strip("`~").strip()
        if isinstance(given.value, dict):
            if rest and not rest.startswith("{"):
                msg = "the arguments are followed by other words"
                raise ArgumentsError(msg)
            return given.value
    value: Any = text
    if text.startswith(("[", '"')) or re.fullmatch(r"-?\d{1,300}(?:\.\d{1,300})?|true|false", text):
        try:
            found = read_json(text)
            value = text if found.rest.strip() else found.value
        except BrokenJSONError:
            value = text
    if isinstance(value, str) and value != text and value.lstrip().startswith("{"):
        try:
            twice = read_json(value)
        except BrokenJSONError:
            twice = None
        if twice is not None and isinstance(twice.value, dict) and not twice.rest.strip():
            return twice.value
    return _only_argument(value, spec)


def _only_argument(value: Any, spec: ToolSpec) -> str | dict[str, Any]:
    """Give a value to the one argument of a tool."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if spec.takes_text or spec.args is None:
        return text
    names = list(spec.args)
    if len(names) != 1:
        names = list(spec.required) if len(spec.required) == 1 else []
    if not names:
        expected = ", ".join(spec.args) or "no arguments"
        msg = f"the arguments must be a JSON object with {expected}"
        raise ArgumentsError(msg)
    return {names[0]: value}
