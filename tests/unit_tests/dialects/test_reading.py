"""What is read in words that are not in the exact written form, and what is refused."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool, Tool

from langchain_custom_agents.dialects import (
    CHINESE,
    ENGLISH,
    JAPANESE,
    Action,
    Answer,
    Bracketed,
    Conversational,
    JsonBlob,
    Labelled,
    Misreading,
    NoSuchTool,
    Prose,
    SelfAsk,
    Toolbox,
)
from langchain_custom_agents.testing.shapes import SHAPES

BY_FORM = {
    "labelled": ENGLISH,
    "bracketed": Bracketed(),
    "json": JsonBlob(),
    "self-ask": SelfAsk(),
    "chat": Conversational(),
}
DIALECTS = [*BY_FORM.values(), JAPANESE, CHINESE]
SEARCH = Tool("Search", lambda _: "", "looks things up")
SUM = StructuredTool.from_function(lambda a, b: a + b, name="add", description="adds two numbers")


def named(shapes):
    """Give each shape its kind as the name of its test."""
    return [pytest.param(shape, id=f"{shape.form}-{shape.kind}") for shape in shapes]


@pytest.mark.parametrize("shape", named(shape for shape in SHAPES if shape.meant))
def test_what_is_clear_is_read(shape):
    """A reply whose meaning is clear is read as it was meant, whatever is the matter with it."""
    assert BY_FORM[shape.form].read(shape.text, shape.tools).move == shape.meant


@pytest.mark.parametrize("shape", named(shape for shape in SHAPES if not shape.meant))
def test_what_cannot_be_known_is_refused(shape):
    """A reply of which nothing can be known is neither run nor passed on as an answer."""
    assert isinstance(BY_FORM[shape.form].read(shape.text, shape.tools).move, Misreading)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.cue)
@pytest.mark.parametrize(
    "text",
    [
        "Action: Search\nAction Input: Mount Aso",
        "行動：Search\n行動の入力：Mount Aso",
        "Action: Search[Mount Aso]",
        '```json\n{"action": "Search", "action_input": "Mount Aso"}\n```',
        '<tool_call>{"name": "Search", "arguments": "Mount Aso"}</tool_call>',
        'Action: Search("Mount Aso")',
    ],
)
def test_every_dialect_reads_every_form(dialect, text):
    """The general reader understands each known form, whichever dialect the prompt asked for."""
    if isinstance(dialect, SelfAsk):
        text = (
            text.replace("Search", "Intermediate Answer").replace('r("', 'r["').replace('")', '"]')
        )
    tool = "Intermediate Answer" if isinstance(dialect, SelfAsk) else "Search"

    assert dialect.read(text, [tool]).move == Action(tool, "Mount Aso")


def test_what_was_mended_is_named():
    """Every repair is one sentence in the reading, and the exact form needs none."""
    exact = ENGLISH.read("I look\nAction: Search\nAction Input: Mount Aso", [SEARCH])
    mended = ENGLISH.read("**Action:** `search`\n**Action Input:** `Mount Aso`", [SEARCH])

    assert exact.repairs == ()
    assert len(mended.repairs) >= 2
    assert all(repair.endswith(".") for repair in mended.repairs)
    assert mended.move == exact.move


def test_what_was_cut_is_kept():
    """The words that were left out stand in the reading, from the first on."""
    said = "**Action:** Search\n**Action Input:** Aso\n**Observation:** high\nFinal Answer: high"
    reading = ENGLISH.read(said)

    assert reading.cut == "**Observation:** high\nFinal Answer: high"


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        (ENGLISH, "Action: Search\nAction Input: Aso Observation: high"),
        (
            ENGLISH,
            'Action: Search\nAction Input: "Aso" Observation: high\nmore\nFinal Answer: high',
        ),
        (ENGLISH, "Action: Search\nAction Input: Aso  Observation 2: high Thought: so"),
        (JAPANESE, "行動: Search\n行動の入力: Aso 観察: high"),
        (Bracketed(), "Action: Search[Aso] Observation: high"),
        (Bracketed(), "I look. Action 1: Search[Aso] Observation 1: high Action 2: Finish[high]"),
        (JsonBlob(), 'Action: {"action": "Search", "action_input": "Aso"} Observation: high'),
        (ENGLISH, "Thought: I look Action: Search Action Input: Aso Observation: high"),
    ],
)
def test_an_observation_within_a_line_is_cut(dialect, said):
    """On one line with the step too, nothing from an invented observation on is believed."""
    reading = dialect.read(said, [SEARCH])

    assert reading.move == Action("Search", "Aso")
    assert "high" in reading.cut


@pytest.mark.parametrize(
    "given",
    [
        'what "Thought: x Observation: y" means',
        "the line `x Observation: y`",
        "rate (see Observation: y)",
        "notes: Observation: y",
        "x observation: y",
        "one line\nand another Observation: y",
        "Heisenberg's 'seen Observation: y'",
        "print('x') # Observation: y",
    ],
)
def test_an_observation_that_an_input_mentions_is_kept(given):
    """In quotation marks, in brackets or as the object of a phrase, the word is only a word."""
    assert ENGLISH.read(f"Action: Search\nAction Input: {given}").move == Action("Search", given)


def test_an_input_that_holds_an_observation_is_written_so_that_it_is_read_back():
    """What would be cut in a model's words is escaped in our own."""
    written = ENGLISH.write("", Action("Search", "Aso Observation: high"))

    assert written.endswith("Action Input: Aso \\Observation: high")
    assert ENGLISH.read(written).move == Action("Search", "Aso Observation: high")


