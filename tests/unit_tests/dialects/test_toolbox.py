"""What describes a tool, and what does not."""

import sys

import pytest
from langchain_core.tools import StructuredTool

from langchain_custom_agents.dialects import ENGLISH, JsonBlob, Toolbox, ToolSpec


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (["city"], r"The schema of the tool weather is \['city'\]"),
        ({"properties": ["city"]}, r"`properties` is \['city'\]; give an object of names"),
        ({"properties": {"city": "string"}}, "`properties` is {'city': 'string'}"),
        ({"properties": {"city": {}}, "required": True}, "`required` is True; give a list"),
        ({"properties": {"city": {}}, "required": "city"}, "`required` is 'city'"),
        ({"properties": {"city": {}}, "$defs": ["x"]}, r"`\$defs` is \['x'\]"),
    ],
)
def test_what_is_no_schema_is_refused_in_a_sentence(schema, said):
    """The sentence names the tool and the field, wherever the tool is used first."""
    tool = {"name": "weather", "parameters": schema}
    for use in (ToolSpec.of, lambda each: ENGLISH.read("Action: weather", [each])):
        with pytest.raises(TypeError, match=said) as error:
            use(tool)
        assert "the tool weather" in str(error.value)


@pytest.mark.parametrize("tool", [{"name": None}, {"name": 3}, {"function": None}, 5])
def test_a_tool_without_a_name_is_refused_in_a_sentence(tool):
    """A tool is called by its name, so what has none that is a text is no tool."""
    with pytest.raises(TypeError, match="A tool is a LangChain tool, a function schema"):
        ToolSpec.of(tool)


@pytest.mark.parametrize("tools", ["Search", {"name": "Search"}, None, 5])
def test_one_tool_alone_is_no_list_of_tools(tools):
    """A name would be read as its letters, a schema as its keys: both are refused."""
    for use in (Toolbox.of, lambda given: ENGLISH.read("Action: Search", given)):
        with pytest.raises(TypeError, match="give a list of tools, of schemas"):
            use(tools)


def test_nothing_where_a_schema_has_a_list_is_nothing():
    """Some servers send null for what they leave out."""
    schema = {"properties": {"city": {}}, "required": None, "$defs": None}

    assert ToolSpec.of({"name": "weather", "parameters": schema}).required == ()
    assert ToolSpec.of({"name": "weather", "parameters": {"properties": None}}).args is None


def test_the_schema_of_anything_may_be_true():
    """True is a schema in JSON Schema; every grammar knows it as that of anything."""
    tool = {"name": "note", "parameters": {"properties": {"what": True}, "required": ["what"]}}

    assert ToolSpec.of(tool).args == {"what": {}}
    assert "value: STRING | NUMBER" in JsonBlob().grammar([tool], "lark")


def test_schemas_as_anthropic_writes_them_are_read():
    """Its name for the schema differs, and its arguments are known all the same."""
    schema = {"properties": {"city": {"type": "string"}}, "required": ["city"]}
    ours = Toolbox.of([{"name": "weather", "parameters": schema}])

    assert Toolbox.of([{"name": "weather", "input_schema": schema}]).specs == ours.specs


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="pydantic 1 ends with Python 3.13")
def test_arguments_described_in_pydantic_1_are_read():
    """LangChain still takes such a schema, so tools of older code do not end in AttributeError."""
    from pydantic import v1

    class City(v1.BaseModel):
        name: str

    class Arguments(v1.BaseModel):
        city: City
        days: int = 1

    weather = StructuredTool(name="weather", description="sun", args_schema=Arguments, func=str)
    spec = ToolSpec.of(weather)

    assert (list(spec.args), spec.required, list(spec.definitions)) == (
        ["city", "days"],
        ("city",),
        ["City"],
    )
