"""Messages and tool results as plain data, and back."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, get_buffer_string
from langchain_core.messages.tool import invalid_tool_call, tool_call
from pydantic import BaseModel

from langchain_custom_agents.agents._messages import calls_in, observed, text_in

_ROLES = {"human": "user", "ai": "assistant"}


def message_data(message: BaseMessage) -> dict[str, Any]:
    """Return a message as plain data.

    Example:
        >>> message_data(AIMessage("Hello!"))
        {'role': 'assistant', 'content': 'Hello!'}
    """
    role = _ROLES.get(message.type, message.type)
    data: dict[str, Any] = {"role": role, "content": _content(message.content)}
    calls = call_data(message)
    if calls:
        data["tool_calls"] = calls
    if isinstance(message, ToolMessage):
        data["tool_call_id"] = message.tool_call_id
    if message.name:
        data["name"] = message.name
    return data


def call_data(message: BaseMessage) -> list[dict[str, Any]]:
    """Return the calls in a message; arguments that are no JSON object stay text."""
    return [
        {
            "name": call.get("name") or "",
            "args": plain(call.get("args")),
            **({"legacy": True} if call.get("legacy") else {"id": call.get("id")}),
        }
        for call in calls_in(message)
    ]


def reply_of(raw: str, calls: Sequence[Mapping[str, Any]]) -> AIMessage:
    """Return the message that a model said, from its words and its calls.

    Example:
        >>> reply_of("", [{"name": "Search", "args": {"q": "x"}, "id": "1"}]).tool_calls[0]["args"]
        {'q': 'x'}
    """
    if calls and calls[0].get("legacy"):
        legacy = {"name": calls[0]["name"], "arguments": calls[0]["args"]}
        return AIMessage(raw, additional_kwargs={"function_call": legacy})
    valid = [call for call in calls if isinstance(call["args"], dict)]
    invalid = [call for call in calls if not isinstance(call["args"], dict)]
    return AIMessage(
        raw,
        tool_calls=[tool_call(name=c["name"], args=c["args"], id=c.get("id")) for c in valid],
        invalid_tool_calls=[
            invalid_tool_call(name=c["name"], args=c["args"], id=c.get("id")) for c in invalid
        ],
    )


def prompt_data(heard: Any) -> str | list[dict[str, Any]]:
    """Return a prompt as it was sent: a text as it is, messages as plain data."""
    return heard if isinstance(heard, str) else [message_data(message) for message in heard]


def prompt_text(prompt: str | Sequence[Mapping[str, Any]]) -> str:
    r"""Return a prompt as one text.

    Example:
        >>> prompt_text([{"role": "system", "content": "Be brief."}])
        'system: Be brief.'
    """
    if isinstance(prompt, str):
        return prompt
    return "\n\n".join(f"{message_label(message)}: {message_text(message)}" for message in prompt)


def message_label(message: Mapping[str, Any]) -> str:
    """Return whose message it is."""
    name = message.get("name")
    return f"{message['role']} ({name})" if name else str(message["role"])


def message_text(message: Mapping[str, Any]) -> str:
    """Return what a message says: its words, and its calls one in a line."""
    content = message["content"]
    words = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    calls = [f"{call['name']}({as_text(call['args'])})" for call in message.get("tool_calls", ())]
    return "\n".join(part for part in [words, *calls] if part)


def heard_text(heard: Any) -> str:
    """Return what a model was sent as one text, to count its tokens."""
    return heard if isinstance(heard, str) else get_buffer_string(heard)


def said_by_tool(output: Any) -> tuple[str, Any]:
    """Return what a tool's output says to the model, and its artifact."""
    artifact = output.artifact if isinstance(output, ToolMessage) else None
    said = observed(output)
    return said if isinstance(said, str) else (text_in(said) or as_json(said)), artifact


def sources_in(artifact: Any) -> list[dict[str, Any]]:
    """Return what is known of the documents in an artifact: their metadata."""
    documents = artifact if isinstance(artifact, list | tuple) else [artifact]
    return [plain(doc.metadata) for doc in documents if isinstance(doc, Document) and doc.metadata]


def plain(value: Any) -> Any:
    """Return data as JSON can hold it; what it cannot hold is described by a text.

    Example:
        >>> plain({"at": (1, 2), "by": object})
        {'at': [1, 2], 'by': "<class 'object'>"}
    """
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, BaseMessage):
        return message_data(value)
    if isinstance(value, Document):
        return {"page_content": value.page_content, "metadata": plain(value.metadata)}
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def as_text(given: Any) -> str:
    """Return a tool's input as text: a text as it is, arguments as JSON."""
    return given if isinstance(given, str) else as_json(plain(given))


def as_json(value: Any) -> str:
    """Return plain data in one line of JSON."""
    return json.dumps(value, ensure_ascii=False)


def _content(content: Any) -> Any:
    """Return a message's content: its text, unless there is more in it than text."""
    if isinstance(content, str):
        return content
    only_text = all(isinstance(b, str) or b.get("type") in ("text", "output_text") for b in content)
    return text_in(content) if only_text else plain(content)
