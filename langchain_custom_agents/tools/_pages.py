"""Which page is open, for each of the runs that use one set of tools at the same time."""

import threading
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig

from langchain_custom_agents.tools._passages import Page

__all__ = ("OpenPage", "OpenPages", "run_key")

_MAX_PAGES = 1_000
_MAX_LETTERS = 32_000_000
_MAX_IN_CONTEXT = 16


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page, the word last looked up in it, and how many times."""

    page: Page
    word: str = ""
    times: int = 0

    def look_up(self, word: str) -> "OpenPage":
        """Count one more look at a word; another word starts again."""
        return replace(self, word=word, times=self.times + 1 if word == self.word else 1)


class OpenPages:
    """The open page of every run, bounded.

    A run has a key (`run_key`); its page is kept until 1,000 other runs, or 32 million letters of
    text, came after it. Calls outside of any run share the page of their own context: a thread, an
    asyncio task or a script, and what a context copies from its parent it changes for itself only.
    """

    def __init__(self) -> None:
        self._by_run: OrderedDict[Hashable, OpenPage] = OrderedDict()
        self._letters = 0
        self._lock = threading.Lock()
        self._name = uuid.uuid4()

    def __len__(self) -> int:
        return len(self._by_run)

    def change(
        self, key: Hashable | None, change: Callable[[OpenPage | None], OpenPage | None]
    ) -> OpenPage | None:
        """Replace the run's open page by what `change` makes of it, in one step."""
        if key is None:
            pages = _here.get()
            if (opened := change(pages.pop(self._name, None))) is not None:
                pages[self._name] = opened
                while len(pages) > _MAX_IN_CONTEXT:
                    del pages[next(iter(pages))]
            return opened
        with self._lock:
            before = self._by_run.pop(key, None)
            opened = change(before)
            self._letters -= len(before.page.text) if before else 0
            if opened is not None:
                self._by_run[key] = opened
                self._letters += len(opened.page.text)
            while len(self._by_run) > 1 and (
                len(self._by_run) > _MAX_PAGES or self._letters > _MAX_LETTERS
            ):
                self._letters -= len(self._by_run.popitem(last=False)[1].page.text)
            return opened


# BaseTool runs its work in a copy of the caller's context, where a variable that is set is lost:
# so the caller's context gets a dict, and the work changes what is in it.
_here: ContextVar[dict[uuid.UUID, OpenPage]] = ContextVar("langchain_custom_agents.open_pages")


def fork_context() -> None:
    """Give the current context pages of its own, which begin as those it has inherited."""
    _here.set(dict(_here.get({})))


BY_EXECUTOR = "langchain_custom_agents_executor"
"""A key of `configurable`: the call was made by an executor, not by the node of a graph."""

_graph_runs: "weakref.WeakKeyDictionary[Any, uuid.UUID]" = weakref.WeakKeyDictionary()
_graph_runs_lock = threading.Lock()


def run_key(config: RunnableConfig | None, parent_run_id: uuid.UUID | None) -> Hashable | None:
    """Say which run a tool is called in.

    A thread of conversation (`configurable.thread_id`) keeps its page from turn to turn. Without
    one the run counts: in LangGraph (`create_agent`) every step has another parent run, but all
    steps of a run share its stream writer, and those of a subgraph its namespace; an executor or a
    chain is the parent run of all its calls.

    Args:
        config: The configuration the tool was given; LangChain's executor gives none.
        parent_run_id: The run that the tool call is a part of.

    Returns:
        The key, or None for a call that is not part of a run.
    """
    configurable = (config or {}).get("configurable") or {}
    namespace = str(configurable.get("checkpoint_ns") or "")
    if not configurable.get(BY_EXECUTOR):
        # The last part names the node that calls the tool. Around an executor, it is the agent.
        namespace, _, _ = namespace.rpartition("|")
    if thread := configurable.get("thread_id"):
        return ("thread", str(thread), namespace)
    if writer := getattr(configurable.get("__pregel_runtime"), "stream_writer", None):
        with _graph_runs_lock:
            return ("graph", _graph_runs.setdefault(writer, uuid.uuid4()), namespace)
    return ("run", parent_run_id) if parent_run_id else None
