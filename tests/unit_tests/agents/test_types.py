"""LangChain's nine agent types, each with the conventions that its users expect."""

import pytest
from langchain_classic.agents import AgentType
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.messages import AIMessage
from langchain_core.tools import Tool, tool

from langchain_custom_agents import initialize_agent
from langchain_custom_agents.agents.types import AGENTS, agent_type, make_agent
from langchain_custom_agents.dialects import JAPANESE, Action, Answer, Bracketed, Conversational
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM


@tool
def weather(city: str, days: int) -> str:
    """Tell the weather."""
    return f"{days} days of sun in {city}"


def tools_for(kind):
    names = AGENTS[kind].tools or {"Search"}
    return [Tool(name, lambda text: "hiroko is 10 years old", "looks") for name in sorted(names)]


def model_for(kind):
    """A model that acts once and then answers, in the form of the type."""
    row = AGENTS[kind]
    if row.dialect is None:
        call = {"name": "Search", "args": {"__arg1": "Hiroko"}, "id": "1", "type": "tool_call"}
        return ScriptedChatModel([AIMessage("", tool_calls=[call]), AIMessage("10")])
    name = row.dialect.only_tool or "Search"
    said = [
        row.dialect.write("I look", Action(name, "Hiroko")),
        row.dialect.write("I know", Answer("10")),
    ]
    return ScriptedLLM(said)


def test_the_table_has_every_type_of_langchain():
    """No type of LangChain's is missing."""
    assert set(AGENTS) == set(AgentType)
    assert len(AGENTS) == 9


@pytest.mark.parametrize("kind", AGENTS)
def test_every_type_runs(kind):
    """Each type, by its enumeration member, acts and answers."""
    executor = initialize_agent(
        tools_for(kind), model_for(kind), agent=kind, return_intermediate_steps=True
    )
    result = executor.invoke({"input": "How old is Hiroko?"})

    assert result["output"] == "10"
    assert [seen for _, seen in result["intermediate_steps"]] == ["hiroko is 10 years old"]


@pytest.mark.parametrize("kind", AGENTS)
async def test_every_type_runs_asynchronously(kind):
    """Each type, by its name, acts and answers without blocking."""
    executor = initialize_agent(tools_for(kind), model_for(kind), agent=kind.value)

    assert (await executor.ainvoke({"input": "How old is Hiroko?"}))["output"] == "10"


def test_none_given_means_zero_shot():
    """Without a type the agent is the zero-shot one, tagged so."""
    kind = AgentType.ZERO_SHOT_REACT_DESCRIPTION
    executor = initialize_agent(tools_for(kind), model_for(kind), tags=["mine"])

    assert executor.tags == ["mine", "zero-shot-react-description"]


def test_type_and_path_together_are_an_error(tmp_path):
    """Two answers to the same question are refused."""
    with pytest.raises(ValueError, match="not both"):
        initialize_agent([], ScriptedLLM([]), agent="react-docstore", agent_path=str(tmp_path))


def test_an_unknown_type_lists_the_types():
    """A misspelled type is answered with the names there are."""
    with pytest.raises(ValueError, match="zero-shot-react-description, react-docstore"):
        agent_type("zero-shot")


@pytest.mark.parametrize(
    ("kind", "named"),
    [("react-docstore", ["Search"]), ("self-ask-with-search", ["Search"])],
)
def test_types_with_tools_of_their_own_say_which(kind, named):
    """A type that works with certain tools only names them."""
    tools = [Tool(name, str, "looks") for name in named]

    with pytest.raises(ValueError, match="takes exactly the tools named"):
        initialize_agent(tools, ScriptedLLM([]), agent=kind)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"agent_kwargs": {"prefx": "x"}}, "did you mean 'prefix'"),
        ({"max_iteration": 3}, "did you mean 'max_iterations'"),
    ],
)
def test_unknown_arguments_are_refused_at_every_level(arguments, said):
    """The agent's and the executor's arguments are both checked."""
    with pytest.raises(TypeError, match=said):
        initialize_agent([], ScriptedLLM([]), **arguments)


