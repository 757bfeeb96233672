"""Logged episodes, read again: where would our agent have done something else?

An episode is a run that somebody logged: a question, the model's words step by step, what was
executed and observed. The words go through our agent, with the logged observations in its prompt,
and every move is held against the one that was executed.
"""

import json
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool

from langchain_custom_agents._counted import counted
from langchain_custom_agents.dialects import (
    ENGLISH,
    Action,
    Bracketed,
    Conversational,
    Dialect,
    JsonBlob,
    SelfAsk,
    Toolbox,
)
from langchain_custom_agents.loop import CORRECTION
from langchain_custom_agents.records.messages import as_text, plain

DIALECTS: Mapping[str, Dialect] = {
    "text_react": ENGLISH,
    "docstore_react": Bracketed(),
    "structured_chat": JsonBlob(),
    "self_ask": SelfAsk(),
    "conversational": Conversational(),
}

AGREE = "the same"
ALIKE = "the same but for quotation marks, spaces or case"
WRAPPED = "the same, in one named argument"
PARSED = "the same, read as arguments where the log has their JSON text"
FENCED = "the same without the code fence around it"
REFUSED = "both refused it"
MEANT = "the log refused it, we read what a person says was meant"


_AGREEING = frozenset((AGREE, ALIKE, WRAPPED, PARSED, FENCED, REFUSED, MEANT))

_FENCE = re.compile(r"\s*```\w*\n?(.*?)\n?```\s*", re.DOTALL)


