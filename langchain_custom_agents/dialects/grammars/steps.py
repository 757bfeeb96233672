"""The grammars of the dialects of this package: a thought, then a call or the answer."""

from contextlib import suppress
from typing import Any

from langchain_custom_agents.dialects.base import _LIKE_CALL, _LIKE_DATA, Dialect
from langchain_custom_agents.dialects.bracketed import Bracketed
from langchain_custom_agents.dialects.grammars.nodes import (
    LINE,
    Chars,
    Grammar,
    Literal,
    Node,
    Ref,
    either,
    joined,
    many,
    maybe,
    none_of,
    one_of,
    others,
    seq,
    word,
)
from langchain_custom_agents.dialects.grammars.patterns import BEYOND, Pattern
from langchain_custom_agents.dialects.grammars.schemas import Schemas, UnbalancedError
from langchain_custom_agents.dialects.grammars.texts import Texts, space, texts_of, token_in
from langchain_custom_agents.dialects.json_blob import JsonBlob
from langchain_custom_agents.dialects.labelled import Labelled, LabelledDialect
from langchain_custom_agents.dialects.lenient_json import to_json
from langchain_custom_agents.dialects.moves import Action
from langchain_custom_agents.dialects.self_ask import SelfAsk
from langchain_custom_agents.dialects.toolbox import Toolbox, ToolSpec

_BRACKET_TOKENS = ("INST", "/INST", "THINK", "/THINK", "TOOL_CALLS")


def rules_of(dialect: Dialect, toolbox: Toolbox) -> Grammar | None:
    """Return the rules of a dialect of this package; None for any other.

    Raises:
        ValueError: If the dialect cannot name a tool, or a schema cannot be written.
    """
    match dialect:
        case JsonBlob():
            return _json_blob(dialect, toolbox)
        case Bracketed():
            return _bracketed(dialect, toolbox)
        case SelfAsk():
            return _self_ask(dialect, toolbox)
        case Labelled():
            return _labelled(dialect, toolbox)
    return None


class _Steps:
    """What all dialects with labels share."""

    def __init__(self, dialect: LabelledDialect, toolbox: Toolbox) -> None:
        self.dialect, self.toolbox = dialect, toolbox
        self.texts: Texts = texts_of(dialect)
        self.rules: dict[str, Node] = {"root": Literal(""), "THOUGHT": self.texts.thought()}
        for spec in toolbox:
            dialect.write("", Action(spec.name, ""))

    def leads(self, name: str, label: str) -> Node:
        """Return a thought up to the label that follows it, whether the cue is said or not."""
        cue = self.dialect.cue
        thought = seq(maybe(cue), maybe(" "), Ref("THOUGHT"), "\n")
        self.rules[name] = seq(either(thought, cue + "\n", "\n", ""), label)
        return Ref(name)

    def starting(self, but: str = "") -> Node:
        """Return a line that begins with no white space and none of these."""
        first = Chars(others(joined(space(), one_of("\n\r" + but)).ranges))
        return seq(first, LINE)

    def input(self, label: str) -> Node:
        """Return the text a tool is called with, after its label."""
        if "INPUT" not in self.rules:
            texts = self.texts
            escaped = either(*(word(f"[{each}]") for each in _BRACKET_TOKENS))
            first = texts.line(
                texts.observed,
                seq(label, LINE),
                seq("\\", escaped, LINE),
                base=self.starting("".join(_LIKE_DATA)),
            )
            self.rules["INPUT"] = seq(first, texts.rest())
        return Ref("INPUT")

    def answer(self, label: str) -> Node:
        """Return an answer after its label: no text that begins like a call in JSON."""
        texts, blank = self.texts, many(space())
        marks = one_of("\"'“")
        key = Pattern("(?:" + _LIKE_CALL.pattern.rpartition("(?:")[2], near=True).node
        opened = seq(one_of("[{"), blank, maybe(seq("{", blank)))
        fence = seq(either("```", "~~~"), many(joined(_WORD, Chars(BEYOND))), blank)
        named = seq("\\", word("[TOOL_CALLS]"), LINE)
        blanks = many(seq(blank, "\n"))
        first = texts.line(
            seq(maybe(fence), opened, maybe(marks), key, LINE),
            seq(maybe(fence), opened),
            fence,
            seq(maybe(fence), named),
            seq(label, LINE),
            base=self.starting(),
        )
        after_fence = texts.own(
            seq(blank, opened, maybe(marks), key, LINE),
            seq(blank, opened),
            seq(blank, named),
            blank,
            texts.partial,
        )
        after_bracket = texts.own(
            seq(blank, maybe(seq("{", blank)), maybe(marks), key, LINE),
            seq(blank, "{", blank),
            blank,
            texts.partial,
        )
        bracket = seq(maybe(seq(fence, maybe(seq("\n", blanks, blank)))), opened)
        self.rules["ANSWER"] = either(
            seq(first, texts.rest()),
            fence,
            seq(fence, "\n", blanks, after_fence, texts.rest()),
            seq(maybe(fence), opened),
            seq(bracket, "\n", blanks, after_bracket, texts.rest()),
        )
        return Ref("ANSWER")


