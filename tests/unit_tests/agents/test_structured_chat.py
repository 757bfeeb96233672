"""StructuredChatAgent: JSON actions, and nothing hidden behind them."""

import json

import pytest
from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_classic.agents import StructuredChatAgent as StockStructuredChatAgent
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.agents import AgentAction
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.tools import tool

from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.structured_chat import StructuredChatAgent
from langchain_custom_agents.dialects import ENGLISH, Action, Answer, JsonBlob
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

FORM = JsonBlob()


@tool
def weather(city: str, days: int) -> str:
    """Tell the weather {in braces}."""
    return f"{days} days of sun in {city}"


LOOK = FORM.write("I look", Action("weather", {"city": "Kyoto", "days": 2}))
KNOW = FORM.write("I know", Answer("sun"))


def test_it_is_what_it_replaces():
    """Code that asks for LangChain's class finds it."""
    assert issubclass(StructuredChatAgent, StockStructuredChatAgent)


@pytest.mark.parametrize("model", [ScriptedChatModel, ScriptedLLM])
def test_plan_reads_several_arguments(model):
    """Arguments keep their names and types, with chat and with text models."""
    agent = StructuredChatAgent.from_llm_and_tools(model([LOOK]), [weather])

    assert agent.plan([], input="?") == AgentAction("weather", {"city": "Kyoto", "days": 2}, LOOK)


@pytest.mark.parametrize("executor_class", [AgentExecutor, StockExecutor])
@pytest.mark.parametrize("answer", [{"age": 10, "names": ["Hiroko"]}, ["Hiroko"]])
def test_an_answer_that_is_data_keeps_its_shape_beside_its_text(executor_class, answer):
    """The output is a text, which any memory can hold; the object or list stands beside it."""
    said = json.dumps({"action": "Final Answer", "action_input": answer})
    agent = StructuredChatAgent.from_llm_and_tools(ScriptedChatModel([said]), [weather])
    memory = ConversationBufferMemory(output_key="output")
    result = executor_class(agent=agent, tools=[weather], memory=memory).invoke({"input": "?"})

    assert json.loads(result["output"]) == result["structured_output"] == answer
    assert memory.chat_memory.messages[-1].content == result["output"]


@pytest.mark.parametrize("answer", ["ten", "[1] is the source", "{so}", "10"])
def test_an_answer_in_words_is_a_text_alone(answer):
    """Nothing stands beside words, whatever they begin with."""
    said = json.dumps({"action": "Final Answer", "action_input": answer})
    agent = StructuredChatAgent.from_llm_and_tools(ScriptedChatModel([said]), [weather])

    assert agent.plan([], input="?").return_values == {"output": answer}


def test_gibberish_is_not_the_answer():
    """Where LangChain's parser takes what it cannot read for the answer, ours refuses."""
    plain = weather.model_copy(update={"description": "Braces would break the stock class."})
    stock = StockStructuredChatAgent.from_llm_and_tools(ScriptedChatModel(["???"]), [plain])
    assert stock.plan([], input="?").return_values == {"output": "???"}

    ours = StructuredChatAgent.from_llm_and_tools(ScriptedChatModel(["???"]), [weather])
    with pytest.raises(OutputParserException):
        ours.plan([], input="?")


def test_no_second_call_mends_a_reply():
    """A reply that cannot be read costs no hidden call of the model."""
    model = ScriptedChatModel(["???"])
    agent = StructuredChatAgent.from_llm_and_tools(model, [weather])

    with pytest.raises(OutputParserException):
        agent.plan([], input="?")
    assert len(model.prompts) == 1


def test_the_prompt_only_grows():
    """The human message of each prompt begins with the whole one before it."""
    model = ScriptedChatModel([LOOK, KNOW])
    agent = StructuredChatAgent.from_llm_and_tools(model, [weather])
    executor = StockExecutor(agent=agent, tools=[weather])

    assert executor.invoke({"input": "How is the weather?"})["output"] == "sun"
    first, second = (messages[-1].content for messages in model.prompts)
    assert second.startswith(first)
    assert "Observation: 2 days of sun in Kyoto" in second
    assert "Tell the weather {in braces}." in model.prompts[0][0].content


def test_memory_prompts_stand_between_system_and_question():
    """Messages of a memory are placed as LangChain's class places them."""
    model = ScriptedChatModel([KNOW])
    agent = StructuredChatAgent.from_llm_and_tools(
        model, [weather], memory_prompts=[MessagesPlaceholder("chat_history")]
    )
    agent.plan([], input="?", chat_history=[HumanMessage("Hi"), AIMessage("Hello")])

    assert [message.type for message in model.prompts[0]] == ["system", "human", "ai", "human"]
    assert agent.input_keys == ["input"]


