"""What happened in a run, step by step: recorded, shown, stepped through, replayed, exported.

A name is loaded when it is first used, so that who needs only `records.visible` or
`records.redaction`, as every command does, loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_custom_agents.records.playback import ReplayDifferenceError, replay
    from langchain_custom_agents.records.record import (
        CallRecord,
        RunRecord,
        StepRecord,
        Tokens,
        ToolRecord,
    )
    from langchain_custom_agents.records.recorder import Recorder
    from langchain_custom_agents.records.redaction import redact
    from langchain_custom_agents.records.stepper import Preview, Stepper

__all__ = (
    "CallRecord",
    "Preview",
    "Recorder",
    "ReplayDifferenceError",
    "RunRecord",
    "StepRecord",
    "Stepper",
    "Tokens",
    "ToolRecord",
    "redact",
    "replay",
)

_HOMES = {
    "CallRecord": "record",
    "Preview": "stepper",
    "Recorder": "recorder",
    "ReplayDifferenceError": "playback",
    "RunRecord": "record",
    "StepRecord": "record",
    "Stepper": "stepper",
    "Tokens": "record",
    "ToolRecord": "record",
    "redact": "redaction",
    "replay": "playback",
}


def __dir__() -> list[str]:
    """Name what is public, loaded or not."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Load a public name from its home the first time it is asked for (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