@dataclass(frozen=True)
class StepReport:
    """One step of an episode, read again.

    Args:
        episode: The episode.
        number: The step; 1 is the first.
        logged: What the log executed.
        ours: What our agent would have done.
        verdict: How the two compare: one of the constants of this module, or what differs.
        why: Why they differ, as far as our agent or the log tells.
    """

    episode: str
    number: int
    logged: str
    ours: str
    verdict: str
    why: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the two come to the same."""
        return self.verdict in _AGREEING


@dataclass(frozen=True)
class ScoreReport:
    """The score of an episode's answer, ours and the logged one.

    Args:
        episode: The episode.
        gold: The right answer.
        ours: The answer our agent reads; None if there is none.
        logged: Whether the log counts a success.
        score: Whether ours is an exact match.
        why: Why the two differ.
    """

    episode: str
    gold: str
    ours: str | None
    logged: bool
    score: bool
    why: str = ""


@dataclass
class EpisodesReport:
    """What reading episodes again came to.

    Args:
        episodes: How many there were.
        steps: Each step, by the form it is written in.
        scores: Each answer that the log scores.
    """

    episodes: int = 0
    steps: dict[str, list[StepReport]] = field(default_factory=dict)
    scores: list[ScoreReport] = field(default_factory=list)

    @property
    def differences(self) -> list[StepReport]:
        """The steps that do not agree."""
        return [step for steps in self.steps.values() for step in steps if not step.agrees]


def read_episodes(file: str | Path) -> Iterator[dict[str, Any]]:
    """Read episodes from a file of JSON lines.

    Raises:
        ValueError: If a line is no episode; it names the line.
    """
    with Path(file).open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                episode = json.loads(line)
            except ValueError as error:
                msg = f"Line {number} of {file} is not JSON: {error}."
                raise ValueError(msg) from error
            if not isinstance(episode, dict) or not isinstance(episode.get("steps"), list):
                msg = f"Line {number} of {file} is no episode: it has no list `steps`."
                raise ValueError(msg)  # noqa: TRY004 - the file is wrong, not a type
            yield episode


def report(episodes: Iterable[Mapping[str, Any]]) -> EpisodesReport:
    r"""Read episodes again and compare.

    Args:
        episodes: The episodes, as `read_episodes` gives them.

    Raises:
        ValueError: If an episode is in a form that is not known.

    Example:
        >>> said = " I look\nAction 1: Search[Bogart]"
        >>> label = {"kind": "action", "tool": "Search", "tool_input": "Bogart"}
        >>> step = {"llm_output": said, "label": label, "observation": "an actor"}
        >>> episode = {"format": "docstore_react", "question": "Who?", "steps": [step]}
        >>> report([episode]).steps["docstore_react"][0].verdict
        'the same'
    """
    found = EpisodesReport()
    for episode in episodes:
        found.episodes += 1
        form = str(episode.get("format"))
        steps, answer = _read(episode, form)
        found.steps.setdefault(form, []).extend(steps)
        score = _score(episode, answer)
        if score is not None:
            found.scores.append(score)
    return found


def exact_match(answer: str | None, gold: str) -> bool:
    """Tell whether an answer is the right one, as HotpotQA's own evaluation does.

    Case, punctuation, articles and spaces do not count.

    Source:
        Yang et al., HotpotQA, 2018: `hotpot_evaluate_v1.py`.

    Example:
        >>> exact_match("The Saw franchise.", "saw franchise"), exact_match(None, "no")
        (True, False)
    """
    return answer is not None and _normal(answer) == _normal(gold)


def _normal(text: str) -> str:
    bare = "".join(mark for mark in text.lower() if mark not in string.punctuation)
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", bare).split())


def _read(episode: Mapping[str, Any], form: str) -> tuple[list[StepReport], str | None]:
    """Read the words of an episode through our agent, with the logged observations."""
    said = [step["llm_output"] for step in episode["steps"]]
    agent = _agent(form, said, _tool_names(episode))
    transcript: list[tuple[AgentAction, Any]] = []
    reports: list[StepReport] = []
    answer: str | None = None
    for number, step in enumerate(episode["steps"], 1):
        label = step["label"]
        move: Any
        try:
            move = agent.plan(transcript, input=str(episode.get("question") or ""))
        except OutputParserException as error:
            move = error
        moves = move if isinstance(move, list) else [move]
        verdict, why = _compared(moves, label, step.get("all_calls"))
        name = str(episode.get("episode_id", ""))
        ours = " + ".join(_shown(each) for each in moves)
        reports.append(StepReport(name, number, _logged(label), ours, verdict, why))
        if isinstance(moves[0], AgentFinish):
            answer = str(moves[0].return_values["output"])
        if label["kind"] == "action" and step.get("observation") is not None:
            same = isinstance(moves[0], AgentAction) and reports[-1].agrees
            done = moves[0] if same else _by_hand(label, step, DIALECTS.get(form))
            transcript.append((done, step["observation"]))
    return reports, answer


def _by_hand(
    label: Mapping[str, Any], step: Mapping[str, Any], dialect: Dialect | None
) -> AgentAction:
    """Return the action that the log executed; a correction, if it cannot be written as one."""
    if dialect is not None and not _can_be_written(label["tool"], dialect):
        return AgentAction(CORRECTION, str(step["observation"]), step["llm_output"])
    given = label.get("tool_input")
    return AgentAction(
        label["tool"], given if isinstance(given, str | dict) else as_text(given), ""
    )


def _tool_names(episode: Mapping[str, Any]) -> list[str]:
    """Return the tools there were: those that are listed, and those that were executed."""
    listed = [name for name in episode.get("tools") or () if ":" not in name]
    done = [
        step["label"].get("tool")
        for step in episode["steps"]
        if "not a valid tool" not in str(step.get("observation"))
    ]
    names = dict.fromkeys(name for name in [*listed, *done] if name)
    form = episode.get("format")
    if form == "self_ask":
        return [str(SelfAsk.only_tool)]
    dialect = DIALECTS.get(str(form))
    return [name for name in names if dialect is None or _can_be_written(name, dialect)]


def _can_be_written(name: str, dialect: Dialect) -> bool:
    """Tell whether a name can be a tool's: what was executed may have been misread by the log."""
    try:
        dialect.write("", Action(name, ""))
    except ValueError:
        return False
    return True


