"""Wikipedia, or any MediaWiki, as a docstore."""

import asyncio
import difflib
import math
import os
import re
import sqlite3
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

from langchain_core.documents import Document
from typing_extensions import Self

from langchain_custom_agents._version import __version__
from langchain_custom_agents.docstores import _loop
from langchain_custom_agents.docstores._formulas import joined_formulas
from langchain_custom_agents.docstores._html import plain_text
from langchain_custom_agents.docstores._mediawiki import MediaWiki, TroubleError, late, strange
from langchain_custom_agents.docstores.base import Trouble
from langchain_custom_agents.docstores.text import fold

__all__ = ("WikipediaDocstore",)

_WIKIMEDIA = re.compile(
    r"(?:^|\.)(?:wik(?:ipedia|imedia|idata|tionary|ibooks|iquote|isource|iversity|inews|ivoyage)"
    r"|mediawiki)\.org$"
)
_CONTACT = re.compile(r"[^\s@()]+@[^\s@()]+\.[^\s@()]+|https?://\S+\.\S+", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z]{2,}(?:-[a-z]+)*")
_MARKUP = re.compile(r"[\[\]{}|<>\x00-\x1f\x7f]")
_NOT_IN_TITLES = re.compile(rf"{_MARKUP.pattern}|#")
_SECTION = re.compile(r"([^#]*)#(\S.*)")
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")

_MAX_TITLE_BYTES = 255
_OFFERS = 5
_OPTIONS = 30
_CACHE_AGE = 24 * 60 * 60.0

_PAGE: dict[str, str | int] = {
    "action": "query",
    "redirects": 1,
    "converttitles": 1,
    "prop": "extracts|pageprops|info|links",
    "explaintext": 1,
    "exlimit": 1,
    "exsectionformat": "wiki",
    "ppprop": "disambiguation",
    "inprop": "url",
    "plnamespace": 0,
    "pllimit": "max",
    "meta": "siteinfo",
    "siprop": "rightsinfo",
}
_SEARCH: dict[str, str | int] = {
    "action": "query",
    "list": "search|prefixsearch|allpages",
    "srwhat": "text",  # without it MediaWiki's own engines look into titles only
    "srinfo": "suggestion",
    "srprop": "",
    "srlimit": _OFFERS,
    "pslimit": _OFFERS,
    "aplimit": 500,
}


