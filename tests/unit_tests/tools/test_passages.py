"""Sections, paragraphs and sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from langchain_custom_agents.tools._passages import Page, clip, estimate_tokens, fold, sentences


def page(text):
    """A page with this text."""
    return Page(Document(text), "T")


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith met J. K. Rowling. She left.", ["Dr. Smith met J. K. Rowling.", "She left."]),
        ("It cost 3.5 million. Nobody paid.", ["It cost 3.5 million.", "Nobody paid."]),
        (
            "He lived in the U.S. until 1990. Then not.",
            ["He lived in the U.S. until 1990.", "Then not."],
        ),
        ('He said "Go." Then he went.', ['He said "Go."', "Then he went."]),
        ("See e.g. the list. Done.", ["See e.g. the list.", "Done."]),
        ("東京は首都だ。人が多い！本当？", ["東京は首都だ。", "人が多い！", "本当？"]),
        ("「雨だ。」と言った。晴れた。", ["「雨だ。」と言った。", "晴れた。"]),
        ("中国很大。人口很多。", ["中国很大。", "人口很多。"]),
        ("यह एक है। यह दो है।", ["यह एक है।", "यह दो है।"]),
        ("هل هذا سؤال؟ نعم. جيد.", ["هل هذا سؤال؟", "نعم.", "جيد."]),
        ("no full stop", ["no full stop"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_says_so(paragraph, expected):
    """Full stops of abbreviations and numbers end no sentence; scripts without spaces are split."""
    assert sentences(paragraph) == expected


@given(st.text())
def test_no_letter_is_lost_between_sentences(paragraph):
    """The sentences together are the paragraph, but for the spaces between them."""
    assert "".join("".join(sentences(paragraph)).split()) == "".join(paragraph.split())


@pytest.mark.parametrize(
    "text",
    [
        "Lead.\n\n== Life ==\nBorn.\n\n=== Youth ===\nPlayed.",
        "Lead.\n\n## Life\n\nBorn.\n\n### Youth ###\nPlayed.",
        "Lead.\n\nLife\n====\n\nBorn.\n\nYouth\n-----\n\nPlayed.",
    ],
)
def test_sections_are_read_in_three_notations(text):
    """Wiki, Markdown and underlined headings name the sections of what follows."""
    assert page(text).sections == ["Life", "Youth"]
    assert page(text).paragraphs == [("", "Lead."), ("Life", "Born."), ("Youth", "Played.")]


def test_wrapped_lines_are_one_paragraph():
    """Lines wrapped by hand are joined; Japanese ones without a space."""
    assert page("One two\nthree.\n\nNext.").paragraphs == [("", "One two three."), ("", "Next.")]
    assert page("東京は\n首都だ。").paragraphs == [("", "東京は首都だ。")]


def test_long_lines_and_list_items_are_paragraphs():
    """A line too long to be wrapped by hand, and an item of a list, stand for themselves."""
    long = "word " * 40 + "end."
    assert [text for _, text in page(f"{long}\n{long}\n- one\n- two").paragraphs] == [
        long, long, "- one", "- two",
    ]  # fmt: skip


@given(st.text(), st.integers(min_value=1, max_value=50), st.text())
def test_a_clipped_text_keeps_to_its_budget(text, budget, around):
    """What is shown is never longer than the text, nor much longer than the budget in letters."""
    clipped = clip(text, budget, around)

    assert len(clipped) <= max(len(text), 4 * budget) + 2
    assert clipped == text or "…" in clipped


def test_a_clipped_text_keeps_the_word_in_sight():
    """The word that was looked up stays in what is shown."""
    text = "hay " * 500 + "Needle " + "hay " * 500

    assert "Needle" in clip(text, 20, "needle")


def test_other_scripts_cost_more_tokens():
    """A Japanese letter counts as a token, four Latin ones as one."""
    assert estimate_tokens("abcdefgh") == 2
    assert estimate_tokens("東京都") == 3


def test_folding_ignores_case_width_and_space():
    """Words are compared in one Unicode form."""
    assert fold("  ＴＯＫＹＯ  Straße ") == "tokyo strasse"


def test_a_megabyte_is_split_without_losing_the_needle():
    """A page of a megabyte is split into all of its sentences."""
    text = "\n\n".join("A sentence about hay. " * 50 for _ in range(900)) + "\n\nA needle."

    assert len(page(text).passages) == 45_001


@pytest.mark.parametrize("text", ["." * 200_000 + "x", "J. " * 50_000, f"# a{' ' * 50_000}b\nx"])
def test_odd_pages_are_read_in_one_pass(text):
    """Rows of dots, of initials and of spaces do not make a page slow to read."""
    assert page(text).passages


def test_a_line_of_signs_is_no_heading():
    """The line under a heading is not a heading of its own."""
    assert page("Title\n=====\nText.").sections == ["Title"]
