"""A Jira of ours: reads JQL, refuses in Jira's words, and finds among a handful of issues.

The grammar and the sentences are those of Jira's public documentation and REST examples.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

NOW = datetime(2026, 3, 18, 12, tzinfo=timezone.utc)  # a Wednesday
MIDNIGHT = NOW.replace(hour=0).isoformat()


class JQLError(Exception):
    """A query that Jira would answer with status 400."""


def days_ago(days: int) -> str:
    """Return a moment as Jira writes it."""
    return (NOW - timedelta(days=days)).isoformat()


def issue(number: int, summary: str, status: str, **fields: Any) -> dict[str, Any]:
    """Make an issue."""
    made = {
        "key": f"LCA-{number}", "project": "LCA", "summary": summary, "status": status,
        "issuetype": "Task", "priority": "Medium", "assignee": None, "reporter": "ayako",
        "labels": [], "fixVersion": [], "sprint": [], "created": days_ago(40),
        "updated": days_ago(1),
        "Story Points": 1, "description": "", "parent": None,
    }  # fmt: skip
    return {**made, **fields}


ISSUES = [
    issue(1, "Login error on start", "Done", issuetype="Bug", assignee="takuma", priority="High"),
    issue(2, "Performance test of the store", "In Progress", assignee="hiroko",
          labels=["backend", "performance"], created=days_ago(3), sprint=["Sprint 7"]),
    issue(3, "Write the manual", "Open", labels=["docs"], created=days_ago(0), priority="Low"),
    issue(4, "Login page is slow", "Open", issuetype="Bug", assignee="hiroko", priority="Highest",
          labels=["performance"], fixVersion=["1.2"], **{"Story Points": 5}),
    issue(5, "Release 1.1", "Done", fixVersion=["1.1"], created=days_ago(90)),
]  # fmt: skip

TEXT = {"summary", "description", "comment", "environment", "text"}
DATES = {"created", "updated", "due", "resolved"}
NUMBERS = {"story points", "votes", "cf[10020]"}
ORDERED = DATES | NUMBERS | {"priority", "fixversion", "affectedversion", "key"}
NAMES = {
    "project": {"LCA"}, "status": {"Open", "In Progress", "Done"},
    "priority": {"Highest", "High", "Medium", "Low", "Lowest"},
    "issuetype": {"Bug", "Task", "Story", "Epic"}, "fixversion": {"1.1", "1.2"},
}  # fmt: skip
FIELDS = TEXT | DATES | NUMBERS | NAMES.keys() | {
    "key", "type", "statuscategory", "resolution", "assignee", "reporter", "creator", "labels",
    "component", "affectedversion", "sprint", "parent",
}  # fmt: skip
HISTORY = {"status", "assignee", "reporter", "priority", "resolution", "fixversion"}
RESERVED = {
    "and", "or", "not", "in", "is", "was", "changed", "by", "order", "empty", "null", "select",
    "from", "where", "limit", "group", "date", "file", "user", "top", "count", "having", "like",
    "between",
}  # fmt: skip
FUNCTIONS = {
    "currentuser": ["hiroko"], "membersof": ["hiroko", "takuma"], "opensprints": ["Sprint 7"],
    "closedsprints": [], "releasedversions": ["1.1"], "unreleasedversions": ["1.2"],
}  # fmt: skip
LISTS = FUNCTIONS.keys() - {"currentuser"}
MOMENTS = {"now", "startofday", "endofday", "startofweek", "endofweek", "startofmonth",
           "endofmonth", "startofyear", "endofyear"}  # fmt: skip
VALID = (
    "The valid operators are '=', '!=', '<', '>', '<=', '>=', '~', '!~', 'IN', 'NOT IN', 'IS' and "
    "'IS NOT'."
)


class Token(NamedTuple):
    """A word, a quoted text, a sign, or the end."""

    kind: str
    text: str
    at: int


class Value(NamedTuple):
    """What a clause compares with."""

    texts: list[str]
    is_list: bool = False
    function: str = ""
    quoted: bool = False
    empty: bool = False


def error(text: str, token: Token) -> JQLError:
    """Say what is wrong and where."""
    return JQLError(f"Error in the JQL Query: {text} (line 1, character {token.at + 1})")


def tokens(query: str) -> list[Token]:
    """Cut a query."""
    found, at = [], 0
    while at < len(query):
        rest = query[at:]
        if rest[0].isspace():
            at += 1
        elif rest[0] in "\"'":
            match = re.match(rf"{rest[0]}((?:\\.|[^{rest[0]}\\])*){rest[0]}", rest)
            if not match:
                token = Token("text", rest, at)
                raise error(f"The quoted string '{rest[1:]}' has not been completed.", token)
            found.append(Token("text", re.sub(r"\\(.)", r"\1", match[1]), at))
            at += match.end()
        elif match := re.match(r"<=|>=|!=|!~|&&|\|\||[=<>~(),!&|]", rest):
            found.append(Token("sign", match[0], at))
            at += match.end()
        elif match := re.match(r"cf\[\d+\]|[^\s\"'=<>~(),!&|;?*/%^$#@\[\]{}+]+", rest):
            if match[0].endswith("."):
                raise error(
                    "The character '.' is a reserved JQL character. You must enclose it in a "
                    "string or use the escape '\\u002e' instead.", Token("sign", ".", at),
                )  # fmt: skip
            found.append(Token("word", match[0], at))
            at += match.end()
        else:
            raise error(
                f"The character '{rest[0]}' is a reserved JQL character. You must enclose it in a "
                f"string or use the escape '\\u{ord(rest[0]):04x}' instead.",
                Token("sign", rest[0], at),
            )
    return [*found, Token("end", "", len(query))]


Test = Callable[[dict[str, Any]], bool]


class Parser:
    """Reads one query."""

    def __init__(self, query: str) -> None:
        self.tokens = tokens(query)

    @property
    def next(self) -> Token:
        return self.tokens[0]

    def word(self, *words: str) -> bool:
        """Take a word of the language if it is next."""
        ahead = [token.text.lower() for token in self.tokens[: len(words)]]
        kinds = {token.kind for token in self.tokens[: len(words)]}
        if ahead != list(words) or kinds != {"word"}:
            return False
        del self.tokens[: len(words)]
        return True

    def sign(self, text: str) -> bool:
        """Take a sign if it is next."""
        if self.next.kind != "sign" or self.next.text != text:
            return False
        self.tokens.pop(0)
        return True

    def query(self) -> tuple[Test, list[tuple[str, bool]]]:
        test: Test = lambda _: True  # noqa: E731
        if self.next.kind != "end" and not self.ordering_ahead():
            test = self.either()
        order = self.ordering()
        if self.next.kind != "end":
            raise error(f"Expecting either 'OR' or 'AND' but got '{self.next.text}'.", self.next)
        return test, order

    def ordering_ahead(self) -> bool:
        return self.next.kind == "word" and self.next.text.lower() == "order"

    def ordering(self) -> list[tuple[str, bool]]:
        if not self.word("order"):
            return []
        if not self.word("by"):
            raise error(f"Expecting 'by' but got '{self.next.text}'.", self.next)
        order = []
        while True:
            field = self.field()
            descending = self.word("desc")
            if not descending and not self.word("asc") and self.next.kind == "word":
                raise error(
                    f"Expecting either 'ASC' or 'DESC' in the order by clause but got "
                    f"'{self.next.text}'.", self.next,
                )  # fmt: skip
            order.append((field, descending))
            if not self.sign(","):
                return order

    def either(self) -> Test:
        parts = [self.both()]
        while self.word("or"):
            parts.append(self.both())
        return lambda issue: any(part(issue) for part in parts)

    def both(self) -> Test:
        parts = [self.negated()]
        while self.word("and"):
            parts.append(self.negated())
        return lambda issue: all(part(issue) for part in parts)

    def negated(self) -> Test:
        if self.word("not"):
            inner = self.negated()
            return lambda issue: not inner(issue)
        if self.sign("("):
            inner = self.either()
            if not self.sign(")"):
                if self.next.kind == "end":
                    raise error("Expecting ')' before the end of the query.", self.next)
                raise error(f"Expecting ')' but got '{self.next.text}'.", self.next)
            return inner
        return self.clause()

    def field(self) -> str:
        token = self.next
        if token.kind not in {"word", "text"}:
            at_end = "Expecting a field name before the end of the query."
            got = f"Expecting a field name but got '{token.text}'."
            raise error(at_end if token.kind == "end" else got, token)
        if token.kind == "word" and token.text.lower() in RESERVED:
            raise self.reserved(token)
        self.tokens.pop(0)
        name = token.text.lower()
        return "issuetype" if name == "type" else name

    def reserved(self, token: Token) -> JQLError:
        return error(
            f"'{token.text}' is a reserved JQL word. You must surround it in quotation marks to "
            "use it in a query.", token,
        )  # fmt: skip

    def clause(self) -> Test:
        shown = self.next.text
        field = self.field()
        token = self.next
        if self.word("not", "in"):
            operator = "not in"
        elif self.word("is", "not"):
            operator = "is not"
        elif self.word("was", "not"):
            operator = "was not"
        elif token.text.lower() in {"in", "is", "was", "changed"} and token.kind == "word":
            operator = self.tokens.pop(0).text.lower()
        elif token.kind == "sign" and token.text in {"=", "!=", "<", ">", "<=", ">=", "~", "!~"}:
            operator = self.tokens.pop(0).text
        elif token.kind == "end":
            text = f"Expecting operator before the end of the query. {VALID}"
            raise error(text, token)
        else:
            text = f"Expecting operator but got '{token.text}'. {VALID}"
            raise error(text, token)
        if field not in FIELDS:
            raise JQLError(
                f"Field '{shown}' does not exist or you do not have permission to view it."
            )
        value = Value([]) if operator == "changed" else self.value()
        return self.test(field, shown, operator, value)

    def value(self) -> Value:
        if self.sign("("):
            texts = list[str]()
            while True:
                texts += self.value().texts
                if self.sign(")"):
                    return Value(texts, is_list=True)
                if not self.sign(","):
                    raise error(
                        f"Expecting either ')' or ',' but got '{self.next.text}'.", self.next
                    )
        token = self.next
        if token.kind == "end":
            text = "Expecting either a value, list or function before the end of the query."
            raise error(text, token)
        if token.kind == "sign":
            text = f"Expecting either a value, list or function but got '{token.text}'."
            raise error(f"{text} You must surround '{token.text}' in quotation marks.", token)
        self.tokens.pop(0)
        if token.kind == "word" and self.sign("("):
            arguments = list[str]()
            while not self.sign(")"):
                arguments.append(self.tokens.pop(0).text)
                self.sign(",")
            return self.function(token.text, arguments)
        if token.kind == "word" and token.text.lower() in {"empty", "null"}:
            return Value([""], empty=True)
        if token.kind == "word" and token.text.lower() in RESERVED:
            raise self.reserved(token)
        return Value([token.text], quoted=token.kind == "text")

    def function(self, name: str, arguments: list[str]) -> Value:
        known = name.lower()
        if known in MOMENTS:
            return Value([MIDNIGHT], function=name)
        if known not in FUNCTIONS:
            raise JQLError(f"Unable to find JQL function '{name}({', '.join(arguments)})'.")
        return Value(FUNCTIONS[known], known in LISTS, name)

    def test(self, field: str, shown: str, operator: str, value: Value) -> Test:
        unsupported = JQLError(
            f"The operator '{operator}' is not supported by the '{shown}' field."
        )
        if operator in {"was", "was not", "changed"}:
            if field not in HISTORY:
                raise JQLError(f"History searches do not support the '{shown}' field.")
            return lambda _: True
        if operator in {"is", "is not"}:
            if not value.empty:
                raise JQLError(
                    f"The operator '{operator}' for the field '{shown}' only supports EMPTY and "
                    f"NULL, not '{', '.join(value.texts)}'."
                )
            return lambda issue: bool(find(issue, field)) is (operator == "is not")
        if (operator in {"~", "!~"}) is not (field in TEXT):
            raise unsupported
        if operator in {"<", ">", "<=", ">="} and field not in ORDERED:
            raise unsupported
        if (operator in {"in", "not in"}) is not value.is_list:
            listed = ", ".join(f'"{text}"' for text in value.texts)
            if value.is_list:
                raise JQLError(
                    f"Operator '{operator}' does not support the list value '({listed})' for field "
                    f"'{shown}'."
                )
            raise JQLError(
                f"Operator '{operator}' does not support the non-list value '{listed}' for field "
                f"'{shown}'."
            )
        if field in TEXT:
            if value.texts[0].startswith(("*", "?")):
                raise JQLError(
                    "The '*' and '?' are not allowed as first character in wildcard query."
                )
            words = value.texts[0].strip('"*').lower()
            return lambda issue: (words in str(find(issue, field)).lower()) is (operator == "~")
        if field in DATES:
            moments = [self.moment(field, text) for text in value.texts]
            return lambda issue: compare(find(issue, field), operator, moments)
        for text in value.texts:
            known = NAMES.get(field)
            if known is not None and text.lower() not in {name.lower() for name in known}:
                raise JQLError(f"The value '{text}' does not exist for the field '{shown}'.")
            if field == "assignee" and text not in {"hiroko", "takuma", "ayako"}:
                raise JQLError(f"The value '{text}' does not exist for the field '{shown}'.")
            if field == "sprint" and not text.startswith("Sprint "):
                raise JQLError(f"The value '{text}' does not exist for the field '{shown}'.")
        if field in NUMBERS:
            numbers = [float(text) for text in value.texts]
            return lambda issue: compare(find(issue, field), operator, numbers)
        if operator in {"<", ">", "<=", ">="}:
            ranks = ["lowest", "low", "medium", "high", "highest"]
            wanted = [ranks.index(text.lower()) for text in value.texts]
            return lambda issue: compare(ranks.index(find(issue, field).lower()), operator, wanted)
        wanted_texts = [text.lower() for text in value.texts]
        return lambda issue: compare(find(issue, field), operator, wanted_texts)

    def moment(self, field: str, text: str) -> str:
        units = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes"}
        if re.fullmatch(r"-?\d+[wdhm]( -?\d+[wdhm])*", text):
            sign = -1 if text.startswith("-") else 1
            spans = re.findall(r"(\d+)([wdhm])", text)
            length = sum((timedelta(**{units[u]: int(n)}) for n, u in spans), timedelta())
            return (NOW + sign * length).isoformat()
        if match := re.fullmatch(r"(\d{4})[-/](\d\d)[-/](\d\d)(?: (\d\d):(\d\d))?", text):
            year, month, day, hour, minute = (int(part or 0) for part in match.groups())
            return datetime(year, month, day, hour, minute, tzinfo=timezone.utc).isoformat()
        if text == MIDNIGHT:  # what a function gives
            return text
        raise JQLError(
            f"Date value '{text}' for field '{field}' is invalid. Valid formats include: "
            "'yyyy/MM/dd HH:mm', 'yyyy-MM-dd HH:mm', 'yyyy/MM/dd', 'yyyy-MM-dd', or a period "
            "format e.g. '-5d', '4w 2d'."
        )


def find(issue: dict[str, Any], field: str) -> Any:
    """Return the value of an issue's field."""
    values = {name.lower(): value for name, value in issue.items()}
    if field == "statuscategory":
        return "Done" if issue["status"] == "Done" else "To Do"
    return values.get("story points" if field == "cf[10020]" else field)


def folded(value: Any) -> Any:
    """Make texts comparable."""
    return value.lower() if isinstance(value, str) else value


def compare(held: Any, operator: str, wanted: list[Any]) -> bool:
    """Compare what an issue holds with what is wanted."""
    several = [folded(one) for one in (held if isinstance(held, list) else [held])]
    wanted = [folded(one) for one in wanted]
    if operator in {"=", "in"}:
        return any(one in wanted for one in several)
    if operator in {"!=", "not in"}:
        return bool(held) and not any(one in wanted for one in several)
    one, other = several[0], wanted[0]
    return {
        "<": one < other, ">": one > other, "<=": one <= other, ">=": one >= other
    }[operator]  # fmt: skip


def search(query: str) -> list[dict[str, Any]]:
    """Find issues.

    Raises:
        JQLError: If Jira would refuse the query.
    """
    test, order = Parser(query).query()
    found = [issue for issue in ISSUES if test(issue)]
    for field, descending in reversed(order):
        found.sort(key=lambda issue: str(find(issue, field)), reverse=descending)
    return found
