"""OpenAIFunctionsAgent with the real ChatOpenAI against llmock: both APIs, streamed and not."""

import pytest
from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_classic.agents import create_tool_calling_agent
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from llmock.scenarios import Reply, ToolCall

from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.openai_functions import OpenAIFunctionsAgent

# One event loop for all: ChatOpenAI shares one client, and it belongs to a loop.
one_loop = pytest.mark.asyncio(loop_scope="session")
pytestmark = pytest.mark.integration

KINDS = {
    "chat": {},
    "chat, streamed": {"streaming": True},
    "responses": {"use_responses_api": True},
    "responses, streamed": {"use_responses_api": True, "streaming": True},
}
STREAMED = [name for name in KINDS if "streamed" in name]


class Desk:
    """An executor with a weather tool that remembers what it was asked, and its model."""

    def __init__(self, llmock, kind, **kwargs):
        self.asked = []

        @tool
        def weather(city: str) -> str:
            """Tell the weather of a city."""
            self.asked.append(city)
            return f"sunny in {city}"

        settings = {"max_retries": 2, "timeout": 20, **KINDS[kind], **kwargs}
        self.llm = ChatOpenAI(
            model="gpt-4o", base_url=llmock.base_url(), api_key="none", **settings
        )
        self.tools = [weather]
        self.executor = self.around(self.llm)

    def around(self, llm):
        """Return an executor around a model."""
        agent = OpenAIFunctionsAgent.from_llm_and_tools(llm, self.tools)
        return AgentExecutor(agent=agent, tools=self.tools, return_intermediate_steps=True)

    def ask(self):
        """Ask about the weather."""
        return self.executor.invoke({"input": "How is the weather?"})


@pytest.fixture(params=list(KINDS))
def desk(llmock, request):
    """Give a desk for each API, streamed and not."""
    return Desk(llmock, request.param)


def answers_in(body):
    """Return the ids that are answered and those that were called, in a request to either API."""
    if "messages" in body:
        called = [c["id"] for m in body["messages"] for c in m.get("tool_calls") or ()]
        answered = [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]
    else:
        items = body["input"]
        called = [i["call_id"] for i in items if i.get("type") == "function_call"]
        answered = [i["call_id"] for i in items if i.get("type") == "function_call_output"]
    return called, answered


def test_a_tool_is_called_and_its_result_is_sent_back(llmock, desk):
    """The call runs the tool, and the next request answers it by its id."""
    llmock.call_tool("weather", {"city": "京都"})
    llmock.reply("It is sunny.")

    assert desk.ask()["output"] == "It is sunny."
    assert desk.asked == ["京都"]
    called, answered = answers_in(llmock.last_request.body)
    assert called == answered
    assert len(called) == 1


@one_loop
async def test_a_tool_is_called_without_blocking(llmock, desk):
    """The asynchronous client does the same."""
    llmock.call_tool("weather", {"city": "京都"})
    llmock.reply("It is sunny.")

    result = await desk.executor.ainvoke({"input": "How is the weather?"})

    assert (result["output"], desk.asked) == ("It is sunny.", ["京都"])


def test_parallel_calls_are_answered_once_each(llmock, desk):
    """Two calls of one reply run both, and the next request answers both."""
    calls = ToolCall("weather", {"city": "京都"}), ToolCall("weather", {"city": "大阪"})
    llmock.add(Reply(tool_calls=calls), Reply(text="Both are sunny."))

    assert desk.ask()["output"] == "Both are sunny."
    assert sorted(desk.asked) == ["京都", "大阪"]
    called, answered = answers_in(llmock.last_request.body)
    assert called == answered
    assert len(called) == 2


def test_malformed_arguments_are_not_executed(llmock, desk):
    """Arguments broken off in the middle run nothing: the model is told, and answers."""
    llmock.call_tool("weather", {"city": "Kyoto"}).break_tool_call("malformed_arguments")
    llmock.reply("I cannot tell.")

    result = desk.ask()

    assert (result["output"], desk.asked) == ("I cannot tell.", [])
    called, answered = answers_in(llmock.last_request.body)
    assert called == answered


