"""Whether a reply is whole: cut off, broken off, or mended by the client without a word."""

import json
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler, Callbacks
from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolCall
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs

# Where providers say why a reply ended: OpenAI, Anthropic, Bedrock, Ollama, the Responses API.
_ENDINGS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
_CUT_OFF = frozenset({"length", "max_tokens", "model_length", "incomplete", "content_filter"})


def was_cut_off(message: AIMessage) -> bool:
    """Tell whether a provider says that a reply ended before its end.

    Example:
        >>> was_cut_off(AIMessage("Takuma is", response_metadata={"finish_reason": "length"}))
        True
    """
    endings = (message.response_metadata.get(key) for key in _ENDINGS)
    return any(isinstance(ending, str) and ending.lower() in _CUT_OFF for ending in endings)


def broke_off(message: BaseMessage) -> bool:
    """Tell whether a stream ended without saying why, so that its end may be missing.

    Only for OpenAI's protocol: there every reply has a reason for its end.
    """
    metadata = message.response_metadata
    return metadata.get("model_provider") == "openai" and not any(k in metadata for k in _ENDINGS)


class StreamedArguments(BaseCallbackHandler):
    """Hears the arguments of calls as they are streamed.

    LangChain completes streamed arguments that break off: of `{"city": "Kyo` it makes a call
    with the city Kyo, and the message does not show it. Only the pieces do.
    """

    run_inline = True

    def __init__(self) -> None:
        self._calls: dict[Any, dict[str, Any]] = {}

    def config(self, callbacks: Callbacks) -> RunnableConfig:
        """Return the configuration of a call that is listened to."""
        return merge_configs(ensure_config({"callbacks": callbacks}), {"callbacks": [self]})

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Begin anew: a call may be repeated, or go to another model."""
        self._calls = {}

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, **kwargs: Any) -> None:  # noqa: ARG002
        """Gather the pieces of calls."""
        for piece in getattr(getattr(chunk, "message", None), "tool_call_chunks", ()):
            call = self._calls.setdefault(piece.get("index"), {"name": "", "args": "", "id": None})
            call["name"] += piece.get("name") or ""
            call["args"] += piece.get("args") or ""
            call["id"] = call["id"] or piece.get("id")

    def correct(self, message: Any) -> Any:
        """Return a reply with its calls as they were said: itself, unless one was completed."""
        if not isinstance(message, AIMessage) or not message.tool_calls or not self._calls:
            return message
        valid: list[ToolCall] = []
        invalid: list[InvalidToolCall] = []
        for call in self._calls.values():
            try:
                args = json.loads(call["args"] or "{}", strict=False)
            except ValueError:
                args = None
            if isinstance(args, dict):
                valid.append(
                    ToolCall(name=call["name"], args=args, id=call["id"], type="tool_call")
                )
            else:
                invalid.append(invalid_tool_call(**call))
        if len(invalid) <= len(message.invalid_tool_calls):
            return message
        return message.model_copy(update={"tool_calls": valid, "invalid_tool_calls": invalid})
