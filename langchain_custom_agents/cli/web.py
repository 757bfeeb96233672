"""The web as a source: searched, read into a folder, and found again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_custom_agents.cli.citing import cited, sources_of, with_number
from langchain_custom_agents.cli.errors import Failure, first_line, using_model
from langchain_custom_agents.cli.sources import ONE_TOOL, Source, SourceOptions

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.tools import BaseTool
    from langchain_core.vectorstores import VectorStore

    from langchain_custom_agents.cli.steps import Tell


@dataclass
class Asked:
    """A web search that notes whether it could be asked.

    Args:
        search: The search.
        name: What the user called it.
    """

    search: Callable[[str], Any]
    name: str
    trouble: str = ""
    answered: bool = False

    def __call__(self, query: str) -> Any:
        """Search."""
        from langchain_custom_agents.tools._refusals import words_of

        try:
            found = self.search(query)
        except Exception as error:
            self.trouble = first_line(ValueError(words_of(error)))
            raise
        self.answered = True
        return found


@dataclass
class Web(Source):
    """The web, read by one tool that does it all, or by three.

    Args:
        search: The search, which knows whether it could be asked.
        into: The folder of the pages, as the user called it; empty if they are not kept.
        three: Makes the three tools; given a number, WebSearch reads so many pages by itself.
        by_rule: Whether the stand-in asks: it follows no addresses, so one tool reads for it.
    """

    search: Asked | None = None
    into: str = ""
    three: Callable[[int], list[BaseTool]] = lambda _: []
    by_rule: bool = False

    def tools(self, agent: str) -> list[BaseTool]:
        """Make WebSearch, ReadPage and Recall; or Search alone, where one tool is wanted."""
        if self.by_rule or agent in ONE_TOOL:
            return super().tools(agent)
        return self.three(0)

    def search_tool(self) -> BaseTool:
        """Make Search, which reads the pages that it finds."""
        return self.three(self.k)[0].model_copy(update={"name": "Search"})

    def finder(self) -> Callable[[str], list[Document]]:
        """Return what searches, reads, and finds the passages nearest to a question."""
        tool = self.search_tool()

        def find(query: str) -> list[Document]:
            call = {"name": tool.name, "args": {"query": query}, "id": "1", "type": "tool_call"}
            found: list[Document] = tool.invoke(call).artifact
            self.check(found)
            return found

        return find

    def answered(self, answer: str, found: list[Document]) -> dict[str, Any]:
        """Return an answer with the sources that it cites by number; with all if it cites none."""
        self.check(found)
        if self.by_rule:
            answer = with_number(answer, found)
        return {"answer": answer, "sources": cited(answer, sources_of(found))}

    def check(self, found: list[Document]) -> None:
        """Refuse to go on as if nothing were known, where the search could not be asked.

        Raises:
            Failure: If it could not, and nothing that was stored before was found either.
        """
        if self.search is None or self.search.answered or not self.search.trouble or found:
            return
        stored = f", or ask what is stored with --index {self.into}" if self.into else ""
        msg = (
            f"The web search {self.search.name} could not be asked ({self.search.trouble}): "
            f"check the network, the address and the key{stored}."
        )
        raise Failure(msg)


def open_web(options: SourceOptions, name: str, tell: Tell, *, by_rule: bool) -> Web:
    """Open the web.

    Args:
        options: What the user said about the source.
        name: The search.
        tell: Told which page is being read.
        by_rule: Whether the stand-in asks.

    Raises:
        Failure: If the folder cannot be opened.
        ValueError: If there is no such search, or it lacks its key.
        ImportError: If a package is not installed.
    """
    from langchain_custom_agents.cli.models import open_embeddings
    from langchain_custom_agents.tools._article import require_readers
    from langchain_custom_agents.tools.research import Fetcher, research_tools
    from langchain_custom_agents.tools.searches import open_search

    class Told(Fetcher):
        """A fetcher that tells which page it is at."""

        def fetch(self, url: str) -> Any:
            tell("note", f"Reading {url}", None)
            return super().fetch(url)

    k = options.k or 4
    require_readers()
    search = Asked(open_search(name, k), name)
    fetcher = Told(user_agent=options.contact, allow_origins=options.allow_origin)
    into = "" if options.into is None else str(options.into)
    store = _store(into, open_embeddings(options.embeddings), options.embeddings)
    kept = f"pages in {into}" if into else "pages forgotten at the end (--into FOLDER keeps them)"
    return Web(
        f"the web by {name}, {kept}",
        store=lambda: store,
        k=k,
        embeddings=options.embeddings,
        search=search,
        into=into,
        three=lambda read: research_tools(search, store, k=k, read_first=read, fetcher=fetcher),
        by_rule=by_rule,
    )


def _store(into: str, embeddings: Any, name: str | None) -> VectorStore:
    from pathlib import Path

    from langchain_custom_agents.vectorstores.faiss import FAISSStore

    try:
        with using_model(name):
            return FAISSStore(embeddings, Path(into).expanduser() if into else None)
    except (OSError, sqlite3.Error) as error:
        msg = f"{into} cannot be used for the pages ({first_line(error)}): name another folder."
        raise Failure(msg) from error
