"""Where answers come from: the options that say so, and the tools made of it."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from langchain_custom_agents._counted import counted
from langchain_custom_agents.cli.citing import sources_of
from langchain_custom_agents.cli.errors import Failure, first_line, using_model
from langchain_custom_agents.cli.names import CONVERTED, TEXT

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.tools import BaseTool
    from langchain_core.vectorstores import VectorStore

    from langchain_custom_agents.cli.steps import Tell
    from langchain_custom_agents.docstores.base import Docstore

_BATCH = 200
_BY_PAGES = "react-docstore"
_BY_PASSAGES = "zero-shot-react-description"
_ASKING = "self-ask-with-search"
ONE_TOOL = (_BY_PAGES, _ASKING)
"""The agent types whose tools have names of their own."""


class WrittenPath(click.Path):
    """A path that somebody wrote: an empty one would be the folder that one is in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse an empty path, as an unset variable of a shell gives it."""
        if not os.fspath(value):
            self.fail("The path is empty: name a file or a folder.", param, ctx)
        return super().convert(value, param, ctx)


class SourceCommand(click.Command):
    """A command whose `--docs` takes several paths, as a shell's `*` gives them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat `--docs` before each path that follows the first one; take one text beside it.

        Raises:
            UsageError: If there are several texts: one of them was meant for a path, or for a part
                of another.
        """
        ctx.allow_extra_args = True  # said below, with what to do
        rest = super().parse_args(ctx, repeat_docs(args))
        if rest and not ctx.resilient_parsing:
            name = next(param.name for param in self.params if isinstance(param, click.Argument))
            texts = ", ".join(repr(text) for text in (ctx.params[name or ""], *rest))
            msg = (
                f"The {name} is one text, but there are {1 + len(rest)}: {texts}. Put it in "
                "quotation marks; what follows --docs must be a file or a folder that exists."
            )
            raise click.UsageError(msg, ctx)
        return rest


def repeat_docs(args: list[str]) -> list[str]:
    """Write `--docs a b` as `--docs a --docs b`, for as long as there are paths.

    What exists is a path, and so is what is written like one: that it does not exist will be said.

    Example:
        >>> repeat_docs(["--docs", ".", "..", "missing.md", "no such path?"])
        ['--docs', '.', '--docs', '..', '--docs', 'missing.md', 'no such path?']
    """
    spread: list[str] = []
    taking = False
    for number, arg in enumerate(args):
        if arg == "--":
            return [*spread, *args[number:]]
        after_option = bool(spread) and spread[-1] == "--docs" and not taking
        if after_option:
            taking = True
        elif taking and not arg.startswith("-") and (_exists(arg) or _written_as_path(arg)):
            spread.append("--docs")
        else:
            taking = False
        spread.append(arg)
    return spread


def _exists(arg: str) -> bool:
    try:
        return bool(arg) and Path(arg).exists()  # empty, it would be the folder that one is in
    except (OSError, ValueError):
        return False  # too long for a name, or not a name at all: it is the question


def _written_as_path(arg: str) -> bool:
    """Say whether a text is one word with the ending of a document, or with a slash.

    Example:
        >>> [_written_as_path(arg) for arg in ("memo.md", "notes/", "What is memo.md", "A/B?")]
        [True, True, False, False]
    """
    if len(arg.split()) != 1 or arg.endswith(("?", "？")) or "://" in arg:
        return False
    return "/" in arg or arg.lower().endswith((*TEXT, *CONVERTED))


@dataclass(frozen=True)
class SourceOptions:
    """What the user said about the source.

    Args:
        docs: Files and folders.
        wikipedia: Whether to read Wikipedia, or another MediaWiki.
        language: Wikipedia's language.
        contact: Whom Wikipedia and other sites may contact.
        api_url: The api.php of another MediaWiki.
        index: The address of a store.
        web: The name of a web search.
        into: The folder in which pages of the web are kept.
        allow_origin: The origins that may be private.
        embeddings: The name of an embedding model.
        k: How many passages a search shows; None for the source's own number.
    """

    NAMES: ClassVar[tuple[str, ...]] = (
        "docs", "wikipedia", "language", "contact", "api_url", "index", "web", "into",
        "allow_origin", "embeddings", "k",
    )  # fmt: skip

    docs: tuple[Path, ...] = ()
    wikipedia: bool = False
    language: str | None = None
    contact: str | None = None
    api_url: str | None = None
    index: str | None = None
    web: str | None = None
    into: Path | None = None
    allow_origin: tuple[str, ...] = ()
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
                ("--web", self.web is not None),
            )
            if given
        ]
        if len(named) > 1:
            msg = f"{' and '.join(named)} name two sources: give one of them."
            raise click.UsageError(msg)
        if self.language and not wiki:
            msg = "--language is about Wikipedia: give --wikipedia, too."
            raise click.UsageError(msg)
        if self.contact and not (wiki or self.web) and not _from_environment("contact"):
            msg = "--contact is for sites that are read: give --wikipedia or --web, too."
            raise click.UsageError(msg)
        if (self.into or self.allow_origin) and self.web is None:
            msg = "--into and --allow-origin are about the web: give --web SEARCH, too."
            raise click.UsageError(msg)


def _from_environment(name: str) -> bool:
    """Say whether an option was not given but found in the environment, which is no mistake."""
    context = click.get_current_context(silent=True)
    environment = click.core.ParameterSource.ENVIRONMENT
    return context is not None and context.get_parameter_source(name) is environment


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
                type=WrittenPath(path_type=Path),
                help="Files and folders to read: in folders txt, md and rst; named themselves any "
                "text and, with the extra docs, pdf, docx and html.",
            ),
            click.option("--wikipedia", is_flag=True, help="Read Wikipedia, page by page."),
            click.option("--language", metavar="CODE", help="Wikipedia's language, such as ja."),
            click.option(
                "--contact",
                metavar="EMAIL",
                envvar="LCA_CONTACT",
                show_envvar=True,
                help="Whom Wikipedia, whose rules want it, and sites of the web may contact about "
                "the requests.",
            ),
            click.option(
                "--api-url", metavar="URL", help="The api.php of another MediaWiki to read."
            ),
            click.option(
                "--index",
                metavar="FOLDER|URL",
                type=WrittenPath(path_type=str),
                help="A folder made by `lca index`, postgresql://... or milvus:...",
            ),
            click.option(
                "--web",
                metavar="SEARCH",
                help="Search the web and read pages: searxng:URL, duckduckgo, tavily, serpapi or "
                "google; needs the extra web.",
            ),
            click.option(
                "--into",
                metavar="FOLDER",
                type=WrittenPath(path_type=Path),
                help="Where pages of the web are kept, made if need be. Without: they are "
                "forgotten at the end.",
            ),
            click.option(
                "--allow-origin",
                multiple=True,
                metavar="URL",
                help="A site that --web may read though it is not on the public internet, such as "
                "http://wiki.internal:8080; may be repeated.",
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
        agent: The agent type to read it with, unless the user names one.
        embeddings: What the user called the embedding model; None for hashing.

    Attributes:
        found: What the tools found, in order.
        trouble: Why the pages could not be asked for, if they ever could not.
        reached: Whether they could be asked for, ever.
    """

    name: str
    docstore: Callable[[], Docstore] | None = None
    store: Callable[[], VectorStore] | None = None
    k: int = 4
    agent: str = _BY_PASSAGES
    embeddings: str | None = None
    found: list[Document] = field(default_factory=list)
    trouble: str = ""
    reached: bool = False

    def tools(self, agent: str) -> list[BaseTool]:
        """Make the tools that an agent of a type reads this source with.

        Args:
            agent: LangChain's name of the type.

        Raises:
            Failure: If the source has no pages and the type needs them.
        """
        pages = agent == _BY_PAGES or self.store is None
        name = "Intermediate Answer" if agent == _ASKING else "Search"
        tools = self.page_tools() if pages else [self.search_tool()]
        if name == "Search":
            return tools
        return [tools[0].model_copy(update={"name": name})]

    def answered(self, answer: str, found: list[Document]) -> dict[str, Any]:
        """Return an answer with its sources.

        Args:
            answer: The answer.
            found: What the tools found, in order.

        Raises:
            Failure: If no page could be asked for: what was not read says nothing.
        """
        if self.trouble and not self.reached:
            raise Failure(self.trouble)
        return {"answer": answer, "sources": sources_of(found)}

    def page_tools(self) -> list[BaseTool]:
        """Make Search and Lookup over the source's pages.

        Raises:
            Failure: If it has none.
        """
        from langchain_custom_agents.tools.docstore import docstore_tools

        if self.docstore is None:
            msg = f"{self.name} holds passages, not pages: give --docs or --wikipedia for pages."
            raise Failure(msg)
        return docstore_tools(_Noting(self.docstore(), self))

    def search_tool(self) -> BaseTool:
        """Make Search over the source's passages."""
        from langchain_core.retrievers import BaseRetriever

        from langchain_custom_agents.tools.retriever import retriever_tool

        find, found = self.finder(), self.found

        class Passages(BaseRetriever):
            """Finds passages, and notes them."""

            def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
                documents = find(query)
                found.extend(documents)
                return documents

        return retriever_tool(Passages(), k=self.k)

    def finder(self) -> Callable[[str], list[Document]]:
        """Open the source's passages.

        Returns:
            What finds the passages nearest to a question: each with its relevance from 0 to 1 in
            `metadata["score"]`, where the store has such a number.

        Raises:
            Failure: If the source has none.
        """
        if self.store is None:
            msg = f"{self.name} holds pages, not passages."
            raise Failure(msg)
        store, k, embeddings = self.store(), self.k, self.embeddings

        def find(query: str) -> list[Document]:
            with using_model(embeddings):
                try:
                    scored = store.similarity_search_with_relevance_scores(query, k=k)
                except NotImplementedError:
                    return store.similarity_search(query, k=k)
            return [
                found.model_copy(update={"metadata": {**found.metadata, "score": float(score)}})
                for found, score in scored
            ]

        return find


