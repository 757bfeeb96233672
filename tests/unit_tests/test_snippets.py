"""What people wrote for LangChain's agents, in answers and issues: it runs with our import."""

import re

import pytest
from langchain_classic.agents import (
    AgentOutputParser,
    create_openai_tools_agent,
    create_react_agent,
    create_structured_chat_agent,
)
from langchain_classic.agents.openai_functions_agent.agent_token_buffer_memory import (
    AgentTokenBufferMemory,
)
from langchain_classic.callbacks.streaming_stdout_final_only import (
    FinalStreamingStdOutCallbackHandler,
)
from langchain_classic.chains import LLMChain
from langchain_classic.memory import ConversationBufferMemory, ConversationBufferWindowMemory
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.prompts import (
    ChatPromptTemplate,
    MessagesPlaceholder,
    PromptTemplate,
    StringPromptTemplate,
    SystemMessagePromptTemplate,
)
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import Tool, tool

from langchain_custom_agents import (
    AgentExecutor,
    AgentType,
    OpenAIFunctionsAgent,
    ReActAgent,
    StructuredChatAgent,
    TextDocstore,
    docstore_tools,
    initialize_agent,
)
from langchain_custom_agents.agents.output_parser import DialectOutputParser
from langchain_custom_agents.dialects import Conversational
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

search = Tool(name="Search", func=lambda query: f"found {query}", description="useful to search")
LOOK = "I look\nAction: Search\nAction Input: x\nObservation: invented"
KNOW = "I know\nFinal Answer: done"
LOOK_JSON = '```json\n{"action": "Search", "action_input": "x"}\n```'
KNOW_JSON = '```json\n{"action": "Final Answer", "action_input": "done"}\n```'
CALL = AIMessage("", tool_calls=[{"name": "Search", "args": {"__arg1": "x"}, "id": "call_1"}])


def types_of(messages):
    return [message.type for message in messages]


def test_a_zero_shot_agent_with_memory_by_prefix_and_suffix():
    """The history stands where the suffix names it, and the variables named are taken."""
    model = ScriptedLLM([LOOK, KNOW, KNOW])
    agent_chain = initialize_agent(
        [search],
        model,
        agent=AgentType.ZERO_SHOT_REACT_DESCRIPTION,
        memory=ConversationBufferMemory(memory_key="chat_history"),
        agent_kwargs={
            "prefix": "Have a conversation with a human. You have access to these tools:",
            "suffix": 'Begin!"\n\n{chat_history}\nQuestion: {input}\n{agent_scratchpad}',
            "input_variables": ["input", "chat_history", "agent_scratchpad"],
        },
    )
    assert agent_chain.run("Hello") == "done"
    assert agent_chain.run("And?") == "done"
    assert model.prompts[2].endswith('Begin!"\n\nHuman: Hello\nAI: done\nQuestion: And?\nThought:')


@pytest.mark.parametrize("family", [ReActAgent, StructuredChatAgent])
def test_an_agent_put_together_by_hand(family):
    """`create_prompt`, a chain, and an agent that is given tools and `verbose`, as the docs did."""
    prompt = family.create_prompt([search], prefix="Speak as a pirate. {tools}")
    said = [LOOK, KNOW] if family is ReActAgent else [LOOK_JSON, KNOW_JSON]
    llm_chain = LLMChain(llm=ScriptedChatModel(said), prompt=prompt)
    agent = family(llm_chain=llm_chain, tools=[search], verbose=True)
    chain = AgentExecutor.from_agent_and_tools(agent=agent, tools=[search])

    assert chain.run("Hello") == "done"
    assert agent.allowed_tools == ["Search"]
    assert isinstance(agent.output_parser, DialectOutputParser)
    assert agent.output_parser.tools.names == ("Search",)


