"""`lca lookup`: every place of a page where a word stands, by hand."""

import re

import click

from langchain_custom_agents.cli.ask import WORDS
from langchain_custom_agents.cli.citing import said_source, sources_of
from langchain_custom_agents.cli.errors import Failure
from langchain_custom_agents.cli.sources import (
    SourceCommand,
    SourceOptions,
    open_source,
    source_options,
)

_RESULT = re.compile(r"\(Result (\d+)/(\d+)\) ")


_EXAMPLES = """\b
Examples:
  lca lookup --docs notes/ --page Contract "notice"
  lca lookup --wikipedia --contact me@example.org --page Kyoto "shrine"
"""


@click.command(cls=SourceCommand, epilog=_EXAMPLES)
@click.argument("term", type=WORDS)
@click.option("--page", required=True, type=WORDS, metavar="TITLE", help="The title of the page.")
@source_options
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
def lookup(term: str, page: str, source: SourceOptions, as_object: bool) -> None:
    """Look TERM up in the page with a title, by hand: every place where it stands.

    The exit code is 1 if there is no such page, or TERM is not in it.
    """
    from langchain_custom_agents.cli.show import as_json, console, line
    from langchain_custom_agents.records.visible import visible

    opened = open_source(source, page)
    search, walk = opened.page_tools()
    said = search.run(page)
    if not opened.found:
        raise Failure(said)
    results: list[str] = []
    while match := _RESULT.match(said := walk.run(term)):
        results.append(said[match.end() :])
        if match[1] == match[2]:
            break
    if not results:
        raise Failure(said)
    about = sources_of(opened.found)[0]
    if as_object:
        click.echo(as_json({"term": term, "page": about, "results": results}))
        return
    screen = console()
    screen.print(line("action", said_source(about, 1).removeprefix("[1] ")))
    for number, result in enumerate(results, 1):
        screen.print(line("note", "", label=f"{number}/{len(results)}"), end="")
        screen.print(visible(result))
