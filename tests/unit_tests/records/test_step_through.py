"""Stepping through a run in a terminal."""

import io

import pytest
from rich.console import Console

from langchain_custom_agents.cli.step import step_through
from langchain_custom_agents.records import RunRecord
from tests.unit_tests.records.test_stepper import made


def stepped(*keys: str) -> tuple[str, RunRecord]:
    """Step through the run about Takuma with these keys."""
    written = io.StringIO()
    console = Console(file=written, width=200)
    left = list(keys)

    def answer(*args: object, **kwargs: object) -> str:
        console.print(*args[:1], end="")
        if not left:
            raise EOFError
        return left.pop(0)

    console.input = answer  # type: ignore[method-assign]
    record = step_through(made()[0], console)
    return written.getvalue(), record


def test_enter_goes_on() -> None:
    """Enter plans, acts and plans again until the answer is there; each line is told once."""
    shown, record = stepped("", "", "")

    assert record.answer == "a teacher"
    assert shown.count("Observation: Takuma is a teacher") == 1
    assert shown.count("Cut: Observation: a doctor") == 1


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        (("p",), "Reply in exactly this form"),
        (("t",), "instructions"),
        (("", "w"), "Observation: a doctor"),
        (("", "", "s"), "Action Input: Takuma"),
        (("", "i", "Ayako", ""), "Ayako is a teacher"),
        (("", "", "o", "He is a painter", "s"), "Observation: He is a painter"),
        (("f",), "Answer: a teacher"),
        (("", "a", "Lookup"), "The next call: Action(tool='Lookup', input='Takuma')"),
        (("", "a", ""), "The next call: Action(tool='Search', input='Takuma')"),
        (("o",), "There is no observation to change: Enter calls the tool."),
        (("", "o"), "There is no observation to change: Enter calls the tool."),
        (("", "t"), "The next prompt comes after this action: Enter takes it."),
        (("w",), "The model has said nothing yet: Enter asks it."),
        (("b",), "There is nothing to take back."),
        (("h",), "h: this help"),
        (("a",), "No action is planned: Enter asks the model for one."),
        (("i",), "No action is planned: Enter asks the model for one."),
        (("?",), "f: to the end"),
    ],
)
def test_keys(keys: tuple[str, ...], says: str) -> None:
    """Each key does what the help says, and a mistake is answered with a sentence."""
    assert says in stepped(*keys)[0]


def test_quitting_keeps_the_record() -> None:
    """Quitting, or the end of the input, gives the record as far as it went."""
    assert stepped("", "q")[1].ended == "unfinished"
    assert stepped("", "")[1].calls[0].observation == "Takuma is a teacher"


def test_the_end_of_the_input_is_no_answer_to_a_question() -> None:
    """Where the input ends at another input or observation, nothing is changed."""
    shown, record = stepped("", "i")

    assert record.steps[0].calls[0].input == "Takuma"
    assert shown.splitlines()[-1].startswith("not finished")


def test_ctrl_c_tells_how_far_the_run_went() -> None:
    """Ctrl-C ends the stepping after the last line has been told."""
    written = io.StringIO()
    console = Console(file=written, width=200)
    left = iter([""])

    def answer(*_: object, **__: object) -> str:
        for key in left:
            return key
        raise KeyboardInterrupt

    console.input = answer  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        step_through(made()[0], console)

    assert written.getvalue().splitlines()[-1].startswith("not finished")


def test_arguments_with_names_are_given_as_json() -> None:
    """Another input for a tool with several arguments is JSON; anything else is a sentence."""
    from langchain_custom_agents.cli.step import _input
    from langchain_custom_agents.dialects import Action

    planned = Action("Search", {"query": "Takuma"})

    assert _input('{"query": "Ayako"}', planned) == {"query": "Ayako"}
    assert _input("Ayako", Action("Search", "Takuma")) == "Ayako"
    with pytest.raises(ValueError, match=r'give them as JSON, such as {"query": "Takuma"}'):
        _input("Ayako", planned)


def test_back_in_a_terminal() -> None:
    """Going back takes the last plan away."""
    assert stepped("", "", "b")[1].steps == []
