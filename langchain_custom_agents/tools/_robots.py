"""What a site's robots.txt allows, by RFC 9309: the longest rule that matches decides.

The pause that `Crawl-delay` asks for is no part of the RFC, but many sites mean it.
"""

import re
from collections.abc import Iterator
from urllib.parse import quote

__all__ = ("Robots",)

_AS_THEY_ARE = "".join(map(chr, range(33, 127)))
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")


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
        self._rules = [
            (kind == "allow", _octets(value)) for kind, value in chosen if kind != "crawl-delay"
        ]
        self.delay = max(
            (_seconds(value) for kind, value in chosen if kind == "crawl-delay"), default=0.0
        )

    def allows(self, path: str) -> bool:
        """Say whether a path, with its query, may be read.

        Args:
            path: What follows the host in an address.
        """
        asked = _octets(path).replace("*", "%2A").replace("$", "%24")
        matching = [(len(rule), allowed) for allowed, rule in self._rules if _fits(rule, asked)]
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
            names.add(value.partition("/")[0].strip().lower())  # without a version
        elif field in {"allow", "disallow", "crawl-delay"} and names and value:
            rules.append((field, value))
    yield names, rules


def _seconds(value: str) -> float:
    return float(value) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value) else 0.0


def _octets(text: str) -> str:
    """Write a path in one way, as RFC 9309 compares them: percent signs where they are needed."""
    return _ENCODED.sub(_octet, quote(text, safe=_AS_THEY_ARE))


def _octet(encoded: re.Match[str]) -> str:
    letter = chr(int(encoded[0][1:], 16))
    return (
        letter
        if letter.isascii() and (letter.isalnum() or letter in "-._~")
        else encoded[0].upper()
    )


def _fits(rule: str, path: str) -> bool:
    """Say whether a rule is about a path: each part at its first place, so it takes one pass.

    A regular expression would try every place of every star, and the stars are a stranger's.
    """
    first, *others = rule.removesuffix("$").replace("$", "%24").split("*")
    last = others.pop() if others else None
    if not path.startswith(first):
        return False
    at = len(first)
    for part in others:
        at = path.find(part, at)
        if at < 0:
            return False
        at += len(part)
    if not rule.endswith("$"):
        return last is None or path.find(last, at) >= 0
    return at == len(path) if last is None else path.endswith(last) and len(path) - len(last) >= at
