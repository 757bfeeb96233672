"""What users of the stock agents run into: each test shows that stock fails and ours does not.

| pain | here, or where else |
|---|---|
| 1 a reply that cannot be parsed, or is parsed into something else | `test_pain_01_...` |
| 2 invented observations, partial stop words | `test_pain_02_...` |
| 3 models that refuse `stop` | `test_pain_03_...` |
| 4 a broken OpenAIFunctionsAgent | `test_pain_04_...`, agents/test_openai_functions.py |
| 7 loops, and no best answer at the limit | `test_pain_07_...` |
| 8 an exception of a tool ends the run | `test_pain_08_...` |
| 12 tool names that are nearly right | `test_pain_12_...` |
| 13 several arguments, or none | `test_pain_13_...` |
| 14 memory that crashes after the work | `test_pain_14_...` |
| 15 streaming only the answer | agents/test_streaming.py, `test_pain_15_...` |
| 16 prompts that overflow | `test_pain_16_...` |
| 17 braces in descriptions and questions | `test_pain_17_...` |
| 18 sources that are lost | `test_pain_18_...` |
| 19 limits that a tool outlasts | `test_pain_19_...` |
"""

import threading
import warnings

import pytest
from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_classic.agents import LLMSingleActionAgent, ZeroShotAgent
from langchain_classic.agents import OpenAIFunctionsAgent as StockFunctionsAgent
from langchain_classic.agents import StructuredChatAgent as StockStructuredChatAgent
from langchain_classic.agents.output_parsers import ReActSingleInputOutputParser
from langchain_classic.agents.react.base import ReActDocstoreAgent
from langchain_classic.chains import LLMChain
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.prompts import PromptTemplate
from langchain_core.tools import StructuredTool, Tool, ToolException, tool

from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.openai_functions import OpenAIFunctionsAgent
from langchain_custom_agents.agents.react import ReActAgent
from langchain_custom_agents.agents.structured_chat import StructuredChatAgent
from langchain_custom_agents.dialects import Bracketed
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

ASKED = {"input": "Who is it?"}
KNOW = "I know\nFinal Answer: Hiroko"
LOOK = "I look\nAction: Search\nAction Input: Hiroko"


def search_tool(name="Search", run=lambda query: f"found {query}", **kwargs):
    return Tool(name, run, "looks things up", **kwargs)


def executor_of(kind, agent, words, tools=None, **kwargs):
    """Put an agent of a class into an executor of a class, with a model that says the words."""
    tools = tools or [search_tool()]
    model = words if not isinstance(words, list) else ScriptedLLM(words)
    return kind(agent=agent.from_llm_and_tools(model, tools), tools=tools, **kwargs)


def stock(words, tools=None, agent=ZeroShotAgent, **kwargs):
    return executor_of(StockExecutor, agent, words, tools, **kwargs)


def ours(words, tools=None, agent=ReActAgent, **kwargs):
    return executor_of(AgentExecutor, agent, words, tools, **kwargs)


def step_of(executor):
    """Return the tool and the input of the first step, as they were executed."""
    [(action, _), *_] = executor.invoke(ASKED)["intermediate_steps"]
    return action.tool, action.tool_input


STEPS = {"return_intermediate_steps": True}


@pytest.mark.parametrize(
    "said",
    [
        "I look. Action: Search(Hiroko)",
        "```\nAction: Search[Hiroko]\n```",
        '<tool_call>{"name": "Search", "arguments": {"__arg1": "Hiroko"}}</tool_call>',
        "思考：調べる\n行動：Search\n行動の入力：Hiroko",
    ],
)
def test_pain_01_a_reply_that_cannot_be_parsed_ends_the_run(said):
    """Stock dies with "Could not parse LLM output" where it is clear what is meant; ours acts."""
    with pytest.raises(ValueError, match="Could not parse LLM output"):
        stock([said, KNOW]).invoke(ASKED)

    tool_name, given = step_of(ours([said, KNOW], **STEPS))
    assert (tool_name, given) in (("Search", "Hiroko"), ("Search", {"__arg1": "Hiroko"}))


