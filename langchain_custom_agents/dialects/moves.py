"""What can be read in a model's words: a thought and one of three moves."""

from dataclasses import dataclass
from typing import Any, TypeAlias


def tidy(text: str, name: str = "text") -> str:
    r"""Return text with Unix line ends and no white space around it.

    Moves hold their text in this form, so that what is written compares equal to what is
    read back.

    Args:
        text: The text.
        name: What it is called where it is none.

    Raises:
        TypeError: If it is no text.

    Example:
        >>> tidy("  one\r\ntwo \n")
        'one\ntwo'
    """
    if not isinstance(text, str):
        msg = f"`{name}` is {text!r}; give a text."
        raise TypeError(msg)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.strip()


@dataclass(frozen=True)
class Action:
    """A tool to call and what to call it with.

    Args:
        tool: The tool's name.
        input: One text, or several named arguments as a JSON object.

    Raises:
        TypeError: If the tool is no text, or the input is neither a text nor a dict.

    Example:
        >>> Action("Search", "  Hiroko ")
        Action(tool='Search', input='Hiroko')
    """

    tool: str
    input: str | dict[str, Any] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tool", tidy(self.tool, "Action.tool"))
        if isinstance(self.input, str):
            object.__setattr__(self, "input", tidy(self.input))
        elif not isinstance(self.input, dict):
            msg = f"`Action.input` is {self.input!r}; give a text, or a dict of arguments."
            raise TypeError(msg)


@dataclass(frozen=True)
class Answer:
    """The end of a run.

    Args:
        text: What the user is told.

    Raises:
        TypeError: If it is no text.

    Example:
        >>> Answer("Takuma is a teacher.").text
        'Takuma is a teacher.'
    """

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", tidy(self.text, "Answer.text"))


@dataclass(frozen=True)
class Misreading:
    """Words from which no move can be read with certainty.

    Args:
        heard: The words.
        reason: What is wrong with them, as a sentence without its full stop, to be said to
            the model.

    Example:
        >>> Misreading("Action: Serch", "there is no tool Serch").reason
        'there is no tool Serch'
    """

    heard: str
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "heard", tidy(self.heard, "Misreading.heard"))


@dataclass(frozen=True)
class Prose(Misreading):
    """A misreading of its own kind: words with no form at all, which may be the answer.

    The loop asks once more; said again, the words are taken as the answer and marked.

    Example:
        >>> isinstance(Prose("Hello!", "the reply has no form"), Misreading)
        True
    """


@dataclass(frozen=True)
class NoSuchTool(Misreading):
    """A misreading of its own kind: a step that was read, but names no tool there is.

    Args:
        attempted: The action as it was meant. It must not run.

    Example:
        >>> NoSuchTool("Action: Serch", "there is no tool Serch", Action("Serch")).attempted.tool
        'Serch'
    """

    attempted: Action = Action("?")


Move: TypeAlias = Action | Answer | Misreading


@dataclass(frozen=True)
class Reading:
    """What was read in a model's words.

    Args:
        thought: The reasoning before the move, possibly empty.
        move: The move.
        cut: The words left out, from the first invented observation on; empty if none.
        repairs: What had to be mended, one sentence each; empty if the words were in the
            exact written form.

    Example:
        >>> Reading("I know", Answer("42")).repairs
        ()
    """

    thought: str
    move: Move
    cut: str = ""
    repairs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "thought", tidy(self.thought, "Reading.thought"))
