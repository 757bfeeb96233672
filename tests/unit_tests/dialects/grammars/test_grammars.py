"""What a grammar is made of, in both syntaxes, and what is refused."""

import pytest
from llguidance import LLMatcher
from llguidance.gbnf_to_lark import GrammarParser

from langchain_custom_agents.dialects import ENGLISH, Dialect, JsonBlob, Toolbox
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
from langchain_custom_agents.testing.tool_schemas import TOOL_SCHEMAS

WORD = many(none_of("\n ="), 1)
SMALL = Grammar(
    {"root": seq(Ref("KEY"), "=", Ref("list")), "KEY": Except(WORD, (seq("no"),)),
     "list": either("[]", seq("[", Ref("list"), "]"))}
)  # fmt: skip


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