def test_pain_01_markup_becomes_part_of_name_and_input():
    """Bold labels give stock a tool named with asterisks and line breaks; ours reads the step."""
    said = ["**Action:** Search\n**Action Input:** Hiroko", KNOW]

    assert step_of(stock(said, **STEPS)) == ("** Search\n**", "** Hiroko")
    assert step_of(ours(said, **STEPS)) == ("Search", "Hiroko")


def test_pain_01_a_call_is_handed_to_the_user_as_the_answer():
    """JSON without a fence is stock's answer to the user; ours makes the call."""
    said = '{"action": "Search", "action_input": "Hiroko"}'
    known = '```json\n{"action": "Final Answer", "action_input": "a girl"}\n```'

    assert stock([said], agent=StockStructuredChatAgent).invoke(ASKED)["output"] == said
    assert ours([said, known], agent=StructuredChatAgent).invoke(ASKED)["output"] == "a girl"


def test_pain_01_a_backslash_is_damaged():
    r"""In JSON `\frac` is a form feed for stock, and what it looks like for ours."""
    said = '```json\n{"action": "Final Answer", "action_input": "\\frac{1}{2}"}\n```'

    assert stock([said], agent=StockStructuredChatAgent).invoke(ASKED)["output"] == "\frac{1}{2}"
    assert ours([said], agent=StructuredChatAgent).invoke(ASKED)["output"] == r"\frac{1}{2}"


def test_pain_02_an_invented_observation_is_believed():
    """Where a model ignores `stop`, stock's docstore agent answers without having searched."""
    asked = []
    tools = [
        search_tool(run=lambda query: asked.append(query) or "He was named after Mussolini."),
        search_tool("Lookup"),
    ]
    fiction = (
        "I look\nAction: Search[Milhouse]\nObservation: He was named after Nixon.\n"
        "Thought: I know\nAction: Finish[Nixon]"
    )
    truth = "I know\nAction: Finish[Mussolini]"

    answer = stock([fiction], tools, ReActDocstoreAgent).invoke(ASKED)["output"]
    assert (answer, asked) == ("Nixon", [])

    model = ScriptedLLM([fiction, truth])
    agent = ReActAgent.from_llm_and_tools(model, tools, dialect=Bracketed())
    answer = AgentExecutor(agent=agent, tools=tools).invoke(ASKED)["output"]
    assert (answer, asked) == ("Mussolini", ["Milhouse"])
    assert "Nixon" not in model.prompts[1]


def test_pain_02_a_partial_stop_word_stays_in_the_input():
    """A stop word that broke off is part of the input for stock, and cut by ours."""
    said = [f"{LOOK}\nObserv", KNOW]

    assert step_of(stock(said, **STEPS))[1] == "Hiroko\nObserv"
    assert step_of(ours(said, **STEPS))[1] == "Hiroko"


def test_pain_03_a_model_refuses_stop():
    """Stock dies of the provider's error; ours asks without `stop`, remembers it, and cuts."""
    fiction = f"{LOOK}\nObservation: nothing\n{KNOW}"
    model = ScriptedLLM([fiction, KNOW], refuses_stop=True)

    with pytest.raises(ValueError, match="'stop' is not supported"):
        stock(ScriptedLLM([KNOW], refuses_stop=True)).invoke(ASKED)
    result = ours(model, **STEPS).invoke(ASKED)

    assert result["output"] == "Hiroko"
    assert result["intermediate_steps"][0][1] == "found Hiroko"
    assert [bool(stop) for stop in model.stops] == [True, False, False]


def test_pain_04_the_functions_agent_cannot_plan():
    """Stock's `plan` passes its callbacks twice and fails; ours calls the tool and answers."""
    call = AIMessage("", tool_calls=[{"name": "Search", "args": {"__arg1": "Hiroko"}, "id": "1"}])

    with pytest.raises(TypeError, match="callbacks"):
        stock(ScriptedChatModel([call]), agent=StockFunctionsAgent).invoke(ASKED)
    model = ScriptedChatModel([call, AIMessage("a girl")])
    result = ours(model, agent=OpenAIFunctionsAgent).invoke(ASKED)

    assert result["output"] == "a girl"
    [answered] = [said for said in model.prompts[1] if isinstance(said, ToolMessage)]
    assert answered.content == "found Hiroko"


