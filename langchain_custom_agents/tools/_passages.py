"""Pages as the tools see them: sections, paragraphs and sentences, in any script."""

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from langchain_core.documents import Document

from langchain_custom_agents._headings import markdown_heading, wiki_heading

__all__ = ("Page", "Passage", "clip", "estimate_tokens", "sentences")


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence, or a whole paragraph, and the section it stands in."""

    text: str
    paragraph: str
    section: str


class Page:
    """A document that knows its title, its paragraphs by section, and its sentences."""

    def __init__(self, document: Document, term: str) -> None:
        metadata: dict[str, Any] = dict(document.metadata)
        # LangChain's Wikipedia gives the page's address under "page", and no title.
        if (address := metadata.get("page")) and (match := _ADDRESS.match(str(address))):
            metadata.setdefault("title", unquote(match[1]).replace("_", " "))
            metadata.setdefault("source", address)
        metadata["title"] = metadata.get("title") or term
        self.title = str(metadata["title"])
        self.text = document.page_content
        self.metadata = metadata

    @cached_property
    def paragraphs(self) -> list[tuple[str, str]]:
        """Every paragraph with the name of its section ("" before the first heading)."""
        return list(_paragraphs(self.text))

    @cached_property
    def sections(self) -> list[str]:
        """The names of the sections, in order."""
        return list(
            dict.fromkeys(name for line in _lines(self.text) if (name := _heading(*line)) != "")
        )

    @cached_property
    def passages(self) -> list[tuple[str, Passage]]:
        """Every sentence, with the folded form that a word is looked up in."""
        return [
            (fold(sentence), Passage(sentence, paragraph, section))
            for section, paragraph in self.paragraphs
            for sentence in sentences(paragraph)
        ]


_ADDRESS = re.compile(r"https?://[^?#]+?/(?:wiki|index\.php)/(.+)\Z")


def fold(text: str) -> str:
    """Make words comparable: one Unicode form, no case, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


# -- sections and paragraphs ----------------------------------------------------------------------

_UNDERLINE = re.compile(r"([=\-~^\"'`*+#])\1{2,}\s*\Z")
_ITEM = re.compile(r"\s*(?:[-*+•·|]|\d{1,3}[.)])\s")

# A longer line was not wrapped by hand: it is a paragraph of its own.
_WRAPPED = 120


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Pair every line with the next one, which may underline it."""
    lines = text.splitlines()
    return itertools.zip_longest(lines, lines[1:], fillvalue="")


def _heading(line: str, following: str) -> str:
    """Read the heading in a line: wiki, Markdown or underlined; "" where there is none."""
    line = line.strip()
    if (heading := wiki_heading(line)) and heading[0] > 1:  # one sign is arithmetic
        return heading[1]
    if heading := markdown_heading(line):
        return heading[1]
    underlined = (
        _UNDERLINE.match(following)
        and line
        and len(following.strip()) >= len(line)
        and not _UNDERLINE.match(line)
    )
    return line if underlined else ""


def _paragraphs(text: str) -> Iterator[tuple[str, str]]:
    section, open_lines = "", list[str]()

    def close() -> Iterator[tuple[str, str]]:
        if open_lines:
            yield section, _join(open_lines)
            open_lines.clear()

    for line, following in _lines(text):
        if name := _heading(line, following):
            yield from close()
            section = name
        elif not line.strip() or _UNDERLINE.match(line.strip()):
            yield from close()
        else:
            if open_lines and (len(open_lines[-1]) > _WRAPPED or _ITEM.match(line)):
                yield from close()
            open_lines.append(line)
    yield from close()


def _join(lines: list[str]) -> str:
    """Undo the wrapping by hand; scripts without spaces are joined without one."""
    joined = lines[0].strip()
    for line in map(str.strip, lines[1:]):
        wide = unicodedata.east_asian_width(joined[-1]) in "WF"
        joined += line if wide else f" {line}"
    return joined


# -- sentences ------------------------------------------------------------------------------------

_CLOSERS = "\"'”’»›)\\]}」』）】〉》"
_BOUNDARY = re.compile(
    rf"""
    [。！？｡]+[{_CLOSERS}]*\s*                # scripts that need no space after a sentence
  | [।॥۔؟።၊။།៕][{_CLOSERS}]*\s*              # Hindi, Urdu, Arabic, Amharic, Burmese, Tibetan, Khmer
  | (?<![.!?…])[.!?…]+[{_CLOSERS}]*(?:\[\d+\])*\s+(?=\S)   # tried once in a row of dots
    """,
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[^\W\d_]|Mr|Mrs|Ms|Dr|Prof|Rev|Gen|Col|Sgt|Capt|Lt|St|Sr|Jr|Hon|vs|etc|cf|ca|al|approx"
    r"|Inc|Ltd|Co|Corp|No|Nos|Vol|Fig|pp|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
    r"|[^\W\d_](?:\.[^\W\d_])+))\.\Z"
)


def sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences.

    A full stop ends a sentence only before a space and not after an abbreviation or an initial,
    nor before a small letter; 。 and its like end one wherever they stand.
    """
    found, start = [], 0
    for match in _BOUNDARY.finditer(paragraph):
        if match[0][0] in ".!?…":
            head = paragraph[max(start, match.start() - 11) : match.start() + 1]
            if paragraph[match.end()].islower() or (
                match[0].rstrip() == "." and _ABBREVIATION.search(head)
            ):
                continue
        elif paragraph[match.end() : match.end() + 1] in tuple("とっ"):
            continue  # 「…。」と: the quotation goes on into its sentence
        found.append(paragraph[start : match.end()].strip())
        start = match.end()
    found.append(paragraph[start:].strip())
    return [sentence for sentence in found if sentence]


# -- budgets --------------------------------------------------------------------------------------


def estimate_tokens(text: str) -> int:
    """Estimate a model's tokens without its tokenizer: four Latin letters, or one other letter."""
    ascii_letters = len(text.encode("ascii", "ignore"))
    return -(-ascii_letters // 4) + len(text) - ascii_letters


def clip(text: str, budget: int, around: str = "") -> str:
    """Shorten a text to a budget of tokens, keeping the place where a word stands in sight.

    Args:
        text: What to shorten.
        budget: How many tokens may remain.
        around: The word to keep in sight; without it the beginning is kept.
    """
    if estimate_tokens(text) <= budget:
        return text
    letters = max(1, len(text) * budget // estimate_tokens(text))
    at = max(0, text.casefold().find(around.casefold())) if around else 0
    start = max(0, min(at - (letters - len(around)) // 2, len(text) - letters))
    end = start + letters
    if start and (space := text.find(" ", start, start + 20)) > 0:
        start = space + 1
    if end < len(text) and (space := text.rfind(" ", end - 20, end)) > start:
        end = space
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")
