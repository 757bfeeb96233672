"""Documents that the converter of the extra `docs` turns into text."""

import json

import pytest

from langchain_custom_agents.cli.documents import read
from langchain_custom_agents.cli.errors import Failure
from tests.unit_tests.cli.conftest import lca  # noqa: F401 - a fixture
from tests.unit_tests.cli.files import docx, pdf

pytestmark = pytest.mark.integration


def test_html_is_converted(tmp_path):
    """HTML becomes text with its title; scripts do not."""
    file = tmp_path / "page.html"
    file.write_text(
        "<html><head><title>Ayako</title><script>alert(1)</script></head>"
        "<body><h1>Work</h1><p>Ayako is a <b>doctor</b>.</p></body></html>",
        encoding="utf-8",
    )
    page = read(file)
    assert page.metadata["title"] == "Ayako"
    assert "Ayako is a **doctor**." in page.page_content
    assert "alert" not in page.page_content


def test_pdf_is_converted(tmp_path):
    """The text of a PDF is read."""
    file = tmp_path / "lease.pdf"
    file.write_bytes(pdf("The notice period is three months."))
    assert read(file).page_content.strip() == "The notice period is three months."


def test_docx_is_converted(tmp_path):
    """The text of a DOCX is read."""
    file = tmp_path / "job.docx"
    docx(file, "Ayako is a doctor.")
    assert read(file).page_content.strip() == "Ayako is a doctor."


@pytest.mark.parametrize("name", ["broken.pdf", "broken.docx"])
def test_a_broken_file_is_named(tmp_path, name):
    """A file that is not what its name says is named, and not taken for text."""
    file = tmp_path / name
    file.write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(Failure, match=f"{name} could not be converted"):
        read(file)


def test_pdf_docx_and_html_are_indexed(lca, tmp_path):  # noqa: F811
    """Files that must be converted are found by what is in them."""
    folder = tmp_path / "office"
    folder.mkdir()
    (folder / "lease.pdf").write_bytes(pdf("The notice period is three months."))
    docx(folder / "job.docx", "Ayako is a doctor.")
    (folder / "home.html").write_text("<p>Hiroko lives in <b>Nara</b>.</p>", encoding="utf-8")
    told = lca("index", folder, "--into", tmp_path / "made", "--json")
    assert json.loads(told.stdout)["passages"] == 3
    for term, name in (("notice", "lease.pdf"), ("doctor", "job.docx"), ("Nara", "home.html")):
        told = json.loads(lca("search", "--index", tmp_path / "made", "--json", term).stdout)
        assert told["results"][0]["source"] == str(folder / name)
