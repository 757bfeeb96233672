"""Whatever goes wrong, as one sentence that says what to do, and an exit code."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from langchain_custom_agents.records.redaction import redact
from langchain_custom_agents.records.visible import visible

INTERRUPTED = 130

_KEY = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:API_KEY|API_TOKEN|ACCESS_TOKEN)\b")
_ABOUT_A_KEY = re.compile(
    r"api[ _-]?key|api[ _-]?token|credential|authenticat|auth_token", re.IGNORECASE
)
_PACKAGE = re.compile(r"pip install (?:-U |--upgrade )?[`'\"]?([A-Za-z0-9_.\[\], -]+)")
_UNREACHABLE = re.compile(
    r"connect|timed? ?out|unreachable|name resolution|getaddrinfo", re.IGNORECASE
)

# What a library's sentence calls its arguments, in the words of the command line.
_IN_OPTIONS = (
    (re.compile("`user_agent`"), "--contact"),
    (re.compile("`api_url`"), "--api-url"),
    (re.compile("`language`"), "--language"),
    (re.compile("; credentials go into `headers`"), ""),
    (re.compile(", or answer from what is known"), ""),  # which is for a model
    (re.compile(r" If they are the same model, pass embedding_id=.*"), " Name its --embeddings."),
)


class Failure(click.ClickException):
    """Something that did not work, said to the user; the exit code is 1.

    Args:
        message: A full sentence that says what to do.
    """

    def __init__(self, message: str) -> None:
        said = " ".join(message.split())
        for words, option in _IN_OPTIONS:
            said = words.sub(option, said)
        super().__init__(visible(redact(said)))


class Interrupted(Failure):
    """Ctrl-C; the exit code is 130, as for every program that is interrupted."""

    exit_code = INTERRUPTED

    def __init__(self) -> None:
        super().__init__("Stopped by Ctrl-C.")

    def show(self, file: Any = None) -> None:
        """Say so, on a line of its own: the terminal shows ^C where the cursor stands."""
        click.echo(f"\n{self.message}", err=True, file=file)


@contextmanager
def friendly(*, debug: bool = False) -> Iterator[None]:
    """Turn whatever is raised inside into a sentence.

    Args:
        debug: Raise it as it is.

    Raises:
        ClickException: With the sentence.
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit):
        raise
    except (KeyboardInterrupt, click.Abort):
        raise Interrupted from None
    except BrokenPipeError:
        raise  # whoever read the output has seen enough, as `head` has: click ends quietly
    except Exception as error:
        if debug:
            raise
        if isinstance(error, OSError | ValueError | ImportError):
            raise Failure(sentence_of(error)) from error
        msg = (
            f"Something went wrong inside ({type(error).__name__}: {first_line(error)}): see where "
            "with `lca --debug`, and please report it."
        )
        raise Failure(msg) from error


@contextmanager
def using_model(name: str | None) -> Iterator[None]:
    """Turn what a model's client raises inside into a sentence about the model.

    Args:
        name: What the user called the model; None for the stand-in, which raises nothing.

    Raises:
        Failure: With the sentence.
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
        raise
    except Exception as error:
        if name is None:
            raise
        raise Failure(model_sentence(name, error)) from error


def sentence_of(error: BaseException) -> str:
    r"""Say an error in one sentence.

    Example:
        >>> sentence_of(FileNotFoundError(2, "No such file or directory", "notes"))
        'notes: No such file or directory.'
        >>> sentence_of(ValueError("k must be at least 1.\nSee the docs"))
        'k must be at least 1.'
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    said = first_line(error)
    if isinstance(error, OSError) and error.strerror:
        said = error.strerror
    return said if said.endswith((".", "!", "?", ")")) else f"{said}."


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its kind if it has none."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:500] if lines else f"{type(error).__name__} was raised without a message"


def model_sentence(name: str, error: BaseException) -> str:
    """Say what a model's client raised, and what to do about it.

    Args:
        name: What the user called the model.
        error: What was raised.

    Example:
        >>> model_sentence("openai:gpt-5", ValueError("set the OPENAI_API_KEY variable"))
        'There is no key for openai:gpt-5: set the environment variable OPENAI_API_KEY.'
    """
    text, status = str(error), getattr(error, "status_code", None)
    provider = name.partition(":")[0]
    # Where a provider's package is missing, `init_chat_model` looks in an older one, in vain.
    in_vain = isinstance(error, AttributeError) and "langchain_community" in text
    if isinstance(error, ImportError) or in_vain:
        found = _PACKAGE.search(text)
        needed = found[1].split("`")[0].strip() if found else f"langchain-{provider}"
        return f"{name} needs a package that is not installed: pip install {needed}."
    if status in (401, 403):
        return f"{name} refused the key ({first_line(error)}): check the provider's key."
    if status == 404:
        return f"{name} does not exist where it was asked for: check the name and the base URL."
    if status == 429:
        return f"{name} is over its limit ({first_line(error)}): wait, or check your plan."
    if isinstance(status, int) and status >= 400:
        return f"{name} answered with an error {status}: {first_line(error)}"
    if key := _KEY.search(text):
        return f"There is no key for {name}: set the environment variable {key[0]}."
    kinds = " ".join(kind.__name__ for kind in type(error).__mro__)
    if isinstance(error, OSError) or _UNREACHABLE.search(f"{kinds} {text}"):
        return (
            f"{name} cannot be reached ({first_line(error)}): check the network and the base URL, "
            "or leave the option out to try things without a model."
        )
    if _ABOUT_A_KEY.search(text):
        variable = f"{provider.upper().replace('-', '_')}_API_KEY"
        return f"There is no key for {name}: set the provider's key, usually {variable}."
    return f"{name} failed: {type(error).__name__}: {first_line(error)}"
