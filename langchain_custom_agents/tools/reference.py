"""Tools that know their manual: after a refusal the model reads the sections that mend it."""

import contextlib
import copy
import difflib
import functools
import json
import threading
import warnings
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel, ValidationError
from pydantic.v1 import ValidationError as ValidationErrorV1

from langchain_custom_agents.tools._manual import CACHE, Manual, Reference
from langchain_custom_agents.tools._pages import run_key
from langchain_custom_agents.tools._passages import clip, estimate_tokens
from langchain_custom_agents.tools._refusals import (
    goes_its_way,
    is_control_flow,
    is_refusal,
    words_of,
    words_of_result,
)

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware

__all__ = ("Reference", "When", "reference_middleware", "with_reference")

When = Literal["on_error", "always", "both"]

_MAX_RUNS = 1_000
_WORDS = 300  # about how many tokens of an error, and of an input, are shown
_WEEK = 7 * 24 * 3600.0


def with_reference(
    tool: BaseTool,
    reference: Reference,
    *,
    k: int = 3,
    when: When = "on_error",
    max_tokens: int = 800,
    cache: str | Path | None = CACHE,
    embedding: Embeddings | None = None,
    max_age: float | None = _WEEK,
    is_error: Callable[[Any], bool] = is_refusal,
    max_attempts: int = 5,
) -> BaseTool:
    r"""Give a tool its manual: a refused call shows the sections that mend it.

    For tools whose input is a language of its own: JQL, PromQL, Sourcegraph's search, SQL. When
    the API refuses, the observation holds what it said, the input that failed, and the few
    sections of the reference that matter for both; the next attempt is an informed one. What
    succeeds stays as it is.

    A refusal is an exception (also one about the arguments), an error the tool handles itself,
    an HTTP status, or a result that `is_error` recognises. The same failing input a second time
    is pointed out. In a run the refusals in a row are counted, and after `max_attempts` of them
    the model is told to go on without the tool. LangGraph's interrupts go their way.

    The tool is copied, name, schema and all; the copy works wherever the tool did: under
    LangChain's executor, ours, `create_agent` and by hand, sync and async.

    Args:
        tool: Any LangChain tool.
        reference: What the tool's language is: a text, a file or folder (Markdown, text,
            reStructuredText, HTML), several of these, the address of a page, a retriever or a
            vector store.
        k: How many sections to show at most.
        when: "on_error" shows sections after a refusal; "always" puts the reference into the
            tool's description (whole if it is short, else its beginning and the names of its
            sections); "both" does both.
        max_tokens: About how many tokens of the reference may be shown at once.
        cache: The folder in which the index of the reference is kept, by the hash of its content,
            and pages by their address; None keeps them in memory.
        embedding: The model that finds sections beside their keywords; without one,
            `HashingEmbeddings`.
        max_age: After how many seconds the reference is read again; None for never. Only what
            changed is indexed again; a page that cannot be fetched again is kept.
        is_error: Says whether a result is a refusal. Without it, one with an HTTP error status.
        max_attempts: How many refusals in a row a run may have.

    Returns:
        The tool with its manual.

    Raises:
        ValueError: If an argument does not fit; the sentence names it.
        TypeError: If the tool or the reference is of another kind.

    Example:
        >>> from langchain_core.tools import tool
        >>> @tool
        ... def find_issues(jql: str) -> str:
        ...     "Finds issues. Input: JQL."
        ...     if "==" in jql:
        ...         raise ValueError("Expecting a value but got '='.")
        ...     return "LCA-7"
        >>> manual = "# JQL\n## Operators\nEquality is one sign: status = Done.\n## Dates\n..."
        >>> mended = with_reference(find_issues, manual, k=1, cache=None)
        >>> print(mended.run("status == Done"))
        find_issues failed: ValueError: Expecting a value but got '='.
        Its input was: status == Done
        From the reference, what may help to mend it:
        [1] JQL > Operators
        Equality is one sign: status = Done.
        >>> mended.run("status = Done")
        'LCA-7'
    """
    if not isinstance(tool, BaseTool):
        msg = (
            f"`tool` is {type(tool).__name__}; give a LangChain tool, for example a function "
            "decorated with langchain_core.tools.tool."
        )
        raise TypeError(msg)
    if tool.return_direct:
        msg = (
            f"The tool {tool.name} has return_direct=True, which would end the run with the "
            "first refusal; set it to False."
        )
        raise ValueError(msg)
    manual = Manual(reference, k=k, embedding=embedding, cache=cache, max_age=max_age)
    guide = _Guide(manual, when, max_tokens, is_error, max_attempts)
    guided = copy.copy(tool)
    # Past pydantic, which guards its fields; the copy becomes one of its own kind.
    kind = _guided(type(tool), guide, tool.handle_tool_error)
    object.__setattr__(guided, "__class__", kind)
    guided.handle_tool_error = True
    if guide.standing:
        guided.description = guide.described(tool.description)
    return guided


