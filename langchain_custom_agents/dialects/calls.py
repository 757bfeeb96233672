"""Calls and answers in the forms that have no labels: JSON, expressions, brackets."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_custom_agents.dialects.brackets import closing, unescape_brackets
from langchain_custom_agents.dialects.form import VOCABULARY, plain_word
from langchain_custom_agents.dialects.lenient_json import BrokenJSONError, read_json, value_of
from langchain_custom_agents.dialects.names import bare, is_none, letters
from langchain_custom_agents.dialects.toolbox import Toolbox, ToolSpec

JSON_MENDED = "The JSON was mended."
KEYS = "The JSON used other keys."
EXPRESSION = "The call was written as an expression."
SEVERAL = "Several calls were made; the first was taken."


class NotGiven:
    """What stands in place of an input that was not written."""


@dataclass(frozen=True)
class Call:
    """A tool called, as far as the words alone tell.

    Args:
        name: The tool's name as it was said.
        given: The input: a text as it was written, a JSON value, or `NotGiven`.
        written: Whether the input is text as it was written, still to be read.
        positional: What an expression gives without names.
        repairs: What had to be mended.
    """

    name: str
    given: Any = NotGiven
    written: bool = False
    positional: tuple[Any, ...] | None = None
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Said:
    """An answer in a form without labels."""

    given: Any
    repairs: tuple[str, ...] = ()


def _keys(*roles: str) -> set[str]:
    return {plain_word(word) for role in roles for word in VOCABULARY[role]}


_NAME_KEYS = _keys("action") | {
    "tool", "toolname", "name", "function", "functionname", "actionname", "recipientname", "工具",
}  # fmt: skip
_INPUT_KEYS = _keys("input") | {
    "toolinput", "input", "arguments", "args", "parameters", "params", "kwargs", "toolarguments",
    "toolargs", "toolparameters", "functionarguments", "actionarguments", "actionargs",
    "actionparameters", "actioninputs", "inputs", "argument",
}  # fmt: skip
_ANSWER_KEYS = _keys("answer") | {"finalanswer", "answer", "response", "回答", "答え", "答案"}
_ASIDE_KEYS = _keys("thought", "question", "observation") | {
    "thought", "thoughts", "reasoning", "rationale", "plan", "id", "type", "callid", "toolcallid",
    "explanation", "reason", "comment", "status", "confidence", "step",
}  # fmt: skip
_HOLDERS = {
    "toolcall", "toolcalls", "functioncall", "functioncalls", "tooluse", "function", "action",
    "call", "calls", "tooluses", "actions",
}  # fmt: skip


def in_json(value: Any, toolbox: Toolbox, depth: int = 0) -> Call | Said | None:
    """Return the call or the answer that a JSON value is; None if it is neither.

    Example:
        >>> in_json({"tool_call": {"name": "Search", "arguments": {"q": "x"}}}, Toolbox()).given
        {'q': 'x'}
    """
    if isinstance(value, list):
        first = in_json(value[0], toolbox, depth + 1) if value and depth < 4 else None
        if isinstance(first, Call) and len(value) > 1:
            return Call(first.name, first.given, repairs=(*first.repairs, SEVERAL))
        return first
    if not isinstance(value, dict) or depth > 4:
        return None
    keys = {plain_word(key): key for key in value if isinstance(key, str)}
    answer = next((value[keys[key]] for key in keys if key in _ANSWER_KEYS), None)
    for key, spelled in keys.items():
        if key in _HOLDERS and isinstance(value[spelled], dict | list):
            inner = in_json(value[spelled], toolbox, depth + 1)
            if inner is not None:
                return inner
        if key in _NAME_KEYS and isinstance(value[spelled], str):
            if answer is not None and is_none(value[spelled]):
                break
            return _named(value, spelled, keys, toolbox)
    if answer is not None and all(key in _ANSWER_KEYS | _ASIDE_KEYS | _NAME_KEYS for key in keys):
        return Said(answer, (KEYS,))
    if len(value) == 1:
        name, given = next(iter(value.items()))
        if name in toolbox:
            return Call(name, given, repairs=(KEYS,))
    return None


def _named(
    value: Mapping[str, Any], spelled: str, keys: Mapping[str, str], toolbox: Toolbox
) -> Call | None:
    """Return the call that an object with a tool's name is."""
    name = value[spelled]
    exact = spelled == "action" and "action_input" in value
    repairs = () if exact else (KEYS,)
    inputs = [keys[key] for key in keys if key in _INPUT_KEYS and keys[key] != spelled]
    if len(inputs) == 1:
        given = value[inputs[0]]
        if isinstance(given, str) and inputs[0] == "arguments" and given.lstrip().startswith("{"):
            try:
                read = read_json(given)
                given = given if read.rest.strip() else read.value
            except BrokenJSONError:
                pass
        return None if _is_schema(given, toolbox.get(name)) else Call(name, given, repairs=repairs)
    rest = {
        keys[key]: value[keys[key]]
        for key in keys
        if keys[key] != spelled and key not in _ASIDE_KEYS and key not in _NAME_KEYS
    }
    spec = toolbox.get(name)
    if spec is not None and spec.args and set(rest) & set(spec.args):
        return Call(name, rest, repairs=(KEYS,))
    if rest or (plain_word(spelled) in ("name", "function") and spec is None):
        return None
    return Call(name, NotGiven, repairs=repairs)


