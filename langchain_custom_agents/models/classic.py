"""A classic agent as a chat model: the same prompt, dialect and model, under `create_agent`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from langchain_core.agents import AgentAction
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import Field

from langchain_custom_agents.dialects import (
    ENGLISH,
    Action,
    Answer,
    Dialect,
    Misreading,
    Reading,
    Toolbox,
)
from langchain_custom_agents.loop import CORRECTION
from langchain_custom_agents.models.asking import cut_at
from langchain_custom_agents.models.tool_calling import ToolCallingModel
from langchain_custom_agents.models.transcript import (
    Conversation,
    Scribe,
    Step,
    Told,
    entries_of,
    must_call,
)


def as_model(
    agent: Any, *, inputs: Mapping[str, Any] | None = None, **kwargs: Any
) -> ToolCallingModel:
    r"""Make a chat model with tool calling of a classic agent.

    The agent keeps its prompt template, its written form or output parser, and its model, so that
    what was tuned for `AgentExecutor` runs under LangChain's `create_agent`. The last question of
    the conversation is the template's `input`, the steps since are its scratchpad, and all before
    is its `chat_history`, if it takes one.

    Args:
        agent: A `ReActAgent`, a `StructuredChatAgent`, or a class of your own made of one.
        inputs: Values for other variables of the template.
        **kwargs: The fields of the model: `reasks`, `unreadable`, `constrain`, `cache`, ...; see
            `with_tool_calling`.

    Returns:
        The chat model. Without tools of `bind_tools` it has those of the agent.

    Raises:
        TypeError: If it is no such agent.

    Example:
        >>> from langchain_custom_agents import ReActAgent, docstore_tools, TextDocstore
        >>> from langchain_custom_agents.testing import ScriptedLLM
        >>> tools = docstore_tools(TextDocstore({"Hiroko": "She is ten."}))
        >>> llm = ScriptedLLM(["I look\nAction: Search\nAction Input: Hiroko"])
        >>> model = as_model(ReActAgent.from_llm_and_tools(llm, tools))
        >>> [call["name"] for call in model.invoke("How old is Hiroko?").tool_calls]
        ['Search']
    """
    from langchain_custom_agents.agents.base import DialectAgent

    if not isinstance(agent, DialectAgent):
        msg = (
            f"as_model takes a ReActAgent or a StructuredChatAgent, not {type(agent).__name__}. "
            "An agent whose model calls tools in its provider's own form needs no as_model: give "
            "create_agent its model, and its system message as system_prompt."
        )
        raise TypeError(msg)
    chain = agent.llm_chain
    llm = chain.llm.bind(**chain.llm_kwargs) if chain.llm_kwargs else chain.llm
    scribe = AgentScribe(_dialect_of(agent), agent=agent, inputs=dict(inputs or {}))
    return AgentModel(llm=llm, dialect=scribe.dialect, scribe=scribe, **kwargs)


class AgentModel(ToolCallingModel):
    """A chat model that says and reads what a classic agent would; see `as_model`.

    Args:
        scribe: Writes prompts as the agent does, and reads replies as it does.
    """

    scribe: Any = Field(repr=False)

    def _scribe(self) -> Scribe:
        scribe: Scribe = self.scribe
        return scribe

    def _offer(
        self, schemas: Sequence[Mapping[str, Any]], tool_choice: Any
    ) -> tuple[Toolbox, bool]:
        if not schemas and tool_choice is None:
            return self.scribe.tools, False
        return super()._offer(schemas, tool_choice)

    @property
    def _identifying_params(self) -> dict[str, Any]:
        template = self.scribe.agent.llm_chain.prompt
        return {**super()._identifying_params, "prompt": repr(template)}


@dataclass(frozen=True)
class AgentScribe(Scribe):
    """Writes what a classic agent would send to its model, and reads as it would.

    Args:
        dialect: The written form; it corrects, if the agent has a parser of its own.
        agent: The agent.
        inputs: Values for other variables of the template.
    """

    always: ClassVar[bool] = True

    agent: Any = None
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tools(self) -> Toolbox:
        """The tools that the agent was made with."""
        parser, prompt = self.agent.output_parser, self.agent.llm_chain.prompt
        for part in (parser, prompt):
            if isinstance(getattr(part, "tools", None), Toolbox):
                return Toolbox.of(part.tools)
        return Toolbox.of(self.agent.get_allowed_tools() or ())

    @property
    def read_in(self) -> Dialect | None:
        """The dialect of the agent's output parser; None if the parser is somebody's own."""
        dialect: Dialect | None = self.agent._read_in
        return dialect

    @property
    def stop(self) -> tuple[str, ...]:
        """The agent's stop sequences."""
        return tuple(self.agent.stop_sequences)

    def read(self, words: str, tools: Toolbox) -> Reading:
        """Read a model's words as the agent does."""
        if self.read_in is not None:
            own = [sequence for sequence in self.stop if sequence not in self.dialect.stop]
            return super().read(cut_at(words, own), tools)
        try:
            move = self.agent._read(words)
        except OutputParserException as error:
            return Reading("", Misreading(words, str(error.args[0]).rstrip(".")))
        if not isinstance(move, AgentAction):
            return Reading("", Answer(str(next(iter(move.return_values.values()), ""))))
        action = Action(move.tool, move.tool_input)
        if action.tool not in tools:
            return Reading("", self.dialect.no_such_tool(words, action, tools))
        return Reading("", action)

    def write(
        self,
        messages: Sequence[BaseMessage],
        tools: Toolbox,
        *,
        forced: bool = False,
        corrected: Sequence[Mapping[str, str]] = (),
    ) -> Conversation:
        """Write the prompt from which the model goes on, by the agent's own template."""
        opening, entries = entries_of(messages, tools, corrected)
        asked = [at for at, entry in enumerate(entries) if getattr(entry, "role", "") == "human"]
        last = asked[-1] if asked else -1
        inputs = {
            "input": entries[last].text if asked else "",  # type: ignore[union-attr]
            "chat_history": _history(entries[: max(last, 0)]),
            **self.inputs,
        }
        steps = [step for entry in entries[last + 1 :] for step in self._steps(entry)]
        prompt = self._prompt(self.agent._heard(steps, inputs), tools)
        before = [opening, must_call(self.dialect.phrases)[0] if forced else ""]
        said = "\n\n".join(part for part in before if part)
        if not said:
            return Conversation(text=prompt.to_string(), messages=prompt.to_messages())
        first, *others = prompt.to_messages()
        if isinstance(first, SystemMessage):
            system = [SystemMessage(f"{said}\n\n{first.content}")]
        else:
            system, others = [SystemMessage(said)], [first, *others]
        return Conversation(text=f"{said}\n\n{prompt.to_string()}", messages=[*system, *others])

    def _prompt(self, heard: dict[str, Any], tools: Toolbox) -> Any:
        """Write the prompt. A template of ours describes the tools that there are."""
        from langchain_custom_agents.agents.prompt import DialectPrompt

        template = self.agent.llm_chain.prompt
        if not isinstance(template, DialectPrompt) or template.tools.names == tools.names:
            return self.agent._prompt(heard)
        fresh = template.model_copy(update={"tools": tools})
        fresh.model_post_init(None)
        chain = self.agent.llm_chain.model_copy(update={"prompt": fresh})
        return self.agent.model_copy(update={"llm_chain": chain})._prompt(heard)

    def _steps(self, entry: Told | Step) -> Iterator[tuple[AgentAction, Any]]:
        """Give a step as the classic agents know it: its log is what the model said."""
        if isinstance(entry, Told):
            yield AgentAction(CORRECTION, entry.text, ""), entry.text
            return
        move, observation = entry.move, entry.observation or ""
        if isinstance(move, Misreading):
            yield AgentAction(CORRECTION, observation, move.heard), observation
        elif isinstance(move, Action):
            log = None if entry.words is None else self._log(entry.words)
            if log is None:
                log = self.dialect.write(entry.thought, move).removeprefix(self.dialect.cue)
            yield AgentAction(move.tool, move.input, log), observation

    def _log(self, words: str) -> str | None:
        try:
            log: str = self.agent._read(words).log
        except OutputParserException:
            return None
        return log


def _dialect_of(agent: Any) -> Dialect:
    return agent._read_in or agent.dialect or ENGLISH


def _history(entries: Sequence[Told | Step]) -> list[BaseMessage]:
    """Return what was asked and answered before: steps are no part of a chat history."""
    turns: list[BaseMessage] = []
    for entry in entries:
        if isinstance(entry, Told) and entry.role == "human":
            turns.append(HumanMessage(entry.text))
        elif isinstance(entry, Told) and entry.role == "system":
            turns.append(SystemMessage(entry.text))
        elif isinstance(entry, Step) and isinstance(entry.move, Answer):
            turns.append(AIMessage(entry.move.text))
    return turns
