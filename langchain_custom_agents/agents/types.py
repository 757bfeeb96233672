"""LangChain's nine agent types, as a table, and `initialize_agent` over it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from langchain_classic.agents import AgentType
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.language_models import BaseLanguageModel
from langchain_core.tools import BaseTool

from langchain_custom_agents._arguments import refuse_unknown
from langchain_custom_agents.agents._given import check_parts
from langchain_custom_agents.agents.examples import SELF_ASK, docstore_examples
from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.openai_functions import OpenAIFunctionsAgent
from langchain_custom_agents.agents.prompt import Example
from langchain_custom_agents.agents.react import ReActAgent
from langchain_custom_agents.agents.structured_chat import StructuredChatAgent
from langchain_custom_agents.dialects import (
    ENGLISH,
    Bracketed,
    Conversational,
    Dialect,
    JsonBlob,
    SelfAsk,
)


@dataclass(frozen=True)
class AgentRow:
    """One row of the table: what an agent type is made of and when to use it.

    Args:
        agent: The class.
        dialect: The written form; None where the provider owns it.
        model: The kind of model it needs: "text or chat" or "tool calling".
        use: When to use it.
        tools: The names its tools must have; None for any.
        several_inputs: Whether a tool may take several arguments.
        parallel_calls: Whether one reply may call several tools.
        history: Whether a conversation is part of it.
        examples: The few-shot examples for a dialect.
        spellings: What LangChain's class of the type calls arguments that ours names otherwise.
    """

    agent: type[ReActAgent] | type[StructuredChatAgent] | type[OpenAIFunctionsAgent]
    dialect: Dialect | None
    model: str
    use: str
    tools: frozenset[str] | None = None
    several_inputs: bool = False
    parallel_calls: bool = False
    history: bool = False
    examples: Callable[[Dialect], Sequence[Example]] = lambda _: ()
    spellings: Mapping[str, str] = field(default_factory=dict)


AGENTS: Mapping[AgentType, AgentRow] = MappingProxyType(
    {
        AgentType.ZERO_SHOT_REACT_DESCRIPTION: AgentRow(
            ReActAgent,
            ENGLISH,
            "text or chat",
            "The first to try with a model that has no tool calling: any tools of one input.",
        ),
        AgentType.REACT_DOCSTORE: AgentRow(
            ReActAgent,
            Bracketed(),
            "text or chat",
            "Questions over a docstore such as Wikipedia, page by page.",
            tools=frozenset({"Search", "Lookup"}),
            examples=docstore_examples,
        ),
        AgentType.SELF_ASK_WITH_SEARCH: AgentRow(
            ReActAgent,
            SelfAsk(),
            "text or chat",
            "Questions that fall apart into simpler ones, for one search tool that answers.",
            tools=frozenset({"Intermediate Answer"}),
            examples=lambda _: SELF_ASK,
        ),
        AgentType.CONVERSATIONAL_REACT_DESCRIPTION: AgentRow(
            ReActAgent,
            Conversational(),
            "text or chat",
            "A chat with a text model in which a tool is the exception.",
            history=True,
        ),
        AgentType.CHAT_ZERO_SHOT_REACT_DESCRIPTION: AgentRow(
            StructuredChatAgent,
            JsonBlob(),
            "text or chat",
            "A chat model without tool calling that is better at JSON than at labels.",
            several_inputs=True,
            spellings={
                "system_message_prefix": "prefix",
                "system_message_suffix": "suffix",
                "human_message": "human_message_template",
            },
        ),
        AgentType.CHAT_CONVERSATIONAL_REACT_DESCRIPTION: AgentRow(
            StructuredChatAgent,
            JsonBlob(),
            "text or chat",
            "The same in a conversation.",
            several_inputs=True,
            history=True,
        ),
        AgentType.STRUCTURED_CHAT_ZERO_SHOT_REACT_DESCRIPTION: AgentRow(
            StructuredChatAgent,
            JsonBlob(),
            "text or chat",
            "Tools with several arguments and a model without tool calling.",
            several_inputs=True,
            history=True,
        ),
        AgentType.OPENAI_FUNCTIONS: AgentRow(
            OpenAIFunctionsAgent,
            None,
            "tool calling",
            "A model with tool calling: the provider owns the form.",
            several_inputs=True,
            parallel_calls=True,
            history=True,
        ),
        AgentType.OPENAI_MULTI_FUNCTIONS: AgentRow(
            OpenAIFunctionsAgent,
            None,
            "tool calling",
            "The same; once the type for several calls in one reply, which both now do.",
            several_inputs=True,
            parallel_calls=True,
            history=True,
        ),
    }
)


def agent_type(agent: AgentType | str) -> AgentType:
    """Return the agent type of a name.

    Raises:
        ValueError: If there is none of this name.

    Example:
        >>> agent_type("react-docstore")
        <AgentType.REACT_DOCSTORE: 'react-docstore'>
    """
    try:
        return AgentType(agent)
    except ValueError:
        names = ", ".join(row.value for row in AGENTS)
        msg = f"There is no agent type {agent!r}. The types are: {names}."
        raise ValueError(msg) from None


def make_agent(
    agent: AgentType | str,
    llm: BaseLanguageModel[Any],
    tools: Sequence[BaseTool],
    callback_manager: BaseCallbackManager | None = None,
    **kwargs: Any,
) -> ReActAgent | StructuredChatAgent | OpenAIFunctionsAgent:
    """Make an agent of a type.

    Args:
        agent: The type, or its name.
        llm: The model.
        tools: The tools.
        callback_manager: The callbacks of the agent's chain.
        **kwargs: Arguments of the class's `from_llm_and_tools`, or as LangChain's class of the type
            spells them.

    Raises:
        ValueError: If there is no such type, the type wants tools of other names, or an argument
            is given in both spellings.
        TypeError: If an argument is not known.
    """
    kind = agent_type(agent)
    check_parts(llm, tools)
    row = AGENTS[kind]
    names = {tool.name for tool in tools}
    if row.tools is not None and names != row.tools:
        wanted = " and ".join(sorted(row.tools, reverse=True))
        msg = (
            f"The agent type {kind.value} takes exactly the tools named {wanted}; "
            f"got {', '.join(sorted(names)) or 'none'}."
        )
        raise ValueError(msg)
    for theirs, ours in row.spellings.items():
        if theirs in kwargs and ours in kwargs:
            msg = f"Give `{ours}` or `{theirs}`, not both: they mean the same."
            raise ValueError(msg)
        if theirs in kwargs:
            kwargs[ours] = kwargs.pop(theirs)
    if row.dialect is not None and kwargs.get("prompt") is None:
        dialect = kwargs.get("dialect") or row.dialect
        if isinstance(dialect, Conversational) and "ai_prefix" in kwargs:
            dialect = Conversational(final_answer=kwargs["ai_prefix"])
        if kwargs.get("output_parser") is None:
            kwargs["dialect"] = dialect
        kwargs.setdefault("examples", row.examples(dialect))
    return row.agent.from_llm_and_tools(llm, tools, callback_manager=callback_manager, **kwargs)


def initialize_agent(
    tools: Sequence[BaseTool],
    llm: BaseLanguageModel[Any],
    agent: AgentType | str | None = None,
    callback_manager: BaseCallbackManager | None = None,
    agent_path: str | None = None,
    agent_kwargs: Mapping[str, Any] | None = None,
    *,
    tags: Sequence[str] | None = None,
    **kwargs: Any,
) -> AgentExecutor:
    r"""Make an executor of a type of agent, a model and tools, with LangChain's own signature.

    Args:
        tools: The tools.
        llm: The model.
        agent: The type or its name; zero-shot if neither it nor `agent_path` is given.
        callback_manager: The callbacks.
        agent_path: A saved agent, in place of a type.
        agent_kwargs: Arguments of the agent's `from_llm_and_tools`, such as `dialect`.
        tags: Tags of the traced runs.
        **kwargs: Arguments of `AgentExecutor`, such as `verbose`, `memory` or `max_iterations`.

    Raises:
        ValueError: If both `agent` and `agent_path` are given, or the type is not known.
        TypeError: If an argument is not known.

    Example:
        >>> from langchain_core.tools import Tool
        >>> from langchain_custom_agents.testing import ScriptedLLM
        >>> search = Tool("Search", lambda query: "hiroko is 10 years old", "looks things up")
        >>> llm = ScriptedLLM(["I know.\nFinal Answer: 10"])
        >>> initialize_agent([search], llm, agent="zero-shot-react-description").run("How old?")
        '10'
    """
    if agent is not None and agent_path is not None:
        msg = "Give `agent` or `agent_path`, not both: each says what the agent is."
        raise ValueError(msg)
    if agent_kwargs is not None and not isinstance(agent_kwargs, Mapping):
        msg = f"`agent_kwargs` is {type(agent_kwargs).__name__}; give a dict of arguments."
        raise TypeError(msg)
    refuse_unknown("initialize_agent", kwargs, {*AgentExecutor.model_fields} - {"agent", "tools"})
    if agent_path is not None:
        from langchain_custom_agents.agents.saving import load_agent

        made = load_agent(agent_path, llm=llm, tools=tools)
        name = type(made).__name__
    else:
        kind = agent_type(agent or AgentType.ZERO_SHOT_REACT_DESCRIPTION)
        made = make_agent(kind, llm, tools, callback_manager, **dict(agent_kwargs or {}))
        name = kind.value
    return AgentExecutor(
        agent=made,
        tools=tools,
        callback_manager=callback_manager,
        tags=[*(tags or ()), name],
        **kwargs,
    )
