r"""Fuzz the reader of every dialect with atheris, guided by which lines of the code are reached.

    python -m tests.fuzz.reading -max_total_time=600 [FOLDER]

The options are libFuzzer's. What fails is written to a file `crash-...`, and is read again by
giving that file. A folder keeps the words that reached something new, from one run to the next.
"""

import re
import sys
import tempfile
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["langchain_custom_agents.dialects"]):
    from langchain_custom_agents.dialects import (
        CHINESE,
        ENGLISH,
        JAPANESE,
        Action,
        Answer,
        Bracketed,
        Conversational,
        JsonBlob,
        Misreading,
        SelfAsk,
        Toolbox,
    )
    from langchain_custom_agents.dialects.toolbox import ToolSpec
    from langchain_custom_agents.testing.shapes import SHAPES

DIALECTS = (ENGLISH, Bracketed(), JsonBlob(), Conversational(), SelfAsk(), JAPANESE, CHINESE)
NAMES = ("Search", "add", "Intermediate Answer")
TOOLS = (
    (),
    Toolbox.of(NAMES),
    Toolbox(
        (
            ToolSpec("Search", args={"query": {}}, takes_text=True),
            ToolSpec("add", args={"a": {}, "b": {}}, required=("a", "b")),
            ToolSpec("Intermediate Answer", args={"question": {}}, required=("question",)),
        )
    ),
)

# What a byte from 128 on stands for, so that a fuzzer finds a whole piece of form in one step.
FORMS = (
    *("Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:", "Question:"),
    *(
        "思考：",
        "行動:",
        "動作輸入:",
        "最終回答：",
        "观察:",
        "Follow up:",
        "AI:",
        "Answer:",
        "Tool:",
    ),
    *("Search", "add", "Intermediate Answer", "Finish", "None", "N/A", "Search[", "Search("),
    *('{"action": "Search"', '"action_input": "x"}', '{"a": 1, "b": 2}', "action_input", "name"),
    *("```", "```json\n", "~~~", "**", "## ", "> ", "- ", "1. ", "\\Action:", "\\\\", "\\frac"),
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<function=Search>", "</function>"),
    *("<|im_end|>", "<|channel|>final<|message|>", "<tool>Search</tool>", "<tool_input>"),
    *("[TOOL_CALLS]", "<invoke name='Search'>", "<parameter=query>", "</parameter>"),
    *(
        "For example:\n",
        "I will use ",
        "Do I need to use a tool? No\n",
        "print(",
        "query=",
        "Step 1:",
    ),
    *("<|python_tag|>", "\n\n", "\r\n", ". ", "“", "”", "「", "」", "：", "＝", "［", "］"),
    *("\u2028", "\x00", "\ud800", "高さ"),
)

# How long the words are made by repeating them, and how long they may take under instrumentation.
LONG, SECONDS = 60_000, 3.0


def words_of(data: bytes) -> str:
    """Return the words that bytes stand for."""
    return "".join(chr(byte) if byte < 128 else FORMS[(byte - 128) % len(FORMS)] for byte in data)


def letters(text: str) -> str:
    """Return a text without marks, spaces and case."""
    return re.sub(r"[\W_]", "", text.casefold())


def check(data: bytes) -> None:
    """Read words in the dialect that the first byte chooses; hold the reading to the rules."""
    if not data:
        return
    choice, words = data[0], words_of(data[1:])
    dialect, tools = DIALECTS[choice % len(DIALECTS)], TOOLS[choice % len(TOOLS)]
    move, said = dialect.read(words, tools).move, letters(words)
    heard = (type(dialect).__name__, dialect.cue, words, move)
    if isinstance(move, Action):
        # A follow-up question is a call of its tool without naming it.
        assert letters(move.tool) in said or "followup" in said or dialect.only_tool, heard
        assert not tools or move.tool in NAMES or not tools.is_complete, heard
        if isinstance(move.input, str) and "\\u" not in words and move.input[:1] not in "{[":
            # Escapes of JSON may stand between what was said, and nothing else may.
            marks = iter(said)
            assert all(mark in marks for mark in letters(move.input)), heard
    elif isinstance(move, Answer):
        assert move.text.strip(), heard
    else:
        assert isinstance(move, Misreading), heard
    if words and choice >= 192:
        began = time.process_time()
        dialect.read(words * (LONG // len(words) + 1), tools)
        assert time.process_time() - began < SECONDS, heard


def sow(folder: Path) -> None:
    """Write the package's own malformed shapes to a folder, for the fuzzer to begin with."""
    for number, shape in enumerate(SHAPES):
        text = shape.text.encode("ascii", "ignore")
        (folder / str(number)).write_bytes(bytes([number % 256]) + text)


def main() -> None:
    """Fuzz until told to stop."""
    with tempfile.TemporaryDirectory() as folder:
        sow(Path(folder))
        # A file is one input to read again; only a search begins with the shapes.
        given = any(Path(argument).is_file() for argument in sys.argv[1:])
        seeds = [] if given else [folder]
        atheris.Setup([*sys.argv, "-max_len=160", "-len_control=10", *seeds], check)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
