"""What a person would read on a page: the article, its title and its date."""

import contextlib
import copy
import io
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from langchain_custom_agents.tools._fetch import Fetched, RefusedError
from langchain_custom_agents.tools._html_reference import reference_text

__all__ = ("Article", "article_of")

_PAGES = 200
_HTML = ("text/html", "application/xhtml+xml", "")
# What nobody sees: an attribute or a style that hides. What a style sheet hides is not known here.
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d]*[1-9])"
    r"|font-size\s*:\s*0(?![.\d]*[1-9])|(?:left|top|text-indent)\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_NEEDS_WEB = "Reading {what} needs more packages: pip install 'langchain-custom-agents[web]'."


@dataclass(frozen=True, slots=True)
class Article:
    """A page as text: Markdown where it was HTML."""

    title: str
    date: str
    text: str


def article_of(page: Fetched) -> Article:
    """Return the article of a page.

    Args:
        page: What was fetched: HTML, PDF or text.

    Raises:
        RefusedError: If there is no text in it.
        ImportError: If the packages that read it are not installed.
    """
    if page.body[:5] == b"%PDF-":
        found = _pdf(page)
    elif page.kind in _HTML:
        found = _html(page)
    elif page.kind.startswith("text/") or page.kind in {"application/json", "application/xml"}:
        found = Article(page.url, "", _decoded(page))
    else:
        msg = f"{page.url} is no page to read but {page.kind}."
        raise RefusedError(msg)
    text = visible(found.text)
    if not text.strip():
        msg = f"{page.url} holds no text to read."
        raise RefusedError(msg)
    title = " ".join(visible(found.title).split())[:200]
    return Article(title or page.url, found.date, text)


def visible(text: str) -> str:
    r"""Take out what cannot be seen: marks of direction, of no width, and tags of Unicode.

    Example:
        >>> visible("a\u200bb\u202ec\U000e0041\tx")
        'abc\tx'
    """
    return "".join(
        letter
        for letter in text.replace("\r\n", "\n").replace("\r", "\n")
        if letter in "\n\t\u200c\u200d"  # the last two join letters, in Persian and in emoji
        or unicodedata.category(letter) not in {"Cc", "Cf", "Co", "Cs"}
    )


def _decoded(page: Fetched) -> str:
    """Decode a page: as it declares if that is true, as UTF-8, or as its bytes suggest."""
    for name in filter(None, (page.charset, "utf-8")):
        with contextlib.suppress(LookupError, UnicodeDecodeError):
            return page.body.decode(name)
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return page.body.decode("utf-8", "replace")
    guessed = from_bytes(page.body[:100_000]).best()
    return page.body.decode(guessed.encoding if guessed else "utf-8", "replace")


def _declared_in(page: Fetched) -> Fetched:
    """Read the encoding that HTML declares about itself, where HTTP declared none."""
    match = re.search(
        rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]+)", page.body[:4096], re.IGNORECASE
    )
    if page.charset or not match:
        return page
    return Fetched(page.url, page.kind, page.body, match[1].decode("ascii", "replace"))


def _html(page: Fetched) -> Article:
    try:
        from lxml import etree, html  # type: ignore[import-untyped, unused-ignore]
        from trafilatura import extract
        from trafilatura.metadata import extract_metadata
    except ImportError as error:
        raise ImportError(_NEEDS_WEB.format(what="web pages")) from error
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, huge_tree=False)
    try:
        tree = html.fromstring(_decoded(_declared_in(page)).encode(), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        msg = f"{page.url} holds no text to read."
        raise RefusedError(msg) from error
    for element in list(tree.iter()):
        if isinstance(element.tag, str) and _is_hidden(element) and element.getparent() is not None:
            element.drop_tree()
    told: Any = extract_metadata(copy.deepcopy(tree), default_url=page.url)
    whole = etree.tostring(tree, encoding="unicode", method="html")
    text = extract(tree, output_format="markdown", include_comments=False)
    # Where no article is found, a short page for one, all that it says is read.
    return Article(told.title or "", told.date or "", text or reference_text(whole))


def _is_hidden(element: Any) -> bool:
    return (
        element.tag in {"template", "noscript"}
        or "hidden" in element.attrib
        or element.get("aria-hidden") == "true"
        or bool(_HIDDEN.search(element.get("style", "")))
    )


def _pdf(page: Fetched) -> Article:
    try:
        from pypdf import PdfReader
    except ImportError as error:
        raise ImportError(_NEEDS_WEB.format(what="PDFs")) from error
    try:
        reader = PdfReader(io.BytesIO(page.body))
        told = reader.metadata
        text = "\n\n".join(part.extract_text() for part in reader.pages[:_PAGES])
        date = told.creation_date if told else None
        title = str(told.title or "") if told else ""
    except Exception as error:
        msg = f"{page.url} is a PDF that cannot be read ({type(error).__name__})."
        raise RefusedError(msg) from error
    return Article(title, date.date().isoformat() if date else "", text)
