"""How much work a run is: counted in calls of this package's own functions, never in time."""

import sys

import pytest
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.tools import Tool

from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.openai_functions import OpenAIFunctionsAgent
from langchain_custom_agents.agents.react import ReActAgent
from langchain_custom_agents.agents.structured_chat import StructuredChatAgent
from langchain_custom_agents.dialects import ENGLISH, Action, Answer, Bracketed, JsonBlob
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

SEARCH = Tool("Search", lambda query: f"about {query}", "looks things up")


OWN = PromptTemplate.from_template("{tools}\nQuestion: {input}\n{agent_scratchpad}")
OWN_CHAT = ChatPromptTemplate.from_messages(
    [("system", "{tools}"), ("human", "{input}"), ("placeholder", "{agent_scratchpad}")]
)


def text_run(dialect, agent, model, steps, **options):
    """Make a run of a text agent that acts so many times, and then answers."""
    moves = [Action("Search", str(number)) for number in range(steps)]
    words = [dialect.write("I look", move).removeprefix(dialect.cue) for move in moves]
    words.append(dialect.write("I know", Answer("42")).removeprefix(dialect.cue))
    made = agent.from_llm_and_tools(model(words), [SEARCH], dialect=dialect, **options)
    return AgentExecutor(agent=made, tools=[SEARCH], max_iterations=None)


def functions_run(steps):
    """Make a run of a function-calling agent that acts so many times, and then answers."""
    calls = [
        AIMessage("", tool_calls=[{"name": "Search", "args": {"__arg1": str(n)}, "id": f"c{n}"}])
        for n in range(steps)
    ]
    model = ScriptedChatModel([*calls, AIMessage("42")])
    agent = OpenAIFunctionsAgent.from_llm_and_tools(model, [SEARCH])
    return AgentExecutor(agent=agent, tools=[SEARCH], max_iterations=None)


FAMILIES = {
    "labelled": lambda steps: text_run(ENGLISH, ReActAgent, ScriptedLLM, steps),
    "bracketed": lambda steps: text_run(Bracketed(), ReActAgent, ScriptedLLM, steps),
    "json": lambda steps: text_run(JsonBlob(), StructuredChatAgent, ScriptedChatModel, steps),
    "functions": functions_run,
    "own prompt": lambda steps: text_run(ENGLISH, ReActAgent, ScriptedLLM, steps, prompt=OWN),
    "own chat": lambda steps: text_run(
        ENGLISH, ReActAgent, ScriptedChatModel, steps, prompt=OWN_CHAT
    ),
    "own json": lambda steps: text_run(
        JsonBlob(), StructuredChatAgent, ScriptedChatModel, steps, prompt=OWN_CHAT
    ),
}


def calls_of(executor):
    """Return how often functions of this package are called in a run."""
    count = 0

    # A tracer is asked once for every call; a profiler would hear of returns and of C, too.
    def hook(frame, *_):
        nonlocal count
        code = frame.f_code
        # Comprehensions and generators of a function are work within one call of it.
        if "/langchain_custom_agents/" in code.co_filename and not code.co_name.startswith("<"):
            count += 1

    before = sys.gettrace()
    sys.settrace(hook)
    try:
        result = executor.invoke({"input": "What?"})
    finally:
        sys.settrace(before)
    assert result["output"] == "42"
    return count


@pytest.mark.parametrize("family", FAMILIES)
def test_the_work_of_a_run_grows_linearly(family):
    """From 20 to 400 steps, a step costs as many calls of our functions at the end as before."""
    make = FAMILIES[family]
    calls_of(make(2))
    short, middle, long = (calls_of(make(steps)) for steps in (20, 100, 400))

    assert (long - middle) / 300 == pytest.approx((middle - short) / 80, rel=0.05)


class Counting(type(ENGLISH)):
    """A dialect that notes what it reads."""

    read_words: list[str] = []

    def read(self, text, tools=()):
        self.read_words.append(text)
        return super().read(text, tools)


def test_words_are_read_once():
    """What a model said is read when it is said, and not again for every prompt after it."""
    dialect = Counting()
    dialect.read_words.clear()
    text_run(dialect, ReActAgent, ScriptedLLM, 12).invoke({"input": "What?"})

    assert len(dialect.read_words) == len(set(dialect.read_words)) == 13