def test_a_conversational_agent_from_model_and_tools():
    """A prefix, the names of the speakers, and a memory of text."""
    model = ScriptedLLM(["Thought: Do I need to use a tool? No\nPirate: Ahoy"] * 2)
    agent = ReActAgent.from_llm_and_tools(
        llm=model,
        tools=[search],
        dialect=Conversational(final_answer="Pirate"),
        prefix="Be a pirate.",
        ai_prefix="Pirate",
        input_variables=["input", "agent_scratchpad", "chat_history"],
    )
    executor = AgentExecutor.from_agent_and_tools(
        agent=agent,
        tools=[search],
        memory=ConversationBufferMemory(memory_key="chat_history", ai_prefix="Pirate"),
    )
    assert [executor.run("Hello"), executor.run("And?")] == ["Ahoy", "Ahoy"]
    assert "Pirate: Ahoy\n\nQuestion: And?" in model.prompts[1]


def test_a_chat_conversational_agent_with_a_system_message():
    """`system_message` is the introduction, in `agent_kwargs` and in a prompt put in later."""
    model = ScriptedChatModel([KNOW_JSON, KNOW_JSON])
    memory = ConversationBufferWindowMemory(memory_key="chat_history", k=5, return_messages=True)
    chat = initialize_agent(
        [search],
        model,
        agent="chat-conversational-react-description",
        memory=memory,
        max_iterations=3,
        early_stopping_method="generate",
        agent_kwargs={"system_message": "You are a pirate."},
    )
    chat.run("Hello")
    chat.agent.llm_chain.prompt = chat.agent.create_prompt(
        system_message="You are a monk.", tools=[search]
    )
    chat.run("And?")
    assert model.prompts[0][0].content.startswith("You are a pirate.")
    assert model.prompts[1][0].content.startswith("You are a monk.")
    assert types_of(model.prompts[1]) == ["system", "human", "ai", "human"]


@pytest.mark.parametrize("key", ["chat_history", "history"])
def test_a_structured_chat_agent_with_memory_prompts(key):
    """A placeholder among `memory_prompts` holds the history, whatever its key."""
    model = ScriptedChatModel([KNOW_JSON, KNOW_JSON])
    chain = initialize_agent(
        tools=[search],
        llm=model,
        agent=AgentType.STRUCTURED_CHAT_ZERO_SHOT_REACT_DESCRIPTION,
        memory=ConversationBufferMemory(memory_key=key, return_messages=True),
        handle_parsing_errors=True,
        agent_kwargs={
            "memory_prompts": [MessagesPlaceholder(variable_name=key)],
            "input_variables": ["input", "agent_scratchpad", key],
        },
    )
    chain.run(input="My name is Dev")
    chain.run(input="What is my name?")
    assert types_of(model.prompts[1]) == ["system", "human", "ai", "human"]
    assert model.prompts[1][1].content == "My name is Dev"


def test_a_structured_tool_takes_its_arguments():
    """Several arguments of a function under `@tool` come as what they are."""

    @tool
    def multiplier(a: float, b: float) -> float:
        """Multiply the provided floats."""
        return a * b

    said = 'Action:\n```\n{"action": "multiplier", "action_input": {"a": 3, "b": 4}}\n```'
    agent = initialize_agent(
        [multiplier],
        ScriptedChatModel([said, KNOW_JSON]),
        agent=AgentType.STRUCTURED_CHAT_ZERO_SHOT_REACT_DESCRIPTION,
        return_intermediate_steps=True,
    )
    assert agent({"input": "3 times 4?"})["intermediate_steps"][0][1] == 12.0


def test_a_functions_agent_with_memory_in_extra_prompt_messages():
    """The placeholder stands between system message and question."""
    model = ScriptedChatModel([CALL, "done", "again"])
    agent = initialize_agent(
        [search],
        model,
        agent=AgentType.OPENAI_FUNCTIONS,
        agent_kwargs={
            "extra_prompt_messages": [MessagesPlaceholder(variable_name="memory")],
            "system_message": SystemMessage(content="You are kind."),
        },
        memory=ConversationBufferMemory(memory_key="memory", return_messages=True),
    )
    agent.run("Hello")
    assert agent.run("What did I say?") == "again"
    assert model.prompts[2] == [
        SystemMessage("You are kind."),
        HumanMessage("Hello"),
        AIMessage("done"),
        HumanMessage("What did I say?"),
    ]


