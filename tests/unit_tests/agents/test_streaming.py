"""Streaming the final answer, and token events."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_classic.callbacks import FinalStreamingStdOutCallbackHandler
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models.llms import LLM
from langchain_core.messages import AIMessage
from langchain_core.outputs import GenerationChunk
from langchain_core.tools import BaseTool, Tool, tool

from langchain_custom_agents import (
    AgentExecutor,
    OpenAIFunctionsAgent,
    ReActAgent,
    StructuredChatAgent,
)
from langchain_custom_agents.agents.streaming import (
    AsyncFinalAnswerStream,
    FinalAnswerStream,
    astream_answer,
    stream_answer,
)
from langchain_custom_agents.dialects import (
    CHINESE,
    ENGLISH,
    JAPANESE,
    Action,
    Answer,
    Bracketed,
    Conversational,
    Dialect,
    JsonBlob,
    SelfAsk,
)
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

DIALECTS = [ENGLISH, JAPANESE, CHINESE, Bracketed(), JsonBlob(), SelfAsk(), Conversational()]
ANSWER = "Takuma is a teacher.\nHe teaches maths.\n\n- at a school [1]\n- in Kyoto"


class Spelling(LLM):
    """A text model that says its replies in pieces of given lengths; at "§" its stream breaks."""

    replies: list[str]
    lengths: list[int]
    said: list[str] = []

    @property
    def _llm_type(self) -> str:
        return "spelling"

    def _call(self, prompt: str, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> str:
        return self.replies.pop(0)

    def _stream(
        self, prompt: str, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[GenerationChunk]:
        text, turn = self.replies.pop(0), 0
        while text:
            length = self.lengths[turn % len(self.lengths)]
            piece, text, turn = text[:length], text[length:], turn + 1
            if "§" in piece:
                msg = "peer closed connection"
                raise ConnectionError(msg)
            self.said.append(piece)
            chunk = GenerationChunk(text=piece)
            if run_manager:
                run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk


def search_tool(name: str = "Search") -> BaseTool:
    """Make a tool that finds something."""
    return Tool(name, lambda query: "Final Answer: takuma is a teacher", "looks things up")


def executor_of(llm: Any, dialect: Dialect = ENGLISH, **kwargs: Any) -> AgentExecutor:
    """Make an executor with one tool."""
    tools = [search_tool(dialect.only_tool or "Search")]
    family = StructuredChatAgent if isinstance(dialect, JsonBlob) else ReActAgent
    agent = family.from_llm_and_tools(llm, tools, dialect=dialect)
    return AgentExecutor(agent=agent, tools=tools, **kwargs)


def run_of(dialect: Dialect, answer: str = ANSWER) -> list[str]:
    """Write a run: a search, and the answer."""
    call = Action(dialect.only_tool or "Search", "Takuma")
    return [dialect.write("I look", call), dialect.write("I know now", Answer(answer))]


async def collected(pieces: AsyncIterator[str]) -> list[str]:
    """Collect what comes asynchronously."""
    return [piece async for piece in pieces]


def every_way(executor: Any, **kwargs: Any) -> Iterator[tuple[list[str], str | None]]:
    """Run an executor in each of the four ways: what came, and the output where it is known."""
    question = {"input": "Who is Takuma?"}
    yield list(stream_answer(executor(), question, **kwargs)), None
    yield asyncio.run(collected(astream_answer(executor(), question, **kwargs))), None
    heard: list[str] = []
    made = executor()
    config = {"callbacks": [FinalAnswerStream(made, heard.append, **kwargs)]}
    yield heard, made.invoke(question, config)["output"]
    later: list[str] = []
    made = executor()

    async def write(piece: str) -> None:
        later.append(piece)

    config = {"callbacks": [AsyncFinalAnswerStream(made, write, **kwargs)]}
    yield later, asyncio.run(made.ainvoke(question, config))["output"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_only_the_answer_comes_and_all_of_it(dialect: Dialect) -> None:
    """In every dialect and way the pieces are the output, however the tokens fall."""
    for lengths in ([1], [2, 3], [7], [1000]):
        for pieces, output in every_way(
            lambda lengths=lengths: executor_of(
                Spelling(replies=run_of(dialect), lengths=lengths), dialect
            )
        ):
            assert "".join(pieces) == ANSWER
            assert output in (None, ANSWER)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(
    answer=st.text(st.sampled_from('ab ]["{}\n\\:<|Final Answer*#é日😀'), min_size=1, max_size=60),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5),
)
@settings(max_examples=min(30, settings().max_examples))
def test_any_answer_in_any_pieces(dialect: Dialect, answer: str, lengths: list[int]) -> None:
    """Whatever the answer holds, and however it is cut, the pieces together are the output."""
    answer = Answer(answer).text or "x"
    executor = executor_of(Spelling(replies=run_of(dialect, answer), lengths=lengths), dialect)
    heard: list[str] = []

    output = executor.invoke(
        {"input": "Who?"}, {"callbacks": [FinalAnswerStream(executor, heard.append)]}
    )["output"]

    assert "".join(heard) == output


@pytest.mark.parametrize("dialect", DIALECTS)
def test_letters_come_as_they_are_said(dialect: Dialect) -> None:
    """Before the model has said the end of an answer, its beginning is there."""
    llm = Spelling(replies=run_of(dialect), lengths=[1])
    when: list[tuple[int, str]] = []
    executor = executor_of(llm, dialect)
    handler = FinalAnswerStream(executor, lambda piece: when.append((len(llm.said), piece)))

    executor.invoke({"input": "Who?"}, {"callbacks": [handler]})

    assert len(when) > 40
    assert when[0][1] == "T"
    assert when[0][0] < len("".join(run_of(dialect))) - 60


def test_pain_15_the_stock_handler_prints_nothing_where_ours_prints_the_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Tokens "Fin", "al A", ... are no answer for the stock handler; ours finds it."""
    executor = executor_of(Spelling(replies=run_of(ENGLISH), lengths=[3, 4]))
    heard: list[str] = []
    callbacks = [FinalStreamingStdOutCallbackHandler(), FinalAnswerStream(executor, heard.append)]

    executor.invoke({"input": "Who?"}, {"callbacks": callbacks})

    assert capsys.readouterr().out == ""
    assert "".join(heard) == ANSWER


