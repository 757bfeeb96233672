"""Reading an answer while it is being said."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_custom_agents.dialects import (
    CHINESE,
    ENGLISH,
    JAPANESE,
    Action,
    Answer,
    Bracketed,
    Conversational,
    Dialect,
    JsonBlob,
    Labelled,
    Misreading,
    Move,
    SelfAsk,
)
from langchain_custom_agents.dialects.answering import AnswerReader
from langchain_custom_agents.dialects.form import CLOSING, OPENING

DIALECTS = [
    ENGLISH,
    JAPANESE,
    CHINESE,
    Labelled(thought="Gedanke", action="Handlung", observation="Beobachtung"),
    Conversational(),
    SelfAsk(),
    Bracketed(),
    Bracketed(thought="思考:", action="行動:", observation="観察:", finish="完了"),
    JsonBlob(),
]
TOOLS = ["Search", "Intermediate Answer"]

PIECES = st.sampled_from(
    [
        *("Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:", "AI:"),
        *("思考:", "行動:", "観察:", "最終回答:", "**Action:**", "### Observation", "Obser", "Act"),
        *("[", "]", "\\[", "{", "}", '"', "'", "`", "```json\n", "\\", "\\n", "\\frac", "\\u00e9"),
        *("\n", "\n\n", "\r\n", "\t", " ", "<", "<|im_end|>", "</s>", "<tool_call>", "\\</s>"),
        *(
            "Hiroko is",
            " 10",
            "先生",
            "👩‍🏫",
            "Action films",
            "Finish",
            "Finish[x]",
            "C:\\new",
            "é",
        ),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=6), max_size=8).map("".join)
PLAIN = st.text(st.sampled_from("abz AO\n.,:0é日😀-*"), min_size=1, max_size=80).filter(str.strip)


def pieces_of(text: str, data: st.DataObject) -> list[str]:
    """Cut a text anywhere."""
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=30)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def heard(dialect: Dialect, pieces: Any) -> str:
    """Return what a reader passes on."""
    reader = AnswerReader(dialect)
    return "".join(reader.feed(piece) for piece in pieces)


@given(dialect=st.sampled_from(DIALECTS), thought=TEXTS, answer=TEXTS, data=st.data())
def test_what_is_passed_on_begins_the_answer(
    dialect: Dialect, thought: str, answer: str, data: st.DataObject
) -> None:
    """However a written answer is cut into pieces, what is passed on is its beginning."""
    move = Answer(answer or "x")
    if not move.text:
        return
    written = dialect.write(thought, move)

    assert move.text.startswith(heard(dialect, pieces_of(written, data)))


@given(dialect=st.sampled_from(DIALECTS), thought=TEXTS, given=TEXTS, data=st.data())
def test_nothing_of_a_call_is_passed_on(
    dialect: Dialect, thought: str, given: str, data: st.DataObject
) -> None:
    """A reply that calls a tool has no answer, whatever its thought and its input say."""
    written = dialect.write(thought, Action(dialect.only_tool or "Search", given))

    assert heard(dialect, pieces_of(written, data)) == ""


@given(dialect=st.sampled_from(DIALECTS), thought=TEXTS, said=TEXTS, after=TEXTS, data=st.data())
def test_whatever_a_model_says_it_is_the_beginning_of_the_answer_or_nothing(
    dialect: Dialect, thought: str, said: str, after: str, data: st.DataObject
) -> None:
    """In a reply of any words what is passed on is the beginning of what the dialect reads."""
    label = getattr(dialect, "final_answer", None)
    text = f"{thought}\n{label} {said}" if label else dialect.write(thought, Answer(said or "x"))
    text += after
    if re.search(f"{OPENING}|{CLOSING}", text, re.IGNORECASE):
        return
    try:
        move: Move = dialect.read(text, TOOLS).move
    except ValueError:
        return
    passed_on = heard(dialect, pieces_of(text, data))

    if isinstance(move, Answer):
        assert move.text.startswith(passed_on)
    elif isinstance(move, Action):
        assert passed_on == ""
    else:
        assert isinstance(move, Misreading)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(answer=PLAIN)
def test_plain_answers_come_letter_by_letter(dialect: Dialect, answer: str) -> None:
    """All of a plain answer but what might still become a label is there when it is said."""
    move = Answer(answer)
    lines = move.text.split("\n")
    if any(not line.strip() or line[:1] in "AO" or ":" in line for line in lines):
        return
    if not re.match(r"\w", move.text):
        return
    written = dialect.write("I know", move)
    end = '"}\n```' if isinstance(dialect, JsonBlob) else "]" if hasattr(dialect, "finish") else ""

    passed_on = heard(dialect, written.removesuffix(end))

    assert move.text.startswith(passed_on)
    assert passed_on.startswith(move.text.rpartition("\n")[0].rstrip())
    if "\n" not in move.text:
        assert passed_on == move.text


@pytest.mark.parametrize(
    ("dialect", "said", "passed_on"),
    [
        (ENGLISH, "<think>\nFinal Answer: no\n</think>\nI know\nFinal Answer: yes", "yes"),
        (ENGLISH, "Final Answer: 10\n\nQuestion: next?\nFinal Answer: 11", "10"),
        (ENGLISH, "Action: Search\nAction Input: x\nFinal Answer: 10", ""),
        (ENGLISH, "Observation: x\nFinal Answer: 10", ""),
        (ENGLISH, "Final Answer: 10<|im_end|>\n<|im_start|>user", "10"),
        (ENGLISH, "Final Answer: a < b, and [1] says so", "a < b, and [1] says so"),
        (ENGLISH, "Final Answer: Action films\nAction films are loud.", None),
        (Bracketed(), "Action: Finish[see [1] and more", "see [1] and more"),
        (Bracketed(), "Action: Finish[10] is my answer", "10"),
        (JsonBlob(), 'Action:\n```\n{"action": "Final Answer", "action_input": "a\\nb ', "a\nb"),
        (JsonBlob(), '{"action": "Final Answer", "action_input": "10"}', "10"),
        (JsonBlob(), '{"action": "Search", "action_input": "Final Answer"}', ""),
        (JSON := JsonBlob(), JSON.write("", Answer("\\frac{1}{2}")), "\\frac{1}{2}"),
        (JSON, '{"action": "Final Answer", "action_input": "a \\frac', "a"),
        (JSON, '{"action": "Final Answer", "action_input": "\\ud83d\\ude00!', "😀!"),
        (JSON, '{"action": "Final Answer", "action_input": "\\ud83d', ""),
    ],
)
def test_what_models_say(dialect: Dialect, said: str, passed_on: str | None) -> None:
    """Letter by letter, nothing but the answer is passed on, and all of it that is certain."""
    wanted = said.partition("Final Answer: ")[2] if passed_on is None else passed_on

    assert heard(dialect, said) == wanted


def test_a_dialect_of_your_own_waits() -> None:
    """Of a dialect that is none of this package's nothing is certain before the reply's end."""

    class Shouting(Dialect):
        cue, observation = "HMM:", "SEEN:"

        def write(self, thought: str, move: Move) -> str:
            return f"HMM: {thought}\nSAY: {getattr(move, 'text', '')}"

        def match(self, text: str) -> tuple[str, Move] | None:
            _, label, said = text.partition("SAY:")
            return ("", Answer(said)) if label else None

    assert heard(Shouting(), "HMM: I know\nSAY: 10") == ""


@pytest.mark.parametrize("filler", ["x", "\n", "Act", "\\", "<", "Final Answer", "[", "]"])
@pytest.mark.parametrize("dialect", [ENGLISH, Bracketed(), JsonBlob()])
def test_reading_is_linear(dialect: Dialect, filler: str) -> None:
    """The dialect is asked a bounded number of times however long a reply is."""
    asked: list[int] = []

    class Counting(type(dialect)):  # type: ignore[misc]
        def read(self, text: str, tools: Any = ()) -> Any:
            asked.append(len(text))
            return super().read(text, tools)

    counting = Counting()
    written = counting.write("I know", Answer("x")).replace("x", filler * 3_000)
    heard(counting, written)

    assert len(asked) <= 2
