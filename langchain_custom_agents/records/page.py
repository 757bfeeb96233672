"""A run as a web page: one file, no network, and nothing in it is taken for anything but text."""

from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib import resources
from typing import Any

from langchain_custom_agents.records.labels import LABELS, language_of, why_of
from langchain_custom_agents.records.messages import (
    as_json,
    as_text,
    message_label,
    message_text,
    prompt_text,
)
from langchain_custom_agents.records.record import CallRecord, RunRecord, StepRecord
from langchain_custom_agents.records.show import numbers, seconds, shared
from langchain_custom_agents.records.visible import visible

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(record: RunRecord) -> str:
    """Write a run as one web page.

    Args:
        record: The run.

    Returns:
        The page. It asks for nothing from anywhere, and forbids itself to.

    Example:
        >>> page(RunRecord(inputs={"input": "<script>alert(1)</script>"})).count("<script>")
        1
    """
    language = language_of(record)
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{_text(_one_line(record.question, 70))}</title>\n"
        f"<style>\nbody {{ margin: 0; }}\n{_file('page.css')}</style>\n</head>\n"
        f'<body class="lca">\n{_main(record, interactive=True)}\n'
        f"<script>\n{_file('page.js')}</script>\n</body>\n</html>\n"
    )


def fragment(record: RunRecord) -> str:
    """Write a run as a part of a page, for notebooks: without scripts."""
    return (
        f"<style>\n{_file('page.css')}</style>\n"
        f'<div class="lca" lang="{language_of(record)}">{_main(record, interactive=False)}</div>'
    )


@cache
def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _main(record: RunRecord, *, interactive: bool) -> str:
    label = LABELS[language_of(record)]
    parts = [
        '<main class="inner">',
        f'<h1 dir="auto">{_text(record.question) or label["run"]}</h1>',
        _ending(record, label),
        _facts(record, label),
    ]
    if record.steps:
        parts.append(_growth(record, label, interactive=interactive))
    if interactive:
        parts.append(_tools(label))
    sent = ""
    for number, step in enumerate(record.steps, 1):
        parts.append(_step(number, step, sent, label, interactive=interactive))
        sent = prompt_text(step.prompt)
    if interactive:
        parts.append(f'<p class="keys">{label["keys"]}</p>')
    return "\n".join([*parts, "</main>"])


def _ending(record: RunRecord, label: Mapping[str, str]) -> str:
    answer = label["no_answer"] if record.answer is None else record.answer
    return (
        f'<div class="answer {record.ended}" dir="auto"><strong>{_text(answer)}</strong>'
        f'<span class="why">{label[record.ended]} · {_text(why_of(record))}</span></div>'
    )


