"""Calls and answers in the tags that open models are trained to write.

Every family of models has tags of its own, and servers that do not know them pass them on as
text. What stands in them is read by what it is: JSON, an expression, parameters in tags of their
own, or a name before any of these.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from textwrap import dedent
from typing import Any

from langchain_custom_agents.dialects.calls import Call, Said, in_expression, in_json
from langchain_custom_agents.dialects.form import TAG_PREFIX
from langchain_custom_agents.dialects.lenient_json import (
    BrokenJSONError,
    CutOffJSONError,
    literal,
    read_json,
)
from langchain_custom_agents.dialects.names import resolve
from langchain_custom_agents.dialects.toolbox import Toolbox

WRAPPED = "The call stood in the tags of another form."


@dataclass(frozen=True)
class Found:
    """A call or an answer and where it stands in a text.

    Args:
        heard: The call or the answer.
        start: Where it begins.
        rest: The words after it.
        is_token: Whether it began with a token that nobody types.
    """

    heard: Call | Said
    start: int
    rest: str
    is_token: bool = False


_NAME = r"[\w.\-]{1,80}"
_OPEN_CALL = re.compile(
    r"(?=[<\[✿fc])(?=<[a-z|｜]|\[[tc]|✿|functools|call:)(?<!\\)(?:"
    rf"<{TAG_PREFIX}(?P<tag>tool_?calls?|function_calls?|functioncall|tool_use|tool_code)>"
    r"|(?P<token><\|(?:python_tag|python_start|tool_calls?|tool_call_start|tool_call_begin"
    r"|START_ACTION)\|>|<\|action_start\|>(?:<\|\w{1,20}\|>)?)"
    r"|(?P<mistral>\[TOOL_CALLS\])|(?P<phi>(?<![\w.])functools(?=\[))"
    rf"|<{TAG_PREFIX}function=(?P<function>{_NAME})>"
    rf"|<{TAG_PREFIX}invoke(?:\sname=[\"'](?P<invoke>{_NAME})[\"'])?>"
    r"|<(?P<tool>tool)>"
    r"|(?P<deepseek><｜tool▁call▁begin｜>)"
    r"|(?P<gemma>(?:<\|tool_call>:?|<start_function_call>|<call>|<channel\|>|(?<![^\n]))"
    r"(?:call:)(?=[\w.\-]{1,80}\{))"
    r"|(?P<qwen>✿FUNCTION✿\s?[:：])"
    r"|\[(?P<calling>Calling tools?:)"
    r"|<(?P<answer>final_answer|answer)>"
    r")",
    re.IGNORECASE,
)
_PARAMETER = re.compile(
    rf"(?P<indent>^[ \t]{{0,40}})?<{TAG_PREFIX}parameter"
    r"(?:=(?P<equals>\w{1,80})|\sname=[\"'](?P<name>\w{1,80})[\"'](?P<more>[^>]{0,80}))>",
    re.MULTILINE,
)
_PARAMETER_END = re.compile(rf"</{TAG_PREFIX}parameter>|(?=<{TAG_PREFIX}parameter[=\s])")
_PARAMETERS_END = re.compile(r"</\w")
# GLM's tags: the end of a key may come twice, the beginning of a value may be missing.
_KEY = re.compile(r"\s{0,99}<arg_key>([^<]{1,80})(?:</arg_key>\s{0,9}){1,2}(?:<arg_value>)?")
_VALUE_END = re.compile(r"</arg_value>(?=\s{0,99}(?:<arg_key>|\Z))")
_NAMED = re.compile(
    rf"\s{{0,9}}<(?P<tag>tool_name|name|function_name)>\s{{0,9}}(?P<name>{_NAME})\s{{0,9}}</(?P=tag)>"
    r"\s{0,9}(?:<(?P<given>parameters|arguments|args|tool_input|input)>)?"
)
_CHILD = re.compile(r"\s{0,99}<(\w{1,80})>([^<]{0,9999})</\1>")
_DEEPSEEK = re.compile(
    rf"\s{{0,9}}(?:function\s{{0,3}}<｜tool▁sep｜>)?\s{{0,9}}({_NAME})\s{{0,9}}(?:<｜tool▁sep｜>)?\s{{0,9}}"
)
_KIMI = re.compile(rf"\s{{0,9}}({_NAME}(?::\d{{1,4}})?)\s{{0,9}}<\|tool_call_argument_begin\|>")
_MISTRAL = re.compile(rf"\s{{0,9}}({_NAME})\s{{0,9}}(?:\[CALL_ID\]\w{{1,40}})?\[ARGS\]")
# A name right before its arguments.
_BEFORE_JSON = re.compile(rf"\s{{0,9}}({_NAME})\s{{0,9}}[:：]?\s{{0,9}}(?=\{{)")
_QWEN = re.compile(rf"\s{{0,9}}({_NAME})\s{{0,9}}✿ARGS✿\s?[:：]\s{{0,9}}")
# How Gemma writes a text among its arguments.
_QUOTED = re.compile(r'<\|"\|>(.*?)<\|"\|>|<escape>(.*?)<escape>', re.DOTALL)


# What opens the part of a reply that is for calls, before the first of them.
_OPEN_SECTION = re.compile(r"(?<!\\)<[|｜]tool[▁_]calls?")
# Tags that may stand in plain words: in these only a whole call is one.
_PLAIN = ("tool", "gemma", "calling", "qwen", "phi", None)


def _end_of(tag: str) -> re.Pattern[str]:
    return re.compile(rf"</{TAG_PREFIX}{tag}>", re.IGNORECASE)


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
        read = _Tag(found, text[found.end() :], toolbox).read()
        if read is not None:
            heard, rest = read
            is_token = bool(found["token"] or found["mistral"] or found["deepseek"])
            yield Found(_wrapped(_plain(heard, toolbox)), found.start(), rest, is_token)


def holds_call(text: str, toolbox: Toolbox) -> bool:
    """Tell whether a call stands in a text in tags, be it whole, broken off or unreadable.

    Example:
        >>> holds_call('<tool_call>{"name": "Sea', Toolbox()), holds_call("2 < 3", Toolbox())
        (True, False)
    """
    if _OPEN_SECTION.search(text):
        return True
    for found in islice(_OPEN_CALL.finditer(text), 8):
        if found.lastgroup == "answer":
            continue
        try:
            read = _Tag(found, text[found.end() :], toolbox).read()
        except (BrokenJSONError, RecursionError):
            return True
        if read is not None or found.lastgroup not in _PLAIN:
            return True
    return False


def _plain(heard: Call | Said, toolbox: Toolbox) -> Call | Said:
    """Return what was heard with the text for a tool of one text, whatever its name was."""
    if isinstance(heard, Said) or not isinstance(heard.given, dict) or len(heard.given) != 1:
        return heard
    tool, value = resolve(heard.name, toolbox), next(iter(heard.given.values()))
    spec = toolbox.get(tool) if tool is not None else None
    if spec is None or not spec.takes_text or not isinstance(value, str):
        return heard
    return Call(heard.name, value, repairs=heard.repairs)


def _wrapped(heard: Call | Said) -> Call | Said:
    """Return what was heard, marked as found in tags."""
    if isinstance(heard, Said):
        return Said(heard.given, (WRAPPED,))
    return Call(heard.name, heard.given, heard.written, heard.positional, (WRAPPED,))


@dataclass(frozen=True)
class _Tag:
    """The opening of a tag and the text after it."""

    opening: re.Match[str]
    content: str
    toolbox: Toolbox

    def read(self) -> tuple[Call | Said, str] | None:
        """Return the call or the answer that stands in the tag, and the words after it."""
        return _READERS.get(self.opening.lastgroup or "unnamed", _Tag.data)(self)

    def answer(self) -> tuple[Said, str] | None:
        inner, closed, rest = _until(self.content, f"</{self.opening['answer']}>")
        return (Said(inner.strip()), rest) if closed else None

    def tool(self) -> tuple[Call, str] | None:
        """Read `<tool>name</tool><tool_input>text</tool_input>`."""
        name, closed, rest = _until(self.content, "</tool>")
        if not closed or not rest.lstrip().startswith("<tool_input>"):
            return None
        given, closed, rest = _until(rest.lstrip()[len("<tool_input>") :], "</tool_input>")
        return (Call(name.strip(), given, written=True), rest) if closed else None

    def function(self) -> tuple[Call, str]:
        """Read what stands under `<function=name>` or `<invoke name="name">`."""
        name = self.opening["function"] or self.opening["invoke"]
        inner, closed, rest = _to(
            self.content, _FUNCTION_END if self.opening["function"] else _INVOKE_END
        )
        types = _types(name, self.toolbox)
        given = _parameters(inner, types, closed=closed)
        if given is None and closed:
            given = _children(inner, types)
        if given is None and not inner.strip():
            given = {} if closed else None
        if given is None:
            value = read_json(_single_braces(inner))
            given, rest = value.value, rest if closed else value.rest
        return Call(name, given), rest

    def unnamed(self) -> tuple[Call, str] | None:
        """Read `<invoke>` whose name stands in a tag of its own."""
        inner, closed, rest = _to(self.content, _INVOKE_END)
        named = _named(inner, self.toolbox) if closed else None
        return None if named is None else (named, rest)

    def gemma(self) -> tuple[Call, str] | None:
        """Read `call:name{key:<|"|>text<|"|>}`, in tags or, if it can be nothing else, without."""
        name, _, given = self.content.partition("{")
        spelled = _QUOTED.sub(lambda text: json.dumps(text[1] or text[2] or ""), "{" + given)
        known = bool(self.toolbox) and resolve(name, self.toolbox) is not None
        if self.opening[0].lower() == "call:" and not known and spelled == "{" + given:
            return None
        value = read_json(spelled)
        return Call(name, value.value), value.rest

    def calling(self) -> tuple[Call, str] | None:
        """Read `[Calling tool: name({"key": "text"})]`."""
        call = in_expression(self.content)
        return call if call is not None and call[1].lstrip().startswith((",", "]")) else None

    def deepseek(self) -> tuple[Call, str] | None:
        return self.after_name(_DEEPSEEK)

    def qwen(self) -> tuple[Call, str] | None:
        return self.after_name(_QWEN)

    def after_name(self, pattern: re.Pattern[str]) -> tuple[Call, str] | None:
        """Read arguments in JSON after a name."""
        named = pattern.match(self.content)
        if named is None:
            return None
        value = read_json(self.content[named.end() :].removeprefix("```json").lstrip())
        return Call(named[1], value.value), value.rest

    def data(self) -> tuple[Call | Said, str] | None:
        """Read what stands in a tag, or after a token: whatever form it has."""
        found = self.after_name(_KIMI) or self.after_name(_MISTRAL)
        if found is not None:
            return found
        inner, closed, rest = self.content, False, ""
        if self.opening["tag"]:
            inner, closed, rest = _to(inner, _end_of(self.opening["tag"]))
            call = _in_children(inner, self.toolbox) if closed else None
            if call is not None:
                return call, rest
        inner = re.sub(r"\A\s{0,9}(?:```|~~~)\w{0,10}\s{0,9}", "", inner).lstrip()
        name = _BEFORE_JSON.match(inner)
        if name:
            value = read_json(_single_braces(inner[name.end() :]))
            return Call(name[1], value.value), rest if closed else value.rest
        if inner[:1] in ("{", "["):
            try:
                value = read_json(_single_braces(inner))
            except BrokenJSONError:
                if inner.startswith("[") and (listed := in_expression(inner[1:])):
                    return listed[0], rest if closed else listed[1].lstrip(" ])")
                raise
            heard = in_json(value.value, self.toolbox)
            return None if heard is None else (heard, rest if closed else value.rest)
        expression = in_expression(inner)
        if expression is None or not (closed or self.opening["token"]):
            return None
        return expression[0], rest if closed else expression[1]


_READERS: Mapping[str, Callable[[_Tag], tuple[Call | Said, str] | None]] = {
    "answer": _Tag.answer,
    "tool": _Tag.tool,
    "function": _Tag.function,
    "invoke": _Tag.function,
    "unnamed": _Tag.unnamed,
    "deepseek": _Tag.deepseek,
    "gemma": _Tag.gemma,
    "qwen": _Tag.qwen,
    "calling": _Tag.calling,
}
_FUNCTION_END, _INVOKE_END = _end_of("function"), _end_of("invoke")


def _until(content: str, end: str) -> tuple[str, bool, str]:
    at = content.casefold().find(end.casefold()) if content.isascii() else content.find(end)
    return (content, False, "") if at < 0 else (content[:at], True, content[at + len(end) :])


def _to(content: str, end: re.Pattern[str]) -> tuple[str, bool, str]:
    found = end.search(content)
    if found is None:
        return content, False, ""
    return content[: found.start()], True, content[found.end() :]


def _single_braces(text: str) -> str:
    """Return JSON whose outer braces a template has doubled, with single ones."""
    bare = text.strip()
    doubled = (
        bare.startswith("{{") and bare.endswith("}}") and not bare[2:].lstrip().startswith("}")
    )
    return bare[1:-1] if doubled else text


def _in_children(inner: str, toolbox: Toolbox) -> Call | None:
    """Read a call whose parts stand in tags of their own, its name perhaps before them."""
    name, tag, _ = inner.partition("<arg_key>")
    if not tag:
        is_name = re.fullmatch(_NAME, name.strip()) and resolve(name, toolbox) in toolbox
        return Call(name.strip()) if is_name else _named(inner, toolbox)
    types, at = _types(name.strip(), toolbox), len(name)
    given: dict[str, Any] = {}
    while (key := _KEY.match(inner, at)) is not None:
        end = _VALUE_END.search(inner, key.end())
        # A value that holds the next key has lost its end.
        if end is None or "<arg_key>" in inner[key.end() : end.start()]:
            break
        given[key[1].strip()] = _typed(inner[key.end() : end.start()], types.get(key[1].strip()))
        at = end.end()
    if inner[at:].strip():
        msg = "an argument is not whole"
        raise CutOffJSONError(msg)
    return Call(name.strip(), given)


def _named(inner: str, toolbox: Toolbox) -> Call | None:
    """Read a call whose name and arguments stand in tags: `<name>...</name><arguments>...`."""
    found = _NAMED.match(inner)
    if found is None:
        return None
    content = inner[found.end() :]
    if not found["given"]:
        return Call(found["name"], {}) if not content.strip() else None
    given, closed, rest = _until(content, f"</{found['given']}>")
    if not closed or rest.strip():
        return None
    if given.lstrip().startswith("{"):
        return Call(found["name"], read_json(given).value)
    if not _CHILD.search(given):
        return Call(found["name"], given, written=True)
    children = _children(given, _types(found["name"], toolbox))
    return None if children is None else Call(found["name"], children)


def _children(inner: str, types: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read `<name>value</name>`, one after the other; None if anything else stands there."""
    if _CHILD.sub("", inner).strip():
        return None
    return {key: _typed(text, types.get(key)) for key, text in _CHILD.findall(inner)} or None


