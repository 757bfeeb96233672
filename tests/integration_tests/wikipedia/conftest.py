"""A real MediaWiki for the session, and the server that misbehaves."""

import os
import tempfile
from pathlib import Path

import pytest

from tests.integration_tests.wikipedia.mediawiki import MediaWiki, fast_folder, why_not
from tests.integration_tests.wikipedia.server import Wiki


@pytest.fixture(scope="session")
def built_wiki():
    """Debian's MediaWiki with the test pages, not yet serving."""
    if reason := why_not():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        wiki = MediaWiki(Path(folder) / "wiki")
        wiki.build()
        yield wiki


@pytest.fixture(scope="session")
def mediawiki(built_wiki):
    """The wiki, serving on loopback."""
    built_wiki.start(workers=os.cpu_count() or 2)
    yield built_wiki
    built_wiki.stop()


@pytest.fixture
def bad_wiki():
    """A wiki of ours that misbehaves as the path says."""
    server = Wiki()
    yield server
    server.stop()