def test_a_label_said_twice_is_said_once():
    """A repeated label is no part of a name, an input or an answer, unless it was escaped."""
    said = "Thought: so\nAction: Action: Search\nAction Input: Action Input: Aso"

    assert ENGLISH.read(said, [SEARCH]).move == Action("Search", "Aso")
    assert ENGLISH.read("Final Answer: Final Answer: 42").move == Answer("42")
    assert ENGLISH.read("Final Answer:\nFinal Answer: 42").move == Answer("42")
    assert ENGLISH.read(ENGLISH.write("", Answer("Final Answer: 42"))).move == Answer(
        "Final Answer: 42"
    )


def test_emphasis_around_a_whole_line_is_taken_off_every_part():
    """What a label opens ends with its content: in the thought as in the input."""
    reading = ENGLISH.read("**Thought: I look**\n**Action: Search**\n**Action Input: Aso**")

    assert (reading.thought, reading.move) == ("I look", Action("Search", "Aso"))


def test_a_tool_that_is_not_there_is_refused_with_the_list():
    """A step that names an unknown tool must not run; the reason lists the tools there are."""
    move = ENGLISH.read("Action: Browser\nAction Input: Mount Aso", [SEARCH, SUM]).move

    assert isinstance(move, NoSuchTool)
    assert move.attempted == Action("Browser", "Mount Aso")
    assert move.reason.endswith("Search, add")


@pytest.mark.parametrize(
    "said",
    [
        *("use the Search tool", "Searchツールを使う", "Search を使用します", "「Search」ツール"),
        *("Search というツールを使う", "Search関数を呼び出す", "使用Search工具", "调用 Search"),
    ],
)
def test_words_around_a_name_are_no_part_of_it_in_any_language(said):
    """That a tool is to be used is said with words around its name, with or without spaces."""
    written = f"思考: 調べます\n行動: {said}\n行動の入力: 阿蘇山"

    assert JAPANESE.read(written, ["Search", "検索"]).move == Action("Search", "阿蘇山")


@pytest.mark.parametrize("marks", ["１．２．３．", "1．2．3．", "1、2、3、", "１）２）３）"])
def test_numbers_as_east_asia_writes_them_are_taken_off_labels(marks):
    """A numbered step is a step, whether its numbers and their marks are wide or narrow."""
    first, second, third = re.findall(r"\d.", marks)
    written = f"{first}思考：調べます\n{second}行動：Search\n{third}行動の入力：阿蘇山\n"
    reading = JAPANESE.read(f"{written}４．観察：高い\n５．最終回答：高い", ["Search"])

    assert reading.move == Action("Search", "阿蘇山")
    assert reading.thought == "調べます"
    assert "観察" in reading.cut


