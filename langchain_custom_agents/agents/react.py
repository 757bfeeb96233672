"""ReActAgent: an LLMSingleActionAgent that reasons and acts in a dialect."""

from collections.abc import Sequence
from typing import Any

from langchain_classic.agents import LLMSingleActionAgent
from langchain_classic.agents.agent import AgentOutputParser
from langchain_classic.chains import LLMChain
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.language_models import BaseLanguageModel
from langchain_core.prompts import BasePromptTemplate
from langchain_core.tools import BaseTool
from pydantic import ConfigDict, model_validator

from langchain_custom_agents.agents._given import (
    check_alone,
    check_parts,
    check_templates,
    check_variables,
    completed,
)
from langchain_custom_agents.agents.base import DialectAgent, check_arguments, check_tools
from langchain_custom_agents.agents.fields import KnownFields
from langchain_custom_agents.agents.output_parser import DialectOutputParser, ReActOutputParser
from langchain_custom_agents.agents.prompt import (
    SCRATCHPAD,
    Example,
    ReActPromptTemplate,
    takes_messages,
    writes_cue,
)
from langchain_custom_agents.dialects import ENGLISH, Dialect, Toolbox
from langchain_custom_agents.loop import Step


class ReActAgent(KnownFields, DialectAgent, LLMSingleActionAgent):
    r"""An agent that reasons, acts and observes, in the written form of a dialect.

    Put it where a stock `LLMSingleActionAgent`, `ZeroShotAgent`, `ConversationalAgent`,
    `ReActDocstoreAgent` or `SelfAskWithSearchAgent` stood.

    Args:
        llm_chain: The prompt template and the model.
        output_parser: What reads the model's words; the dialect's if not given. A parser of
            your own is given the words up to the first stop sequence.
        stop: The stop sequences; the dialect's if not given.
        allowed_tools: The names of the tools the agent may use.
        dialect: The written form; the output parser's if not given.

    Raises:
        TypeError: If an argument is not known.
        ValueError: If dialect and output parser disagree.

    Example:
        >>> from langchain_core.tools import Tool
        >>> from langchain_custom_agents.testing import ScriptedLLM
        >>> search = Tool("Search", lambda query: "10 years old", "looks things up")
        >>> llm = ScriptedLLM(["I look\nAction: Search\nAction Input: Hiroko's age"])
        >>> agent = ReActAgent.from_llm_and_tools(llm, [search])
        >>> action = agent.plan([], input="How old is Hiroko?")
        >>> action.tool, action.tool_input
        ('Search', "Hiroko's age")
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    llm_chain: LLMChain
    output_parser: AgentOutputParser
    stop: list[str]
    allowed_tools: list[str] | None = None

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, values: Any) -> Any:
        """Let dialect, output parser and stop sequences follow from each other."""
        if not isinstance(values, dict):
            return values
        values = completed(values, ENGLISH, ReActOutputParser)
        if values.get("stop") is None:
            values["stop"] = list((values["dialect"] or ENGLISH).stop)
        return values

    @classmethod
    def _also_accepted(cls) -> set[str]:
        return {*super()._also_accepted(), "tools", "verbose"}

    @property
    def stop_sequences(self) -> list[str]:
        """The stop sequences sent to the model."""
        return self.stop

    def _heard(self, steps: Sequence[Step], inputs: dict[str, Any]) -> dict[str, Any]:
        """Return all that the prompt may use; somebody's own prompt is given the scratchpad."""
        heard, prompt = super()._heard(steps, inputs), self.llm_chain.prompt
        dialect = self.dialect or ENGLISH
        if takes_messages(prompt):
            return {SCRATCHPAD: self._pad(dialect).messages(steps), **heard}
        if isinstance(prompt, ReActPromptTemplate) or SCRATCHPAD not in prompt.input_variables:
            return heard
        pad = self._pad(dialect).write(steps)
        if writes_cue(getattr(prompt, "template", ""), dialect):
            pad = pad.removeprefix(dialect.cue)
        return {SCRATCHPAD: pad, **heard}

    @property
    def input_keys(self) -> list[str]:
        """The inputs that a run must be given."""
        inner = {"intermediate_steps", "agent_scratchpad"}
        return [key for key in self.llm_chain.input_keys if key not in inner]

    def get_allowed_tools(self) -> list[str] | None:
        """Return the names of the tools the agent may use; None if any."""
        return self.allowed_tools

    @classmethod
    def create_prompt(
        cls,
        tools: Sequence[BaseTool],
        prefix: str | None = None,
        suffix: str | None = None,
        format_instructions: str | None = None,
        input_variables: Sequence[str] | None = None,
        *,
        dialect: Dialect | None = None,
        examples: Sequence[Example] = (),
        ai_prefix: str = "AI",
        human_prefix: str = "Human",
    ) -> ReActPromptTemplate:
        """Make the prompt template.

        Args:
            tools: The tools.
            prefix: Replaces the introduction.
            suffix: Replaces the end; a template with `{input}` and `{agent_scratchpad}`.
            format_instructions: Replaces the description of the form.
            input_variables: The variables of your templates; checked, otherwise inferred.
            dialect: The written form; `ENGLISH` if not given.
            examples: Few-shot examples: questions with steps of thought, move, observation.
            ai_prefix: What the AI is called in a history.
            human_prefix: What the user is called in a history.

        Raises:
            ValueError: If a variable is named that no template holds, or the suffix lacks one.
        """
        check_templates(prefix=prefix, suffix=suffix, format_instructions=format_instructions)
        prompt = ReActPromptTemplate(
            dialect=dialect or ENGLISH,
            tools=Toolbox.of(tools),
            prefix=prefix,
            suffix=suffix,
            format_instructions=format_instructions,
            examples=examples,
            ai_prefix=ai_prefix,
            human_prefix=human_prefix,
        )
        check_variables(prompt, input_variables)
        return prompt

    @classmethod
    def from_llm_and_tools(
        cls,
        llm: BaseLanguageModel[Any],
        tools: Sequence[BaseTool],
        callback_manager: BaseCallbackManager | None = None,
        *,
        dialect: Dialect | None = None,
        prompt: BasePromptTemplate[Any] | None = None,
        output_parser: AgentOutputParser | None = None,
        stop: list[str] | None = None,
        prefix: str | None = None,
        suffix: str | None = None,
        format_instructions: str | None = None,
        examples: Sequence[Example] = (),
        input_variables: Sequence[str] | None = None,
        ai_prefix: str = "AI",
        human_prefix: str = "Human",
        **kwargs: Any,
    ) -> "ReActAgent":
        """Make an agent of a model and tools.

        Args:
            llm: A text model or a chat model.
            tools: The tools.
            callback_manager: The callbacks of the chain.
            dialect: The written form: `ENGLISH` if not given.
            prompt: A prompt template of your own, taking `intermediate_steps` or
                `agent_scratchpad`; `tools` and `tool_names` in it are filled in.
            output_parser: An output parser of your own.
            stop: Stop sequences of your own.
            prefix: See `create_prompt`, as all that follow.
            suffix: See `create_prompt`.
            format_instructions: See `create_prompt`.
            examples: See `create_prompt`.
            input_variables: See `create_prompt`.
            ai_prefix: See `create_prompt`.
            human_prefix: See `create_prompt`.
            **kwargs: More fields of the agent.

        Raises:
            TypeError: If an argument is not known.
            ValueError: If a tool cannot be written in the dialect, two tools share a name, or a
                variable is named that no template holds.
        """
        check_arguments(cls, kwargs)
        check_parts(llm, tools, dialect, prompt)
        if dialect is None and output_parser is None:
            dialect = getattr(prompt, "dialect", None) or ENGLISH
        if isinstance(output_parser, DialectOutputParser):
            dialect = dialect or output_parser.dialect
        toolbox = Toolbox.of(tools)
        check_tools(cls.__name__, dialect, toolbox)
        if prompt is None:
            prompt = cls.create_prompt(
                tools,
                prefix,
                suffix,
                format_instructions,
                input_variables,
                dialect=dialect,
                examples=examples,
                ai_prefix=ai_prefix,
                human_prefix=human_prefix,
            )
        else:
            check_alone(
                prefix=prefix,
                suffix=suffix,
                format_instructions=format_instructions,
                examples=examples,
            )
            check_variables(prompt, input_variables)
            prompt = cls.create_prompt(tools, dialect=dialect).tell_of_tools(prompt)
        return cls(
            llm_chain=LLMChain(llm=llm, prompt=prompt, callbacks=callback_manager),
            output_parser=output_parser or ReActOutputParser(dialect=dialect, tools=toolbox),
            stop=stop,
            dialect=dialect,
            allowed_tools=kwargs.pop("allowed_tools", list(toolbox.names)),
            **kwargs,
        )
