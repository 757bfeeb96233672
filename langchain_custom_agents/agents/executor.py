"""The executor: LangChain's, driving our loop."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_classic.agents import AgentExecutor as ClassicAgentExecutor
from langchain_classic.utilities.asyncio import asyncio_timeout
from langchain_core.agents import AgentAction, AgentFinish, AgentStep
from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    CallbackManagerForChainRun,
)
from langchain_core.exceptions import OutputParserException
from langchain_core.runnables.config import ContextThreadPoolExecutor
from langchain_core.tools import BaseTool
from langchain_core.utils.input import get_color_mapping
from pydantic import ValidationError, model_validator

from langchain_custom_agents.agents.fields import KnownFields
from langchain_custom_agents.agents.output_parser import prose_in
from langchain_custom_agents.dialects import ToolSpec
from langchain_custom_agents.loop import (
    Ask,
    Done,
    Limits,
    Misread,
    Planned,
    Reask,
    Run,
    Step,
    Stop,
    Turn,
    advance,
    turn,
    without_corrections,
)


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
        strict: Whether to do all as LangChain's executor does.

    Raises:
        TypeError: If an argument is not known.

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
    strict: bool = False

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, values: Any) -> Any:
        if isinstance(values, dict):
            values = dict(values)
            if values.get("strict"):
                values.setdefault("handle_parsing_errors", False)
            manager = values.pop("callback_manager", None)
            if manager is not None and values.get("callbacks") is None:
                values["callbacks"] = manager
            Reask(values.get("max_corrections", 3))
        return values

    @classmethod
    def _also_accepted(cls) -> set[str]:
        return {"callback_manager", "stream_runnable"}

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
        given = dict(inputs)
        if hasattr(self._action_agent, "areturn_stopped_response"):
            given["callbacks"] = manager.get_child() if manager else None  # type: ignore[assignment]
        return self._action_agent.return_stopped_response(
            self.early_stopping_method, request.steps, **given
        )

    async def _astopped(
        self, request: Stop, inputs: dict[str, str], manager: AsyncCallbackManagerForChainRun | None
    ) -> AgentFinish:
        finish = getattr(self._action_agent, "areturn_stopped_response", None)
        if finish is None:
            return self._stopped(request, inputs, None)
        callbacks = manager.get_child() if manager else None
        stopped: AgentFinish = await finish(
            self.early_stopping_method, request.steps, callbacks=callbacks, **inputs
        )
        return stopped

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
        flow = turn(intermediate_steps, Reask(self.max_corrections))
        request = advance(flow)
        while not isinstance(request, Done):
            if isinstance(request, Ask):
                if request.correction and run_manager:
                    action, text = request.correction
                    run_manager.on_agent_action(action, color="green", verbose=self.verbose)
                    run_manager.on_text(self._announced(text), verbose=self.verbose)
                reply: Any = self._ask(request, inputs, run_manager)
            else:
                yield from request.actions
                steps = []
                for step in self._perform(
                    request.actions, name_to_tool_map, color_mapping, run_manager
                ):
                    yield step
                    steps.append(step)
                reply = [step.observation for step in steps]
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
        flow = turn(intermediate_steps, Reask(self.max_corrections))
        request = advance(flow)
        while not isinstance(request, Done):
            if isinstance(request, Ask):
                if request.correction and run_manager:
                    action, text = request.correction
                    await run_manager.on_agent_action(action, color="green", verbose=self.verbose)
                    await run_manager.on_text(self._announced(text), verbose=self.verbose)
                reply: Any = await self._aask(request, inputs, run_manager)
            else:
                for action in request.actions:
                    yield action
                steps = await self._aperform(
                    request.actions, name_to_tool_map, color_mapping, run_manager
                )
                for step in steps:
                    yield step
                reply = [step.observation for step in steps]
            request = advance(flow, reply)
        if isinstance(request.outcome, AgentFinish):
            yield request.outcome

    def _announced(self, correction: str) -> str:
        marks = self._action_agent.tool_run_logging_kwargs()
        before, after = marks.get("observation_prefix", ""), marks.get("llm_prefix", "")
        return f"\n{before}{correction}\n{after}"

    def _ask(
        self, request: Ask, inputs: dict[str, str], manager: CallbackManagerForChainRun | None
    ) -> Planned:
        try:
            return self._action_agent.plan(
                self._prepare_intermediate_steps(list(request.steps)),
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
                self._prepare_intermediate_steps(list(request.steps)),
                callbacks=manager.get_child() if manager else None,
                **inputs,
            )
        except OutputParserException as error:
            return self._misread(error)

    def _misread(self, error: OutputParserException) -> Misread:
        """Say what to tell the model, or raise as LangChain's executor does."""
        handling = self.handle_parsing_errors
        words = str(error.llm_output or error)
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
        try:
            return super()._perform_agent_action(
                name_to_tool_map, color_mapping, agent_action, run_manager
            )
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is for the model
            step = self._failed(name_to_tool_map, agent_action, error)
            if run_manager:
                run_manager.on_text(self._announced(step.observation), verbose=self.verbose)
            return step

    async def _aperform_agent_action(
        self,
        name_to_tool_map: dict[str, BaseTool],
        color_mapping: dict[str, str],
        agent_action: AgentAction,
        run_manager: AsyncCallbackManagerForChainRun | None = None,
    ) -> AgentStep:
        try:
            return await super()._aperform_agent_action(
                name_to_tool_map, color_mapping, agent_action, run_manager
            )
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is for the model
            step = self._failed(name_to_tool_map, agent_action, error)
            if run_manager:
                await run_manager.on_text(self._announced(step.observation), verbose=self.verbose)
            return step

    def _failed(
        self, tools: dict[str, BaseTool], action: AgentAction, error: Exception
    ) -> AgentStep:
        """Make an observation of a tool's exception, or raise it again."""
        if self.strict or not self.handle_tool_errors or is_control_flow(error):
            raise error
        return AgentStep(action=action, observation=describe_failure(tools, action, error))

    # Results.

    def _return(
        self,
        output: AgentFinish,
        intermediate_steps: list[Step],
        run_manager: CallbackManagerForChainRun | None = None,
    ) -> dict[str, Any]:
        if not self.strict:
            output, intermediate_steps = plain(output), without_corrections(intermediate_steps)
        return super()._return(output, intermediate_steps, run_manager)

    async def _areturn(
        self,
        output: AgentFinish,
        intermediate_steps: list[Step],
        run_manager: AsyncCallbackManagerForChainRun | None = None,
    ) -> dict[str, Any]:
        if not self.strict:
            output, intermediate_steps = plain(output), without_corrections(intermediate_steps)
        return await super()._areturn(output, intermediate_steps, run_manager)

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
        """Return what a memory is given: the answer, not the steps or marks beside it."""
        keys = self._action_agent.return_values or ["output"]
        return {key: outputs[key] for key in keys if key in outputs}