def test_two_tools_that_are_nearly_meant_are_refused():
    """A name that could mean two tools means none."""
    tools = [Tool("web_search", lambda _: "", "-"), Tool("Web Search", lambda _: "", "-")]
    move = ENGLISH.read("Action: WebSearch\nAction Input: Mount Aso", tools).move

    assert isinstance(move, Misreading)


def test_a_name_that_looks_like_an_instruction_is_kept_where_it_is_exact():
    """A tool whose real name carries mark-up or filler words is found by that name first."""
    tools = [Tool("Search tool", lambda _: "", "-"), Tool("Search", lambda _: "", "-")]
    move = ENGLISH.read("Action: Search tool\nAction Input: x", tools).move

    assert move == Action("Search tool", "x")


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ('{"a": 1, "b": 2}', {"a": 1, "b": 2}),
        ("{'A': 1, 'B': 2}", {"a": 1, "b": 2}),
        ('{"input": {"a": 1, "b": 2}}', {"a": 1, "b": 2}),
        ("a=1, b=2", {"a": 1, "b": 2}),
        ("a: 1\nb: 2", {"a": 1, "b": 2}),
        ("- a: 1\n- b: 2", {"a": 1, "b": 2}),
        ("<a>1</a><b>2</b>", {"a": 1, "b": 2}),
        ('[{"a": 1, "b": 2}]', {"a": 1, "b": 2}),
        ('{"add": {"a": 1, "b": 2}}', {"a": 1, "b": 2}),
        ('json\n{"a": 1, "b": 2}', {"a": 1, "b": 2}),
        ("add(1, b=2)", {"a": 1, "b": 2}),
        ('Tool({"a": 1, "b": 2})', {"a": 1, "b": 2}),
    ],
)
def test_inputs_are_set_right_by_the_schema(given, read):
    """Named arguments reach a tool of several arguments under the names that it knows."""
    assert ENGLISH.read(f"Action: add\nAction Input: {given}", [SUM]).move == Action("add", read)


@pytest.mark.parametrize(
    "given",
    ["1 and 2", '{"x": 1, "y": 2}', "[1, 2]", "(1, 2)", '{"a": 1, "b": ', "<a>1</a>", "add(1)"],
)
def test_inputs_that_do_not_fit_are_refused(given):
    """Arguments that the tool does not take are never guessed at."""
    move = ENGLISH.read(f"Action: add\nAction Input: {given}", [SUM]).move

    assert isinstance(move, Misreading)


@pytest.mark.parametrize("given", ['["Kyoto"', "<place>Kyoto</place>", "[[1], {}]", '("Kyoto"'])
def test_what_has_a_structure_is_not_taken_for_the_one_text_that_a_tool_needs(given):
    """A tool of several arguments that needs only one gets no brackets and tags in its place."""
    weather = {
        "name": "weather",
        "parameters": {"properties": {"city": {}, "days": {}}, "required": ["city"]},
    }

    assert isinstance(
        ENGLISH.read(f"Action: weather\nAction Input: {given}", [weather]).move, Misreading
    )
    assert ENGLISH.read("Action: weather\nAction Input: Kyoto, Japan", [weather]).move == Action(
        "weather", {"city": "Kyoto, Japan"}
    )


def test_prose_is_a_misreading_of_its_own_kind():
    """Words with no form at all may be the answer; words with half a form may not."""
    assert isinstance(ENGLISH.read("It is 1,592 metres high.").move, Prose)
    for said in ("Thought: I should look", '{"height": 1592}', "<think>Hm", "Action:", ""):
        assert not isinstance(ENGLISH.read(said).move, Prose)


def test_reasoning_goes_to_the_thought():
    """What stands in a reasoning block is thought, and never an action."""
    reading = ENGLISH.read(
        "<think>Maybe:\nAction: Delete\nAction Input: all\n</think>\nFinal Answer: 42"
    )

    assert reading.move == Answer("42")
    assert "Action: Delete" in reading.thought


def test_a_step_said_only_in_reasoning_is_not_replaced_by_prose():
    """Where a step was thought and only prose was said, nothing can be known."""
    said = "<think>Action: Search\nAction Input: x</think>\nLet me look that up."

    assert isinstance(ENGLISH.read(said).move, Misreading)


