"""RunRecord: data in and out, and nothing secret in it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_custom_agents.records import (
    CallRecord,
    RunRecord,
    StepRecord,
    Tokens,
    ToolRecord,
    redact,
)
from tests.unit_tests.records.runs import failed_run, hostile_run, japanese_run, long_run

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
TOKENS = st.builds(Tokens, read=st.integers(0, 9), written=st.integers(0, 9), counted=st.booleans())
CALLS = st.builds(CallRecord, tool=TEXT, input=DATA, observation=st.none() | TEXT, artifact=DATA)
STEPS = st.builds(
    StepRecord,
    prompt=TEXT | st.lists(st.fixed_dictionaries({"role": TEXT, "content": TEXT}), max_size=2),
    raw=st.none() | TEXT,
    calls=st.lists(CALLS, max_size=2),
    tokens=TOKENS,
)
RECORDS = st.builds(
    RunRecord,
    inputs=st.dictionaries(TEXT, DATA, max_size=2),
    tools=st.lists(st.builds(ToolRecord, name=TEXT), max_size=2),
    steps=st.lists(STEPS, max_size=3),
    answer=st.none() | TEXT,
)


@given(RECORDS)
def test_json_and_back(record: RunRecord) -> None:
    """What is written as JSON is read back as it was."""
    assert RunRecord.from_json(record.to_json()) == record


@pytest.mark.parametrize("run", [long_run, failed_run, japanese_run])
def test_a_file_and_back(run, tmp_path) -> None:
    """A run that happened is saved to a file and loaded again, in a folder that is made."""
    record = run()

    assert RunRecord.load(record.save(tmp_path / "runs" / "one.json")) == record


def test_a_mark_of_utf_8_is_no_part_of_a_record(tmp_path) -> None:
    """A file that an editor has saved with a byte order mark is the same record."""
    record = long_run()
    file = tmp_path / "run.json"
    file.write_text(record.to_json(), encoding="utf-8-sig")

    assert RunRecord.load(file) == record


def test_half_a_character_is_kept(tmp_path) -> None:
    """Half a pair of UTF-16, left by a stream that broke off, does not keep a run from its file."""
    record = RunRecord(inputs={"input": "\udcff"}, steps=[StepRecord(prompt="q", raw="so \ud83d")])

    assert RunRecord.load(record.save(tmp_path / "run.json")) == record
    assert "so \\ud83d" in record.to_html(tmp_path / "run.html")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ("[]", "`kind`"),
        ('{"kind": "other"}', "`kind`"),
        (json.dumps({**RunRecord().model_dump(), "version": 2}), "version 2; this package reads 1"),
        (json.dumps({**RunRecord().model_dump(), "steps": [{"promt": ""}]}), "`steps.0.prompt`"),
        (json.dumps({**RunRecord().model_dump(), "colour": "red"}), "`colour`"),
    ],
)
def test_what_is_no_record_is_refused(text: str, says: str) -> None:
    """Text that is no record of a known version is refused with a sentence that names why."""
    with pytest.raises(ValueError) as refused:
        RunRecord.from_json(text)

    assert says in str(refused.value)


def test_the_schema_can_be_had() -> None:
    """The schema is public as a JSON schema, and forbids fields that are not known."""
    schema = RunRecord.model_json_schema()

    assert schema["properties"]["version"]["const"] == 1
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("inputs", "question"),
    [
        ({"input": "What?"}, "What?"),
        ({"question": "What?", "chat_history": []}, "What?"),
        ({"topic": "tea"}, "tea"),
        ({"messages": [{"role": "user", "content": "What?"}]}, "What?"),
        ({"a": 1, "b": 2}, '{"a": 1, "b": 2}'),
        ({}, ""),
    ],
)
def test_the_question_is_found(inputs, question: str) -> None:
    """The question is found among the inputs, however they are named."""
    assert RunRecord(inputs=inputs).question == question


# Secrets.

SECRETS = {
    "openai": "sk-proj-abcdefghijklmnopqrstuvwxyz",
    "github": "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "aws": "AKIAABCDEFGHIJKLMNOP",
    "google": "AIzaSyA-abcdefghijklmnopqrstuvwxyz01234",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh",
    "slack": "xoxb-1234567890-abcdef",
    "private": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_keys_are_redacted(secret: str) -> None:
    """What looks like a provider's key does not stay in a text."""
    assert redact(f"the key is {secret}, keep it") == "the key is [redacted], keep it"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("api_key=hunter22", "api_key=[redacted]"),
        ('{"password": "hunter22"}', '{"password": "[redacted]"}'),
        ("Authorization: Bearer abcdefghijklmnopqrst", "Authorization: Bearer [redacted]"),
        ("Authorization: Basic bWU6aHVudA==", "Authorization: Basic [redacted]"),
        ("パスワード：ひみつです", "パスワード：[redacted]"),
        ("postgresql://me:hunter22@host/db", "postgresql://me:[redacted]@host/db"),
    ],
)
def test_named_secrets_are_redacted(text: str, clean: str) -> None:
    """What stands behind the name of a secret does not stay in a text."""
    assert redact(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "The keyboard has a key. Tokens: 12. https://example.org:8080/a",
        "Basic training. パスワードを変える。 Bearer of bad news. The secret of success is work.",
        "sk-learn is a library; task-force; http://localhost:8000/v1",
    ],
)
def test_plain_words_are_left_alone(text: str) -> None:
    """Words that only sound like secrets stay."""
    assert redact(text) == text