@dataclass
class _Noting:
    """A docstore that notes the pages it gives, and whether it could be asked."""

    docstore: Docstore
    source: Source

    def search(self, search: str, /) -> str | Document:
        from langchain_custom_agents.docstores.base import Trouble

        page = self.docstore.search(search)
        if isinstance(page, Trouble):
            self.source.trouble = page
            return page
        self.source.reached = True
        if not isinstance(page, str):
            self.source.found.append(page)
        return page


def open_source(
    options: SourceOptions,
    asked: str = "",
    *,
    tell: Tell = lambda *_: None,
    by_rule: bool = False,
) -> Source:
    """Open the source that the user named; without one, the five sentences about Hiroko.

    Args:
        options: What the user said.
        asked: The question or the term: the five sentences are in its language.
        tell: Told what happens while the source is read.
        by_rule: Whether the stand-in asks, which wants one tool.

    Raises:
        Failure: If it cannot be opened.
    """
    if options.docs:
        return _docs(options)
    if options.wikipedia or options.api_url is not None:
        return _wikipedia(options)
    if options.index is not None:
        return _index(options, options.index)
    if options.web is not None:
        from langchain_custom_agents.cli.web import open_web

        return open_web(options, options.web, tell, by_rule=by_rule)
    return _drama(options, asked)


