"""What the tests of the command line share."""

import pytest
from click.testing import CliRunner, Result

from langchain_custom_agents.cli.commands import commands


@pytest.fixture
def lca(monkeypatch):
    """Run a command in this process, plain and as wide as needed."""
    for name in ("LCA_CONTACT", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)

    def run(*args: object) -> Result:
        return CliRunner().invoke(commands, [str(arg) for arg in args])

    return run


@pytest.fixture
def notes(tmp_path):
    """Make a folder with two pages of text and something that is none."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lease.md").write_text(
        "# Lease\n\nThe notice period is three months. The landlord is Ms Mori.\n\n"
        "See [Mori](mori.txt).\n",
        encoding="utf-8",
    )
    (folder / "mori.txt").write_text("Ms Mori is a carpenter. She lives in Nara.", encoding="utf-8")
    (folder / ".hidden.md").write_text("hidden", encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return folder
