"""A Sourcegraph of ours: reads queries, refuses in its words, and searches a handful of files.

The rules and the sentences are those of Sourcegraph's public query validation.
"""

import re
from typing import Any, NamedTuple


class QueryError(Exception):
    """A query that Sourcegraph would answer with an alert."""


FILES = [
    (
        "github.com/lca/api",
        "src/login.py",
        "Python",
        "def login(user):\n    raise ValueError(user)",
    ),
    ("github.com/lca/api", "src/store_test.py", "Python", "def test_store():\n    assert save()"),
    ("github.com/lca/web", "app/login.ts", "TypeScript", "// TODO: out of memory\nlogin(user)"),
    ("github.com/lca/tools", "main.go", "Go", 'func main() {\n\tfmt.Sprintf("done")\n}'),
]
COMMITS = [("github.com/lca/api", "alice", "fix the login"), ("github.com/lca/web", "bob", "TODO")]

ALIASES = {"r": "repo", "f": "file", "l": "lang", "language": "lang", "since": "after",
           "until": "before", "m": "message", "msg": "message"}  # fmt: skip
SINGLE = {"case", "context", "patterntype", "content", "visibility", "repohascommitafter", "index",
          "fork", "archived", "count", "timeout", "rev", "select"}  # fmt: skip
FIELDS = SINGLE | {"repo", "file", "lang", "type", "before", "after", "author", "committer",
                   "message", "repohasfile"}  # fmt: skip
POSITIVE = SINGLE | {"type", "before", "after"}
REGEXPS = {"repo", "file", "author", "committer", "message", "repohasfile"}
LANGUAGES = {"python", "go", "typescript", "java", "c++", "rust"}
SELECTS = r"repo|file|content|symbol(\.\w+)?|commit\.diff\.(added|removed)|file\.(owners|directory)"
TYPES = {"file", "path", "symbol", "repo", "commit", "diff"}
PATTERNS = {"keyword", "literal", "standard", "regexp", "structural"}


class Filter(NamedTuple):
    """A field and its value."""

    field: str
    value: str
    negated: bool


def pieces(query: str) -> list[str]:
    """Cut a query at its spaces, outside of quotes, slashes and parentheses of predicates."""
    found, word, quote, depth = [], "", "", 0
    for number, letter in enumerate(query):
        before = query[number - 1] if number else ""
        if quote:
            quote = "" if letter == quote and before != "\\" else quote
        elif letter in "\"'" and (not word or word.endswith(":")):
            quote = letter
        elif letter == "(" and re.match(r"-?(repo|file):has", word):
            depth += 1
        elif letter == ")" and depth:
            depth -= 1
        elif letter.isspace() and not depth:
            found.append(word)
            word = ""
            continue
        elif (letter in "()" and ":" not in word and not word.startswith("/")) or (
            letter == ")" and word.count("(") < word.count(")") + 1 and ":" in word
        ):
            found += [word, letter]
            word = ""
            continue
        word += letter
    if quote:
        raise QueryError(f"unterminated literal: expected {quote}")
    return [piece for piece in [*found, word] if piece]


def regexp(pattern: str) -> str:
    """Check a regular expression as Go would."""
    shown = pattern
    if match := re.search(r"\(\?(?:=|!|<=|<!)", pattern):
        raise QueryError(f"error parsing regexp: invalid or unsupported Perl syntax: `{match[0]}`")
    if pattern[:1] in {"*", "+", "?"}:
        raise QueryError(
            f"error parsing regexp: missing argument to repetition operator: `{pattern[0]}`"
        )
    try:
        re.compile(pattern)
    except re.error as error:
        what = str(error)
        if "unterminated character set" in what:
            rest = pattern[pattern.rindex("[") :]
            raise QueryError(f"error parsing regexp: missing closing ]: `{rest}`") from None
        if "parenthesis" in what or "unterminated subpattern" in what:
            kind = "unexpected )" if "unbalanced" in what else "missing closing )"
            raise QueryError(f"error parsing regexp: {kind}: `{shown}`") from None
        raise QueryError(f"error parsing regexp: {what}: `{shown}`") from None
    return pattern


