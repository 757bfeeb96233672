"""Asking a model: stop sequences, closed streams, streams that broke off."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.llms import LLM
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
    GenerationChunk,
    LLMResult,
)
from langchain_core.prompt_values import StringPromptValue
from langchain_core.tools import Tool

from langchain_custom_agents import AgentExecutor, ReActAgent
from langchain_custom_agents.dialects import CHINESE, ENGLISH, JAPANESE, Bracketed, JsonBlob
from langchain_custom_agents.models._streamed import Boundary
from langchain_custom_agents.models.asking import BrokenStreamError, asay, habits_of, say
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

PROMPT = StringPromptValue(text="Question: who?\nThought:")
STEP = "I look\nAction: Search\nAction Input: Hiroko"
FICTION = "\nObservation: a doctor\nThought: I know\nFinal Answer: a doctor" + " indeed" * 50
ANSWER = "I know\nFinal Answer: a teacher"

Way = Callable[..., str]


def in_time(*args: Any, **kwargs: Any) -> str:
    """Ask asynchronously."""
    return asyncio.run(asay(*args, **kwargs))


WAYS = pytest.mark.parametrize("way", [say, in_time])


class Tape:
    """What a streaming fake says, and what was drawn from it: shared by the two fakes below."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.drawn: list[int] = []
        self.closed: list[bool] = []
        self.stops: list[Any] = []
        self.generated = 0

    def words(self) -> list[str]:
        """Take the next reply and cut it into tokens of four letters."""
        said = self.replies.pop(0)
        if isinstance(said, Exception):
            raise said
        return [said[at : at + 4] for at in range(0, len(said), 4)]

    def play(self, stop: Any) -> Iterator[tuple[str, Any]]:
        """Say the next reply token by token, and why it ended; "…" breaks off, "!" raises."""
        self.stops.append(stop)
        words = self.words()
        self.drawn.append(0)
        self.closed.append(False)
        try:
            for word in words:
                if "!" in word:
                    msg = "peer closed connection"
                    raise ConnectionError(msg)
                if "…" in word:
                    return
                self.drawn[-1] += 1
                yield word, None
            yield "", "stop"
        finally:
            self.closed[-1] = True


class Chat(BaseChatModel):
    """A chat model that streams and says why a stream ended."""

    tape: Any
    provider: str = ""

    @property
    def _llm_type(self) -> str:
        return "tape"

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.tape.generated += 1
        self.tape.stops.append(stop)
        said = "".join(self.tape.words())
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said))])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for word, why in self.tape.play(stop):
            metadata = {"model_provider": self.provider} if self.provider else {}
            message = AIMessageChunk(word, response_metadata=metadata)
            info = {"finish_reason": why} if why else None
            yield ChatGenerationChunk(message=message, generation_info=info)

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        chunks = self._stream(messages, stop, run_manager, **kwargs)
        try:
            for chunk in chunks:
                yield chunk
        finally:
            chunks.close()