def _facts(record: RunRecord, label: Mapping[str, str]) -> str:
    used = record.tokens
    counted = f" ({label['counted']})" if used.counted else ""
    models = sorted({step.model for step in record.steps if step.model})
    facts = [
        (label["agent"], record.agent),
        (label["dialect"], record.dialect),
        (label["model"], ", ".join(models)),
        (label["tools"], ", ".join(tool.name for tool in record.tools)),
        (label["steps"].capitalize(), str(len(record.steps))),
        (label["calls"].capitalize(), str(len(record.calls))),
        (label["tokens"].capitalize(), f"{used.read:,} + {used.written:,}{counted}"),
        (label["began"], f"{record.started[:19].replace('T', ' ')} UTC, {seconds(record.seconds)}"),
    ]
    items = [f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>" for name, value in facts if value]
    return f'<dl class="facts">{"".join(items)}</dl>'


def _growth(record: RunRecord, label: Mapping[str, str], *, interactive: bool) -> str:
    """Draw the tokens of each prompt: what was sent before, what is new, what was written."""
    highest = max(1, *(step.tokens.total for step in record.steps))
    bars, sent = [], ""
    for number, step in enumerate(record.steps, 1):
        text = prompt_text(step.prompt)
        old = shared(sent, text) / len(text) if text else 0.0
        sent = text
        sizes = {
            "written": step.tokens.written,
            "new": step.tokens.read * (1 - old),
            "kept": step.tokens.read * old,
        }
        parts = "".join(
            f'<i class="{name}" style="height:{size / highest:.2%}"></i>'
            for name, size in sizes.items()
        )
        says = f"{label['step']} {number}: {numbers(step, label)}"
        target = f' href="#step-{number}"' if interactive else ""
        bars.append(f'<a{target} title="{escape(says)}" aria-label="{escape(says)}">{parts}</a>')
    keys = "".join(
        f'<span class="key" style="--of:var(--{color})">{label[name]}</span>'
        for name, color in (("kept", "kept"), ("new", "accent"), ("written", "written"))
    )
    return (
        f"<figure><figcaption><span>{label['growth']}</span>{keys}</figcaption>"
        f'<span class="most">{highest:,} {label["tokens"]}</span>'
        f'<div class="bars">{"".join(bars)}</div></figure>'
    )


def _tools(label: Mapping[str, str]) -> str:
    return (
        '<div class="tools" role="search" hidden>'
        f'<label class="hidden" for="lca-search">{label["search"]}</label>'
        f'<input id="lca-search" type="search" placeholder="{label["search"]}" autocomplete="off">'
        f'<output aria-live="polite" data-found="{label["found"]}"></output>'
        f'<button type="button" data-open="{label["open"]}" data-close="{label["close"]}">'
        f"{label['open']}</button></div>"
    )


def _step(
    number: int, step: StepRecord, sent: str, label: Mapping[str, str], *, interactive: bool
) -> str:
    failed = " failed" if step.error else ""
    name = f' id="step-{number}"' if interactive else ""
    tags = "".join(
        f'<span class="tag {kind}">{label[kind]}</span>'
        for kind, there in (
            ("cut", step.cut),
            ("repair", step.repairs),
            ("correction", step.correction),
            ("error", any(call.error for call in step.calls)),
        )
        if there
    )
    what, result = _summary(step, label)
    return (
        f'<details class="step{failed}"{name}><summary>'
        f'<span class="number"><span class="hidden">{label["step"]} </span>{number}</span>'
        f'<span class="what" dir="auto">{what}{tags}</span>'
        f'<span class="took">{escape(numbers(step, label))}</span>'
        f'<span class="result" dir="auto">{_text(_one_line(result, 200))}</span></summary>'
        f'<div class="body">{"".join(_body(step, sent, label))}</div></details>'
    )


def _summary(step: StepRecord, label: Mapping[str, str]) -> tuple[str, str]:
    """Say a step in two lines: what was done, and what came of it."""
    if step.calls:
        done = ", ".join(
            f'<span class="tool">{_text(call.tool)}</span> '
            f"{_text(_one_line(as_text(call.input), 120))}"
            for call in step.calls
        )
        return done, " · ".join(call.observation or call.error for call in step.calls)
    if step.error:
        return f'<span class="error">{label["error"]}</span>', step.error
    if step.answer is not None:
        return f"<strong>{label['answer']}</strong>", step.answer
    return _text(_one_line(step.raw or "", 120)), step.correction


def _body(step: StepRecord, sent: str, label: Mapping[str, str]) -> Iterator[str]:
    if step.error:
        yield f'<h2>{label["error"]}</h2><p class="error" dir="auto">{_text(step.error)}</p>'
    if step.thought:
        yield f'<h2>{label["thought"]}</h2><p dir="auto">{_text(step.thought)}</p>'
    for call in step.calls:
        yield from _call(call, label)
    if step.answer is not None:
        yield f'<h2>{label["answer"]}</h2><p dir="auto"><strong>{_text(step.answer)}</strong></p>'
    if step.repairs:
        repairs = "\n".join(step.repairs)
        yield f'<h2>{label["repair"]}</h2><p class="note" dir="auto">{_text(repairs)}</p>'
    if step.correction:
        yield f"<h2>{label['correction']}</h2>"
        yield f'<p class="note" dir="auto">{_text(step.correction)}</p>'
    if step.differs:
        yield f'<h2>{label["differs"]}</h2><p class="note" dir="auto">{_text(step.differs)}</p>'
    if step.raw:
        yield f"<h2>{label['words']}</h2>{_words(step, label)}"
    if step.tool_calls:
        said = "\n".join(f"{call['name']}({as_text(call['args'])})" for call in step.tool_calls)
        yield f"<h2>{label['calls_said']}</h2>{_pre(said)}"
    if step.prompt:
        yield (
            f'<details class="more"><summary>{label["prompt"]} '
            f"({step.tokens.read:,} {label['tokens']})</summary>{_prompt(step, sent)}</details>"
        )


def _call(call: CallRecord, label: Mapping[str, str]) -> Iterator[str]:
    yield f'<h2><span class="tool">{_text(call.tool)}</span></h2>{_pre(as_text(call.input))}'
    yield f"<h2>{label['observation']}</h2>"
    if call.error:
        yield f'<p class="error" dir="auto">{_text(call.error)}</p>'
    if call.observation is not None:
        yield _pre(call.observation, "observed")
    elif not call.error:
        yield f'<p class="note">{label["no_observation"]}</p>'
    if call.sources:
        items = "".join(f"<li>{_text(_source(source))}</li>" for source in call.sources)
        yield f'<h2>{label["sources"]}</h2><ol class="sources">{items}</ol>'
    if call.artifact is not None:
        yield (
            f'<details class="more"><summary>{label["artifact"]}</summary>'
            f"{_pre(as_json(call.artifact))}</details>"
        )


def _words(step: StepRecord, label: Mapping[str, str]) -> str:
    """Show the model's words, with what was cut in its place."""
    raw, cut = step.raw or "", step.cut
    at = raw.rfind(cut) if cut else -1
    if not cut:
        return _pre(raw)
    kept, rest = (raw[:at], raw[at:]) if at >= 0 else (raw, cut)
    said = label["cut_long"]
    return (
        f'<pre dir="auto">{_text(kept)}<del>'
        f'<span class="label">{said} </span>{_text(rest)}</del></pre>'
    )


def _prompt(step: StepRecord, sent: str) -> str:
    """Show a prompt to the letter, what was sent before in a softer colour."""
    if isinstance(step.prompt, str):
        old = shared(sent, step.prompt)
        kept, new = step.prompt[:old], step.prompt[old:]
        return f'<pre dir="auto"><span class="kept">{_text(kept)}</span>{_text(new)}</pre>'
    said = [
        f'<span class="who">{_text(message_label(message))}</span>\n{_text(message_text(message))}'
        for message in step.prompt
    ]
    shown = "\n\n".join(said)
    return f'<pre dir="auto">{shown}</pre>'


def _source(source: Mapping[str, Any]) -> str:
    first = [str(source[name]) for name in ("title", "source", "url") if source.get(name)]
    rest = [f"{n}: {as_text(v)}" for n, v in source.items() if n not in ("title", "source", "url")]
    return " · ".join([*first, *rest])


def _pre(text: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<pre{named} dir="auto">{_text(text)}</pre>'


def _text(text: Any) -> str:
    return escape(visible(text))


def _one_line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
