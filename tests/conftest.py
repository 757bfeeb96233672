"""What all tests share: how thorough hypothesis is, no network for unit tests, no silent skips."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_socket
from hypothesis import HealthCheck, settings

_UNIT_TESTS = Path(__file__).parent / "unit_tests"

# The threads of faiss wait for each other in a loop that takes all of a processor. With more
# sessions than processors that is most of the time; asleep, they wait for nothing. It is read
# once, when faiss is loaded, here or in a process that a test starts.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# A slow machine is no failure, and in CI the same commit gives the same result every time.
_CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", _CALM)
settings.register_profile("ci", _CALM, derandomize=True, database=None, print_blob=True)
# For sessions that repeat what a session of "ci" does. A test that wants more examples than usual
# says how many times as many, and so has fewer here, too.
settings.register_profile("quick", settings.get_profile("ci"), max_examples=15)
settings.register_profile("thorough", _CALM, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# What is loaded before the first test stays to the end: garbage is not looked for among it, neither
# while it is loaded nor in every full collection after that.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from here on."""
    gc.freeze()
    gc.enable()


NO_SKIPS = os.environ.get("LCA_NO_SKIPS", "") not in ("", "0")


@pytest.fixture(autouse=True)
def _no_network_in_unit_tests(request: pytest.FixtureRequest) -> Iterator[None]:
    """Refuse sockets, but for the pairs that an event loop talks to itself with."""
    if not request.path.is_relative_to(_UNIT_TESTS):
        yield
        return
    pytest_socket.disable_socket(allow_unix_socket=True)
    yield
    pytest_socket.enable_socket()


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Make a failure of a skip, where nothing may be skipped."""
    if NO_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"LCA_NO_SKIPS is set, and this was skipped: {why}"


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Refuse tests that skip."""
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_make_collect_report() -> Iterator[None]:
    """Refuse modules that skip."""
    report = yield
    _refuse_skip(report)
    return report