def test_an_answer_that_needs_a_repair_comes_in_one_piece() -> None:
    """Where the reader has to mend something the answer is there at the end, and whole."""
    for pieces, _ in every_way(
        lambda: executor_of(Spelling(replies=["**final answer**: Takuma"], lengths=[2]))
    ):
        assert pieces == ["Takuma"]


def test_corrections_and_prose_are_not_the_answer() -> None:
    """What is read again, corrected or refused on the way is never passed on."""
    for pieces, output in every_way(
        lambda: executor_of(
            Spelling(
                replies=["Hello", "Action: Serch\nAction Input: x", *run_of(ENGLISH)], lengths=[3]
            )
        )
    ):
        assert "".join(pieces) == ANSWER
        assert output in (None, ANSWER)


def test_an_answer_that_is_refused_after_its_beginning_is_followed_by_a_line_break() -> None:
    """What was shown of it cannot be unsaid, but the answer that counts stands alone."""
    refused = "Final Answer: Action: Search\nAction Input: x"
    for pieces, output in every_way(
        lambda: executor_of(Spelling(replies=[refused, *run_of(ENGLISH)], lengths=[3]))
    ):
        assert "".join(pieces) == f"Action: Search\n{ANSWER}"
        assert output in (None, ANSWER)


def test_a_run_that_is_stopped_streams_what_it_returns() -> None:
    """At a limit the pieces are the text that says so, or the best answer."""
    for method, said in (("force", "Agent stopped"), ("generate", "Takuma is")):
        for pieces, output in every_way(
            lambda method=method: executor_of(
                Spelling(replies=run_of(ENGLISH), lengths=[2]),
                max_iterations=1,
                early_stopping_method=method,
            )
        ):
            assert "".join(pieces).startswith(said)
            assert output in (None, "".join(pieces))