def test_templates_of_ones_own_replace_parts_of_the_prompt():
    """Prefix, suffix and human message are templates; braces of tools mean nothing in them."""
    model = ScriptedChatModel([KNOW])
    agent = StructuredChatAgent.from_llm_and_tools(
        model,
        [weather],
        prefix="You are {who}.",
        suffix="Mind the form.",
        human_message_template="{input}!\n{agent_scratchpad}",
    )
    agent.plan([], input="How is it", who="a clerk")
    system, human = model.prompts[0]

    assert system.content.startswith("You are a clerk.")
    assert system.content.endswith("Mind the form.")
    assert human.content == "How is it!\nThought:"


def test_a_prompt_of_ones_own_is_given_the_scratchpad():
    """A chat prompt with `agent_scratchpad` works as it does in LangChain."""
    model = ScriptedChatModel([KNOW])
    prompt = ChatPromptTemplate.from_messages([("human", "{input}\n{agent_scratchpad}")])
    agent = StructuredChatAgent.from_llm_and_tools(model, [weather], prompt=prompt)
    agent.plan([(AgentAction("weather", {"city": "Nara", "days": 1}, LOOK), "rain")], input="?")

    assert "Observation: rain" in model.prompts[0][0].content


@pytest.mark.parametrize("optional", [False, True])
def test_a_scratchpad_of_messages_is_given_messages(optional):
    """Prompts of `create_json_chat_agent` and `ConversationalChatAgent` have a place for turns."""
    model = ScriptedChatModel([KNOW])
    prompt = ChatPromptTemplate.from_messages(
        [("human", "{input}"), MessagesPlaceholder("agent_scratchpad", optional=optional)]
    )
    agent = StructuredChatAgent.from_llm_and_tools(model, [weather], prompt=prompt)
    agent.plan([(AgentAction("weather", {"city": "Nara", "days": 1}, LOOK), "rain")], input="?")
    asked, said, seen = model.prompts[0]

    assert (asked.type, said.type, seen.type) == ("human", "ai", "human")
    assert '"city": "Nara"' in said.content
    assert seen.content == "Observation: rain"


def test_a_prompt_without_a_place_for_the_steps_is_refused():
    """The sentence says what to write into it."""
    prompt = ChatPromptTemplate.from_messages([("human", "{input}")])
    with pytest.raises(ValueError, match=r"no place for the steps: write \{agent_scratchpad\}"):
        StructuredChatAgent.from_llm_and_tools(ScriptedChatModel([]), [weather], prompt=prompt)


def test_a_part_beside_a_whole_prompt_is_refused():
    """It would have no effect, and vanish without a word."""
    prompt = ChatPromptTemplate.from_messages([("human", "{input}\n{agent_scratchpad}")])
    with pytest.raises(ValueError, match="With a prompt of your own, prefix has nothing"):
        StructuredChatAgent.from_llm_and_tools(
            ScriptedChatModel([]), [weather], prefix="Be brief.", prompt=prompt
        )


def test_any_dialect_may_be_spoken():
    """The class is about chat prompts: labels are as good as JSON."""
    model = ScriptedChatModel(["I know\nFinal Answer: sun"])
    agent = StructuredChatAgent.from_llm_and_tools(model, [weather], dialect=ENGLISH)

    assert agent.plan([], input="?").return_values == {"output": "sun"}


def test_the_prompt_can_be_looked_at_as_messages():
    """Code that prints `prompt.messages` finds templates that give the messages themselves."""
    agent = StructuredChatAgent.from_llm_and_tools(ScriptedChatModel([]), [weather])
    prompt = agent.llm_chain.prompt
    asked = {"input": "?", "chat_history": [("human", "Hi"), ("ai", "Hello")]}
    again = ChatPromptTemplate(prompt.messages).format_messages(**asked, agent_scratchpad="")

    assert again == prompt.format_messages(**asked, intermediate_steps=[])


def test_messages_to_look_at_are_not_written_over():
    """`prompt.messages[0].prompt.template = ...`, as people do it, would be lost without a word."""
    prompt = StructuredChatAgent.from_llm_and_tools(
        ScriptedChatModel([]), [weather]
    ).llm_chain.prompt

    with pytest.raises(AttributeError, match="Give the parts"):
        prompt.messages[0].prompt.template = "Be brief."
    with pytest.raises(AttributeError, match="Give the parts"):
        prompt.messages = []
    with pytest.raises(TypeError):
        prompt.messages[0] = "Be brief."
