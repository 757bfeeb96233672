"""What a person would read on a page: the article, its title and its date."""

import codecs
import contextlib
import copy
import io
import re
import time
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from langchain_custom_agents.tools._fetch import Fetched, RefusedError
from langchain_custom_agents.tools._html_reference import reference_text

__all__ = ("Article", "article_of", "require_readers")

_PAGES = 200
_LETTERS = 2_000_000  # of a PDF, and after so many seconds its reading ends
_SECONDS = 20
_HTML = ("text/html", "application/xhtml+xml", "")
# What nobody sees: an attribute or a style that hides. What a style sheet hides is not known here.
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d]*[1-9])"
    r"|font-size\s*:\s*0(?![.\d]*[1-9])|(?:left|top|text-indent)\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_LINE_END = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_DECLARED = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
# Names stand for what browsers read under them (https://encoding.spec.whatwg.org/#names-and-labels):
# pages that say Shift_JIS are full of letters that only its successor has.
_MEANT = {
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "sjis": "cp932",
    "windows-31j": "cp932",
    "euc-jp": "euc_jis_2004",
    "iso-2022-jp": "iso2022_jp_ext",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "iso-8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "tis-620": "cp874",
}
# What Python can read and no page is written in; some take endless time.
_NO_PAGES = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Article:
    """A page as text: Markdown where it was HTML."""

    title: str
    date: str
    text: str


def require_readers() -> None:
    """Import what reads pages, so that it is not first missed in the middle of a run.

    Raises:
        ImportError: If something of it is not installed; it says what to install.
    """
    try:
        for name in ("charset_normalizer", "lxml.html", "pypdf", "trafilatura"):
            import_module(name)
    except ImportError as error:
        msg = (
            "Reading web pages needs more packages: "
            f"pip install 'langchain-custom-agents[web]' ({error})."
        )
        raise ImportError(msg) from error


def article_of(page: Fetched) -> Article:
    """Return the article of a page.

    Args:
        page: What was fetched: HTML, PDF or text.

    Raises:
        RefusedError: If there is no text in it.
    """
    if b"%PDF-" in page.body[: 1024 if page.kind == "application/pdf" else 5]:
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
        for letter in _LINE_END.sub("\n", text)
        if letter in "\n\t\u200c\u200d"  # the last two join letters, in Persian and in emoji
        or unicodedata.category(letter) not in {"Cc", "Cf", "Co", "Cs"}
    )


def _decoded(page: Fetched) -> str:
    """Decode a page: as UTF-8, as its first bytes, HTTP or its HTML declare, or as it looks.

    What is declared is tried, not believed: the first that fits the whole page is it.
    """
    body = page.body
    marked = next((name for mark, name in _MARKS if body.startswith(mark)), None)
    if marked is None and not body.isascii():
        # What is valid as UTF-8 is hardly ever anything else, whatever a server says.
        with contextlib.suppress(UnicodeDecodeError):
            return body.decode("utf-8")
    own = _DECLARED.search(body, 0, 4096) if page.kind in _HTML else None
    japanese = "iso-2022-jp" if b"\x1b$" in body else None  # it shifts with this, and is all ASCII
    declared = (marked, page.charset, own and own[1].decode("ascii", "replace"), japanese, "utf-8")
    names = list(dict.fromkeys(_MEANT.get(name.lower(), name) for name in declared if name))
    for name in names:
        with contextlib.suppress(LookupError, UnicodeDecodeError):
            if codecs.lookup(name).name in _NO_PAGES:
                continue
            return body.decode(name).removeprefix("\ufeff")
    from charset_normalizer import from_bytes

    guessed = from_bytes(body[:100_000]).best()
    with contextlib.suppress(LookupError):
        # A page with a broken letter is still in the encoding that it looks to be in.
        return body.decode(guessed.encoding if guessed else names[0], "replace")
    return body.decode("utf-8", "replace")


def _html(page: Fetched) -> Article:
    from lxml import etree, html  # type: ignore[import-untyped, unused-ignore]
    from trafilatura import extract
    from trafilatura.metadata import extract_metadata

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, huge_tree=False)
    try:
        # A whole document, also of a piece of one: readers take elements out of their parents.
        tree = html.document_fromstring(_decoded(page).encode(), parser=parser)
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
    from pypdf import PdfReader

    try:
        reader = PdfReader(io.BytesIO(page.body))
        told = reader.metadata
        text = "\n\n".join(_texts(reader.pages[:_PAGES]))
        date = told.creation_date if told else None
        title = str(told.title or "") if told else ""
    except Exception as error:
        msg = f"{page.url} is a PDF that cannot be read ({type(error).__name__})."
        raise RefusedError(msg) from error
    return Article(title, date.date().isoformat() if date else "", text)


def _texts(pages: Iterable[Any]) -> Iterator[str]:
    """Yield what stands on the pages of a PDF, until that is a lot or takes too long."""
    began, letters = time.monotonic(), 0
    for page in pages:
        yield (text := page.extract_text())
        letters += len(text)
        if letters > _LETTERS or time.monotonic() - began > _SECONDS:
            return
