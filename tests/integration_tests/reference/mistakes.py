"""Prepared mistakes: what a model writes wrong, what it meant, and where the reference mends it."""

from typing import NamedTuple


class Mistake(NamedTuple):
    """A query that is refused, the query that was meant, and the sections that mend it."""

    wrong: str
    right: str
    sections: tuple[str, ...]


PROMQL = [
    Mistake("rate(prometheus_http_requests_total)", "rate(prometheus_http_requests_total[5m])",
            ("Rates of counters", "Ranges")),
    Mistake("up[5m", "count_over_time(up[5m])", ("Ranges",)),
    Mistake("up{job=self}", 'up{job="self"}', ("Label matchers", "Strings and quotes")),
    Mistake("sum(up) by job", "sum(up) by (job)", ("Grouping an aggregation",)),
    Mistake('up == "1"', "up == 1", ("Numbers", "Comparison operators")),
    Mistake("histogram_quantile(prometheus_http_request_duration_seconds_bucket, 0.9)",
            "histogram_quantile(0.9, prometheus_http_request_duration_seconds_bucket)",
            ("Histograms",)),
    Mistake("rate(up[5 minutes])", "rate(up[5m])", ("Durations",)),
    Mistake("avg up", "avg(up)", ("Aggregation operators",)),
    Mistake('up{job="self" and instance!="x"}', 'up{job="self", instance!="x"}',
            ("Label matchers", "Logical operators")),
    Mistake('sum(up){job="self"}', 'sum(up{job="self"})',
            ("Filtering an aggregation", "Selecting series")),
    Mistake("up offset 5", "up offset 1s", ("The offset modifier",)),
    Mistake("up @ now", "up", ("The @ modifier",)),
    Mistake("topk(up, 3)", "topk(3, up)", ("Parameters of aggregations",)),
    Mistake("median(up)", "quantile(0.5, up)", ("Aggregation operators",)),
    Mistake("sum(rate(up)[5m])", "sum(rate(up[5m]))", ("Ranges", "Subqueries")),
    Mistake('up{job=~"[a"}', 'up{job=~"self|[a]"}', ("Regular expressions in matchers",)),
    Mistake('label_replace(up, "x")', 'label_replace(up, "x", "$1", "job", "(.*)")',
            ("Changing labels",)),
    Mistake('SELECT * FROM up WHERE job="self"', 'up{job="self"}', ("It is not SQL",)),
    Mistake("up && up", "up and up", ("Logical operators",)),
    Mistake("time(up)", "time()", ("Functions of time and date",)),
]  # fmt: skip

JQL = [
    Mistake("status == Done", "status = Done", ("Equality",)),
    Mistake("summary = login", "summary ~ login", ("Searching text", "Equality")),
    Mistake("status = In Progress", 'status = "In Progress"', ("Quotes",)),
    Mistake("assignee = me", "assignee = currentUser()", ("Users",)),
    Mistake("created >= today()", "created >= startOfDay()", ("Functions of time",)),
    Mistake('created >= "last week"', "created >= -1w", ("Relative dates", "Dates")),
    Mistake("status = (Open, Done)", "status IN (Open, Done)", ("Several values",)),
    Mistake("status IN Open", "status IN (Open)", ("Several values",)),
    Mistake("project = LCA status = Open", "project = LCA AND status = Open", ("Joining clauses",)),
    Mistake("project = LCA LIMIT 5", "project = LCA", ("Limits", "Joining clauses")),
    Mistake("owner = hiroko", "assignee = hiroko", ("Names of fields",)),
    Mistake("reporter = me@example.com", 'reporter = "ayako"', ("Reserved characters",)),
    Mistake("assignee IS hiroko", "assignee = hiroko", ("Empty fields",)),
    Mistake("summary ~ '*ogin'", "summary ~ 'log*'", ("Wildcards and phrases",)),
    Mistake("sprint = openSprints()", "sprint IN openSprints()", ("Sprints", "Several values")),
    Mistake("summary WAS login", "status WAS Open", ("History",)),
    Mistake("status > Open", "status != Open", ("Comparison",)),
    Mistake("project = LCA ORDER priority", "project = LCA ORDER BY priority", ("Ordering",)),
    Mistake("(status = Open OR status = Done", "(status = Open OR status = Done)",
            ("Parentheses",)),
    Mistake("status = Closed", "statusCategory = Done", ("Values of fields",)),
]  # fmt: skip

SOURCEGRAPH = [
    Mistake("author:alice login", "type:commit author:alice login",
            ("Commits and diffs", "Author and committer")),
    Mistake("file:*.py login", r"file:\.py$ login", ("The file filter",)),
    Mistake("lang:.py login", "lang:python login", ("The lang filter",)),
    Mistake("count:0 login", "count:10 login", ("Counting",)),
    Mistake("limit:5 login", "count:5 login", ("Counting", "Fields that exist")),
    Mistake("case:sensitive TODO", "case:yes TODO", ("Case",)),
    Mistake("timeout:20 login", "timeout:20s login", ("Timeout",)),
    Mistake("fork:include login", "fork:yes login", ("Forks",)),
    Mistake("-type:symbol login", "type:file login", ("The type filter",)),
    Mistake("extension:go Sprintf", r"file:\.go$ Sprintf", ("Fields that exist",)),
    Mistake("repo:lca/api@main rev:dev login", "repo:lca/api rev:main login", ("Revisions",)),
    Mistake('"out of memory', '"out of memory"', ("Quotes",)),
    Mistake("(login OR store", "(login)", ("Parentheses",)),
    Mistake("patterntype:regex login", "patterntype:regexp login", ("Kinds of patterns",)),
    Mistake("/login(?!user)/", "/login/", ("Regular expressions",)),
    Mistake("select:function login", "select:symbol.function login", ("Select",)),
    Mistake("patterntype:structural type:file Sprintf", "patterntype:structural Sprintf",
            ("Structural search",)),
    Mistake("AND login", "login", ("Boolean operators",)),
    Mistake("-after:yesterday type:commit login", "before:yesterday type:commit login", ("Dates",)),
    Mistake("visibility:internal login", "visibility:private login", ("Visibility",)),
]  # fmt: skip
