"""A folder of text files."""

import pytest

from langchain_custom_agents import FolderDocstore


@pytest.fixture
def folder(tmp_path):
    """A folder with the three kinds of files, linked to each other."""
    (tmp_path / "people").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "notes.txt").write_text("hidden", encoding="utf-8")
    (tmp_path / "people" / "hiroko.md").write_text(
        "---\ntags: x\n---\n# Hiroko Yamada\n\nHer father is [Takuma](takuma.rst#work), her mother "
        "[[Ayako]]. See [the web](https://example.org/x.md) and ![a picture](ayako.png).\n",
        encoding="utf-8",
    )
    (tmp_path / "people" / "takuma.rst").write_text(
        "=============\nTakuma Yamada\n=============\n\nTakuma is a teacher. "
        "His daughter: :doc:`hiroko`, his wife: `Ayako <../ayako.txt>`_.\n",
        encoding="utf-8",
    )
    (tmp_path / "ayako.txt").write_text("\ufeffAyako paints.\r\n", encoding="utf-8")
    (tmp_path / "data.csv").write_text("1,2", encoding="utf-8")
    return tmp_path


def test_titles_come_from_headings_or_file_names(folder):
    """A first heading is the title; a file without one is called by its name."""
    titles = [page.metadata["title"] for page in FolderDocstore(folder).documents]

    assert sorted(titles) == ["Hiroko Yamada", "Takuma Yamada", "ayako"]


def test_the_title_is_not_repeated_in_the_text(folder):
    """The text begins after the heading and without a byte order mark."""
    store = FolderDocstore(folder)

    assert store.search("Takuma Yamada").page_content.startswith("Takuma is a teacher.")
    assert store.search("ayako").page_content == "Ayako paints."


@pytest.mark.parametrize("name", ["hiroko", "hiroko.md", "HIROKO"])
def test_a_page_is_found_by_its_file_name_too(folder, name):
    """The file's name opens the page whose title is another."""
    assert FolderDocstore(folder).search(name).metadata["title"] == "Hiroko Yamada"


def test_links_become_related_titles(folder):
    """Markdown, wiki and reStructuredText links between the files name related pages."""
    store = FolderDocstore(folder)

    assert store.search("hiroko").metadata["related"] == ["Takuma Yamada", "ayako"]
    assert store.search("takuma").metadata["related"] == ["Hiroko Yamada", "ayako"]
    assert store.search("ayako").metadata["related"] == []


def test_the_source_is_the_file(folder):
    """A page's source is the path of its file."""
    assert FolderDocstore(folder).search("ayako").metadata["source"] == str(folder / "ayako.txt")


def test_a_miss_offers_the_nearest_titles(folder):
    """A misspelt title is answered with the nearest."""
    assert "Hiroko Yamada" in FolderDocstore(folder).search("Hirko Yamada")


def test_equal_titles_are_told_apart_by_their_paths(tmp_path):
    """Two files with the same heading keep both pages, and the short title offers both."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(f"# Notes\n\nOf {name}.", encoding="utf-8")
    store = FolderDocstore(tmp_path)

    assert store.search("Notes (a/README.md)").page_content == "Of a."
    assert "Notes (b/README.md)" in store.search("readme")
    assert store.search("notes").startswith('"notes" may be: Notes (a/README.md); Notes (b/')


def test_a_single_file_is_a_folder_of_one(folder):
    """A path may name a file."""
    assert len(FolderDocstore(folder / "ayako.txt").documents) == 1


def test_several_paths_are_one_store(folder, tmp_path_factory):
    """Folders and files may be given together."""
    other = tmp_path_factory.mktemp("other") / "extra.txt"
    other.write_text("More.", encoding="utf-8")

    assert len(FolderDocstore(folder, other).documents) == 4


def test_a_missing_path_is_refused(tmp_path):
    """A path that does not exist is named."""
    with pytest.raises(FileNotFoundError, match=r"nowhere does not exist"):
        FolderDocstore(tmp_path / "nowhere")


def test_a_folder_without_texts_is_refused(tmp_path):
    """An empty folder is named, with the kinds of files that are read."""
    with pytest.raises(ValueError, match=r"holds no \.txt, \.md or \.rst file"):
        FolderDocstore(tmp_path)


def test_empty_files_are_refused(tmp_path):
    """A folder whose files are all empty is refused."""
    (tmp_path / "a.txt").write_text(" \n", encoding="utf-8")

    with pytest.raises(ValueError, match="No text was found"):
        FolderDocstore(tmp_path)


def test_a_file_of_another_kind_is_refused(folder):
    """A file that is no text is named."""
    with pytest.raises(ValueError, match=r"data\.csv is not a"):
        FolderDocstore(folder / "data.csv")


def test_a_file_in_another_encoding_is_refused(tmp_path):
    """A file that is not UTF-8 is named, and what to do."""
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1"))

    with pytest.raises(ValueError, match=r"latin\.txt is not UTF-8 text .* save it as UTF-8"):
        FolderDocstore(tmp_path)


def test_no_path_is_refused():
    """A path is needed."""
    with pytest.raises(ValueError, match="at least one path"):
        FolderDocstore()


def test_equal_files_of_two_folders_are_told_apart(tmp_path):
    """Two projects with the same README are one store, and each page can be opened."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(f"# Notes\n\nOf {name}.", encoding="utf-8")
    store = FolderDocstore(tmp_path / "a", tmp_path / "b")

    assert store.search("Notes (a/README.md)").page_content == "Of a."
    assert store.search("Notes (b/README.md)").page_content == "Of b."


@pytest.mark.parametrize(
    "texts",
    [
        {"a.md": "# One  page\n1", "b.md": "# One page\n2"},
        {"a.md": "# X\n1", "b.md": "# X\n2", "c.md": "# X (a.md)\n3"},
        {"\u30ac.txt": "composed", "\u30ab\u3099.txt": "decomposed"},
    ],
)
def test_titles_that_become_equal_are_told_apart(tmp_path, texts):
    """Titles that differ only in spaces, in Unicode form or by an added path are all kept."""
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    titles = {page.metadata["title"] for page in FolderDocstore(tmp_path).documents}

    assert len(titles) == len(texts)


def test_a_file_named_twice_is_one_page(tmp_path):
    """A file that is reached in two ways keeps its plain title."""
    (tmp_path / "takuma.txt").write_text("A teacher.", encoding="utf-8")
    store = FolderDocstore(tmp_path, tmp_path / ".." / tmp_path.name / "takuma.txt")

    assert [page.metadata["title"] for page in store.documents] == ["takuma"]


def test_signs_that_belong_to_a_name_stay_in_the_title(tmp_path):
    """The heading "# C#" names the page C#; only signs after a space close a heading."""
    (tmp_path / "a.md").write_text("# C#\nA language.", encoding="utf-8")
    (tmp_path / "b.md").write_text("# Notes ##\nClosed.", encoding="utf-8")
    store = FolderDocstore(tmp_path)

    assert store.search("C#").page_content == "A language."
    assert store.search("Notes").page_content == "Closed."
