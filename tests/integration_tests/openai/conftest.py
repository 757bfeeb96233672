"""What the tests with OpenAI's client share."""

import shutil

import pytest

from tests.integration_tests.openai.mountebank import running


@pytest.fixture(scope="session")
def _mountebank(tmp_path_factory):
    """Start one mountebank for all tests that ask for it."""
    if shutil.which("mb") is None:
        pytest.skip("mountebank: npm ci --prefix .ci/node, and put its bin folder on the path")
    with running(tmp_path_factory.mktemp("mountebank")) as server:
        yield server


@pytest.fixture
def mountebank(_mountebank):
    """Give a mountebank that serves nothing yet."""
    yield _mountebank
    _mountebank.forget()