def test_pain_07_the_best_answer_is_thrown_away():
    """At the limit stock's "generate" raises, its "force" keeps nothing; ours gives an answer."""
    prompt = PromptTemplate.from_template("{input}{intermediate_steps}")

    def custom(method):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chain = LLMChain(llm=ScriptedLLM([LOOK, KNOW]), prompt=prompt)
        parser = ReActSingleInputOutputParser()
        agent = LLMSingleActionAgent(llm_chain=chain, output_parser=parser, stop=["\nObs"])
        return StockExecutor(
            agent=agent, tools=[search_tool()], max_iterations=1, early_stopping_method=method
        )

    with pytest.raises(ValueError, match="early_stopping_method"):
        custom("generate").invoke(ASKED)
    assert "Hiroko" not in custom("force").invoke(ASKED)["output"]

    limited = {"max_iterations": 1, "early_stopping_method": "generate"}
    result = ours([LOOK, KNOW], **limited).invoke(ASKED)
    assert (result["output"], result["stopped"]) == ("Hiroko", True)


def test_pain_07_a_run_goes_in_circles():
    """Stock makes the same call to the limit; ours says so to the model, and then ends."""
    circling, ending = ScriptedLLM([LOOK] * 15), ScriptedLLM([LOOK] * 15)
    stock(circling).invoke(ASKED)
    result = ours(ending).invoke(ASKED)

    assert len(circling.prompts) == 15
    assert len(ending.prompts) == 3
    assert result["stopped"] is True


def test_pain_08_an_exception_of_a_tool_ends_the_run():
    """Stock dies of any error but ToolException, whatever is asked of it; ours observes it."""

    def fails(query):
        msg = "the page is gone"
        raise KeyError(msg)

    tools = [search_tool(run=fails, handle_tool_error=True)]
    with pytest.raises(KeyError):
        stock([LOOK, KNOW], tools).invoke(ASKED)
    result = ours([LOOK, KNOW], tools, **STEPS).invoke(ASKED)

    assert result["output"] == "Hiroko"
    assert "the page is gone" in result["intermediate_steps"][0][1]


@pytest.mark.parametrize("name", ["`Search`", "[Search]", "search", "Use Search", "Search tool"])
def test_pain_12_a_tool_name_is_nearly_right(name):
    """Stock tells the model that its tool is none; ours knows which one is meant."""
    said = [f"I look\nAction: {name}\nAction Input: Hiroko", KNOW]
    ran = []
    tools = [search_tool(run=lambda query: ran.append(query) or "found")]

    result = stock(said, tools, **STEPS).invoke(ASKED)
    assert "is not a valid tool" in result["intermediate_steps"][0][1]
    assert ran == []

    assert step_of(ours(said, tools, **STEPS)) == ("Search", "Hiroko")
    assert ran == ["Hiroko"]


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def now() -> str:
    """Tell the time."""
    return "noon"


def test_pain_13_a_tool_takes_several_arguments():
    """Stock's text agents take no such tool; ours reads its arguments and gives them."""
    tools = [StructuredTool.from_function(add)]
    said = ['I add\nAction: add\nAction Input: {"a": 1, "b": 2}', KNOW]

    with pytest.raises(ValueError, match="does not support multi-input tool"):
        stock(said, tools)
    result = ours(said, tools, **STEPS).invoke(ASKED)

    assert result["intermediate_steps"][0][1] == 3


