"""Which model answers, by name."""

import pytest

from langchain_custom_agents.cli.errors import Failure
from langchain_custom_agents.cli.models import open_embeddings, open_model


@pytest.mark.parametrize("name", ["", " ", ":", ":gpt-4o", "openai:", "openai: ", "openai-text:"])
def test_half_a_name_names_no_model(name):
    """A name without provider or model is refused before any provider is asked."""
    for opened in (lambda: open_model(name, tool_calling=False), lambda: open_embeddings(name)):
        with pytest.raises(Failure, match="names no model: give PROVIDER:NAME"):
            opened()


def test_a_provider_that_nobody_knows_is_named():
    """An unknown provider is refused by name, with an example of the kind that was wanted."""
    with pytest.raises(Failure, match=r"no provider 'foo': .* such as openai:gpt-4o-mini"):
        open_model("foo:bar", tool_calling=False)
    with pytest.raises(Failure, match=r"no provider 'foo': .* such as openai:text-embedding-3"):
        open_embeddings("foo:bar")


def test_a_text_model_cannot_call_tools():
    """A completion model is refused where tools are called in the provider's form."""
    with pytest.raises(Failure, match="cannot call tools"):
        open_model("openai-text:davinci-002", tool_calling=True)