def test_plain_words_after_reasoning_are_the_answer():
    """A reasoning model that says plain words after its reasoning has answered."""
    assert ENGLISH.read("17 times 23 is...\n</think>\n\n391", [SEARCH]).move == Answer("391")
    assert isinstance(ENGLISH.read("Hm.</think>I will use Search.", [SEARCH]).move, Misreading)


@pytest.mark.parametrize(
    "said",
    [
        "<think>Hm.</think>\nThought: I should look",
        "<think>Hm.</think>I now know the final answer.",
        "<think>Hm.</think>Do I need to use a tool? No",
        "<think>Hm.</think>Let me try this: [",
        "Sure, here is my step.\n<think>Let me see what",
    ],
)
def test_words_after_reasoning_that_are_no_answer_are_refused(said):
    """A thought, an announcement, half a sentence and words before reasoning answer nothing."""
    assert isinstance(ENGLISH.read(said, [SEARCH]).move, Misreading)


def test_an_announcement_of_the_answer_is_not_the_answer():
    """What prompts teach a model to say first would be returned as the answer were it prose."""
    for said in ("I now know the final answer.", "Thought: I now can give a great answer"):
        assert not isinstance(ENGLISH.read(said).move, Answer | Prose)
    assert isinstance(ENGLISH.read("I now know the final answer is 42.").move, Prose)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: ENGLISH.read(None), "`text` is None; give a text."),
        (lambda: ENGLISH.read(b"Thought:"), "`text` is b'Thought:'; give a text."),
        (lambda: Answer(None), "`Answer.text` is None; give a text."),
        (lambda: Action(None, "x"), "`Action.tool` is None; give a text."),
        (lambda: Action("S", None), "`Action.input` is None; give a text, or a dict of arguments."),
        (lambda: Misreading(None, "x"), "`Misreading.heard` is None; give a text."),
        (lambda: Labelled(thought=3), "`thought` is 3; give a text."),
        (lambda: ENGLISH.write(None, Answer("x")), "`thought` is None; give a text."),
        *(
            (
                lambda dialect=dialect: dialect.write("t", None),
                "`move` is None; give an Action, an Answer or a Misreading.",
            )
            for dialect in DIALECTS
        ),
    ],
)
def test_what_is_no_text_and_no_move_is_refused_in_a_sentence(wrong, said):
    """A value of a wrong type is named with what belongs in its place."""
    with pytest.raises(TypeError, match=re.escape(said)):
        wrong()


@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
def test_a_tool_without_a_name_cannot_be_written(dialect):
    """What a model attempted may lack a name, but no step is written with such a tool."""
    with pytest.raises(ValueError, match="tool"):
        dialect.write("t", Action("", "x"))


def test_of_a_message_its_text_is_read():
    """A chat model's message is read as its words, whether they are one text or blocks of it."""
    said = "Thought: hm\nAction: Search\nAction Input: Aso"
    blocks = [{"type": "text", "text": said}]

    assert ENGLISH.read(AIMessage(said)) == ENGLISH.read(said)
    assert ENGLISH.read(AIMessage(blocks)) == ENGLISH.read(said)


@pytest.mark.parametrize("mark", ["\ufeff", "\u200b"])
def test_unseen_marks_before_a_reply_hide_no_label(mark):
    """A byte order mark before the first label is no part of it."""
    assert ENGLISH.read(
        f"{mark}Final Answer: 42\n\nAction: Search\nAction Input: x"
    ).move == Answer("42")
    assert isinstance(ENGLISH.read(f"{mark}Observation: 42\nFinal Answer: 42").move, Misreading)


def test_a_reply_that_is_indented_as_a_whole_is_read_without_the_indentation():
    """Code in an indented reply must run; an indentation of its own it keeps."""
    said = "    Action: python\n    Action Input:\n    if x:\n        print(x)\n    "

    assert ENGLISH.read(said).move == Action("python", "if x:\n    print(x)")
    assert ENGLISH.read(" Action: python\nAction Input:\nif x:\n    print(x)").move == Action(
        "python", "if x:\n    print(x)"
    )


