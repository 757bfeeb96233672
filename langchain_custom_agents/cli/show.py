"""How things appear: in colour on a terminal, plain when piped, and never as terminal codes."""

import json
import os
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from langchain_custom_agents.records.visible import INVISIBLE, hanging, visible

STYLES = {
    "note": "dim",
    "question": "bold",
    "said": "dim italic",
    "thought": "cyan",
    "action": "green",
    "observation": "blue",
    "cut": "red",
    "repair": "yellow",
    "correction": "yellow",
    "answer": "bold",
}
_LABELS = {
    "en": {
        "question": "Question",
        "said": "The model says",
        "thought": "Thought",
        "observation": "Observation",
        "cut": "Cut",
        "repair": "Mended",
        "correction": "Corrected",
        "answer": "Answer",
    },
    "ja": {
        "question": "質問",
        "said": "モデルの発言",
        "thought": "思考",
        "observation": "観察",
        "cut": "削除",
        "repair": "修復",
        "correction": "訂正",
        "answer": "回答",
    },
    "zh": {
        "question": "问题",
        "said": "模型说",
        "thought": "思考",
        "observation": "观察",
        "cut": "删除",
        "repair": "修复",
        "correction": "纠正",
        "answer": "回答",
    },
}


def use_utf8() -> None:
    """Write UTF-8 whatever the locale says, unless the user chose an encoding for Python."""
    chosen = os.environ.get("PYTHONIOENCODING")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=None if chosen else "utf-8", errors="replace")


def console() -> Console:
    """Return a console on standard output.

    Colours and width are rich's to find out: `NO_COLOR`, `FORCE_COLOR`, `COLUMNS`.
    """
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True)


def error_console() -> Console:
    """Return a console on standard error."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def as_json(value: Any) -> str:
    r"""Return a value as JSON that is safe to print.

    Example:
        >>> as_json({"text": "\x9b思考"})
        '{"text": "\\u009b思考"}'
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    return INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def line(kind: str, text: Any, language: str = "en", label: str | None = None) -> Text:
    """Write one event: its label and its text, in the colour of its kind.

    Args:
        kind: One of `STYLES`.
        text: What happened.
        language: The language of the label: "en", "ja" or "zh".
        label: Another label.

    Example:
        >>> line("answer", "Takuma is a teacher.").plain
        'Answer: Takuma is a teacher.'
    """
    style = STYLES[kind]
    name = visible(_LABELS[language].get(kind, "") if label is None else label)
    said = visible(text) if kind == "answer" else hanging(visible(text))
    return Text.assemble((f"{name}: " if name else "", f"bold {style}"), (said, style))
