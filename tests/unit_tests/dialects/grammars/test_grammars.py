"""What a grammar is made of, in both syntaxes, and what is refused."""

from functools import lru_cache

import pytest
from llguidance import LLMatcher
from llguidance.gbnf_to_lark import GrammarParser

from langchain_custom_agents.dialects import (
    ENGLISH,
    Action,
    Answer,
    Bracketed,
    Conversational,
    Dialect,
    JsonBlob,
    SelfAsk,
    Toolbox,
)
from langchain_custom_agents.dialects.grammars import (
    Except,
    Grammar,
    Ref,
    either,
    for_engine,
    many,
    none_of,
    seq,
)
from langchain_custom_agents.dialects.grammars.rendering import gbnf, lark
from langchain_custom_agents.testing.gbnf import GBNF
from langchain_custom_agents.testing.tool_schemas import TOOL_SCHEMAS

WORD = many(none_of("\n ="), 1)
SMALL = Grammar(
    {"root": seq(Ref("KEY"), "=", Ref("list")), "KEY": Except(WORD, (seq("no"),)),
     "list": either("[]", seq("[", Ref("list"), "]"))}
)  # fmt: skip


@lru_cache(maxsize=8)
def held_to(dialect, *, forced=False):
    """Return the grammar of a dialect with one tool. It is made and read once for many texts."""
    return GBNF(dialect.grammar([dialect.only_tool or "search"], forced=forced))


def test_exceptions_become_an_automaton_in_gbnf():
    """What GBNF cannot say is spelled out as rules, which a parser of GBNF takes."""
    rules = GrammarParser().parse(gbnf(SMALL))

    assert {"root", "key", "list", "t0"} <= set(rules)


def test_exceptions_stay_exceptions_in_lark():
    """Lark, as llguidance spells it, knows "but not"."""
    written = lark(SMALL)

    assert "& ~" in written
    assert LLMatcher.validate_grammar(LLMatcher.grammar_from_lark(written)) == ""


def test_there_are_thirty_tools_of_every_kind():
    """The schemas that the law is tested with are thirty, under thirty names."""
    assert len({tool["name"] for tool in TOOL_SCHEMAS}) == 30


def test_an_expression_in_a_schema_that_looks_ahead_is_refused():
    """A pattern that no grammar can hold is named in the error."""
    tool = {
        "name": "x",
        "parameters": {"properties": {"a": {"type": "string", "pattern": "(?=a)b"}}},
    }

    with pytest.raises(ValueError, match="looks around"):
        JsonBlob().grammar([tool], "lark")


def test_a_reference_to_nowhere_is_refused():
    """A schema that refers to a definition there is not names it."""
    tool = {"name": "x", "parameters": {"properties": {"a": {"$ref": "#/$defs/Lost"}}}}

    with pytest.raises(ValueError, match="Lost"):
        JsonBlob().grammar([tool], "lark")


def test_a_dialect_without_rules_says_what_to_define():
    """A dialect of a user's own has a grammar once it defines its rules."""

    class Own(Dialect):
        cue, observation = ">", "<"

        def write(self, thought, move):
            return ">"

        def match(self, text):
            return None

    with pytest.raises(NotImplementedError, match="define its method `rules`"):
        Own().grammar()


def test_a_form_that_is_not_json_has_no_json_schema():
    """Asked for the JSON schema of a labelled form, the error says what to use instead."""
    with pytest.raises(ValueError, match="JsonBlob"):
        ENGLISH.grammar((), "json_schema")


def test_a_step_held_to_the_json_schema_is_read_without_repairs():
    """The object alone, as Ollama writes it, is a step in the exact form."""
    reading = JsonBlob().read('{"action": "Search", "action_input": "Kyoto"}', ["Search"])

    assert (reading.move.tool, reading.repairs) == ("Search", ())


def test_engines_are_named():
    """An engine that is not known is answered with those that are."""
    with pytest.raises(ValueError, match=r"llama\.cpp"):
        for_engine(ENGLISH, "llama")


def test_no_tools_leave_only_the_answer():
    """Without tools the rules hold no way to act."""
    assert "call" not in ENGLISH.rules(Toolbox()).rules


@pytest.mark.parametrize("dialect", [ENGLISH, Conversational(), Bracketed(), JsonBlob(), SelfAsk()])
def test_a_forced_grammar_admits_calls_only(dialect):
    """Where a tool must be called, the grammar admits the call and no answer, in both syntaxes."""
    name = dialect.only_tool or "search"
    call = dialect.write("I look", Action(name, "the garden"))
    answer = dialect.write("I know", Answer("Nowhere"))
    held = held_to(dialect, forced=True)
    lark_too = dialect.grammar([name], "lark", forced=True)

    assert held.admits(call)
    assert not held.admits(answer)
    assert held_to(dialect).admits(answer)
    assert dialect.grammar([name], "lark") != lark_too
    assert LLMatcher.validate_grammar(LLMatcher.grammar_from_lark(lark_too)) == ""


def test_a_forced_json_schema_has_no_answer():
    """The schema that Ollama takes knows only the tools then."""
    schema = JsonBlob().grammar(["search"], "json_schema", forced=True)

    assert schema["properties"]["action"] == {"const": "search"}