def _is_schema(given: Any, spec: ToolSpec | None) -> bool:
    """Tell whether an input only describes what the tool takes: it was repeated, not called."""
    if not isinstance(given, dict) or given.get("type") != "object":
        return False
    takes_it = spec is not None and set(given) <= set(spec.args or ())
    return isinstance(given.get("properties"), dict) and not takes_it


_NAME = r"[^\W\d][\w.\-]{0,79}"
_EXPRESSION = re.compile(
    rf"\s{{0,9}}(?:print\s?\()?\s{{0,9}}(?:{_NAME}\s?=\s?)?(?:await\s)?"
    rf"({_NAME}(?:[ ]{_NAME}){{0,4}})[ ]?\("
)
_PARENTHESES = re.compile(r"[()\"']|\\.", re.DOTALL)
_KEYWORDS = re.compile(rf"\s{{0,9}}{_NAME}\s{{0,9}}=(?!=)")
# A name and an input in full-width brackets, all there is on a line.
_FULL_WIDTH = re.compile(
    rf"\s{{0,9}}(?P<name>{_NAME})\s?(?:（(?P<round>[^（）\n]+)）|【(?P<square>[^【】\n]+)】)"
    r"[ \t。]{0,9}(?=\n|\Z)"
)
# Arguments that only running it would tell.
_UNPACKED = re.compile(r"\s{0,9}\*{1,2}\s?[\[({]")
_LONGEST = 32_000


def in_expression(text: str) -> tuple[Call, str] | None:
    """Read a call such as `Search("x")` that a text begins with, and the words after it.

    Example:
        >>> in_expression('get_weather(city="Beijing") now')[0].given
        {'city': 'Beijing'}
    """
    found = _EXPRESSION.match(text)
    if len(text) > 4 * _LONGEST:
        return None
    if found is None:
        wide = _FULL_WIDTH.match(text)
        if wide is None:
            return None
        written = wide["round"] or wide["square"]
        return Call(wide["name"], written, written=True, repairs=(EXPRESSION,)), text[wide.end() :]
    end = _closed(text, found.end())
    if end is None or end - found.end() > _LONGEST:
        return None
    name = re.sub(r"\.call\Z", "", found[1])
    inner, rest = text[found.end() : end], text[end + 1 :]
    if found[0].lstrip().startswith("print"):
        rest = rest.lstrip().removeprefix(")")
    if not inner.strip():
        return Call(name, {}, repairs=(EXPRESSION,)), rest
    try:
        tree = ast.parse(f"f({inner.strip()})", mode="eval").body
        if isinstance(tree, ast.Call) and all(keyword.arg for keyword in tree.keywords):
            keywords = {str(keyword.arg): value_of(keyword.value) for keyword in tree.keywords}
            positional = tuple(value_of(value) for value in tree.args)
            if len(positional) == 1 and isinstance(tree.args[0], ast.BinOp):
                positional = (inner.strip(),)
            return Call(name, keywords, positional=positional, repairs=(EXPRESSION,)), rest
    except (SyntaxError, ValueError, RecursionError, MemoryError, ArithmeticError):
        pass
    if _KEYWORDS.match(inner) or _UNPACKED.match(inner):
        return None
    return Call(name, inner.strip(), written=True, repairs=(EXPRESSION,)), rest


def _closed(text: str, start: int) -> int | None:
    """Return where the parenthesis opened before `start` closes."""
    depth, quote = 1, ""
    for found in _PARENTHESES.finditer(text, start):
        mark = found[0]
        if quote:
            quote = "" if mark == quote else quote
        elif mark == '"' or (mark == "'" and text[found.start() - 1] in "(,= [{:"):
            quote = mark
        elif mark == "(":
            depth += 1
        elif mark == ")":
            depth -= 1
            if depth == 0:
                return found.start()
    return None


_BRACKETED = re.compile(r"[ \t\n`*_]{0,9}([^\[\]\n(){}:：\"“]{1,80}?)[ \t]{0,3}[`*_]{0,3}[\[［]")


def in_brackets(text: str) -> tuple[Call, str] | None:
    """Read a call such as `Search[x]` that a text begins with, and the words after it.

    Returns:
        The call and the words after it; None if there is none, or it does not close.

    Example:
        >>> in_brackets("Search[A], Search[B]")[0].given
        'A'
    """
    found = _BRACKETED.match(text)
    if found is None:
        return None
    rest = text[found.end() :]
    end = closing(rest)
    if end is None:
        end = rest.find("］") if found[0].endswith("［") else _last(rest)
    if end < 0:
        return None
    inner, after = unescape_brackets(rest[:end]).strip(), rest[end + 1 :]
    if inner.startswith("[") and closing(inner[1:]) == len(inner) - 2 and "," not in inner:
        inner = inner[1:-1]
    return Call(bare(found[1]), inner, written=True), after


def _last(rest: str) -> int:
    """Return the bracket at the end of the first line, where an inner one was left open."""
    line = rest.partition("\n")[0].rstrip(" \t`*_.")
    return len(line) - 1 if line.endswith("]") and not line.endswith("\\]") else -1


def is_finish(name: str, finish: str = "") -> bool:
    """Tell whether the name of an action means the answer.

    Example:
        >>> is_finish("final_answer"), is_finish("Search")
        (True, False)
    """
    key = letters(name) if len(name) <= 80 else ""
    return bool(key) and key in {letters(finish), *_FINISHES}


_FINISHES = _keys("answer") | {
    "finish", "finalanswer", "finalresponse", "完了", "終了", "完成", "结束", "結束",
}  # fmt: skip