def test_a_call_in_block_quotation_is_read_without_its_marks():
    """The marks of a quotation around the whole reply are in no argument."""
    said = (
        "> I add.\n> <function=add>\n> <parameter=a>\n> 1\n> </parameter>\n> <parameter=b>\n> 2\n"
    )
    said += "> </parameter>\n> </function>"

    assert ENGLISH.read(said, [SUM]).move == Action("add", {"a": 1, "b": 2})


def test_a_block_quotation_may_be_indented():
    """A reply whose lines are all quoted is read, however far in the marks stand."""
    said = f"> Thought: I look\n{' ' * 12}> Action: Search\n{' ' * 12}> Action Input: Takuma"

    assert ENGLISH.read(said).move == Action("Search", "Takuma")


@pytest.mark.parametrize(
    "call",
    [
        '<x:tool_call>\n<invoke name="add">\n<parameter name="a">1</parameter>'
        '<parameter name="b">2</parameter>\n</invoke>\n</x:tool_call>',
        "I add: [add(a=1, b=2)]",
        '{"name": "add", "arguments": {"a": 1, "b": 2}}',
    ],
)
def test_a_call_without_labels_comes_before_a_later_answer(call):
    """Whatever its form, a call is taken and the answer invented after it is cut."""
    said = f"{call}\n\nQuestion: and then?\nThought: so\nFinal Answer: 4"

    assert ENGLISH.read(said, [SUM]).move == Action("add", {"a": 1, "b": 2})


def test_own_labels_come_first():
    """A dialect's own word for a label wins over what the word means elsewhere."""
    own = Labelled(
        thought="Action:", action="Observation:", observation="Thought:", action_input="With:"
    )
    said = "**Action:** I look\n**Observation:** Search\n**With:** Mount Aso\n**Thought:** high"

    assert own.read(said).move == Action("Search", "Mount Aso")


def test_self_ask_is_read_in_another_dialect_where_its_tool_is_there():
    """A follow-up question is a call only where the tool for it exists."""
    said = "Follow up: How high is Mount Aso?"

    assert ENGLISH.read(said, ["Intermediate Answer"]).move == Action(
        "Intermediate Answer", "How high is Mount Aso?"
    )
    assert isinstance(ENGLISH.read(said, [SEARCH]).move, Misreading)


def test_a_thought_that_introduces_an_example_is_told_from_one_that_does_not():
    """Our own step after such a thought is marked when written, so that it is read back."""
    thought = "The prompt says it like this, for example:"
    written = ENGLISH.write(thought, Action("Search", "x"))
    quoted = written.replace(":\\\n", ":\n")

    assert ENGLISH.read(written).move == Action("Search", "x")
    assert ENGLISH.read(written).thought == thought
    assert isinstance(ENGLISH.read(quoted).move, Misreading)


@pytest.mark.parametrize(
    ("dialect", "lead"),
    [
        *((JAPANESE, lead) for lead in ("例:", "例：", "（例）：", "使用例：", "例として：")),
        *((JAPANESE, lead) for lead in ("例えば、こう書きます：", "次の形式で書きます:", "形式：")),
        *((JAPANESE, lead) for lead in ("次のように書きます：", "以下のように：", "書き方:")),
        *((CHINESE, lead) for lead in ("例如:", "比如：", "示例:", "例子：", "举例说明：")),
        *((CHINESE, lead) for lead in ("格式如下：", "按以下格式：", "可以这样写：", "如下所示：")),
    ],
)
def test_a_step_that_is_introduced_as_an_example_does_not_run_in_any_language(dialect, lead):
    """What Japanese and Chinese say before an example keeps the step after it from running."""
    call = Action("Search", "阿蘇山")
    step = dialect.write("", call).removeprefix(dialect.cue).strip()

    assert isinstance(dialect.read(f"{lead}\n{step}", ["Search"]).move, Misreading)
    assert dialect.read(dialect.write(lead, call)).thought == lead
    assert dialect.read(dialect.write(lead, call)).move == call


