"""A reference that can be asked: read from anywhere, cut into sections, indexed once."""

import contextlib
import hashlib
import json
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import run_in_executor
from langchain_core.vectorstores import VectorStore

from langchain_custom_agents.offline.embeddings import HashingEmbeddings
from langchain_custom_agents.tools._passages import clip, estimate_tokens
from langchain_custom_agents.tools._sections import cut
from langchain_custom_agents.vectorstores.faiss import FAISSStore, _name_of

__all__ = ("CACHE", "Manual", "Reference")

Reference: TypeAlias = str | Path | Sequence[str | Path] | BaseRetriever | VectorStore

CACHE = "~/.cache/langchain-custom-agents/references"

_KINDS = (".md", ".markdown", ".txt", ".rst", ".html", ".htm")
_MAX_BYTES = 20_000_000
_CUT = 1  # the number of this way of cutting: another one makes another index
_KEYWORDS = 0.5  # measured: docs/reference-tools.md


@dataclass(frozen=True, slots=True)
class _Text:
    title: str
    source: str
    text: str


class Manual:
    """The sections of a reference, found by what was tried and what was refused.

    Args:
        reference: Text, a file or folder, several of them, an address, a retriever or a store.
        k: How many sections to find.
        embedding: What turns sections into vectors.
        cache: The folder that keeps indexes and fetched pages; None for memory.
        max_age: After how many seconds the reference is read again; None for never.
        clock: What tells the time.

    Raises:
        ValueError: If the reference is empty or is not there, or the cache cannot be written.
        TypeError: If an argument is of another kind.
    """

    def __init__(
        self,
        reference: Reference,
        *,
        k: int,
        embedding: Embeddings | None,
        cache: str | Path | None,
        max_age: float | None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        _check_kinds(embedding, cache, max_age)
        self.k = k
        self._retriever = _retriever(reference, k)
        self._read = _reader(reference) if self._retriever is None else tuple
        self._embedding = HashingEmbeddings() if embedding is None else embedding
        self._cache = None if cache is None or self._retriever else _folder(cache)
        self._max_age = max_age
        self._clock = clock
        self._lock = threading.Lock()
        self._store: FAISSStore | None = None
        self._digest = ""
        self._read_at = 0.0

    def find(self, query: str) -> list[Document]:
        """Return the sections that matter most for a query and its error.

        Args:
            query: What was tried and what came back.

        Returns:
            At most `k` sections, the best first.
        """
        if self._retriever is not None:
            return self._retriever.invoke(query)[: self.k]
        return _shown(self._indexed().similarity_search(_spelled(query), self.k))

    async def afind(self, query: str) -> list[Document]:
        """Return the sections without holding up the event loop; see `find`."""
        if self._retriever is not None:
            return (await self._retriever.ainvoke(query))[: self.k]
        store = await run_in_executor(None, self._indexed)
        return _shown(await store.asimilarity_search(_spelled(query), self.k))

    def beginning(self, max_tokens: int) -> str:
        """Return the reference if it is short, else its beginning and the names of its sections.

        Args:
            max_tokens: About how much may be returned.

        Raises:
            ValueError: If the reference is a retriever, which has no beginning.
        """
        if self._retriever is not None:
            msg = (
                "when='always' shows the reference itself, and a retriever has only passages; "
                "give text, files or an address, or choose when='on_error'."
            )
            raise ValueError(msg)
        texts = self._texts()
        whole = "\n\n".join(text.text.strip() for text in texts)
        if estimate_tokens(whole) <= max_tokens:
            return whole
        names = [" > ".join(section.path) for text in texts for section in cut(text.text)]
        listed = clip("; ".join(dict.fromkeys(filter(None, names))), max_tokens // 3)
        return f"{clip(whole, max_tokens - max_tokens // 3)}\nIts sections: {listed}"

    def _indexed(self) -> FAISSStore:
        """Return the index, made anew only when the reference has changed."""
        with self._lock:
            now = self._clock()
            if self._store is not None and not _is_old(self._read_at, self._max_age, now):
                return self._store
            texts = self._texts()
            # The names belong to it: a section says where it comes from.
            told = json.dumps([[text.title, text.source, text.text] for text in texts])
            digest = hashlib.sha256(f"{_CUT}\0{told}".encode()).hexdigest()
            if self._store is None or digest != self._digest:
                self._store = self._index(digest, _documents(texts))
            self._digest, self._read_at = digest, now
            return self._store

    def _index(self, digest: str, documents: list[Document]) -> FAISSStore:
        if not documents:
            msg = "The reference holds no text; give one that does."
            raise ValueError(msg)
        folder = self._cache and self._cache / f"{digest[:24]}-{_model(self._embedding)}"
        try:
            store = self._store_in(folder)
        except ValueError as error:
            # What is damaged there was made from the reference, and can be made again.
            warnings.warn(f"The reference is indexed in memory: {error}", stacklevel=2)
            store = self._store_in(None)
        # One commit adds them all, so a store that is not empty is complete.
        if not len(store):
            store.add_documents(documents, ids=[str(n) for n in range(len(documents))])
        return store

    def _store_in(self, folder: Path | None) -> FAISSStore:
        return FAISSStore(self._embedding, folder, search_type="hybrid", keyword_weight=_KEYWORDS)

    def _texts(self) -> list[_Text]:
        return [
            text
            for read in self._read()
            for text in ([read] if isinstance(read, _Text) else [self._page(read)])
        ]

    def _page(self, url: str) -> _Text:
        """Return a page: from the cache while it is young, or when it cannot be fetched."""
        kept = self._cache and self._cache / f"{hashlib.sha256(url.encode()).hexdigest()[:24]}.json"
        known = kept and _kept_page(kept)
        if known and not _is_old(known[1], self._max_age, self._clock()):
            return _Text(url, url, known[0])
        try:
            text = _fetched(url)
        except (httpx2.HTTPError, ValueError) as error:
            if known:  # an old reference is better than none
                return _Text(url, url, known[0])
            msg = f"The reference {url} could not be read: {error}"
            raise ValueError(msg) from error
        if kept:
            fresh = kept.with_suffix(f".{threading.get_ident()}.new")
            page = {"url": url, "fetched_at": self._clock(), "text": text}
            fresh.write_text(json.dumps(page), encoding="utf-8")
            fresh.replace(kept)
        return _Text(url, url, text)


def _kept_page(file: Path) -> tuple[str, float] | None:
    """Return the text of a page and when it was fetched; None if it is not kept, or damaged."""
    try:
        page = json.loads(file.read_text(encoding="utf-8"))
        return str(page["text"]), float(page["fetched_at"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _documents(texts: list[_Text]) -> list[Document]:
    found = []
    for text in texts:
        for section in cut(text.text):
            way = " > ".join(section.path)
            shown = "\n".join(filter(None, (way, section.text)))
            metadata = {"title": text.title, "source": text.source, "section": way, "text": shown}
            found.append(Document(_spelled(way, section.text), metadata=metadata))
    return found


_SIGNS = re.compile(r"[=!<>~&|*@#%^+/$\[\]{}?\\-]+")


def _spelled(*texts: str) -> str:
    r"""Add the last text's signs as words: a search looks for words, a language is full of signs.

    Example:
        >>> _spelled("Equality", "a == b")
        'Equality\na == b\nsign3d3d'
    """
    signs = dict.fromkeys(_SIGNS.findall(texts[-1]))
    spelled = " ".join(f"sign{sign.encode().hex()}" for sign in signs)
    return "\n".join(filter(None, (*texts, spelled)))


def _without_text(section: Document) -> dict[str, Any]:
    return {name: value for name, value in section.metadata.items() if name != "text"}


def _shown(found: list[Document]) -> list[Document]:
    """Return sections as they are written."""
    return [
        Document(section.metadata["text"], metadata=_without_text(section)) for section in found
    ]


def _is_old(made_at: float, max_age: float | None, now: float) -> bool:
    return max_age is not None and now - made_at >= max_age


def _model(embedding: Embeddings) -> str:
    """Name an embedding model in a way that fits into a file name."""
    return hashlib.sha256(str(_name_of(embedding)).encode()).hexdigest()[:12]


def _folder(cache: str | Path) -> Path:
    folder = Path(cache).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = (
            f"`cache` cannot be kept in {folder} ({error.strerror}); give a folder that can be "
            "written, or None to keep the index in memory."
        )
        raise ValueError(msg) from error
    return folder


def _check_kinds(embedding: Any, cache: Any, max_age: Any) -> None:
    if embedding is not None and not hasattr(embedding, "embed_query"):
        msg = f"`embedding` is {embedding!r}; give a LangChain Embeddings object, or None."
        raise TypeError(msg)
    if cache is not None and not isinstance(cache, str | Path):
        msg = f"`cache` is {cache!r}; give a folder, or None to keep the index in memory."
        raise TypeError(msg)
    if max_age is not None and (not isinstance(max_age, int | float) or max_age < 0):
        msg = f"`max_age` is {max_age!r}; give a number of seconds, or None for never."
        raise ValueError(msg)


# -- where a reference comes from -------------------------------------------------------------


def _retriever(reference: Reference, k: int) -> BaseRetriever | None:
    if isinstance(reference, VectorStore):
        return reference.as_retriever(search_kwargs={"k": k})
    return reference if isinstance(reference, BaseRetriever) else None


def _reader(reference: Any) -> Callable[[], Iterator[_Text | str]]:
    """Return what reads a reference: texts, and addresses that are still to be fetched."""
    if isinstance(reference, str) and not _is_address(reference):
        path = _path(reference)
        if path is None:
            if not reference.strip():
                msg = "`reference` is empty; give the text, a file, a folder, or an address."
                raise ValueError(msg)
            return lambda: iter([_Text("reference", "reference", reference)])
        reference = path
    parts = [reference] if isinstance(reference, (str, Path)) else reference
    if not isinstance(parts, Sequence) or not all(isinstance(part, (str, Path)) for part in parts):
        msg = (
            f"`reference` is {type(reference).__name__}; give text, a file, a folder, several of "
            "them, an address, a retriever or a vector store."
        )
        raise TypeError(msg)
    if not parts:
        msg = "`reference` is an empty list; give the text, a file, a folder, or an address."
        raise ValueError(msg)
    for part in parts:
        if isinstance(part, str) and _is_address(part):
            continue
        if not Path(part).exists():
            msg = f"`reference` names {part}, which does not exist; give a file or a folder."
            raise ValueError(msg)
        if not any(file.stat().st_size for file in _files(Path(part))):
            msg = f"`reference` names {part}, which is empty; give one that holds text."
            raise ValueError(msg)

    def read() -> Iterator[_Text | str]:
        for part in parts:
            if isinstance(part, str) and _is_address(part):
                yield part
            else:
                yield from map(_file, _files(Path(part)))

    return read


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://")) and not any(map(str.isspace, text))


def _path(text: str) -> Path | None:
    """Say whether a text is rather the name of a file; a name of nothing is a mistake."""
    if "\n" in text or len(text) > 1_000 or not text.strip():
        return None
    path = Path(text).expanduser()
    return path if path.exists() or not any(map(str.isspace, text)) else None


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = [
        file
        for file in sorted(path.rglob("*"))
        if file.suffix.lower() in _KINDS
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    ]
    if not found:
        msg = f"`reference` names {path}, which holds no {', '.join(_KINDS)} file."
        raise ValueError(msg)
    return found


def _file(path: Path) -> _Text:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"The reference {path} is not UTF-8 text; convert it to Markdown, text or HTML."
        raise ValueError(msg) from error
    if path.suffix.lower() in (".html", ".htm"):
        text = _plain(text)
    return _Text(path.stem, str(path), text)


def _fetched(url: str) -> str:
    with (
        httpx2.Client(follow_redirects=True, timeout=30) as client,
        client.stream("GET", url) as response,
    ):
        response.raise_for_status()
        body = bytearray()
        for part in response.iter_bytes():
            body += part
            if len(body) > _MAX_BYTES:
                msg = f"it is larger than {_MAX_BYTES:,} bytes."
                raise ValueError(msg)
        text = body.decode(_known(response.charset_encoding), errors="replace")
        is_html = "html" in response.headers.get("content-type", "")
    return _plain(text) if is_html else text


def _known(charset: str | None) -> str:
    """Return the encoding that a server declares, if Python reads text in it, else UTF-8."""
    with contextlib.suppress(LookupError, UnicodeError):
        if charset and isinstance(b"a".decode(charset, "replace"), str):
            return charset
    return "utf-8"


def _plain(html: str) -> str:
    from langchain_custom_agents.tools._html_reference import reference_text

    return reference_text(html)
