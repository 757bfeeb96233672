"""Text from outside: one rule for the terminal and for the page."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from langchain_custom_agents.records.visible import visible

MARKS = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@given(st.text(st.one_of(st.characters(), st.sampled_from(MARKS))))
def test_nothing_acts(text: str) -> None:
    """No control character but line break and tab is left, no mark of direction, no surrogate."""
    left = set(visible(text)) - {"\n", "\t"}

    assert not left & set(MARKS)
    assert not {mark for mark in left if unicodedata.category(mark) in ("Cc", "Cs")}


@given(st.text(st.characters(categories=("L", "N", "P", "S", "Zs", "M"))))
def test_what_is_read_stays(text: str) -> None:
    """Letters, numbers, marks and spaces of every script stay as they are."""
    assert visible(text) == text


def test_directions_are_spelled_out() -> None:
    """Characters that turn the direction of text are spelled out: they can hide words."""
    assert visible("a\u202eb\u2066c\u200f") == "a\\u202eb\\u2066c\\u200f"