def test_a_multi_functions_agent_with_inputs_of_ones_own():
    """A system message with variables is filled from the call and from a memory of text."""
    model = ScriptedChatModel(["Hello John", "Bye John"])
    chat = initialize_agent(
        [search],
        model,
        agent=AgentType.OPENAI_MULTI_FUNCTIONS,
        memory=ConversationBufferMemory(memory_key="chat_history", input_key="input"),
        agent_kwargs={
            "extra_prompt_messages": [
                SystemMessagePromptTemplate.from_template(
                    "The human is named {user_name}.\n{chat_history}"
                )
            ]
        },
    )
    chat.run(input="Hi", user_name="John")
    assert chat.run(input="Bye", user_name="John") == "Bye John"
    expected = "The human is named John.\nHuman: Hi\nAI: Hello John"
    assert model.prompts[1][1].content == expected


class Counting(ScriptedChatModel):
    """A model that counts a token for a message."""

    def get_num_tokens_from_messages(self, messages, tools=None):
        return len(messages)


def test_a_memory_of_steps_is_given_the_steps():
    """`AgentTokenBufferMemory` asks for intermediate steps beside the answer, and gets them."""
    model = Counting([CALL, "done", "again"])
    memory = AgentTokenBufferMemory(memory_key="history", llm=model)
    prompt = OpenAIFunctionsAgent.create_prompt(
        system_message=SystemMessage("Search."),
        extra_prompt_messages=[MessagesPlaceholder(variable_name="history")],
    )
    agent = OpenAIFunctionsAgent(llm=model, tools=[search], prompt=prompt)
    executor = AgentExecutor(
        agent=agent, tools=[search], memory=memory, return_intermediate_steps=True
    )
    executor.invoke({"input": "Hello"})
    # LangChain's memory keeps what was said letter by letter; the steps it keeps as messages.
    kept = [each.type for each in memory.chat_memory.messages if isinstance(each, BaseMessage)]
    assert kept == ["ai", "function"]
    assert executor.invoke({"input": "And?"})["output"] == "again"


def test_a_memory_with_keys_beside_returned_steps():
    """A memory with `input_key` and `output_key` keeps the answer where steps are returned."""
    memory = ConversationBufferMemory(
        memory_key="chat_history", input_key="input", output_key="output", return_messages=True
    )
    executor = initialize_agent(
        [search],
        ScriptedChatModel([LOOK_JSON, KNOW_JSON]),
        agent="chat-conversational-react-description",
        memory=memory,
        return_intermediate_steps=True,
    )
    assert len(executor({"input": "?"})["intermediate_steps"]) == 1
    assert [message.content for message in memory.buffer] == ["?", "done"]


class CustomPromptTemplate(StringPromptTemplate):
    """The template that LangChain's guide to custom agents had its readers write."""

    template: str
    tools: list[Tool]

    def format(self, **kwargs):
        thoughts = ""
        for action, observation in kwargs.pop("intermediate_steps"):
            thoughts += f"{action.log}\nObservation: {observation}\nThought: "
        kwargs["agent_scratchpad"] = thoughts
        kwargs["tools"] = "\n".join(f"{each.name}: {each.description}" for each in self.tools)
        return self.template.format(**kwargs)


class CustomOutputParser(AgentOutputParser):
    """The parser from the same guide."""

    def parse(self, text):
        if "Final Answer:" in text:
            return AgentFinish({"output": text.split("Final Answer:")[-1].strip()}, log=text)
        match = re.search(r"Action\s*:(.*?)\nAction Input\s*:[\s]*(.*)", text, re.DOTALL)
        if not match:
            raise ValueError(f"Could not parse LLM output: `{text}`")
        return AgentAction(match.group(1).strip(), match.group(2).strip(' "'), text)