def reference_middleware(
    reference: Reference,
    *,
    tools: Sequence[str] | None = None,
    k: int = 3,
    when: When = "on_error",
    max_tokens: int = 800,
    cache: str | Path | None = CACHE,
    embedding: Embeddings | None = None,
    max_age: float | None = _WEEK,
    is_error: Callable[[Any], bool] = is_refusal,
    max_attempts: int = 5,
) -> "AgentMiddleware[Any, Any]":
    """Do what `with_reference` does as middleware for LangChain's `create_agent`.

    For tools that cannot be wrapped one by one, such as those a server brings; it needs
    `pip install 'langchain>=1'`.

    Args:
        reference: As for `with_reference`.
        tools: The names of the tools that the reference is about; without them, all.
        k: As for `with_reference`, like all that follow.
        when: When the reference is shown.
        max_tokens: How much of it.
        cache: Where its index is kept.
        embedding: What finds its sections.
        max_age: When it is read again.
        is_error: What a refusal is; it is given the content of the tool's message.
        max_attempts: How many refusals in a row each tool may have in a run.

    Returns:
        The middleware, to be given as `create_agent(..., middleware=[...])`.

    Raises:
        ImportError: If langchain is not installed.
        ValueError: As `with_reference`.

    Warns:
        UserWarning: At the first call of the model, if a name in `tools` is that of none of its
            tools. It is no error, since other middleware may choose tools for each call.

    Example:
        >>> reference_middleware("# JQL ...", tools=["find_issues"], cache=None).name
        'reference'
    """
    try:
        from langchain.agents.middleware import AgentMiddleware
    except ImportError as error:
        msg = "reference_middleware needs LangChain 1: pip install 'langchain>=1'."
        raise ImportError(msg) from error
    if isinstance(tools, str):
        msg = f"`tools` is one text; give the names in a list: [{tools!r}]."
        raise ValueError(msg)  # noqa: TRY004
    manual = Manual(reference, k=k, embedding=embedding, cache=cache, max_age=max_age)
    guide = _Guide(manual, when, max_tokens, is_error, max_attempts)
    chosen = None if tools is None else frozenset(tools)
    unseen = set(chosen or ())

    def call_of(request: Any) -> "_Call | None":
        name = request.tool_call["name"]
        if chosen is not None and name not in chosen:
            return None
        config = getattr(request.runtime, "config", None)
        return _Call(name, _run_of(config, None), _written(request.tool_call["args"], frozenset()))

    def message(call: _Call, request: Any, text: str) -> ToolMessage:
        return ToolMessage(
            text, name=call.tool, tool_call_id=request.tool_call["id"], status="error"
        )

    def refused(result: Any) -> str | None:
        """Return what a tool's message says if it is a refusal."""
        if not isinstance(result, ToolMessage):
            return None
        is_one = result.status == "error" or guide.is_error(result.content)
        return words_of_result(result.content) if is_one else None

    class ReferenceMiddleware(AgentMiddleware[Any, Any]):
        name = "reference"

        def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
            if (call := call_of(request)) is None:
                return handler(request)
            if over := guide.over(call):
                return message(call, request, over)
            try:
                result = handler(request)
            except Exception as error:
                if goes_its_way(error):
                    raise
                return message(call, request, guide.explain(call, words_of(error)))
            if (words := refused(result)) is not None:
                return message(call, request, guide.explain(call, words))
            guide.succeeded(call)
            return result

        async def awrap_tool_call(
            self, request: Any, handler: Callable[[Any], Awaitable[Any]]
        ) -> Any:
            if (call := call_of(request)) is None:
                return await handler(request)
            if over := guide.over(call):
                return message(call, request, over)
            try:
                result = await handler(request)
            except Exception as error:
                if goes_its_way(error):
                    raise
                return message(call, request, await guide.aexplain(call, words_of(error)))
            if (words := refused(result)) is not None:
                return message(call, request, await guide.aexplain(call, words))
            guide.succeeded(call)
            return result

        def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
            return handler(described(request))

        async def awrap_model_call(
            self, request: Any, handler: Callable[[Any], Awaitable[Any]]
        ) -> Any:
            return await handler(described(request))

    def described(request: Any) -> Any:
        if unseen:
            _warn_of_unseen(unseen, [_name_of(tool) for tool in request.tools])
            unseen.clear()
        if not guide.standing:
            return request
        tools = [
            tool.model_copy(update={"description": guide.described(tool.description)})
            if isinstance(tool, BaseTool) and (chosen is None or tool.name in chosen)
            else tool
            for tool in request.tools
        ]
        return request.override(tools=tools)

    return ReferenceMiddleware()


