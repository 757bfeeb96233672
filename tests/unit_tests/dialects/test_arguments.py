"""What a tool is called with, read from the words of a model."""

import pytest
from langchain_core.tools import Tool

from langchain_custom_agents.dialects import ENGLISH, Bracketed, ToolSpec
from langchain_custom_agents.dialects.arguments import read_arguments, read_input
from langchain_custom_agents.dialects.lenient_json import BrokenJSONError, read_json, to_json

ONE = ToolSpec("python", args={"code": {"type": "string"}}, required=("code",))
LIST = ToolSpec("mean", args={"numbers": {"type": "array"}}, required=("numbers",))
TWO = ToolSpec("add", args={"a": {}, "b": {}}, required=("a", "b"))
NONE = ToolSpec("now", args={})


@pytest.mark.parametrize("text", [None, "", "  ", "null", "None", "{}"])
def test_no_arguments_are_an_empty_object(text):
    """Empty and null arguments are what a provider sends for a tool without any."""
    assert read_arguments(text, NONE) == {}


@pytest.mark.parametrize(
    ("text", "spec", "read"),
    [
        ('{"a": 1, "b": 2}', TWO, {"a": 1, "b": 2}),
        ('"{\\"a\\": 1, \\"b\\": 2}"', TWO, {"a": 1, "b": 2}),
        ("{'a': 1, 'b': None,}", TWO, {"a": 1, "b": None}),
        ('{"a": (1 + 2) * 3, "b": 4 / 2}', TWO, {"a": 9, "b": 2.0}),
        ('{"a": 1, "b": 2}\n```', TWO, {"a": 1, "b": 2}),
        ("import os\nprint(os)", ONE, {"code": "import os\nprint(os)"}),
        ("```python\nprint(1)\n```", ONE, {"code": "print(1)"}),
        ('"print(1)"', ONE, {"code": "print(1)"}),
        ('{"code": "first\nsecond"}', ONE, {"code": "first\nsecond"}),
        ('{"code": `print("hi")`}', ONE, {"code": 'print("hi")'}),
        ('{"code": "print("hi")"}', ONE, {"code": 'print("hi")'}),
        ("[1, 2, 3]", LIST, {"numbers": [1, 2, 3]}),
        ("3", ToolSpec("wait", args={"seconds": {}}), {"seconds": 3}),
        ("Mount Aso", ToolSpec("Search", takes_text=True), "Mount Aso"),
        ("Mount Aso", None, "Mount Aso"),
    ],
)
def test_what_was_meant_is_read(text, spec, read):
    """Arguments that are no strict JSON are read where they can only mean one thing."""
    assert read_arguments(text, spec) == read


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("1 and 2", TWO),
        ("[1, 2]", TWO),
        ('{"a": 1, "b": "tw', TWO),
        ('{"a": 1, "b": __import__("os").getcwd()}', TWO),
        ('{"a": 1, "a": 2}', TWO),
        ("something", NONE),
    ],
)
def test_what_cannot_be_known_is_refused(text, spec):
    """Arguments that could mean several things raise a sentence, and nothing is run."""
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        read_arguments(text, spec)


@pytest.mark.parametrize(
    "text",
    [
        r"\frac{1}{2} \times \theta",
        r"C:\Users\new\table.txt",
        "tab\tand\fform feed\b",
        "C:\nnext line",
        "\nabla",
        "\\\\server\\share",
        "\x00\x1f\u2028",
    ],
)
def test_json_of_ours_is_read_back(text):
    """What we write as JSON is read back, backslashes and control characters included."""
    found = read_json(to_json({"text": text}))

    assert (found.value, found.repaired) == ({"text": text}, False)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"\frac{1}{2}", r"\frac{1}{2}"),
        (r"\times 3 \right)", r"\times 3 \right)"),
        (r"C:\Users\new", r"C:\Users\new"),
        (r"\(x^2\)", r"\(x^2\)"),
        (r"one\ntwo", "one\ntwo"),
        (r"it\'s", "it's"),
    ],
)
def test_backslashes_survive(written, text):
    """A model that forgets to double its backslashes is understood."""
    assert read_json(f'{{"text": "{written}"}}').value == {"text": text}


@pytest.mark.parametrize("text", ['{"a": "b": "c"}', "{x | x > 0}", '{"a": "b', "{" * 90, "{]"])
def test_a_repair_invents_nothing(text):
    """JSON from which a library would make something up is refused."""
    with pytest.raises(BrokenJSONError):
        read_json(text)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("```sql\nSELECT 1\n```", "SELECT 1"),
        ("```sql\nSELECT 1\n```\nThis counts.", "SELECT 1"),
        ("`ls -l`", "ls -l"),
        ("'it's high'", "it's high"),
        ('"a" and "b"', '"a" and "b"'),
        ("game.html\n\n```html\n<p>\n```", "game.html\n\n```html\n<p>\n```"),
        ("\\{x | x > 0}", "{x | x > 0}"),
        ("{x | x > 0}", "{x | x > 0}"),
        ('""', ""),
    ],
)
def test_inputs_as_text(text, read):
    """What stands around a text goes; what belongs to it stays."""
    assert read_input(text, ToolSpec("any"))[0] == read


def test_code_that_breaks_off_is_not_run():
    """A fence that is opened and not closed tells of code that is not whole."""
    with pytest.raises(BrokenJSONError):
        read_input("```python\nshutil.rmtree(folder /", ToolSpec("python"))


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": "x[1]", "b": 2',
        '{"a": "b]", "c": {"d": "e}f',
        '{"a": "5" tall"}',
    ],
)
def test_no_text_is_torn_at_a_bracket_or_given_the_mark_that_ends_it(text):
    """What a repair would cut in the middle of a text, or add to it, is refused."""
    with pytest.raises(BrokenJSONError):
        read_json(text)


def test_a_repaired_text_keeps_its_punctuation():
    """A text that was mended holds the marks of the text that was written, and no others."""
    read = read_json("""{"a": "x[href='y']; (z)" "b": "p, q"}""").value

    assert read == {"a": "x[href='y']; (z)", "b": "p, q"}


def test_emphasis_that_ended_with_the_label_is_no_part_of_the_arguments():
    """Two asterisks before arguments are left over from "**Action Input: ** {...}"."""
    assert read_input('** {"a": 1, "b": 2}', TWO)[0] == {"a": 1, "b": 2}
    assert read_input("**kwargs", ToolSpec("Search"))[0] == "**kwargs"


@pytest.mark.parametrize("text", ['{"price": 1.10}', "{'a': True}", '{"a": 1, "a": 2}'])
@pytest.mark.parametrize("written", ["Action: post\nAction Input: {}", "Action: post[{}]"])
def test_a_tool_of_one_text_gets_an_object_to_the_letter(written, text):
    """A request body, or a value in code, is not rewritten as other JSON of the same meaning."""
    dialect = Bracketed() if "[" in written else ENGLISH
    post = Tool(name="post", func=str, description="Send a body.")

    assert dialect.read("Thought: t\n" + written.replace("{}", text), [post]).move.input == text
