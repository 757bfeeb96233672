"""`lca search`: what an agent's Search would find, by hand."""

from typing import Any

import click

from langchain_custom_agents.cli.ask import WORDS
from langchain_custom_agents.cli.citing import about, said_source, sources_of
from langchain_custom_agents.cli.errors import Failure
from langchain_custom_agents.cli.sources import (
    Source,
    SourceCommand,
    SourceOptions,
    open_source,
    source_options,
)

_EXAMPLES = """\b
Examples:
  lca search --docs notes/ "notice period"
  lca search --index my-index "notice period"
  lca search --wikipedia --contact me@example.org "Natsume Soseki"
"""


@click.command(cls=SourceCommand, epilog=_EXAMPLES)
@click.argument("term", type=WORDS)
@source_options
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
def search(term: str, source: SourceOptions, as_object: bool) -> None:
    """Search for TERM as an agent does, by hand.

    A source of passages shows the nearest ones with their scores; Wikipedia shows the beginning of
    the page with this title. The exit code is 1 if nothing is found.
    """
    from langchain_custom_agents.cli.show import as_json, console, line
    from langchain_custom_agents.records.visible import visible

    opened = open_source(source, term)
    found = _passages(opened, term) if opened.store else _page(opened, term)
    if as_object:
        click.echo(as_json({"term": term, "results": found}))
        return
    screen = console()
    for number, result in enumerate(found, 1):
        about = (
            said_source(result, number) if result["title"] or result["source"] else f"[{number}]"
        )
        if "score" in result and about == f"[{number}]":
            about = f"[{number}] {result['score']:.3f}"
        screen.print(line("action", about))
        screen.print(visible(result["text"]))


def _passages(source: Source, term: str) -> list[dict[str, Any]]:
    found = source.finder()(term)
    if not found:
        msg = f'Nothing was found for "{term}": try other words, or another source.'
        raise Failure(msg)
    # Passages of one source stay apart, so each is described for itself.
    return [{**about(document), "text": document.page_content} for document in found]


def _page(source: Source, term: str) -> list[dict[str, Any]]:
    tool, _ = source.page_tools()
    text = tool.run(term)
    if not source.found:
        raise Failure(text)
    return [{**about, "text": text} for about in sources_of(source.found)]