def _name_of(tool: Any) -> str:
    """Return a tool's name; that of a provider may stand in a dictionary, one or two deep."""
    if isinstance(tool, Mapping):
        inner = tool.get("function")
        return str((inner if isinstance(inner, Mapping) else tool).get("name", ""))
    return str(getattr(tool, "name", ""))


def _warn_of_unseen(chosen: Iterable[str], known: Sequence[str]) -> None:
    """Say which names are of no tool: a reference about them would never be shown."""
    for name in sorted(set(chosen) - set(known)):
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(known) or 'none'}."
        warnings.warn(
            f"reference_middleware is about the tool {name!r}, and the model has none of this "
            f"name; {hint}",
            stacklevel=2,
        )


# -- what is said to the model ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Call:
    """A call as the model made it, and the run it belongs to (None by hand)."""

    tool: str
    run: Hashable | None
    written: str


@dataclass
class _Refused:
    """The refusals in a row of one tool in one run."""

    count: int = 0
    inputs: set[str] = field(default_factory=set)


class _Guide:
    """What is told after a refusal, and how often; the same for a tool and for middleware."""

    def __init__(
        self,
        manual: Manual,
        when: When,
        max_tokens: int,
        is_error: Callable[[Any], bool],
        max_attempts: int,
    ) -> None:
        if when not in {"on_error", "always", "both"}:
            msg = f'`when` is {when!r}; give "on_error", "always" or "both".'
            raise ValueError(msg)
        for name, value in {
            "k": manual.k, "max_tokens": max_tokens, "max_attempts": max_attempts
        }.items():  # fmt: skip
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                msg = f"`{name}` is {value!r}; give a whole number, at least 1."
                raise ValueError(msg)
        if not callable(is_error):
            msg = f"`is_error` is {is_error!r}; give a function of a result."
            raise TypeError(msg)
        self.is_error = is_error
        self.standing = when != "on_error"
        self._after_errors = when != "always"
        self._manual = manual
        self._max_tokens = max_tokens
        self._max_attempts = max_attempts
        self._refused: OrderedDict[tuple[str, Hashable | None], _Refused] = OrderedDict()
        self._lock = threading.Lock()
        if self.standing:
            self._beginning = manual.beginning(max_tokens)

    def described(self, description: str) -> str:
        """Return a tool's description with the reference."""
        return f"{description}\nIts reference:\n{self._beginning}"

    def over(self, call: _Call) -> str | None:
        """Say that the tool was refused too often in this run; None while it may be called."""
        with self._lock:
            refused = self._refused.get((call.tool, call.run))
        if call.run is None or refused is None or refused.count < self._max_attempts:
            return None
        return (
            f"{call.tool} was not called: it failed {refused.count} times in a row. "
            "Go on without it: answer from what is known, and say what could not be found."
        )

    def succeeded(self, call: _Call) -> None:
        """Begin a new count."""
        with self._lock:
            self._refused.pop((call.tool, call.run), None)

    def explain(self, call: _Call, words: str) -> str:
        """Return the observation after a refusal."""
        told = self._noted(call, words)
        sections, trouble = list[Document](), ""
        if self._after_errors:
            try:
                sections = self._manual.find(f"{words}\n{call.written}")
            except Exception as error:  # noqa: BLE001 - what the API said must not be lost with it
                trouble = words_of(error)
        return self._composed(told, sections, trouble)

    async def aexplain(self, call: _Call, words: str) -> str:
        """Return the observation after a refusal."""
        told = self._noted(call, words)
        sections, trouble = list[Document](), ""
        if self._after_errors:
            try:
                sections = await self._manual.afind(f"{words}\n{call.written}")
            except Exception as error:  # noqa: BLE001 - what the API said must not be lost with it
                trouble = words_of(error)
        return self._composed(told, sections, trouble)

    def _noted(self, call: _Call, words: str) -> str:
        """Count a refusal and return its first lines."""
        key = call.tool, call.run
        with self._lock:
            refused = self._refused.setdefault(key, _Refused())
            self._refused.move_to_end(key)
            refused.count += 1
            count, repeated = refused.count, call.written in refused.inputs
            refused.inputs.add(call.written)
            if call.run is None and len(refused.inputs) > _MAX_RUNS:
                refused.inputs.clear()  # calls by hand have no end
            while len(self._refused) > _MAX_RUNS:
                self._refused.popitem(last=False)
        number = f" (refusal {count} of {self._max_attempts})" if call.run is not None else ""
        lines = [
            f"{call.tool} failed{number}: {clip(words, _WORDS)}",
            f"Its input was: {clip(call.written, _WORDS)}",
        ]
        if repeated:
            lines.append("This same input has failed before; change it, or do without it.")
        if call.run is not None and count >= self._max_attempts:
            lines.append(
                f"{call.tool} will not be called again in this run: answer from what is known, "
                "and say what could not be found."
            )
        return "\n".join(lines)

    def _composed(self, told: str, sections: list[Document], trouble: str) -> str:
        if trouble:
            return f"{told}\nThe reference could not be read: {clip(trouble, _WORDS)}"
        shown, left = list[str](), self._max_tokens
        for number, section in enumerate(sections, 1):
            text = f"[{number}] {section.page_content.strip()}"
            if (cost := estimate_tokens(text)) > left:
                if not shown:
                    shown.append(clip(text, left))
                break
            shown.append(text)
            left -= cost
        if not shown:
            return told
        return "\n".join([told, "From the reference, what may help to mend it:", *shown])


