"""When a reading agrees with a label, and what it is called when it does not."""

import collections
import json
import re

from langchain_custom_agents.dialects import Action, Answer, Misreading

COLUMNS = ("turns", "agree", "rejected", "wrong", "intended", "recovered", "no intent", "silent")


def _unquoted(text):
    text = text.strip()
    while len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1].strip()
    return text


def _input(given):
    """An input as it is compared: as JSON if it is JSON, else as text without quotes and fence."""
    if given is None:
        return ""
    if isinstance(given, str):
        text = _unquoted(given)
        fenced = re.fullmatch(r"```\w*\n?(.*?)\n?```", text, re.DOTALL)
        text = fenced[1].strip() if fenced else text
        if text[:1] not in ("{", "["):
            return text
        try:
            given = json.loads(text, strict=False)
        except ValueError:
            return text
    if isinstance(given, dict) and len(given) == 1 and isinstance(next(iter(given.values())), str):
        return _input(next(iter(given.values())))
    return json.dumps(given, sort_keys=True, ensure_ascii=False)


def _name(tool):
    return " ".join(str(tool).split()).casefold()


def agrees(move, label):
    """Whether a move is what a label says."""
    if isinstance(move, Answer):
        answer = label.get("answer")
        expected = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return label["kind"] == "finish" and _unquoted(move.text) == _unquoted(expected)
    if label["kind"] != "action" or _name(move.tool) != _name(label["tool"]):
        return False
    return label.get("tool_input") is None or _input(move.input) == _input(label["tool_input"])


def outcome(reader, record):
    """Read one record; return what that is called, and what was read."""
    label = record["label"]
    try:
        moves = reader.read(record)
    except Exception as error:
        moves = [Misreading("", f"{type(error).__name__}: {error}")]
    refused = not moves or isinstance(moves[0], Misreading)
    if label["kind"] != "malformed":
        if refused:
            return "rejected", moves
        right = agrees(moves[0], label)
        calls = record.get("all_calls") or []
        if right and reader.all_calls and len(calls) > 1:
            right = len(moves) == len(calls) and all(map(agrees, moves, calls))
        return ("agree" if right else "wrong"), moves
    intended = label.get("intended")
    if intended:
        if refused:
            return "mal:rejected", moves
        return ("mal:recovered" if agrees(moves[0], intended) else "mal:wrong"), moves
    if refused:
        return "mal:right", moves
    return ("mal:invented" if isinstance(moves[0], Action) else "mal:passed"), moves


def rates(results):
    """The columns of the table."""
    count = collections.Counter(results)
    turns = count["agree"] + count["rejected"] + count["wrong"]
    intended = count["mal:recovered"] + count["mal:rejected"] + count["mal:wrong"]
    silent = count["wrong"] + count["mal:wrong"] + count["mal:invented"] + count["mal:passed"]
    return {
        "turns": str(turns),
        "agree": f"{100 * count['agree'] / turns:.1f}%" if turns else "-",
        "rejected": str(count["rejected"]),
        "wrong": str(count["wrong"]),
        "intended": str(intended),
        "recovered": f"{100 * count['mal:recovered'] / intended:.1f}%" if intended else "-",
        "no intent": str(count["mal:right"] + count["mal:invented"] + count["mal:passed"]),
        "silent": str(silent),
    }
