"""Reading and splitting documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from langchain_custom_agents.cli.documents import files_in, read, split
from langchain_custom_agents.cli.errors import Failure
from langchain_custom_agents.cli.names import CONVERTED, TEXT


def test_folders_give_the_known_kinds(notes):
    """Of a folder the files of the given kinds are taken, hidden ones left out, in order."""
    assert [file.name for file in files_in([notes], TEXT)] == ["lease.md", "mori.txt"]


def test_a_file_named_twice_is_read_once(notes):
    """A file that is named and lies in a named folder is one document."""
    assert len(files_in([notes / "mori.txt", notes], TEXT)) == 2


def test_a_named_file_may_have_any_name(tmp_path):
    """A file that is named itself is read as text whatever it is called."""
    licence = tmp_path / "COPYING"
    licence.write_text("Copy it.", encoding="utf-8")
    (file,) = files_in([licence], TEXT)
    assert read(file).page_content == "Copy it."


def test_title_and_source_are_known(notes):
    """A document knows its title, from its first heading or its name, and its full path."""
    lease, mori = (read(file).metadata for file in files_in([notes], TEXT))
    assert lease == {"title": "Lease", "source": str(notes / "lease.md")}
    assert mori["title"] == "mori"


def test_an_unreadable_file_is_named(notes):
    """What cannot be read is named, with what to do."""
    with pytest.raises(Failure, match=r"picture\.png is not UTF-8 text"):
        read(notes / "picture.png")


def test_kinds_do_not_overlap():
    """A kind of file is either text or converted."""
    assert not set(TEXT) & set(CONVERTED)


@given(st.text(min_size=1), st.integers(min_value=50, max_value=200))
def test_nothing_is_lost_in_splitting(text, size):
    """Without overlap the passages hold every letter of a text, in order, within their size."""
    pieces = split(Document(text, metadata={"title": "t"}), size, 0)
    assert "".join("".join(piece.page_content.split()) for piece in pieces) == "".join(text.split())
    assert all(len(piece.page_content) <= size for piece in pieces)


def test_japanese_is_split_at_its_full_stops():
    """A text without spaces is split where its sentences end."""
    text = "琢磨は教師です。" * 20
    pieces = split(Document(text, metadata={"title": "t"}), 50, 0)
    assert all(piece.page_content.endswith("。") for piece in pieces)