def _drama(options: SourceOptions, asked: str) -> Source:
    from langchain_custom_agents.cli.drama import pages, sentences
    from langchain_custom_agents.cli.models import open_embeddings
    from langchain_custom_agents.docstores.text import TextDocstore
    from langchain_custom_agents.offline._words import language_of

    language = language_of(asked)

    def store() -> VectorStore:
        from langchain_custom_agents.vectorstores.faiss import FAISSStore

        embeddings = open_embeddings(options.embeddings)
        with using_model(options.embeddings):
            return FAISSStore.from_texts(sentences(language), embeddings)

    name = "five sentences about Hiroko (your own: --docs PATH, --wikipedia or --index FOLDER)"
    return Source(
        name,
        lambda: TextDocstore(pages(language)),
        store,
        options.k or 1,
        embeddings=options.embeddings,
    )


def _docs(options: SourceOptions) -> Source:
    from langchain_custom_agents.cli.documents import files_in, read_all, titled_apart

    files = files_in(options.docs, TEXT)

    def docstore() -> Docstore:
        from langchain_custom_agents.docstores.folder import FolderDocstore
        from langchain_custom_agents.docstores.text import TextDocstore

        if all(file.suffix.lower() in TEXT for file in files):
            return FolderDocstore(*options.docs)
        return TextDocstore(titled_apart(read_all(files)))

    def store() -> VectorStore:
        return _indexed(files, options.embeddings)

    name = f"{counted(len(files), 'file')} from {', '.join(map(str, options.docs))}"
    # Read page by page the stand-in answers better (docs/command-line.md has the figures); what
    # is said about passages asks for passages.
    passages = options.k is not None or options.embeddings is not None
    agent = _BY_PASSAGES if passages else _BY_PAGES
    return Source(name, docstore, store, options.k or 4, agent, options.embeddings)


