"""Stepping through a run in a terminal: what `lca ask --step` does."""

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from langchain_custom_agents.records import RunRecord, Stepper

HELP = (
    "Enter: go on · p: the prompt · t: its tokens · w: the model's words · s: the steps so far · "
    "a: another tool · i: another input · o: another observation · b: back · f: to the end · "
    "q: quit · h: this help"
)


def step_through(stepper: "Stepper", console: "Console") -> "RunRecord":
    """Let somebody step through a run.

    After every move a key says what to do next: go on, look, change, go back, finish, or quit.
    The end of the input quits, too. However it ends, the last line tells how far the run went.

    Args:
        stepper: The run.
        console: The console to show it on and to ask on.

    Returns:
        The record of the run, as far as it went.

    Raises:
        KeyboardInterrupt: If Ctrl-C was pressed.
    """
    from langchain_custom_agents.records.show import lines

    screen = _Screen(console)
    screen.show(HELP)
    shown = 0
    try:
        while not stepper.done:
            try:
                key = screen.ask("act" if stepper.planned else "plan").lower()[:1]
                if key == "q":
                    break
                _do(key, stepper, screen)
            except EOFError:
                screen.show("")
                break
            except ValueError as error:
                screen.show(str(error))
            # What is told of a record only grows at its end, unless something was taken back.
            told = list(lines(stepper.record))[:-1]
            begin = shown if shown <= len(told) and key != "b" else 0
            for line in told[begin:]:
                screen.show(line)
            shown = len(told)
    finally:
        record = stepper.record
        screen.show(list(lines(record))[-1])
    return record


def _do(key: str, stepper: "Stepper", screen: "_Screen") -> None:
    """Do what a key asks for.

    Raises:
        ValueError: If it does not fit here; the sentence says why.
        EOFError: If the input ends.
    """
    # Before anything is asked for, and in the words of keys: here nobody calls `plan()`.
    if missing := _missing(key, stepper):
        raise ValueError(missing)
    if key == "":
        stepper.act() if stepper.planned else stepper.plan()
    elif key == "p":
        screen.show(stepper.prompt if stepper.planned else stepper.preview().prompt)
    elif key == "t":
        screen.show(stepper.preview())
    elif key == "w":
        screen.show(stepper.raw)
    elif key == "s":
        screen.show(stepper.scratchpad)
    elif key == "a":
        stepper.edit(tool=screen.ask("tool") or None)
        screen.show(f"The next call: {stepper.move}")
    elif key == "i":
        planned = stepper.move if stepper.planned else None
        stepper.edit(input=_input(screen.ask("input"), planned))
        screen.show(f"The next call: {stepper.move}")
    elif key == "o":
        stepper.edit(observation=screen.ask("observation"))
    elif key == "b":
        stepper.back()
    elif key == "f":
        stepper.finish()
    else:
        screen.show(HELP)


def _missing(key: str, stepper: "Stepper") -> str:
    """Say what has to come before a key can be of use; empty if nothing has to."""
    record = stepper.record
    if key in ("a", "i") and not stepper.planned:
        return "No action is planned: Enter asks the model for one."
    if key == "o" and (stepper.planned or not record.calls):
        return "There is no observation to change: Enter calls the tool."
    if key == "t" and stepper.planned:
        return "The next prompt comes after this action: Enter takes it."
    if key == "w" and not record.steps:
        return "The model has said nothing yet: Enter asks it."
    if key == "b" and not record.steps:
        return "There is nothing to take back."
    return ""


def _input(words: str, move: Any) -> str | dict[str, Any]:
    """Read another input: JSON, if what is planned has arguments by name.

    Raises:
        ValueError: If it must be JSON and is not.
    """
    if not isinstance(getattr(move, "input", None), dict):
        return words
    try:
        given = json.loads(words)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        example = json.dumps(move.input, ensure_ascii=False)
        msg = f"This tool's arguments have names: give them as JSON, such as {example}."
        raise ValueError(msg)  # noqa: TRY004 - it is the user's text that is wrong
    return given


class _Screen:
    """Where a run is shown, and keys are asked for."""

    def __init__(self, console: "Console") -> None:
        self._console = console

    def show(self, text: Any) -> None:
        """Show a text, or a line that rich has made; nothing in it is obeyed."""
        from langchain_custom_agents.records.visible import visible

        said = text if hasattr(text, "plain") else visible(text)
        self._console.print(said, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def ask(self, what: str) -> str:
        """Ask for a line.

        Raises:
            EOFError: If there is none.
        """
        if sys.stdin is None:  # as it is where standard input was closed
            raise EOFError
        said = self._console.input(f"{what}> ", markup=False, emoji=False)
        if not self._console.is_terminal:
            self.show(said)  # a terminal shows what is typed; a pipe does not
        return said.strip()
