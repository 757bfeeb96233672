"""Catching what a tool returns beside its observation.

LangChain's `BaseTool.run` drops the artifact of a tool that returns content and artifact, unless
it is given a tool-call id, which changes what every listener sees. So the one tool that is about
to be called is replaced by a copy whose `_run` notes the artifact in passing.
"""

import copy
import functools
from collections.abc import Mapping
from typing import Any

from langchain_core.agents import AgentAction
from langchain_core.tools import BaseTool


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
