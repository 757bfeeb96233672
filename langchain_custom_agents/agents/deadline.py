"""Calls that return in time, or when the run is cancelled, whatever the tool does.

A thread cannot be killed: a tool that is not waited for goes on by itself until it ends, and its
result is dropped. An asynchronous tool is cancelled.
"""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from concurrent import futures
from concurrent.futures import Future
from typing import Any, TypeVar

from langchain_custom_agents.policies import Cancel

T = TypeVar("T")


class NotInTime(Exception):  # noqa: N818 - said to the model, not a fault of the program
    """A tool did not answer in time, or the run was cancelled.

    Args:
        seconds: The time it had; None if the run was cancelled.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        super().__init__("cancelled" if seconds is None else f"no answer within {seconds:g} s")


def call_in_time(call: Callable[[], T], seconds: float | None, cancel: Cancel | None) -> T:
    """Call a function, for at most so many seconds.

    Args:
        call: The function.
        seconds: The time it has; None for any.
        cancel: The handle that may end the wait.

    Returns:
        What it returns. Without limit and handle it is called here; otherwise in a thread of its
        own, in this context.

    Raises:
        NotInTime: If it has not returned in time.
    """
    if seconds is None and cancel is None:
        return call()
    done: Future[T] = Future()
    cancelled: Future[None] = Future()

    def work() -> None:
        try:
            done.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            done.set_exception(error)

    def wake() -> None:
        if not cancelled.done():
            cancelled.set_result(None)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), daemon=True).start()
    if cancel is not None:
        cancel.wake(wake)
    try:
        either: list[Future[Any]] = [done, cancelled]
        futures.wait(either, seconds, futures.FIRST_COMPLETED)
    finally:
        if cancel is not None:
            cancel.forget(wake)
    if not done.done():
        raise NotInTime(None if cancelled.done() else seconds)
    return done.result()


async def acall_in_time(
    call: Callable[[], Awaitable[T]], seconds: float | None, cancel: Cancel | None
) -> T:
    """Await a call, for at most so many seconds; see `call_in_time`."""
    if seconds is None and cancel is None:
        return await call()
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(call())
    cancelled: asyncio.Future[Any] = loop.create_future()

    def set_cancelled() -> None:
        if not cancelled.done():
            cancelled.set_result(None)

    def wake() -> None:
        loop.call_soon_threadsafe(set_cancelled)

    if cancel is not None:
        cancel.wake(wake)
    try:
        await asyncio.wait({task, cancelled}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if cancel is not None:
            cancel.forget(wake)
        ended = cancelled.done()
        cancelled.cancel()
        if not task.done():
            task.cancel()
    if not task.done():
        raise NotInTime(None if ended else seconds)
    return task.result()