def _agent(form: str, said: Sequence[str], names: Sequence[str]) -> Any:
    from langchain_custom_agents.agents.openai_functions import (
        OpenAIFunctionsAgent,
        OpenAIFunctionsOutputParser,
    )
    from langchain_custom_agents.agents.output_parser import (
        ReActOutputParser,
        StructuredChatOutputParser,
    )
    from langchain_custom_agents.agents.react import ReActAgent
    from langchain_custom_agents.agents.structured_chat import StructuredChatAgent
    from langchain_custom_agents.testing.scripted import ScriptedChatModel, ScriptedLLM

    # The log names the tools and says no more of them, so they take whatever they are given.
    schema = {"type": "object", "properties": {}}
    tools = [
        StructuredTool(name=name, description=name, args_schema=schema, func=lambda: "")
        for name in names
    ]
    if form == "functions":
        model = ScriptedChatModel([_message(json.loads(words)) for words in said])
        calls = OpenAIFunctionsOutputParser(tools=Toolbox.of(names))
        return OpenAIFunctionsAgent.from_llm_and_tools(model, tools, output_parser=calls)
    if form not in DIALECTS:
        known = ", ".join([*DIALECTS, "functions"])
        msg = f"Episodes of the form {form!r} are not known; {known} are."
        raise ValueError(msg)
    box, dialect = Toolbox.of(names), DIALECTS[form]
    if form == "structured_chat":
        chat_parser = StructuredChatOutputParser(dialect=dialect, tools=box)
        return StructuredChatAgent.from_llm_and_tools(
            ScriptedChatModel(said), tools, output_parser=chat_parser
        )
    parser = ReActOutputParser(dialect=dialect, tools=box)
    return ReActAgent.from_llm_and_tools(
        ScriptedLLM(said), tools, output_parser=parser, streaming=False
    )


def _message(said: Mapping[str, Any]) -> AIMessage:
    """Return a logged message of OpenAI's API as LangChain reads it."""
    names = ("function_call", "tool_calls")
    extra = {name: said[name] for name in names if said.get(name)}
    calls = extra.pop("tool_calls", [])
    valid: list[dict[str, Any]] = []
    invalid: list[dict[str, Any]] = []
    for call in calls:
        function = call["function"]
        try:
            args = json.loads(function["arguments"] or "{}")
        except ValueError:
            args = None
        kind = valid if isinstance(args, dict) else invalid
        given = args if isinstance(args, dict) else function["arguments"]
        kind.append({"name": function["name"], "args": given, "id": call.get("id")})
    return AIMessage(
        said.get("content") or "",
        additional_kwargs=extra,
        tool_calls=valid,
        invalid_tool_calls=[{**call, "error": None} for call in invalid],
    )


def _compared(
    moves: Sequence[Any], label: Mapping[str, Any], calls: Sequence[Mapping[str, Any]] | None
) -> tuple[str, str]:
    """Say how what we would do compares with what was executed, and why it differs."""
    move = moves[0]
    if calls and len(calls) == len(moves) and len(calls) > 1:
        verdicts = [
            _compared([m], {"kind": "action", **c}, None) for m, c in zip(moves, calls, strict=True)
        ]
        return next((v for v in verdicts if v[0] != AGREE), verdicts[0])
    refusal = move if isinstance(move, OutputParserException) else None
    if label["kind"] not in ("action", "finish"):
        meant = label.get("intended")
        if meant:
            if refusal is None and _alike(move, meant) is not None:
                return MEANT, ""
            told = _why(refusal) if refusal else "read otherwise than a person does"
            return f"the log refused it; {_kind(move)}", told
        if refusal is not None:
            return REFUSED, ""
        return (
            f"the log refused it; {_kind(move)}",
            "nothing certain is said, by a person's judgement",
        )
    if refusal is not None:
        return _refused(refusal, label)
    alike = _alike(move, label)
    if alike is not None:
        return alike, ""
    if _kind(move) != _kind_of(label):
        return f"{_kind(move)}, where the log has {_kind_of(label)}", ""
    if isinstance(move, AgentAction) and _tidy(move.tool) != _tidy(label["tool"]):
        why = (
            "no tool has the name that the log executed" if _tidy(label["tool"])[:1] == "[" else ""
        )
        return "another tool", why
    return "another input" if isinstance(move, AgentAction) else "another answer", ""


def _refused(refusal: OutputParserException, label: Mapping[str, Any]) -> tuple[str, str]:
    """Say why we refuse what the log executed."""
    from langchain_custom_agents.agents.output_parser import prose_in

    prose = prose_in(refusal)
    if prose is not None and _tidy(prose) == _tidy(label.get("answer")):
        why = "the words have no form; said again after one correction, they are the answer"
        return "the log takes prose for the answer, we ask once more first", why
    if prose is not None:
        return "the log takes a part of prose for the answer, we ask once more first", _why(refusal)
    return "the log executed it; we refuse it", _why(refusal)


