"""Search and Lookup: reading the pages of a docstore as the ReAct paper does."""

from collections.abc import Hashable
from typing import Any, ClassVar

from langchain_core.documents import Document
from langchain_core.tools import BaseTool
from pydantic import Field

from langchain_custom_agents.docstores.base import Docstore
from langchain_custom_agents.tools._input import TextTool
from langchain_custom_agents.tools._pages import OpenPage, OpenPages, fork_context
from langchain_custom_agents.tools._passages import Page, Passage, clip, estimate_tokens, fold

__all__ = ("docstore_tools",)

_NOTHING_OPEN = "No page is open. Search for a page first, then Lookup a word in it."


def docstore_tools(
    docstore: Docstore, *, search_tokens: int = 300, lookup_tokens: int = 120
) -> list[BaseTool]:
    r"""Make the two tools of the ReAct paper over a docstore.

    `Search` opens a page by its title and shows its first paragraphs and the names of its
    sections. `Lookup` walks through the sentences of the open page that hold a word, one at each
    call: "(Result 1/3) ...". As in the paper's environment, a search that finds nothing leaves the
    open page open, and says so. Whatever goes wrong is a sentence for the model.

    One set of tools serves any number of runs at the same time, in threads and in asyncio, under
    LangChain's `AgentExecutor`, `create_agent` and by hand: each thread of conversation
    (`configurable.thread_id`), else each run, else each context has its own open page. The pages
    of the latest 1,000 runs are remembered, up to 32 million letters.

    What was shown travels as the artifact, a `Document` whose metadata is the page's (title,
    source, license, ...), so that answers can name their sources. Searches for a miss have none.

    Args:
        docstore: Anything with `search(str) -> str | Document`; `asearch` is used where it exists.
        search_tokens: About how many tokens of a page Search may show.
        lookup_tokens: About how many tokens of a paragraph Lookup may show around its sentence;
            0 shows the sentence alone.

    Returns:
        The tools `Search` and `Lookup`, in this order.

    Raises:
        TypeError: If the docstore has no `search`, or is a vector store.
        ValueError: If a budget is no whole number, or too small.

    Source:
        Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models",
        https://arxiv.org/abs/2210.03629, section 3.1.

    Example:
        >>> from langchain_custom_agents import TextDocstore
        >>> search, lookup = docstore_tools(TextDocstore({"Ayako": "Ayako paints. Ayako sings."}))
        >>> search.run("Ayako")
        'Ayako paints. Ayako sings.'
        >>> lookup.run("sings")
        '(Result 1/1) Ayako sings.\nContext: Ayako paints. Ayako sings.'
    """
    if hasattr(docstore, "similarity_search"):  # its `search` is another method by the same name
        msg = (
            f"`docstore` is the vector store {type(docstore).__name__}, which finds passages, not "
            "pages by title; give it to retriever_tool."
        )
        raise TypeError(msg)
    if not isinstance(docstore, Docstore):
        msg = (
            f"`docstore` is {type(docstore).__name__}, which has no `search` method; give a "
            "docstore such as TextDocstore, FolderDocstore or WikipediaDocstore."
        )
        raise TypeError(msg)
    budgets = (("search_tokens", search_tokens, 1), ("lookup_tokens", lookup_tokens, 0))
    for field, tokens, least in budgets:
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < least:
            msg = f"`{field}` is {tokens!r}; give a whole number, at least {least}."
            raise ValueError(msg)
    pages = OpenPages()
    return [
        _Search(docstore=docstore, pages=pages, tokens=search_tokens),
        _Lookup(pages=pages, tokens=lookup_tokens),
    ]


class _DocstoreTool(TextTool):
    """What Search and Lookup have in common."""

    pages: OpenPages = Field(repr=False, exclude=True)
    tokens: int

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run the tool; what it opens is open in the caller's context."""
        fork_context()
        return super().run(*args, **kwargs)

    async def arun(self, *args: Any, **kwargs: Any) -> Any:
        """Run the tool asynchronously; what it opens is open in the caller's context."""
        fork_context()
        return await super().arun(*args, **kwargs)

    def _nothing(self) -> None:
        return None


