"""`lca episodes`: what it says of files that hold none."""

import pytest


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "is not UTF-8 text (byte 0): give a file of JSON lines."),
        (b"{", "Line 1 of "),
        (b"[]", "it has no list `steps`"),
        (b'{"steps": [], "format": "other"}', "other"),
        (b'{"steps": [{}], "format": "docstore_react"}', "An episode lacks "),
    ],
)
def test_a_file_without_episodes_is_refused(lca, content, said, tmp_path):
    """A file that is no log is refused in one sentence that says what is wrong with it."""
    file = tmp_path / "log.jsonl"
    file.write_bytes(content)
    told = lca("episodes", file)
    assert told.exit_code == 1
    assert said in told.output
