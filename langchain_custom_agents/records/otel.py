"""A record as a trace, by the GenAI semantic conventions of OpenTelemetry."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from langchain_custom_agents.records.messages import as_json, as_text
from langchain_custom_agents.records.record import CallRecord, RunRecord, StepRecord, ToolRecord

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

SYSTEM = "langchain_custom_agents"


def export(record: RunRecord, provider: "TracerProvider | None" = None) -> None:
    """Send a record to OpenTelemetry: a span for the run, one for each model call and tool call.

    The names are those of the GenAI semantic conventions: `invoke_agent`, `chat`,
    `text_completion` and `execute_tool`. The spans have the times of the run.

    Args:
        record: The record.
        provider: Where spans go; the global tracer provider if not given.

    Raises:
        ImportError: If `opentelemetry-api` is not installed.

    Source:
        OpenTelemetry, Semantic conventions for generative AI spans and agent spans.
    """
    try:
        from opentelemetry import trace
    except ImportError as error:
        msg = "Exporting to OpenTelemetry needs it: pip install opentelemetry-sdk."
        raise ImportError(msg) from error
    tracer = trace.get_tracer(SYSTEM, tracer_provider=provider)
    began = _nanoseconds(record.started)

    def span(
        name: str,
        kind: trace.SpanKind,
        parent: "Span | None",
        start: float,
        seconds: float,
        attributes: Mapping[str, Any],
        error: str,
    ) -> "Span":
        made = tracer.start_span(
            name,
            context=None if parent is None else trace.set_span_in_context(parent),
            kind=kind,
            start_time=began + round(start * 1e9),
            attributes={key: value for key, value in attributes.items() if value not in (None, "")},
        )
        if error:
            made.set_attribute("error.type", error.partition(":")[0])
            made.set_status(trace.StatusCode.ERROR, error)
        if parent is not None:
            made.end(began + round((start + seconds) * 1e9))
        return made

    inner, client = trace.SpanKind.INTERNAL, trace.SpanKind.CLIENT
    failed = record.why if record.ended == "failed" else ""
    name = f"invoke_agent {record.agent}".strip()
    run = span(name, inner, None, 0.0, record.seconds, _of_run(record), failed)
    for step in record.steps:
        asked = _of_step(step)
        named = f"{asked['gen_ai.operation.name']} {step.model}".strip()
        span(named, client, run, step.began, step.seconds, asked, step.error)
        for call in step.calls:
            start = call.began if call.began is not None else step.began + step.seconds
            taken = call.seconds or 0.0
            span(f"execute_tool {call.tool}", inner, run, start, taken, _of_call(call), call.error)
    run.end(began + round(record.seconds * 1e9))


def _of_run(record: RunRecord) -> dict[str, Any]:
    used = record.tokens
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": SYSTEM,
        "gen_ai.agent.name": record.agent,
        "gen_ai.request.model": record.steps[0].model if record.steps else "",
        "gen_ai.usage.input_tokens": used.read,
        "gen_ai.usage.output_tokens": used.written,
        "gen_ai.input.messages": as_json([_message("user", record.question)]),
        "gen_ai.output.messages": _output(record.answer, "stop"),
        "gen_ai.tool.definitions": as_json([_definition(tool) for tool in record.tools]),
        f"{SYSTEM}.dialect": record.dialect,
        f"{SYSTEM}.ended": record.ended,
        f"{SYSTEM}.why": record.why,
    }


def _definition(tool: ToolRecord) -> dict[str, Any]:
    about: dict[str, Any] = {"type": "function", "name": tool.name, "description": tool.description}
    if tool.args is not None:
        about["parameters"] = {"type": "object", "properties": tool.args}
    return about


def _of_step(step: StepRecord) -> dict[str, Any]:
    chats = not isinstance(step.prompt, str)
    reason = "tool_call" if step.tool_calls else "stop"
    return {
        "gen_ai.operation.name": "chat" if chats else "text_completion",
        "gen_ai.provider.name": SYSTEM,
        "gen_ai.request.model": step.model,
        "gen_ai.usage.input_tokens": step.tokens.read,
        "gen_ai.usage.output_tokens": step.tokens.written,
        "gen_ai.input.messages": as_json(_messages(step.prompt)),
        "gen_ai.output.messages": _output(step.raw, reason, step.tool_calls),
        "gen_ai.response.finish_reasons": None if step.raw is None else (reason,),
        f"{SYSTEM}.tokens_counted": step.tokens.counted,
        f"{SYSTEM}.cut": step.cut,
        f"{SYSTEM}.repairs": tuple(step.repairs) or None,
        f"{SYSTEM}.correction": step.correction,
        f"{SYSTEM}.retries": step.retries,
    }


def _of_call(call: CallRecord) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": as_text(call.input),
        "gen_ai.tool.call.result": call.observation,
    }


def _messages(prompt: str | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(prompt, str):
        return [_message("user", prompt)]
    return [
        _message(
            str(message["role"]),
            message["content"],
            message.get("tool_calls", ()),
            message.get("tool_call_id"),
        )
        for message in prompt
    ]


def _message(
    role: str, content: Any, calls: Sequence[Mapping[str, Any]] = (), answers: str | None = None
) -> dict[str, Any]:
    text = content if isinstance(content, str) else as_json(content)
    parts: list[dict[str, Any]] = []
    if answers is not None:
        parts.append({"type": "tool_call_response", "id": answers, "response": text})
    elif text:
        parts.append({"type": "text", "content": text})
    parts += [
        {
            "type": "tool_call",
            "id": call.get("id"),
            "name": call["name"],
            "arguments": call["args"],
        }
        for call in calls
    ]
    return {"role": role, "parts": parts}


def _output(said: str | None, reason: str, calls: Sequence[Mapping[str, Any]] = ()) -> str | None:
    if said is None:
        return None
    return as_json([{**_message("assistant", said, calls), "finish_reason": reason}])


def _nanoseconds(started: str) -> int:
    moment = datetime.fromisoformat(started) if started else datetime.now(timezone.utc)
    return round(moment.timestamp() * 1_000_000) * 1_000
