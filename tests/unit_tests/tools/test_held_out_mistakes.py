"""Mistakes written by somebody who had not seen the lists that the search was made with."""

import pytest

from examples.query_languages import REFERENCES
from langchain_custom_agents.tools._manual import Manual

# What was asked, what the engine said, and the sections that mend it.
HELD_OUT: dict[str, list[tuple[str, str, set[str]]]] = {
    "promql": [
        (
            "rate(http_requests_total)",
            'bad_data: invalid parameter "query": 1:6: parse error: expected type range '
            'vector in call to function "rate", got instant vector',
            {"Ranges", "Rates of counters"},
        ),
        (
            "avg_over_time(cpu)",
            'parse error: expected type range vector in call to function "avg_over_time", got'
            " instant vector",
            {"Functions over time", "Ranges"},
        ),
        (
            "sum(cpu) group by (job)",
            'parse error: unexpected identifier "group"',
            {"Grouping an aggregation", "It is not SQL"},
        ),
        (
            "up{job=prometheus}",
            'parse error: unexpected identifier "prometheus" in label matching, expected string',
            {"Label matchers", "Strings and quotes"},
        ),
        (
            'up{job=="x"}',
            'parse error: unexpected "=" in label matching, expected string',
            {"Label matchers"},
        ),
        (
            "cpu[5 minutes]",
            "parse error: unexpected <duration>",
            {"Durations", "Ranges"},
        ),
        (
            "cpu[5]",
            "parse error: missing unit character in duration",
            {"Durations", "Ranges"},
        ),
        (
            "topk(cpu)",
            "parse error: wrong number of arguments for aggregate expression provided, "
            "expected 2, got 1",
            {"Parameters of aggregations"},
        ),
        (
            "SELECT cpu FROM metrics WHERE job='x'",
            'parse error: unexpected identifier "cpu"',
            {"It is not SQL"},
        ),
        (
            'up{job=~"*prod"}',
            "parse error: error parsing regexp: missing argument to repetition operator: `*`",
            {"Regular expressions in matchers"},
        ),
        (
            "{}",
            "parse error: vector selector must contain at least one non-empty matcher",
            {"Label matchers", "Selecting series"},
        ),
        (
            "cpu offset 5",
            "parse error: unexpected number in offset, expected duration",
            {"Durations", "The offset modifier"},
        ),
        (
            "a / on b",
            'parse error: unexpected identifier "b" in grouping opts, expected "("',
            {"Vector matching"},
        ),
        (
            "a / b",
            "multiple matches for labels: many-to-one matching must be explicit "
            "(group_left/group_right)",
            {"Vector matching"},
        ),
        (
            "up && down",
            "parse error: unexpected character: '&'",
            {"Logical operators"},
        ),
        (
            "rate(sum(x)[5m])",
            "parse error: ranges only allowed for vector selectors",
            {"Ranges", "Rates of counters", "Subqueries"},
        ),
    ],
    "jql": [
        (
            "status == Done",
            "Error in the JQL Query: Expecting either a value, list or function but got '='. "
            "You must surround '=' in quotation marks to use it as a value.",
            {"Equality"},
        ),
        (
            'summary = "login"',
            "The operator '=' is not supported by the 'summary' field.",
            {"Searching text"},
        ),
        (
            "created > 2024/13/45",
            "Date value '2024/13/45' for field 'created' is invalid. Valid formats include: "
            "'yyyy/MM/dd HH:mm', 'yyyy-MM-dd HH:mm', 'yyyy/MM/dd', 'yyyy-MM-dd', or a period "
            "format e.g. '-5d', '4w 2d'.",
            {"Dates", "Relative dates"},
        ),
        (
            "assignee = NULL()",
            "Unable to find JQL function 'NULL()'.",
            {"Empty fields", "Functions"},
        ),
        (
            'assignee != "x" && status = Open or',
            "Error in the JQL Query: Expecting either a field name at the end of the query",
            {"A query", "Joining clauses"},
        ),
        (
            "status in Open, Closed",
            "Error in the JQL Query: Expecting '(' but got 'Open'.",
            {"Several values"},
        ),
        (
            "project = ABC ORDER created",
            "Error in the JQL Query: Expecting 'by' but got 'created'.",
            {"Ordering"},
        ),
        (
            "labels ~ backend",
            "The operator '~' is not supported by the 'labels' field.",
            {"Labels and components"},
        ),
        (
            "order = 5",
            "Error in the JQL Query: 'order' is a reserved JQL word. You must surround it in "
            "quotation marks to use it in a query.",
            {"Reserved words"},
        ),
        (
            "summary ~ C#",
            "Error in the JQL Query: The character '#' is a reserved JQL character. You must "
            "enclose it in a string or use the escape '\\u0023' instead.",
            {"Reserved characters"},
        ),
        (
            "Story Points > 3",
            "Error in the JQL Query: Expecting operator but got 'Points'.",
            {"Custom fields", "Names of fields", "Quotes"},
        ),
        (
            "sprint = current",
            "Sprint with name 'current' does not exist or you do not have permission to view it.",
            {"Sprints"},
        ),
        (
            "status was Done before yesterday",
            "Date value 'yesterday' for predicate 'before' is invalid.",
            {"Dates", "Functions of time", "History", "Relative dates"},
        ),
        (
            "project = X LIMIT 5",
            "Error in the JQL Query: Expecting either 'OR' or 'AND' but got 'LIMIT'.",
            {"Limits"},
        ),
        (
            "parent is ABC-1",
            "Error: The operator 'is' can only be used with EMPTY or NULL",
            {"Empty fields", "Parents and subtasks"},
        ),
        (
            "fixVersion > 1.0",
            "Version '1.0' can't be found",
            {"Versions"},
        ),
    ],
    "sourcegraph": [
        (
            "repo:^github.com/(foo",
            "error parsing regexp: missing closing ): `^github.com/(foo`",
            {"Regular expressions", "The repo filter"},
        ),
        (
            "language:js++ foo",
            'unknown language: "js++"',
            {"The lang filter"},
        ),
        (
            "type:commits fix",
            'invalid value "commits" for field "type". Valid values are: file, path, symbol, '
            "repo, commit, diff",
            {"The type filter"},
        ),
        (
            "author:bob foo",
            "your query contains the field 'author', which requires type:commit or type:diff "
            "in the query",
            {"Author and committer", "Commits and diffs"},
        ),
        (
            "foo before:yester",
            "invalid value for before: could not parse date; requires type:commit or type:diff",
            {"Commits and diffs", "Dates"},
        ),
        (
            "foo count:lots",
            "field count has value lots, lots is not a number",
            {"Counting"},
        ),
        (
            "foo timeout:5",
            'invalid value "5" for field "timeout": missing unit in duration',
            {"Timeout"},
        ),
        (
            "(a or b",
            "unbalanced expression: unmatched closing parenthesis",
            {"Parentheses"},
        ),
        (
            "filename:foo.go x",
            'unrecognized field "filename"',
            {"Fields that exist", "The file filter"},
        ),
        (
            "foo case:on",
            'invalid boolean "on" for field case',
            {"Case"},
        ),
        (
            "select:files foo",
            'invalid value "files" for field "select"',
            {"Select"},
        ),
        (
            "foo patternType:regex",
            'unsupported pattern type "regex": expected literal, regexp, structural, keyword',
            {"Kinds of patterns"},
        ),
        (
            "fork:maybe foo",
            'invalid boolean "maybe" for field fork: expected yes, no or only',
            {"Forks"},
        ),
        (
            "foo && bar",
            "no results; unexpected '&&' read literally",
            {"Boolean operators"},
        ),
        (
            "repo:foo@main:dev rev:x",
            "invalid syntax. You specified both @ and rev: for a repo: filter",
            {"Revisions"},
        ),
    ],
}


@pytest.mark.parametrize("language", HELD_OUT)
def test_mistakes_that_were_held_out_are_mended_too(language):
    """At most one mistake of a language is shown sections that do not mend it."""
    manual = Manual(REFERENCES / f"{language}.md", k=3, embedding=None, cache=None, max_age=None)
    missed = [
        asked
        for asked, said, sections in HELD_OUT[language]
        if not sections
        & {
            section.metadata["section"].rpartition(" > ")[2]
            for section in manual.find(f"HTTP 400: {said}\n{asked}")
        }
    ]

    assert len(missed) <= 1, missed
