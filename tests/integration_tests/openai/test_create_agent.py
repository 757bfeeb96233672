"""Models that only write text under `create_agent`, with OpenAI's real clients."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk
from langchain_core.tools import Tool
from langchain_openai import ChatOpenAI, OpenAI

from langchain_custom_agents import with_tool_calling
from langchain_custom_agents.models.asking import BrokenStreamError
from tests.integration_tests.openai.server import BREAK, TokenServer, token_server

pytestmark = pytest.mark.integration

STEP = "I look\nAction: Search\nAction Input: Takuma"
FICTION = "\nObservation: a doctor" + " and more" * 2_000
ANSWER = "I know\nFinal Answer: Takuma is a teacher."
QUESTION = {"messages": [("user", "Who is Takuma?")]}

CLIENTS = pytest.mark.parametrize("client", [ChatOpenAI, OpenAI])
WAYS = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])


@pytest.fixture
def server() -> Iterator[TokenServer]:
    """A server of words."""
    with token_server() as running:
        yield running


def agent_of(server: TokenServer, client: Any, **kwargs: Any) -> Any:
    """Make an agent whose model is a real client of the server."""
    model = client(base_url=server.url, api_key="x", max_retries=0, model="loopback")
    search = Tool("Search", lambda query: "takuma is a teacher", "looks things up")
    return create_agent(with_tool_calling(model, **kwargs), [search])


def answered(agent: Any, way: str) -> str:
    """Ask, and return the last message's text."""
    if way == "invoke":
        return str(agent.invoke(QUESTION)["messages"][-1].text)
    if way == "ainvoke":
        return str(asyncio.run(agent.ainvoke(QUESTION))["messages"][-1].text)
    if way == "stream":
        parts = list(agent.stream(QUESTION, stream_mode="messages"))
    else:

        async def gather() -> list[Any]:
            return [part async for part in agent.astream(QUESTION, stream_mode="messages")]

        parts = asyncio.run(gather())
    return "".join(chunk.text for chunk, _ in parts if isinstance(chunk, AIMessageChunk))


@CLIENTS
@WAYS
def test_an_agent_answers(server: TokenServer, client: Any, way: str) -> None:
    """The tool is called, and what the model invented is neither believed nor shown."""
    server.replies = [STEP + FICTION, ANSWER]

    assert answered(agent_of(server, client), way) == "Takuma is a teacher."
    assert "takuma is a teacher" in str(server.asked[1])
    assert "and more" not in str(server.asked[1])
    assert not any("tools" in request for request in server.asked)


@CLIENTS
@pytest.mark.parametrize("way", ["stream", "astream"])
def test_no_tokens_are_paid_for_fiction(server: TokenServer, client: Any, way: str) -> None:
    """Where a reply is streamed the connection is closed as an observation begins."""
    server.replies = [STEP + FICTION, ANSWER]

    assert answered(agent_of(server, client), way) == "Takuma is a teacher."
    assert server.settled()[0] < 400


@CLIENTS
@WAYS
def test_a_server_that_refuses_stop_is_asked_without(
    server: TokenServer, client: Any, way: str
) -> None:
    """One 400, once; then no stop sequences are sent."""
    server.replies, server.refuses_stop = [STEP + FICTION, ANSWER], True

    assert answered(agent_of(server, client), way) == "Takuma is a teacher."
    assert [bool(request.get("stop")) for request in server.asked] == [True, False, False]


@CLIENTS
@pytest.mark.parametrize("way", ["stream", "astream"])
def test_a_stream_that_breaks_off_goes_on(server: TokenServer, client: Any, way: str) -> None:
    """A reply that broke off is asked for again, and no word of the answer is said twice."""
    server.replies = [f"I know\nFinal Answer: Takuma is {BREAK}", ANSWER]

    assert answered(agent_of(server, client), way) == "Takuma is a teacher."
    assert len(server.asked) == 2


@CLIENTS
@pytest.mark.parametrize("way", ["stream", "astream"])
def test_a_server_that_always_breaks_off_is_an_error(
    server: TokenServer, client: Any, way: str
) -> None:
    """After three broken streams the caller is told so."""
    server.replies = [f"I know\nFinal Answer: Takuma is {BREAK}"] * 3

    with pytest.raises(BrokenStreamError, match="3 times"):
        answered(agent_of(server, client), way)


@CLIENTS
def test_a_misread_model_is_asked_again(server: TokenServer, client: Any) -> None:
    """The correction reaches the server, within one call of ours."""
    server.replies = ["I look\nAction: Serch\nAction Input: x", ANSWER]

    assert answered(agent_of(server, client), "invoke") == "Takuma is a teacher."
    assert "there is no tool named Serch" in str(server.asked[1])
