"""The examples of the documentation."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "docstore-tools.md"


def test_the_examples_of_docstore_tools_run():
    """What docs/docstore-tools.md shows is what happens."""
    failed, run = doctest.testfile(str(PAGE), module_relative=False)

    assert run > 10
    assert failed == 0
