"""One event loop in the background, where all network work of the docstores is done.

Sync and async callers, on any thread and any event loop, share it: so there is one pool of
connections, one cache and one place where equal requests meet, and the logic is written once.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ("run", "start")

T = TypeVar("T")

_loops: dict[int, asyncio.AbstractEventLoop] = {}  # a forked process begins its own
_lock = threading.Lock()


def start(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Begin work in the background; cancelling the future cancels the work."""
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            name = "langchain-custom-agents-io"
            threading.Thread(target=loop.run_forever, name=name, daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, loop)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Do work in the background and wait for its result."""
    future = start(work)
    try:
        return future.result()
    finally:
        future.cancel()  # without effect when it is done; else the caller was interrupted
