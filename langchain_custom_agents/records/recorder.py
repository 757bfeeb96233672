"""Recorder: a callback handler that keeps what happens, and makes a record of it when asked.

While a run lasts, an event costs an append to a list. Reading the model's words again, counting
and redacting wait until somebody looks at the record.
"""
# ruff: noqa: ARG002 - LangChain tells handlers more than they need

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from time import perf_counter as clock
from typing import Any
from uuid import UUID

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from langchain_custom_agents.dialects import Dialect
from langchain_custom_agents.policies import CountTokens, approximate_tokens
from langchain_custom_agents.records.build import Event, Setting, build, model_name
from langchain_custom_agents.records.record import RunRecord


@dataclass
class Events:
    """What happened in one run.

    Args:
        run_id: The run.
        inputs: What it was given.
        name: What LangChain calls it.
        events: What happened, in order.
    """

    run_id: UUID | None
    inputs: Any
    name: str = ""
    events: list[Event] = field(default_factory=list)
    started: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    began: float = field(default_factory=clock)
    ended: bool = False
    record: RunRecord | None = None


class Recorder(BaseCallbackHandler):
    r"""A callback handler that records runs.

    It works with our executor, with LangChain's, and with LangGraph's `create_agent`. The model's
    words are read again with the dialect, so that a record says what was cut and repaired whoever
    ran the agent, and what the dialect would have done where that differs.

    Args:
        agent: The executor or the agent that runs. It names the dialect and the tools.
        dialect: The written form, if the agent has none of its own: for LangChain's agents.
        tools: The tools, if the agent does not say.
        count_tokens: Counts the tokens of a text, where the model reports none.

    Attributes:
        runs: The events of each run seen, oldest first.

    Example:
        >>> from langchain_custom_agents import initialize_agent, calculator_tool
        >>> from langchain_custom_agents.testing import ScriptedLLM
        >>> llm = ScriptedLLM(["A sum.\nAction: Calculator\nAction Input: 128 * 345",
        ...                    "I know.\nFinal Answer: 44160"])
        >>> executor = initialize_agent([calculator_tool()], llm)
        >>> recorder = Recorder(executor)
        >>> result = executor.invoke({"input": "How much?"}, {"callbacks": [recorder]})
        >>> recorder.record.steps[0].thought, recorder.record.calls[0].observation
        ('A sum.', 'Answer: 44160')
    """

    # Called where the run is, not in a thread: an event is one append.
    run_inline = True
    ignore_custom_event = True

    def __init__(
        self,
        agent: Any = None,
        *,
        dialect: Dialect | None = None,
        tools: Sequence[Any] | None = None,
        count_tokens: CountTokens = approximate_tokens,
    ) -> None:
        self.runs: list[Events] = []
        self.agent = agent
        self._given = dialect, tools, count_tokens
        # Each run under way: the run it is part of, the tool call it is inside of, and the one
        # that what it starts is inside of.
        self._under: dict[UUID, tuple[Events, UUID | None, UUID | None]] = {}

    @property
    def record(self) -> RunRecord:
        """The record of the last run.

        Raises:
            ValueError: If nothing was recorded yet.
        """
        if not self.runs:
            msg = "Nothing was recorded yet: pass the recorder in the `callbacks` of a run."
            raise ValueError(msg)
        return self._record_of(self.runs[-1])

    @property
    def records(self) -> list[RunRecord]:
        """The records of all runs, oldest first."""
        return [self._record_of(run) for run in self.runs]

    def clear(self) -> None:
        """Forget the runs that have ended."""
        self.runs = [run for run in self.runs if not run.ended]

    def _record_of(self, run: Events) -> RunRecord:
        if run.record is not None:
            return run.record
        dialect, tools, count = self._given
        setting = Setting.of(self.agent, dialect, tools, count, run.name)
        record = build(setting, run.inputs, run.events, run.began, run.started)
        if run.ended:
            # What happened is told: the run's prompts and results need not be held twice.
            run.record, run.events = record, []
        return record

    # Events. The first of a run makes it known; what is part of it finds it by its parent.

    def _begin(
        self, run_id: UUID, parent: UUID | None, inputs: Any, name: str | None
    ) -> tuple[Events, UUID | None]:
        known = self._under.get(parent) if parent is not None else None
        if known is None:
            run, owner = Events(run_id, inputs, name or ""), None
            self.runs.append(run)
        else:
            run, _, owner = known
        self._under[run_id] = run, owner, owner
        return run, owner

    def _end(self, run_id: UUID) -> tuple[Events, UUID | None, UUID | None] | None:
        known = self._under.pop(run_id, None)
        if known is not None and known[0].run_id == run_id:
            known[0].ended = True
        return known

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note a run, or the steps that a part of it is given."""
        run, owner = self._begin(run_id, parent_run_id, inputs, kwargs.get("name"))
        if isinstance(inputs, dict) and inputs.get("intermediate_steps"):
            # A copy: LangChain's executor goes on filling its own list.
            steps = [*inputs["intermediate_steps"]]
            run.events.append(("steps", clock(), owner, run_id, (steps,)))

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note the end of a run."""
        known = self._end(run_id)
        if known is not None and known[0].run_id == run_id:
            known[0].events.append(
                ("end", clock(), None, run_id, (outputs, self._artifacts(run_id)))
            )

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note the failure of a run."""
        known = self._end(run_id)
        if known is not None and known[0].run_id == run_id:
            known[0].events.append(("failed", clock(), None, run_id, (error,)))

    def on_llm_start(
        self,
        serialized: Any,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note what a text model is sent."""
        run, owner = self._begin(run_id, parent_run_id, None, kwargs.get("name"))
        run.events.append(
            ("ask", clock(), owner, run_id, (prompts[0], model_name(kwargs), parent_run_id))
        )

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note what a chat model is sent."""
        run, owner = self._begin(run_id, parent_run_id, None, kwargs.get("name"))
        run.events.append(
            ("ask", clock(), owner, run_id, (messages[0], model_name(kwargs), parent_run_id))
        )

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a model said."""
        known = self._end(run_id)
        if known is not None:
            known[0].events.append(("said", clock(), known[1], run_id, (response,)))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note that a model gave no reply."""
        known = self._end(run_id)
        if known is not None:
            known[0].events.append(("silent", clock(), known[1], run_id, (error,)))

    def on_retry(self, retry_state: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note that a model is called once more."""
        known = self._under.get(run_id)
        if known is not None:
            known[0].events.append(("retry", clock(), known[1], run_id, ()))

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note the call of a tool; what happens until its end is inside of it."""
        run, owner = self._begin(run_id, parent_run_id, input_str, kwargs.get("name"))
        self._under[run_id] = run, owner, run_id
        name = (serialized or {}).get("name") or kwargs.get("name") or ""
        given = kwargs.get("inputs")
        given = input_str if given is None else given
        what = name, given, kwargs.get("tool_call_id")
        run.events.append(("call", clock(), owner, run_id, what))

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what a tool returned."""
        known = self._end(run_id)
        if known is not None:
            known[0].events.append(("result", clock(), known[1], run_id, (output,)))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note that a tool failed."""
        known = self._end(run_id)
        if known is not None:
            known[0].events.append(("broken", clock(), known[1], run_id, (error,)))

    def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Note a search."""
        self._begin(run_id, parent_run_id, query, kwargs.get("name"))

    def on_retriever_end(
        self, documents: Sequence[Document], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Note what was found, and in which tool call."""
        known = self._end(run_id)
        if known is not None:
            known[0].events.append(("found", clock(), known[1], run_id, (documents,)))

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Note the end of a search that failed."""
        self._end(run_id)

    def on_agent_action(self, action: AgentAction, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what the agent is about to do, or how its model was corrected."""
        known = self._under.get(run_id)
        if known is not None:
            known[0].events.append(("action", clock(), known[1], run_id, (action,)))

    def on_agent_finish(self, finish: AgentFinish, *, run_id: UUID, **kwargs: Any) -> None:
        """Note the answer."""
        known = self._under.get(run_id)
        if known is not None:
            known[0].events.append(("finish", clock(), known[1], run_id, (finish,)))

    def on_text(self, text: str, *, run_id: UUID, **kwargs: Any) -> None:
        """Note what the executor tells the model of a call that no tool answered."""
        known = self._under.get(run_id)
        if known is not None and known[0].run_id == run_id:
            known[0].events.append(("text", clock(), known[1], run_id, (text,)))

    def _artifacts(self, run_id: UUID) -> list[tuple[AgentAction, Any]]:
        """Return the artifacts that our executor kept of a run; other executors drop them."""
        kept = getattr(self.agent, "artifacts_of", None)
        return [] if kept is None else list(kept(run_id))
