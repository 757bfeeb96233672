"""Calls in the tags of open models."""

import pytest

from langchain_custom_agents.dialects import ENGLISH, Action, Misreading, Toolbox
from langchain_custom_agents.dialects.tags import in_tags

EDIT = {
    "name": "edit",
    "parameters": {
        "properties": {
            "old": {"type": "string"},
            "new": {"type": "string"},
            "count": {"type": "integer"},
            "files": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["old"],
    },
}


def given(text, *tools):
    """Return what the first call in a text gives."""
    return next(in_tags(text, Toolbox.of(tools))).heard.given


def parameter(value, lead=""):
    """Write a call with one parameter."""
    return (
        f"<tool_call>\n<function=edit>\n{lead}<parameter=old>\n{value}\n{lead}</parameter>\n"
        "</function>\n</tool_call>"
    )


def test_blanks_at_the_beginning_of_a_line_belong_to_a_parameter():
    """An editor's tool needs the indentation of the code that it is to replace."""
    assert given(parameter("    return x\n\ty"))["old"] == "    return x\n\ty"
    assert given("<function=edit><parameter=old>  \n x\n</parameter></function>")["old"] == " x"


def test_parameters_in_indented_tags_are_read_without_the_indentation():
    """Where the tags themselves are laid out, so are the values."""
    assert given(parameter("      if a:\n        b", lead="    "))["old"] == "if a:\n  b"


def test_values_have_the_types_that_the_tool_takes():
    """A text stays one, though it looks like an object; numbers and lists become what they are."""
    text = (
        '<function=edit><parameter=old>{"a": 1}</parameter><parameter=new>7</parameter>'
        '<parameter=count>3</parameter><parameter=files>["x"]</parameter></function>'
    )

    assert given(text, EDIT) == {"old": '{"a": 1}', "new": "7", "count": 3, "files": ["x"]}
    assert given(text) == {"old": {"a": 1}, "new": "7", "count": "3", "files": ["x"]}


def test_a_name_alone_is_a_call_without_arguments():
    """A tool that takes nothing is called by its name."""
    assert given('<x:tool_call> <invoke name="now"> </invoke> </x:tool_call>') == {}
    assert given("<tool_call><name>now</name></tool_call>") == {}


@pytest.mark.parametrize(
    "text",
    [
        "<x:tool_call>\n</function>\n</x:tool_call>",
        "<tool_call></tool_call>",
        "</tool_call>",
        "<tool_call><name>edit</name><arguments>{}</arguments> and more</tool_call>",
        "call:edit{old:1}",
        "✿FUNCTION✿: edit",
    ],
)
def test_tags_without_a_call_are_refused(text):
    """Half of a form is no call, and no answer either."""
    assert isinstance(ENGLISH.read(text).move, Misreading)


def test_words_before_a_token_do_not_hide_the_call_but_words_around_a_tag_do():
    """Nobody types a token; a tag in the middle of a sentence is spoken about."""
    token = 'I edit. <|python_tag|>{"name": "edit", "parameters": {"old": "x"}} So it is done.'
    tag = 'I edit. <tool_call>{"name": "edit", "arguments": {"old": "x"}}</tool_call> So it is.'

    assert ENGLISH.read(token, [EDIT]).move == Action("edit", {"old": "x"})
    assert isinstance(ENGLISH.read(tag, [EDIT]).move, Misreading)