@pytest.mark.parametrize("syntax", ["gbnf", "lark", "json_schema"])
def test_a_forced_grammar_needs_a_tool(syntax):
    """Without tools a grammar of calls would admit nothing, and that is said."""
    with pytest.raises(ValueError, match="there are no tools"):
        JsonBlob().grammar((), syntax, forced=True)


def test_an_exception_that_leaves_nothing_is_refused_in_gbnf():
    """A rule that no text is in would be one for the empty text there."""
    with pytest.raises(ValueError, match="leaves nothing over"):
        gbnf(Grammar({"root": Except(seq("a"), (seq("a"),))}))


def test_a_long_limit_of_a_text_is_one_that_llama_cpp_takes():
    """What is repeated is one rule: llama.cpp counts those in it, and refuses too many in all."""
    limited = {"type": "string", "maxLength": 1500}
    tool = {"name": "note", "parameters": {"properties": {"text": limited}, "required": ["text"]}}
    held = GBNF(JsonBlob().grammar([tool]))
    written = [JsonBlob().write("", Action("note", {"text": "x" * n})) for n in (1500, 1501)]

    assert [held.admits(each) for each in written] == [True, False]


@pytest.mark.parametrize(
    "thought", ["I look for this:", "次を調べる：", 'He said "', "> quoted:", ":", "```\nx\n```:"]
)
@pytest.mark.parametrize("dialect", [ENGLISH, Bracketed(), JsonBlob(), SelfAsk()])
def test_a_thought_may_end_as_if_it_introduced_something(dialect, thought):
    """A colon or a quotation mark at its end is free; the introduction of an example is escaped."""
    name = dialect.only_tool or "search"
    held = held_to(dialect)
    free = dialect.write(thought, Action(name, "x"))
    example = dialect.write("For example, I look for this:", Action(name, "x"))

    assert held.admits(free)
    assert held.admits(example)
    assert not held.admits(example.replace("this:\\", "this:"))


def test_six_arguments_may_come_in_any_order():
    """Up to six named arguments are admitted in every order, more in that of their schema."""
    for count, any_order in ((6, True), (7, False)):
        names = "abcdefg"[:count]
        given = {name: {"type": "integer"} for name in names}
        tool = {"name": "x", "parameters": {"properties": given, "required": list(given)}}
        held = GBNF(JsonBlob().grammar([tool]))
        forth, back = (
            JsonBlob().write("", Action("x", dict.fromkeys(order, 1)))
            for order in (names, reversed(names))
        )

        assert [held.admits(forth), held.admits(back)] == [True, any_order]


@pytest.mark.parametrize(
    "quoted", ["“Action: run", '"\u3000Action: run', "'''Action:", "<b>AI: x", '"## Action']
)
def test_a_thought_is_no_quoted_step(quoted):
    """A reader takes marks off around a whole step: no thought begins like one."""
    held = held_to(Conversational())
    call = f"Thought: {quoted}\nAction: search\nAction Input: x"

    assert not held.admits(call)
    assert held.admits(call.replace("Thought: ", "Thought: \\"))


@pytest.mark.parametrize(
    ("text", "admitted"),
    [(r"\u4eac", True), (r"\u0000", True), (r"\u0020", False), (r" \n", False)],
)
def test_an_answer_of_escapes_alone_is_one_unless_they_are_blank(text, admitted):
    """An answer may be spelled in code points, but not be blank."""
    held = held_to(JsonBlob())
    step = JsonBlob().write("", Answer("?")).replace("?", text)

    assert held.admits(step) is admitted
    assert isinstance(JsonBlob().read(step).move, Answer) is admitted


@pytest.mark.parametrize(
    "value", [[{"][": None}], ["]["], [[1], "]a["], ["[a]", "x[0]"], "][", {"[": ["]"]}]
)
def test_brackets_in_the_texts_of_data_do_not_pair_up_with_those_outside(value):
    """What is written in brackets is admitted and read, however the brackets of its texts lie."""
    tool = next(schema for schema in TOOL_SCHEMAS if schema["name"] == "anything")
    action = Action("anything", {"value": value})
    written = Bracketed().write("I look.", action)

    assert Bracketed().read(written, [tool]).move == action
    assert held_to_anything().admits(written.removeprefix("Thought:"))


@lru_cache(maxsize=1)
def held_to_anything():
    """Return the grammar of brackets with the tool that takes any value."""
    tool = next(schema for schema in TOOL_SCHEMAS if schema["name"] == "anything")
    return GBNF(Bracketed().grammar([tool], "gbnf"))


@pytest.mark.parametrize("thought", ["```Thought:\n```", "a\n~~~Action: x\n~~~", "```py\nx\n```"])
def test_a_fence_with_a_label_behind_it_is_admitted_as_it_is_written(thought):
    """Where a label's escape stands before a fence, the other fence is escaped with it."""
    tool = next(schema for schema in TOOL_SCHEMAS if schema["name"] == "anything")
    written = Bracketed().write(thought, Action("anything", {"value": 1}))

    assert Bracketed().read(written, [tool]).thought == thought
    assert held_to_anything().admits(written.removeprefix("Thought:"))