def _parameters(inner: str, types: Mapping[str, Any], *, closed: bool) -> dict[str, Any] | None:
    """Read `<parameter=name>value</parameter>`; None if there is none, or one breaks off.

    Raises:
        CutOffJSONError: If the last value breaks off.
    """
    given: dict[str, Any] = {}
    at = 0
    while (found := _PARAMETER.search(inner, at)) is not None:
        end = _PARAMETER_END.search(inner, found.end())
        if end is None and not closed:
            msg = "a parameter breaks off"
            raise CutOffJSONError(msg)
        at = end.end() if end is not None else len(inner)
        stop = end.start() if end is not None else len(inner)
        text = _content(inner[found.end() : stop], is_laid_out=bool(found["indent"]))
        name, more = found["equals"] or found["name"], found["more"] or ""
        schema = types.get(name)
        if 'string="true"' in more:
            schema = {"type": "string"}
        elif 'string="false"' in more:
            schema = {}
        given[name] = _typed(text, schema)
    return given or None


def _content(written: str, *, is_laid_out: bool) -> str:
    """Return a parameter's value without the line breaks and the indentation around it.

    Blanks at the beginning of a line belong to the value, unless the tags themselves are indented.
    """
    text = re.sub(r"\A[ \t]{1,40}(?=\n)", "", written).strip("\n")
    return dedent(written).strip() if is_laid_out else re.sub(r"\n[ \t]{0,40}\Z", "", text)


def _types(name: str, toolbox: Toolbox) -> Mapping[str, Any]:
    """Return the schemas of a tool's arguments, as far as they are known."""
    tool = resolve(name, toolbox)
    spec = toolbox.get(tool) if tool is not None else None
    return (spec.args or {}) if spec is not None else {}


def _typed(text: str, schema: Any) -> Any:
    """Return a value that was written as text, in the type that the tool takes.

    Where nothing is known, only an object or a list is taken for more than a text.
    """
    is_known = isinstance(schema, Mapping)
    kind = schema.get("type") if is_known else None
    if kind == "string":
        return text
    bare = text.strip()
    if bare[:1] in ("{", "["):
        try:
            found = read_json(bare)
        except BrokenJSONError:
            return text
        return text if found.rest.strip() else found.value
    if is_known and len(bare) <= 80:
        try:
            return literal(bare)
        except ValueError:
            return text
    return text
