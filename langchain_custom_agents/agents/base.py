"""What the text agents share: asking in a dialect, and reading the reply."""

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import AsyncCallbackManager, CallbackManager, Callbacks
from langchain_core.exceptions import OutputParserException
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, ConfigDict, PrivateAttr

from langchain_custom_agents._arguments import refuse_unknown
from langchain_custom_agents.agents.output_parser import DialectOutputParser, prose_in
from langchain_custom_agents.agents.prompt import Scratchpad
from langchain_custom_agents.dialects import Action, Dialect, Toolbox
from langchain_custom_agents.loop import CORRECTION, Step
from langchain_custom_agents.models.asking import asay, cut_at, say

STOPPED = "Agent stopped due to iteration limit or time limit."


class DialectAgent(BaseModel):
    """A mixin for LangChain's text agents: it asks, cuts, reads and corrects in a dialect.

    The class it is mixed into has `llm_chain` and `output_parser`.

    Args:
        dialect: The written form.
        streaming: Whether the model's replies are streamed, so that a stream can be closed where
            the model begins to invent an observation. If not given, they are where somebody
            listens to tokens, and once the model has not kept to a stop sequence.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    dialect: Dialect | None = None
    streaming: bool | None = None

    # Given by LangChain's class.
    llm_chain: Any
    output_parser: Any

    _scratchpad: Scratchpad | None = PrivateAttr(default=None)

    def _pad(self, dialect: Dialect) -> Scratchpad:
        """Return what writes the steps for a prompt of somebody's own, each step once."""
        if self._scratchpad is None or self._scratchpad.dialect is not dialect:
            self._scratchpad = Scratchpad(dialect)
        return self._scratchpad

    @property
    def stop_sequences(self) -> list[str]:
        """The stop sequences sent to the model."""
        return [] if self.dialect is None else list(self.dialect.stop)

    def plan(
        self, intermediate_steps: Sequence[Step], callbacks: Callbacks = None, **kwargs: Any
    ) -> AgentAction | AgentFinish:
        """Ask the model what to do next. No tool is run.

        Args:
            intermediate_steps: The steps so far: each action with its observation.
            callbacks: The callbacks of the call.
            **kwargs: The inputs, such as `input`.

        Returns:
            An action, or the finish.

        Raises:
            OutputParserException: If the reply cannot be read; it carries what to say to the
                model about it.
            ValueError: If an input of the prompt is missing.
        """
        return self._read(self._say(intermediate_steps, callbacks, kwargs))

    async def aplan(
        self, intermediate_steps: Sequence[Step], callbacks: Callbacks = None, **kwargs: Any
    ) -> AgentAction | AgentFinish:
        """Ask the model what to do next without blocking; see `plan`."""
        return self._read(await self._asay(intermediate_steps, callbacks, kwargs))

    def return_stopped_response(
        self, early_stopping_method: str, intermediate_steps: Sequence[Step], **kwargs: Any
    ) -> AgentFinish:
        """Finish a run that may not go on.

        Args:
            early_stopping_method: "force" for a constant text, "generate" for the model's best
                answer from what was found.
            intermediate_steps: The steps so far.
            **kwargs: The inputs, and `callbacks` of the call if there is one.

        Raises:
            ValueError: If the method is neither.
        """
        if generates(early_stopping_method):
            callbacks = kwargs.pop("callbacks", None)
            steps = self._wrapping_up(intermediate_steps)
            return self._best_of(self._say(steps, callbacks, kwargs))
        return AgentFinish({"output": STOPPED}, "")

    async def areturn_stopped_response(
        self, early_stopping_method: str, intermediate_steps: Sequence[Step], **kwargs: Any
    ) -> AgentFinish:
        """Finish a run that may not go on without blocking; see `return_stopped_response`."""
        if generates(early_stopping_method):
            callbacks = kwargs.pop("callbacks", None)
            steps = self._wrapping_up(intermediate_steps)
            return self._best_of(await self._asay(steps, callbacks, kwargs))
        return AgentFinish({"output": STOPPED}, "")

    def tool_run_logging_kwargs(self) -> dict[str, str]:
        """Return how `verbose` marks observations and the model's turns."""
        if self.dialect is None:
            given: dict[str, str] = super().tool_run_logging_kwargs()  # type: ignore[misc]
            return given
        return {
            "llm_prefix": f"{self.dialect.cue} " if self.dialect.cue else "",
            "observation_prefix": f"{self.dialect.observation} ",
        }

    @property
    def _agent_type(self) -> str:
        """The name of the agent type that this agent is of."""
        from langchain_custom_agents.agents.types import AGENTS

        for kind, row in AGENTS.items():
            if isinstance(self, row.agent) and type(self.dialect) is type(row.dialect):
                return kind.value
        msg = f"{type(self).__name__} with a dialect of your own is of no agent type."
        raise NotImplementedError(msg)

    def save(self, file_path: Path | str) -> None:
        """Save the agent without model and tools; see `saving.save_agent`."""
        from langchain_custom_agents.agents.saving import save_agent

        save_agent(self, file_path)  # type: ignore[arg-type]

    # Asking.

    def _say(self, steps: Sequence[Step], callbacks: Callbacks, inputs: dict[str, Any]) -> str:
        """Ask the model, as a run of the chain: the tree of runs is LangChain's."""
        chain, heard = self.llm_chain, self._heard(steps, inputs)
        manager = CallbackManager.configure(
            callbacks, chain.callbacks, chain.verbose, None, chain.tags, None, chain.metadata
        )
        run = manager.on_chain_start(None, heard, name=chain.get_name())
        try:
            prompt = self._prompt(heard)
            said = f"Prompt after formatting:\n{prompt.to_string()}"
            run.on_text(said, end="\n", verbose=chain.verbose)
            config: RunnableConfig = {"callbacks": run.get_child()}
            words = say(
                *(chain.llm, prompt, self.stop_sequences, config, chain.llm_kwargs),
                dialect=self._read_in,
                streaming=self.streaming,
            )
        except BaseException as error:
            run.on_chain_error(error)
            raise
        run.on_chain_end({chain.output_key: words})
        return words

    async def _asay(
        self, steps: Sequence[Step], callbacks: Callbacks, inputs: dict[str, Any]
    ) -> str:
        chain, heard = self.llm_chain, self._heard(steps, inputs)
        manager = AsyncCallbackManager.configure(
            callbacks, chain.callbacks, chain.verbose, None, chain.tags, None, chain.metadata
        )
        run = await manager.on_chain_start(None, heard, name=chain.get_name())
        try:
            prompt = self._prompt(heard)
            said = f"Prompt after formatting:\n{prompt.to_string()}"
            await run.on_text(said, end="\n", verbose=chain.verbose)
            config: RunnableConfig = {"callbacks": run.get_child()}
            words = await asay(
                *(chain.llm, prompt, self.stop_sequences, config, chain.llm_kwargs),
                dialect=self._read_in,
                streaming=self.streaming,
            )
        except BaseException as error:
            await run.on_chain_error(error)
            raise
        await run.on_chain_end({chain.output_key: words})
        return words

    @property
    def _read_in(self) -> Dialect | None:
        """The dialect that replies are read in; None with somebody's own output parser."""
        parser = self.output_parser
        return parser.dialect if isinstance(parser, DialectOutputParser) else None

    def _heard(self, steps: Sequence[Step], inputs: dict[str, Any]) -> dict[str, Any]:
        """Return all that the prompt may use."""
        return {**inputs, "intermediate_steps": list(steps), "stop": self.stop_sequences}

    def _prompt(self, heard: dict[str, Any]) -> PromptValue:
        """Write the prompt from those inputs that its template takes."""
        template: BasePromptTemplate[Any] = self.llm_chain.prompt
        needed = [name for name in template.input_variables if name != "agent_scratchpad"]
        missing = [name for name in needed if name not in heard]
        if missing:
            names = ", ".join(repr(name) for name in missing)
            given = ", ".join(sorted(set(heard) - {"intermediate_steps", "stop"})) or "nothing"
            msg = f"The prompt needs {names}, but was given {given}."
            raise ValueError(msg)
        taken = {*needed, *template.optional_variables, "agent_scratchpad", "intermediate_steps"}
        return template.format_prompt(**{k: v for k, v in heard.items() if k in taken})

    def _wrapping_up(self, steps: Sequence[Step]) -> list[Step]:
        """Add to the transcript that no more tools can be used."""
        from langchain_custom_agents.dialects import ENGLISH

        request = (self.dialect or ENGLISH).phrases.wrap_up
        return [*steps, (AgentAction(CORRECTION, request, ""), request)]

    def _best_of(self, words: str) -> AgentFinish:
        """Return the answer in the words; if there is none, say that the run was stopped."""
        try:
            move = self._read(words)
        except OutputParserException as error:
            prose = prose_in(error)
            said = STOPPED if prose is None else prose
            return AgentFinish({"output": said, "stopped": True}, words)
        if isinstance(move, AgentFinish):
            return AgentFinish({**move.return_values, "stopped": True}, move.log)
        return AgentFinish({"output": STOPPED, "stopped": True}, words)

    # Reading.

    def _read(self, words: str) -> AgentAction | AgentFinish:
        parser = self.output_parser
        if isinstance(parser, DialectOutputParser):
            own = [
                sequence for sequence in self.stop_sequences if sequence not in parser.dialect.stop
            ]
            return parser.parse(cut_at(words, own))
        return read_with(parser, cut_at(words, self.stop_sequences))


