"""Classic agents as chat models: what was tuned for the executor runs under `create_agent`."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_classic.chains import LLMChain
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_custom_agents import (
    AgentExecutor,
    FAISSStore,
    OpenAIFunctionsAgent,
    ReActAgent,
    StructuredChatAgent,
    retriever_tool,
)
from langchain_custom_agents.dialects import JAPANESE
from langchain_custom_agents.models import as_model
from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM
from tests.unit_tests import test_tutorials as tutorials

WEATHER = (
    'Action:\n```json\n{"action": "weather", "action_input": {"city": "Kyoto", "days": 2}}\n```'
)
ANSWER = 'Action:\n```json\n{"action": "Final Answer", "action_input": "Sunny."}\n```'


@tool
def weather(city: str, days: int) -> str:
    """Tells the weather."""
    return f"{days} days of sun in {city}"


@pytest.fixture
def search() -> Any:
    return retriever_tool(FAISSStore.from_texts(tutorials.FAMILY, HashingEmbeddings()), k=1)


def asked(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def own_agent(llm: Any, search: Any) -> ReActAgent:
    """An agent as the tutorial makes it: prompt template and output parser of one's own."""
    prompt = tutorials.OwnPromptTemplate(
        template=tutorials.TEMPLATE,
        tools=[search],
        input_variables=["input", "intermediate_steps"],
    )
    return ReActAgent(
        llm_chain=LLMChain(llm=llm, prompt=prompt),
        output_parser=tutorials.OwnOutputParser(),
        stop=["\nObservation:"],
        allowed_tools=["Search"],
    )


def react_agent(llm: Any, search: Any) -> ReActAgent:
    return ReActAgent.from_llm_and_tools(llm, [search], prefix="You are a detective.")


@pytest.mark.parametrize("make", [own_agent, react_agent])
def test_the_model_is_sent_what_the_executor_sends(make: Any, search: Any) -> None:
    """Under create_agent every prompt is to the letter what the executor's is."""
    before, after = ScriptedLLM(tutorials.SAID), ScriptedLLM(tutorials.SAID)
    classic = AgentExecutor(agent=make(before, search), tools=[search]).run(tutorials.ASKED)
    agent = create_agent(as_model(make(after, search)), [search])
    state = agent.invoke(asked(tutorials.ASKED))

    assert state["messages"][-1].content == classic == "Takuma is a teacher."
    assert after.prompts == before.prompts
    assert after.stops == before.stops


def test_a_structured_chat_agent_is_sent_its_messages() -> None:
    """A chat model under a StructuredChatAgent gets the same system and human messages."""
    before, after = (ScriptedChatModel([WEATHER, ANSWER]) for _ in range(2))
    agents = [StructuredChatAgent.from_llm_and_tools(llm, [weather]) for llm in (before, after)]
    AgentExecutor(agent=agents[0], tools=[weather]).run("What is the weather?")
    state = create_agent(as_model(agents[1]), [weather]).invoke(asked("What is the weather?"))

    assert state["messages"][-1].content == "Sunny."
    assert after.prompts == before.prompts


def test_a_conversation_is_the_history_of_the_template(search: Any) -> None:
    """What was asked and answered before is the template's chat history; steps are not."""
    llm = ScriptedLLM([*tutorials.SAID, "I know\nFinal Answer: You asked about her father."])
    memory: Any = {"configurable": {"thread_id": "1"}}
    agent = create_agent(as_model(react_agent(llm, search)), [search], checkpointer=InMemorySaver())
    agent.invoke(asked(tutorials.ASKED), memory)
    state = agent.invoke(asked("What did I ask?"), memory)

    assert state["messages"][-1].content == "You asked about her father."
    assert f"Human: {tutorials.ASKED}\nAI: Takuma is a teacher." in llm.prompts[-1]
    assert "hiroko's father is takuma" not in llm.prompts[-1]


@pytest.mark.parametrize("make", [own_agent, react_agent])
def test_a_misreading_is_corrected_in_the_transcript(make: Any, search: Any) -> None:
    """The words and what is wrong with them stand in the next prompt, as under the executor."""
    llm = ScriptedLLM(["Action:", tutorials.THIRD])
    message = as_model(make(llm, search)).invoke(tutorials.ASKED)

    assert message.content == "Takuma is a teacher."
    assert "could not be read" in llm.prompts[1]


