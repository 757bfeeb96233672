"""What goes into a call beside its arguments, and what comes out beside its observation.

A tool may ask for the id of its call, the state or a store, which no model gives; it may be
asynchronous where the run is not; and LangChain's `BaseTool.run` drops the artifact of a tool
that returns content and artifact, unless it is given a tool-call id, which changes what every
listener sees. Where a tool asks for more, or gives more, a copy of it is called.
"""

import copy
import functools
import inspect
import sys
from collections.abc import Mapping
from typing import Any, get_origin
from uuid import uuid4

from langchain_core.agents import AgentAction
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import merge_configs
from langchain_core.tools import BaseTool, InjectedToolCallId
from langchain_core.tools.base import get_all_basemodel_annotations
from pydantic import BaseModel

from langchain_custom_agents._awaited import awaited
from langchain_custom_agents.tools._pages import BY_EXECUTOR


def with_injected(
    tool: BaseTool,
    action: AgentAction,
    state: Mapping[str, Any] | None = None,
    store: Any = None,
    config: RunnableConfig | None = None,
) -> BaseTool:
    """Return a tool that is ready to run an action: `tool.run(action.tool_input)`.

    LangChain's executors cannot run a tool that asks for the id of its call, the state or a
    store, and a tool with a JSON schema, as those of MCP servers, refuses a bare text.

    Args:
        tool: The tool that the action names.
        action: The action.
        state: What a tool that asks for the state is given: the inputs of the run, say, and
            `messages`.
        store: What a tool that asks for a store is given.
        config: What the run was configured with, for a tool that asks for its `ToolRuntime`.

    Returns:
        The tool itself if it asks for nothing; otherwise a copy for this one call.

    Example:
        >>> from typing import Annotated
        >>> from langchain_core.tools import tool
        >>> @tool
        ... def remember(text: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
        ...     "Remember a text."
        ...     return f"{text} under {call_id}"
        >>> action = AgentAction("remember", {"text": "tea"}, "")
        >>> with_injected(remember, action).run(action.tool_input)[:15]
        'tea under call_'
    """
    markers = _markers(tool.args_schema)
    runtime = _langgraphs("ToolRuntime")
    if not markers and not isinstance(tool.args_schema, dict):
        return tool
    parse = tool._parse_input
    call_id = getattr(action, "tool_call_id", None) or f"call_{uuid4().hex}"
    surroundings = {
        name: _part(state or {}, marker)
        for name, marker in markers.items()
        if _is(marker, _langgraphs("InjectedState"))
    }
    surroundings |= {
        name: _runtime(runtime, state or {}, call_id, store, config)
        for name, marker in markers.items()
        if marker is runtime
    }
    if store is not None:
        surroundings |= dict.fromkeys(_stores(tool.args_schema), store)

    def parse_with_injected(tool_input: Any, tool_call_id: str | None) -> Any:
        given = _named(tool_input, tool, markers)
        if isinstance(given, dict):
            given = {**given, **surroundings}
        return parse(given, tool_call_id or call_id)

    ready = copy.copy(tool)
    # Past pydantic, which knows no such field; an instance's attribute comes before its class's.
    object.__setattr__(ready, "_parse_input", parse_with_injected)
    return ready


def _named(given: Any, tool: BaseTool, markers: Mapping[str, Any]) -> Any:
    """Return a bare text under the name of the one argument it can be for."""
    if not isinstance(given, str):
        return given
    schema = tool.args_schema
    known = schema.get("properties", {}) if isinstance(schema, dict) else tool.args
    names = [name for name in known if name not in markers]
    if len(names) == 1:
        return {names[0]: given}
    return given or {}


def required_stores(tool: BaseTool) -> list[str]:
    """Return the arguments for which a tool must be given a store (LangGraph's `InjectedStore`)."""
    schema = tool.args_schema
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return []
    return [name for name in _stores(schema) if schema.model_fields[name].is_required()]


def _stores(schema: Any) -> list[str]:
    store = _langgraphs("InjectedStore")
    return [name for name, marker in _markers(schema).items() if _is(marker, store)]


@functools.lru_cache(maxsize=256)
def _markers_of(schema: type[BaseModel], kinds: tuple[Any, ...], runtime: Any) -> Mapping[str, Any]:
    annotations = get_all_basemodel_annotations(schema)
    marked = {
        name: marker
        for name, annotation in annotations.items()
        for marker in getattr(annotation, "__metadata__", ())
        if any(_is(marker, kind) for kind in kinds)
    }
    whole = {
        name: runtime
        for name, annotation in annotations.items()
        if runtime is not None and runtime in (annotation, get_origin(annotation))
    }
    return marked | whole


def _markers(schema: Any) -> Mapping[str, Any]:
    """Return the markers of the arguments that a model neither sees nor gives, by name."""
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return {}
    kinds = (InjectedToolCallId, _langgraphs("InjectedState"), _langgraphs("InjectedStore"))
    return _markers_of(schema, kinds, _langgraphs("ToolRuntime"))


def _langgraphs(name: str) -> Any:
    """Return a name of LangGraph's; None if nobody has loaded, and so nobody can have used it."""
    return getattr(sys.modules.get("langgraph.prebuilt.tool_node"), name, None)


def _runtime(
    kind: Any,
    state: Mapping[str, Any],
    call_id: str,
    store: Any,
    config: RunnableConfig | None,
) -> Any:
    """Make what surrounds a call: state, store, id and configuration; there is no graph."""
    return kind(
        state=dict(state),
        context=None,
        config=ensure_config(config),
        stream_writer=lambda _: None,
        tool_call_id=call_id,
        store=store,
    )


