"""Where answers come from: the options that say so, and the tools made of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from langchain_custom_agents.cli.errors import Failure

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from langchain_core.documents import Document
    from langchain_core.tools import BaseTool
    from langchain_core.vectorstores import VectorStore
    from rich.progress import Progress

    from langchain_custom_agents.docstores.base import Docstore

_BATCH = 200


class SourceCommand(click.Command):
    """A command whose `--docs` takes several paths, as a shell's `*` gives them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat `--docs` before each path that follows the first one."""
        return super().parse_args(ctx, repeat_docs(args))


def repeat_docs(args: list[str]) -> list[str]:
    """Write `--docs a b` as `--docs a --docs b`, for as long as there are such paths.

    Example:
        >>> repeat_docs(["--docs", ".", "..", "no such path?"])
        ['--docs', '.', '--docs', '..', 'no such path?']
    """
    spread: list[str] = []
    taking = False
    for number, arg in enumerate(args):
        if arg == "--":
            return [*spread, *args[number:]]
        after_option = bool(spread) and spread[-1] == "--docs" and not taking
        if after_option:
            taking = True
        elif taking and not arg.startswith("-") and _exists(arg):
            spread.append("--docs")
        else:
            taking = False
        spread.append(arg)
    return spread


def _exists(arg: str) -> bool:
    try:
        return Path(arg).exists()
    except (OSError, ValueError):
        return False  # too long for a name, or not a name at all: it is the question


