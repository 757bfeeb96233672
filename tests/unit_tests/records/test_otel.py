"""The export to OpenTelemetry."""

import json

import pytest

from langchain_custom_agents.records import RunRecord, ToolRecord
from langchain_custom_agents.records.otel import export
from tests.unit_tests.records.runs import failed_run, hostile_run, long_run

sdk = pytest.importorskip("opentelemetry.sdk.trace")


def spans(record: RunRecord) -> list:
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    export(record, provider)
    return list(kept.get_finished_spans())


def test_a_run_is_a_tree_of_spans() -> None:
    """A run is one span, with one inside for each model call and each tool call, in its times."""
    record = long_run()
    *inner, run = spans(record)

    assert run.name == "invoke_agent ReActAgent"
    assert len(inner) == len(record.steps) + len(record.calls)
    assert all(span.parent.span_id == run.context.span_id for span in inner)
    assert all(run.start_time <= s.start_time <= s.end_time <= run.end_time for s in inner)
    assert run.end_time - run.start_time == round(record.seconds * 1e9)


def test_the_names_are_the_conventions() -> None:
    """Operations, models, tokens, messages and tools have the names of the conventions."""
    record = long_run()
    asked, called, *_ = spans(record)
    said = json.loads(asked.attributes["gen_ai.output.messages"])

    assert asked.attributes["gen_ai.operation.name"] == "text_completion"
    assert asked.attributes["gen_ai.usage.input_tokens"] == record.steps[0].tokens.read
    assert said[0]["parts"] == [{"type": "text", "content": record.steps[0].raw}]
    assert called.name == "execute_tool Search"
    assert called.attributes["gen_ai.tool.call.arguments"] == "Kyoto"
    assert called.attributes["gen_ai.tool.call.result"] == record.calls[0].observation


def test_every_name_is_one_of_the_conventions() -> None:
    """Whatever we call `gen_ai` is in OpenTelemetry's own list of names, and not deprecated."""
    named = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    known = {value for name, value in vars(named).items() if name.startswith("GEN_AI_")}
    old = {named.GEN_AI_SYSTEM, named.GEN_AI_PROMPT, named.GEN_AI_COMPLETION}
    used = {key for span in spans(long_run()) for key in span.attributes if key.startswith("gen")}

    assert used <= known - old


def test_tools_are_defined_as_the_conventions_say() -> None:
    """A tool's definition has its name, its description and a JSON schema of its parameters."""
    args = {"query": {"type": "string"}}
    record = long_run().model_copy(update={"tools": [ToolRecord(name="Search", args=args)]})
    *_, run = spans(record)

    assert json.loads(run.attributes["gen_ai.tool.definitions"]) == [
        {
            "type": "function",
            "name": "Search",
            "description": "",
            "parameters": {"type": "object", "properties": args},
        }
    ]


def test_failures_are_errors() -> None:
    """A failure has the status of an error and the type of the exception."""
    *_, asked, run = spans(failed_run())

    assert asked.attributes["error.type"] == run.attributes["error.type"] == "RuntimeError"
    assert not asked.status.is_ok


def test_strange_records_are_exported() -> None:
    """Nothing in a record, however strange, stops the export."""
    record = hostile_run()
    record.started = ""

    assert len(spans(record)) == 5