def test_an_agent_within_a_tool_is_not_heard() -> None:
    """The answer of an agent that a tool asks is the tool's result, not the answer."""

    def executor() -> AgentExecutor:
        inner = executor_of(Spelling(replies=run_of(ENGLISH, "inner answer"), lengths=[2]))

        @tool("Search")
        def search(query: str) -> str:
            """Ask somebody else."""
            return str(inner.invoke({"input": query})["output"])

        llm = Spelling(replies=run_of(ENGLISH), lengths=[2])
        agent = ReActAgent.from_llm_and_tools(llm, [search])
        return AgentExecutor(agent=agent, tools=[search])

    for pieces, output in every_way(executor):
        assert "".join(pieces) == ANSWER
        assert output in (None, ANSWER)


def test_a_stop_sequence_of_your_own_ends_the_answer() -> None:
    """What follows a stop sequence that is not the dialect's is not passed on."""

    def executor() -> AgentExecutor:
        llm = Spelling(replies=["I know\nFinal Answer: Takuma END and more"], lengths=[3])
        agent = ReActAgent.from_llm_and_tools(llm, [], stop=["END", *ENGLISH.stop])
        return AgentExecutor(agent=agent, tools=[])

    for pieces, _ in every_way(executor):
        assert "".join(pieces) == "Takuma"


def test_a_repeated_stream_goes_on_where_the_broken_one_ended() -> None:
    """What was shown before a connection broke is not shown twice."""
    replies = ["I know\nFinal Answer: Takuma is§", "I know\nFinal Answer: Takuma is a teacher"]
    for pieces, _ in every_way(lambda: executor_of(Spelling(replies=list(replies), lengths=[1]))):
        assert "".join(pieces) == "Takuma is a teacher"


def test_a_handler_can_be_used_again() -> None:
    """One handler follows one run after another."""
    executor = executor_of(Spelling(replies=run_of(ENGLISH) * 2, lengths=[4]))
    heard: list[str] = []
    config = {"callbacks": [FinalAnswerStream(executor, heard.append)]}

    executor.invoke({"input": "Who?"}, config)
    executor.invoke({"input": "Who?"}, config)

    assert "".join(heard) == ANSWER * 2


def function_executor(*replies: AIMessage) -> AgentExecutor:
    """Make an executor of a tool-calling agent."""
    tools = [search_tool()]
    agent = OpenAIFunctionsAgent.from_llm_and_tools(ScriptedChatModel(list(replies)), tools)
    return AgentExecutor(agent=agent, tools=tools)


CALL = AIMessage(
    "I look him up.", tool_calls=[{"name": "Search", "args": {"__arg1": "Takuma"}, "id": "1"}]
)


def test_what_is_said_beside_a_call_is_not_the_answer() -> None:
    """Of a tool-calling model only the words of the reply without calls are passed on."""
    for pieces, output in every_way(lambda: function_executor(CALL, AIMessage(ANSWER))):
        assert "".join(pieces) == ANSWER
        assert output in (None, ANSWER)


def test_a_tool_calling_model_is_streamed_by_the_iterators() -> None:
    """The pieces are the model's tokens, passed on when no call can follow."""
    pieces = list(stream_answer(function_executor(CALL, AIMessage(ANSWER)), {"input": "Who?"}))

    assert len(pieces) > 5


def test_eager_passes_on_what_a_tool_calling_model_says_at_once() -> None:
    """Asked for, words are passed on before it is certain that no call follows."""
    executor = function_executor(CALL, AIMessage(ANSWER))

    pieces = list(stream_answer(executor, {"input": "Who?"}, eager=True))

    assert "".join(pieces) == "I look him up." + ANSWER


