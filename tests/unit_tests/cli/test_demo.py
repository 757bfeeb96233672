"""`lca demo`."""

import pytest

from langchain_custom_agents.cli.demo import Side, _ours, _search, _stock
from langchain_custom_agents.cli.drama import FAMILY, QUESTION, RECORDED, pages, sentences
from langchain_custom_agents.records.visible import hanging


@pytest.fixture(scope="module")
def sides() -> tuple[Side, Side]:
    tool = _search()
    return _stock(tool), _ours(tool)


def test_stock_answers_without_a_search(sides):
    """LangChain's agent takes the invented answer and never searches."""
    stock, _ = sides
    assert (stock.answer, stock.searches) == ("Hiroko's father is a doctor.", 0)


def test_ours_cuts_twice_and_searches_twice(sides):
    """Our agent cuts both inventions, searches twice and answers from what it found."""
    _, ours = sides
    assert (ours.answer, ours.cuts, ours.searches) == ("Takuma is a teacher.", 2, 2)


def test_both_sides_show_the_recorded_words(sides):
    """What the model said is shown to the letter, indented, as often as an agent asked for it."""
    shown = ["\n".join(line.plain for line in side.lines) for side in sides]
    assert hanging(RECORDED[0]) in shown[0]
    assert hanging(RECORDED[1].strip()) not in shown[0]
    assert all(hanging(words.strip()) in shown[1] for words in RECORDED)


def test_the_search_is_live(sides):
    """Both observations are sentences that the store holds, not words of the recording."""
    shown = [line.plain for line in sides[1].lines]
    found = [line for line in shown if line.startswith("Observation: ")]
    assert found == [f"Observation: {sentences()[1]}", f"Observation: {sentences()[0]}"]
    assert not any(sentence in "".join(RECORDED) for sentence in sentences())


def test_output_says_what_is_recorded_and_what_is_live(lca):
    """With no network the output names what is recorded, what runs live, and the answer last."""
    said = lca("demo")
    assert said.exit_code == 0
    lines = said.output.rstrip().splitlines()
    assert lines[0] == f"Question: {QUESTION}"
    assert any(line.startswith("Recorded: the model's words") for line in lines)
    assert any(line.startswith("Live: both agents") for line in lines)
    assert lines[-1] == "Answer: Takuma is a teacher."


@pytest.mark.parametrize("language", FAMILY)
def test_pages_hold_the_sentences(language):
    """The pages about the people hold the five sentences, each once, and nothing else."""
    parts = [part for page in pages(language).values() for part in page.split("\n\n")]
    assert sorted(part.rstrip(".。") for part in parts) == sorted(sentences(language))
