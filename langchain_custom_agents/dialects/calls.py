"""Calls and answers in the forms that have no labels: JSON, tags, expressions, brackets."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from langchain_custom_agents.dialects.brackets import closing, unescape_brackets
from langchain_custom_agents.dialects.form import VOCABULARY, plain_word
from langchain_custom_agents.dialects.lenient_json import BrokenJSONError, read_json, value_of
from langchain_custom_agents.dialects.names import bare, is_none, letters
from langchain_custom_agents.dialects.toolbox import Toolbox

JSON_MENDED = "The JSON was mended."
KEYS = "The JSON used other keys."
WRAPPED = "The call stood in the tags of another form."
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


@dataclass(frozen=True)
class Found:
    """A call or an answer and where it stands in a text.

    Args:
        heard: The call or the answer.
        start: Where it begins.
        rest: The words after it.
    """

    heard: Call | Said
    start: int
    rest: str


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
_ANSWER_KEYS = _keys("answer") | {"finalanswer", "answer", "回答", "答え", "答案"}
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
        return Call(name, given, repairs=repairs)
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


_NAME = r"[^\W\d][\w.\-]{0,79}"
_EXPRESSION = re.compile(
    rf"\s{{0,9}}(?:print\s?\()?\s{{0,9}}(?:{_NAME}\s?=\s?)?(?:await\s)?"
    rf"({_NAME}(?:[ ]{_NAME}){{0,4}})[ ]?\("
)
_PARENTHESES = re.compile(r"[()\"']|\\.", re.DOTALL)
_KEYWORDS = re.compile(rf"\s{{0,9}}{_NAME}\s{{0,9}}=(?!=)")
_LONGEST = 32_000


def in_expression(text: str) -> tuple[Call, str] | None:
    """Read a call such as `Search("x")` that a text begins with, and the words after it.

    Example:
        >>> in_expression('get_weather(city="Beijing") now')[0].given
        {'city': 'Beijing'}
    """
    found = _EXPRESSION.match(text)
    if found is None or len(text) > 4 * _LONGEST:
        return None
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
    if _KEYWORDS.match(inner):
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


_OPEN_CALL = re.compile(
    r"(?=[<\[f])(?<!\\)(?:"
    r"<(?P<tag>tool_call|tool_calls|function_call|function_calls|functioncall|tool_use|tool_code)>"
    r"|<\|(?P<token>python_tag|tool_call|tool_calls|tool_call_start|tool_call_begin)\|>"
    r"|(?P<mistral>\[TOOL_CALLS\])|(?P<phi>(?<![\w.])functools(?=\[))"
    r"|<function=(?P<function>[\w.\-]{1,80})>"
    r"|<(?:antml:)?invoke\sname=[\"'](?P<invoke>[\w.\-]{1,80})[\"']>"
    r"|<(?P<tool>tool)>"
    r"|(?P<deepseek><｜tool▁call▁begin｜>)"
    r"|<(?P<answer>final_answer|answer)>"
    r")",
    re.IGNORECASE,
)
_SKIP = re.compile(
    r"\s{0,9}(?:</?(?:antml:)?(?:tool_calls?|function_calls)>|<\|tool_calls?_section_begin\|>)\s{0,9}"
)
_PARAMETER = re.compile(
    r"<(?:antml:)?parameter(?:=(\w{1,80})|\sname=[\"'](\w{1,80})[\"'][^>]{0,80})>"
)
_PARAMETER_END = re.compile(r"</(?:antml:)?parameter>")
_ARGUMENTS = re.compile(
    r"<arg_key>([^<]{1,80})</arg_key>\s{0,9}<arg_value>([^<]{0,9999})</arg_value>"
)
_DEEPSEEK = re.compile(
    r"\s{0,9}(?:function\s{0,3}<｜tool▁sep｜>)?\s{0,9}([\w.\-]{1,80})\s{0,9}(?:<｜tool▁sep｜>)?\s{0,9}"
)
_KIMI = re.compile(r"\s{0,9}([\w.\-]{1,80}(?::\d{1,4})?)\s{0,9}<\|tool_call_argument_begin\|>")
_MISTRAL = re.compile(r"\s{0,9}([\w.\-]{1,80})\s{0,9}(?:\[CALL_ID\]\w{1,40})?\[ARGS\]")


def in_tags(text: str, toolbox: Toolbox) -> Iterator[Found]:
    """Find the calls and answers that stand in tags, in their order.

    Raises:
        BrokenJSONError: If the JSON in a tag cannot be read with certainty.

    Example:
        >>> said = '<tool_call>{"name": "Search", "arguments": {"q": "x"}}</tool_call>'
        >>> next(in_tags(said, Toolbox())).heard.given
        {'q': 'x'}
    """
    # A text full of tags is no call: looking at the first few keeps reading linear.
    for found in islice(_OPEN_CALL.finditer(text), 8):
        content = text[found.end() :]
        read = _in_tag(found, content, toolbox)
        if read is not None:
            yield Found(read[0], found.start(), read[1])


def _in_tag(found: re.Match[str], content: str, toolbox: Toolbox) -> tuple[Call | Said, str] | None:
    if found["answer"]:
        inner, closed, rest = _until(content, f"</{found['answer']}>")
        return (Said(inner.strip(), (WRAPPED,)), rest) if closed else None
    if found["tool"]:
        return _tool_input(content)
    if found["function"] or found["invoke"]:
        name = found["function"] or found["invoke"]
        end = "</function>" if found["function"] else "</invoke>"
        inner, closed, rest = _until(content, end)
        given = _parameters(inner)
        if given is None and not inner.strip():
            given = {} if closed else None
        if given is None:
            value = read_json(inner)
            given, rest = value.value, rest if closed else value.rest
        return Call(name, given, repairs=(WRAPPED,)), rest
    if found["deepseek"] and (named := _DEEPSEEK.match(content)):
        value = read_json(content[named.end() :].removeprefix("```json").lstrip())
        return Call(named[1], value.value, repairs=(WRAPPED,)), value.rest
    for pattern in (_KIMI, _MISTRAL):
        named = pattern.match(content)
        if named:
            value = read_json(content[named.end() :])
            return Call(named[1], value.value, repairs=(WRAPPED,)), value.rest
    return _in_tagged_json(found, content, toolbox)


def _in_tagged_json(
    found: re.Match[str], content: str, toolbox: Toolbox
) -> tuple[Call | Said, str] | None:
    end = f"</{found['tag']}>" if found["tag"] else ""
    inner, closed, rest = _until(content, end) if end else (content, False, "")
    pairs = _ARGUMENTS.findall(inner) if closed else []
    if pairs:
        return Call(inner.strip().split()[0], dict(pairs), repairs=(WRAPPED,)), rest
    inner = re.sub(r"\A\s{0,9}(?:```|~~~)\w{0,10}\s{0,9}", "", inner).lstrip()
    if inner[:1] in ("{", "["):
        try:
            value = read_json(inner)
        except BrokenJSONError:
            if inner.startswith("[") and (call := in_expression(inner[1:])):
                return _again(call[0]), rest
            raise
        heard = in_json(value.value, toolbox)
        if heard is None:
            return None
        return _again(heard), rest if closed else value.rest
    call = in_expression(inner)
    if call is None or not (closed or found["token"]):
        return None
    return _again(call[0]), rest if closed else call[1]


def _again(heard: Call | Said) -> Call | Said:
    """Return what was heard, marked as found in tags."""
    if isinstance(heard, Said):
        return Said(heard.given, (WRAPPED,))
    return Call(heard.name, heard.given, heard.written, heard.positional, (WRAPPED,))


def _until(content: str, end: str) -> tuple[str, bool, str]:
    at = content.casefold().find(end.casefold()) if content.isascii() else content.find(end)
    return (content, False, "") if at < 0 else (content[:at], True, content[at + len(end) :])


def _parameters(inner: str) -> dict[str, Any] | None:
    """Read `<parameter=name>value</parameter>`; None if there is none."""
    given: dict[str, Any] = {}
    for found in _PARAMETER.finditer(inner):
        end = _PARAMETER_END.search(inner, found.end())
        if end is None:
            break
        written = inner[found.end() : end.start()].strip("\n")
        try:
            value = read_json(written) if written[:1] in ("{", "[") else None
        except BrokenJSONError:
            value = None
        given[found[1] or found[2]] = written if value is None or value.rest else value.value
    return given or None


def _tool_input(content: str) -> tuple[Call, str] | None:
    """Read `<tool>name</tool><tool_input>text</tool_input>`."""
    name, closed, rest = _until(content, "</tool>")
    if not closed or not rest.lstrip().startswith("<tool_input>"):
        return None
    given, closed, rest = _until(rest.lstrip()[len("<tool_input>") :], "</tool_input>")
    return (Call(name.strip(), given, written=True, repairs=(WRAPPED,)), rest) if closed else None


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