def read_with(parser: Any, words: str) -> AgentAction | AgentFinish:
    """Read words with somebody's own output parser; what it refuses can be said to the model.

    Raises:
        OutputParserException: If the parser refuses the words.
        TypeError: If it returns something else than a move.
    """
    try:
        move: Any = parser.parse(words)
    except OutputParserException as error:
        if error.send_to_llm:
            raise
        raise _refusal(error, words) from error
    except ValueError as error:
        raise _refusal(error, words) from error
    moves = move if isinstance(move, list | tuple) else [move]
    if not all(isinstance(each, AgentAction | AgentFinish) for each in moves):
        msg = (
            f"{type(parser).__name__}.parse returned {move!r} for {words!r}; it has to return an "
            "AgentAction or an AgentFinish, or to raise OutputParserException."
        )
        raise TypeError(msg)
    return move  # type: ignore[no-any-return]


def _refusal(error: Exception, words: str) -> OutputParserException:
    said = f"That reply could not be read: {error} Keep to the form you were given."
    return OutputParserException(error, observation=said, llm_output=words, send_to_llm=True)


def check_tools(owner: str, dialect: Dialect | None, toolbox: Toolbox) -> None:
    """Refuse tools that an agent could not tell apart or not write.

    Raises:
        ValueError: If two tools share a name, or the dialect cannot write one.
    """
    seen: set[str] = set()
    for spec in toolbox:
        if spec.name in seen:
            msg = f"Two tools given to {owner} are named {spec.name!r}; names must differ."
            raise ValueError(msg)
        seen.add(spec.name)
        if dialect is not None and (dialect.only_tool in (None, spec.name)):
            dialect.write("", Action(spec.name, ""))
        elif dialect is not None:
            msg = f"{owner} takes one tool, named {dialect.only_tool!r}; got {spec.name!r}."
            raise ValueError(msg)


def check_arguments(owner: type[BaseModel], given: dict[str, Any]) -> None:
    """Refuse keyword arguments that neither a class nor its `from_llm_and_tools` takes."""
    factory = owner.from_llm_and_tools  # type: ignore[attr-defined]
    known = {*owner.model_fields, *inspect.signature(factory).parameters} - {"kwargs"}
    refuse_unknown(f"{owner.__name__}.from_llm_and_tools", given, known)


def generates(method: str) -> bool:
    """Tell whether a run's end is left to the model, or is LangChain's constant text.

    Raises:
        ValueError: If the early stopping method is neither "generate" nor "force".
    """
    if method not in ("force", "generate"):
        msg = f"early_stopping_method must be 'force' or 'generate', not {method!r}."
        raise ValueError(msg)
    return method == "generate"