def test_a_custom_single_action_agent_with_memory():
    """A prompt and a parser of one's own, `stop` and `allowed_tools`, and a window of memory."""
    model = ScriptedLLM([LOOK, "I do not know", KNOW, KNOW])
    prompt = CustomPromptTemplate(
        template="{tools}\n{history}\nQuestion: {input}\n{agent_scratchpad}",
        tools=[search],
        input_variables=["input", "intermediate_steps", "history"],
    )
    agent = ReActAgent(
        llm_chain=LLMChain(llm=model, prompt=prompt),
        output_parser=CustomOutputParser(),
        stop=["\nObservation:"],
        allowed_tools=["Search"],
    )
    executor = AgentExecutor.from_agent_and_tools(
        agent=agent, tools=[search], memory=ConversationBufferWindowMemory(k=2)
    )
    assert executor.run("How many?") == "done"
    assert "Observation: found x" in model.prompts[1]
    assert executor.run("And?") == "done"
    assert "Human: How many?\nAI: done" in model.prompts[3]


@pytest.mark.parametrize(
    ("handling", "said"),
    [
        (True, "holds neither an action nor a final answer"),
        ("Check your output and make sure it conforms!", "Check your output and make sure"),
        (lambda error: str(error)[:27], "Could not read the model's"),
    ],
)
def test_parsing_errors_are_handled_as_asked(handling, said):
    """True, a text, or a function of the error: the model reads it before it goes on."""
    model = ScriptedLLM(["I would rather talk", KNOW])
    agent = initialize_agent([search], model, handle_parsing_errors=handling)
    assert agent.run("?") == "done"
    assert said in model.prompts[1]


@pytest.mark.parametrize(("method", "answer"), [("force", "Agent stopped"), ("generate", "best")])
def test_an_agent_that_is_stopped(method, answer):
    """`max_iterations` ends a run with LangChain's text, or with the model's best answer."""
    steps = [f"I look\nAction: Search\nAction Input: {number}" for number in range(2)]
    agent = initialize_agent(
        [search],
        ScriptedLLM([*steps, "So be it\nFinal Answer: best"]),
        agent="zero-shot-react-description",
        max_iterations=2,
        early_stopping_method=method,
        return_intermediate_steps=True,
    )
    response = agent({"input": "?"})
    assert response["output"].startswith(answer)
    assert len(response["intermediate_steps"]) == 2


def test_iter_shows_each_step():
    """`iter` yields steps under `intermediate_step`, and at last the output."""
    agent = initialize_agent([search], ScriptedLLM([LOOK, KNOW]))
    seen = []
    for step in agent.iter({"input": "?"}):
        if output := step.get("intermediate_step"):
            action, value = output[0]
            seen.append((action.tool, value))
        else:
            seen.append(step["output"])
    assert seen == [("Search", "found x"), "done"]


def test_the_final_answer_is_streamed_to_standard_output(capsys):
    """LangChain's handler hears the words it waits for, and writes what comes after them."""
    agent = initialize_agent([search], ScriptedLLM([LOOK, KNOW]), agent_kwargs={"streaming": True})
    agent.run("?", callbacks=[FinalStreamingStdOutCallbackHandler()])
    assert capsys.readouterr().out == " done"


class Log(BaseCallbackHandler):
    """A handler that writes down what it hears of."""

    def __init__(self):
        self.heard = []

    def on_agent_action(self, action, **kwargs):
        self.heard.append(action.tool)

    def on_tool_end(self, output, **kwargs):
        self.heard.append(str(output))

    def on_agent_finish(self, finish, **kwargs):
        self.heard.append(finish.return_values["output"])


def test_callbacks_hear_of_actions_tools_and_the_finish():
    """Callbacks of a call hear of its tools; those of the executor, as in LangChain, do not."""
    of_call, of_executor = Log(), Log()
    agent = initialize_agent([search], ScriptedLLM([LOOK, KNOW]), callbacks=[of_executor])
    agent.run("?", callbacks=[of_call])
    assert of_call.heard == ["Search", "found x", "done"]
    assert of_executor.heard == ["Search", "done"]


