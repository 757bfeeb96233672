r"""Find out what an agent's reader does with what models really say.

A reader is anything that turns a reply into a step: an output parser, an agent that has one, a
dialect, a plain function. It is put through the laws of a dialect that apply to readers, and
through a library of replies that break them.

Example:
    >>> from langchain_custom_agents.dialects import ENGLISH
    >>> report = examine(ENGLISH)
    >>> report.healthy, report.dialect
    (True, 'Labelled')
"""

import html
import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from langchain_custom_agents.dialects import (
    CHINESE,
    ENGLISH,
    JAPANESE,
    Action,
    Answer,
    Bracketed,
    Conversational,
    Dialect,
    JsonBlob,
    Labelled,
    Misreading,
    Reading,
    SelfAsk,
)
from langchain_custom_agents.testing.shapes import SHAPES, Shape

Move = Action | Answer | Misreading

_KNOWN: tuple[Dialect, ...] = (
    ENGLISH,
    Bracketed(),
    JsonBlob(),
    SelfAsk(),
    Conversational(),
    JAPANESE,
    CHINESE,
)
_FORMS: tuple[tuple[type[Dialect], str], ...] = (
    (Conversational, "chat"),
    (Labelled, "labelled"),
    (Bracketed, "bracketed"),
    (JsonBlob, "json"),
    (SelfAsk, "self-ask"),
)
_ENGLISH_WORDS = (
    ("Action Input", "action_input"),
    ("Final Answer", "final_answer"),
    ("Observation", "observation"),
    ("Thought", "thought"),
    ("Question", "question"),
    ("Action", "action"),
)
# Shapes about labels that only English has, or that hold labels in what was meant.
_ONLY_ENGLISH = (
    *("another language", "lower case", "spelling of labels", "other labels"),
    "mentioned observation",
)

RIGHT = "right"
REFUSED = "refused what was clear"
UNKNOWN_TOOL = "named a tool that does not exist"
INVENTED_ANSWER = "returned an invented answer"
WRONG_ANSWER = "returned a damaged answer"
WRONG_CALL = "made a call that was not meant"
CRASHED = "crashed"

_SILENT = (INVENTED_ANSWER, WRONG_ANSWER, WRONG_CALL)


@dataclass(frozen=True)
class Case:
    """One reply and what a reader made of it.

    Args:
        kind: What is the matter with the reply.
        text: The reply.
        meant: What was meant.
        read: What the reader made of it.
        verdict: How that is to be called.
    """

    kind: str
    text: str
    meant: str
    read: str
    verdict: str


@dataclass(frozen=True)
class Law:
    """A law of dialects, as far as it concerns a reader.

    Args:
        name: The law.
        held: In how many cases it held.
        tried: How many cases were tried.
        example: The first case in which it did not hold, if there is one.
    """

    name: str
    held: int
    tried: int
    example: Case | None = None


