r"""Streaming the final answer, and nothing else: never a thought, a label, a call or a correction.

Two ways to the same pieces: `stream_answer` and `astream_answer` run an executor and yield them;
`FinalAnswerStream` and `AsyncFinalAnswerStream` are callback handlers for runs of your own. The
pieces together are the run's output.
"""

import asyncio
import contextvars
import queue
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any
from uuid import UUID

from langchain_core.agents import AgentFinish
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs

from langchain_custom_agents.agents.base import DialectAgent
from langchain_custom_agents.agents.output_parser import DialectOutputParser
from langchain_custom_agents.dialects.answering import AnswerReader
from langchain_custom_agents.models.asking import UntilStop


class _Reply:
    """One reply of the model, as far as it was heard.

    Args:
        agent: The agent that hears it.
        eager: Whether words are taken for the answer although a tool call may follow them.
    """

    def __init__(self, agent: Any, eager: bool) -> None:
        self.pieces: list[str] = []
        self.answer = ""
        self._agent, self._eager = agent, eager
        self._reader: AnswerReader | None = None
        self._until = UntilStop()
        parser = getattr(agent, "output_parser", None)
        if isinstance(agent, DialectAgent) and isinstance(parser, DialectOutputParser):
            own = type(parser).parse is not DialectOutputParser.parse
            self._reader = None if own else AnswerReader(parser.dialect)
            own_stop = [stop for stop in agent.stop_sequences if stop not in parser.dialect.stop]
            self._until = UntilStop(own_stop)

    def hear(self, words: str) -> None:
        """Take the next words."""
        self.pieces.append(words)
        if self._reader is not None:
            self.answer += self._reader.feed(self._until.feed(words))
        elif self._eager and not isinstance(self._agent, DialectAgent):
            self.answer += words


class _Answering:
    """Follows a run by what callbacks are told, and says which words are its answer."""

    def __init__(self, agent: Any, eager: bool) -> None:
        self._agent, self._eager = getattr(agent, "_action_agent", agent), eager
        self._parents: dict[UUID, UUID | None] = {}
        self._tools: set[UUID] = set()
        self._replies: dict[UUID, _Reply] = {}
        self._finished: UUID | None = None
        self._begin()

    def _begin(self) -> None:
        self._pieces: list[str] = []
        self._shown = ""
        self._over = False

    def begins(self, kind: str, run: UUID, parent: UUID | None) -> None:
        """Note a run that begins."""
        if kind == "chain" and parent not in self._parents:
            self._parents.clear()
            self._tools.clear()
            self._replies.clear()
            self._begin()
        elif kind == "chain" and self._over and not self._is_under({self._finished}, parent):
            self._begin()
        self._parents[run] = parent
        if kind == "tool":
            self._tools.add(run)
        elif kind == "model" and not self._is_under(self._tools, run):
            self._replies[run] = _Reply(self._agent, self._eager)

    def hears(self, run: UUID, words: str) -> str:
        """Take the next words of a reply, and return what has become certain of the answer."""
        reply = self._replies.get(run)
        if reply is None or self._over or not words:
            return ""
        reply.hear(words)
        self._pieces = reply.pieces
        # A reply that is asked for again, because its stream broke off, begins anew.
        if not reply.answer.startswith(self._shown):
            return ""
        certain = reply.answer[len(self._shown) :]
        self._shown = reply.answer
        return certain

    def check(self) -> None:
        """Refuse a run without an answer of an agent: silence would be taken for one.

        Raises:
            TypeError: If no agent has finished.
        """
        if self._finished is None:
            msg = (
                "No agent finished in this run, so it has no final answer to stream: give an "
                "AgentExecutor. A graph, as create_agent makes one, streams by itself: "
                'graph.stream(inputs, stream_mode="messages").'
            )
            raise TypeError(msg)

    def acts(self, run: UUID) -> None:
        """Note that a reply was no answer."""
        # What a text agent showed of it is taken back, which `finishes` says; the words of others
        # beside a call are no part of an answer.
        shown = self._shown and isinstance(self._agent, DialectAgent)
        if not shown and not self._is_under(self._tools, run):
            self._begin()

    def finishes(self, run: UUID, finish: AgentFinish) -> list[str]:
        """Return what is left of the answer."""
        if self._over or self._is_under(self._tools, run):
            return []
        self._over, self._finished = True, run
        values = finish.return_values
        answer = str(values.get("output", next(iter(values.values()), "")))
        if not answer.startswith(self._shown):
            # What was shown was taken back: the answer follows, whole, on a line of its own.
            return ["\n", answer]
        if not self._shown and "".join(self._pieces) == answer:
            return self._pieces
        return [answer[len(self._shown) :]] if answer != self._shown else []

    def _is_under(self, runs: "set[UUID] | set[UUID | None]", run: UUID | None) -> bool:
        """Tell whether a run is one of some runs or part of one, as an agent within a tool."""
        while run is not None:
            if run in runs:
                return True
            run = self._parents.get(run)
        return False


