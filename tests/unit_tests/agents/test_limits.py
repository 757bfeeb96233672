"""The executor's limits and hooks, in whole runs."""

import asyncio
import threading
from typing import Annotated, Any
from uuid import uuid4

import pytest
from langchain_core.agents import AgentAction
from langchain_core.tools import InjectedToolCallId, Tool, tool
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from langchain_custom_agents.agents.executor import AgentExecutor
from langchain_custom_agents.agents.react import ReActAgent
from langchain_custom_agents.policies import Cancel
from langchain_custom_agents.testing import ScriptedLLM

LOOK = "I look\nAction: Search\nAction Input: Hiroko"
KNOW = "I know\nFinal Answer: 10"


def make(words, tools=None, **kwargs):
    tools = tools or [Tool("Search", lambda query: "nothing", "looks things up")]
    llm = words if isinstance(words, ScriptedLLM) else ScriptedLLM(words)
    return AgentExecutor(agent=ReActAgent.from_llm_and_tools(llm, tools), tools=tools, **kwargs)


def run(executor, way, release=None):
    if way == "ainvoke":

        async def invoke():
            try:
                return await executor.ainvoke({"input": "?"})
            finally:
                # asyncio waits for the threads of its own pool when a loop is closed.
                if release is not None:
                    release.set()

        return asyncio.run(invoke())
    if way == "stream":
        return list(executor.stream({"input": "?"}))[-1]
    return executor.invoke({"input": "?"})


WAYS = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream"])


@WAYS
def test_going_in_circles_ends_with_what_happened(way):
    """A model that repeats itself is told once, and then stopped before its fourth try."""
    llm = ScriptedLLM([LOOK] * 9)
    result = run(make(llm), way)

    assert result["output"] == "Agent stopped: it called Search 3 times with the same result."
    assert result["stopped"] is True
    assert "Search was called like this before" in llm.prompts[2]
    assert len(llm.prompts) == 3


def test_going_in_circles_may_end_with_the_best_answer():
    """With "generate" the model has the last word."""
    result = run(make([LOOK] * 3 + [KNOW], early_stopping_method="generate"), "invoke")

    assert result["output"] == "10"
    assert result["stopped"] is True


@WAYS
def test_tokens_end_a_run(way):
    """Model calls of a run are counted, and the run ends when its tokens are used."""
    result = run(make([LOOK, LOOK], max_tokens=10), way)

    assert "tokens" in result["output"]


@WAYS
def test_a_late_tool_is_not_waited_for(way):
    """A tool that does not answer in time is an observation, and the run goes on."""
    release = threading.Event()
    llm = ScriptedLLM([LOOK, KNOW])
    slow = Tool("Search", lambda query: release.wait(60), "looks")
    try:
        result = run(make(llm, [slow], tool_timeout=0.05), way, release)
    finally:
        release.set()

    assert result["output"] == "10"
    assert "Observation: Search gave no answer within 0.05 s." in llm.prompts[1]


def test_timeouts_by_name_leave_other_tools_alone():
    """A limit for one tool is no limit for another."""
    llm = ScriptedLLM([LOOK, KNOW])
    tools = [Tool(name, lambda query: "nothing", "looks") for name in ("Search", "Other")]
    executor = make(llm, tools, tool_timeout={"Other": 1e-9})

    assert run(executor, "invoke")["output"] == "10"
    assert "Observation: nothing" in llm.prompts[1]


@WAYS
def test_the_time_limit_holds_during_a_tool(way):
    """A run does not take as long as its slowest tool, sync or async."""
    release = threading.Event()
    slow = Tool("Search", lambda query: release.wait(60), "looks")
    try:
        result = run(make([LOOK, KNOW], [slow], max_execution_time=0.05), way, release)
    finally:
        release.set()

    assert result["output"] == "Agent stopped due to iteration limit or time limit."


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_run_is_cancelled_from_another_thread_while_a_tool_runs(way):
    """The run ends though the tool does not, and the model is not asked again."""
    cancel, release = Cancel(), threading.Event()

    def work(query):
        threading.Thread(target=cancel.cancel).start()
        release.wait(60)
        return "late"

    llm = ScriptedLLM([LOOK, KNOW])
    try:
        with cancel:
            result = run(make(llm, [Tool("Search", work, "looks")]), way, release)
    finally:
        release.set()

    assert result["output"] == "Agent stopped: it was cancelled."
    assert len(llm.prompts) == 1


