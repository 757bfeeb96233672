"""The agents: each is given the same model and the same tool, and set up as its own pages do."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models.chat_models import SimpleChatModel
from langchain_core.tools import StructuredTool, Tool

from benchmarks.peers.situations import ANSWER, FINAL_ANSWER, MOST_CALLS, Form
from langchain_custom_agents import AgentExecutor, ReActAgent, with_tool_calling
from langchain_custom_agents.dialects import ENGLISH, JAPANESE


class PlainChat(SimpleChatModel):
    """A chat model without tool calling, as LangChain sees one."""

    says: Any
    stop: str = "honours"

    @property
    def _llm_type(self):
        return "plain-chat"

    def _call(self, messages, stop=None, *_, **__):
        if stop and self.stop == "refuses":
            msg = (
                "Error code: 400 - Unsupported parameter: 'stop' is not supported with this model."
            )
            raise ValueError(msg)
        text = self.says("\n".join(str(message.text) for message in messages))
        for word in stop if stop and self.stop == "honours" else ():
            text = text.split(word, maxsplit=1)[0]
        return text


async def _create_agent(model, tools, question, **_):
    from langchain.agents import create_agent

    agent = create_agent(model, tools)
    return (await agent.ainvoke({"messages": [("user", question)]}))["messages"][-1].text


async def create_agent_alone(says, tools, question, *, stop="honours", **_):
    """LangChain's create_agent with the model as it is."""
    return await _create_agent(PlainChat(says=says, stop=stop), _structured(tools), question)


async def create_agent_with_ours(says, tools, question, *, stop="honours", japanese=False):
    """The same with the model wrapped by ours."""
    plain = PlainChat(says=says, stop=stop)
    model = with_tool_calling(plain, dialect=JAPANESE if japanese else ENGLISH)
    return await _create_agent(model, _structured(tools), question)


async def our_executor(says, tools, question, *, stop="honours", japanese=False):
    """Our agent in our executor."""
    plain = PlainChat(says=says, stop=stop)
    dialect = JAPANESE if japanese else ENGLISH
    tools = _structured(tools)
    agent = ReActAgent.from_llm_and_tools(plain, tools, dialect=dialect)
    return (await AgentExecutor(agent=agent, tools=tools).ainvoke({"input": question}))["output"]


CLASSIC_PROMPT = """Answer the question. You have these tools:

{tools}

Use this form:

Question: the question
Thought: what to do
Action: one of [{tool_names}]
Action Input: the input
Observation: the result
... (as often as needed)
Thought: I know now
Final Answer: the answer

Question: {input}
Thought:{agent_scratchpad}"""


async def classic(says, tools, question, *, stop="honours", **_):
    """langchain-classic's text agent, told to let the model correct itself."""
    from langchain_classic.agents import AgentExecutor as StockExecutor
    from langchain_classic.agents import create_react_agent
    from langchain_core.prompts import PromptTemplate

    plain = PlainChat(says=says, stop=stop)
    tools = [Tool(each.name, each.function, each.about) for each in tools]
    agent = create_react_agent(plain, tools, PromptTemplate.from_template(CLASSIC_PROMPT))
    executor = StockExecutor(agent=agent, tools=tools, handle_parsing_errors=True)
    return (await executor.ainvoke({"input": question}))["output"]


async def llama_index(says, tools, question, **_):
    """LlamaIndex's ReActAgent; it sends no stop sequences."""
    agent = llama_index_agent(says, tools)
    return str(await agent.run(user_msg=question, max_iterations=MOST_CALLS + 8))


def llama_index_agent(says, tools):
    """Make LlamaIndex's agent."""
    from llama_index.core.agent.workflow import ReActAgent as LlamaIndexAgent
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.tools import FunctionTool

    class Plain(CustomLLM):
        def complete(self, prompt, *_, **__):
            return CompletionResponse(text=says(prompt))

        def stream_complete(self, prompt, *_, **__):
            text = says(prompt)
            return (
                CompletionResponse(text=text[:end], delta=text[end - 1 : end])
                for end in range(1, len(text) + 1)
            )

        @property
        def metadata(self):
            return LLMMetadata(model_name="plain")

    made = [
        FunctionTool.from_defaults(each.function, name=each.name, description=each.about)
        for each in tools
    ]
    return LlamaIndexAgent(tools=made, llm=Plain())


def _structured(tools):
    return [
        StructuredTool.from_function(each.function, name=each.name, description=each.about)
        for each in tools
    ]


@dataclass(frozen=True)
class Given:
    """A tool before any framework has wrapped it."""

    name: str
    about: str
    function: Callable[[str], str]


@dataclass(frozen=True)
class Peer:
    """A column of the table.

    Attributes:
        name: Its head.
        form: How it wants steps to be written.
        run: What asks it.
        package: What must be installed for it.
    """

    name: str
    form: Form
    run: Callable[..., Awaitable[Any]]
    package: str = "langchain"


PEERS = (
    Peer("`create_agent` with ours", FINAL_ANSWER, create_agent_with_ours),
    Peer("our executor", FINAL_ANSWER, our_executor),
    Peer("`create_agent` alone", FINAL_ANSWER, create_agent_alone),
    Peer("langchain-classic", FINAL_ANSWER, classic, "langchain_classic"),
    Peer("LlamaIndex", ANSWER, llama_index, "llama_index"),
)