@pytest.mark.parametrize(
    ("dialect", "lead"),
    [
        *((JAPANESE, lead) for lead in ("次のように検索します：", "例外を調べる：", "条例:")),
        *((CHINESE, lead) for lead in ("我需要搜索：", "比例：", "接下来：")),
    ],
)
def test_a_step_after_words_that_only_resemble_an_example_runs(dialect, lead):
    """A colon before a step, or a word that merely holds the sign for examples, stops nothing."""
    call = Action("Search", "阿蘇山")
    step = dialect.write("", call).removeprefix(dialect.cue).strip()

    assert dialect.read(f"{lead}\n{step}", ["Search"]).move == call


@pytest.mark.parametrize("language", [ENGLISH, JAPANESE, CHINESE], ids=["en", "ja", "zh"])
def test_reasons_are_in_the_language_of_the_dialect(language):
    """What is said to the model about a misreading is said in its dialect's language."""
    reason = language.read('{"action": "Search", "action_input": "Mou').move.reason

    assert reason == language.phrases.cut_off


# What nobody meant to write.

_FORMS = [
    *("Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:", "Question:"),
    *("思考：", "行動:", "動作輸入:", "最終回答：", "Follow up:", "AI:", "Answer:", "Tool:"),
    *("Search", "Finish", "None", "N/A", "Search[", "]", "Search(", ")", "Finish[x]"),
    *('{"action": "Search"', '"action_input": "x"}', "{", "}", "[", '"', "'", ",", ":", "\\"),
    *("```", "```json", "~~~", "`", "**", "##", ">", "-", "1.", "\\Action:"),
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<function=Search>", "<|im_end|>"),
    *("<|channel|>final<|message|>", "<tool>Search</tool>", "<tool_input>", "[TOOL_CALLS]"),
    *("<invoke name='Search'>", "<parameter=x>", "</parameter>", "for example:", "print("),
    *("<x:tool_call>", "<invoke>", "<tool_name>Search</tool_name>", "<parameters>", "call:Search{"),
    *("<|tool_call>", '<|"|>', "✿FUNCTION✿: Search", "✿ARGS✿:", "[Search(", "[Calling tool: "),
    *(
        "<｜DSML｜invoke name='Search'>",
        "<|START_ACTION|>",
        "analysisWe",
        "assistantfinal",
        "\ufeff",
    ),
    *(
        "[Action] ",
        "(Final Answer): ",
        "<action>",
        "</action>",
        "Action - ",
        "Final Answer 4",
        "<br>",
    ),
    *(
        '"""',
        "<response>",
        "</response>",
        "---\n",
        "| ",
        " Observation: ",
        "Action: Action:",
        "\\n",
    ),
    *("\n", "\n\n", " ", "\t", "\r\n", ". ", "x", "Mount Aso", "高さ", "\x00", "\ud800"),
]
_WORDS = st.lists(st.one_of(st.sampled_from(_FORMS), st.text(max_size=5)), max_size=14).map("".join)
# Three times as many examples as usual in the profile that was chosen.
_fuzz = settings(max_examples=3 * settings().max_examples)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.cue)
@_fuzz
@given(words=_WORDS)
def test_no_words_break_the_reader(dialect, words):
    """Whatever is said, there is a reading, and it is not changed by reading again."""
    reading = dialect.read(words, [SEARCH, SUM])

    assert reading == dialect.read(words, Toolbox.of([SEARCH, SUM]))
    assert isinstance(reading.move, Misreading) or not (
        isinstance(reading.move, Answer) and not reading.move.text
    )


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.cue)
@_fuzz
@given(words=_WORDS)
def test_nothing_is_called_that_was_not_named(dialect, words):
    """An action names a tool that there is and that the words name, and holds their words."""
    move = dialect.read(words, [SEARCH, SUM]).move
    if not isinstance(move, Action):
        return
    said = re.sub(r"\W|_", "", words.casefold())

    assert move.tool in ("Search", "add")
    assert move.tool.casefold() in said
    if isinstance(move.input, str):
        assert re.sub(r"\W|_", "", move.input.casefold()) in said


@_fuzz
@given(before=_WORDS, after=_WORDS)
def test_nothing_after_an_observation_is_believed(before, after):
    """From an invented observation on, words change nothing but what was cut."""
    believed = ENGLISH.read(f"{before}\nObservation: {after}", [SEARCH]).move
    alone = ENGLISH.read(f"{before}\nObservation:", [SEARCH]).move

    # A reasoning block or a channel that ends later makes thought of what came before it.
    if "think" not in after and "channel" not in after:
        both = isinstance(believed, Misreading) and isinstance(alone, Misreading)
        assert both or believed == alone


