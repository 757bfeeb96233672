"""The commands, each loaded when it is called: `lca --help` imports no LangChain."""

import difflib
from importlib import import_module
from typing import Any

import click

from langchain_custom_agents._version import __version__
from langchain_custom_agents.cli.errors import friendly

COMMANDS = {
    "demo": "Watch an agent invent its evidence, and ours search instead. No key needed.",
    "ask": "Ask a question over your documents, Wikipedia or an index.",
    "agents": "Say which agent and which dialect to use when.",
    "search": "Search as an agent does, by hand.",
    "lookup": "Look a word up in a page, by hand.",
    "index": "Put documents into a folder that can be searched.",
    "doctor": "Say what breaks an agent, an output parser or a function.",
    "episodes": "Read logged runs again, and say where our agent differs.",
}


class Commands(click.Group):
    """A group that knows the names of its commands and loads one when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the commands in the order in which somebody meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(
            import_module(f"langchain_custom_agents.cli.{cmd_name}"), cmd_name
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command by its name; one that nearly has it is offered, as options are."""
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        known = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(COMMANDS)}."
        msg = f"No such command {name!r}. {known}"
        raise click.UsageError(msg, ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; whatever goes wrong becomes one sentence and an exit code."""
        with friendly(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="langchain-custom-agents %(version)s")
@click.option("--debug", is_flag=True, help="On an error show where it happened.")
def commands(debug: bool) -> None:
    """LangChain agents you can open.

    Begin with `lca demo`: it needs no key and no network.
    """
