"""The command line: `langchain-custom-agents`, short name `lca`."""

import os
import sys


def main() -> None:
    """Run the command line with the arguments of the process, and end the process.

    Nothing is imported before this is called, so that Ctrl-C is met wherever it comes.
    """
    try:
        from langchain_custom_agents.cli.commands import commands
        from langchain_custom_agents.cli.show import use_utf8

        use_utf8()
        commands.main(prog_name=_name())
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped by Ctrl-C.\n")
        sys.exit(130)
    except OSError as error:  # help that cannot be written, say to a full disk
        sys.stderr.write(f"Error: {error.strerror or error}.\n")
        sys.exit(1)
    finally:
        _drop_what_cannot_be_written()


def _drop_what_cannot_be_written() -> None:
    """Let Python end with our exit code: it would try to write the rest once more, and complain."""
    try:
        if sys.stdout is not None:  # as it is where standard output was closed
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _name() -> str:
    called = os.path.splitext(os.path.basename(sys.argv[0]))[0]  # noqa: PTH119, PTH122 - at start
    return called if called in ("lca", "langchain-custom-agents") else "lca"