@WAYS
@pytest.mark.parametrize(
    ("verdict", "observation"),
    [
        (True, "about Hiroko"),
        (AgentAction("Search", "Takuma", ""), "about Takuma"),
        ("not today", "Search was not called: not today"),
        (False, "Search was not called: the call was not approved."),
    ],
)
def test_a_call_is_allowed_edited_or_refused_before_it_runs(way, verdict, observation):
    """The hook decides, and the model sees what came of it."""
    llm = ScriptedLLM([LOOK, KNOW])
    search = Tool("Search", lambda query: f"about {query}", "looks")
    run(make(llm, [search], approve=lambda action: verdict), way)

    assert f"Observation: {observation}" in llm.prompts[1]


@WAYS
@pytest.mark.parametrize("verdict", [None, 1, {"tool": "Search"}])
def test_an_approval_that_decides_nothing_lets_nothing_pass(way, verdict):
    """A hook that forgets to return, or returns what is no decision, ends the run; no tool runs."""
    ran = []
    search = Tool("Search", lambda query: ran.append(query) or "found", "looks")
    with pytest.raises(TypeError, match="return True to allow the call"):
        run(make(ScriptedLLM([LOOK, KNOW]), [search], approve=lambda action: verdict), way)

    assert ran == []


def test_an_edited_call_is_the_step():
    """The transcript shows what was called, not what was asked for."""
    search = Tool("Search", lambda query: f"about {query}", "looks")
    edit = lambda action: AgentAction("Search", "Takuma", "")  # noqa: E731
    executor = make([LOOK, KNOW], [search], approve=edit, return_intermediate_steps=True)
    [(action, _)] = run(executor, "invoke")["intermediate_steps"]

    assert (action.tool_input, action.log) == ("Takuma", LOOK)


@WAYS
def test_the_hook_may_be_a_coroutine(way):
    """Every run waits for what an asynchronous hook decides; a synchronous one, too."""

    async def ask(action):
        await asyncio.sleep(0)
        return "no"

    llm = ScriptedLLM([LOOK, KNOW])
    run(make(llm, approve=ask), way)

    assert "was not called: no" in llm.prompts[1]


@pytest.mark.parametrize("own", [{"approve": lambda action: False}, {"max_tokens": 10}])
def test_strict_does_not_drop_a_limit_without_a_word(own):
    """What LangChain's executor does not have is refused beside `strict=True`."""
    with pytest.raises(ValueError, match=f"{next(iter(own))} has no effect with strict=True"):
        make([LOOK, KNOW], strict=True, **own)


def test_observations_have_the_room_they_may_have():
    """A result of 100 kB is shortened in the prompt, and the cut is announced."""
    llm = ScriptedLLM([LOOK, KNOW])
    big = Tool("Search", lambda query: "word " * 20_000, "looks")
    run(make(llm, [big], max_observation_tokens=50), "invoke")

    assert len(llm.prompts[1]) < len(llm.prompts[0]) + 400
    assert "more tokens were left out]" in llm.prompts[1]


def test_a_big_observation_does_no_harm_without_a_limit():
    """100 kB of labels and braces pass through a run whole."""
    noise = "Observation: {x}\nFinal Answer: no\n" * 3000
    llm = ScriptedLLM([LOOK, KNOW])
    big = Tool("Search", lambda query: noise, "looks")
    executor = make(llm, [big], return_intermediate_steps=True)
    result = run(executor, "invoke")

    assert result["output"] == "10"
    assert result["intermediate_steps"][0][1] == noise


def test_the_scratchpad_keeps_within_its_budget():
    """Prompts stop growing at the budget."""
    words = [f"I look\nAction: Search\nAction Input: {n}" for n in range(30)]
    llm = ScriptedLLM([*words, KNOW])
    big = Tool("Search", lambda query: "x" * 400, "looks")
    run(make(llm, [big], max_scratchpad_tokens=500, max_iterations=40), "invoke")

    assert max(len(prompt) for prompt in llm.prompts) < len(llm.prompts[0]) + 3500
    assert "earlier steps were left out" in llm.prompts[-1]


@WAYS
def test_artifacts_come_back_with_the_answer(way):
    """What a tool returns beside its text is in the result when asked for."""

    @tool(response_format="content_and_artifact")
    def search(query: str):
        """Look things up."""
        return "text", {"source": query}

    words = [LOOK.replace("Search", "search"), KNOW]
    result = run(make(words, [search], return_artifacts=True), way)
    [(action, artifact)] = result["artifacts"]

    assert (action.tool, artifact) == ("search", {"source": "Hiroko"})


def test_nothing_of_a_run_is_kept_after_it():
    """Notes of runs go with the runs."""
    import gc

    executor = make(ScriptedLLM(lambda prompt: KNOW))
    for _ in range(50):
        run(executor, "invoke")
    gc.collect()

    assert len(executor._runs) <= 1


