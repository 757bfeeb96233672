"""What the tools share: one text as input, and sentences instead of exceptions."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.v1 import ValidationError as ValidationErrorV1

__all__ = ("ToolInput", "failure", "refusal")


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
    reason = " ".join(str(error).split())[:300]
    name = type(error).__name__
    return (
        f"{tool} failed ({name}{': ' if reason else ''}{reason}). "
        "Try again once; if it fails again, go on without it."
    )