def test_pain_13_a_tool_takes_no_arguments():
    """An empty object is too few arguments for stock's one-argument tool; ours runs it."""
    blob = '```json\n{{"action": "{}", "action_input": {}}}\n```'
    said = [blob.format("Now", "{}"), blob.format("Final Answer", '"noon"')]
    tools = [Tool("Now", lambda _="": now(), "tells the time")]

    with pytest.raises(ToolException, match="Too many arguments"):
        stock(said, tools, StockStructuredChatAgent).invoke(ASKED)

    for each in (tools, [StructuredTool.from_function(now, name="Now")]):
        result = ours(said, each, StructuredChatAgent, **STEPS).invoke(ASKED)
        assert result["intermediate_steps"][0][1] == "noon"


def test_pain_14_memory_fails_after_the_work():
    """An answer that is an object crashes stock's memory after the work; ours is kept as text."""
    said = ['```json\n{"action": "Final Answer", "action_input": {"age": 10}}\n```']
    memory = {"memory": ConversationBufferMemory(memory_key="chat_history", return_messages=True)}

    with pytest.raises(ValueError, match="valid"):
        stock(said, agent=StockStructuredChatAgent, **memory).invoke(ASKED)
    memory["memory"].clear()
    result = ours(said, agent=StructuredChatAgent, **memory).invoke(ASKED)

    assert result["output"] == '{"age": 10}'
    assert memory["memory"].chat_memory.messages[-1].content == '{"age": 10}'


def test_pain_16_observations_overflow_the_prompt():
    """Long pages grow stock's prompt without end; ours cuts them, and says so."""
    tools = [search_tool(run=lambda query: "word " * 20_000)]
    looks = [LOOK.replace("Hiroko", str(number)) for number in range(3)]
    growing, capped = ScriptedLLM([*looks, KNOW]), ScriptedLLM([*looks, KNOW])
    stock(growing, tools).invoke(ASKED)
    ours(capped, tools, max_observation_tokens=100).invoke(ASKED)

    assert len(growing.prompts[-1]) > 300_000
    assert len(capped.prompts[-1]) < 10_000
    assert capped.prompts[-1].count("more tokens were left out]") == 3


def test_pain_17_braces_are_taken_for_variables():
    """A brace in a description is a missing input for stock, and a brace for ours."""
    tools = [Tool("Search", lambda query: query, 'takes {"query": "..."}')]

    with pytest.raises((KeyError, ValueError), match="query"):
        stock([KNOW], tools).invoke(ASKED)
    model = ScriptedLLM([KNOW])
    ours(model, tools).invoke({"input": "What does {x} mean?"})

    assert 'takes {"query": "..."}' in model.prompts[0]
    assert "What does {x} mean?" in model.prompts[0]


def test_pain_18_sources_are_lost():
    """What a tool returns beside its text is gone in stock's result, and comes back with ours."""

    @tool(response_format="content_and_artifact")
    def search(query: str):
        """Look things up."""
        return "text", {"source": query}

    said = [LOOK.replace("Search", "search"), KNOW]
    lost = stock(said, [search], **STEPS).invoke(ASKED)
    kept = ours(said, [search], return_artifacts=True).invoke(ASKED)

    assert "source" not in str(lost)
    assert [artifact for _, artifact in kept["artifacts"]] == [{"source": "Hiroko"}]


def test_pain_19_a_tool_outlasts_the_limit():
    """Stock returns only when its tool does; ours returns at the limit, while the tool works."""
    finished, release = threading.Event(), threading.Event()

    def slow(query):
        release.wait(60)
        finished.set()
        return "late"

    limit = {"max_execution_time": 0.01}
    release.set()
    stock([LOOK, KNOW], [search_tool(run=slow)], **limit).invoke(ASKED)
    assert finished.is_set()

    finished.clear()
    release.clear()
    try:
        result = ours([LOOK, KNOW], [search_tool(run=slow)], **limit).invoke(ASKED)
        assert not finished.is_set()
    finally:
        release.set()
    assert "time limit" in result["output"]


def test_refusals_are_no_crashes():
    """What ours cannot read it refuses, as an error that an executor can say to the model."""
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM(["Action: Serch[x]"]), [search_tool()])

    with pytest.raises(OutputParserException) as error:
        agent.plan([], **ASKED)
    assert error.value.send_to_llm
