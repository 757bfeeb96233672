"""LangChain's own tests for chat models, on text models and chat models that only write text.

What cannot pass is marked, with the reason; docs/create-agent.md lists it.
"""

from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from langchain_custom_agents.dialects import ENGLISH, JAPANESE, Bracketed, JsonBlob
from langchain_custom_agents.models.tool_calling import ToolCallingModel
from tests.unit_tests.models.obedient import ObedientChatModel, ObedientLLM

# The standard parameters of a chat model are those of the model underneath.
INNER = ("temperature", "max_tokens", "stop")


class OnText(ToolCallingModel):
    """A text model with tool calling."""

    def __init__(self, **kwargs: Any) -> None:
        inner = {key: kwargs.pop(key) for key in INNER if key in kwargs}
        for client in ("api_key", "timeout", "max_retries"):
            kwargs.pop(client, None)
        dialect = kwargs.get("dialect", ENGLISH)
        super().__init__(llm=self._inner(dialect=dialect, **inner), **kwargs)

    @classmethod
    def _inner(cls, **kwargs: Any) -> Any:
        return ObedientLLM(**kwargs)


class OnChat(OnText):
    """A chat model that only writes text, with tool calling."""

    @classmethod
    def _inner(cls, **kwargs: Any) -> Any:
        return ObedientChatModel(**kwargs)


def is_text_only(kind: str) -> Any:
    """Mark what fails because everything is said to the model as text."""
    reason = f"Everything is said to the model as text; {kind} are refused in a sentence."
    return pytest.mark.xfail(reason=reason, raises=ValueError, strict=True)


class _Described:
    """What the suites are told about the models."""

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return OnText

    @property
    def supports_json_mode(self) -> bool:
        return True

    @property
    def supports_model_override(self) -> bool:
        return True

    @property
    def model_override_value(self) -> str:
        return "another"

    @property
    def supports_anthropic_inputs(self) -> bool:
        return True


class TestUnitOnText(_Described, ChatModelUnitTests):
    """The unit suite, on a text model."""

    @property
    def init_from_env_params(self) -> tuple[dict, dict, dict]:
        return {"LC_OUTPUT_VERSION": "v1"}, self.chat_model_params, {"output_version": "v1"}

    @pytest.mark.xfail(
        reason="It holds a model and a dialect of yours, which LangChain's loader cannot make.",
        raises=NotImplementedError,
        strict=True,
    )
    def test_serdes(self, model: BaseChatModel) -> None:
        """Serialise it and load it again."""
        if not model.is_lc_serializable():
            raise NotImplementedError


class TestUnitOnChat(TestUnitOnText):
    """The unit suite, on a chat model."""

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return OnChat


class TestIntegrationOnText(_Described, ChatModelIntegrationTests):
    """The integration suite, on a text model. It needs no network."""

    @is_text_only("images")
    def test_image_inputs(self, model: BaseChatModel) -> None:
        """Show the model a picture."""
        model.invoke([HumanMessage([{"type": "image", "base64": "", "mime_type": "image/png"}])])

    @is_text_only("PDFs")
    def test_pdf_inputs(self, model: BaseChatModel) -> None:
        """Give the model a PDF."""
        model.invoke([HumanMessage([{"type": "file", "base64": ""}])])

    @is_text_only("sounds")
    def test_audio_inputs(self, model: BaseChatModel) -> None:
        """Let the model hear something."""
        model.invoke([HumanMessage([{"type": "audio", "base64": ""}])])

    @is_text_only("images")
    def test_image_tool_message(self, model: BaseChatModel) -> None:
        """Show the model a picture that a tool returned."""
        model.invoke(self._returned([{"type": "image", "base64": "", "mime_type": "image/png"}]))

    @is_text_only("PDFs")
    def test_pdf_tool_message(self, model: BaseChatModel) -> None:
        """Give the model a PDF that a tool returned."""
        model.invoke(self._returned([{"type": "file", "base64": ""}]))

    @pytest.mark.xfail(
        reason="It measures a model's recorded HTTP traffic; this model has none of its own.",
        raises=NotImplementedError,
        strict=True,
    )
    def test_stream_time(self, model: BaseChatModel) -> None:
        """Measure how long streaming takes."""
        raise NotImplementedError

    def _returned(self, content: list) -> list:
        call = {"name": "draw", "args": {}, "id": "1"}
        return [
            HumanMessage("Draw!"),
            AIMessage("", tool_calls=[call]),
            ToolMessage(content, tool_call_id="1"),
        ]


heard_twice = pytest.mark.xfail(
    reason="The chat model underneath is a run of its own, so that two chat models are started.",
    raises=AssertionError,
    strict=True,
)


class TestIntegrationOnChat(TestIntegrationOnText):
    """The integration suite, on a chat model."""

    @heard_twice
    @pytest.mark.parametrize("schema_type", ["pydantic", "typeddict", "json_schema"])
    def test_structured_output(self, model: BaseChatModel, schema_type: Any) -> None:
        """Structure a reply, and hear one chat model start."""
        super().test_structured_output(model, schema_type)

    @heard_twice
    @pytest.mark.parametrize("schema_type", ["pydantic", "typeddict", "json_schema"])
    async def test_structured_output_async(self, model: BaseChatModel, schema_type: Any) -> None:
        """Structure a reply, and hear one chat model start."""
        await super().test_structured_output_async(model, schema_type)

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return OnChat


class TestIntegrationInBrackets(TestIntegrationOnText):
    """The integration suite, with inputs in brackets."""

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"dialect": Bracketed()}


class TestIntegrationInJson(TestIntegrationOnText):
    """The integration suite, with actions in JSON."""

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"dialect": JsonBlob()}


class TestIntegrationInJapanese(TestIntegrationOnChat):
    """The integration suite, with labels in Japanese."""

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"dialect": JAPANESE}