_WORD = joined(
    one_of("_"), *(Chars(((low, low + span),)) for low, span in ((48, 9), (65, 25), (97, 25)))
)


def _takes_text(spec: ToolSpec) -> bool:
    """Tell whether a text of any kind is a right input for a tool."""
    if spec.takes_text or spec.args is None:
        return True
    if len(spec.args) != 1:
        return False
    (schema,) = spec.args.values()
    limits = ("enum", "const", "pattern", "minLength", "maxLength", "format", "$ref")
    return schema.get("type") == "string" and not any(limit in schema for limit in limits)


def _object(spec: ToolSpec, schemas: Schemas) -> Node:
    """Return the object of named arguments that a tool takes."""
    if spec.takes_text or spec.args is None:
        return schemas.object()
    return schemas.arguments(spec.args, spec.required, spec.definitions)


def _inputs(steps: _Steps, spec: ToolSpec, schemas: Schemas, label: str) -> Node:
    given = seq(" ", _object(spec, schemas))
    return either(given, seq(" ", steps.input(label)), "") if _takes_text(spec) else given


def _labelled(dialect: Labelled, toolbox: Toolbox) -> Grammar:
    steps = _Steps(dialect, toolbox)
    schemas = Schemas(steps.rules)
    label = dialect.action_input
    calls = [seq(f"{spec.name}\n{label}", _inputs(steps, spec, schemas, label)) for spec in toolbox]
    ways: list[Node] = []
    if calls:
        ways.append(seq(steps.leads("TO_ACTION", f"{dialect.action} "), Ref("call")))
        steps.rules["call"] = either(*calls)
    if not toolbox.forced:
        answer = steps.answer(dialect.final_answer)
        ways.append(seq(steps.leads("TO_ANSWER", f"{dialect.final_answer} "), answer))
    steps.rules["root"] = either(*ways)
    return Grammar(steps.rules)


def _self_ask(dialect: SelfAsk, toolbox: Toolbox) -> Grammar:
    steps = _Steps(dialect, toolbox)
    only = str(dialect.only_tool)
    given = _inputs(
        steps, toolbox.get(only) or ToolSpec(only), Schemas(steps.rules), dialect.action
    )
    ways = [seq(steps.leads("TO_ACTION", dialect.action), given)]
    if not toolbox.forced:
        answer = steps.answer(dialect.final_answer)
        ways.append(seq(steps.leads("TO_ANSWER", f"{dialect.final_answer} "), answer))
    steps.rules["root"] = either(*ways)
    return Grammar(steps.rules)


def _json_blob(dialect: JsonBlob, toolbox: Toolbox) -> Grammar:
    steps = _Steps(dialect, toolbox)
    schemas = Schemas(steps.rules)

    def blob(name: str, *given: Node) -> Node:
        return seq(f'{{"action": {to_json(name)}, "action_input": ', either(*given), "}")

    blobs = []
    for spec in toolbox:
        texts = [schemas.text()] if _takes_text(spec) else []
        blobs.append(blob(spec.name, _object(spec, schemas), *texts))
    if not toolbox.forced:
        blobs.append(blob(dialect.finish, schemas.text(1)))
    steps.rules["blob"] = either(*blobs)
    lead = steps.leads("TO_ACTION", f"{dialect.action}\n```json\n")
    steps.rules["root"] = seq(lead, Ref("blob"), "\n```")
    return Grammar(steps.rules)