def _words(token: Any, chunk: Any) -> str:
    return str(chunk.message.text) if isinstance(chunk, ChatGenerationChunk) else str(token)


class FinalAnswerStream(BaseCallbackHandler):
    r"""A callback handler that passes on the final answer of a run, piece by piece.

    It makes the model of a text agent of ours stream. One handler follows one run at a time.

    Args:
        agent: The executor, or its agent.
        write: Is called with each piece.
        eager: For agents whose model calls tools in its provider's own form. A call may follow any
            words, so these are passed on when the reply has ended; if true they are passed on at
            once, and what a model says beside a call is passed on too.

    Example:
        >>> from langchain_custom_agents import AgentExecutor, ReActAgent
        >>> from langchain_custom_agents.testing import ScriptedLLM
        >>> agent = ReActAgent.from_llm_and_tools(ScriptedLLM(["I know.\nFinal Answer: 10"]), [])
        >>> executor = AgentExecutor(agent=agent, tools=[])
        >>> heard = []
        >>> handler = FinalAnswerStream(executor, heard.append)
        >>> executor.invoke({"input": "How old?"}, {"callbacks": [handler]})["output"]
        '10'
        >>> "".join(heard)
        '10'
    """

    run_inline = True
    listens_to_tokens = True

    def __init__(self, agent: Any, write: Callable[[str], Any], *, eager: bool = False) -> None:
        self._answering = _Answering(agent, eager)
        self._write = write

    def _begins(self, kind: str, run_id: UUID, parent_run_id: UUID | None) -> None:
        self._answering.begins(kind, run_id, parent_run_id)

    def on_chain_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """Note a run that begins."""
        self._begins("chain", run_id, parent_run_id)

    def on_tool_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """Note a tool: what goes on in it is not the answer."""
        self._begins("tool", run_id, parent_run_id)

    def on_llm_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """Note a reply that begins."""
        self._begins("model", run_id, parent_run_id)

    def on_chat_model_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """Note a reply that begins."""
        self._begins("model", run_id, parent_run_id)

    def on_llm_new_token(self, token: Any, *, run_id: UUID, chunk: Any = None, **_: Any) -> None:
        """Pass on what is certain of the answer."""
        piece = self._answering.hears(run_id, _words(token, chunk))
        if piece:
            self._write(piece)

    def on_agent_action(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """Note that a reply was no answer."""
        self._answering.acts(run_id)

    def on_agent_finish(self, finish: AgentFinish, *, run_id: UUID, **_: Any) -> None:
        """Pass on what is left of the answer."""
        for piece in self._answering.finishes(run_id, finish):
            self._write(piece)


class AsyncFinalAnswerStream(AsyncCallbackHandler):
    """A callback handler that passes on the final answer without blocking.

    Args:
        agent: The executor, or its agent.
        write: Is awaited with each piece.
        eager: Whether words of a tool-calling model are passed on at once; see
            `FinalAnswerStream`.

    Example:
        >>> AsyncFinalAnswerStream(None, asyncio.Queue().put).listens_to_tokens
        True
    """

    run_inline = True
    listens_to_tokens = True

    def __init__(
        self, agent: Any, write: Callable[[str], Awaitable[Any]], *, eager: bool = False
    ) -> None:
        self._answering = _Answering(agent, eager)
        self._write = write

    async def on_chain_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """Note a run that begins."""
        self._answering.begins("chain", run_id, parent_run_id)

    async def on_tool_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """Note a tool: what goes on in it is not the answer."""
        self._answering.begins("tool", run_id, parent_run_id)

    async def on_llm_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """Note a reply that begins."""
        self._answering.begins("model", run_id, parent_run_id)

    async def on_chat_model_start(
        self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any
    ) -> None:
        """Note a reply that begins."""
        self._answering.begins("model", run_id, parent_run_id)

    async def on_llm_new_token(
        self, token: Any, *, run_id: UUID, chunk: Any = None, **_: Any
    ) -> None:
        """Pass on what is certain of the answer."""
        piece = self._answering.hears(run_id, _words(token, chunk))
        if piece:
            await self._write(piece)

    async def on_agent_action(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """Note that a reply was no answer."""
        self._answering.acts(run_id)

    async def on_agent_finish(self, finish: AgentFinish, *, run_id: UUID, **_: Any) -> None:
        """Pass on what is left of the answer."""
        for piece in self._answering.finishes(run_id, finish):
            await self._write(piece)


class _AbandonedError(Exception):
    """Nobody listens to the answer any more."""


class _Abandonable(FinalAnswerStream):
    """Ends the run at the next thing that happens in it, once nobody listens any more."""

    raise_error = True

    def __init__(self, agent: Any, write: Callable[[str], Any], *, eager: bool) -> None:
        super().__init__(agent, write, eager=eager)
        self.abandoned = threading.Event()

    def _begins(self, kind: str, run_id: UUID, parent_run_id: UUID | None) -> None:
        self._check()
        super()._begins(kind, run_id, parent_run_id)

    def on_llm_new_token(self, token: Any, *, run_id: UUID, chunk: Any = None, **_: Any) -> None:
        """Pass on what is certain of the answer."""
        self._check()
        super().on_llm_new_token(token, run_id=run_id, chunk=chunk)

    def _check(self) -> None:
        if self.abandoned.is_set():
            msg = "Nobody listens to the answer any more."
            raise _AbandonedError(msg)


class _Tap(BaseCallbackHandler):
    """Makes a chat model stream that is not called by an agent of ours: LangChain's own sign."""

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:  # noqa: ARG002
        """Pass on what is streamed."""
        return output

    def tap_output_aiter(
        self,
        run_id: UUID,  # noqa: ARG002
        output: AsyncIterator[Any],
    ) -> AsyncIterator[Any]:
        """Pass on what is streamed."""
        return output


def _listening(
    executor: Any, config: RunnableConfig | None, handler: BaseCallbackHandler
) -> RunnableConfig:
    """Add what listens to a run's configuration."""
    ours = isinstance(getattr(executor, "_action_agent", None), DialectAgent)
    return merge_configs(config, {"callbacks": [handler] if ours else [handler, _Tap()]})


def _check_runs(executor: Any) -> None:
    if not isinstance(executor, Runnable):
        msg = f"`executor` is {type(executor).__name__}; give an AgentExecutor."
        raise TypeError(msg)


def stream_answer(
    executor: Any, inputs: Any, config: RunnableConfig | None = None, *, eager: bool = False
) -> Iterator[str]:
    r"""Run an executor, and yield its final answer piece by piece.

    The run has a thread of its own. If the iterator is closed before its end, the run ends at
    the model's next token or before the next tool; a tool that is running is not interrupted.

    Args:
        executor: The executor.
        inputs: The inputs, as for `invoke`.
        config: The configuration, as for `invoke`.
        eager: Whether words of a tool-calling model are passed on at once; see
            `FinalAnswerStream`.

    Yields:
        The pieces of the answer. Together they are the run's output.

    Raises:
        BaseException: What the run raises.
        TypeError: If it is no run of an agent executor.

    Example:
        >>> from langchain_custom_agents import AgentExecutor, ReActAgent
        >>> from langchain_custom_agents.testing import ScriptedLLM
        >>> llm = ScriptedLLM(["I know.\nFinal Answer: Takuma is a teacher."])
        >>> executor = AgentExecutor(agent=ReActAgent.from_llm_and_tools(llm, []), tools=[])
        >>> list(stream_answer(executor, {"input": "Who is Takuma?"}))
        ['Takuma', ' is', ' a', ' teache', 'r.']
    """
    _check_runs(executor)
    said: queue.SimpleQueue[str | BaseException | None] = queue.SimpleQueue()
    handler = _Abandonable(executor, said.put, eager=eager)

    def run() -> None:
        try:
            executor.invoke(inputs, _listening(executor, config, handler))
            handler._answering.check()
        except BaseException as error:  # noqa: BLE001 - raised again where it is listened to
            said.put(error)
        else:
            said.put(None)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), daemon=True).start()
    try:
        while (piece := said.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        handler.abandoned.set()


async def astream_answer(
    executor: Any, inputs: Any, config: RunnableConfig | None = None, *, eager: bool = False
) -> AsyncIterator[str]:
    """Run an executor, and yield its final answer piece by piece; see `stream_answer`.

    If the iterator is closed before its end the run is cancelled.

    Args:
        executor: The executor.
        inputs: The inputs, as for `ainvoke`.
        config: The configuration, as for `ainvoke`.
        eager: Whether words of a tool-calling model are passed on at once.

    Yields:
        The pieces of the answer. Together they are the run's output.

    Raises:
        BaseException: What the run raises.
        TypeError: If it is no run of an agent executor.
    """
    _check_runs(executor)
    said: asyncio.Queue[str | None] = asyncio.Queue()
    handler = AsyncFinalAnswerStream(executor, said.put, eager=eager)

    async def run() -> None:
        try:
            await executor.ainvoke(inputs, _listening(executor, config, handler))
            handler._answering.check()
        finally:
            said.put_nowait(None)

    running = asyncio.create_task(run())
    try:
        while (piece := await said.get()) is not None:
            yield piece
        await running
    finally:
        if not running.done():
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