def test_an_asynchronous_tool_is_called_in_a_run_that_is_not():
    """A tool that has only a coroutine works in `invoke`."""

    @tool
    async def search(query: str) -> str:
        """Look things up."""
        await asyncio.sleep(0)
        return f"about {query}"

    llm = ScriptedLLM([LOOK.replace("Search", "search"), KNOW])
    run(make(llm, [search]), "invoke")

    assert "Observation: about Hiroko" in llm.prompts[1]


@WAYS
def test_what_a_tool_asks_for_beside_its_arguments_is_given(way):
    """The id of the call and the inputs of the run reach a tool that asks for them."""

    @tool
    def search(
        query: str,
        call_id: Annotated[str, InjectedToolCallId],
        asked: Annotated[str, InjectedState("input")],
    ) -> str:
        """Look things up."""
        return f"{query} for {asked} under {call_id[:5]}"

    llm = ScriptedLLM([LOOK.replace("Search", "search"), KNOW])
    run(make(llm, [search]), way)

    assert "Observation: Hiroko for ? under call_" in llm.prompts[1]


@WAYS
def test_a_tool_is_given_what_surrounds_its_call(way):
    """A tool of today's LangChain that asks for its runtime finds state, id and configuration."""

    @tool
    def search(query: str, runtime: ToolRuntime) -> str:
        """Look things up."""
        tags = "tags" in runtime.config
        return f"{query} for {runtime.state['input']} under {runtime.tool_call_id[:5]} {tags}"

    llm = ScriptedLLM([LOOK.replace("Search", "search"), KNOW])
    run(make(llm, [search]), way)

    assert "Observation: Hiroko for ? under call_ True" in llm.prompts[1]
    assert "runtime" not in llm.prompts[0]


@tool
def remember(query: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Remember a name."""
    store.put(("names",), "last", {"name": query})
    return f"remembered {query}"


@tool
def recall(query: str, runtime: ToolRuntime) -> str:
    """Recall the name."""
    return f"{query}: {runtime.store.get(('names',), 'last').value['name']}"


@WAYS
def test_a_tool_that_asks_for_a_store_is_given_the_executors(way):
    """A store outlives the call: what one tool puts into it another finds; no model sees it."""
    said = [LOOK.replace("Search", "remember"), LOOK.replace("Search", "recall"), KNOW]
    llm = ScriptedLLM(said)
    run(make(llm, [remember, recall], store=InMemoryStore()), way)

    assert "Observation: remembered Hiroko" in llm.prompts[1]
    assert "Observation: Hiroko: Hiroko" in llm.prompts[2]
    assert "store" not in llm.prompts[0]


def test_a_store_that_is_not_there_is_missed_when_the_executor_is_made():
    """No model can do anything about a missing store, so it is not told during a run."""
    with pytest.raises(ValueError, match=r"remember asks for a store \(store\); .* `store=`"):
        make([KNOW], [remember])


def test_a_tool_may_go_without_a_store():
    """A tool whose store has a default runs without one."""

    class Arguments(BaseModel):
        """What a note takes. (Python 3.10 hides the mark of a function's argument that is None.)"""

        query: str
        store: Annotated[Any, InjectedStore()] = None

    @tool(args_schema=Arguments)
    def note(query: str, store: Any = None) -> str:
        """Note something."""
        return f"{query} with {store}"

    llm = ScriptedLLM([LOOK.replace("Search", "note"), KNOW])
    run(make(llm, [note]), "invoke")

    assert "Observation: Hiroko with None" in llm.prompts[1]


def blocks(*texts):
    """Return what an adapter makes of a server's answer: blocks whose ids are new each time."""
    return [{"type": "text", "text": text, "id": f"lc_{uuid4()}"} for text in texts]


@WAYS
def test_a_text_agent_reads_the_words_in_content_blocks(way):
    """The model is shown the texts line by line, what else there is by kind; the step keeps all."""
    found = [*blocks("sun", "then rain"), {"type": "image", "url": "https://example.org/x.png"}]
    llm = ScriptedLLM([LOOK, KNOW])
    executor = make(
        llm, [Tool("Search", lambda query: found, "looks")], return_intermediate_steps=True
    )
    result = run(executor, way)

    assert "Observation: sun\nthen rain\n[image left out: only text is read here]" in llm.prompts[1]
    assert "lc_" not in llm.prompts[1]
    if way != "stream":
        assert result["intermediate_steps"][0][1] == found


def test_content_blocks_have_the_room_that_a_text_has():
    """An observation in blocks is cut at the same length as the text in it would be."""
    llm = ScriptedLLM([LOOK, KNOW])
    search = Tool("Search", lambda query: blocks("word " * 1_000), "looks")
    run(make(llm, [search], max_observation_tokens=10), "invoke")

    assert "more tokens were left out]" in llm.prompts[1]
    assert len(llm.prompts[1]) < 1_000