async def test_what_a_run_raises_is_raised_by_the_iterators() -> None:
    """An error of the model reaches whoever iterates, once."""
    with pytest.raises(ValueError, match="no model"):
        list(stream_answer(executor_of(ScriptedLLM([ValueError("no model")])), {"input": "?"}))
    with pytest.raises(ValueError, match="no model"):
        await collected(
            astream_answer(executor_of(ScriptedLLM([ValueError("no model")])), {"input": "?"})
        )


def test_closing_the_iterator_ends_the_run() -> None:
    """Nobody pays for words that nobody listens to."""
    llm = Spelling(replies=[ENGLISH.write("", Answer("word " * 5_000))], lengths=[5])
    before = set(threading.enumerate())
    pieces = stream_answer(executor_of(llm), {"input": "Who?"})

    assert next(pieces) == "wo"
    pieces.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
    assert len(llm.said) < 5_000


async def test_closing_the_asynchronous_iterator_cancels_the_run() -> None:
    """The task of the run is gone when the iterator is closed."""

    @tool("Search")
    async def search(query: str) -> str:
        """Wait for ever."""
        began.set()
        await asyncio.Event().wait()
        return ""

    began = asyncio.Event()
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM(run_of(ENGLISH)), [search])
    pieces = astream_answer(AgentExecutor(agent=agent, tools=[search]), {"input": "Who?"})
    first = asyncio.ensure_future(anext(pieces))
    await began.wait()

    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first

    assert asyncio.all_tasks() == {asyncio.current_task()}


class Tree(BaseCallbackHandler):
    """Writes down the tree of runs."""

    run_inline = True

    def __init__(self) -> None:
        self.names: dict[Any, str] = {}
        self.tree: list[str] = []

    def _note(self, name: str, run_id: Any, parent_run_id: Any) -> None:
        path = f"{self.names.get(parent_run_id, '')}/{name}"
        self.names[run_id] = path
        self.tree.append(path)

    def on_chain_start(self, *a: Any, run_id: Any, parent_run_id: Any = None, **k: Any) -> None:
        """Note a chain."""
        self._note(k.get("name") or "chain", run_id, parent_run_id)

    def on_llm_start(self, *a: Any, run_id: Any, parent_run_id: Any = None, **k: Any) -> None:
        """Note a model."""
        self._note("model", run_id, parent_run_id)

    def on_tool_start(self, *a: Any, run_id: Any, parent_run_id: Any = None, **k: Any) -> None:
        """Note a tool."""
        self._note("tool", run_id, parent_run_id)


def test_listening_does_not_change_the_tree_of_runs() -> None:
    """With a model that streams the runs are the same as without."""
    trees = []
    for listen in (False, True):
        executor = executor_of(Spelling(replies=run_of(ENGLISH), lengths=[3]))
        tree = Tree()
        heard: list[str] = []
        also = [FinalAnswerStream(executor, heard.append)] if listen else []
        executor.invoke({"input": "Who?"}, {"callbacks": [tree, *also]})
        trees.append(tree.tree)

    assert trees[0] == trees[1]
    assert trees[0] == [
        "/AgentExecutor",
        "/AgentExecutor/LLMChain",
        "/AgentExecutor/LLMChain/model",
        "/AgentExecutor/tool",
        "/AgentExecutor/LLMChain",
        "/AgentExecutor/LLMChain/model",
    ]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_run_without_an_agents_answer_is_not_passed_over_in_silence(asynchronous: bool) -> None:
    """A graph, a tool and what cannot run at all are refused: nothing is no answer of theirs."""
    from langchain.agents import create_agent

    model = ScriptedChatModel(["a teacher"])
    graph = create_agent(model, [])

    async def listen(given: Any) -> list[str]:
        return [piece async for piece in astream_answer(given, {"messages": [("user", "Who?")]})]

    def hear(given: Any) -> list[str]:
        if asynchronous:
            return asyncio.run(listen(given))
        return list(stream_answer(given, {"messages": [("user", "Who?")]}))

    with pytest.raises(TypeError, match="A graph, as create_agent makes one"):
        hear(graph)
    with pytest.raises(TypeError, match="`executor` is NoneType; give an AgentExecutor"):
        hear(None)