def test_arguments_of_langchains_chat_agent_keep_their_names():
    """What `ChatAgent` calls prefix, suffix and human message is understood, if given once."""
    kind = AgentType.CHAT_ZERO_SHOT_REACT_DESCRIPTION
    model = ScriptedChatModel(["Final Answer: 10"])
    told = {
        "system_message_prefix": "Be brief.",
        "system_message_suffix": "Begin now.",
        "human_message": "Asked: {input}\n\n{agent_scratchpad}",
    }

    assert initialize_agent([], model, agent=kind, agent_kwargs=told).run("How old?") == "10"
    system, human = (message.content for message in model.prompts[0])
    assert system.startswith("Be brief.")
    assert system.endswith("Begin now.")
    assert human.startswith("Asked: How old?")
    with pytest.raises(ValueError, match="Give `prefix` or `system_message_prefix`, not both"):
        initialize_agent([], model, agent=kind, agent_kwargs={**told, "prefix": "Be brief."})


def test_agent_kwargs_choose_the_dialect():
    """Labels of another language are one argument."""
    llm = ScriptedLLM([JAPANESE.write("わかった", Answer("10"))])
    executor = initialize_agent([], llm, agent_kwargs={"dialect": JAPANESE})

    assert executor.run("何歳?") == "10"
    assert llm.prompts[0].endswith("質問: 何歳?\n思考:")


def test_docstore_examples_speak_the_dialects_language():
    """The few-shot examples are data: a Japanese dialect writes Japanese ones."""
    dialect = Bracketed(thought="思考:", action="行動:", observation="観察:", finish="完了")
    llm = ScriptedLLM([dialect.write("わかった", Answer("10"))])
    tools = tools_for(AgentType.REACT_DOCSTORE)
    initialize_agent(tools, llm, agent="react-docstore", agent_kwargs={"dialect": dialect}).run("?")

    assert "行動: Search[アントニオ・ヴィヴァルディ]" in llm.prompts[0]
    assert "行動: 完了[イタリア]" in llm.prompts[0]


@pytest.mark.parametrize("kind", [kind for kind, row in AGENTS.items() if row.history])
@pytest.mark.parametrize("messages", [False, True])
def test_conversations_take_chat_history(kind, messages):
    """Memory under `chat_history` reaches the model in the types made for conversations."""
    model = model_for(kind)
    memory = ConversationBufferMemory(memory_key="chat_history", return_messages=messages)
    memory.save_context({"input": "I am Bob."}, {"output": "Hello Bob!"})
    initialize_agent(tools_for(kind), model, agent=kind, memory=memory).run("Who am I?")

    assert "I am Bob." in str(model.prompts[0])
    assert "Hello Bob!" in str(model.prompts[0])


def test_the_conversational_type_is_called_what_its_user_says():
    """`ai_prefix` names the AI in the form and in the history, as in LangChain."""
    agent = make_agent("conversational-react-description", ScriptedLLM([]), [], ai_prefix="Robot")

    assert agent.dialect == Conversational(final_answer="Robot")


@pytest.mark.parametrize("kind", [kind for kind, row in AGENTS.items() if row.several_inputs])
def test_several_inputs_reach_the_tool(kind):
    """Types for several inputs call a tool of two arguments."""
    given = {"city": "Kyoto", "days": 2}
    row = AGENTS[kind]
    if row.dialect is None:
        call = {"name": "weather", "args": given, "id": "1", "type": "tool_call"}
        said = [AIMessage("", tool_calls=[call]), AIMessage("sun")]
    else:
        said = [
            row.dialect.write("", Action("weather", given)),
            row.dialect.write("", Answer("sun")),
        ]
    executor = initialize_agent(
        [weather], ScriptedChatModel(said), agent=kind, return_intermediate_steps=True
    )
    [(action, observation)] = executor.invoke({"input": "?"})["intermediate_steps"]

    assert (action.tool_input, observation) == (given, "2 days of sun in Kyoto")


@pytest.mark.parametrize("kind", [kind for kind, row in AGENTS.items() if row.parallel_calls])
def test_several_calls_in_one_reply_are_all_made(kind):
    """Types with parallel calls make every call of a reply and keep each result."""
    calls = [
        {"name": "Search", "args": {"__arg1": text}, "id": text, "type": "tool_call"}
        for text in ("Hiroko", "Takuma")
    ]
    model = ScriptedChatModel([AIMessage("", tool_calls=calls), AIMessage("done")])
    executor = initialize_agent(tools_for(kind), model, agent=kind, return_intermediate_steps=True)
    steps = executor.invoke({"input": "?"})["intermediate_steps"]

    assert [action.tool_input for action, _ in steps] == ["Hiroko", "Takuma"]
