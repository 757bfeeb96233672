"""What a site's robots.txt allows, by RFC 9309: the longest rule that matches decides.

The pause that `Crawl-delay` asks for is no part of the RFC, but many sites mean it.
"""

import re
from collections.abc import Iterator

__all__ = ("Robots",)


class Robots:
    r"""The rules of a robots.txt for one reader.

    Args:
        text: The file.
        agent: The reader's name.

    Example:
        >>> robots = Robots("User-agent: *\nDisallow: /private\nAllow: /private/open$", "reader")
        >>> [robots.allows(path) for path in ("/", "/private/x", "/private/open")]
        [True, False, True]

    Attributes:
        delay: How many seconds the site asks for between pages.
    """

    def __init__(self, text: str, agent: str) -> None:
        groups = list(_groups(text))
        mine = [rules for names, rules in groups if agent.lower() in names]
        everyone = [rules for names, rules in groups if "*" in names]
        chosen = [rule for rules in mine or everyone for rule in rules]
        self._rules = [(kind == "allow", value) for kind, value in chosen if kind != "crawl-delay"]
        self.delay = max(
            (_seconds(value) for kind, value in chosen if kind == "crawl-delay"), default=0.0
        )

    def allows(self, path: str) -> bool:
        """Say whether a path, with its query, may be read.

        Args:
            path: What follows the host in an address.
        """
        matching = [
            (len(rule), allowed) for allowed, rule in self._rules if _pattern(rule).match(path)
        ]
        # Of two rules of one length the milder one counts.
        return max(matching)[1] if matching else True


def _groups(text: str) -> Iterator[tuple[set[str], list[tuple[str, str]]]]:
    names, rules = set[str](), list[tuple[str, str]]()
    for line in text.removeprefix("\ufeff").splitlines():
        field, colon, value = (part.strip() for part in line.partition("#")[0].partition(":"))
        field = field.lower()
        if not colon:
            continue
        if field == "user-agent":
            if rules:
                yield names, rules
                names, rules = set(), []
            names.add(value.lower())
        elif field in {"allow", "disallow", "crawl-delay"} and names and value:
            rules.append((field, value))
    yield names, rules


def _seconds(value: str) -> float:
    return float(value) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value) else 0.0


def _pattern(rule: str) -> re.Pattern[str]:
    end = r"\Z" if rule.endswith("$") else ""
    # Runs of stars say what one says, and would make the search slow.
    parts = re.sub(r"\*+", "*", rule.removesuffix("$")).split("*")
    return re.compile(".*".join(map(re.escape, parts)) + end, re.DOTALL)
