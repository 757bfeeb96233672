"""What a site's robots.txt allows, by RFC 9309: the longest rule that matches decides."""

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
    """

    def __init__(self, text: str, agent: str) -> None:
        groups = list(_groups(text))
        mine = [rules for names, rules in groups if agent.lower() in names]
        everyone = [rules for names, rules in groups if "*" in names]
        self._rules = [rule for rules in mine or everyone for rule in rules]

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


def _groups(text: str) -> Iterator[tuple[set[str], list[tuple[bool, str]]]]:
    names, rules = set[str](), list[tuple[bool, str]]()
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
        elif field in {"allow", "disallow"} and names and value:
            rules.append((field == "allow", value))
    yield names, rules


def _pattern(rule: str) -> re.Pattern[str]:
    end = r"\Z" if rule.endswith("$") else ""
    # Runs of stars say what one says, and would make the search slow.
    parts = re.sub(r"\*+", "*", rule.removesuffix("$")).split("*")
    return re.compile(".*".join(map(re.escape, parts)) + end, re.DOTALL)
