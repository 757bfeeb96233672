"""Pages of the web in a vector store: each read once, kept, and found again."""

import hashlib
import threading
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from typing import Any

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from langchain_custom_agents.tools._article import Article, article_of
from langchain_custom_agents.tools._fetch import Fetcher, RefusedError
from langchain_custom_agents.tools._sections import cut
from langchain_custom_agents.vectorstores.faiss import FAISSStore

__all__ = ("Library",)

_PASSAGE = 200  # about how many tokens a stored passage has
_MAX_MOVED = 1_000
_AT_ONCE = 8


class Library:
    """Reads pages into a store, each once; safe to use from several threads.

    Args:
        store: Where passages are kept.
        fetcher: What fetches pages.
        max_age: After how many seconds a page is fetched again; None for never.
        clock: What tells the time, in seconds since 1970.
    """

    def __init__(
        self,
        store: VectorStore,
        fetcher: Fetcher,
        max_age: float | None,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._fetcher = fetcher
        self._max_age = max_age
        self._clock = clock
        # Two runs that read one page store it once; other pages seldom share its lock.
        self._reading = tuple(threading.Lock() for _ in range(64))
        self._moved: dict[str, str] = {}  # where addresses redirected to

    def read(self, url: str) -> tuple[list[Document], str]:
        """Return the passages of a page, and a remark on where they come from.

        Raises:
            RefusedError: If it cannot be read and is not stored.
        """
        with self._reading[hash(url) % len(self._reading)]:
            return self._read(url)

    def read_all(self, urls: Sequence[str]) -> tuple[int, list[str]]:
        """Read pages at the same time; those of one site one after the other.

        Returns:
            How many were read, and why the others were not.
        """

        def trouble_with(url: str) -> str | None:
            try:
                self.read(url)
            except RefusedError as error:
                return str(error)
            return None

        if not urls:
            return 0, []
        with ThreadPoolExecutor(min(_AT_ONCE, len(urls))) as pool:
            refused = [trouble for trouble in pool.map(trouble_with, urls) if trouble]
        return len(urls) - len(refused), refused

    def recall(self, query: str, k: int) -> list[Document]:
        """Return the passages nearest to a question."""
        return self._store.similarity_search(query, **self._how(k))

    async def arecall(self, query: str, k: int) -> list[Document]:
        """Return the passages nearest to a question without blocking."""
        return await self._store.asimilarity_search(query, **self._how(k))

    def _how(self, k: int) -> dict[str, Any]:
        # Pages name things exactly, so keywords help; only our store knows of them.
        ours = isinstance(self._store, FAISSStore)
        return {"k": k, **({"search_type": "hybrid"} if ours else {})}

    def _read(self, url: str) -> tuple[list[Document], str]:
        held = self._held(self._moved.get(url, url))
        if held and not self._is_old(held[0]):
            return held, "It was stored before."
        try:
            page = self._fetcher.fetch(url)
            article = article_of(page)
        except RefusedError as error:
            if held:
                return held, f"It could not be read again, this was stored before: {error}"
            raise
        if page.url != url:
            if len(self._moved) >= _MAX_MOVED:
                self._moved.clear()
            self._moved[url] = page.url
            held = self._held(page.url)
        digest = hashlib.sha256(article.text.encode()).hexdigest()
        if (twin := self._twin(digest, page.url, article)) is not None:
            if held:  # what this page said before
                self._store.delete(_ids(page.url, len(held)))
            return twin, f"The same text is stored from {twin[0].metadata['source']}."
        fresh = self._passages(article, page.url, digest)
        same = held and held[0].metadata.get("content_hash") == digest
        # Of a text that has not changed only the first passage, which knows when, is written again.
        changed = fresh[:1] if same else fresh
        self._store.add_documents(changed, ids=_ids(page.url, len(changed)))
        if len(held) > len(fresh):
            self._store.delete(_ids(page.url, len(held))[len(fresh) :])
        return fresh, "It is stored; Recall finds its passages."

    def _passages(self, article: Article, url: str, digest: str) -> list[Document]:
        sections = cut(article.text, _PASSAGE)
        common = {
            "source": url,
            "title": article.title,
            "date": article.date,
            "fetched_at": datetime.fromtimestamp(self._clock(), timezone.utc).isoformat(),
            "content_hash": digest,
            "passages": len(sections),
        }
        return [
            Document(section.text, metadata={**common, "section": " > ".join(section.path)})
            for section in sections
        ]

    def _held(self, url: str) -> list[Document]:
        """Return the passages of a page in the store, in order."""
        try:
            first = self._store.get_by_ids(_ids(url, 1))
            if not first:
                return []
            count = int(first[0].metadata.get("passages", 1))
            found = {doc.id: doc for doc in self._store.get_by_ids(_ids(url, count))}
            return [found[id_] for id_ in _ids(url, count) if id_ in found] or first
        except NotImplementedError:
            return []  # a store that cannot look: what is written again replaces what is there

    def _is_old(self, first: Document) -> bool:
        if self._max_age is None:
            return False
        fetched = datetime.fromisoformat(str(first.metadata["fetched_at"])).timestamp()
        return self._clock() - fetched >= self._max_age

    def _twin(self, digest: str, url: str, article: Article) -> list[Document] | None:
        """Return the passages of another page with the same text, where the store can say so."""
        if not isinstance(self._store, FAISSStore) or not len(self._store):
            return None
        found = self._store.similarity_search(
            article.text[:200], k=1, filter={"content_hash": digest}
        )
        if not found or found[0].metadata["source"] == url:
            return None
        return self._held(str(found[0].metadata["source"]))


def _ids(url: str, count: int) -> list[str]:
    # UUIDs, since there are stores that take no other ids.
    return [str(uuid.uuid5(uuid.NAMESPACE_URL, f"{url}\n{number}")) for number in range(count)]