class Text(LLM):
    """A text model that streams and says why a stream ended."""

    tape: Any

    @property
    def _llm_type(self) -> str:
        return "tape"

    def _call(self, prompt: str, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> str:
        self.tape.generated += 1
        self.tape.stops.append(stop)
        return "".join(self.tape.words())

    def _stream(
        self, prompt: str, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[GenerationChunk]:
        for word, why in self.tape.play(stop):
            chunk = GenerationChunk(text=word, generation_info={"finish_reason": why})
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


class Log(BaseCallbackHandler):
    """Writes down what callbacks are told."""

    run_inline = True

    def __init__(self) -> None:
        self.events: list[str] = []
        self.ends: list[LLMResult] = []

    def on_llm_start(self, *args: Any, **kwargs: Any) -> None:
        """Note a start."""
        self.events.append("start")

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        """Note a start."""
        self.events.append("start")

    def on_llm_end(self, response: LLMResult, **kwargs: Any) -> None:
        """Note an end."""
        self.events.append("end")
        self.ends.append(response)

    def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        """Note an error."""
        self.events.append("error")


MODELS = pytest.mark.parametrize("model", [Chat, Text])


def ask(way: Way, llm: Any, stop: Any = ENGLISH.stop, **kwargs: Any) -> tuple[str, Log]:
    """Ask a model in English, and return its words and what callbacks were told."""
    log = Log()
    config = {"callbacks": [log]}
    return way(llm, PROMPT, stop, config, dialect=ENGLISH, **kwargs), log


# Stop sequences.


@WAYS
def test_stop_is_sent_where_it_is_accepted(way: Way) -> None:
    """A model that takes stop sequences is sent them at every call."""
    llm = ScriptedLLM([STEP, ANSWER], honors_stop=True)

    ask(way, llm)
    ask(way, llm)

    assert llm.stops == [list(ENGLISH.stop)] * 2


@WAYS
def test_stop_is_dropped_where_it_is_refused_and_never_sent_again(way: Way) -> None:
    """A call that fails naming stop is repeated once without; the model object is remembered."""
    llm, other = (ScriptedChatModel([STEP, ANSWER], refuses_stop=True) for _ in range(2))

    assert ask(way, llm)[0] == STEP
    assert ask(way, llm)[0] == ANSWER
    assert [call["stop"] for call in llm.calls] == [list(ENGLISH.stop), None, None]
    assert habits_of(llm).refuses_stop
    assert not habits_of(other).refuses_stop


@pytest.mark.parametrize(
    "said",
    [
        "Unsupported parameter: 'stop' is not supported with this model.",
        "_generate() got an unexpected keyword argument 'stop'",
        "Malformed input request: extraneous key [stop_sequences] is not permitted",
        "ValidationException: stopSequences is not supported",
        "`stop` words are not taken by this endpoint",
    ],
)
def test_refusals_of_several_providers_are_understood(said: str) -> None:
    """However a provider names the stop sequences that it refuses, they are dropped."""
    llm = ScriptedLLM([ValueError(said), STEP])

    assert ask(say, llm)[0] == STEP
    assert [bool(stop) for stop in llm.stops] == [True, False]


@WAYS
def test_what_does_not_name_stop_is_raised(way: Way) -> None:
    """An error of another kind is the caller's to see, and nothing is asked again."""
    llm = ScriptedLLM([ValueError("the server stopped, unstoppable-like"), STEP])

    with pytest.raises(ValueError, match="unstoppable"):
        ask(way, llm)
    assert len(llm.prompts) == 1


def test_a_limit_that_asks_to_stop_is_no_refusal() -> None:
    """A 429 in whose text the word stop stands says nothing about stop sequences."""
    error = RuntimeError("Please stop: too many requests")
    error.status_code = 429  # type: ignore[attr-defined]
    llm = ScriptedLLM([error])

    with pytest.raises(RuntimeError, match="too many"):
        ask(say, llm)
    assert not habits_of(llm).refuses_stop


@WAYS
def test_a_refusal_counts_once_the_call_works_without(way: Way) -> None:
    """If the call fails without stop sequences too they were not the reason: nothing is kept."""
    llm = ScriptedLLM([ValueError("bad stop"), ValueError("bad stop and more"), STEP])

    with pytest.raises(ValueError, match="more"):
        ask(way, llm)
    assert not habits_of(llm).refuses_stop


# Boundaries.


@pytest.mark.parametrize(
    ("dialect", "text", "at"),
    [
        (ENGLISH, STEP + "\nObservation:", None),
        (ENGLISH, STEP + "\n**Observation:**", STEP + "\n**Observation:"),
        (ENGLISH, STEP + " Observation:", None),
        (JAPANESE, "行動: 検索\n観察：", None),
        (CHINESE, "行动: 搜索\n观察:", None),
        (Bracketed(), "Action: Search[x]\nObservation 1:", None),
        (JsonBlob(), "Action:\n```json\n{}\n```\nObservation:", None),
    ],
)
def test_a_boundary_is_reached_when_the_label_is_whole(dialect: Any, text: str, at: Any) -> None:
    """Letter by letter, the boundary is reached with the last letter of the label, not before."""
    boundary = Boundary(dialect.stop, dialect)

    reached = [boundary.reached_by(letter) for letter in text]

    assert reached.index(True) == len(at or text) - 1


@pytest.mark.parametrize(
    "text",
    [
        "Observing is fun\nobservations: none of them",
        "I say Observation: in a line",
        "Final Answer: it says Observation: in a line",
        "Final Answer: a\n\\Observation: quoted",
        "Final Answer: x\nObserv",
    ],
)
def test_what_only_looks_like_an_observation_is_none(text: str) -> None:
    """A longer word, a label in mid-line, an escaped one and half of one close no stream."""
    boundary = Boundary(ENGLISH.stop, ENGLISH)

    assert not any(boundary.reached_by(letter) for letter in text)


def test_reasoning_is_no_boundary() -> None:
    """What stands in a reasoning block does not end the reply that follows it."""
    boundary = Boundary(ENGLISH.stop, ENGLISH)

    assert not boundary.reached_by("<think>maybe\nObservation: x\n")
    assert not boundary.reached_by("</think>" + STEP)


def test_a_model_that_thinks_first_is_heard_out() -> None:
    """A reply in a reasoning block that the prompt opened has no boundary before the block ends."""
    boundary = Boundary(ENGLISH.stop, ENGLISH, thinking=True)

    assert not boundary.reached_by("maybe\nObservation: x\n")
    assert not boundary.reached_by("</think>" + STEP)
    assert boundary.reached_by("\nObservation:")


@WAYS
@MODELS
def test_that_a_model_thinks_first_is_learned_from_its_replies(way: Way, model: Any) -> None:
    """Once a reply ended a block that it had not opened, what such a block holds closes nothing."""
    thinking = "Perhaps so:\nObservation: none\nOr not.</think>" + STEP
    asked = model(tape=Tape(thinking, "I look.</think>" + STEP, thinking))
    said = [way(asked, PROMPT, ENGLISH.stop, {}, dialect=ENGLISH, streaming=True) for _ in range(3)]

    assert "</think>" not in said[0]
    assert said[2] == thinking


def test_a_boundary_is_looked_for_in_linear_time() -> None:
    """Ten times the letters take ten times the looks at most, in one line or in many."""
    for line in ("x" * 1_000, "\n" * 1_000, "Observ\n" * 1_000):
        looks: list[int] = []

        class Counting(type(ENGLISH)):  # type: ignore[misc]
            def cut(self, words: str) -> tuple[str, str]:
                looks.append(len(words))  # noqa: B023
                return super().cut(words)

        boundary = Boundary(ENGLISH.stop, Counting())
        for letter in line * 3:
            boundary.reached_by(letter)

        assert max(looks, default=0) <= 310
        assert len(looks) <= 2 * len(line * 3)


# Closing.


@WAYS
@MODELS
def test_a_stream_is_closed_where_an_observation_begins(way: Way, model: Any) -> None:
    """No token after the invented label is drawn, and the stream is closed."""
    tape = Tape(STEP + FICTION)

    said, log = ask(way, model(tape=tape), streaming=True)

    assert ENGLISH.read(said).move == ENGLISH.read(STEP).move
    assert tape.drawn == [-(-len(STEP + "\nObservation:") // 4)]
    assert tape.closed == [True]
    assert log.events == ["start", "end"]
    assert log.ends[0].generations[0][0].text == said


@WAYS
@MODELS
def test_a_closed_stream_says_stop_as_a_server_would(way: Way, model: Any) -> None:
    """The trace of a closed stream reads like that of a model which honours stop sequences."""
    _, log = ask(way, model(tape=Tape(STEP + FICTION)), streaming=True)
    generation = log.ends[0].generations[0][0]
    info = generation.generation_info or {}

    assert (info | getattr(generation, "message", AIMessage("")).response_metadata)[
        "finish_reason"
    ] == "stop"


@WAYS
@MODELS
def test_nothing_is_streamed_unless_there_is_a_reason(way: Way, model: Any) -> None:
    """With nobody listening and a model that stops, the model is called as LangChain does."""
    tape = Tape(STEP)

    ask(way, model(tape=tape))

    assert (tape.generated, tape.drawn) == (1, [])


@WAYS
@MODELS
def test_a_model_that_ignored_stop_is_streamed_from_then_on(way: Way, model: Any) -> None:
    """After the first invented observation the next ones are not paid for."""
    tape = Tape(STEP + FICTION, STEP + FICTION)
    llm = model(tape=tape)

    ask(way, llm)
    ask(way, llm)

    assert tape.generated == 1
    assert tape.drawn[0] < 20
    assert tape.stops == [list(ENGLISH.stop)] * 2


@WAYS
def test_a_model_that_refuses_stop_is_streamed_at_once(way: Way) -> None:
    """The call that is repeated without stop sequences is already one that can be closed."""
    tape = Tape(ValueError("'stop' is not supported"), STEP + FICTION)

    said, log = ask(way, Chat(tape=tape))

    assert (tape.generated, tape.stops, tape.closed) == (1, [list(ENGLISH.stop), None], [True])
    assert log.events == ["start", "error", "start", "end"]
    assert "doctor" not in said


@WAYS
@MODELS
def test_an_agent_may_be_told_not_to_stream(way: Way, model: Any) -> None:
    """With streaming=False even a model that ignores stop sequences is called as it is."""
    tape = Tape(STEP + FICTION, STEP + FICTION)
    llm = model(tape=tape)

    ask(way, llm, streaming=False)
    ask(way, llm, streaming=False)

    assert (tape.generated, tape.drawn) == (2, [])


@WAYS
def test_a_stop_sequence_of_your_own_closes_a_stream(way: Way) -> None:
    """Stop sequences that are not the dialect's are kept to in the same way."""
    tape = Tape("I look\nAction: Search\nAction Input: x\nENOUGH and more and more and more")

    ask(way, Chat(tape=tape), stop=["\nENOUGH"], streaming=True)

    assert tape.drawn == [-(-len("I look\nAction: Search\nAction Input: x\nENOUGH") // 4)]


@WAYS
@MODELS
def test_the_model_counts_its_own_calls(way: Way, model: Any) -> None:
    """What a model remembers in its fields is not lost because it was watched."""

    class Counting(model):  # type: ignore[misc]
        count: int = 0

        def _stream(self, *args: Any, **kwargs: Any) -> Any:
            self.count += 1
            return super()._stream(*args, **kwargs)

    llm = Counting(tape=Tape(STEP, STEP))

    ask(way, llm, streaming=True)
    ask(way, llm, streaming=True)

    assert llm.count == 2
    assert "_stream" not in llm.__dict__


@WAYS
@MODELS
def test_a_wrapped_model_is_watched_inside(way: Way, model: Any) -> None:
    """bind, with_retry and with_fallbacks stay around a model whose stream is closed."""
    for wrap in (
        lambda llm: llm.bind(temperature=0),
        lambda llm: llm.with_retry(stop_after_attempt=2),
        lambda llm: llm.with_fallbacks([llm]),
    ):
        tape = Tape(STEP + FICTION)

        ask(way, wrap(model(tape=tape)), streaming=True)

        assert tape.closed == [True]
        assert tape.drawn[0] < 20


@WAYS
@MODELS
def test_a_cache_is_asked_first(way: Way, model: Any) -> None:
    """A streamed reply is cached like any other, and a cached one is not asked for."""
    tape = Tape(STEP)
    llm = model(tape=tape, cache=InMemoryCache())

    first, _ = ask(way, llm, streaming=True)
    second, _ = ask(way, llm, streaming=True)

    assert (first, second, len(tape.drawn)) == (STEP, STEP, 1)


@pytest.mark.parametrize("model", [Chat, Text])
async def test_token_events_for_text_models_as_for_chat_models(model: Any) -> None:
    """astream_events gives the tokens of a text model too, up to the invented observation."""
    tape = Tape(STEP + FICTION, ANSWER)
    search = Tool("Search", lambda query: "a teacher", "looks things up")
    agent = ReActAgent.from_llm_and_tools(model(tape=tape), [search])
    executor = AgentExecutor(agent=agent, tools=[search])
    kind = "on_chat_model_stream" if model is Chat else "on_llm_stream"

    tokens = [
        event["data"]["chunk"]
        async for event in executor.astream_events({"input": "Who?"}, version="v2")
        if event["event"] == kind
    ]
    said = "".join(
        getattr(token, "text", None) or getattr(token, "content", "") for token in tokens
    )

    assert said.replace("Observation:", "").split() == (STEP + "\n" + ANSWER).split()
    assert tape.closed == [True, True]


@WAYS
@pytest.mark.parametrize("model", [ScriptedLLM, ScriptedChatModel])
def test_a_reply_of_no_words_is_empty_streamed_or_not(way: Way, model: Any) -> None:
    """A model that says nothing may stream nothing; the agent can then ask again."""
    for streaming in (True, False):
        assert ask(way, model([""]), streaming=streaming)[0] == ""


# Streams that break off.


@WAYS
@MODELS
def test_a_stream_without_a_finish_reason_is_repeated(way: Way, model: Any) -> None:
    """Half a reply is not taken for a whole one where the model says why its streams end."""
    llm = model(tape=Tape(STEP, "I know\nFinal Answer: a tea…", ANSWER))

    ask(way, llm, streaming=True)
    said, log = ask(way, llm, streaming=True)

    assert said == ANSWER
    assert log.events == ["start", "end", "start", "end"]


@WAYS
def test_the_first_stream_of_openais_protocol_is_repeated_too(way: Way) -> None:
    """Where the protocol has finish reasons nothing needs to be learned first."""
    llm = Chat(tape=Tape("I know\nFinal Answer: a tea…", ANSWER), provider="openai")

    assert ask(way, llm, streaming=True)[0] == ANSWER


@WAYS
def test_a_stream_is_not_repeated_for_ever(way: Way) -> None:
    """After three broken streams in a row the caller is told, in a sentence."""
    llm = Chat(tape=Tape(*["I kn…"] * 3), provider="openai")

    with pytest.raises(BrokenStreamError, match=r"ended 3 times .* streaming=False"):
        ask(way, llm, streaming=True)


@WAYS
@MODELS
def test_a_connection_that_breaks_is_repeated(way: Way, model: Any) -> None:
    """What a client raises when its connection breaks in mid-stream is asked again as well."""
    llm = model(tape=Tape("I know\nFinal!!!!", "I know\nFinal!!!!", ANSWER))

    said, log = ask(way, llm, streaming=True)

    assert said == ANSWER
    assert log.events == ["start", "error", "start", "error", "start", "end"]


@WAYS
def test_a_connection_that_never_holds_is_raised(way: Way) -> None:
    """After three breaks the client's own exception is raised."""
    with pytest.raises(ConnectionError, match="peer closed"):
        ask(way, Chat(tape=Tape(*["I kn!!!!"] * 3)), streaming=True)


@WAYS
def test_a_model_that_never_gives_a_finish_reason_is_believed(way: Way) -> None:
    """A model of no known protocol, which never said why a stream ended, is taken at its word."""
    llm = ScriptedLLM([ANSWER])

    assert ask(way, llm, streaming=True)[0] == ANSWER
    assert len(llm.prompts) == 1