_MEGABYTE = 1_000_000
_HOSTILE = [
    *("Action:", "Action:\n", "Action: Search\nAction Input: x\n", "Thought: x\n", "Final Answer:"),
    *("Observation", "[", "]", "Search[", "(", '"', "'", "\\", " ", "\n", "\r\n", "`", "```\n"),
    *("```json\n", "~~~\n", "{", "{}", '{"action": ', '{"action": "Search", "action_input": "'),
    *("<think>", "</think>", "<tool_call>", '<tool_call>{"name"', "<parameter=x>", "<|im_end|>"),
    *("<|channel|>", "[TOOL_CALLS]", "> Action: x\n", "\\Action: x\n", ". Final Answer: ", "思考:"),
    *(
        "[Action] x\n",
        "<action>x</action>",
        "Action - x\n",
        " Observation: x",
        "Final Answer 4\n",
        "<br>",
    ),
]


@pytest.mark.parametrize("piece", _HOSTILE, ids=repr)
def test_a_megabyte_of_anything_is_read(piece):
    """A megabyte of one piece of form is read; were that not linear, this would not end."""
    words = "Action: Search\nAction Input: " + piece * (_MEGABYTE // len(piece))

    for text in (words, words[len("Action: Search\nAction Input: ") :]):
        assert isinstance(JsonBlob().read(text, [SEARCH]).move, Action | Answer | Misreading)


QUERY = {"name": "find", "parameters": {"properties": {"query": {"type": "string"}}}}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.cue)
def test_an_answer_that_is_a_call_is_refused_as_an_object_too(dialect):
    """What the answer holds is read as what it is, be it a text or an object."""
    inner = '{"action": "Search", "action_input": "Aso"}'
    said = f'{{"action": "Final Answer", "action_input": {inner}}}'

    assert isinstance(dialect.read(said, [SEARCH]).move, Misreading)


def test_an_answer_that_is_a_step_under_labels_is_refused():
    """A step behind the label of the answer is a call or an answer: it cannot be known which."""
    said = "Final Answer: Action: Search\nAction Input: Aso"

    assert isinstance(ENGLISH.read(said, [SEARCH]).move, Misreading)
    assert ENGLISH.read("Final Answer: Action: films with stunts", [SEARCH]).move == Answer(
        "Action: films with stunts"
    )


@pytest.mark.parametrize(
    "given",
    [
        '｛"a"：1，"b"：2｝',
        "{「a」: 1、「b」: 2}".replace("、", "，"),
        "{'a'：1, 'b'：2}",
        "{“a”：1，“b”：2}",
    ],
)
def test_marks_of_east_asian_keyboards_are_marks_of_json(given):
    """Where JSON needs a mark, its wide form is the same."""
    assert JAPANESE.read(f"行動: add\n行動の入力: {given}", [SUM]).move == Action(
        "add", {"a": 1, "b": 2}
    )


def test_wide_marks_within_a_text_stay():
    """Only what stands between the texts is JSON's."""
    said = "行動: find\n行動の入力: {'query'：'阿蘇山，高さ：１'}"

    assert JAPANESE.read(said, [QUERY]).move == Action("find", {"query": "阿蘇山，高さ：１"})


@pytest.mark.parametrize(
    "said", ["検索（阿蘇山）", "検索【阿蘇山】", "検索(阿蘇山)", "検索［阿蘇山］"]
)
def test_wide_brackets_around_an_input_are_no_part_of_it(said):
    """A call is written with the brackets that the keyboard gives."""
    assert JAPANESE.read(f"行動: {said}", ["検索"]).move == Action("検索", "阿蘇山")


@pytest.mark.parametrize("label", ["观察结果", "觀察結果", "観察結果", "观察"])
def test_an_observation_is_cut_under_every_name_it_has(label):
    """What a tool is said to have returned is invented, whatever it is called."""
    said = f"行动: 搜索\n行动输入: 北京\n{label}：晴\n最终答案：晴"

    assert CHINESE.read(said, ["搜索"]).move == Action("搜索", "北京")


