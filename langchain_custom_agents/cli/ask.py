"""`lca ask`: a question, answered step by step over a source."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from langchain_custom_agents.cli.citing import said_source
from langchain_custom_agents.cli.names import AGENTS, DIALECTS
from langchain_custom_agents.cli.sources import (
    Source,
    SourceCommand,
    SourceOptions,
    open_source,
    source_options,
)

if TYPE_CHECKING:
    from rich.console import Console

    from langchain_custom_agents.agents.executor import AgentExecutor
    from langchain_custom_agents.cli.steps import Tell


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


_EXAMPLES = """\b
Examples:
  lca ask "What is Hiroko's father's occupation?"
  lca ask --docs notes/ README.md "Who maintains this?"
  lca ask --wikipedia --language ja --contact me@example.org "夏目漱石の出身地は?"
  lca ask --index my-index --model openai:gpt-4o-mini "What is the notice period?"
  lca ask --web searxng:https://search.example.org --into pages "Who wrote the first compiler?"
  lca ask --step "What is Hiroko's father's occupation?"
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
@click.option(
    "--step",
    is_flag=True,
    help="Stop after every move: look at the prompt, change what comes next, go back.",
)
def ask(
    question: str,
    source: SourceOptions,
    agent: str | None,
    dialect: str | None,
    model: str | None,
    max_iterations: int,
    as_object: bool,
    quiet: bool,
    step: bool,
) -> None:
    """Ask QUESTION over your documents, Wikipedia, an index or the web.

    Without a source the five sentences about Hiroko are read; without a model the extractive
    stand-in answers.
    """
    from langchain_custom_agents.cli.show import as_json, console, line
    from langchain_custom_agents.records.visible import visible

    forms = [f"--{name}" for name, given in _forms(as_object, quiet, step) if given]
    if len(forms) > 1:
        msg = f"{' and '.join(forms)} say two things about the output: give one of them."
        raise click.UsageError(msg)
    screen = console()

    def tell(kind: str, text: str, label: str | None = None) -> None:
        if not (as_object or quiet):
            screen.print(line(kind, text, language, label))

    language = _language(question, source, dialect)
    asked = _Asked(question, source, agent, dialect, model, max_iterations, language)
    answered = asked.stepped(tell, screen) if step else asked.answered(tell)
    limit = answered["stopped"] and answered["answer"].startswith("Agent stopped")
    if as_object:
        click.echo(as_json(answered))
    elif quiet:
        click.echo(visible(answered["answer"]))
    else:
        if not step:  # which has told the answer as its last step, and how the run ended
            tell("answer", answered["answer"])
            if answered["stopped"] and not limit:
                tell("note", "A limit ended the run: that is the best answer from what was found.")
        for number, found in enumerate(answered["sources"], 1):
            tell("note", said_source(found, number))
    if limit or answered.get("unfinished"):
        raise click.exceptions.Exit(1)


def _forms(as_object: bool, quiet: bool, step: bool) -> tuple[tuple[str, bool], ...]:
    return ("json", as_object), ("quiet", quiet), ("step", step)


def _language(question: str, source: SourceOptions, dialect: str | None) -> str:
    """Return the language the run is shown and written in."""
    from langchain_custom_agents.offline._words import language_of

    if dialect is not None:
        endings = {"ja": ("japanese", "-ja"), "zh": ("chinese", "-zh")}
        return next((code for code, ends in endings.items() if dialect.endswith(ends)), "en")
    # Characters alone do not tell a Japanese title from a Chinese one; the wiki does.
    default = source.language if source.language in ("ja", "zh") else "zh"
    return language_of(question, default)


@dataclass
class _Asked:
    """A question, and how it shall be answered."""

    question: str
    options: SourceOptions
    agent: str | None
    dialect: str | None
    model: str | None
    max_iterations: int
    language: str

    def answered(self, tell: "Tell") -> dict[str, Any]:
        """Answer it, telling each step as it happens."""
        from langchain_custom_agents.cli.errors import using_model
        from langchain_custom_agents.cli.steps import Steps
        from langchain_custom_agents.dialects import Toolbox

        source, executor, about = self._opened(tell)
        tell("question", self.question, None)
        dialect = getattr(executor._action_agent, "dialect", None)
        steps = Steps(tell, dialect, Toolbox.of(executor.tools))
        with using_model(self.model):
            result = executor.invoke({"input": self.question}, {"callbacks": [steps]})
        found = [document for _, artifact in result["artifacts"] for document in _flat(artifact)]
        return {
            **about,
            "steps": steps.taken,
            "thought": steps.thought,
            "stopped": bool(result.get("stopped")),
            **source.answered(str(result["output"]), found),
        }

    def stepped(self, tell: "Tell", screen: "Console") -> dict[str, Any]:
        """Answer it move by move, as the user goes on."""
        from langchain_core.documents import Document

        from langchain_custom_agents.cli.errors import using_model
        from langchain_custom_agents.cli.step import step_through
        from langchain_custom_agents.records.stepper import Stepper

        source, executor, about = self._opened(tell)
        with using_model(self.model):
            record = step_through(Stepper(executor, question={"input": self.question}), screen)
        found = [
            Document(held["page_content"], metadata=held["metadata"])
            for step in record.steps
            for call in step.calls
            for held in _flat(call.artifact)
        ]
        return {
            **about,
            "stopped": record.ended == "stopped",
            "unfinished": record.ended == "unfinished",
            **source.answered(record.answer or "", found),
        }

    def _opened(self, tell: "Tell") -> "tuple[Source, AgentExecutor, dict[str, Any]]":
        """Open what is needed, and tell what it is."""
        from langchain_custom_agents.agents.executor import AgentExecutor
        from langchain_custom_agents.agents.types import make_agent
        from langchain_custom_agents.cli.agents import choose, dialect_named
        from langchain_custom_agents.cli.models import STAND_IN, open_model

        source = open_source(self.options, self.question, tell=tell, by_rule=self.model is None)
        kind, form = choose(self.agent, self.dialect, self.language, source.agent)
        llm = open_model(self.model, tool_calling="functions" in kind)
        tools = source.tools(kind)
        about = {
            "question": self.question,
            "model": self.model or STAND_IN,
            "agent": kind,
            "dialect": form,
        }
        tell("note", f"Model: {about['model']}", None)
        tell("note", f"Agent: {kind}{f', {form}' if form else ''}", None)
        tell("note", f"Source: {source.name}", None)
        given: dict[str, Any] = {"dialect": dialect_named(form)} if form else {}
        executor = AgentExecutor(
            agent=make_agent(kind, llm, tools, **given),
            tools=tools,
            max_iterations=self.max_iterations,
            early_stopping_method="generate",
            return_artifacts=True,
        )
        return source, executor, about


def _flat(artifact: Any) -> list[Any]:
    """Return what a tool returned beside its words as a list: one document, several, or none."""
    if artifact is None:
        return []
    return artifact if isinstance(artifact, list) else [artifact]
