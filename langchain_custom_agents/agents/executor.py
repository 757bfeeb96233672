"""The executor: LangChain's, driving our loop."""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from langchain_classic.agents import AgentExecutor as ClassicAgentExecutor
from langchain_classic.agents import BaseMultiActionAgent, BaseSingleActionAgent
from langchain_classic.utilities.asyncio import asyncio_timeout
from langchain_core.agents import AgentAction, AgentFinish, AgentStep
from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    CallbackManagerForChainRun,
)
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ContextThreadPoolExecutor
from langchain_core.tools import BaseTool
from langchain_core.utils.input import get_color_mapping
from pydantic import PrivateAttr, model_validator

from langchain_custom_agents._awaited import awaited
from langchain_custom_agents.agents._given import check_tools
from langchain_custom_agents.agents._messages import in_words
from langchain_custom_agents.agents._outcomes import (
    Unanswered,
    approved,
    describe_failure,
    plain,
)
from langchain_custom_agents.agents.base import generates
from langchain_custom_agents.agents.calls import (
    ArtifactCatcher,
    ConfiguredTool,
    carrying,
    configured,
    in_sync,
    required_stores,
    with_injected,
)
from langchain_custom_agents.agents.deadline import NotInTime, acall_in_time, call_in_time
from langchain_custom_agents.agents.fields import KnownFields
from langchain_custom_agents.agents.output_parser import prose_in
from langchain_custom_agents.loop import (
    Ask,
    Done,
    Guard,
    Misread,
    Outcome,
    Planned,
    Run,
    Step,
    Stop,
    Turn,
    advance,
    turn,
    without_corrections,
)
from langchain_custom_agents.policies import (
    Budget,
    CountTokens,
    Limits,
    Reask,
    Repeats,
    Spending,
    approximate_tokens,
    current_cancel,
)
from langchain_custom_agents.tools._refusals import is_control_flow

Approve = Callable[[AgentAction], Any]
"""Asked before a tool runs: True to allow, an action to call instead, a reason to refuse."""


