"""Kill -9, a hundred times; benchmarks/faiss_store/crash.py does it a thousand times."""

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_nothing_acknowledged_is_lost_by_a_kill() -> None:
    """A hundred writers die at random lines and moments; nothing is lost and nothing torn."""
    # A process of its own: forking is only safe where no other thread runs.
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.faiss_store.crash", "--runs", "100"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "0 lost, 0 torn" in told.stdout, told.stderr[-2_000:]