def _run_of(config: RunnableConfig | None, callbacks: Any) -> Hashable | None:
    """Say which run a call belongs to. A thread of conversation is many: refusals are forgotten."""
    configurable = dict((config or {}).get("configurable") or {})
    configurable.pop("thread_id", None)
    return run_key({"configurable": configurable}, getattr(callbacks, "parent_run_id", None))


def _written(given: Any, hidden: frozenset[str]) -> str:
    """Write an input as the model gave it, without what LangChain adds to it."""
    if not isinstance(given, Mapping):
        return " ".join(str(given).split())
    shown = {name: value for name, value in given.items() if name not in hidden}
    if len(shown) == 1 and isinstance(only := next(iter(shown.values())), str):
        return " ".join(only.split())
    return json.dumps(shown, ensure_ascii=False, default=str)


# -- the tool ---------------------------------------------------------------------------------

_call: ContextVar[_Call | None] = ContextVar("langchain_custom_agents.guided_call", default=None)


class _GuidedError(ToolException):
    """A refusal that has been explained: its words are the observation."""


def _guided(kind: type[BaseTool], guide: _Guide, handle: Any) -> type[BaseTool]:
    """Make a kind of tool that explains its refusals; `handle` is how the tool words its own.

    A subclass rather than a tool around the tool: so schema, injected arguments, artifacts,
    callbacks and traces stay exactly what they were.
    """

    class Guided(kind):  # type: ignore[valid-type, misc]
        def run(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
            with _noting(self, tool_input, kwargs):
                return super().run(tool_input, *args, **kwargs)

        async def arun(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
            with _noting(self, tool_input, kwargs):
                return await super().arun(tool_input, *args, **kwargs)

        def _parse_input(self, tool_input: Any, tool_call_id: str | None) -> Any:
            try:
                return super()._parse_input(tool_input, tool_call_id)
            except (ValidationError, ValidationErrorV1) as error:
                if is_control_flow(error):
                    raise
                handled = _handled(self.handle_validation_error, error)
                call = _call_of(self)
                raise _GuidedError(guide.over(call) or guide.explain(call, handled)) from error

        @functools.wraps(kind._run)
        def _run(self, *args: Any, **kwargs: Any) -> Any:
            call = _call_of(self)
            if over := guide.over(call):
                raise _GuidedError(over)
            try:
                result = super()._run(*args, **kwargs)
            except Exception as error:
                if (words := refused(error)) is None:
                    raise
                raise _GuidedError(guide.explain(call, words)) from error
            content = self._content_of(result)
            if guide.is_error(content):
                raise _GuidedError(guide.explain(call, words_of_result(content)))
            guide.succeeded(call)
            return result

        @functools.wraps(kind._arun)
        async def _arun(self, *args: Any, **kwargs: Any) -> Any:
            call = _call_of(self)
            if over := guide.over(call):
                raise _GuidedError(over)
            try:
                result = await super()._arun(*args, **kwargs)
            except Exception as error:
                if (words := refused(error)) is None:
                    raise
                raise _GuidedError(await guide.aexplain(call, words)) from error
            content = self._content_of(result)
            if guide.is_error(content):
                raise _GuidedError(await guide.aexplain(call, words_of_result(content)))
            guide.succeeded(call)
            return result

        def _content_of(self, result: Any) -> Any:
            pair = self.response_format == "content_and_artifact"
            return result[0] if pair and isinstance(result, tuple) and len(result) == 2 else result

    def refused(error: Exception) -> str | None:
        """Return what an exception says; None for one that must go its way."""
        if isinstance(error, _GuidedError) or goes_its_way(error):
            return None
        return _handled(handle if isinstance(error, ToolException) else None, error)

    Guided.__name__, Guided.__qualname__ = kind.__name__, kind.__qualname__
    return Guided


@contextlib.contextmanager
def _noting(tool: BaseTool, given: Any, told: Mapping[str, Any]) -> Iterator[None]:
    """Remember the call, also in the contexts that LangChain runs it in."""
    run = _run_of(told.get("config"), told.get("callbacks"))
    token = _call.set(_Call(tool.name, run, _written(given, _hidden(tool))))
    try:
        yield
    finally:
        _call.reset(token)


def _call_of(tool: BaseTool) -> _Call:
    return _call.get() or _Call(tool.name, None, "")


def _hidden(tool: BaseTool) -> frozenset[str]:
    """Return the arguments that LangChain gives to a tool and the model does not."""
    schema = tool.args_schema
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return frozenset()
    injected = frozenset(getattr(tool, "_injected_args_keys", ()))
    return injected | (frozenset(schema.model_fields) - frozenset(tool.args))


def _handled(handle: Any, error: Any) -> str:
    """Return what a tool itself says about an error, or else what the error says."""
    if isinstance(handle, str):
        return handle
    return str(handle(error)) if callable(handle) else words_of(error)
