"""What an API said when it refused: from exceptions, from HTTP answers, from results."""

import contextlib
import json
import re
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from langchain_core.callbacks.manager import ahandle_event, handle_event
from langchain_core.tools import ToolException
from pydantic import ValidationError
from pydantic.v1 import ValidationError as ValidationErrorV1

from langchain_custom_agents.tools._html_reference import reference_text

__all__ = ("goes_its_way", "is_control_flow", "is_refusal", "words_of", "words_of_result")

_MAX_BODY = 20_000
# Keys and tokens travel in the query of an address; the model sees its own input anyway.
_QUERY = re.compile(r"((?:\b\w+://|url: /)[^\s?#'\"<>]*)\?[^\s'\"<>]*")  # "url: /" in requests
_USER = re.compile(r"(\b\w+://)[^\s/@'\"<>]+@")
_OF_HANDLERS = frozenset({handle_event.__code__, ahandle_event.__code__})


def is_control_flow(error: BaseException) -> bool:
    """Say whether an exception steers the run, and must go its way.

    That is what steers LangGraph (an interrupt, say), and what a callback handler raised: only one
    with `raise_error` can, and it means to end the run, as `HumanApprovalCallbackHandler` does.

    Args:
        error: What was raised.
    """
    # An exception does not say who raised it; the way that it came does.
    frames = traceback.walk_tb(error.__traceback__)
    if any(frame.f_code in _OF_HANDLERS for frame, _ in frames):
        return True
    errors = sys.modules.get("langgraph.errors")
    if errors is None:
        return False
    resumed_wrongly = getattr(errors, "is_invalid_resume", lambda _: False)
    return isinstance(error, errors.GraphBubbleUp) or bool(resumed_wrongly(error))


def goes_its_way(error: BaseException) -> bool:
    """Say whether an exception of a tool is not what an API said, and no model can mend it.

    Beside what steers LangGraph that is a synchronous call of a tool which is only asynchronous.

    Args:
        error: What was raised.

    Example:
        >>> goes_its_way(NotImplementedError("StructuredTool does not support sync invocation."))
        True
        >>> goes_its_way(NotImplementedError("Regular expressions are not implemented."))
        False
    """
    if isinstance(error, NotImplementedError) and "sync" in str(error):
        return True
    return is_control_flow(error)


def words_of(error: BaseException) -> str:
    """Return what an exception has to say, an HTTP answer's body above all.

    Args:
        error: What was raised.

    Example:
        >>> words_of(TimeoutError("no answer within 5 s"))
        'TimeoutError: no answer within 5 s'
    """
    if isinstance(error, (ValidationError, ValidationErrorV1)):
        return "; ".join(
            f"{'.'.join(map(str, found['loc'])) or 'input'}: {found['msg']}"
            for found in error.errors()
        )
    status, body = _answer(error)
    if status is not None:
        return _shown(f"HTTP {status}: {_readable(body) or error or 'no reason given'}")
    message = _shown(str(error))
    if isinstance(error, ToolException):
        return message or "it gave no reason"
    return f"{type(error).__name__}{': ' if message else ''}{message}"


def is_refusal(result: Any) -> bool:
    """Say whether a result is an HTTP answer with an error status.

    That is an object, a mapping or JSON text with a whole number from 400 to 599 as its
    `status_code` or `status` (the latter as in RFC 9457, "Problem Details for HTTP APIs").

    Args:
        result: What a tool returned.

    Example:
        >>> is_refusal('{"status": 400, "detail": "unexpected )"}'), is_refusal("400 hits")
        (True, False)
    """
    return _status(result) is not None


def words_of_result(result: Any) -> str:
    """Return what a refusing result has to say.

    Args:
        result: What a tool returned.
    """
    body = getattr(result, "text", None)
    if isinstance(body, str) and (status := _status(result)) is not None:
        return _shown(f"HTTP {status}: {_readable(body)}")
    if isinstance(result, str):
        return _shown(_readable(result))
    try:
        return _shown(json.dumps(result, ensure_ascii=False, default=str))
    except (TypeError, ValueError):
        return _shown(str(result))


def _status(result: Any) -> int | None:
    if isinstance(result, str):
        if not result.lstrip().startswith("{") or '"status' not in result:
            return None
        try:
            result = json.loads(result)
        except ValueError:
            return None
    for name in ("status_code", "status"):
        value = result.get(name) if isinstance(result, dict) else getattr(result, name, None)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return None


def _answer(error: BaseException) -> tuple[int | None, str]:
    """Return the status and body of the answer that an HTTP client's exception carries."""
    response = getattr(error, "response", None)
    for holder in (response, error):  # a requests.Response with an error status is falsy
        for name in ("status_code", "status", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and not isinstance(status, bool) and 400 <= status < 600:
                return status, _body(response if response is not None else error)
    return None, ""


def _body(holder: Any) -> str:
    try:
        text = getattr(holder, "text", None)
        if isinstance(text, str):
            return text[:_MAX_BODY]
        if hasattr(holder, "read"):  # urllib's HTTPError is its own answer
            return bytes(holder.read(_MAX_BODY)).decode(errors="replace")
    except Exception:  # noqa: BLE001 - a body that was not read is no reason to lose the status
        return ""
    return str(getattr(holder, "message", "") or "")


def _readable(body: str) -> str:
    """Return HTML and JSON as text: signs of their own say nothing about the query."""
    start = body.lstrip()[:1]
    if start == "<":
        return reference_text(body)
    if start in {"{", "["}:
        with contextlib.suppress(ValueError, RecursionError):
            return "; ".join(_leaves(json.loads(body)))
    return body


def _leaves(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    elif value not in (None, ""):
        yield f"{name}: {value}" if name else str(value)


def _shown(text: str) -> str:
    return _USER.sub(r"\1", _QUERY.sub(r"\1?…", " ".join(text.split())))
