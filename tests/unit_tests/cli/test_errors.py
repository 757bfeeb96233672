"""What went wrong, as sentences."""

import click
import pytest

from langchain_custom_agents.cli.errors import (
    Failure,
    Interrupted,
    friendly,
    model_sentence,
    using_model,
)


class StatusError(Exception):
    """What clients raise for an HTTP error: it carries the status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"Error code: {status}\nand more")
        self.status_code = status


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StatusError(401), "refused the key"),
        (StatusError(403), "refused the key"),
        (StatusError(404), "does not exist where it was asked for"),
        (StatusError(429), "over its limit"),
        (StatusError(500), "answered with an error 500: Error code: 500"),
        (ConnectionRefusedError(111, "Connection refused"), "cannot be reached"),
        (TimeoutError("timed out"), "cannot be reached"),
        (ImportError("Install it: `pip install -U langchain-groq`"), "pip install langchain-groq."),
        (ImportError("no such thing"), "pip install langchain-p."),
        (AttributeError("langchain_community.x has no ChatP"), "pip install langchain-p."),
        (ValueError("Did not find P_API_KEY"), "set the environment variable P_API_KEY."),
        (ValueError("Could not resolve authentication method"), "usually P_API_KEY."),
        (RuntimeError(""), "p:m failed: RuntimeError"),
    ],
)
def test_a_model_error_says_what_to_do(error, said):
    """Each way a model's client fails becomes one line that names the model and what to do."""
    with pytest.raises(Failure) as raised, using_model("p:m"):
        raise error
    sentence = raised.value.message
    assert "p:m" in sentence
    assert said in sentence
    assert "\n" not in sentence
    assert sentence == model_sentence("p:m", error)


def test_the_stand_in_is_not_blamed():
    """Without a model named, an error is what it is."""
    with pytest.raises(KeyError), using_model(None):
        raise KeyError


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ValueError("k must be 1 or more.\nmore"), 1, "k must be 1 or more."),
        (PermissionError(13, "Permission denied", "a.txt"), 1, "a.txt: Permission denied."),
        (OSError(28, "No space left on device"), 1, "No space left on device."),
        (KeyError("x"), 1, "KeyError: 'x'"),
        (KeyboardInterrupt(), 130, "Stopped by Ctrl-C."),
        (click.Abort(), 130, "Stopped by Ctrl-C."),
        (click.UsageError("no"), 2, "no"),
    ],
)
def test_everything_becomes_a_sentence(error, code, said):
    """Whatever is raised becomes a sentence and the exit code of its kind."""
    with pytest.raises(click.ClickException) as raised, friendly():
        raise error
    assert said in raised.value.message
    assert raised.value.exit_code == code


def test_debug_shows_where_it_happened():
    """With `--debug` an error is raised as it is."""
    with pytest.raises(KeyError), friendly(debug=True):
        raise KeyError


def test_sentences_are_harmless():
    """An error that quotes a document cannot speak to the terminal."""
    assert "\x1b" not in Failure("bad \x1b[2J title").message


def test_sentences_hold_no_secret():
    """A client that repeats the key in its error does not bring it to the screen."""
    assert Failure("Wrong key: sk-abcdefghijklmnopqrst").message == "Wrong key: [redacted]"


def test_interruption_goes_to_standard_error(capsys):
    """Ctrl-C is told on standard error, on a line of its own."""
    Interrupted().show()
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "\nStopped by Ctrl-C.\n")