def test_secrets_of_the_environment_are_redacted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of an environment variable that is named like a secret does not stay anywhere."""
    monkeypatch.setenv("MY_SERVICE_TOKEN", "correct-horse-battery")

    assert redact({"a": ["it was correct-horse-battery."]}) == {"a": ["it was [redacted]."]}


def test_a_record_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """No field of a record of a run holds a secret, that of a failure included."""
    monkeypatch.setenv("WIKI_PASSWORD", "Takuma is a teacher")
    text = failed_run().to_json()

    assert "sk-abc" not in text
    assert "Takuma is a teacher" not in text
    assert "429 Too many requests, key [redacted]" in text


# Shown.


def test_no_text_passes_for_a_line_of_the_run() -> None:
    """An observation of several lines cannot forge an answer: its further lines are indented."""
    import io

    from rich.console import Console

    found = CallRecord(tool="Search", input="Takuma", observation="a page\nAnswer: forged")
    record = RunRecord(steps=[StepRecord(prompt="?", calls=[found])], answer="true\nAnswer: both")
    written = io.StringIO()
    record.show(Console(file=written, force_terminal=False, width=200))
    answers = [line for line in written.getvalue().splitlines() if line.startswith("Answer")]

    assert answers == ["Answer: true"]


def test_hostile_text_is_text_in_a_terminal() -> None:
    """No control character and no mark of direction reaches a terminal, whatever the field."""
    import io

    from rich.console import Console

    written = io.StringIO()
    hostile_run().show(Console(file=written, force_terminal=False, width=200), prompts=True)
    shown = written.getvalue()

    assert "\\x1b[2J" in shown
    assert "\\u202egnp.exe" in shown
    assert not any(mark in shown for mark in "\x1b\x07\u202e\u2066\u200f\u200e\u061c\ud800")


def test_a_run_is_shown_in_the_language_of_its_question() -> None:
    """A Japanese run is shown with Japanese words around it, on the page, too."""
    from langchain_custom_agents.records.show import lines

    record = japanese_run()
    shown = "\n".join(line.plain for line in lines(record))

    assert "観察: 宏子の父は琢磨です。" in shown
    assert "削除: 観察: 父は医者です。" in shown
    assert '<html lang="ja">' in record.to_html()


def test_the_page_asks_for_nothing() -> None:
    """The page names no address and forbids itself to load anything."""
    page = long_run().to_html()

    assert "default-src 'none'" in page
    assert "http:" not in page
    assert "https:" not in page
    assert "@import" not in page


def test_a_record_is_described_in_a_line() -> None:
    """What a record is can be seen in a debugger."""
    assert repr(failed_run()) == "RunRecord('What does Takuma do?': 2 steps, 1 call, failed, None)"
