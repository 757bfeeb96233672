"""What a docstore is to an agent: anything that can be searched by a title."""

from typing import Protocol, runtime_checkable

from langchain_core.documents import Document

__all__ = ("Docstore",)


class Trouble(str):
    """A sentence for the model that says why the pages could not be asked for at all.

    To the model it is an observation like any other. A program can tell it from the sentences
    about a page that is not there.
    """

    __slots__ = ()


@runtime_checkable
class Docstore(Protocol):
    """A place where pages live.

    LangChain's own docstores (`InMemoryDocstore`, `Wikipedia`) fit without a change. A store may
    also have `async def asearch(self, search)`; a store without it is searched in a thread when
    the agent runs asynchronously.

    The returned `Document` may say in its metadata what it is: `title`, `source` (a URL or a
    path), `license`, `redirected_from`, `related` (a list of titles). All of it is optional.

    Example:
        >>> from langchain_custom_agents import TextDocstore
        >>> isinstance(TextDocstore({"Ayako": "Ayako paints."}), Docstore)
        True
    """

    def search(self, search: str, /) -> str | Document:
        """Find a page.

        Args:
            search: What to look for, usually a title.

        Returns:
            The page, or a sentence for the model that says why there is none and what to try.
        """
        ...