def check(found: Filter, seen: set[str]) -> None:
    """Refuse a filter as Sourcegraph does."""
    field, value, negated = found
    if field not in FIELDS:
        raise QueryError(f'unrecognized field "{field}"')
    if field in SINGLE and field in seen:
        raise QueryError(f'field "{field}" may not be used more than once')
    if field == "case" and value.lower() not in {"yes", "no", "y", "n", "true", "false", "1", "0"}:
        raise QueryError(f'invalid boolean "{value}"')
    if field == "lang" and value.lower() not in LANGUAGES:
        raise QueryError(f'unknown language: "{value}"')
    if field == "count" and value != "all":
        if not re.fullmatch(r"[+-]?\d+", value):
            raise QueryError(f"field count has value {value}, {value} is not a number")
        if int(value) <= 0:
            raise QueryError("field count requires a positive number")
    if field == "timeout" and not re.fullmatch(r"(\d+(\.\d+)?(ns|us|ms|s|m|h))+", value):
        raise QueryError(
            'invalid value for field \'timeout\' (examples: "timeout:2s", "timeout:200ms")'
        )
    if negated and field in POSITIVE:
        raise QueryError(f'field "{field}" does not support negation')
    if field in {"fork", "archived", "index"} and value not in {"yes", "no", "only"}:
        raise QueryError(
            f'invalid value "{value}" for field "{field}". Valid values are: yes, only, no'
        )
    if field == "select" and not re.fullmatch(SELECTS, value):
        raise QueryError(f'invalid field "{value}" on select path')
    if field == "type" and value not in TYPES:
        raise QueryError(f'invalid type "{value}"')
    if field == "patterntype" and value not in PATTERNS:
        raise QueryError(f'invalid patterntype "{value}"')
    if field == "visibility" and value not in {"any", "public", "private"}:
        raise QueryError(f'invalid visibility "{value}"')
    if field in REGEXPS and not value.startswith("has."):
        regexp(value.partition("@")[0] if field == "repo" else value)


def read(query: str) -> tuple[list[Filter], list[str]]:
    """Cut a query into filters and patterns.

    Raises:
        QueryError: If Sourcegraph would not process it.
    """
    filters, patterns, seen, depth = [], list[str](), set[str](), 0
    parts = pieces(query)
    for number, piece in enumerate(parts):
        if piece in {"(", ")"}:
            depth += 1 if piece == "(" else -1
            if depth < 0:
                break
            continue
        if piece.upper() in {"AND", "OR"}:
            if number in {0, len(parts) - 1}:
                raise QueryError(f"expected operand at {query.find(piece)}")
            continue
        match = re.match(r"(-?)([A-Za-z]\w*):(?!//)(.*)\Z", piece, re.DOTALL)
        if not match:
            patterns.append(piece)
            continue
        name = match[2].lower()
        value = match[3][1:-1] if match[3][:1] in {'"', "'"} else match[3]
        found = Filter(ALIASES.get(name, name), value, bool(match[1]))
        check(found, seen)
        seen.add(found.field)
        filters.append(found)
    if depth:
        raise QueryError(
            "this literal search query contains unbalanced parentheses. I tried to guess what you "
            "meant, but wasn't able to. Maybe you missed a parenthesis? Otherwise, try using the "
            "content: filter if the pattern is unbalanced"
        )
    values = {found.field: found.value for found in filters}
    for pattern in patterns:
        if len(pattern) > 1 and pattern[0] == pattern[-1] == "/":
            regexp(pattern[1:-1])
        elif values.get("patterntype") == "regexp":
            regexp(pattern)
    if "rev" in values and any(f.field == "repo" and "@" in f.value for f in filters):
        raise QueryError(
            "invalid syntax. You specified both @ and rev: for a repo: filter and I don't know how "
            "to interpret this. Remove either @ or rev: and try again"
        )
    if "repohasfile" in values and values.get("type") == "symbol":
        raise QueryError("repohasfile is not compatible for type:symbol.")
    for field in ("author", "before", "after", "message"):
        if field in values and values.get("type") not in {"commit", "diff"}:
            raise QueryError(
                f"your query contains the field '{field}', which requires type:commit or type:diff "
                "in the query"
            )
    if values.get("patterntype") == "structural" and "type" in values:
        raise QueryError(
            "this structural search query specifies `type:` and is not supported. Structural "
            "search syntax only applies to searching file contents"
        )
    return filters, patterns


def search(query: str) -> list[dict[str, Any]]:
    """Search the files, or the commits.

    Raises:
        QueryError: If Sourcegraph would not process the query.
    """
    filters, patterns = read(query)
    words = [pattern.strip("\"'/") for pattern in patterns]
    words += [found.value for found in filters if found.field == "content"]
    if any(found.field == "type" and found.value in {"commit", "diff"} for found in filters):
        authors = [found.value for found in filters if found.field == "author"]
        return [
            {"name": f"{repo}: {message} ({author})"}
            for repo, author, message in COMMITS
            if all(re.search(name, author) for name in authors)
            and all(word.lower() in message.lower() for word in words)
        ]
    hits = []
    for repo, path, language, text in FILES:
        held = {"repo": repo, "file": path, "lang": language}
        fits = all(
            found.value.startswith("has.")
            or bool(re.search(found.value.partition("@")[0], held[found.field], re.IGNORECASE))
            is not found.negated
            for found in filters
            if found.field in held
        )
        if fits and all(re.search(re.escape(word), text, re.IGNORECASE) for word in words):
            lines = [line for line in text.splitlines() if not words or words[0] in line]
            hits.append(
                {
                    "repository": {"name": repo},
                    "file": {"path": path},
                    "lineMatches": [{"preview": line} for line in lines[:3]],
                }
            )
    return hits