def _is(marker: Any, kind: Any) -> bool:
    if kind is None:
        return False
    return isinstance(marker, kind) or (isinstance(marker, type) and issubclass(marker, kind))


def _part(state: Mapping[str, Any], marker: Any) -> Any:
    field = getattr(marker, "field", None)
    return dict(state) if field is None else state.get(field)


def in_sync(tool: BaseTool) -> BaseTool:
    """Return a tool that can be called without awaiting: asynchronous ones get a loop of their own.

    Example:
        >>> from langchain_core.tools import tool
        >>> @tool
        ... async def search(query: str) -> str:
        ...     "Look something up."
        ...     return f"about {query}"
        >>> in_sync(search).run("Hiroko")
        'about Hiroko'
    """
    coroutine = getattr(tool, "coroutine", None)
    if coroutine is None or getattr(tool, "func", None) is not None:
        return tool

    @functools.wraps(coroutine)
    def call(*args: Any, **kwargs: Any) -> Any:
        return awaited(coroutine(*args, **kwargs))

    ready = copy.copy(tool)
    object.__setattr__(ready, "func", call)
    return ready


class _Configuration(BaseCallbackHandler):
    """Carries what a run was configured with: LangChain's chains hand on nothing but callbacks."""

    # It hears nothing. It is not inline: where one handler is, LangChain's asynchronous text models
    # tell no other handler that they start.
    ignore_llm = ignore_chat_model = ignore_chain = ignore_agent = True
    ignore_retriever = ignore_retry = ignore_custom_event = True

    def __init__(self, configurable: Mapping[str, Any]) -> None:
        self.configurable = configurable


def carrying(config: RunnableConfig | None) -> RunnableConfig:
    """Return a configuration of a run in which `configured` finds what may be configured."""
    config = ensure_config(config)
    return merge_configs(config, {"callbacks": [_Configuration(config.get("configurable") or {})]})


def configured(manager: Any) -> RunnableConfig:
    """Return what a run was configured with, for its tools.

    Args:
        manager: The callback manager of the run.
    """
    carried = [h for h in getattr(manager, "handlers", ()) if isinstance(h, _Configuration)]
    # Of a run within a run, the inner is the last.
    return {"configurable": {**carried[-1].configurable, BY_EXECUTOR: True} if carried else {}}


class ConfiguredTool:
    """A tool that is told what the run was configured with, which LangChain's executor keeps back.

    Args:
        tool: The tool. It is called itself, not a copy: it may keep a state.
        config: What the run was configured with.

    Example:
        >>> from langchain_core.tools import tool
        >>> @tool
        ... def whoami(config: RunnableConfig) -> str:
        ...     "Say who asks."
        ...     return config["configurable"]["user"]
        >>> ConfiguredTool(whoami, {"configurable": {"user": "Hiroko"}}).run({})
        'Hiroko'
    """

    def __init__(self, tool: BaseTool, config: RunnableConfig) -> None:
        self._tool, self._config = tool, config

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run the tool."""
        return self._told(self._tool.run)(*args, **kwargs)

    async def arun(self, *args: Any, **kwargs: Any) -> Any:
        """Run the tool without blocking."""
        return await self._told(self._tool.arun)(*args, **kwargs)

    def _told(self, run: Any) -> Any:
        """Return a way to run the tool that knows the configuration, if it can be told."""
        taken = inspect.signature(run).parameters.values()
        if any(each.name == "config" or each.kind is each.VAR_KEYWORD for each in taken):
            return functools.partial(run, config=self._config)
        return run


class ArtifactCatcher:
    """The tools of a call, the called one noting its artifact.

    Args:
        tools: The tools by name.
        action: The call.

    Attributes:
        tools: The tools to call from.
        artifact: What the tool returned beside its observation; None before the call.

    Example:
        >>> from langchain_core.tools import tool
        >>> @tool(response_format="content_and_artifact")
        ... def search(query: str):
        ...     "Look something up."
        ...     return "found", ["document"]
        >>> catcher = ArtifactCatcher({"search": search}, AgentAction("search", "x", ""))
        >>> catcher.tools["search"].run("x"), catcher.artifact
        ('found', ['document'])
    """

    def __init__(self, tools: Mapping[str, BaseTool], action: AgentAction) -> None:
        self.artifact: Any = None
        tool = tools.get(action.tool)
        if tool is None or tool.response_format != "content_and_artifact":
            self.tools = dict(tools)
            return
        noting = copy.copy(tool)
        for name in ("_run", "_arun"):
            self._note(noting, name)
        self.tools = {**tools, action.tool: noting}

    def _note(self, tool: BaseTool, name: str) -> None:
        run = getattr(tool, name)
        if name == "_arun":

            @functools.wraps(run)
            async def noting(*args: Any, **kwargs: Any) -> Any:
                return self._keep(await run(*args, **kwargs))

        else:

            @functools.wraps(run)
            def noting(*args: Any, **kwargs: Any) -> Any:
                return self._keep(run(*args, **kwargs))

        # Past pydantic, which knows no such field; an instance's attribute comes before its
        # class's method.
        object.__setattr__(tool, name, noting)

    def _keep(self, result: Any) -> Any:
        if isinstance(result, tuple) and len(result) == 2:
            self.artifact = result[1]
        return result