@pytest.mark.parametrize("before", ["Zum Beispiel:", "Beispiel:", "Por ejemplo:", "예를 들어:"])
def test_an_example_is_introduced_in_other_languages_too(before):
    """Labels of one's own come with words of one's own around them."""
    own = Labelled(thought="Denken", action="Tun", action_input="Womit", final_answer="Ende")

    assert isinstance(own.read(f"{before}\nTun: Search\nWomit: x").move, Misreading)


def test_a_label_may_hold_the_mark_of_a_block_quotation():
    """A label of one's own is no quotation, whatever it is made of."""
    own = Labelled(thought="THINK>>", action="DO>>", action_input="WITH>>", final_answer="SAY>>")

    assert own.read("DO>>: Search[Aso]", [SEARCH]).move == Action("Search", "Aso")
    assert isinstance(own.read("> DO>>: Search[Aso]\n\nSo.", [SEARCH]).move, Misreading)


@pytest.mark.parametrize(
    ("given", "tool", "read"),
    [
        ('{"action": "find", "action_input": "Aso"}', QUERY, {"query": "Aso"}),
        (
            '<tool_call>{"name": "find", "arguments": {"query": "Aso"}}</tool_call>',
            QUERY,
            {"query": "Aso"},
        ),
        ("{'a': 1}['a']", SEARCH, "{'a': 1}['a']"),
    ],
)
def test_an_input_is_read_as_what_it_is(given, tool, read):
    """The tool's own call around an input goes; code that begins like an object stays."""
    name = tool["name"] if isinstance(tool, dict) else tool.name
    move = ENGLISH.read(f"Action: {name}\nAction Input: {given}", [tool]).move

    assert move == Action(name, read) or move.input == read["query"]


def test_the_same_input_said_twice_is_one():
    """Beside the name and under its label, as an expression and as JSON."""
    said = 'Action: add(a=1, b=2)\nAction Input: {"a": 1, "b": '

    assert ENGLISH.read(f"{said}2}}", [SUM]).move == Action("add", {"a": 1, "b": 2})
    assert isinstance(ENGLISH.read(f"{said}3}}", [SUM]).move, Misreading)


def test_arguments_that_only_running_would_tell_are_refused():
    """Unpacking is code, not an argument."""
    assert isinstance(ENGLISH.read('find(**{"query": "Aso"})', [QUERY]).move, Misreading)


def test_line_breaks_that_were_written_out_are_line_breaks():
    """A step that a server has escaped is read, and its invented observation cut."""
    said = "Action: Search\\nAction Input: Aso\\nObservation: high"

    assert ENGLISH.read(said, [SEARCH]).move == Action("Search", "Aso")


def test_a_fixed_space_before_a_colon_belongs_to_the_label():
    """French is written so."""
    said = "Action\u00a0: Search\nAction Input\u202f: Aso\nObservation\u00a0: high"

    assert ENGLISH.read(said, [SEARCH]).move == Action("Search", "Aso")


def test_a_remark_in_the_label_of_the_answer_is_no_part_of_it():
    """Words in brackets before the colon say what the answer is like."""
    assert ENGLISH.read("Final Answer (in metres): 1592").move == Answer("1592")


@pytest.mark.parametrize(
    "said",
    [
        "Handlung: Antwort\nEingabe: 42",
        '{"action": "Antwort", "action_input": "42"}',
        "Antwort[42]",
    ],
)
def test_a_label_of_ones_own_for_the_answer_means_it_in_place_of_a_tool(said):
    """What the answer is called is known in every form, whatever the language."""
    own = Labelled(action="Handlung", action_input="Eingabe", final_answer="Antwort")

    assert own.read(said, [SEARCH]).move == Answer("42")


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: type(dialect).__name__)
@pytest.mark.parametrize("said", ["```\n```", "I look\n```python\n\n```"])
def test_a_fence_around_nothing_is_no_call(dialect, said):
    """Nothing stands in it that could be one."""
    assert isinstance(dialect.read(said, [SEARCH]).move, Misreading)
