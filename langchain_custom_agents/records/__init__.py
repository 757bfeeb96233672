"""What happened in a run, step by step: recorded, shown, stepped through, replayed, exported."""

from langchain_custom_agents.records.record import (
    CallRecord,
    RunRecord,
    StepRecord,
    Tokens,
    ToolRecord,
)
from langchain_custom_agents.records.recorder import Recorder
from langchain_custom_agents.records.redaction import redact
from langchain_custom_agents.records.replay import ReplayDifferenceError, replay
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
