"""What the tools share: one text as input, and sentences instead of exceptions."""

from collections.abc import Hashable
from typing import Any, ClassVar, Literal

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.runnables import RunnableConfig, run_in_executor
from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.v1 import ValidationError as ValidationErrorV1

from langchain_custom_agents.tools._pages import run_key
from langchain_custom_agents.tools._refusals import is_control_flow, words_of

__all__ = ("TextTool", "ToolInput", "failure", "refusal")


class ToolInput(BaseModel):
    """One text. A model that names it otherwise is understood, as long as it gives only one."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    query: str = Field(description="What to look for.")

    @model_validator(mode="before")
    @classmethod
    def _under_any_name(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) == 1 and "query" not in given:
            return {"query": next(iter(given.values()))}
        return given


def refusal(error: ValidationError | ValidationErrorV1) -> str:
    """Tell the model how to call a tool whose input it got wrong."""
    del error  # pydantic's words are for programmers
    return 'This tool takes one text, for example {"query": "Takuma"}. Call it again with one text.'


def failure(tool: str, error: Exception) -> str:
    """Tell the model that a tool could not do its work, and why."""
    reason = " ".join(words_of(error).split())[:300]
    # What is not installed will not be there a moment later.
    advice = (
        "Go on without it: it cannot work before that is installed."
        if isinstance(error, ImportError)
        else "Try again once; if it fails again, go on without it."
    )
    return f"{tool} failed ({reason}). {advice}"


class TextTool(BaseTool):
    """A tool that finds something for a text and shows it; trouble is a sentence for the model.

    A subclass says how to find (`_find`, and `_afind` where that can be awaited) and how to show
    (`_shown`); what is around these is the same for all, sync and async.

    Attributes:
        needs: What it needs where it was given nothing but spaces; "" if it can say so itself.
    """

    args_schema: Any = ToolInput
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_validation_error: Any = refusal
    needs: ClassVar[str] = "words to look for"

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def _find(self, query: str, callbacks: Any) -> Any:
        """Find something; `callbacks` are those of this call's children."""
        raise NotImplementedError

    async def _afind(self, query: str, callbacks: Any) -> Any:
        """Find it without blocking."""
        return await run_in_executor(None, self._find, query, callbacks)

    def _shown(self, query: str, found: Any, run: Hashable | None) -> tuple[str, Any]:
        """Return what the model is told, and the artifact."""
        raise NotImplementedError

    def _failed(self, error: Exception) -> str:
        return failure(self.name, error)

    def _nothing(self) -> Any:
        """Return the artifact of a call that found nothing."""
        return []

    def _run(
        self,
        query: str,
        config: RunnableConfig,  # by this type LangChain knows to pass it; it may pass None
        run_manager: CallbackManagerForToolRun | None = None,
    ) -> tuple[str, Any]:
        asked, missing = self._asked(query)
        if missing:
            return missing, self._nothing()
        try:
            found = self._find(asked, run_manager.get_child() if run_manager else None)
        except Exception as error:
            if is_control_flow(error):
                raise  # an approval that is asked for in the search is no failure
            return self._failed(error), self._nothing()
        return self._shown(asked, found, _run_of(config, run_manager))

    async def _arun(
        self,
        query: str,
        config: RunnableConfig,
        run_manager: AsyncCallbackManagerForToolRun | None = None,
    ) -> tuple[str, Any]:
        asked, missing = self._asked(query)
        if missing:
            return missing, self._nothing()
        try:
            found = await self._afind(asked, run_manager.get_child() if run_manager else None)
        except Exception as error:
            if is_control_flow(error):
                raise  # an approval that is asked for in the search is no failure
            return self._failed(error), self._nothing()
        return self._shown(asked, found, _run_of(config, run_manager))

    def _asked(self, query: str) -> tuple[str, str]:
        """Return what is asked, and what to say if that is nothing."""
        asked = query.strip()
        return asked, f"{self.name} needs {self.needs}." if self.needs and not asked else ""


def _run_of(
    config: RunnableConfig | None,
    run_manager: CallbackManagerForToolRun | AsyncCallbackManagerForToolRun | None,
) -> Hashable | None:
    return run_key(config, run_manager.parent_run_id if run_manager else None)