def json_schema(dialect: Dialect, toolbox: Toolbox) -> dict[str, Any]:
    """Return the JSON schema of a step of `JsonBlob`, without its thought.

    Raises:
        ValueError: If it is another dialect.
    """
    if not isinstance(dialect, JsonBlob):
        msg = (
            f"{type(dialect).__name__} is no form in JSON, so there is no JSON schema of it: use "
            "the dialect JsonBlob, or the syntax gbnf or lark."
        )
        raise ValueError(msg)  # noqa: TRY004
    definitions: dict[str, Any] = {}

    def step(name: str, given: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {"action": {"const": name}, "action_input": given},
            "required": ["action", "action_input"],
            "additionalProperties": False,
        }

    steps = []
    for spec in toolbox:
        definitions |= spec.definitions
        text: dict[str, Any] = {"type": "string"}
        given: dict[str, Any] = {
            "type": "object",
            "properties": dict(spec.args or {}),
            "required": list(spec.required),
            "additionalProperties": False,
        }
        if spec.takes_text or spec.args is None:
            given = text
        elif _takes_text(spec):
            given = {"anyOf": [given, text]}
        steps.append(step(spec.name, given))
    if not toolbox.forced:
        answer = {"type": "string", "minLength": 1, "pattern": r"\S"}
        steps.append(step(dialect.finish, answer))
    schema: dict[str, Any] = {"anyOf": steps} if len(steps) > 1 else steps[0]
    return {**schema, "$defs": definitions} if definitions else schema


class _InBrackets:
    """The texts between the brackets of `Bracketed`, whose own brackets pair up or are escaped."""

    def __init__(self, steps: _Steps) -> None:
        self.steps, self.texts = steps, steps.texts
        self.bare = none_of("[]\n\r")
        first = Chars(others(joined(space(), one_of("\n\r" + "".join(_LIKE_DATA) + "]")).ranges))
        self.first = first
        steps.rules |= {"FIRST_RUN": self._run(self.first), "RUN": self._run()}
        tokens = either(*(word(each) for each in _BRACKET_TOKENS))
        steps.rules["ONLY_RUN"] = self._run(without=(tokens,))
        inner = seq(many(seq(Ref("RUN"), Ref("group")), 1), Ref("RUN"))
        steps.rules["group"] = seq("[", either(Ref("ONLY_RUN"), inner), "]")
        steps.rules["ESCAPED"] = self._escaped()
        paired = seq(Ref("FIRST_RUN"), many(seq(Ref("group"), Ref("RUN"))))
        steps.rules["text"] = either(paired, Ref("ESCAPED"))

    def _run(self, first: Chars | None = None, without: tuple[Node, ...] = ()) -> Node:
        """Return what stands before, between and after brackets; a backslash would escape one."""
        texts, line = self.texts, many(self.bare)
        slash = seq(LINE, "\\")
        begins = line if first is None else seq(first, line)
        whole = texts.line(slash, *without, base=begins)
        last = texts.own(slash, texts.partial, base=line)
        middle = many(seq(texts.own(texts.partial, base=line), "\n"))
        return either(whole, seq(texts.line(base=begins), "\n", middle, last))

    def _escaped(self) -> Node:
        texts = self.texts
        mark = either(self.bare, "\\[", "\\]")
        tokens = token_in(either(*(seq("\\[", word(each), "\\]") for each in _BRACKET_TOKENS)))
        again = seq("\\\\[", either(*(word(each) for each in _BRACKET_TOKENS)), "\\]", LINE)
        slash = seq(LINE, "\\")
        # A line may end with an escaped bracket, and not with a backslash.
        data = either(*(seq("\\", each, LINE) for each in "["))
        begins = either(seq(self.first, many(mark)), seq("\\]", many(mark)))
        whole = texts.line(tokens, slash, data, again, base=begins)
        opening = texts.line(tokens, data, again, base=begins)
        own = texts.own(tokens, texts.partial, base=many(mark))
        last = texts.own(tokens, slash, texts.partial, base=many(mark))
        return either(whole, seq(opening, "\n", many(seq(own, "\n")), last))


def _bracketed(dialect: Bracketed, toolbox: Toolbox) -> Grammar:
    steps = _Steps(dialect, toolbox)
    _InBrackets(steps)
    spelled = (Schemas(steps.rules, "p-", "paired"), Schemas(steps.rules, "e-", "escaped"))
    calls: list[Node] = []
    for spec in toolbox:
        ways: list[Node] = [Ref("text"), Literal("")] if _takes_text(spec) else []
        for schemas in spelled:
            with suppress(UnbalancedError):
                ways.append(_object(spec, schemas))
        calls.append(seq(f"{spec.name}[", either(*ways), "]"))
    if not toolbox.forced:
        calls.append(seq(f"{dialect.finish}[", Ref("text"), "]"))
    steps.rules["call"] = either(*calls)
    steps.rules["root"] = seq(steps.leads("TO_ACTION", f"{dialect.action} "), Ref("call"))
    return Grammar(steps.rules)