class AgentExecutor(KnownFields, ClassicAgentExecutor):
    r"""LangChain's executor, in which the model is told what went wrong.

    Every difference from LangChain's is in the table of `docs/executor.md`.

    Args:
        agent: The agent: ours, LangChain's, or a runnable.
        tools: The tools.
        handle_parsing_errors: As in LangChain's executor, but true unless `strict`: a reply
            that cannot be read is corrected, and the correction is neither a step nor a round.
        max_corrections: How often a model is corrected within one round.
        handle_tool_errors: Whether an exception of a tool, or of the check of its arguments, is
            an observation.
        max_repeats: A run ends when the same call has given the same result so often, after a
            hint; None for never.
        max_tokens: The tokens that the model calls of a run may use; None for any number.
        max_cost: The cost that a run may have, in the unit of `cost`; None for any.
        cost: The cost of a model call with so many input and output tokens.
        tool_timeout: The seconds a tool may take; or, for tools by name, theirs. A tool that is
            late is not waited for. So is one when `max_execution_time` is over.
        approve: Asked before a tool runs. It returns True to allow the call, an action to call
            instead, or a reason (or False) to refuse; it may be a coroutine function.
        store: A LangGraph store, for tools that ask for one (`InjectedStore`, `ToolRuntime`).
        max_observation_tokens: The tokens that one observation may have; the cut is announced.
        max_scratchpad_tokens: The tokens that all steps in a prompt may have; the oldest go
            first, and the model is told so. The latest always stays: `max_observation_tokens`
            bounds what one may take.
        count_tokens: Counts the tokens of a text; about one for four bytes if not given.
        return_artifacts: Whether the result has `artifacts`: what tools returned beside their
            observations, such as the documents an answer comes from.
        strict: Whether to do all as LangChain's executor does.

    Raises:
        TypeError: If an argument is not known.
        ValueError: If an argument makes no sense, alone or with the others.

    Example:
        >>> from langchain_core.tools import Tool
        >>> from langchain_custom_agents.agents.react import ReActAgent
        >>> from langchain_custom_agents.testing import ScriptedLLM
        >>> search = Tool("Search", lambda query: "hiroko is 10 years old", "looks things up")
        >>> llm = ScriptedLLM(["Let me see.\nAction: Search\nAction Input: hiroko's age",
        ...                    "I know now.\nFinal Answer: 10"])
        >>> agent = ReActAgent.from_llm_and_tools(llm, [search])
        >>> AgentExecutor(agent=agent, tools=[search]).invoke({"input": "How old is Hiroko?"})
        {'input': 'How old is Hiroko?', 'output': '10'}
    """

    handle_parsing_errors: Any = True
    max_corrections: int = 3
    handle_tool_errors: bool = True
    max_repeats: int | None = 3
    max_tokens: int | None = None
    max_cost: float | None = None
    cost: Callable[[int, int], float] | None = None
    tool_timeout: float | Mapping[str, float] | None = None
    approve: Approve | None = None
    store: Any = None
    max_observation_tokens: int | None = None
    max_scratchpad_tokens: int | None = None
    count_tokens: CountTokens = approximate_tokens
    return_artifacts: bool = False
    strict: bool = False

    # What is kept of each run while it lasts, under the run manager that LangChain hands around.
    _runs: WeakKeyDictionary[Any, "RunNotes"] = PrivateAttr(default_factory=WeakKeyDictionary)

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, values: Any) -> Any:
        if isinstance(values, dict):
            values = dict(values)
            agent = values.get("agent")
            if not isinstance(agent, Runnable | BaseSingleActionAgent | BaseMultiActionAgent):
                msg = (
                    f"`agent` is {type(agent).__name__}; give an agent, such as one of "
                    "`ReActAgent.from_llm_and_tools`, or a runnable that plans."
                )
                raise TypeError(msg)
            if isinstance(agent, BaseLanguageModel):
                # As a runnable it would pass, and fail at its first step over what it is given.
                msg = (
                    f"`agent` is the model {type(agent).__name__}; give an agent made of it, such "
                    "as one of `ReActAgent.from_llm_and_tools`."
                )
                raise TypeError(msg)
            if "tools" in values:
                check_tools(values["tools"])
            if values.get("strict"):
                values.setdefault("handle_parsing_errors", False)
            manager = values.pop("callback_manager", None)
            if manager is not None and values.get("callbacks") is None:
                values["callbacks"] = manager
        return values

    @model_validator(mode="after")
    def _check_policies(self) -> "AgentExecutor":
        """Refuse settings that make no sense when the executor is made, not during a run."""
        if self.strict:
            self._check_strict()
        else:
            self._check_store()
        Limits(self.max_iterations, self.max_execution_time)
        Reask(self.max_corrections)
        Repeats(self.max_repeats)
        Spending(self.max_tokens, self.max_cost, self.cost)
        self._budget()
        self._check_timeouts()
        handling = self.handle_parsing_errors
        if not (isinstance(handling, bool | str) or callable(handling)):
            msg = (
                "handle_parsing_errors must be True, False, what to say to the model, or a "
                f"function of the error, not {handling!r}."
            )
            raise TypeError(msg)
        if hasattr(self._action_agent, "areturn_stopped_response"):
            generates(self.early_stopping_method)  # which our agents would refuse at the end
        return self

    def _check_strict(self) -> None:
        """Refuse what would be left out without a word, an approval among it."""
        fields = AgentExecutor.model_fields.keys() - ClassicAgentExecutor.model_fields.keys()
        given = fields & self.model_fields_set - {"strict"}
        without_effect = sorted(name for name in given if getattr(self, name))
        if without_effect:
            have = "has" if len(without_effect) == 1 else "have"
            msg = (
                f"{', '.join(without_effect)} {have} no effect with strict=True, which does all as "
                "LangChain's executor does; leave out one or the other."
            )
            raise ValueError(msg)

    def _check_store(self) -> None:
        if self.store is not None:
            return
        for tool in self.tools:
            for name in required_stores(tool):
                msg = (
                    f"{tool.name} asks for a store ({name}); give the executor one: `store=`, such "
                    "as LangGraph's InMemoryStore()."
                )
                raise ValueError(msg)

    def _check_timeouts(self) -> None:
        given = self.tool_timeout
        limits = given if isinstance(given, Mapping) else {"": given}
        known = [tool.name for tool in self.tools]
        for name, seconds in limits.items():
            if name not in ("", *known):
                msg = f"tool_timeout names {name!r}; the tools are: {', '.join(known) or 'none'}."
                raise ValueError(msg)
            if seconds is not None and not seconds > 0:
                msg = f"tool_timeout must be more than 0 seconds, or None, not {seconds!r}."
                raise ValueError(msg)

    def _budget(self) -> Budget:
        return Budget(self.max_observation_tokens, self.max_scratchpad_tokens, self.count_tokens)

    @classmethod
    def _also_accepted(cls) -> set[str]:
        return {"callback_manager", "stream_runnable"}

    # Ways in: chains hand on the callbacks of a configuration, and nothing else of it.

    def invoke(
        self,
        input: dict[str, Any],  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Run until the agent finishes or a limit is reached."""
        return super().invoke(input, carrying(config), **kwargs)

    async def ainvoke(
        self,
        input: dict[str, Any],  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Run without blocking; see `invoke`."""
        return await super().ainvoke(input, carrying(config), **kwargs)

    def stream(
        self,
        input: dict[str, Any] | Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        """Run, yielding actions, steps and the finish."""
        yield from super().stream(input, carrying(config), **kwargs)

    async def astream(
        self,
        input: dict[str, Any] | Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Run without blocking; see `stream`."""
        async for chunk in super().astream(input, carrying(config), **kwargs):
            yield chunk

    # Rounds.

    def _call(
        self, inputs: dict[str, str], run_manager: CallbackManagerForChainRun | None = None
    ) -> dict[str, Any]:
        if self.strict:
            return super()._call(inputs, run_manager)
        tools, colors = self._tool_maps()
        run = self._new_run()
        flow = run.rounds()
        request = advance(flow)
        while not isinstance(request, Done):
            if isinstance(request, Turn):
                reply: Any = self._take_next_step(tools, colors, inputs, request.steps, run_manager)
            else:
                reply = self._stopped(request, inputs, run_manager)
            request = advance(flow, reply)
        return self._return(request.outcome, run.steps, run_manager=run_manager)

    async def _acall(
        self, inputs: dict[str, str], run_manager: AsyncCallbackManagerForChainRun | None = None
    ) -> dict[str, Any]:
        if self.strict:
            return await super()._acall(inputs, run_manager)
        tools, colors = self._tool_maps()
        run = self._new_run()
        flow, began = run.rounds(), time.monotonic()
        request = advance(flow)
        while not isinstance(request, Done):
            if isinstance(request, Turn):
                left = self._seconds_left(began)
                try:
                    async with asyncio_timeout(left):
                        reply: Any = await self._atake_next_step(
                            tools, colors, inputs, request.steps, run_manager
                        )
                except (TimeoutError, asyncio.TimeoutError):
                    if self._seconds_left(began) != 0.0:
                        raise
                    reply = []
            else:
                reply = await self._astopped(request, inputs, run_manager)
            request = advance(flow, reply)
        return await self._areturn(request.outcome, run.steps, run_manager=run_manager)

    def _new_run(self) -> Run:
        return Run(Limits(self.max_iterations, self.max_execution_time), self._get_tool_return)

    def _tool_maps(self) -> tuple[dict[str, BaseTool], dict[str, str]]:
        names = [tool.name for tool in self.tools]
        return dict(zip(names, self.tools, strict=True)), get_color_mapping(
            names, excluded_colors=["green", "red"]
        )

    def _seconds_left(self, began: float) -> float | None:
        if self.max_execution_time is None:
            return None
        return max(0.0, self.max_execution_time - (time.monotonic() - began))

    def _stopped(
        self, request: Stop, inputs: dict[str, str], manager: CallbackManagerForChainRun | None
    ) -> AgentFinish:
        """Finish: with the model's last word, with what the agent says, or with the reason."""
        if not self._has_last_word(request):
            return AgentFinish({"output": request.why, "stopped": True}, "")
        given: dict[str, Any] = dict(inputs)
        if hasattr(self._action_agent, "areturn_stopped_response"):
            given["callbacks"] = manager.get_child() if manager else None
        return self._action_agent.return_stopped_response(
            self.early_stopping_method, without_corrections(request.steps), **given
        )

    async def _astopped(
        self, request: Stop, inputs: dict[str, str], manager: AsyncCallbackManagerForChainRun | None
    ) -> AgentFinish:
        finish = getattr(self._action_agent, "areturn_stopped_response", None)
        if finish is None or not self._has_last_word(request):
            return self._stopped(request, inputs, None)
        stopped: AgentFinish = await finish(
            self.early_stopping_method,
            without_corrections(request.steps),
            callbacks=manager.get_child() if manager else None,
            **inputs,
        )
        return stopped

    def _has_last_word(self, request: Stop) -> bool:
        """Tell whether the agent says how a run ends: at LangChain's limits it always does."""
        if request.why == Limits.WHY:
            return True
        return request.last_word and self.early_stopping_method == "generate"

    def _notes(self, manager: Any) -> "RunNotes":
        """Return what is kept of the run under a run manager, or of a round driven by hand."""
        if manager is None:
            return RunNotes(self._spending())
        notes = self._runs.get(manager)
        if notes is None:
            notes = self._runs[manager] = RunNotes(self._spending())
            if self.max_tokens is not None or self.max_cost is not None:
                manager.inheritable_handlers.append(notes.spending)
        return notes

    def artifacts_of(self, run_id: UUID) -> list[tuple[AgentAction, Any]]:
        """Return what tools returned beside their observations, in a run that has not ended.

        Args:
            run_id: The run, as callbacks are told it.

        Returns:
            Each action with its artifact, in order; empty for a run that is not known.
        """
        return [
            pair
            for manager, notes in list(self._runs.items())
            if manager.run_id == run_id
            for pair in notes.artifacts
        ]

    def _spending(self) -> Spending:
        return Spending(self.max_tokens, self.max_cost, self.cost, self.count_tokens)

    def _guards(self, notes: "RunNotes") -> list[Guard]:
        cancel = current_cancel()
        guards: list[Guard] = [Repeats(self.max_repeats), notes.spending]
        return guards if cancel is None else [cancel, *guards]

    # One round.

    def _iter_next_step(
        self,
        name_to_tool_map: dict[str, BaseTool],
        color_mapping: dict[str, str],
        inputs: dict[str, str],
        intermediate_steps: list[Step],
        run_manager: CallbackManagerForChainRun | None = None,
    ) -> Iterator[AgentFinish | AgentAction | AgentStep]:
        """Run one round, yielding actions and then steps, or the finish.

        A correction is added to `intermediate_steps`, the transcript, and not yielded.
        """
        if self.strict:
            yield from super()._iter_next_step(
                name_to_tool_map, color_mapping, inputs, intermediate_steps, run_manager
            )
            return
        flow = self._turn(inputs, intermediate_steps, run_manager)
        request = advance(flow)
        while not isinstance(request, Done):
            if isinstance(request, Stop):
                reply: Any = self._stopped(request, inputs, run_manager)
            elif isinstance(request, Ask):
                if request.correction and run_manager:
                    action, text = request.correction
                    run_manager.on_agent_action(action, color="green", verbose=self.verbose)
                    run_manager.on_text(self._announced(text), verbose=self.verbose)
                reply = self._ask(request, inputs, run_manager)
            else:
                yield from request.actions
                steps = []
                for step in self._perform(
                    request.actions, name_to_tool_map, color_mapping, run_manager
                ):
                    yield step
                    steps.append(step)
                reply = [(step.action, step.observation) for step in steps]
            request = advance(flow, reply)
        if isinstance(request.outcome, AgentFinish):
            yield request.outcome

    async def _aiter_next_step(
        self,
        name_to_tool_map: dict[str, BaseTool],
        color_mapping: dict[str, str],
        inputs: dict[str, str],
        intermediate_steps: list[Step],
        run_manager: AsyncCallbackManagerForChainRun | None = None,
    ) -> AsyncIterator[AgentFinish | AgentAction | AgentStep]:
        """Run one round without blocking; see `_iter_next_step`."""
        if self.strict:
            async for chunk in super()._aiter_next_step(
                name_to_tool_map, color_mapping, inputs, intermediate_steps, run_manager
            ):
                yield chunk
            return
        flow = self._turn(inputs, intermediate_steps, run_manager)
        request = advance(flow)
        while not isinstance(request, Done):
            if isinstance(request, Stop):
                reply: Any = await self._astopped(request, inputs, run_manager)
            elif isinstance(request, Ask):
                if request.correction and run_manager:
                    action, text = request.correction
                    await run_manager.on_agent_action(action, color="green", verbose=self.verbose)
                    await run_manager.on_text(self._announced(text), verbose=self.verbose)
                reply = await self._aask(request, inputs, run_manager)
            else:
                for action in request.actions:
                    yield action
                steps = await self._aperform(
                    request.actions, name_to_tool_map, color_mapping, run_manager
                )
                for step in steps:
                    yield step
                reply = [(step.action, step.observation) for step in steps]
            request = advance(flow, reply)
        if isinstance(request.outcome, AgentFinish):
            yield request.outcome

    def _turn(
        self, inputs: Mapping[str, Any], steps: list[Step], manager: Any
    ) -> Generator[Any, Any, Outcome]:
        notes = self._notes(manager)
        notes.inputs = inputs
        return turn(steps, Reask(self.max_corrections), self._guards(notes))

    def _announced(self, correction: str) -> str:
        marks = self._action_agent.tool_run_logging_kwargs()
        before, after = marks.get("observation_prefix", ""), marks.get("llm_prefix", "")
        return f"\n{before}{correction}\n{after}"

    def _ask(
        self, request: Ask, inputs: dict[str, str], manager: CallbackManagerForChainRun | None
    ) -> Planned:
        try:
            return self._action_agent.plan(
                self._shown(request.steps),
                callbacks=manager.get_child() if manager else None,
                **inputs,
            )
        except OutputParserException as error:
            return self._misread(error)

    async def _aask(
        self, request: Ask, inputs: dict[str, str], manager: AsyncCallbackManagerForChainRun | None
    ) -> Planned:
        try:
            return await self._action_agent.aplan(
                self._shown(request.steps),
                callbacks=manager.get_child() if manager else None,
                **inputs,
            )
        except OutputParserException as error:
            return self._misread(error)

    def _shown(self, steps: Sequence[Step]) -> list[Step]:
        """Return the steps that the model is shown."""
        return self._budget().fitted(self._prepare_intermediate_steps(list(steps)))

    def _misread(self, error: OutputParserException) -> Misread:
        """Say what to tell the model, or raise as LangChain's executor does."""
        handling = self.handle_parsing_errors
        words = str(error if error.llm_output is None else error.llm_output)
        if handling is False:
            msg = (
                f"The model's reply could not be read, and handle_parsing_errors is False: {error}"
            )
            raise ValueError(msg) from error
        if isinstance(handling, str):
            return Misread(words, handling)
        if callable(handling):
            return Misread(words, str(handling(error)))
        correction = str(error.observation) if error.send_to_llm else f"{error}"
        return Misread(words, correction, prose_in(error))

    # Tools.

    def _perform(
        self,
        actions: Sequence[AgentAction],
        tools: dict[str, BaseTool],
        colors: dict[str, str],
        manager: CallbackManagerForChainRun | None,
    ) -> Iterator[AgentStep]:
        """Call tools: one here, several from one reply side by side."""
        if len(actions) < 2:
            for action in actions:
                yield self._perform_agent_action(tools, colors, action, manager)
            return
        with ContextThreadPoolExecutor(max_workers=min(len(actions), 8)) as pool:
            yield from pool.map(
                lambda action: self._perform_agent_action(tools, colors, action, manager), actions
            )

    async def _aperform(
        self,
        actions: Sequence[AgentAction],
        tools: dict[str, BaseTool],
        colors: dict[str, str],
        manager: AsyncCallbackManagerForChainRun | None,
    ) -> Sequence[AgentStep]:
        if len(actions) == 1:
            return [await self._aperform_agent_action(tools, colors, actions[0], manager)]
        return await asyncio.gather(
            *(self._aperform_agent_action(tools, colors, action, manager) for action in actions)
        )

    def _perform_agent_action(
        self,
        name_to_tool_map: dict[str, BaseTool],
        color_mapping: dict[str, str],
        agent_action: AgentAction,
        run_manager: CallbackManagerForChainRun | None = None,
    ) -> AgentStep:
        if self.strict:
            return super()._perform_agent_action(
                name_to_tool_map, color_mapping, agent_action, run_manager
            )
        verdict = self.approve(agent_action) if self.approve else True
        if inspect.isawaitable(verdict):
            verdict = awaited(verdict)
        call = self._prepared(agent_action, verdict, name_to_tool_map, run_manager, in_sync)
        if isinstance(call, AgentStep):
            return self._announce(call, run_manager)
        perform = super()._perform_agent_action
        try:
            step = call_in_time(
                lambda: perform(call.tools, color_mapping, call.action, run_manager),
                call.seconds,
                current_cancel(),
            )
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is for the model
            failed = self._failed(name_to_tool_map, call.action, error)
            return self._announce(failed, run_manager)
        return self._taken(step, call)

    async def _aperform_agent_action(
        self,
        name_to_tool_map: dict[str, BaseTool],
        color_mapping: dict[str, str],
        agent_action: AgentAction,
        run_manager: AsyncCallbackManagerForChainRun | None = None,
    ) -> AgentStep:
        if self.strict:
            return await super()._aperform_agent_action(
                name_to_tool_map, color_mapping, agent_action, run_manager
            )
        verdict = self.approve(agent_action) if self.approve else True
        if inspect.isawaitable(verdict):
            verdict = await verdict
        call = self._prepared(agent_action, verdict, name_to_tool_map, run_manager)
        if isinstance(call, AgentStep):
            return await self._aannounce(call, run_manager)
        perform = super()._aperform_agent_action
        try:
            step = await acall_in_time(
                lambda: perform(call.tools, color_mapping, call.action, run_manager),
                call.seconds,
                current_cancel(),
            )
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is for the model
            failed = self._failed(name_to_tool_map, call.action, error)
            return await self._aannounce(failed, run_manager)
        return self._taken(step, call)

    def _prepared(
        self,
        action: AgentAction,
        verdict: Any,
        tools: dict[str, BaseTool],
        manager: Any,
        prepare: Callable[[BaseTool], BaseTool] = lambda tool: tool,
    ) -> "PreparedCall | AgentStep":
        """Return a call that is ready to be made; its step, if it was refused."""
        action, refused = approved(action, verdict)
        if refused is not None:
            return AgentStep(action=action, observation=Unanswered(refused))
        notes, tool, config = self._notes(manager), tools.get(action.tool), configured(manager)
        if tool is not None:
            ready = with_injected(tool, action, notes.inputs, self.store, config)
            tools = {**tools, action.tool: prepare(ready)}
        seconds = self._seconds_for(action.tool, notes)
        return PreparedCall(action, ArtifactCatcher(tools, action), notes, seconds, config)

    def _seconds_for(self, tool: str, notes: "RunNotes") -> float | None:
        """Return the seconds a tool may take: its own, and what is left of the run's."""
        own = self.tool_timeout
        limits = [own.get(tool) if isinstance(own, Mapping) else own]
        if self.max_execution_time is not None:
            limits.append(max(0.0, self.max_execution_time - (time.monotonic() - notes.began)))
        return min((limit for limit in limits if limit is not None), default=None)

    def _taken(self, step: AgentStep, call: "PreparedCall") -> AgentStep:
        """Keep a step's artifact, and shorten its observation to the room it may have."""
        if call.catcher.artifact is not None:
            call.notes.artifacts.append((step.action, call.catcher.artifact))
        words = in_words(step.observation)
        shortened = self._budget().shortened(words)
        if shortened is words:
            return step
        return AgentStep(action=step.action, observation=shortened)

    def _failed(
        self, tools: dict[str, BaseTool], action: AgentAction, error: Exception
    ) -> AgentStep:
        """Make an observation of a tool's exception, or raise it again."""
        if isinstance(error, NotInTime):
            said = f"{action.tool} gave {error}."
        elif not self.handle_tool_errors or is_control_flow(error):
            raise error
        else:
            said = describe_failure(tools, action, error)
        return AgentStep(action=action, observation=Unanswered(said))

    def _announce(self, step: AgentStep, manager: CallbackManagerForChainRun | None) -> AgentStep:
        """Show an observation that no tool's own event shows."""
        if manager:
            manager.on_text(self._announced(step.observation), verbose=self.verbose)
        return step

    async def _aannounce(
        self, step: AgentStep, manager: AsyncCallbackManagerForChainRun | None
    ) -> AgentStep:
        if manager:
            await manager.on_text(self._announced(step.observation), verbose=self.verbose)
        return step

    # Results.

    def _get_tool_return(self, next_step_output: Step) -> AgentFinish | None:
        """Return the finish if a tool's result is the answer: that it failed is for the model."""
        if isinstance(next_step_output[1], Unanswered):
            return None
        return super()._get_tool_return(next_step_output)

    def _return(
        self,
        output: AgentFinish,
        intermediate_steps: list[Step],
        run_manager: CallbackManagerForChainRun | None = None,
    ) -> dict[str, Any]:
        if self.strict:
            return super()._return(output, intermediate_steps, run_manager)
        steps = without_corrections(intermediate_steps)
        result = super()._return(plain(output), steps, run_manager)
        return self._with_artifacts(result, run_manager)

    async def _areturn(
        self,
        output: AgentFinish,
        intermediate_steps: list[Step],
        run_manager: AsyncCallbackManagerForChainRun | None = None,
    ) -> dict[str, Any]:
        if self.strict:
            return await super()._areturn(output, intermediate_steps, run_manager)
        steps = without_corrections(intermediate_steps)
        result = await super()._areturn(plain(output), steps, run_manager)
        return self._with_artifacts(result, run_manager)

    def _with_artifacts(self, result: dict[str, Any], manager: Any) -> dict[str, Any]:
        if self.return_artifacts:
            result["artifacts"] = list(self._notes(manager).artifacts)
        return result

    def prep_outputs(
        self,
        inputs: dict[str, str],
        outputs: dict[str, str],
        return_only_outputs: bool = False,
    ) -> dict[str, str]:
        """Check the outputs, let the memory save the answer alone, and add the inputs."""
        if self.strict or self.memory is None:
            return super().prep_outputs(inputs, outputs, return_only_outputs)
        self._validate_outputs(outputs)
        self.memory.save_context(inputs, self._remembered(outputs))
        return outputs if return_only_outputs else {**inputs, **outputs}

    async def aprep_outputs(
        self,
        inputs: dict[str, str],
        outputs: dict[str, str],
        return_only_outputs: bool = False,
    ) -> dict[str, str]:
        """Do as `prep_outputs` without blocking."""
        if self.strict or self.memory is None:
            return await super().aprep_outputs(inputs, outputs, return_only_outputs)
        self._validate_outputs(outputs)
        await self.memory.asave_context(inputs, self._remembered(outputs))
        return outputs if return_only_outputs else {**inputs, **outputs}

    def _remembered(self, outputs: dict[str, str]) -> dict[str, str]:
        """Return what the memory is given: the answer, and what a field of its own asks for.

        Most memories fail, or store the wrong thing, if steps and marks stand beside the answer;
        LangChain's `AgentTokenBufferMemory` names the steps as its `intermediate_steps_key`.
        """
        own = {value for name, value in vars(self.memory).items() if name.endswith("_key")}
        keys = {*(self._action_agent.return_values or ["output"]), *own}
        return {key: value for key, value in outputs.items() if key in keys}


@dataclass(eq=False)
class RunNotes:
    """What is kept of one run while it lasts.

    Args:
        spending: What its model calls have used.
        began: When it began, by the monotonic clock.
        artifacts: What tools returned beside their observations, with the action each.
        inputs: What it was given, for tools that ask for the state.
    """

    spending: Spending
    began: float = field(default_factory=time.monotonic)
    artifacts: list[tuple[AgentAction, Any]] = field(default_factory=list)
    inputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PreparedCall:
    """A call that is ready to be made.

    Args:
        action: The action, as it was approved.
        catcher: The tools to call from.
        notes: What is kept of the run.
        seconds: The time it has; None for any.
        config: What the run was configured with.
    """

    action: AgentAction
    catcher: ArtifactCatcher
    notes: RunNotes
    seconds: float | None
    config: RunnableConfig

    @property
    def tools(self) -> dict[str, Any]:
        """The tools to call from; that of the call is told what the run was configured with."""
        tool = self.catcher.tools.get(self.action.tool)
        told = {} if tool is None else {self.action.tool: ConfiguredTool(tool, self.config)}
        return {**self.catcher.tools, **told}