@pytest.mark.parametrize("kind", STREAMED)
def test_streamed_arguments_without_their_end_are_not_executed_where_stock_runs_them(llmock, kind):
    """LangChain completes arguments that broke off; stock runs the call, ours asks again."""
    desk = Desk(llmock, kind)
    prompt = ChatPromptTemplate.from_messages(
        [("human", "{input}"), ("placeholder", "{agent_scratchpad}")]
    )
    stock = StockExecutor(
        agent=create_tool_calling_agent(desk.llm, desk.tools, prompt), tools=desk.tools
    )
    for ask in (lambda: stock.invoke({"input": "?"}), desk.ask):
        llmock.reset().call_tool("weather", {"city": "Kyoto, in the middle of Japan"})
        llmock.break_tool_call("malformed_arguments").reply("I cannot tell.")
        ask()

    assert len(desk.asked) == 1
    assert desk.asked[0] != "Kyoto, in the middle of Japan"


def test_an_unknown_tool_is_answered_with_those_there_are(llmock, desk):
    """A tool that was never offered becomes an observation, and the run goes on."""
    llmock.break_tool_call("unknown_tool").reply("I cannot tell.")

    assert desk.ask()["output"]
    assert "weather" in str(llmock.last_request.body)


def test_a_call_cut_off_at_the_token_limit_is_not_executed(llmock, desk):
    """A reply that ended at its length runs nothing; the model is told."""
    cut = Reply(tool_calls=(ToolCall("weather", {"city": "京"}),), finish_reason="length")
    llmock.add(cut, Reply(text="I cannot tell."))

    assert (desk.ask()["output"], desk.asked) == ("I cannot tell.", [])


@pytest.mark.parametrize("kind", STREAMED)
def test_a_stream_that_ends_early_is_repeated_where_stock_answers_with_the_fragment(llmock, kind):
    """Without a finish reason a stream is asked for again; stock tells the user half of it."""
    desk = Desk(llmock, kind)
    prompt = ChatPromptTemplate.from_messages(
        [("human", "{input}"), ("placeholder", "{agent_scratchpad}")]
    )
    stock = StockExecutor(
        agent=create_tool_calling_agent(desk.llm, desk.tools, prompt), tools=desk.tools
    )
    llmock.reply("It is sunny in all of Japan.", times=None).truncate(after_chunks=3)
    assert stock.invoke({"input": "?"})["output"] != "It is sunny in all of Japan."
    llmock.reset().reply("It is sunny in all of Japan.", times=None).truncate(after_chunks=3)

    assert desk.ask()["output"] == "It is sunny in all of Japan."
    assert len(llmock.requests) == 2
    llmock.assert_resilient()


@pytest.mark.parametrize("kind", STREAMED)
@pytest.mark.parametrize("fault", ["disconnect", "corrupt"])
def test_a_broken_stream_is_survived_with_retry(llmock, kind, fault):
    """A model wrapped in with_retry repeats a stream that broke, tools and all."""
    desk = Desk(llmock, kind)
    getattr(llmock.call_tool("weather", {"city": "京都"}, times=2), fault)(after_chunks=1)
    llmock.reply("It is sunny.")

    executor = desk.around(desk.llm.with_retry(wait_exponential_jitter=False))

    assert executor.invoke({"input": "?"})["output"] == "It is sunny."
    assert desk.asked == ["京都"]


def test_faults_of_the_server_are_survived(llmock, desk):
    """429 and 500 are repeated by the client, and the run ends as if nothing had happened."""
    llmock.rate_limit(retry_after=0.1).fail(500)
    llmock.call_tool("weather", {"city": "京都"}).reply("It is sunny.")

    assert (desk.ask()["output"], desk.asked) == ("It is sunny.", ["京都"])


@pytest.mark.parametrize("kind", ["chat", "responses"])
def test_a_timeout_is_survived(llmock, kind):
    """An answer that comes too late is asked for again."""
    desk = Desk(llmock, kind, timeout=4)
    llmock.delay(8).call_tool("weather", {"city": "京都"}, times=2).reply("It is sunny.")

    assert desk.ask()["output"] == "It is sunny."
    assert desk.asked[0] == "京都"


@one_loop
async def test_tokens_are_streamed_as_events(llmock):
    """astream_events gives the answer's tokens as they come."""
    desk = Desk(llmock, "chat")
    llmock.call_tool("weather", {"city": "京都"}).reply("It is sunny in Kyoto.")

    tokens = [
        event["data"]["chunk"].content
        async for event in desk.executor.astream_events({"input": "?"}, version="v2")
        if event["event"] == "on_chat_model_stream" and event["data"]["chunk"].content
    ]

    assert len(tokens) > 1
    assert "".join(tokens) == "It is sunny in Kyoto."