@dataclass(frozen=True)
class Report:
    """What a reader does with what models say.

    Args:
        subject: What was examined.
        dialect: The form it reads.
        laws: The laws, and where they break.
        cases: Every reply and what was made of it.
        better: The dialect of this package for the same form, as an expression.
        better_silent: How often that one goes wrong silently.
        better_right: How often that one is right.
    """

    subject: str
    dialect: str
    laws: tuple[Law, ...]
    cases: tuple[Case, ...]
    better: str = ""
    better_silent: int = 0
    better_right: int = 0
    counts: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", dict(Counter(case.verdict for case in self.cases)))

    @property
    def silent(self) -> int:
        """How often something wrong was passed on without a word."""
        return sum(self.counts.get(verdict, 0) for verdict in _SILENT)

    @property
    def healthy(self) -> bool:
        """Whether nothing went wrong silently, nothing crashed, and every law held."""
        laws = all(law.held == law.tried for law in self.laws)
        return laws and not self.silent and not self.counts.get(CRASHED)

    def text(self, examples: int = 2) -> str:
        """Say it in plain text.

        Args:
            examples: How many examples to show of each verdict.
        """
        total = len(self.cases)
        lines = [
            f"{self.subject} reads the form of {self.dialect}.",
            f"It is right in {self.counts.get(RIGHT, 0)} of {total} cases.",
        ]
        for verdict in (*_SILENT, CRASHED, UNKNOWN_TOOL, REFUSED):
            found = [case for case in self.cases if case.verdict == verdict]
            if not found:
                continue
            lines += ["", f"It {verdict} in {len(found)} of {total} cases:"]
            for case in found[:examples]:
                lines += _example(case)
            if len(found) > examples:
                kinds = sorted({case.kind for case in found[examples:]})
                lines.append(f"    and {len(found) - examples} more: {', '.join(kinds)}")
        lines.append("")
        for law in self.laws:
            broken = law.tried - law.held
            mark = f"broken in {broken} of" if broken else "holds in"
            lines.append(f"{law.name}: {mark} {law.tried} cases")
            if law.example is not None:
                lines += _example(law.example)
        lines += ["", self.advice]
        return "\n".join(lines)

    @property
    def advice(self) -> str:
        """What to do about it."""
        if self.healthy:
            return "Nothing wrong is passed on silently, and every law holds."
        return (
            f"{self.better} reads the same form: right in {self.better_right} of "
            f"{len(self.cases)} cases, silently wrong in {self.better_silent}."
        )

    def to_json(self) -> str:
        """Return everything as JSON."""
        told = {**asdict(self), "silent": self.silent, "healthy": self.healthy}
        return json.dumps({**told, "advice": self.advice}, ensure_ascii=False, indent=2)

    def to_html(self) -> str:
        """Return one page that needs nothing else."""
        shown = html.escape
        rows = "\n".join(
            f"<tr class='{'silent' if case.verdict in _SILENT else 'loud'}'>"
            f"<td>{shown(case.kind)}</td><td><pre>{shown(case.text)}</pre></td>"
            f"<td>{shown(case.meant)}</td><td>{shown(case.read)}</td>"
            f"<td>{shown(case.verdict)}</td></tr>"
            for case in sorted(self.cases, key=_by_gravity)
            if case.verdict != RIGHT
        )
        counts = "".join(
            f"<li>It {shown(verdict)} in {count} of {len(self.cases)} cases.</li>"
            if verdict != RIGHT
            else f"<li>It is right in {count} of {len(self.cases)} cases.</li>"
            for verdict, count in self.counts.items()
        )
        laws = "".join(
            f"<li>{shown(law.name)}: held in {law.held} of {law.tried} cases.</li>"
            for law in self.laws
        )
        return _PAGE.format(
            title=shown(f"{self.subject} reads the form of {self.dialect}"),
            counts=counts,
            laws=laws,
            advice=shown(self.advice),
            rows=rows,
        )


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem;
  max-width: 75rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ border-bottom: 1px solid #8884; padding: .5rem; text-align: left; vertical-align: top; }}
