"""A power cut: what was not synced is gone."""

import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration


@pytest.mark.skipif(
    shutil.which("gcc") is None, reason="needs a C compiler: apt install gcc libc6-dev"
)
def test_nothing_acknowledged_is_lost_by_a_power_cut() -> None:
    """Fifteen writers lose their disk's unsynced writes; nothing is lost and nothing torn."""
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.faiss_store.crash", "--power", "--runs", "15"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "0 lost, 0 torn" in told.stdout, told.stderr[-2_000:]