def history_around(executor):
    history = InMemoryChatMessageHistory()
    return RunnableWithMessageHistory(
        executor,
        lambda session_id: history,
        input_messages_key="input",
        history_messages_key="chat_history",
        output_messages_key="output",
    )


def test_message_history_around_a_tools_agent_of_langchains():
    """`create_openai_tools_agent`, our executor, and a history around it."""
    prompt = ChatPromptTemplate.from_messages(
        [
            ("system", "You are helpful."),
            MessagesPlaceholder("chat_history"),
            ("human", "{input}"),
            MessagesPlaceholder("agent_scratchpad"),
        ]
    )
    model = ScriptedChatModel([CALL, "done", "again"])
    agent = create_openai_tools_agent(model, [search], prompt)
    chain = history_around(AgentExecutor(agent=agent, tools=[search]))
    config = {"configurable": {"session_id": "any"}}
    chain.invoke({"input": "I am Nemo"}, config)
    assert chain.invoke({"input": "Who am I?"}, config)["output"] == "again"
    assert types_of(model.prompts[2]) == ["system", "human", "ai", "human"]


def test_runnable_agents_of_langchains_run_in_our_executor():
    """`create_react_agent` and `create_structured_chat_agent`, with a reply that is no form."""
    react = PromptTemplate.from_template(
        "{tools} [{tool_names}]\nQuestion: {input}\nThought:{agent_scratchpad}"
    )
    structured = ChatPromptTemplate.from_messages(
        [("system", "{tools} {tool_names}"), ("human", "{input}\n\n{agent_scratchpad}")]
    )
    look = LOOK.partition("\nObservation")[0]
    agents = [
        create_react_agent(ScriptedLLM([look, "no form", KNOW]), [search], react),
        create_structured_chat_agent(
            ScriptedChatModel([LOOK_JSON, KNOW_JSON]), [search], structured
        ),
    ]
    for agent in agents:
        executor = AgentExecutor(
            agent=agent,
            tools=[search],
            handle_parsing_errors=True,
            return_intermediate_steps=True,
            max_iterations=5,
        )
        result = executor.invoke({"input": "?"})
        assert (result["output"], len(result["intermediate_steps"])) == ("done", 1)


def test_self_ask_and_docstore_agents():
    """The two agents of papers, with the tools that they name."""
    answers = Tool(name="Intermediate Answer", func=lambda query: "1978", description="search")
    asked = ["Yes.\nFollow up: when?", "So the final answer is: 1978"]
    agent = initialize_agent([answers], ScriptedLLM(asked), agent=AgentType.SELF_ASK_WITH_SEARCH)
    assert agent.run("?") == "1978"

    said = ["Thought: s\nAction: Search[takuma]", "Thought: f\nAction: Finish[a teacher]"]
    tools = docstore_tools(TextDocstore({"takuma": "takuma is a teacher"}))
    agent = initialize_agent(tools, ScriptedLLM(said), agent=AgentType.REACT_DOCSTORE)
    assert agent.run("?") == "a teacher"


async def test_the_same_without_blocking():
    """`arun`, `acall` and `ainvoke` give what the others give, to a tool with a coroutine, too."""

    async def find(query):
        return f"found {query}"

    both = Tool(name="Search", func=None, coroutine=find, description="useful to search")
    agent = initialize_agent([both], ScriptedLLM([LOOK, KNOW] * 3))
    assert await agent.arun("?") == "done"
    assert (await agent.acall("?"))["output"] == "done"
    assert (await agent.ainvoke({"input": "?"}))["output"] == "done"


def test_a_result_that_is_returned_directly():
    """`return_direct` ends the run with the tool's words."""
    direct = Tool(name="Search", func=lambda query: "found", description="d", return_direct=True)
    agent = initialize_agent([direct], ScriptedLLM([LOOK]), agent="zero-shot-react-description")
    assert agent.run("?") == "found"