def test_a_tool_that_an_own_parser_invents_is_refused(search: Any) -> None:
    """A name that no tool has is corrected, whoever reads the words."""
    llm = ScriptedLLM(["Action: Serch\nAction Input: x", tutorials.THIRD])
    message = as_model(own_agent(llm, search)).invoke(tutorials.ASKED)

    assert message.content == "Takuma is a teacher."
    assert "Serch" in llm.prompts[1].rpartition("Observation:")[2]


def test_a_structured_answer_can_be_asked_of_it(search: Any) -> None:
    """Tools that create_agent adds are described in a template of ours."""
    schema = {
        "title": "Person",
        "description": "A person.",
        "type": "object",
        "properties": {"name": {"type": "string"}, "job": {"type": "string"}},
    }
    llm = ScriptedLLM(
        ['I know\nAction: Person\nAction Input: {"name": "Takuma", "job": "teacher"}']
    )
    agent = create_agent(as_model(react_agent(llm, search)), [search], response_format=schema)
    state = agent.invoke(asked("Who is he?"))

    assert state["structured_response"] == {"name": "Takuma", "job": "teacher"}
    assert "Person: A person." in llm.prompts[0]
    assert llm.prompts[0].index("You are a detective.") < llm.prompts[0].index("Search:")


def test_a_system_prompt_comes_first(search: Any) -> None:
    """What create_agent is told as the system stands before the agent's own prompt."""
    llm, chat = ScriptedLLM([tutorials.THIRD]), ScriptedChatModel([ANSWER])
    messages = [SystemMessage("Be brief."), HumanMessage("Who is he?")]
    as_model(react_agent(llm, search)).invoke(messages)
    as_model(StructuredChatAgent.from_llm_and_tools(chat, [weather])).invoke(messages)

    assert llm.prompts[0].startswith("Be brief.\n\nYou are a detective.")
    assert [message.type for message in chat.prompts[0]] == ["system", "human"]
    assert chat.prompts[0][0].content.startswith("Be brief.\n\n")


def test_other_variables_of_a_template_are_given_once(search: Any) -> None:
    """A template's own variable takes its value from `inputs`; without it the name is told."""
    llm = ScriptedLLM([tutorials.THIRD])
    agent = ReActAgent.from_llm_and_tools(llm, [search], prefix="You are {who}.")
    as_model(agent, inputs={"who": "a poet"}).invoke("Who is he?")

    assert llm.prompts[0].startswith("You are a poet.")
    with pytest.raises(ValueError, match="needs 'who'"):
        as_model(agent).invoke("Who is he?")


def test_streaming_passes_on_the_answer(search: Any) -> None:
    """The answer comes in pieces where our dialect reads it, and at the end where a parser does."""
    pieces = [
        [
            chunk.content
            for chunk in as_model(make(ScriptedLLM([tutorials.THIRD]), search)).stream("?")
        ]
        for make in (react_agent, own_agent)
    ]

    assert ["".join(each) for each in pieces] == ["Takuma is a teacher."] * 2
    assert [sum(map(bool, each)) > 1 for each in pieces] == [True, False]


async def test_it_runs_without_blocking(search: Any) -> None:
    """The same agent answers asynchronously, in Japanese."""
    llm = ScriptedLLM(["わかった\n最終回答: 教師です。"])
    agent = ReActAgent.from_llm_and_tools(llm, [search], dialect=JAPANESE)
    message = await as_model(agent).ainvoke("誰?")

    assert message.content == "教師です。"


def test_keyword_arguments_of_the_chain_reach_the_model() -> None:
    """What the chain gave to its model at every call, it is still given."""
    chat = ScriptedChatModel([ANSWER])
    agent = StructuredChatAgent.from_llm_and_tools(chat, [weather])
    agent.llm_chain.llm_kwargs = {"temperature": 0.5}
    as_model(agent).invoke("?")

    assert chat.calls[0]["temperature"] == 0.5


def test_an_agent_with_calls_of_its_provider_is_refused() -> None:
    """A functions agent needs no wrapper: the sentence says what to give to create_agent."""
    model = ScriptedChatModel([AIMessage("Hello")])
    agent = OpenAIFunctionsAgent.from_llm_and_tools(model, [weather])

    with pytest.raises(TypeError, match="give create_agent its model"):
        as_model(agent)