def plain(finish: AgentFinish) -> AgentFinish:
    """Return a finish whose output is text; an answer that is data keeps its shape beside it."""
    output = finish.return_values.get("output")
    if output is None or isinstance(output, str):
        return finish
    try:
        text = json.dumps(output, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(output)
    values = {**finish.return_values, "output": text, "structured_output": output}
    return AgentFinish(values, finish.log)


def describe_failure(tools: dict[str, BaseTool], action: AgentAction, error: Exception) -> str:
    """Say to a model why its call failed and, if its arguments were wrong, what the tool takes."""
    wrong_arguments = isinstance(error, ValidationError | TypeError) or "Too many arguments" in str(
        error
    )
    if isinstance(error, ValidationError):
        problems = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc']) or 'input'}: {problem['msg']}"
            for problem in error.errors()
        )
    else:
        problems = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    said = f"{action.tool} failed: {problems}"
    tool = tools.get(action.tool)
    if wrong_arguments and tool is not None:
        taken = ToolSpec.of(tool).args or {}
        args = ", ".join(f"{name} ({schema.get('type', 'any')})" for name, schema in taken.items())
        said = f"{said}. {action.tool} takes: {args or 'no arguments'}."
    return said


def is_control_flow(error: Exception) -> bool:
    """Tell whether an exception is LangGraph's way of pausing a graph, not a failure."""
    errors = sys.modules.get("langgraph.errors")
    return errors is not None and isinstance(error, errors.GraphBubbleUp)
