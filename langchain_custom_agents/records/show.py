"""A run in a terminal."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from langchain_custom_agents.records.labels import LABELS, language_of, why_of
from langchain_custom_agents.records.messages import as_text, prompt_text
from langchain_custom_agents.records.record import CallRecord, RunRecord, StepRecord
from langchain_custom_agents.records.visible import hanging, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES = {
    "note": "dim",
    "question": "bold",
    "prompt": "dim",
    "thought": "cyan",
    "action": "green",
    "observation": "blue",
    "cut": "red",
    "repair": "yellow",
    "correction": "yellow",
    "differs": "magenta",
    "error": "red",
    "answer": "bold",
}


def show(record: RunRecord, console: "Console | None" = None, *, prompts: bool = False) -> None:
    """Print a run, step by step.

    Args:
        record: The run.
        console: The rich console to print to; one on standard output if not given.
        prompts: Whether to print what is new in each prompt, too.
    """
    from rich.console import Console

    screen = console or Console(highlight=False, markup=False, emoji=False)
    for text in lines(record, prompts=prompts):
        screen.print(text, soft_wrap=True, highlight=False, markup=False, emoji=False)


def lines(record: RunRecord, *, prompts: bool = False) -> Iterator["Text"]:
    """Write a run as lines for a terminal."""
    label = LABELS[language_of(record)]
    yield _line("question", record.question)
    about = [record.agent, record.dialect, ", ".join(tool.name for tool in record.tools)]
    yield _line("note", " · ".join(part for part in about if part))
    sent = ""
    for number, step in enumerate(record.steps, 1):
        yield _line("note", f"── {label['step']} {number} · {numbers(step, label)}")
        if prompts:
            text = prompt_text(step.prompt)
            yield _line("prompt", text[shared(sent, text) :], label["prompt"])
            sent = text
        yield from _step(step, label)
        for call in step.calls:
            yield from _call(call, label)
            if call.observation is None and not call.error and record.ended != "unfinished":
                yield _line("note", label["no_observation"])
    if record.answer is not None:
        yield _line("answer", record.answer, label["answer"])
    used = record.tokens
    counted = f" ({label['counted']})" if used.counted else ""
    about_end = f"{label[record.ended]}: {why_of(record)}"
    yield _line("note", f"{about_end} · {used.total} {label['tokens']}{counted}")


def _step(step: StepRecord, label: Mapping[str, str]) -> Iterator["Text"]:
    if step.error:
        yield _line("error", step.error, label["error"])
    if step.thought:
        yield _line("thought", step.thought, label["thought"])
    if step.cut:
        yield _line("cut", step.cut, label["cut"])
    for repair in step.repairs:
        yield _line("repair", repair, label["repair"])
    if step.correction:
        yield _line("correction", step.correction, label["correction"])
    if step.differs:
        yield _line("differs", step.differs, label["differs"])


def _call(call: CallRecord, label: Mapping[str, str]) -> Iterator["Text"]:
    yield _line("action", as_text(call.input), call.tool)
    if call.error:
        yield _line("error", call.error, label["error"])
    if call.observation is not None:
        yield _line("observation", call.observation, label["observation"])


def _line(kind: str, text: str, label: str = "") -> "Text":
    from rich.text import Text

    style, name = _STYLES[kind], visible(label)
    said = hanging(visible(text)) if name else visible(text)
    return Text.assemble((f"{name}: " if name else "", f"bold {style}"), (said, style))


def numbers(step: StepRecord, label: Mapping[str, str]) -> str:
    """Say what a step took, in numbers."""
    used = step.tokens
    parts = [f"{used.read:,} {label['in']}", f"{used.written:,} {label['out']}"]
    taken = step.seconds + sum(call.seconds or 0.0 for call in step.calls)
    parts.append(seconds(taken))
    if step.retries:
        parts.append(f"{step.retries} {label['retries']}")
    return " · ".join(parts)


def seconds(taken: float) -> str:
    """Write a time as people read it.

    Example:
        >>> seconds(0.0123), seconds(3.21), seconds(75)
        ('12 ms', '3.2 s', '75 s')
    """
    if taken < 0.001:
        return "< 1 ms"
    if taken < 1:
        return f"{taken * 1000:.0f} ms"
    return f"{taken:.1f} s" if taken < 10 else f"{taken:.0f} s"


def shared(before: str, now: str) -> int:
    """Return how much of a prompt was sent before: the length of the common beginning."""
    if now.startswith(before):
        return len(before)
    low, high = 0, min(len(before), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if before[:middle] == now[:middle] else (low, middle - 1)
    return low
