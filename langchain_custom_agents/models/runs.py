"""The model underneath as a run of its own: below the run that asks for it, heard and counted."""

from typing import Any
from uuid import UUID

from langchain_core.callbacks import (
    AsyncCallbackManager,
    AsyncCallbackManagerForLLMRun,
    BaseCallbackHandler,
    BaseCallbackManager,
    CallbackManager,
    CallbackManagerForLLMRun,
)
from langchain_core.messages import AIMessage, UsageMetadata
from langchain_core.messages.ai import add_usage
from langchain_core.outputs import LLMResult
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.utils.uuid import uuid7

from langchain_custom_agents.models._streamed import taps_streams

# What a provider says about its own form would be wrong about the message made of it.
_NOT_OURS = frozenset(("model_provider", "token_usage"))


Run = CallbackManagerForLLMRun | AsyncCallbackManagerForLLMRun


def begun(config: RunnableConfig | None, *, is_async: bool = False) -> tuple[RunnableConfig, Run]:
    """Return a configuration under which a call has a run that is known before it begins.

    LangChain's `stream` does not tell a model under which run it streams.
    """
    config = ensure_config(config)
    kind: Any = AsyncCallbackManager if is_async else CallbackManager
    manager = kind.configure(config.get("callbacks"))
    run_id = config.get("run_id") or uuid7()
    run: Any = AsyncCallbackManagerForLLMRun if is_async else CallbackManagerForLLMRun
    return {**config, "callbacks": manager, "run_id": run_id}, run(
        run_id=run_id,
        handlers=manager.handlers,
        inheritable_handlers=manager.inheritable_handlers,
        inheritable_tags=[*manager.inheritable_tags, *(config.get("tags") or ())],
        inheritable_metadata={**manager.inheritable_metadata, **(config.get("metadata") or {})},
    )


def child_of(run: Run | None) -> BaseCallbackManager:
    """Return the callbacks of a run below another.

    Whoever taps the stream of tokens is left out: the words underneath are no message.
    """
    if run is None:
        return CallbackManager([])
    is_async = isinstance(run, AsyncCallbackManagerForLLMRun)
    kind: Any = AsyncCallbackManager if is_async else CallbackManager
    child: BaseCallbackManager = kind(handlers=[], parent_run_id=run.run_id)
    child.set_handlers([h for h in run.inheritable_handlers if not taps_streams(h)])
    child.add_tags(run.inheritable_tags)
    child.add_metadata(run.inheritable_metadata)
    return child


class Ears(BaseCallbackHandler):
    """Hears what the calls of the model underneath used, and what was told about the last.

    Example:
        >>> Ears().told(AIMessage("Hello!")).usage_metadata is None
        True
    """

    # Not inline: where one handler is, LangChain's asynchronous text models tell no other
    # handler that they start.
    run_inline = False

    def __init__(self) -> None:
        self.usage: UsageMetadata | None = None
        self._info: dict[str, Any] = {}
        self._runs: set[UUID] = set()

    def on(self, callbacks: BaseCallbackManager) -> RunnableConfig:
        """Listen to what is called with these callbacks."""
        callbacks.add_handler(self, inherit=True)
        return {"callbacks": callbacks}

    def told(self, message: AIMessage) -> AIMessage:
        """Return a message with what was heard."""
        message.usage_metadata = self.usage
        message.response_metadata = {**self._info, **message.response_metadata}
        return message

    def on_llm_start(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """Note a call of a text model."""
        self._runs.add(run_id)

    def on_chat_model_start(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """Note a call of a chat model."""
        self._runs.add(run_id)

    def on_llm_end(
        self, response: LLMResult, *, parent_run_id: UUID | None = None, **_: Any
    ) -> None:
        """Add up what a call used; one that a call was made of is counted there."""
        if parent_run_id in self._runs or not response.generations or not response.generations[0]:
            return
        generation = response.generations[0][0]
        message = getattr(generation, "message", None)
        output = response.llm_output or {}
        said = {**output, **(generation.generation_info or {})}
        said |= getattr(message, "response_metadata", {})
        self._info = {key: value for key, value in said.items() if key not in _NOT_OURS}
        used = getattr(message, "usage_metadata", None) or _usage(output, said)
        if used:
            self.usage = add_usage(self.usage, used)


def _usage(output: dict[str, Any], said: dict[str, Any]) -> UsageMetadata | None:
    """Return what a text model used, as OpenAI's protocol or Ollama's tells it."""
    told = output.get("token_usage") or said.get("token_usage") or {}
    read = told.get("prompt_tokens", said.get("prompt_eval_count"))
    written = told.get("completion_tokens", said.get("eval_count"))
    if not isinstance(read, int) or not isinstance(written, int):
        return None
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
