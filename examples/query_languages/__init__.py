"""Tools over three query languages, each with its reference: PromQL, JQL and Sourcegraph search."""

import json
from pathlib import Path
from typing import Any

import httpx2
from langchain_core.tools import BaseTool, ToolException, tool

from langchain_custom_agents import with_reference

__all__ = ("REFERENCES", "jira_tool", "prometheus_tool", "sourcegraph_tool")

REFERENCES = Path(__file__).parent

_SHOWN = 20


def _listed(lines: list[str], *, goes_on: bool = False) -> str:
    """Show the first results; a model that counts them must see that there are more."""
    more = f"{len(lines) - _SHOWN} more" if len(lines) > _SHOWN else "more" if goes_on else ""
    note = [f"(There are {more}: ask more narrowly, or let the query count.)"] if more else []
    return "\n".join([*lines[:_SHOWN], *note])


def prometheus_tool(url: str, **kwargs: Any) -> BaseTool:
    """Make a tool that queries Prometheus and knows PromQL.

    Args:
        url: Where Prometheus listens, such as http://localhost:9090.
        **kwargs: Given to `with_reference`.

    Returns:
        The tool `query_metrics`.
    """

    @tool
    def query_metrics(promql: str) -> str:
        """Answers questions about metrics. Input: a query in PromQL."""
        answer = httpx2.get(f"{url}/api/v1/query", params={"query": promql}, timeout=30)
        answer.raise_for_status()
        data = answer.json()["data"]
        if data["resultType"] in {"scalar", "string"}:
            return str(data["result"][1])
        shown = [
            f"{json.dumps(found['metric'], ensure_ascii=False)} = {_samples(found)}"
            for found in data["result"]
        ]
        return _listed(shown) or "No series matches."

    return with_reference(query_metrics, REFERENCES / "promql.md", **kwargs)


def _samples(found: dict[str, Any]) -> str:
    values = found.get("values") or [found["value"]]
    return ", ".join(value for _, value in values[-10:])


def jira_tool(url: str, email: str = "", token: str = "", **kwargs: Any) -> BaseTool:
    """Make a tool that searches Jira Cloud and knows JQL.

    Args:
        url: The site, such as https://example.atlassian.net.
        email: Who asks; without it, nobody logs in.
        token: The API token of who asks.
        **kwargs: Given to `with_reference`.

    Returns:
        The tool `find_issues`.
    """

    @tool
    def find_issues(jql: str) -> str:
        """Finds issues in Jira. Input: a query in JQL."""
        asked = {"jql": jql, "maxResults": _SHOWN, "fields": "summary,status,assignee"}
        answer = httpx2.get(
            f"{url}/rest/api/3/search/jql",
            params=asked,
            auth=(email, token) if email else None,
            timeout=30,
        )
        answer.raise_for_status()
        told = answer.json()
        shown = [
            f"{issue['key']}: {issue['fields']['summary']} ({issue['fields']['status']['name']})"
            for issue in told["issues"]
        ]
        return _listed(shown, goes_on=bool(told.get("nextPageToken"))) or "No issue matches."

    return with_reference(find_issues, REFERENCES / "jql.md", **kwargs)


_SEARCH = """
query ($query: String!) { search(query: $query, version: V3) { results {
  matchCount
  alert { title description }
  results { ... on FileMatch { repository { name } file { path } lineMatches { preview } }
            ... on Repository { name } }
} } }
"""


def sourcegraph_tool(url: str, token: str = "", **kwargs: Any) -> BaseTool:
    """Make a tool that searches code with Sourcegraph and knows its query language.

    Sourcegraph answers a query it cannot process with status 200 and an alert; the tool raises
    it, as an API that refuses.

    Args:
        url: The instance, such as https://sourcegraph.com.
        token: An access token.
        **kwargs: Given to `with_reference`.

    Returns:
        The tool `search_code`.
    """

    @tool
    def search_code(query: str) -> str:
        """Searches code. Input: a query in Sourcegraph's search language."""
        asked = {"query": _SEARCH, "variables": {"query": query}}
        headers = {"Authorization": f"token {token}"} if token else {}
        answer = httpx2.post(f"{url}/.api/graphql", json=asked, headers=headers, timeout=60)
        answer.raise_for_status()
        told = answer.json()
        if told.get("errors"):
            raise ToolException("; ".join(error["message"] for error in told["errors"]))
        results = told["data"]["search"]["results"]
        if results["alert"] and not results["results"]:
            raise ToolException(f"{results['alert']['title']}: {results['alert']['description']}")
        return _listed([_match(found) for found in results["results"]]) or "Nothing matches."

    return with_reference(search_code, REFERENCES / "sourcegraph.md", **kwargs)


def _match(found: dict[str, Any]) -> str:
    if "file" not in found:
        return str(found["name"])
    lines = "; ".join(line["preview"].strip() for line in found["lineMatches"][:3])
    return f"{found['repository']['name']}/{found['file']['path']}: {lines}"
