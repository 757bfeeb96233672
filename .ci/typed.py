"""A user's script, checked by mypy --strict against the installed wheel, and run."""

from langchain_core.tools import BaseTool, tool
from typing_extensions import assert_type

from langchain_custom_agents import (
    AgentExecutor,
    FAISSStore,
    ReActAgent,
    TextDocstore,
    calculator_tool,
    docstore_tools,
    initialize_agent,
    retriever_tool,
)
from langchain_custom_agents.dialects import JAPANESE, Bracketed, Labelled, Reading
from langchain_custom_agents.offline import ExtractiveLLM, HashingEmbeddings
from langchain_custom_agents.testing import ScriptedLLM

assert_type(JAPANESE, Labelled)
assert_type(Bracketed().read("Action: Search[Hiroko]"), Reading)
assert_type(docstore_tools(TextDocstore({"Ayako": "Ayako paints."})), list[BaseTool])
assert_type(calculator_tool(), BaseTool)

store = FAISSStore.from_texts(["takuma is a teacher"], HashingEmbeddings())
assert_type(store, FAISSStore)
search = retriever_tool(store, k=1)


@tool
def weather(city: str) -> str:
    """Tell the weather."""
    return f"sunny in {city}"


llm = ScriptedLLM(
    ["Let me look.\nAction: weather\nAction Input: Kyoto", "I know.\nFinal Answer: sunny"]
)
agent = ReActAgent.from_llm_and_tools(llm, [weather])
assert_type(agent, ReActAgent)
executor = AgentExecutor(agent=agent, tools=[weather])
print(executor.invoke({"input": "How is the weather in Kyoto?"})["output"])

assert_type(initialize_agent([search], ExtractiveLLM()), AgentExecutor)


# The types are real: what does not fit is refused, or strict mypy finds an unused ignore here.
def refused() -> None:
    """Hold what strict mypy must refuse; if it did not, the ignore would be unused."""
    ReActAgent.from_llm_and_tools(llm, [weather], dialect="english")  # type: ignore[arg-type]
    JAPANESE.read(42)  # type: ignore[arg-type]
