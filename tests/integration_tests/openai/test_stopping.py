"""Stopping with the real clients: stop refused, stop ignored, streams closed and broken off."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.tools import Tool
from langchain_openai import ChatOpenAI, OpenAI

from langchain_custom_agents import AgentExecutor, ReActAgent
from langchain_custom_agents.agents.streaming import astream_answer, stream_answer
from langchain_custom_agents.models.asking import BrokenStreamError
from tests.integration_tests.openai.server import BREAK, TokenServer, token_server

pytestmark = pytest.mark.integration

STEP = "I look\nAction: Search\nAction Input: Takuma"
FICTION = "\nObservation: a doctor" + " and more" * 2_000
ANSWER = "I know\nFinal Answer: Takuma is a teacher."
QUESTION = {"input": "Who is Takuma?"}


@pytest.fixture
def server() -> Iterator[TokenServer]:
    """A server of words."""
    with token_server() as running:
        yield running


def executor(server: TokenServer, client: Any, **kwargs: Any) -> AgentExecutor:
    """Make an executor whose model is a real client of the server."""
    model = client(base_url=server.url, api_key="x", max_retries=0, model="loopback")
    tools = [Tool("Search", lambda query: "takuma is a teacher", "looks things up")]
    agent = ReActAgent.from_llm_and_tools(model, tools, **kwargs)
    return AgentExecutor(agent=agent, tools=tools)


def asked(made: AgentExecutor, way: str) -> str:
    """Ask synchronously or asynchronously."""
    if way == "invoke":
        return str(made.invoke(QUESTION)["output"])
    return str(asyncio.run(made.ainvoke(QUESTION))["output"])


CLIENTS = pytest.mark.parametrize("client", [ChatOpenAI, OpenAI])
WAYS = pytest.mark.parametrize("way", ["invoke", "ainvoke"])


@CLIENTS
@WAYS
def test_no_tokens_are_paid_for_fiction(server: TokenServer, client: Any, way: str) -> None:
    """Of 4,000 invented words the server writes a few before it notices the closed connection."""
    server.replies = [STEP + FICTION, ANSWER]
    made = executor(server, client, streaming=True)

    assert asked(made, way) == "Takuma is a teacher."
    assert server.settled()[0] < 400
    assert [bool(request["stop"]) for request in server.asked] == [True, True]


@CLIENTS
@WAYS
def test_a_server_that_ignored_stop_is_streamed_next(
    server: TokenServer, client: Any, way: str
) -> None:
    """The first invented observation is paid for, since nobody asked to stream; no other is."""
    server.replies = [STEP + FICTION, STEP + FICTION, ANSWER]
    made = executor(server, client)

    assert asked(made, way) == "Takuma is a teacher."
    first, second, third = server.settled()
    assert (first, third) == (len((STEP + FICTION).split(" ")), len(ANSWER.split(" ")))
    assert second < 400


@CLIENTS
@WAYS
def test_a_server_that_refuses_stop_is_asked_without(
    server: TokenServer, client: Any, way: str
) -> None:
    """One 400, once; then no stop sequences are sent, and streams are closed by us."""
    server.replies, server.refuses_stop = [STEP + FICTION, ANSWER], True
    made = executor(server, client)

    assert asked(made, way) == "Takuma is a teacher."
    assert [bool(request.get("stop")) for request in server.asked] == [True, False, False]
    assert server.settled()[0] < 400


@CLIENTS
@WAYS
def test_a_stream_without_a_finish_reason_is_repeated(
    server: TokenServer, client: Any, way: str
) -> None:
    """A reply that breaks off is asked for again, and half an answer is not given."""
    server.replies = [f"I know\nFinal Answer: Takuma is {BREAK}", ANSWER]
    made = executor(server, client, streaming=True)

    assert asked(made, way) == "Takuma is a teacher."
    assert len(server.asked) == 2


@CLIENTS
@WAYS
def test_a_server_that_always_breaks_off_is_an_error(
    server: TokenServer, client: Any, way: str
) -> None:
    """After three broken streams the caller is told so, rather than given half an answer."""
    server.replies = [f"I know\nFinal Answer: Takuma is {BREAK}"] * 3
    made = executor(server, client, streaming=True)

    with pytest.raises(BrokenStreamError, match="3 times"):
        asked(made, way)


@CLIENTS
async def test_the_answer_is_streamed_from_a_real_client(server: TokenServer, client: Any) -> None:
    """Words of the answer arrive as the server writes them, and nothing else does."""
    server.replies = [STEP + FICTION, ANSWER] * 2

    pieces = await asyncio.to_thread(list, stream_answer(executor(server, client), QUESTION))
    later = [piece async for piece in astream_answer(executor(server, client), QUESTION)]

    assert pieces == later == ["Takuma", " is", " a", " teacher."]


@CLIENTS
async def test_token_events_come_from_a_real_client(server: TokenServer, client: Any) -> None:
    """astream_events tells the tokens of text completions as it tells those of chat models."""
    server.replies = [STEP, ANSWER]
    kind = "on_llm_stream" if client is OpenAI else "on_chat_model_stream"

    events = [
        event
        async for event in executor(server, client).astream_events(QUESTION, version="v2")
        if event["event"] == kind
    ]

    assert len(events) >= len(f"{STEP} {ANSWER}".split(" "))
