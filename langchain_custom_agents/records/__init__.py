"""What happened in a run, step by step: recorded, shown, stepped through, replayed, exported.

A name is loaded when it is first used, so that who needs only `records.visible` or
`records.redaction`, as every command does, loads nothing else.
"""

from typing import TYPE_CHECKING

from langchain_custom_agents._lazy import lazily

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

__getattr__, __dir__ = lazily(__name__, _HOMES)
