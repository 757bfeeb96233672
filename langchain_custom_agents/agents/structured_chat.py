"""StructuredChatAgent: tools with several arguments, called by a JSON object."""

from collections.abc import Sequence
from typing import Any

from langchain_classic.agents import StructuredChatAgent as ClassicStructuredChatAgent
from langchain_classic.agents.agent import AgentOutputParser
from langchain_classic.chains import LLMChain
from langchain_core.agents import AgentAction
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.language_models import BaseLanguageModel
from langchain_core.prompts import BasePromptTemplate, FewShotPromptTemplate, PromptTemplate
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
from langchain_custom_agents.agents.output_parser import (
    DialectOutputParser,
    StructuredChatOutputParser,
)
from langchain_custom_agents.agents.prompt import (
    SCRATCHPAD,
    Example,
    StructuredChatPromptTemplate,
    takes_messages,
)
from langchain_custom_agents.dialects import Dialect, JsonBlob, Toolbox


class StructuredChatAgent(KnownFields, DialectAgent, ClassicStructuredChatAgent):
    r"""An agent whose actions are JSON objects, for tools with several arguments.

    Put it where a stock `StructuredChatAgent`, `ChatAgent` or `ConversationalChatAgent` stood.
    It never asks a second model to mend a reply, and never takes what it could not read for
    the answer.

    Args:
        llm_chain: The prompt template and the model.
        output_parser: What reads the model's words; the dialect's if not given.
        allowed_tools: The names of the tools the agent may use.
        dialect: The written form; `JsonBlob()` if not given.

    Raises:
        TypeError: If an argument is not known.
        ValueError: If dialect and output parser disagree.

    Example:
        >>> from langchain_core.tools import tool
        >>> from langchain_custom_agents.testing import ScriptedChatModel
        >>> @tool
        ... def weather(city: str, days: int) -> str:
        ...     "Tell the weather."
        ...     return "sunny"
        >>> said = '{"action": "weather", "action_input": {"city": "Kyoto", "days": 2}}'
        >>> model = ScriptedChatModel([f"I look\nAction:\n```json\n{said}\n```"])
        >>> agent = StructuredChatAgent.from_llm_and_tools(model, [weather])
        >>> agent.plan([], input="How is the weather?").tool_input
        {'city': 'Kyoto', 'days': 2}
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    output_parser: AgentOutputParser
    dialect: Dialect | None = JsonBlob()

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, values: Any) -> Any:
        """Let dialect and output parser follow from each other."""
        if not isinstance(values, dict):
            return values
        values = completed(values, JsonBlob(), StructuredChatOutputParser)
        return {**values, "dialect": values["dialect"] or JsonBlob()}

    @model_validator(mode="after")
    def validate_prompt(self) -> "StructuredChatAgent":
        """Refuse a prompt without a place for the steps; a `("placeholder", ...)` is one, too."""
        prompt = self.llm_chain.prompt
        if takes_messages(prompt) or SCRATCHPAD in prompt.input_variables:
            return self
        if not isinstance(prompt, PromptTemplate | FewShotPromptTemplate):
            msg = f"The prompt has no place for the steps: write {{{SCRATCHPAD}}} into it."
            raise ValueError(msg)  # noqa: TRY004 - as LangChain's class does
        return super().validate_prompt()  # type: ignore[operator, no-any-return]  # adds one

    @classmethod
    def _also_accepted(cls) -> set[str]:
        return {*super()._also_accepted(), "tools", "verbose"}

    @property
    def observation_prefix(self) -> str:
        """What an observation begins with."""
        return f"{self._form.observation} "

    @property
    def llm_prefix(self) -> str:
        """What the model's turn begins with."""
        return self._form.cue

    @property
    def _form(self) -> Dialect:
        return self.dialect or JsonBlob()

    @property
    def _stop(self) -> list[str]:
        return self.stop_sequences

    def _construct_scratchpad(self, intermediate_steps: Sequence[tuple[AgentAction, Any]]) -> str:
        return self._pad(self._form).write(intermediate_steps)

    def _heard(
        self, steps: Sequence[tuple[AgentAction, Any]], inputs: dict[str, Any]
    ) -> dict[str, Any]:
        """Return all that the prompt may use; somebody's own prompt is given the scratchpad."""
        heard, prompt = super()._heard(steps, inputs), self.llm_chain.prompt
        if takes_messages(prompt):
            heard[SCRATCHPAD] = self._pad(self._form).messages(steps)
        elif not isinstance(prompt, StructuredChatPromptTemplate):
            heard[SCRATCHPAD] = self._construct_scratchpad(steps)
        return heard

    @property
    def input_keys(self) -> list[str]:
        """The inputs that a run must be given."""
        inner = {"intermediate_steps", "agent_scratchpad"}
        return [key for key in self.llm_chain.input_keys if key not in inner]

    @classmethod
    def create_prompt(
        cls,
        tools: Sequence[BaseTool],
        prefix: str | None = None,
        suffix: str | None = None,
        human_message_template: str | None = None,
        format_instructions: str | None = None,
        input_variables: list[str] | None = None,
        memory_prompts: Sequence[Any] | None = None,
        *,
        system_message: str | None = None,
        dialect: Dialect | None = None,
        examples: Sequence[Example] = (),
    ) -> StructuredChatPromptTemplate:
        """Make the prompt template.

        Args:
            tools: The tools.
            prefix: Replaces the introduction.
            suffix: Is put at the end of the system message.
            human_message_template: Replaces the human message; a template with `{input}` and
                `{agent_scratchpad}`.
            format_instructions: Replaces the description of the form.
            input_variables: The variables of your templates; checked, otherwise inferred.
            memory_prompts: Message templates between system and human message.
            system_message: The same as `prefix`, as `ConversationalChatAgent` calls it.
            dialect: The written form; `JsonBlob()` if not given.
            examples: Few-shot examples: questions with steps of thought, move, observation.

        Raises:
            ValueError: If both `prefix` and `system_message` are given, a variable is named that
                no template holds, or the human message lacks one.
        """
        if prefix is not None and system_message is not None:
            msg = "Give `prefix` or `system_message`, not both: each is the introduction."
            raise ValueError(msg)
        prefix = system_message if prefix is None else prefix
        check_templates(
            prefix=prefix,
            suffix=suffix,
            human_message_template=human_message_template,
            format_instructions=format_instructions,
        )
        prompt = StructuredChatPromptTemplate(
            dialect=dialect or JsonBlob(),
            tools=Toolbox.of(tools),
            prefix=prefix,
            suffix=suffix,
            human_message_template=human_message_template,
            format_instructions=format_instructions,
            memory_prompts=memory_prompts or (),
            examples=examples,
        )
        check_variables(prompt, input_variables)
        return prompt

    @classmethod
    def from_llm_and_tools(
        cls,
        llm: BaseLanguageModel[Any],
        tools: Sequence[BaseTool],
        callback_manager: BaseCallbackManager | None = None,
        output_parser: AgentOutputParser | None = None,
        prefix: str | None = None,
        suffix: str | None = None,
        human_message_template: str | None = None,
        format_instructions: str | None = None,
        input_variables: list[str] | None = None,
        memory_prompts: Sequence[Any] | None = None,
        *,
        system_message: str | None = None,
        dialect: Dialect | None = None,
        prompt: BasePromptTemplate[Any] | None = None,
        examples: Sequence[Example] = (),
        **kwargs: Any,
    ) -> "StructuredChatAgent":
        """Make an agent of a model and tools.

        Args:
            llm: A chat model or a text model.
            tools: The tools.
            callback_manager: The callbacks of the chain.
            output_parser: An output parser of your own.
            prefix: See `create_prompt`, as all up to `memory_prompts`.
            suffix: See `create_prompt`.
            human_message_template: See `create_prompt`.
            format_instructions: See `create_prompt`.
            input_variables: See `create_prompt`.
            memory_prompts: See `create_prompt`.
            system_message: See `create_prompt`.
            dialect: The written form; `JsonBlob()` if not given.
            prompt: A prompt template of your own, taking `agent_scratchpad`; `tools` and
                `tool_names` in it are filled in.
            examples: Few-shot examples: questions with steps of thought, move, observation.
            **kwargs: More fields of the agent.

        Raises:
            TypeError: If an argument is not known.
            ValueError: If a tool cannot be written in the dialect or two tools share a name.
        """
        check_arguments(cls, kwargs)
        check_parts(llm, tools, dialect, prompt)
        if isinstance(output_parser, DialectOutputParser):
            dialect = dialect or output_parser.dialect
        dialect = dialect or getattr(prompt, "dialect", None) or JsonBlob()
        toolbox = Toolbox.of(tools)
        check_tools(cls.__name__, dialect, toolbox)
        if prompt is None:
            prompt = cls.create_prompt(
                tools,
                prefix,
                suffix,
                human_message_template,
                format_instructions,
                input_variables,
                memory_prompts,
                system_message=system_message,
                dialect=dialect,
                examples=examples,
            )
        else:
            check_alone(
                prefix=prefix,
                suffix=suffix,
                human_message_template=human_message_template,
                format_instructions=format_instructions,
                memory_prompts=memory_prompts,
                system_message=system_message,
                examples=examples,
            )
            check_variables(prompt, input_variables)
            prompt = cls.create_prompt(tools, dialect=dialect).tell_of_tools(prompt)
        return cls(
            llm_chain=LLMChain(llm=llm, prompt=prompt, callbacks=callback_manager),
            allowed_tools=kwargs.pop("allowed_tools", list(toolbox.names)),
            output_parser=output_parser
            or StructuredChatOutputParser(dialect=dialect, tools=toolbox),
            dialect=dialect,
            **kwargs,
        )
