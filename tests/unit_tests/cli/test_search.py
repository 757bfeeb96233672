"""`lca search`."""

import json
from pathlib import Path


def test_passages_have_scores_and_sources(lca, notes):
    """The nearest passage comes first, with its score, its title and its file."""
    told = json.loads(lca("search", "--json", "--docs", notes, "--", "notice period").stdout)
    best, *rest = told["results"]
    assert (best["title"], best["source"]) == ("Lease", str(notes / "lease.md"))
    assert "three months" in best["text"]
    assert all(best["score"] >= result["score"] for result in rest)


def test_sources_are_named_as_they_were_given(lca, notes, monkeypatch):
    """A path that was given from the folder one is in is shown so, as `ask` shows it."""
    monkeypatch.chdir(notes.parent)
    for command in (("search",), ("ask", "--agent", "react"), ("ask",)):
        said = lca(*command, "--docs", "notes", "--", "notice period")
        assert str(Path("notes") / "lease.md") in said.output
        assert str(notes) not in said.output


def test_k_limits_the_passages(lca, notes):
    """`--k` says how many passages are shown."""
    said = lca("search", "--k", "1", "--docs", notes, "Ms Mori")
    assert said.output.startswith("[1] ")
    assert "[2] " not in said.output


def test_without_a_source_hiroko_is_searched(lca):
    """With no source the five sentences are searched."""
    assert lca("search", "ayako's job").output.endswith("ayako is a doctor\n")


def test_an_empty_term_is_refused(lca):
    """An empty term is a usage error."""
    said = lca("search", " ")
    assert said.exit_code == 2
    assert "The term is empty" in said.output


def test_terminal_codes_do_nothing(lca, tmp_path):
    """Escape codes in a passage, a title or a path are spelled out."""
    (tmp_path / "e.md").write_text("# T\x1b[2J\n\nbody \x1b[31m", encoding="utf-8")
    said = lca("search", "--docs", tmp_path, "body")
    assert said.exit_code == 0
    assert "\x1b" not in said.output
