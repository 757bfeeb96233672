"""The group of commands."""

import pytest

from langchain_custom_agents._version import __version__
from langchain_custom_agents.cli.commands import COMMANDS, commands


def test_help_names_every_command(lca):
    """The help names every command there is."""
    said = lca("--help")
    assert said.exit_code == 0
    assert all(f"  {name} " in said.output for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(lca, name):
    """Every command that is listed can be loaded and explains itself."""
    said = lca(name, "--help")
    assert said.exit_code == 0, said.output
    assert said.output.startswith("Usage: ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name):
    """Every option of every command says what it does."""
    command = commands.get_command(None, name)
    options = [param for param in command.params if param.param_type_name == "option"]
    assert all(option.help for option in options)


def test_version_is_the_packages(lca):
    """`--version` names the package and its version."""
    assert lca("--version").output == f"langchain-custom-agents {__version__}\n"


@pytest.mark.parametrize(
    ("name", "help"),
    [("aks", "Did you mean 'ask'?"), ("serach", "Did you mean 'search'?"), ("zzz", "There are: ")],
)
def test_unknown_command_is_a_usage_error(lca, name, help):  # noqa: A002
    """A command that does not exist is refused with exit code 2, and with what was meant."""
    said = lca(name, "x")
    assert said.exit_code == 2
    assert f"No such command '{name}'. {help}" in said.output
