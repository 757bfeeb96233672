"""The command line on a terminal, as a process of its own that has loaded LangChain already.

Loading it takes more than a second of every process. One process does so, and is forked for each
test. `test_process.py` starts the command line from nothing, through pipes.
"""

import fcntl
import multiprocessing
import os
import pty
import signal
import struct
import sys
import termios
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

PLAIN = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}

_LOADED = multiprocessing.get_context("forkserver")
_LOADED.set_forkserver_preload(
    [
        *(f"langchain_custom_agents.cli.{name}" for name in ("ask", "agents", "step", "demo")),
        *(f"langchain_custom_agents.cli.{name}" for name in ("stock", "documents", "models")),
        "langchain_custom_agents.agents.structured_chat",
        "langchain_custom_agents.vectorstores.faiss",
        "langchain_custom_agents.offline.extractive",
    ]
)


def started(*args: object, columns: int, **env: str) -> tuple[BaseProcess, int]:
    """Start a command on a terminal of its own; return it and the other end of the terminal."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    told, tells = _LOADED.Pipe(duplex=False)
    env = {**PLAIN, "TERM": "xterm-256color", **env}
    words = [str(arg) for arg in args]
    process = _LOADED.Process(target=_command, args=(os.ttyname(follower), words, env, tells))
    process.start()
    tells.close()
    # A terminal that nobody holds open is at its end.
    assert told.recv()
    told.close()
    os.close(follower)
    return process, leader


def _command(terminal: str, args: list[str], env: dict[str, str], tells: Connection) -> None:
    """Be what `python -m langchain_custom_agents.cli` is on a terminal."""
    os.setsid()
    opened = os.open(terminal, os.O_RDWR)
    for number in range(3):
        os.dup2(opened, number)
    os.close(opened)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C on it is a signal
    tells.send(True)
    tells.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(env)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
        for number, mode in enumerate("rww")
    )
    sys.argv = ["lca", *args]

    from langchain_custom_agents.cli import main

    main()