pre {{ margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; }}
.silent td:last-child {{ color: #b00020; font-weight: 600; }}
@media (prefers-color-scheme: dark) {{
body {{ background: #161616; color: #eee; }} .silent td:last-child {{ color: #ff8a8a; }} }}
</style>
</head>
<body>
<h1>{title}</h1>
<ul>{counts}</ul>
<h2>Laws</h2>
<ul>{laws}</ul>
<p>{advice}</p>
<h2>What went wrong</h2>
<table>
<thead><tr><th scope="col">Kind</th><th scope="col">Reply</th><th scope="col">Meant</th>
<th scope="col">Read</th><th scope="col">Verdict</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</body>
</html>
"""


def examine(subject: Any, dialect: Dialect | None = None, name: str = "") -> Report:
    """Put a reader through the laws and the shapes.

    Args:
        subject: An output parser, an agent that has one, a dialect, or a function from a text
            (or from a text and the tools there are) to a step: an `AgentAction`, an
            `AgentFinish`, a move of this package, a tuple such as `("action", tool, input)` or
            `("finish", answer)`, or a dictionary with these.
        dialect: The form it reads; found out if not given.
        name: What to call it in the report.

    Returns:
        What breaks, with examples.

    Raises:
        TypeError: If the subject cannot read.
        ValueError: If it reads none of the forms that are known, and none is given.

    Example:
        >>> def reader(text):
        ...     return ("finish", text.rpartition("Final Answer:")[2].strip())
        >>> report = examine(reader, ENGLISH)
        >>> report.healthy
        False
    """
    name = name or _name_of(subject)
    subject = _made(subject)
    read = reader_of(subject)
    dialect = dialect or _dialect_in(subject) or detect(read, name)
    shapes = _shapes_for(dialect)
    cases = tuple(_case(read, shape) for shape in shapes)
    ours = tuple(_case(reader_of(dialect), shape) for shape in shapes)
    laws = [_law_1, _law_2, _law_4, _law_5]
    if _dialect_in(subject) is not None:
        # Only who writes in a dialect of this package escapes what it quotes.
        laws.append(_law_8)
    return Report(
        subject=name,
        dialect=type(dialect).__name__,
        laws=tuple(law(read, dialect) for law in laws),
        cases=cases,
        better=f"langchain_custom_agents.dialects.{_spelled(dialect)}",
        better_silent=sum(case.verdict in _SILENT for case in ours),
        better_right=sum(case.verdict == RIGHT for case in ours),
    )


def _shapes_for(dialect: Dialect) -> list[Shape]:
    """Return the shapes that a reader of this dialect may meet, with its labels."""
    form = next((form for cls, form in _FORMS if isinstance(dialect, cls)), "")
    shapes = [shape for shape in SHAPES if shape.form == form]
    if form == "chat":
        acting = (shape for shape in SHAPES if shape.form == "labelled")
        shapes += [shape for shape in acting if not isinstance(shape.meant, Answer)]
    labels: Mapping[str, str] = getattr(dialect, "labels", {})
    if not labels.get("thought", "Thought:").startswith("Thought") and form != "self-ask":
        shapes = [shape for shape in shapes if shape.kind not in _ONLY_ENGLISH]
        shapes = [replace(shape, text=_relabelled(shape.text, labels)) for shape in shapes]
    return shapes


def _relabelled(text: str, labels: Mapping[str, str]) -> str:
    for word, name in _ENGLISH_WORDS:
        if name in labels:
            text = text.replace(word, labels[name].rstrip(":：").rstrip())
    return text


def _dialect_in(subject: Any) -> Dialect | None:
    if isinstance(subject, Dialect):
        return subject
    for holder in (subject, getattr(subject, "output_parser", None)):
        found = getattr(holder, "dialect", None)
        if isinstance(found, Dialect):
            return found
    return None


Reader = Callable[[str, Sequence[Any]], Move | Exception]


def reader_of(subject: Any) -> Reader:
    """Return a function that reads a text, given tools, whatever can read.

    What a reader raises is returned, not raised.

    Raises:
        TypeError: If the subject cannot read.
    """
    subject = _made(subject)
    parser = getattr(subject, "output_parser", None)
    if isinstance(subject, Dialect):
        dialect = subject

        def by_dialect(text: str, tools: Sequence[Any]) -> Move | Exception:
            return dialect.read(text, tools).move

        return by_dialect
    if getattr(subject, "dialect", None) is not None and not hasattr(subject, "parse"):
        return reader_of(subject.dialect)
    for candidate in (subject, parser, getattr(subject, "agent", None)):
        parse = getattr(candidate, "parse", None)
        if parse is None:
            parse = getattr(getattr(candidate, "output_parser", None), "parse", None)
        if parse is not None:
            return _guarded(_with_tools(candidate, parse))
    if callable(subject):
        return _guarded(_with_tools(None, subject))
    msg = (
        f"A reader is an output parser, an agent that has one, a dialect, or a function of a text; "
        f"{type(subject).__name__} is none of them."
    )
    raise TypeError(msg)


def _made(subject: Any) -> Any:
    """Return an instance of a class; anything else is what it is.

    Raises:
        TypeError: If the class needs arguments.
    """
    if not inspect.isclass(subject):
        return subject
    try:
        return subject()
    except (TypeError, ValueError) as error:
        name = subject.__name__
        msg = f"{name} cannot be made without arguments; make one, `reader = {name}(...)`, "
        raise TypeError(msg + "and give that instead of the class.") from error


def _with_tools(parser: Any, parse: Callable[..., Any]) -> Callable[[str, Sequence[Any]], Any]:
    """Tell a reader which tools there are, if it is of this package or asks for them.

    Raises:
        TypeError: If it must be awaited, or takes neither a text nor a text and the tools.
    """
    dialect = getattr(parser, "dialect", None)
    if isinstance(dialect, Dialect):
        return dialect.read
    if any(map(inspect.iscoroutinefunction, (parse, getattr(parse, "__call__", None)))):  # noqa: B004
        msg = (
            f"{_name_of(parse)} must be awaited; give a function that returns the step itself, "
            "such as `lambda text: asyncio.run(reader(text))`."
        )
        raise TypeError(msg)
    if not _takes(parse, ""):
        if _takes(parse, "", ()):
            return parse
        msg = f"{_name_of(parse)}{inspect.signature(parse)} is no reader: one takes a text, or "
        raise TypeError(msg + "a text and the tools there are.")

    def without_tools(text: str, tools: Sequence[Any]) -> Any:
        del tools
        return parse(text)

    return without_tools


def _takes(function: Callable[..., Any], *given: Any) -> bool:
    try:
        inspect.signature(function).bind(*given)
    except TypeError:
        return False
    except ValueError:
        return True  # Some functions that are written in C do not say what they take.
    return True


def _guarded(function: Callable[[str, Sequence[Any]], Any]) -> Reader:
    def guarded(text: str, tools: Sequence[Any]) -> Move | Exception:
        try:
            return as_move(function(text, tools))
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is to be told
            return error
        except SystemExit as error:
            return RuntimeError(f"it ended the whole process with {error!r}")

    return guarded


def as_move(result: Any) -> Move:
    """Return the move that a reader's result is, whatever it is made of.

    Raises:
        TypeError: If it cannot be told what it is.

    Example:
        >>> as_move(("action", "Search", "x"))
        Action(tool='Search', input='x')
    """
    if isinstance(result, Reading):
        result = result.move
    if isinstance(result, Action | Answer | Misreading):
        return result
    if isinstance(result, list) and result:
        return as_move(result[0])
    if result is None:
        return Misreading("", "nothing was read")
    if hasattr(result, "return_values"):
        values = result.return_values
        return Answer(str(values.get("output", values)))
    if hasattr(result, "tool") and hasattr(result, "tool_input"):
        return _action(result.tool, result.tool_input)
    if hasattr(result, "action") and hasattr(result, "action_input"):
        return _action(result.action, result.action_input)
    if hasattr(result, "response"):
        return Answer(str(result.response))
    if isinstance(result, Mapping):
        if result.get("kind") == "finish" or ("answer" in result and "tool" not in result):
            return Answer(str(result.get("answer")))
        if "tool" in result:
            return _action(result["tool"], result.get("tool_input", result.get("input", "")))
    if isinstance(result, tuple) and result and result[0] in ("action", "finish", "answer"):
        if result[0] == "action" and len(result) == 3:
            return _action(result[1], result[2])
        if len(result) == 2:
            return Answer(str(result[1]))
    msg = f"The reader returned {type(result).__name__}, which is no action and no finish."
    raise TypeError(msg)


def _action(tool: Any, given: Any) -> Action:
    return Action(
        str(tool), given if isinstance(given, dict) else "" if given is None else str(given)
    )


_PROBES: tuple[Action | Answer, ...] = (
    Action("Search", "Mount Aso"),
    Action("Calculator", "17 * 23"),
    Answer("It is 1,592 metres high."),
)


def detect(read: Reader, name: str = "This reader") -> Dialect:
    """Find out which form a reader reads.

    Raises:
        ValueError: If it reads none that is known.

    Example:
        >>> def only_brackets(text, tools):
        ...     return (Bracketed().match(text) or ("", Misreading(text, "not in brackets")))[1]
        >>> type(detect(only_brackets)).__name__
        'Bracketed'
    """
    scores: list[int] = []
    raised: list[Exception | None] = []
    for dialect in _KNOWN:
        moves = [_for(dialect, move) for move in _PROBES]
        texts = [dialect.write("I look", move) for move in moves]
        results = [read(text, _names(moves)) for text in texts]
        scores.append(sum(map(_same, results, moves)))
        raised += [each if isinstance(each, Exception) else None for each in results]
    best = max(scores)
    if best == 0:
        known = ", ".join(dict.fromkeys(type(dialect).__name__ for dialect in _KNOWN))
        msg = f"{name} reads none of the forms that are known ({known}); say which with dialect."
        if raised[0] is not None and all(raised):
            msg += f" It raised an exception at every reply, first {_told(raised[0])}"
        raise ValueError(msg) from raised[0]
    return _KNOWN[scores.index(best)]


def _for(dialect: Dialect, move: Action | Answer) -> Action | Answer:
    if isinstance(move, Action) and dialect.only_tool is not None:
        return Action(dialect.only_tool, move.input)
    return move


def _names(moves: Sequence[Action | Answer]) -> list[str]:
    return list(dict.fromkeys(move.tool for move in moves if isinstance(move, Action)))


# The laws, as far as they concern a reader.

_CONTENTS = (
    "Mount Aso",
    "two\nlines",
    "Episodes [Season 2]",
    "17 * (23 + 4)",
    "a: b, c: d",
    "阿蘇山の高さ",
)


def _steps(dialect: Dialect) -> list[tuple[str, Action | Answer]]:
    moves: list[tuple[str, Action | Answer]] = []
    for content in _CONTENTS:
        moves.append(("I look", _for(dialect, Action("Search", content))))
        moves.append(("I know it now", Answer(content)))
    return moves


def _law_1(read: Reader, dialect: Dialect) -> Law:
    """What is written is read back."""
    return _law(
        "What is written is read back",
        read,
        [(dialect.write(thought, move), move) for thought, move in _steps(dialect)],
    )


def _law_2(read: Reader, dialect: Dialect) -> Law:
    """It reads on from the cue."""
    return _law(
        "It reads on from where the prompt ends",
        read,
        [
            (dialect.write(thought, move).removeprefix(dialect.cue), move)
            for thought, move in _steps(dialect)
        ],
    )


def _law_4(read: Reader, dialect: Dialect) -> Law:
    """It stops even if the model does not."""
    invented = dialect.write("I know it", Answer("invented"))
    texts = []
    for content in _CONTENTS[:3]:
        move = _for(dialect, Action("Search", content))
        written = dialect.write("I look", move)
        texts.append((f"{written}\n{dialect.observation} nothing\n{invented}", move))
        texts.append((f"{written}\n{dialect.observation}", move))
    return _law("An invented observation is cut", read, texts)


def _law_5(read: Reader, dialect: Dialect) -> Law:
    """It can read the steps of its own instructions."""
    tools = [dialect.only_tool or "Search"]
    steps = [(dialect.write(thought, move), move) for thought, move in dialect.examples(tools)]
    return _law(
        "The steps of the instructions can be read",
        read,
        [(text, move) for text, move in steps if isinstance(move, Action | Answer)],
    )


def _law_8(read: Reader, dialect: Dialect) -> Law:
    """A step that was escaped is a quotation."""
    texts: list[tuple[str, Action | Answer | None]] = []
    for content in _CONTENTS[:3]:
        for move in (_for(dialect, Action("Search", content)), Answer(content)):
            quoted = dialect.observe(f"It said:\n{dialect.write('I look', move)}")
            texts.append((quoted.removeprefix(dialect.observation).strip(), None))
    return _law("What is quoted and escaped does not run", read, texts)


def _law(name: str, read: Reader, texts: Sequence[tuple[str, Action | Answer | None]]) -> Law:
    example, held = None, 0
    for text, meant in texts:
        tools = [meant.tool] if isinstance(meant, Action) else ["Search"]
        result = read(text, tools)
        if _same(result, meant):
            held += 1
        elif example is None:
            example = Case(name, text, _told(meant), _told(result), "broken")
    return Law(name, held, len(texts), example)


# What a reply was and what was made of it.


def _case(read: Reader, shape: Shape) -> Case:
    result = read(shape.text, shape.tools)
    return Case(shape.kind, shape.text, _told(shape.meant), _told(result), _verdict(result, shape))


def _verdict(result: Move | Exception, shape: Shape) -> str:
    if _same(result, shape.meant):
        return RIGHT
    if isinstance(result, Exception):
        refusal = isinstance(result, ValueError | NotImplementedError)
        if not refusal:
            return CRASHED
        return RIGHT if shape.meant is None else REFUSED
    if isinstance(result, Misreading):
        return RIGHT if shape.meant is None else REFUSED
    if isinstance(result, Answer):
        right = isinstance(shape.meant, Answer) and shape.meant.text in result.text
        return WRONG_ANSWER if right else INVENTED_ANSWER
    names = {tool if isinstance(tool, str) else tool["name"] for tool in shape.tools}
    if result.tool not in names:
        # The executor says so and asks again: a step is lost, nothing is done.
        return RIGHT if shape.meant is None else UNKNOWN_TOOL
    return WRONG_CALL


def _same(result: Any, meant: Action | Answer | None) -> bool:
    if meant is None:
        return isinstance(result, Misreading | ValueError)
    if isinstance(meant, Answer):
        return isinstance(result, Answer) and result.text.strip() == meant.text
    if not isinstance(result, Action) or result.tool != meant.tool:
        return False
    return bool(_plain(result.input) == _plain(meant.input))


def _plain(given: Any) -> Any:
    """Return an input as it is compared: the one text of one argument is that text."""
    if isinstance(given, str) and given.strip().startswith("{"):
        try:
            given = json.loads(given)
        except ValueError:
            return str(given).strip()
    if isinstance(given, dict):
        if not given:
            return ""
        only = next(iter(given.values()))
        return only.strip() if len(given) == 1 and isinstance(only, str) else given
    return given.strip()


def _told(result: Any) -> str:
    if result is None:
        return "nothing that could be known"
    if isinstance(result, Action):
        return f"call {result.tool} with {result.input!r}"
    if isinstance(result, Answer):
        return f"answer {result.text!r}"
    if isinstance(result, Misreading):
        return f"refused: {result.reason}"
    return f"{type(result).__name__}: {str(result).partition(chr(10))[0][:160]}"


def _example(case: Case) -> list[str]:
    text = case.text.replace("\n", "\n        | ")
    return [
        f"    {case.kind}:",
        f"        | {text}",
        f"      meant: {case.meant}",
        f"      read:  {case.read}",
    ]


def _by_gravity(case: Case) -> int:
    order = (*_SILENT, CRASHED, UNKNOWN_TOOL, REFUSED, RIGHT)
    return order.index(case.verdict)


def _name_of(subject: Any) -> str:
    if inspect.isclass(subject) or inspect.isroutine(subject):
        return str(subject.__name__)
    return type(subject).__name__


def _spelled(dialect: Dialect) -> str:
    for name, known in (("ENGLISH", ENGLISH), ("JAPANESE", JAPANESE), ("CHINESE", CHINESE)):
        if dialect == known:
            return name
    spelled = re.sub(r"phrases=Phrases\(.*\)", "phrases=...", repr(dialect), flags=re.DOTALL)
    return f"{type(dialect).__name__}()" if dialect == _default(dialect) else spelled


def _default(dialect: Dialect) -> Dialect | None:
    try:
        return type(dialect)()
    except TypeError:
        return None