@dataclass(frozen=True)
class SourceOptions:
    """What the user said about the source.

    Args:
        docs: Files and folders.
        wikipedia: Whether to read Wikipedia, or another MediaWiki.
        language: Wikipedia's language.
        contact: Whom Wikipedia may contact.
        api_url: The api.php of another MediaWiki.
        index: The address of a store.
        embeddings: The name of an embedding model.
        k: How many passages a search shows; None for the source's own number.
    """

    NAMES: ClassVar[tuple[str, ...]] = (
        "docs", "wikipedia", "language", "contact", "api_url", "index", "embeddings", "k",
    )  # fmt: skip

    docs: tuple[Path, ...] = ()
    wikipedia: bool = False
    language: str | None = None
    contact: str | None = None
    api_url: str | None = None
    index: str | None = None
    embeddings: str | None = None
    k: int | None = None

    def __post_init__(self) -> None:
        wiki = self.wikipedia or self.api_url is not None
        named = [
            name
            for name, given in (
                ("--docs", self.docs),
                ("--wikipedia", wiki),
                ("--index", self.index is not None),
            )
            if given
        ]
        if len(named) > 1:
            msg = f"{' and '.join(named)} name two sources: give one of them."
            raise click.UsageError(msg)
        if (self.language or self.contact) and not wiki:
            msg = "--language and --contact are about Wikipedia: give --wikipedia, too."
            raise click.UsageError(msg)


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name a source; the function is given them as `source`."""

    @functools.wraps(function)
    def with_source(**given: Any) -> Any:
        named = {name: given.pop(name) for name in SourceOptions.NAMES}
        return function(source=SourceOptions(**named), **given)

    for option in reversed(
        (
            click.option(
                "--docs",
                multiple=True,
                metavar="PATH...",
                type=click.Path(path_type=Path),
                help="Files and folders to read (txt, md, rst; with the extra docs: pdf, docx, "
                "html).",
            ),
            click.option("--wikipedia", is_flag=True, help="Read Wikipedia, page by page."),
            click.option("--language", metavar="CODE", help="Wikipedia's language, such as ja."),
            click.option(
                "--contact",
                metavar="EMAIL",
                envvar="LCA_CONTACT",
                show_envvar=True,
                help="Whom Wikipedia may contact about the requests; its rules want one.",
            ),
            click.option(
                "--api-url", metavar="URL", help="The api.php of another MediaWiki to read."
            ),
            click.option(
                "--index",
                metavar="FOLDER|URL",
                help="A folder made by `lca index`, postgresql://... or milvus:...",
            ),
            click.option(
                "--embeddings",
                metavar="PROVIDER:NAME",
                help="The embedding model, such as openai:text-embedding-3-small. Without: "
                "hashing, which needs no model.",
            ),
            click.option(
                "--k",
                type=click.IntRange(min=1),
                metavar="N",
                help="How many passages a search shows. [default: 4]",
            ),
        )
    ):
        with_source = option(with_source)
    return with_source


@dataclass
class Source:
    """A source that is open: pages to look up, passages to find, or both.

    Args:
        name: What it is, for the user.
        docstore: Opens its pages; None if it has none.
        store: Opens its passages; None if it has none.
        k: How many passages a search shows.

    Attributes:
        found: What the tools found, in order.
    """

    name: str
    docstore: Callable[[], Docstore] | None = None
    store: Callable[[], VectorStore] | None = None
    k: int = 4
    found: list[Document] = field(default_factory=list)

    @property
    def agent(self) -> str:
        """The agent type to read it with, unless the user names one."""
        return "zero-shot-react-description" if self.store else "react-docstore"

    def tools(self, agent: str) -> list[BaseTool]:
        """Make the tools that an agent of a type reads this source with.

        Args:
            agent: LangChain's name of the type.

        Raises:
            Failure: If the source has no pages and the type needs them.
        """
        pages = agent == "react-docstore" or self.store is None
        name = "Intermediate Answer" if agent == "self-ask-with-search" else "Search"
        tools = self.page_tools() if pages else [self.search_tool()]
        if name == "Search":
            return tools
        return [tools[0].model_copy(update={"name": name})]

    def page_tools(self) -> list[BaseTool]:
        """Make Search and Lookup over the source's pages.

        Raises:
            Failure: If it has none.
        """
        from langchain_custom_agents.tools.docstore import docstore_tools

        if self.docstore is None:
            msg = f"{self.name} holds passages, not pages: give --docs or --wikipedia for pages."
            raise Failure(msg)
        return docstore_tools(_Noting(self.docstore(), self.found))

    def search_tool(self) -> BaseTool:
        """Make Search over the source's passages."""
        from langchain_core.retrievers import BaseRetriever

        from langchain_custom_agents.tools.retriever import retriever_tool

        store, k, found = self.open_store(), self.k, self.found

        class Passages(BaseRetriever):
            """Finds passages with their scores, and notes them."""

            def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
                documents = [
                    document.model_copy(update={"metadata": {**document.metadata, "score": score}})
                    for document, score in scored(store, query, k)
                ]
                found.extend(documents)
                return documents

        return retriever_tool(Passages(), k=k)

    def open_store(self) -> VectorStore:
        """Open the source's passages.

        Raises:
            Failure: If it has none.
        """
        if self.store is None:
            msg = f"{self.name} holds pages, not passages."
            raise Failure(msg)
        return self.store()


@dataclass
class _Noting:
    """A docstore that notes the pages it gives."""

    docstore: Docstore
    found: list[Document]

    def search(self, search: str, /) -> str | Document:
        page = self.docstore.search(search)
        if not isinstance(page, str):
            self.found.append(page)
        return page


def scored(store: VectorStore, query: str, k: int) -> list[tuple[Document, float | None]]:
    """Find passages with their relevance from 0 to 1, or None where a store has no such number."""
    try:
        return list(store.similarity_search_with_relevance_scores(query, k=k))
    except NotImplementedError:
        return [(document, None) for document in store.similarity_search(query, k=k)]


def open_source(options: SourceOptions) -> Source:
    """Open the source that the user named; without one, the five sentences about Hiroko.

    Args:
        options: What the user said.

    Raises:
        Failure: If it cannot be opened.
    """
    if options.docs:
        return _docs(options)
    if options.wikipedia or options.api_url is not None:
        return _wikipedia(options)
    if options.index is not None:
        return _index(options, options.index)
    return _drama(options)


