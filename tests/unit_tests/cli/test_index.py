"""`lca index`, and asking and searching what it made."""

import json

import pytest


@pytest.fixture
def index(lca, tmp_path):
    """Index paths into a folder and return what was told."""

    def run(*args):
        said = lca("index", *args, "--into", tmp_path / "made", "--json")
        return {**json.loads(said.stdout), "exit_code": said.exit_code}

    return run


def counts(told):
    """Return what changed."""
    return tuple(told[name] for name in ("added", "updated", "skipped", "deleted"))


def test_only_what_changed_is_touched(index, notes):
    """A second run skips what is the same, replaces what changed and deletes what is gone."""
    assert counts(index(notes)) == (2, 0, 0, 0)
    assert counts(index(notes)) == (0, 0, 2, 0)
    (notes / "mori.txt").write_text("Ms Mori is a baker.", encoding="utf-8")
    assert counts(index(notes)) == (1, 0, 1, 1)
    (notes / "lease.md").unlink()
    told = index(notes)
    assert (counts(told), told["passages"]) == ((0, 0, 1, 1), 1)


def test_other_paths_are_left_alone(index, notes, tmp_path):
    """Indexing one path deletes nothing that came from another."""
    other = tmp_path / "other.txt"
    other.write_text("Ayako is a doctor.", encoding="utf-8")
    index(notes)
    assert index(other)["passages"] == 3


def test_what_changed_is_printed(lca, notes, tmp_path):
    """Without `--json` one line says what changed."""
    said = lca("index", notes, "--into", tmp_path / "made")
    assert said.stdout == (
        "Files read: 2. Passages: 2 added, 0 updated, 0 skipped, 0 deleted; "
        f"{tmp_path / 'made'} holds 2.\n"
    )


def test_an_unreadable_file_is_left_out_and_kept(lca, index, notes, tmp_path):
    """A file that cannot be read is named, the rest is indexed, nothing of it is deleted."""
    index(notes)
    (notes / "mori.txt").write_bytes(b"\xff\xfe")
    told = index(notes)
    assert told["exit_code"] == 1
    assert told["unread"] == [str(notes / "mori.txt")]
    assert told["passages"] == 2
    said = lca("index", notes, "--into", tmp_path / "made")
    assert f"Left out: {notes / 'mori.txt'} is not UTF-8 text" in said.output


def test_an_empty_file_is_named(lca, notes, tmp_path):
    """A file without text is named, and is no error."""
    (notes / "empty.md").write_text("\n", encoding="utf-8")
    said = lca("index", notes, "--into", tmp_path / "made")
    assert said.exit_code == 0
    assert f"There is no text in {notes / 'empty.md'}." in said.output


def test_an_index_answers_with_scores_and_sources(lca, index, notes, tmp_path):
    """`ask --index` answers from the folder and names score and source."""
    index(notes)
    args = ("--index", tmp_path / "made", "Where does Ms Mori live?")
    told = json.loads(lca("ask", "--json", *args).stdout)
    assert told["answer"] == "She lives in Nara."
    best = told["sources"][0]
    assert best["source"] == str(notes / "mori.txt")
    assert f"[1] {best['score']:.3f} mori, {best['source']}\n" in lca("ask", *args).output


def test_long_documents_are_cut(index, tmp_path):
    """A long document becomes several passages of the size asked for."""
    (tmp_path / "long.txt").write_text("Takuma is a teacher. " * 100, encoding="utf-8")
    assert index(tmp_path / "long.txt", "--chunk-size", "200")["passages"] > 10


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ((), 2, "Missing argument"),
        (("",), 2, "The path is empty"),
        (("/no such path",), 1, "does not exist"),
        ((".", "--chunk-size", "100", "--chunk-overlap", "100"), 2, "less than --chunk-size"),
        ((".", "--embeddings", "nonsense"), 1, "nonsense"),
    ],
)
def test_errors_are_one_sentence(lca, tmp_path, args, code, said):
    """What is wrong is said in a sentence, with the right exit code."""
    result = lca("index", *args, "--into", tmp_path / "made")
    assert result.exit_code == code
    assert said in result.output.rstrip().splitlines()[-1]


def test_a_folder_without_a_name_is_refused(lca, notes):
    """An empty name, as an unset variable of a shell gives it, is not the folder one is in."""
    result = lca("index", notes, "--into", "")
    assert result.exit_code == 2
    assert "The path is empty" in result.output


def test_a_folder_without_an_index_is_refused(lca, tmp_path):
    """A folder that holds no index is named, with how to make one."""
    said = lca("search", "x", "--index", tmp_path)
    assert said.exit_code == 1
    assert "holds no index: make one with `lca index" in said.output


def test_an_index_has_no_pages(lca, index, notes, tmp_path):
    """`lookup` and the docstore agent say that an index holds passages."""
    index(notes)
    for args in (("lookup", "--page", "x"), ("ask", "--agent", "docstore")):
        said = lca(*args, "--index", tmp_path / "made", "x")
        assert said.exit_code == 1
        assert "holds passages, not pages" in said.output
