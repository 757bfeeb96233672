"""Logged episodes, read again."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from langchain_custom_agents.cli.episodes import episodes as command
from langchain_custom_agents.records.episodes import exact_match, read_episodes, report, summary


def episode(form: str, *steps: tuple[str, dict[str, Any], Any], **more: Any) -> dict[str, Any]:
    named = [{"llm_output": w, "label": label, "observation": seen} for w, label, seen in steps]
    return {"episode_id": "e1", "format": form, "question": "Who?", "steps": named, **more}


def act(tool: str, given: Any) -> dict[str, Any]:
    return {"kind": "action", "tool": tool, "tool_input": given}


def end(answer: str) -> dict[str, Any]:
    return {"kind": "finish", "answer": answer}


def verdict(form: str, words: str, label: dict[str, Any]) -> str:
    return report([episode(form, (words, label, "seen"))]).steps[form][0].verdict


CALL = json.dumps(
    {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "look", "arguments": '{"q": 1}'},
    }
)


@pytest.mark.parametrize(
    ("form", "words", "label", "says"),
    [
        (
            "docstore_react",
            " I look\nAction 1: Search[Bogart]",
            act("Search", "Bogart"),
            "the same",
        ),
        ("docstore_react", " I know\nAction 2: Finish[yes]", end("yes"), "the same"),
        ("text_react", 'Action: Find\nAction Input: "x"', act("Find", '"x"'), "quotation"),
        (
            "text_react",
            'Action: Find\nAction Input: {"a": 1}',
            act("Find", '{"a": 1}'),
            "arguments",
        ),
        (
            "text_react",
            "Action: Run\nAction Input: ```py\n1+1\n```",
            act("Run", "```py\n1+1\n```"),
            "the same",
        ),
        ("text_react", "Final Answer: 42", act("Find", "x"), "where the log has an action"),
        ("text_react", "Action: Find\nAction Input: x", act("Find", "y"), "another input"),
        ("text_react", "It is 42.", end("It is 42."), "ask once more"),
        ("text_react", "?", {"kind": "malformed", "intended": None}, "both refused"),
        (
            "structured_chat",
            '{"action": "Find", "action_input": "x"}',
            act("Find", "x"),
            "the same",
        ),
        ("functions", CALL, act("look", {"q": 1}), "the same"),
        ("self_ask", " Yes.\nFollow up: Who?", act("Intermediate Answer", "Who?"), "the same"),
        ("conversational", "Do I need to use a tool? No\nAI: Hello.", end("Hello."), "the same"),
    ],
)
def test_a_step_is_compared(form: str, words: str, label: dict[str, Any], says: str) -> None:
    """What our agent reads is held against what was executed; the verdict says how far it is."""
    assert says in verdict(form, words, label)


def test_observations_are_the_logged_ones() -> None:
    """The words of a later step are read after the steps that the log executed."""
    found = report(
        [
            episode(
                "docstore_react",
                (" I look\nAction 1: Search[a]", act("Search", "other"), "seen"),
                (" I know\nAction 2: Finish[yes]", end("yes"), "Episode finished"),
                gold_answer="Yes.",
                success_logged=True,
            )
        ]
    )

    assert [step.agrees for step in found.steps["docstore_react"]] == [False, True]
    assert found.scores[0].score is True


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("The Nile.", "nile", True),
        ("a  cat", "cat", True),
        ("yes", "no", False),
        (None, "x", False),
    ],
)
def test_exact_match(answer: str | None, gold: str, same: bool) -> None:
    """Case, punctuation, articles and spaces do not count; everything else does."""
    assert exact_match(answer, gold) is same


def test_a_score_that_differs_is_explained() -> None:
    """Where our score is not the logged one, the report says why."""
    step = (" I know\nAction 1: Finish[yes]", end("yes"), "done")
    logged = episode(
        "docstore_react", step, gold_answer="yes", success_logged=False, final_answer="no"
    )
    found = report([logged])

    assert found.scores[0].why == "the log scored another answer: no"
    assert "    1  the log scored another answer" in "\n".join(summary(found)).replace(
        "     1", "    1"
    )


def test_the_command(tmp_path: Path) -> None:
    """The command prints the figures, each difference if asked, or one JSON object."""
    file = tmp_path / "episodes.jsonl"
    file.write_text(json.dumps(episode("text_react", ("Final Answer: \x1b[2J", end("42"), None))))
    runner = CliRunner()
    shown = runner.invoke(command, [str(file), "--differences"]).output
    data = json.loads(runner.invoke(command, [str(file), "--json"]).output)

    assert "text_react: 0 of 1 steps agree (0.0%)" in shown
    assert "ours: answer: \\x1b[2J" in shown
    assert data["steps"]["text_react"][0]["verdict"] == "another answer"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "Line 1 of"),
        ('{"a": 1}', "no list `steps`"),
        ('{"format": "prose", "steps": []}', "'prose' are not known"),
        ('{"format": "text_react", "steps": [{}]}', "lacks 'llm_output'"),
    ],
)
def test_what_is_no_episode_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """A line that is no episode is refused with a sentence."""
    file = tmp_path / "episodes.jsonl"
    file.write_text(text)
    done = CliRunner().invoke(command, [str(file)])

    assert done.exit_code == 1
    assert says in done.output


def test_empty_lines_are_nothing(tmp_path: Path) -> None:
    """Empty lines are skipped."""
    file = tmp_path / "episodes.jsonl"
    file.write_text("\n\n")

    assert list(read_episodes(file)) == []