def _drama(options: SourceOptions) -> Source:
    from langchain_custom_agents.cli.drama import SENTENCES, pages
    from langchain_custom_agents.cli.models import open_embeddings
    from langchain_custom_agents.docstores.text import TextDocstore

    def store() -> VectorStore:
        from langchain_custom_agents.vectorstores.faiss import FAISSStore

        return FAISSStore.from_texts(list(SENTENCES), open_embeddings(options.embeddings))

    name = "five sentences about Hiroko (your own: --docs PATH, --wikipedia or --index FOLDER)"
    return Source(name, lambda: TextDocstore(pages()), store, options.k or 1)


def _docs(options: SourceOptions) -> Source:
    from langchain_custom_agents.cli.documents import files_in

    files = files_in(options.docs)

    def docstore() -> Docstore:
        from langchain_custom_agents.docstores.folder import FolderDocstore

        return FolderDocstore(*options.docs)

    def store() -> VectorStore:
        return _indexed(files, options.embeddings)

    count = "1 file" if len(files) == 1 else f"{len(files)} files"
    name = f"{count} from {', '.join(map(str, options.docs))}"
    return Source(name, docstore, store, options.k or 4)


def _indexed(files: list[Path], embeddings: str | None) -> VectorStore:
    from langchain_custom_agents.cli.documents import read, split
    from langchain_custom_agents.cli.models import open_embeddings
    from langchain_custom_agents.vectorstores.faiss import FAISSStore

    store = FAISSStore(open_embeddings(embeddings), search_type="hybrid")
    waiting: list[Document] = []
    with progress_on(len(files), "Reading") as bar:
        for file in files:
            document = read(file)
            waiting.extend(split(document) if document else ())
            if len(waiting) >= _BATCH:
                store.add_documents(waiting)
                waiting = []
            if bar is not None:
                bar.advance(bar.task_ids[0])
        if waiting:
            store.add_documents(waiting)
    if not len(store):
        msg = (
            f"There is no text in {', '.join(map(str, files[:3]))}: give documents that hold some."
        )
        raise Failure(msg)
    return store


def _wikipedia(options: SourceOptions) -> Source:
    from langchain_custom_agents.docstores.wikipedia import WikipediaDocstore

    language = options.language or "en"
    try:
        wiki = WikipediaDocstore(language, user_agent=options.contact, api_url=options.api_url)
    except ValueError as error:
        if options.contact is None and "user_agent" in str(error):
            msg = (
                "Wikipedia wants to know whom to contact: give --contact EMAIL or set LCA_CONTACT."
            )
            raise Failure(msg) from error
        raise
    name = options.api_url or f"Wikipedia ({language})"
    return Source(name, lambda: wiki, k=options.k or 4)


def _index(options: SourceOptions, address: str) -> Source:
    from langchain_custom_agents.cli.models import open_embeddings
    from langchain_custom_agents.vectorstores.opening import open_store

    is_folder = "://" not in address and not address.startswith("milvus:")
    if is_folder and not Path(address).expanduser().is_dir():
        msg = f"{address} is no folder: make an index with `lca index PATH --into {address}`."
        raise Failure(msg)
    place = str(Path(address).expanduser()) if is_folder else address
    reading: dict[str, Any] = {"read_only": True} if is_folder else {}
    store = open_store(place, open_embeddings(options.embeddings), **reading)
    return Source(address, store=lambda: store, k=options.k or 4)


def progress_on(total: int, what: str) -> AbstractContextManager[Progress | None]:
    """Return a progress bar on standard error, or nothing where nobody would see it."""
    from langchain_custom_agents.cli.show import error_console

    screen = error_console()
    if not screen.is_terminal:
        return nullcontext(None)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=screen,
        transient=True,
    )
    bar.add_task(what, total=total)
    return bar
