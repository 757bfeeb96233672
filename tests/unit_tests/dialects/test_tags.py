"""Calls in the tags of open models."""

import pytest
from langchain_core.tools import Tool

from langchain_custom_agents.dialects import (
    ENGLISH,
    JAPANESE,
    Action,
    Answer,
    Bracketed,
    JsonBlob,
    Misreading,
    Prose,
    Toolbox,
)
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


WEATHER = {
    "name": "weather",
    "parameters": {
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
NOW = {"name": "now", "parameters": {"properties": {}}}
OTHER_DIALECTS = [JsonBlob(), Bracketed(), JAPANESE]


def test_no_argument_of_a_call_is_lost():
    """A value may hold what tags are made of; of an argument that is not whole nothing is left."""
    pair = "<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n"
    whole = (
        f"<tool_call>weather\n{pair.format('city', 'a < b')}{pair.format('days', 2)}</tool_call>"
    )
    torn = whole.replace("</arg_value>\n<arg_key>days", "\n<arg_key>days")

    assert given(whole, WEATHER) == {"city": "a < b", "days": 2}
    assert isinstance(ENGLISH.read(torn, [WEATHER]).move, Misreading)
    children = "Action: weather\nAction Input: <city>a</city><days>2<3</days>"
    assert isinstance(ENGLISH.read(children, [WEATHER]).move, Misreading)


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>weather<arg_key>city</arg_key>Aso</arg_value></tool_call>",
        "<tool_call>weather<arg_key>city</arg_key></arg_key><arg_value>Aso</arg_value></tool_call>",
        '<TOOLCALL>[{"name": "weather", "arguments": {"city": "Aso"}}]</TOOLCALL>',
        '<tool_use>\n<name>weather</name>\n<arguments>{"city": "Aso"}</arguments>\n</tool_use>',
        '<tool_call>\n<invoke name="weather">\n<city>Aso</city>\n</invoke>\n</tool_call>',
        '<function_calls>\nweather(city="Aso")\nweather(city="Fuji")\n</function_calls>',
        '```tool_code\nweather(city="Aso")\nweather(city="Fuji")\n```',
        '<|start|>assistant to=functions.weather<|channel|>commentary<|message|>{"city": "Aso"}',
        'assistantanalysisHm.assistantcommentary to=functions.weather code{"city": "Aso"}',
        'Action: ```json\n[\n            {"tool_name": "weather", "args": {"city": "Aso"}}\n]\n```',
    ],
)
def test_what_open_models_of_today_write_is_read(text):
    """The first call is read as it was meant, though a tag is missing, doubled or another's."""
    assert ENGLISH.read(text, [WEATHER, NOW]).move == Action("weather", {"city": "Aso"})


@pytest.mark.parametrize(
    "text",
    [
        '<answer>{"name": "weather", "arguments": {"city": "Aso"}}</answer>',
        "For example:\nweather(city='Aso')\nweather(city='Fuji')",
        "if True:\n    weather(city='Aso')",
    ],
)
def test_what_only_looks_like_a_call_or_an_answer_is_neither(text):
    """An answer that is a call, calls shown one above the other, and code do nothing."""
    assert isinstance(ENGLISH.read(text, [WEATHER]).move, Misreading)


def test_a_tool_that_takes_nothing_is_called_by_its_name_alone():
    """A name between tags is a call, if that tool needs no more."""
    assert ENGLISH.read("<tool_call>now\n</tool_call>", [WEATHER, NOW]).move == Action("now", {})
    assert isinstance(ENGLISH.read("<tool_call>weather</tool_call>", [WEATHER]).move, Misreading)


def test_a_tool_of_one_text_gets_the_text_whatever_its_argument_is_called():
    """Tags name arguments; a tool of one text has no names, and no use for an object."""
    python = Tool("Python", lambda _: "", "runs code")
    text = "<function=Python>\n<parameter=code>\nprint(1)\n</parameter>\n</function>"

    assert ENGLISH.read(text, [python]).move == Action("Python", "print(1)")


@pytest.mark.parametrize("dialect", OTHER_DIALECTS)
@pytest.mark.parametrize(
    "around",
    [
        "For example:\n{}",
        "In that form one writes:\n```xml\n{}\n```\nI hope this helps!",
        "> {}\n\nSo.",
    ],
)
def test_a_call_shown_in_tags_does_not_run_in_any_dialect(dialect, around):
    """What is only shown stays shown, also where the form itself is JSON."""
    call = '<tool_call>\n{"name": "weather", "arguments": {"city": "Aso"}}\n</tool_call>'
    quoted = call.replace("\n", "") if around.startswith(">") else call

    assert isinstance(dialect.read(around.format(quoted), [WEATHER]).move, Misreading)
    assert dialect.read(call, [WEATHER]).move == Action("weather", {"city": "Aso"})


@pytest.mark.parametrize("tools", [(), ("weather",), (WEATHER,)])
def test_a_tool_that_is_described_is_not_called(tools):
    """The schema of the arguments, repeated from the prompt, is none of them."""
    schema = '{"type": "object", "properties": {"city": {"type": "string"}}}'
    said = f'{{"name": "weather", "parameters": {schema}}}'

    assert isinstance(JsonBlob().read(said, tools).move, Misreading)


def test_what_a_tool_returned_is_not_believed_in_channels():
    """A result that the model addresses to itself is invented, and so is what follows."""
    said = (
        "<|channel|>analysis<|message|>Hm<|end|><|start|>functions.weather to=assistant"
        "<|channel|>commentary<|message|>sunny<|end|><|start|>assistant<|channel|>final<|message|>"
        "It is sunny."
    )

    assert isinstance(ENGLISH.read(said, [WEATHER]).move, Misreading)


@pytest.mark.parametrize(
    "text",
    ['weather[ARGS]{"city": "Aso"}', 'to=functions.weather {"city": "Aso"}'],
)
def test_what_is_left_of_tags_never_passes_for_an_answer(text):
    """Words that can be no answer are not taken for one when they are said twice."""
    assert not isinstance(ENGLISH.read(text, [WEATHER]).move, Prose)
    assert not isinstance(ENGLISH.read(f"<think>Hm</think>Now: {text}", [WEATHER]).move, Answer)
