"""Stepping through a run in a terminal: what `lca ask --step` does."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from langchain_custom_agents.records import RunRecord, Stepper

HELP = (
    "Enter: go on · p: the prompt · t: its tokens · w: the model's words · s: the steps so far · "
    "i: another input · o: another observation · b: back · f: to the end · q: quit"
)


def step_through(stepper: "Stepper", console: "Console") -> "RunRecord":
    """Let somebody step through a run.

    After every move a key says what to do next: go on, look, change, go back, finish, or quit.

    Args:
        stepper: The run.
        console: The console to show it on and to ask on.

    Returns:
        The record of the run, as far as it went.
    """
    from langchain_custom_agents.records.show import lines
    from langchain_custom_agents.records.visible import visible

    def show(text: Any) -> None:
        said = text if hasattr(text, "plain") else visible(text)
        console.print(said, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def ask(what: str) -> str:
        try:
            return console.input(f"{what}> ", markup=False, emoji=False)
        except EOFError:
            return "q"

    shown = 0
    show(HELP)
    while not stepper.done:
        said = ask("act" if stepper.planned else "plan")
        key = said.strip().lower()[:1]
        try:
            if key == "q":
                break
            if key == "":
                stepper.act() if stepper.planned else stepper.plan()
            elif key == "p":
                show(stepper.prompt if stepper.planned else stepper.preview().prompt)
            elif key == "t":
                show(stepper.preview())
            elif key == "w":
                show(stepper.raw)
            elif key == "s":
                show(stepper.scratchpad)
            elif key == "i":
                stepper.edit(input=ask("input"))
                show(f"The next call: {stepper.move}")
            elif key == "o":
                stepper.edit(observation=ask("observation"))
            elif key == "b":
                stepper.back()
            elif key == "f":
                stepper.finish()
            else:
                show(HELP)
        except ValueError as error:
            show(str(error))
        # What is told of a record only grows at its end, unless something was taken back.
        told = list(lines(stepper.record))[:-1]
        begin = shown if shown <= len(told) and key != "b" else 0
        for line in told[begin:]:
            show(line)
        shown = len(told)
    record = stepper.record
    show(list(lines(record))[-1])
    return record