class WikipediaDocstore:
    """Pages of Wikipedia, or of any MediaWiki, found by title.

    A page costs one HTTP request: its text, address, redirect, revision and licence come together.
    The exact title wins, then redirects; a title that does not exist opens nothing: the engine's
    "did you mean" and the nearest titles are offered, with a second request. A page that lists
    what a word may mean (a disambiguation page) answers with its options. Whatever goes wrong on
    the way (refusals, limits, timeouts, broken answers) is a sentence for the model, never an
    exception, within `timeout` seconds.

    The document's metadata: `title`, `source` (the address), `page_id`, `revision`, `language`,
    `site`, `license`, `license_url`, and where they apply `redirected_from` and `section`.

    One instance serves any number of threads and event loops: they share its connections and its
    cache, and equal requests at the same time are made once. Network work is done on one
    background thread.

    Args:
        language: The Wikipedia to read, such as "en" or "ja".
        user_agent: Who is asking. Wikimedia's sites require a contact: an e-mail address or a web
            page, alone or in the form "MyBot/1.0 (me@example.org)".
        api_url: The api.php of another MediaWiki, such as "https://wiki.example.org/w/api.php".
        timeout: How many seconds a search may take in all: waiting for a connection, reading,
            pausing, asking again.
        retries: How often a request is made again when the wiki is busy or the line breaks.
        cache: True keeps answers in memory, a path keeps them in a file that outlives the process
            and may be shared by processes, False keeps none.
        cache_age: How many seconds an answer is kept; a day unless said otherwise.
        max_concurrency: How many connections to the wiki may be open at the same time.
        headers: More headers for the wiki, such as `Authorization`. They go to the wiki itself
            only, not to where it redirects, and appear in no cache, record, trace or message.

    Raises:
        TypeError: If `headers` or `cache` are of another kind.
        ValueError: If an argument is out of range, or a Wikimedia site would be asked anonymously.

    Source:
        https://www.mediawiki.org/wiki/API:Etiquette,
        https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy

    Example:
        >>> wiki = WikipediaDocstore("ja", user_agent="me@example.org")
        >>> wiki
        WikipediaDocstore('https://ja.wikipedia.org/w/api.php')
        >>> WikipediaDocstore()
        Traceback (most recent call last):
        ...
        ValueError: en.wikipedia.org requires to know whom to contact: give `user_agent`, for \
example "MyBot/1.0 (me@example.org)".
    """

    def __init__(
        self,
        language: str = "en",
        *,
        user_agent: str | None = None,
        api_url: str | None = None,
        timeout: float = 20.0,
        retries: int = 2,
        cache: bool | str | os.PathLike[str] = True,
        cache_age: float = _CACHE_AGE,
        max_concurrency: int = 8,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._api_url = _address(language, api_url)
        self._host = urlsplit(self._api_url).hostname or ""
        _in_range("timeout", timeout, above=0)
        _in_range("cache_age", cache_age, above=0)
        _whole("retries", retries, least=0)
        _whole("max_concurrency", max_concurrency, least=1)
        self._headers = {
            **_sendable(headers or {}),
            "User-Agent": _user_agent(user_agent, self._host),
        }
        self._options: dict[str, Any] = {
            "timeout": timeout,
            "retries": retries,
            "cache": _cache(cache),
            "cache_age": cache_age,
            "max_concurrency": max_concurrency,
        }
        self._wiki: tuple[int, MediaWiki] | None = None

    def __repr__(self) -> str:
        return f"WikipediaDocstore({self._api_url!r})"

    def search(self, search: str, /) -> str | Document:
        """Find the page with this title.

        Args:
            search: A title, or "Title#Section" for a page and a section of it.

        Returns:
            The page, or a sentence for the model: options, nearest titles, or what went wrong.
        """
        return _loop.run(self._find_in_time(search))

    async def asearch(self, search: str, /) -> str | Document:
        """Find the page with this title; the caller's event loop does not wait.

        Args:
            search: A title, or "Title#Section" for a page and a section of it.

        Returns:
            The page, or a sentence for the model: options, nearest titles, or what went wrong.
        """
        return await asyncio.wrap_future(_loop.start(self._find_in_time(search)))

    def close(self) -> None:
        """Close the connections and the cache; a later search opens them again."""
        if self._wiki is not None and self._wiki[0] == os.getpid():
            wiki, self._wiki = self._wiki[1], None
            _loop.run(wiki.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- on the background loop ----------------------------------------------------------------

    async def _ask(self, question: Mapping[str, str | int]) -> dict[str, Any]:
        if self._wiki is None or self._wiki[0] != os.getpid():  # a forked process asks for itself
            self._wiki = (os.getpid(), MediaWiki(self._api_url, self._headers, **self._options))
        return await self._wiki[1].ask(question)

    async def _find_in_time(self, search: str) -> str | Document:
        timeout: float = self._options["timeout"]
        try:
            return await asyncio.wait_for(self._find(search), timeout)
        except asyncio.TimeoutError:
            return Trouble(late(self._host, timeout))

    async def _find(self, search: str) -> str | Document:
        readable = search.encode("utf-8", "replace").decode()  # without halves of characters
        if _ENCODED.search(readable):  # as in an address; no title has such a sign
            readable = unquote(readable)
        term = unicodedata.normalize("NFC", " ".join(readable.replace("_", " ").split()))
        # In "C#" and "C# (language)" the sign is part of the name: no title can hold it.
        named = _SECTION.fullmatch(term)
        title, section = (named[1].strip(), named[2]) if named else (term, "")
        if not title:
            return "Search needs the title of a page."
        if len(title.encode()) > _MAX_TITLE_BYTES:
            return (
                f'"{title[:60]}…" is too long for a title (at most {_MAX_TITLE_BYTES} bytes). '
                "Search for the name of a person, a place or a thing."
            )
        try:
            if _NOT_IN_TITLES.search(title):
                return await self._nearest(title, term)
            page, query, redirects = await self._page(_variants(title))
            if page is None:
                no_title = all("invalid" in found for found in query.get("pages", []))
                return await self._nearest(title, term, by_title=not no_title)
            if "disambiguation" in page.get("pageprops", {}):
                return _options(page)
            if "extract" not in page:
                page["extract"] = await self._rendered(page["title"])
            if redirects:
                page["redirected_from"] = title
                section = section or redirects[-1].get("tofragment", "")
            return _document(section, page, query)
        except TroubleError as trouble:
            return Trouble(trouble)
        except (AttributeError, KeyError, TypeError):
            return Trouble(strange(self._host))

    async def _page(
        self, titles: list[str]
    ) -> tuple[dict[str, Any] | None, dict[str, Any], list[dict[str, Any]]]:
        """Ask for a page under the spellings of its title; the first that exists is meant.

        Returns:
            The page, all that the wiki said, and the redirects that led to the page.
        """
        answer = await self._ask({**_PAGE, "titles": "|".join(titles)})
        query = answer["query"]  # always there, as the licence is asked for too
        pages = {page["title"]: page for page in query.get("pages", [])}
        for spelling in titles:
            found, redirects = _followed(spelling, query)
            page = pages.get(found)
            if page is None or "pageid" not in page:
                continue
            # MediaWiki gives the text of one page at a time: of several spellings, maybe another's.
            another_has_it = any("extract" in other for other in pages.values())
            if "extract" not in page and another_has_it:
                return await self._page([spelling])
            return page, query, redirects
        return None, query, []

    async def _rendered(self, title: str) -> str:
        """Get the text from a wiki that does not have the TextExtracts extension."""
        question: dict[str, str | int] = {"action": "parse", "page": title, "prop": "text"}
        question |= {"disabletoc": 1, "disableeditsection": 1, "disablelimitreport": 1}
        answer = await self._ask(question)
        return plain_text(answer.get("parse", {}).get("text", ""))

    async def _nearest(self, title: str, term: str, *, by_title: bool = True) -> str:
        """Offer what the engine means, and the titles nearest to the words.

        Args:
            title: What was looked for.
            term: The same as it was asked, with a section.
            by_title: Whether the wiki can look for titles that begin so.
        """
        words = " ".join(_NOT_IN_TITLES.sub(" ", title).split())
        missing = f'Could not find "{term}".'
        if not words:
            return f"{missing} Search for the name of a person, a place or a thing."
        # The first letters, for engines that find no misspelt titles; a namespace may be invalid.
        first = words.rpartition(":")[2].strip()[: 3 if words.isascii() else 2]
        text = " ".join(_MARKUP.sub(" ", title).split())
        question = {**_SEARCH, "srsearch": text, "pssearch": words, "apprefix": first}
        if not by_title:
            question = {k: v for k, v in question.items() if k[:2] not in ("ps", "ap")}
            question["list"] = "search"
        query = (await self._ask(question)).get("query", {})
        suggestion = query.get("searchinfo", {}).get("suggestion")
        # A page that was asked for is not there, whatever the index says; [[Chicago]] was not.
        asked = words if not _NOT_IN_TITLES.search(title) else ""
        found = {
            name: [hit["title"] for hit in query.get(name, []) if hit["title"] != asked]
            for name in ("search", "prefixsearch", "allpages")
        }
        alike = {
            title: difflib.SequenceMatcher(None, _bare(words), _bare(title)).ratio()
            for titles in found.values()
            for title in titles
        }
        near = sorted((t for t in alike if alike[t] >= 0.7), key=lambda t: -alike[t])
        # Neighbours in the alphabet are of use only as other spellings.
        offers = [*near[:_OFFERS], *found["search"], *found["prefixsearch"]]
        titles = list(dict.fromkeys(offers))[:_OFFERS]
        if suggestion:
            missing += f' Did you mean "{suggestion}"?'
        if titles:
            return f"{missing} Similar pages: {'; '.join(titles)}."
        return missing if suggestion else f"{missing} No similar title was found; try another name."


# -- titles ---------------------------------------------------------------------------------------


def _variants(title: str) -> list[str]:
    """Spell a title as given, in the compatible Unicode form, and with capitals."""
    compatible = unicodedata.normalize("NFKC", title)
    capital = " ".join(word[:1].upper() + word[1:] for word in compatible.split())
    if compatible.isupper():
        capital = " ".join(word.capitalize() for word in compatible.split())
    return [
        spelling
        for spelling in dict.fromkeys((title, compatible, capital))
        if spelling and not _NOT_IN_TITLES.search(spelling)
    ]


def _followed(title: str, query: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """Follow what the wiki says about a title: its normal form and script, then its redirects.

    Returns:
        The title in the end, and the redirects; those of another spelling are not among them.
    """
    for step in ("normalized", "converted"):
        steps = {move["from"]: move["to"] for move in query.get(step, [])}
        title = steps.get(title, title)
    redirects = []
    moves = {move["from"]: move for move in query.get("redirects", [])}
    while move := moves.pop(title, None):  # once each, as they may go in a circle
        redirects.append(move)
        title = move["to"]
    return title, redirects


def _bare(text: str) -> str:
    """Take case, accents and punctuation from a title, to compare it."""
    letters = unicodedata.normalize("NFKD", fold(text))
    return "".join(c for c in letters if c.isalnum() or c == " ")


# -- what the model or the user gets --------------------------------------------------------------


def _document(section: str, page: dict[str, Any], query: dict[str, Any]) -> Document:
    metadata: dict[str, Any] = {
        "title": page["title"],
        "source": page.get("fullurl", ""),
        "page_id": page["pageid"],
        "revision": page.get("lastrevid"),
        "language": page.get("pagelanguage"),
        "site": urlsplit(page.get("fullurl", "")).hostname,
        "license": query.get("rightsinfo", {}).get("text"),
        "license_url": query.get("rightsinfo", {}).get("url"),
        "redirected_from": page.get("redirected_from"),
        "section": section.replace("_", " "),
    }
    # Extracts end a paragraph with one line break, other texts with an empty line.
    text = re.sub(r"\s*\n\s*", "\n\n", joined_formulas(page["extract"])).strip()
    return Document(
        text, metadata={name: value for name, value in metadata.items() if value not in (None, "")}
    )


def _options(page: dict[str, Any]) -> str:
    """List what a word may mean, in the order of the page."""
    text = page.get("extract", "")
    titles = [link["title"] for link in page.get("links", []) if link["title"] != page["title"]]
    at = {title: position for title in titles if (position := text.find(title)) >= 0}
    # Those that the page shows under another name come last.
    rest = (len(text), 0)
    ordered = sorted(titles, key=lambda title: (at[title], -len(title)) if title in at else rest)
    more = f" and {len(ordered) - _OPTIONS} more" if len(ordered) > _OPTIONS else ""
    if not ordered:
        return f'"{page["title"]}" has several meanings:\n{text}\nSearch for one of them.'
    return (
        f'"{page["title"]}" may refer to: {"; ".join(ordered[:_OPTIONS])}{more}. '
        "Search for one of these titles."
    )


# -- arguments ------------------------------------------------------------------------------------


def _address(language: str, api_url: str | None) -> str:
    if api_url is None:
        if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
            msg = f'`language` is {language!r}; give the code of a Wikipedia, such as "en" or "ja".'
            raise ValueError(msg)
        return f"https://{language}.wikipedia.org/w/api.php"
    parts = urlsplit(api_url if isinstance(api_url, str) else "")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        msg = (
            "`api_url` must be the http(s) address of a wiki's api.php, such as "
            '"https://wiki.example.org/w/api.php"; credentials go into `headers`.'
        )
        raise ValueError(msg)
    return api_url


def _user_agent(given: str | None, host: str) -> str:
    given = (given or "").strip()
    contact = _CONTACT.search(given)
    if _WIKIMEDIA.search(host) and not contact:
        but = f"; {given!r} names no e-mail address or web page" if given else ""
        msg = (
            f"{host} requires to know whom to contact: give `user_agent`, for example "
            f'"MyBot/1.0 (me@example.org)"{but}.'
        )
        raise ValueError(msg)
    _sendable({"user_agent": given})
    ours = f"langchain-custom-agents/{__version__}"
    if not given:
        return ours
    return f"{ours} ({given})" if contact and contact[0] == given else f"{given} {ours}"


def _sendable(headers: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(headers, Mapping):
        msg = f"`headers` is {type(headers).__name__}; give a mapping of names to values."
        raise TypeError(msg)
    for name, value in headers.items():
        if (
            not isinstance(value, str)
            or not f"{name}{value}".isascii()
            or re.search(r"[\r\n\0]", name + value)
        ):
            msg = f"The header {name!r} must be one line of ASCII text; its value was refused."
            raise ValueError(msg)
    return dict(headers)


def _cache(cache: bool | str | os.PathLike[str]) -> str | Path | None:
    if isinstance(cache, bool):
        return "" if cache else None
    if not isinstance(cache, str | os.PathLike):
        msg = f"`cache` is {cache!r}; give True (in memory), the path of a file, or False."
        raise TypeError(msg)
    path = Path(cache).expanduser().absolute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA schema_version")
        database.close()
    except (OSError, sqlite3.Error) as error:
        msg = f"`cache` cannot be kept in {path} ({error}); give a file that can be written."
        raise ValueError(msg) from error
    return path


def _in_range(name: str, value: object, *, above: float) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not above < value < math.inf
    ):
        msg = f"`{name}` is {value!r}; give a number of seconds above {above:g}."
        raise ValueError(msg)


def _whole(name: str, value: object, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        msg = f"`{name}` is {value!r}; give a whole number, at least {least}."
        raise ValueError(msg)