def _alike(move: Any, label: Mapping[str, Any]) -> str | None:
    """Return how far a move is the labelled one; None if it is another."""
    if _kind(move) != _kind_of(label):
        return None
    if isinstance(move, AgentFinish):
        ours, theirs = str(move.return_values["output"]), str(label.get("answer") or "")
        return AGREE if ours == theirs else ALIKE if _tidy(ours) == _tidy(theirs) else None
    if _tidy(move.tool) != _tidy(str(label.get("tool") or "")):
        return None
    given, done = plain(move.tool_input), label.get("tool_input")
    if done is None or (move.tool == label["tool"] and given == done):
        return AGREE
    if _tidy(given) == _tidy(done):
        return ALIKE
    if _tidy(_only(given)) == _tidy(_only(done)):
        return WRAPPED
    if isinstance(given, dict) and isinstance(done, str) and _parsed(done) == given:
        return PARSED
    if isinstance(given, str) and isinstance(done, str) and _unfenced(done) == given.strip():
        return FENCED
    return None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return None


def _unfenced(text: str) -> str:
    fenced = _FENCE.fullmatch(text)
    return (fenced[1] if fenced else text).strip()


def _only(given: Any) -> Any:
    return next(iter(given.values())) if isinstance(given, dict) and len(given) == 1 else given


def _tidy(value: Any) -> Any:
    """Return a value without what does not count: quotation marks, fences, spaces, case."""
    if isinstance(value, dict):
        return {key: _tidy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    return " ".join(str(value).replace("\\n", " ").split()).strip("\"'`“” .").casefold()


def _kind(move: Any) -> str:
    if isinstance(move, OutputParserException):
        return "we refuse it"
    return "an answer" if isinstance(move, AgentFinish) else "an action"


def _kind_of(label: Mapping[str, Any]) -> str:
    return "an answer" if label["kind"] == "finish" else "an action"


def _why(error: OutputParserException) -> str:
    return str(getattr(getattr(error, "misreading", None), "reason", error))


def _shown(move: Any) -> str:
    if isinstance(move, OutputParserException):
        return "refused"
    if isinstance(move, AgentFinish):
        return f"answer: {move.return_values['output']}"
    return f"{move.tool}[{as_text(move.tool_input)}]"


def _logged(label: Mapping[str, Any]) -> str:
    if label["kind"] == "action":
        return f"{label['tool']}[{as_text(label.get('tool_input'))}]"
    return f"answer: {label.get('answer')}" if label["kind"] == "finish" else str(label["kind"])


def _score(episode: Mapping[str, Any], answer: str | None) -> ScoreReport | None:
    """Score an answer, if the log does."""
    gold, logged = episode.get("gold_answer"), episode.get("success_logged")
    if gold is None or logged is None:
        return None
    score = exact_match(answer, str(gold))
    why = ""
    if score != logged:
        final = episode.get("final_answer")
        if answer is None:
            why = "no answer is in the words"
        elif final is not None and _normal(str(final)) != _normal(answer):
            why = f"the log scored another answer: {final}"
        elif score:
            why = "the log counts an exact match as a failure"
        else:
            why = "the log counts an answer as right that is no exact match"
    return ScoreReport(
        str(episode.get("episode_id", "")), str(gold), answer, bool(logged), score, why
    )


def summary(found: EpisodesReport) -> list[str]:
    """Write the figures of a report, a line each."""
    steps = sum(map(len, found.steps.values()))
    lines = [f"{counted(found.episodes, 'episode')}, {counted(steps, 'step')}"]
    for form, held in sorted(found.steps.items()):
        agreed = sum(step.agrees for step in held)
        lines.append(f"{form}: {agreed} of {len(held)} steps agree ({agreed / len(held):.1%})")
        verdicts = Counter(step.verdict for step in held)
        lines += [f"    {count:5d}  {verdict}" for verdict, count in verdicts.most_common()]
    if found.scores:
        same = sum(score.score == score.logged for score in found.scores)
        total = len(found.scores)
        lines.append(f"answers: {same} of {total} score as the log says ({same / total:.1%})")
        reasons = Counter(re.sub(r":.*", "", s.why) for s in found.scores if s.why)
        lines += [f"    {count:5d}  {reason}" for reason, count in reasons.most_common()]
    return lines