class _Search(_DocstoreTool):
    name: str = "Search"
    description: str = (
        "Opens the page with a title and shows its beginning. Input: the title, for example the "
        "name of a person, a place or a thing. If there is no such page, similar titles are shown."
    )
    docstore: Any = Field(repr=False, exclude=True)
    needs: ClassVar[str] = "a title to look for, for example the name of a person or a place"

    def _find(self, query: str, callbacks: Any) -> Any:  # noqa: ARG002
        return self.docstore.search(query)

    async def _afind(self, query: str, callbacks: Any) -> Any:
        if hasattr(self.docstore, "asearch"):
            return await self.docstore.asearch(query)
        return await super()._afind(query, callbacks)

    def _shown(self, query: str, found: Any, run: Hashable | None) -> tuple[str, Document | None]:
        if isinstance(found, Document):
            page = Page(found, query)
            self.pages.change(run, lambda _: OpenPage(page))
            return _beginning_of(page, query, self.tokens)
        sentence = str(found).strip() if found else f'Could not find "{query}".'
        still_open = self.pages.change(run, lambda opened: opened)
        if still_open:
            sentence += f' Lookup still reads the page "{still_open.page.title}".'
        return sentence, None


class _Lookup(_DocstoreTool):
    name: str = "Lookup"
    description: str = (
        "Finds a word in the page that Search opened last and shows the next sentence that holds "
        "it. Input: the word. The same word again shows the next place where it stands."
    )
    needs: ClassVar[str] = "a word to look for in the open page"

    def _find(self, query: str, callbacks: Any) -> str:  # noqa: ARG002
        return fold(query)

    async def _afind(self, query: str, callbacks: Any) -> str:
        return self._find(query, callbacks)

    def _shown(self, query: str, found: str, run: Hashable | None) -> tuple[str, Document | None]:
        opened = self.pages.change(run, lambda opened: opened and opened.look_up(found))
        if opened is None:
            return _NOTHING_OPEN, None
        return _looked_up(opened, " ".join(query.split()), self.tokens)


def _beginning_of(page: Page, term: str, budget: int) -> tuple[str, Document]:
    """Show the beginning of a page, its sections, and the pages it is related to."""
    whole = estimate_tokens(page.text) <= budget
    text = page.text.strip() if whole else _beginning(page, budget)
    lines = [text or "The page is empty."]
    # The model must see that it reads another page than the one it named.
    section = _section_of(page)
    named = str(page.metadata.get("section") or "")
    if named or fold(page.title) != fold(term.replace("_", " ")):
        where = f', section "{section}"' if section else ""
        # One that a redirect named is the wiki's affair.
        missed = not section and named and fold(named) in fold(term.replace("_", " "))
        lines.insert(
            0,
            f'Page "{page.title}"{where}' + (f', without a section "{named}":' if missed else ":"),
        )
    if page.sections and not whole:
        lines.append(clip(f"Sections: {'; '.join(page.sections)}", budget // 3 + 10))
    if related := page.metadata.get("related"):
        lines.append(clip(f"Related pages: {'; '.join(map(str, related))}", budget // 3 + 10))
    return "\n".join(lines), Document(text, metadata=page.metadata)


def _section_of(page: Page) -> str:
    """Return the section that the search named, or was redirected to, if the page has it."""
    named = fold(str(page.metadata.get("section") or ""))
    return next((name for name in page.sections if named and fold(name) == named), "")


def _beginning(page: Page, budget: int) -> str:
    """Take whole paragraphs while they fit; the first is shortened if it must be."""
    shown: list[str] = []
    last = ""
    paragraphs = page.paragraphs
    if wanted := _section_of(page):
        at = [number for number, (section, _) in enumerate(paragraphs) if section == wanted]
        paragraphs = paragraphs[at[0] :] if at else paragraphs
    for section, paragraph in paragraphs:
        text = paragraph if section == last else f"{section}: {paragraph}"
        cost = estimate_tokens(text)
        if cost > budget:
            if not shown:
                shown.append(clip(text, budget))
            break
        shown.append(text)
        budget -= cost
        last = section
    return "\n".join(shown)


def _looked_up(opened: OpenPage, asked: str, budget: int) -> tuple[str, Document | None]:
    """Show the sentence whose turn it is, and the paragraph around it."""
    page = opened.page
    hits: list[Passage] = [passage for folded, passage in page.passages if opened.word in folded]
    if not hits:
        return f'No results for "{asked}" in the page "{page.title}".', None
    if opened.times > len(hits):
        return (
            f'No more results for "{asked}" in the page "{page.title}" ({len(hits)} shown). '
            "Lookup another word or Search for another page."
        ), None
    hit = hits[opened.times - 1]
    text = f"(Result {opened.times}/{len(hits)}) {clip(hit.text, max(budget, 120), asked)}"
    if budget and hit.paragraph != hit.text:
        where = f" ({hit.section})" if hit.section else ""
        text += f"\nContext{where}: {clip(hit.paragraph, budget, hit.text)}"
    metadata = {**page.metadata, "section": hit.section}
    return text, Document(hit.text, metadata=metadata)
