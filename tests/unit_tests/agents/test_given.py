"""What is given to an agent or an executor and cannot be meant: refused when it is made."""

import pytest
from langchain_core.tools import Tool

from langchain_custom_agents import (
    AgentExecutor,
    OpenAIFunctionsAgent,
    ReActAgent,
    StructuredChatAgent,
    initialize_agent,
)
from langchain_custom_agents.agents.types import AGENTS
from langchain_custom_agents.offline import ExtractiveChatModel, ExtractiveLLM
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

SEARCH = Tool("Search", str, "looks")
MODEL = ScriptedChatModel([])
FAMILIES = (ReActAgent, StructuredChatAgent, OpenAIFunctionsAgent)


@pytest.mark.parametrize("cls", FAMILIES)
@pytest.mark.parametrize(
    ("llm", "tools", "said"),
    [
        (None, [SEARCH], "`llm` is NoneType; give a LangChain model"),
        ("gpt-4o", [SEARCH], "`llm` is the text 'gpt-4o'; give a LangChain model"),
        (MODEL, None, "`tools` is NoneType; give a list of LangChain tools."),
        (MODEL, SEARCH, "`tools` is Tool; give a list"),
        (MODEL, "Search", "`tools` is the text 'Search'; give a list"),
        (MODEL, [SEARCH, "Lookup"], "Item 1 of `tools` is the text 'Lookup'; give LangChain tools"),
        (MODEL, [print], "Item 0 of `tools` is builtin_function_or_method; .*under `@tool`"),
        (MODEL, [SEARCH], "`prompt` is the text 'Answer {input}'; give a prompt template"),
        (MODEL, [Tool(" ", str, "looks")], "Item 0 of `tools` has no name"),
    ],
)
def test_parts_that_are_something_else_are_refused(cls, llm, tools, said):
    """A model, tools or a prompt of the wrong kind is named, with what to give."""
    prompt = {"prompt": "Answer {input}"} if "prompt" in said else {}
    with pytest.raises((TypeError, ValueError), match=said):
        cls.from_llm_and_tools(llm, tools, **prompt)


@pytest.mark.parametrize("kind", AGENTS)
def test_initialize_agent_refuses_them_for_every_type(kind):
    """The check comes before anything else looks at the tools."""
    with pytest.raises(TypeError, match="`tools` is NoneType"):
        initialize_agent(None, MODEL, agent=kind)
    with pytest.raises(TypeError, match="`agent_kwargs` is str; give a dict"):
        initialize_agent([SEARCH], MODEL, agent=kind, agent_kwargs="prefix")


@pytest.mark.parametrize("cls", [ReActAgent, StructuredChatAgent])
@pytest.mark.parametrize(
    ("prefix", "said"),
    [
        (3, "`prefix` is int; give a text"),
        ("Answer in JSON: {", "`prefix` is no template: Single '{' .* twice: {{ and }}."),
        ("like {'a': 1}", r"`prefix` is no template: \{'a'\} names no variable"),
        ("like {}", r"\{\} names no variable"),
        ("like {0}", r"\{0\} names no variable"),
    ],
)
def test_braces_that_name_no_variable_are_refused(cls, prefix, said):
    """JSON in a template is met when the agent is made, with how to write it."""
    with pytest.raises((TypeError, ValueError), match=said):
        cls.from_llm_and_tools(MODEL, [SEARCH], prefix=prefix)


@pytest.mark.parametrize("cls", [ReActAgent, StructuredChatAgent])
def test_a_name_is_no_dialect(cls):
    """A dialect is an object, not its name."""
    with pytest.raises(TypeError, match="`dialect` is the text 'japanese'; give a dialect"):
        cls.from_llm_and_tools(MODEL, [SEARCH], dialect="japanese")


def test_a_parser_of_functions_reads_messages():
    """An output parser without `parse_ai_message` is refused."""
    with pytest.raises(TypeError, match="`output_parser` is str, which has no `parse_ai_message`"):
        OpenAIFunctionsAgent.from_llm_and_tools(MODEL, [SEARCH], output_parser="x")


def test_one_introduction_is_enough():
    """`prefix` and `system_message` mean the same, and are not both given."""
    with pytest.raises(ValueError, match="Give `prefix` or `system_message`, not both"):
        StructuredChatAgent.from_llm_and_tools(MODEL, [SEARCH], prefix="a", system_message="b")


@pytest.mark.parametrize("tools", [SEARCH, [print], "Search", None])
def test_an_executor_wants_tools(tools):
    """What is no list of tools is refused with what to give, as where agents are made."""
    agent = ReActAgent.from_llm_and_tools(MODEL, [SEARCH])
    with pytest.raises(TypeError, match=r"(`tools` is|Item 0 of `tools` is) .*; give "):
        AgentExecutor(agent=agent, tools=tools)


def test_a_model_is_no_agent():
    """A model in the agent's place is refused when the executor is made, not at its first step."""
    with pytest.raises(TypeError, match="the model ScriptedChatModel; give an agent made of it"):
        AgentExecutor(agent=MODEL, tools=[SEARCH])


@pytest.mark.parametrize("agent", [None, "zero-shot-react-description", ReActAgent])
def test_an_executor_wants_an_agent(agent):
    """What is no agent is named, with what to give."""
    with pytest.raises(TypeError, match=r"`agent` is .*; give an agent, such as one of"):
        AgentExecutor(agent=agent, tools=[SEARCH])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"handle_parsing_errors": 3}, "handle_parsing_errors must be True, False"),
        ({"early_stopping_method": "generat"}, "must be 'force' or 'generate', not 'generat'"),
        ({"tool_timeout": -1}, "tool_timeout must be more than 0 seconds"),
        ({"tool_timeout": {"Serch": 1}}, "tool_timeout names 'Serch'; the tools are: Search."),
        ({"max_tokens": 0}, "max_tokens must be more than 0"),
        ({"max_cost": -1, "cost": min}, "max_cost must be more than 0"),
    ],
)
@pytest.mark.parametrize("cls", FAMILIES)
def test_settings_without_meaning_are_refused(cls, settings, said):
    """A setting that could only fail during a run is refused when the executor is made."""
    with pytest.raises((TypeError, ValueError), match=said):
        AgentExecutor(agent=cls.from_llm_and_tools(MODEL, [SEARCH]), tools=[SEARCH], **settings)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: ScriptedLLM([], honor_stop=True), "did you mean 'honors_stop'"),
        (lambda: ScriptedChatModel([], refuse_stop=True), "did you mean 'refuses_stop'"),
        (lambda: ExtractiveLLM(dialekt=None), "did you mean 'dialect'"),
        (lambda: ExtractiveChatModel(dialekt=None), "did you mean 'dialect'"),
        (lambda: ScriptedLLM("Final Answer: 42"), "`responses` is a text; give a list"),
        (lambda: ScriptedChatModel(None), "`responses` is NoneType; give a list"),
    ],
)
def test_our_models_are_not_told_what_they_cannot_do(made, said):
    """A misspelt setting would be dropped without a word, and a test with it prove nothing."""
    with pytest.raises(TypeError, match=said):
        made()
