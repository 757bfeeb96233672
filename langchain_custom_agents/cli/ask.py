"""`lca ask`: a question, answered step by step over a source."""

import os
from typing import TYPE_CHECKING, Any

import click

from langchain_custom_agents.cli.names import AGENTS, DIALECTS
from langchain_custom_agents.cli.sources import (
    Source,
    SourceCommand,
    SourceOptions,
    open_source,
    source_options,
)

if TYPE_CHECKING:
    from langchain_core.documents import Document


class _Words(click.ParamType):  # type: ignore[type-arg]
    """Words of the user: never empty, and right even where the locale is not UTF-8."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        words = os.fsencode(value).decode("utf-8", "replace").strip()
        if not words:
            name = param.human_readable_name.lower() if param else "text"
            self.fail(f"The {name} is empty: say what you want to know.", param, ctx)
        return words


WORDS = _Words()

_ALSO = ("license", "license_url", "revision")


_EXAMPLES = """\b
Examples:
  lca ask "What is Hiroko's father's occupation?"
  lca ask --docs notes/ README.md "Who maintains this?"
  lca ask --wikipedia --language ja --contact me@example.org "夏目漱石の出身地は?"
  lca ask --index my-index --model openai:gpt-4o-mini "What is the notice period?"
"""


@click.command(cls=SourceCommand, epilog=_EXAMPLES)
@click.argument("question", type=WORDS)
@source_options
@click.option(
    "--agent",
    metavar="TYPE",
    type=click.Choice([*AGENTS, *AGENTS.values()]),
    help="The agent type, by its short or its full name; see `lca agents`.",
)
@click.option(
    "--dialect",
    metavar="NAME",
    type=click.Choice(list(DIALECTS)),
    help="The written form; see `lca agents`. Without: the agent's own, in the question's "
    "language if that is Japanese or Chinese.",
)
@click.option(
    "--model",
    metavar="PROVIDER:NAME",
    help="The model, such as openai:gpt-4o-mini or ollama:llama3.2; openai-text:NAME for a "
    "completion model. Without: an extractive stand-in, which is not a language model.",
)
@click.option(
    "--max-iterations",
    type=click.IntRange(min=1),
    default=15,
    show_default=True,
    metavar="N",
    help="After so many rounds the model must answer with what was found.",
)
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", "-q", is_flag=True, help="Print the answer only.")
def ask(
    question: str,
    source: SourceOptions,
    agent: str | None,
    dialect: str | None,
    model: str | None,
    max_iterations: int,
    as_object: bool,
    quiet: bool,
) -> None:
    """Ask QUESTION over your documents, Wikipedia or an index.

    Without a source the five sentences about Hiroko are read; without a model the extractive
    stand-in answers.
    """
    from langchain_custom_agents.cli.show import as_json, console, line
    from langchain_custom_agents.records.visible import visible

    if as_object and quiet:
        msg = "--json and --quiet say two things about the output: give one of them."
        raise click.UsageError(msg)
    screen = console()

    def tell(kind: str, text: str, label: str | None = None) -> None:
        if not (as_object or quiet):
            screen.print(line(kind, text, language, label))

    language = _language(question, source, dialect)
    answered = _answered(question, source, agent, dialect, model, max_iterations, language, tell)
    if as_object:
        click.echo(as_json(answered))
    elif quiet:
        click.echo(visible(answered["answer"]))
    else:
        tell("answer", answered["answer"])
        for number, found in enumerate(answered["sources"], 1):
            tell("note", said_source(found, number))
    if answered.get("stopped") and answered["answer"].startswith("Agent stopped"):
        raise click.exceptions.Exit(1)


def _language(question: str, source: SourceOptions, dialect: str | None) -> str:
    """Return the language the run is shown and written in."""
    from langchain_custom_agents.offline._words import language_of

    if dialect is not None:
        endings = {"ja": ("japanese", "-ja"), "zh": ("chinese", "-zh")}
        return next((code for code, ends in endings.items() if dialect.endswith(ends)), "en")
    # Characters alone do not tell a Japanese title from a Chinese one; the wiki does.
    default = source.language if source.language in ("ja", "zh") else "zh"
    return language_of(question, default)


def _answered(
    question: str,
    options: SourceOptions,
    agent: str | None,
    dialect: str | None,
    model: str | None,
    max_iterations: int,
    language: str,
    tell: Any,
) -> dict[str, Any]:
    from langchain_custom_agents.agents.executor import AgentExecutor
    from langchain_custom_agents.agents.types import make_agent
    from langchain_custom_agents.cli.agents import choose, dialect_named
    from langchain_custom_agents.cli.errors import using_model
    from langchain_custom_agents.cli.models import STAND_IN, open_model
    from langchain_custom_agents.cli.steps import Steps
    from langchain_custom_agents.dialects import Toolbox

    source = open_source(options, question)
    kind, form = choose(agent, dialect, language, source.agent)
    llm = open_model(model, tool_calling="functions" in kind)
    tools = source.tools(kind)
    tell("note", f"Model: {model or STAND_IN}")
    tell("note", f"Agent: {kind}{f', {form}' if form else ''}")
    tell("note", f"Source: {source.name}")
    tell("question", question)
    given: dict[str, Any] = {"dialect": dialect_named(form)} if form else {}
    made = make_agent(kind, llm, tools, **given)
    steps = Steps(tell, getattr(made, "dialect", None), Toolbox.of(tools))
    executor = AgentExecutor(
        agent=made,
        tools=tools,
        max_iterations=max_iterations,
        early_stopping_method="generate",
    )
    with using_model(model):
        result = executor.invoke({"input": question}, {"callbacks": [steps]})
    return {
        "question": question,
        "model": model or STAND_IN,
        "agent": kind,
        "dialect": form,
        "steps": steps.taken,
        "thought": steps.thought,
        "answer": str(result["output"]),
        "stopped": bool(result.get("stopped")),
        "sources": sources_of(source.found),
    }


def about(document: "Document") -> dict[str, Any]:
    """Return what can be said about where a document comes from."""
    metadata = document.metadata
    said: dict[str, Any] = {name: str(metadata.get(name) or "") for name in ("title", "source")}
    said |= {name: metadata[name] for name in _ALSO if metadata.get(name)}
    if metadata.get("score") is not None:
        said["score"] = round(float(metadata["score"]), 4)
    return said


def sources_of(found: "list[Document]") -> list[dict[str, Any]]:
    """Return where documents come from: each source once, in order, with its best score."""
    kept: dict[tuple[str, str], dict[str, Any]] = {}
    for document in found:
        said = about(document)
        if not (said["title"] or said["source"]):
            continue
        known = kept.setdefault((said["title"], said["source"]), said)
        if "score" in said:
            known["score"] = max(said["score"], known.get("score", said["score"]))
    return list(kept.values())


def said_source(found: dict[str, Any], number: int) -> str:
    """Write a source in one line.

    Example:
        >>> said_source({"title": "GPL-3", "source": "/gpl.txt", "score": 0.5}, 1)
        '[1] 0.500 GPL-3, /gpl.txt'
    """
    score = f"{found['score']:.3f} " if "score" in found else ""
    said = ", ".join(str(found[name]) for name in ("title", "source", "license") if found.get(name))
    return f"[{number}] {score}{said}".rstrip()


__all__ = ("Source", "ask", "said_source", "sources_of")
