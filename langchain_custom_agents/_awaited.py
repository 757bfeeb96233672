"""Waiting for what is asynchronous, in a function that cannot await."""

import asyncio
import contextvars
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def awaited(result: Awaitable[Any]) -> Any:
    """Return what an awaitable gives; it has an event loop of its own.

    Example:
        >>> async def search(query):
        ...     return f"about {query}"
        >>> awaited(search("Hiroko"))
        'about Hiroko'
    """

    async def wait() -> Any:
        return await result

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    # A loop is running in this thread: another one needs a thread of its own.
    context = contextvars.copy_context()
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(context.run, asyncio.run, wait()).result()