def _indexed(files: list[Path], embeddings: str | None) -> VectorStore:
    from langchain_custom_agents.cli.documents import read_all, split
    from langchain_custom_agents.cli.models import open_embeddings
    from langchain_custom_agents.vectorstores.faiss import FAISSStore

    store = FAISSStore(open_embeddings(embeddings))
    waiting: list[Document] = []
    with using_model(embeddings), progress_on(len(files), "Reading") as advance:
        for document in read_all(files, advance):
            waiting.extend(split(document))
            if len(waiting) >= _BATCH:
                store.add_documents(waiting)
                waiting = []
        if waiting:
            store.add_documents(waiting)
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
    return Source(name, lambda: wiki, agent=_BY_PAGES)


def _index(options: SourceOptions, address: str) -> Source:
    is_folder = "://" not in address and not address.startswith("milvus:")
    shown = address if is_folder else _without_password(address)
    folder = Path(address).expanduser()
    if is_folder and not any(folder.glob("*.db")):
        msg = f"{shown} holds no index: make one with `lca index PATH --into {shown}`."
        raise Failure(msg)

    def store() -> VectorStore:
        from langchain_custom_agents.cli.models import open_embeddings
        from langchain_custom_agents.vectorstores.opening import open_store

        embeddings = open_embeddings(options.embeddings)
        if is_folder:
            return open_store(str(folder), embeddings, read_only=True)
        try:
            return open_store(address, embeddings, read_only=True)
        except (ValueError, ImportError):
            raise
        except Exception as error:
            msg = f"{shown} could not be opened ({_without_password(first_line(error))})."
            raise Failure(msg) from error

    return Source(shown, store=store, k=options.k or 4, embeddings=options.embeddings)


def _without_password(address: str) -> str:
    """Leave the password out of an address.

    Example:
        >>> _without_password("postgresql://me:secret@host/db")
        'postgresql://me:***@host/db'
    """
    return re.sub(r"(://[^:/@\s]*):[^@/\s]*@", r"\1:***@", address)


@contextmanager
def progress_on(total: int, what: str) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error, or nothing where nobody would see it.

    Args:
        total: How many there are.
        what: What is done with them.

    Yields:
        What to call when one is done.
    """
    from langchain_custom_agents.cli.show import error_console

    screen = error_console()
    if not screen.is_terminal:
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=screen, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
