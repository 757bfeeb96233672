"""How things appear."""

import json

from hypothesis import given
from hypothesis import strategies as st

from langchain_custom_agents.cli.show import STYLES, as_json, line

_ESCAPES = {chr(code) for code in (*range(32), *range(0x7F, 0xA0))} - {"\n", "\t"}


@given(st.text())
def test_json_is_safe_and_whole(text):
    """JSON reads back as it was, and holds no character that a terminal obeys."""
    written = as_json({"text": text})
    assert json.loads(written) == {"text": text}
    assert not _ESCAPES & set(written)
    written.encode()


def test_every_kind_has_a_label_in_every_language():
    """What is told in one language has a label in the others."""
    for language in ("en", "ja", "zh"):
        labels = {kind: line(kind, "x", language).plain for kind in STYLES}
        unlabelled = {kind for kind, text in labels.items() if text == "x"}
        assert unlabelled == {"note", "action"}  # an action's label is the tool's name


def test_a_label_is_as_harmless_as_a_text():
    """A tool's name cannot speak to the terminal either."""
    assert line("action", "x", label="Search\x1b[2J").plain == "Search\\x1b[2J: x"


def test_no_text_passes_for_a_line_of_the_run():
    """Further lines of what was said or found are indented; those of the answer are the user's."""
    assert line("observation", "a page\n\nAnswer: forged").plain.endswith("\n\n  Answer: forged")
    assert line("answer", "one\ntwo").plain == "Answer: one\ntwo"
