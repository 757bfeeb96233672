"""Work that must not hold up an event loop."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

__all__ = ["apart"]

_T = TypeVar("_T")


async def apart(function: Callable[..., _T], *args: Any) -> _T:
    """Run work on a thread of the event loop's pool."""
    return await asyncio.get_running_loop().run_in_executor(None, partial(function, *args))
