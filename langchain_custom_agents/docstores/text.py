"""A docstore over texts that are already in memory."""

import difflib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from langchain_core.documents import Document

__all__ = ("TextDocstore",)

_OFFERS = 5


class TextDocstore:
    """Pages held in memory and found by title.

    The exact title wins, then the title without regard to case, Unicode form, underscores and
    surplus space. A miss opens nothing: it names the nearest titles, and pages whose text
    mentions the words, so that the model can choose.

    Args:
        pages: Titles and texts, or documents whose metadata has a `title`.

    Raises:
        TypeError: If a text is not a string, or an item is not a document.
        ValueError: If there are no pages, a title is missing or used twice.

    Example:
        >>> store = TextDocstore({"Hiroko": "Hiroko's father is Takuma."})
        >>> store.search("hiroko").page_content
        "Hiroko's father is Takuma."
        >>> store.search("Hirokko")
        'Could not find "Hirokko". Similar pages: Hiroko.'
    """

    def __init__(self, pages: Mapping[str, str] | Iterable[Document]) -> None:
        self._pages: dict[str, Document] = {}
        self._folded: defaultdict[str, list[str]] = defaultdict(list)
        for document in _documents(pages):
            title = document.metadata["title"]
            if title in self._pages:
                msg = f"The title {title!r} is used twice; give every page in `pages` its own."
                raise ValueError(msg)
            self._pages[title] = document
            self._folded[fold(title)].append(title)
        if not self._pages:
            msg = "`pages` is empty; give at least one title and its text."
            raise ValueError(msg)

    @property
    def documents(self) -> list[Document]:
        """Every page, in the order given, for example to index them in a vector store."""
        return list(self._pages.values())

    def search(self, search: str, /) -> str | Document:
        """Find the page with this title.

        Args:
            search: A title.

        Returns:
            The page, or a sentence that offers the nearest titles.
        """
        term = " ".join(search.split())
        if page := self._pages.get(term):
            return page
        same = self._folded.get(fold(term), [])
        if len(same) == 1:
            return self._pages[same[0]]
        if same:
            return f'"{term}" may be: {"; ".join(same)}. Search for one of these titles exactly.'
        nearest = self._nearest(term)
        return f'Could not find "{term}". ' + (
            f"Similar pages: {'; '.join(nearest)}."
            if nearest
            else "No page has a similar title; try another word."
        )

    async def asearch(self, search: str, /) -> str | Document:
        """Find the page with this title; the work is in memory, so it needs no thread.

        Args:
            search: A title.

        Returns:
            The page, or a sentence that offers the nearest titles.
        """
        return self.search(search)

    def _nearest(self, term: str) -> list[str]:
        """Name titles that share the words, then alike ones, then pages that mention the term."""
        folded = fold(term)
        if not folded:
            return []
        found: dict[str, None] = {}
        words = set(_words(folded))
        by_words = [
            (len(shared), -len(key), titles)
            for key, titles in self._folded.items()
            if (shared := words & set(_words(key))) or key in folded or folded in key
        ]
        for *_, titles in sorted(by_words, key=lambda item: item[:2], reverse=True):
            found.update(dict.fromkeys(titles))
        for key in difflib.get_close_matches(folded, self._folded, n=_OFFERS, cutoff=0.6):
            found.update(dict.fromkeys(self._folded[key]))
        if len(found) < _OFFERS:
            mentions = (t for t, d in self._pages.items() if folded in fold(d.page_content))
            found.update(dict.fromkeys(mentions))
        return list(found)[:_OFFERS]


def _documents(pages: Mapping[str, str] | Iterable[Document]) -> Iterable[Document]:
    if isinstance(pages, Mapping):
        for title, text in pages.items():
            if not isinstance(text, str):
                msg = f"The text of the page {title!r} is {type(text).__name__}; give a string."
                raise TypeError(msg)
            yield Document(text, metadata={"title": _title(title, "`pages`")})
        return
    if not isinstance(pages, Iterable):
        msg = (
            f"`pages` is {type(pages).__name__}; "
            "give a mapping of titles to texts, or LangChain documents."
        )
        raise TypeError(msg)
    for number, document in enumerate(pages):
        if not isinstance(document, Document):
            msg = (
                f"Item {number} of `pages` is {type(document).__name__}; "
                "give a mapping of titles to texts, or LangChain documents."
            )
            raise TypeError(msg)
        title = _title(document.metadata.get("title"), f"document {number} of `pages`")
        yield Document(
            document.page_content, id=document.id, metadata={**document.metadata, "title": title}
        )


def _title(title: object, where: str) -> str:
    if not isinstance(title, str) or not title.strip():
        msg = f"A title in {where} is {title!r}; give every page a title that is not empty."
        raise ValueError(msg)
    return " ".join(title.split())


def fold(text: str) -> str:
    """Make titles comparable: one Unicode form, no case, no underscores, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("_", " ").split())


def _words(folded: str) -> list[str]:
    return [word for word in re.findall(r"\w+", folded) if len(word) > 2 or not word.isascii()]
