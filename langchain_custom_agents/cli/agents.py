"""`lca agents`: which agent and which dialect when. And the two by their names."""

from typing import TYPE_CHECKING, Any

import click

from langchain_custom_agents.cli.names import AGENTS, DIALECTS

if TYPE_CHECKING:
    from langchain_custom_agents.dialects import Dialect

# The dialects that belong to an agent type: naming one of them names the agent, too.
_AGENT_OF = {"json": "structured", "self-ask": "self-ask", "conversational": "conversational"}
_IN = {"ja": "japanese", "zh": "chinese"}


def dialect_named(name: str) -> "Dialect":
    """Make the dialect that has a name on the command line.

    Example:
        >>> dialect_named("bracketed-ja").observation
        '観察:'
    """
    from langchain_custom_agents import dialects

    japanese, chinese = dialects.JAPANESE, dialects.CHINESE
    made = {
        "english": dialects.ENGLISH,
        "japanese": japanese,
        "chinese": chinese,
        "bracketed": dialects.Bracketed(),
        "bracketed-ja": _bracketed(japanese, "完了"),
        "bracketed-zh": _bracketed(chinese, "完成"),
        "json": dialects.JsonBlob(),
        "self-ask": dialects.SelfAsk(),
        "conversational": dialects.Conversational(),
    }
    return made[name]


def _bracketed(words: Any, finish: str) -> "Dialect":
    """Return the bracketed form in the labels of another dialect."""
    from langchain_custom_agents.dialects import Bracketed

    return Bracketed(
        thought=words.thought,
        action=words.action,
        observation=words.observation,
        question=words.question,
        finish=finish,
    )


def choose(
    agent: str | None, dialect: str | None, language: str, otherwise: str
) -> tuple[str, str | None]:
    """Choose agent type and dialect by what the user named and the question's language.

    Args:
        agent: The agent's short or full name, if the user gave one.
        dialect: The dialect's name, if the user gave one.
        language: The language of the question: "en", "ja" or "zh".
        otherwise: The agent type to take if neither is named.

    Returns:
        LangChain's name of the agent type, and the name of the dialect; None for the type's own.

    Raises:
        UsageError: If the agent has no dialect to choose.

    Example:
        >>> choose(None, None, "ja", "zero-shot-react-description")
        ('zero-shot-react-description', 'japanese')
        >>> choose("docstore", None, "ja", "")
        ('react-docstore', 'bracketed-ja')
    """
    if agent is None and dialect in _AGENT_OF:
        agent = _AGENT_OF[dialect]
    kind = otherwise if agent is None else AGENTS.get(agent, agent)
    if dialect is not None and "functions" in kind:
        msg = f"--dialect does not go with {kind}: with tool calling the provider owns the form."
        raise click.UsageError(msg)
    if dialect is None and language != "en":
        if kind == "zero-shot-react-description":
            dialect = _IN[language]
        elif kind == "react-docstore":
            dialect = f"bracketed-{language}"
    return kind, dialect


@click.command()
def agents() -> None:
    """Say which agent and which dialect to use when."""
    from rich.table import Table

    from langchain_custom_agents.agents.types import AGENTS as ROWS
    from langchain_custom_agents.cli.show import console

    screen = console()
    types = Table("--agent", "LangChain's name", "model", "dialect", "use it for", title="Agents")
    types.columns[1].overflow = "fold"
    short = {full: name for name, full in AGENTS.items()}
    for kind, row in ROWS.items():
        form = "the provider's" if row.dialect is None else _name_of(row.dialect)
        types.add_row(short[kind.value], kind.value, row.model, form, row.use)
    forms = Table("--dialect", "what it is", title="Dialects")
    for name, what in DIALECTS.items():
        forms.add_row(name, what)
    if screen.is_terminal:
        screen.print(types, soft_wrap=False)
        screen.print(forms, soft_wrap=False)
        return
    for table in (types, forms):
        for cells in zip(*(column.cells for column in table.columns), strict=True):
            click.echo("\t".join(str(cell) for cell in cells))


def _name_of(dialect: "Dialect") -> str:
    return next(name for name in DIALECTS if dialect_named(name) == dialect)
