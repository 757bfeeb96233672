"""Which model answers: the extractive stand-in, or one that LangChain can open by name."""

from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseLanguageModel

from langchain_custom_agents.cli.errors import Failure, using_model

STAND_IN = "the extractive stand-in, offline (not a language model)"
_TEXT = "openai-text:"
_CHAT = "init_chat_model"
_EMBEDDINGS = "init_embeddings"
_SUCH_AS = {_CHAT: "openai:gpt-4o-mini", _EMBEDDINGS: "openai:text-embedding-3-small"}


def open_model(name: str | None, *, tool_calling: bool) -> BaseLanguageModel[Any]:
    """Open a model.

    Args:
        name: PROVIDER:NAME as `init_chat_model` takes it; openai-text:NAME for OpenAI's
            completion protocol; None for the stand-in.
        tool_calling: Whether the agent calls tools the provider's way.

    Raises:
        Failure: If a package or a key is missing, or the name is not understood.
    """
    if name is None:
        from langchain_custom_agents.offline import ExtractiveChatModel, ExtractiveLLM

        return ExtractiveChatModel() if tool_calling else ExtractiveLLM()
    if name.startswith(_TEXT) and tool_calling:
        msg = f"{name} is a text model and cannot call tools: use --agent react, or a chat model."
        raise Failure(msg)
    with using_model(name):
        _check(name, _CHAT)
        if name.startswith(_TEXT):
            try:
                from langchain_openai import OpenAI
            except ModuleNotFoundError as error:
                msg = f"{name} needs a package: pip install 'langchain-custom-agents[openai]'."
                raise Failure(msg) from error
            return OpenAI(model=name.removeprefix(_TEXT), temperature=0)
        return _init("langchain.chat_models", _CHAT, name)  # type: ignore[no-any-return]


def open_embeddings(name: str | None) -> Embeddings:
    """Open an embedding model.

    Args:
        name: PROVIDER:NAME as `init_embeddings` takes it; None for hashing, which needs no model.

    Raises:
        Failure: If a package or a key is missing, or the name is not understood.
    """
    if name is None:
        from langchain_custom_agents.offline import HashingEmbeddings

        return HashingEmbeddings()
    with using_model(name):
        _check(name, _EMBEDDINGS)
        # Passages are short, and counting their tokens would download a tokenizer.
        known = {"check_embedding_ctx_length": False} if name.startswith("openai:") else {}
        return _init("langchain.embeddings", _EMBEDDINGS, name, **known)  # type: ignore[no-any-return]


def _check(name: str, function: str) -> None:
    """Refuse a name of which a half is missing: providers fail at it in ways of their own."""
    provider, colon, model = name.partition(":")
    if not provider.strip() or (colon and not model.strip()):
        raise _refused(f"{name!r} names no model", function)


def _refused(why: str, function: str) -> Failure:
    return Failure(f"{why}: give PROVIDER:NAME, such as {_SUCH_AS[function]}.")


def _init(module: str, function: str, name: str, **known: Any) -> Any:
    from importlib import import_module

    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        msg = "Naming a model needs langchain: pip install 'langchain-custom-agents[models]'."
        raise Failure(msg) from error
    try:
        return getattr(found, function)(name, **known)
    except ValueError as error:
        if "infer" not in str(error) and "provider" not in str(error).lower():
            raise
        provider, colon, _ = name.partition(":")
        why = f"LangChain knows no provider {provider!r}" if colon else f"{name!r} names no model"
        raise _refused(why, function) from error
