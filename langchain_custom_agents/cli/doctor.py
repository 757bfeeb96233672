"""`lca doctor`: what somebody's reader does with what models really say."""

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from langchain_custom_agents.cli.names import DIALECTS


@click.command()
@click.argument("subject", metavar="MODULE:OBJECT")
@click.option(
    "--dialect",
    metavar="NAME",
    type=click.Choice(list(DIALECTS)),
    help="The form it reads, if that cannot be found out; see `lca agents`.",
)
@click.option(
    "--html", "html_file", type=click.Path(dir_okay=False, path_type=Path), help="Write a page."
)
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write JSON."
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    metavar="N",
    help="How many examples to show of each fault.",
)
def doctor(
    subject: str,
    dialect: str | None,
    html_file: Path | None,
    json_file: Path | None,
    examples: int,
) -> None:
    """Say what an output parser, an agent or a function misreads.

    MODULE:OBJECT is anything that can be imported and reads a model's reply: LangChain's output
    parsers, an agent, or your own function. MODULE may be a file as well: ./mine.py:reader. The
    exit code is 0 if nothing wrong is passed on silently and every law holds, 1 if something is,
    2 if there is nothing to look at.
    """
    from langchain_custom_agents.cli.agents import dialect_named
    from langchain_custom_agents.doctor import examine

    found = _imported(subject)
    try:
        report = examine(
            found,
            dialect_named(dialect) if dialect else None,
            name=subject.rpartition(":")[2],
        )
    except (TypeError, ValueError) as error:
        raise click.UsageError(str(error).replace("with dialect.", "with --dialect.")) from error
    click.echo(report.text(examples))
    for file, written in ((html_file, report.to_html), (json_file, report.to_json)):
        if file is not None:
            file.write_text(written(), encoding="utf-8")
            click.echo(f"Written to {file}.")
    sys.exit(0 if report.healthy else 1)


def _imported(subject: str) -> Any:
    """Import what `MODULE:OBJECT` names, from the current folder as well."""
    # The drive of a path on Windows has a colon too.
    module, colon, name = subject.rpartition(":")
    if not colon or not module or not name:
        msg = f"{subject!r} must be MODULE:OBJECT, such as my_agent:parser or ./my_agent.py:parser."
        raise click.UsageError(msg)
    is_file = module.endswith(".py") or any(each in module for each in "/\\")
    try:
        found: Any = _loaded(Path(module)) if is_file else _named(module)
    except click.UsageError:
        raise
    except (Exception, SystemExit) as error:
        msg = f"Importing {module} raised {type(error).__name__}: {error}"
        raise click.UsageError(msg) from error
    for part in name.split("."):
        if not hasattr(found, part):
            msg = f"The module {module!r} has no {name!r}."
            raise click.UsageError(msg)
        found = getattr(found, part)
    return found


def _named(module: str) -> ModuleType:
    """Import a module by its name."""
    _search_in(os.getcwd())  # noqa: PTH109 - as Python itself puts it there
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        msg = f"There is no module {error.name!r}; MODULE:OBJECT must be importable from here."
        raise click.UsageError(msg) from error


def _loaded(file: Path) -> ModuleType:
    """Import a file, which may import what stands beside it."""
    spec = importlib.util.spec_from_file_location(f"_examined_{file.stem}", file)
    if not file.is_file() or spec is None or spec.loader is None:
        msg = f"There is no Python file {str(file)!r}; give MODULE:OBJECT or FILE.py:OBJECT."
        raise click.UsageError(msg)
    _search_in(str(file.resolve().parent))
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _search_in(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)
