"""Models that write wrong queries, engines that refuse them, and the sections that mend them.

What a scripted model shows: that the right section reaches every type of agent, that the form of
the type carries queries full of signs unharmed, and that the run ends with the engine's answer.
What it cannot show: whether a model would have understood the section.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, Tool

from examples.query_languages import jira_tool, prometheus_tool, sourcegraph_tool
from langchain_custom_agents import AgentExecutor, AgentType, initialize_agent
from langchain_custom_agents.agents.types import AGENTS
from langchain_custom_agents.dialects.moves import Action, Answer
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM
from tests.integration_tests.reference.mistakes import JQL, PROMQL, SOURCEGRAPH, Mistake

pytestmark = pytest.mark.integration

LANGUAGES = {"promql": PROMQL, "jql": JQL, "sourcegraph": SOURCEGRAPH}
MAKERS = {"promql": prometheus_tool, "jql": jira_tool, "sourcegraph": sourcegraph_tool}

Make = Callable[..., BaseTool]


@pytest.fixture
def make(request: pytest.FixtureRequest) -> Make:
    """Return what makes the tool of a language over its engine."""

    def made(language: str, **kwargs: Any) -> BaseTool:
        engine = "prometheus" if language == "promql" else "apis"
        url = request.getfixturevalue(engine)
        return MAKERS[language](url, **{"cache": None, **kwargs})

    return made


def sections(observation: str) -> list[str]:
    """Return the names of the sections that an observation shows."""
    heads = [line for line in observation.splitlines() if line.startswith("[")]
    return [head.partition("] ")[2].rpartition(" > ")[2] for head in heads]


def mends(mistake: Mistake, observation: str) -> bool:
    """Say whether an observation shows a section that mends a mistake."""
    return bool(set(sections(observation)) & set(mistake.sections))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sections_exist(language, make):
    """Every section that the list of mistakes names is in the reference."""
    from examples.query_languages import REFERENCES
    from langchain_custom_agents.tools._sections import cut

    text = (REFERENCES / f"{language}.md").read_text(encoding="utf-8")
    names = {section.path[-1] for section in cut(text)}
    named = {name for mistake in LANGUAGES[language] for name in mistake.sections}

    assert len(LANGUAGES[language]) == 20
    assert named <= names
    assert len(names) > 20


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_right_section_is_found(language, make):
    """For at least 18 of 20 mistakes the engine refuses, the section that mends it is shown."""
    guided = make(language)
    shown = {mistake.wrong: guided.run(mistake.wrong) for mistake in LANGUAGES[language]}
    missed = [
        (mistake.wrong, sections(shown[mistake.wrong]))
        for mistake in LANGUAGES[language]
        if not mends(mistake, shown[mistake.wrong])
    ]

    assert all(f"{guided.name} failed: HTTP 400" in seen or "Unable To Process" in seen
               for seen in shown.values())  # fmt: skip
    assert len(missed) <= 2, missed


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_meant_is_answered(language, make):
    """Every query that was meant is taken by the engine, and its answer is clean."""
    guided = make(language)
    answers = [guided.run(mistake.right) for mistake in LANGUAGES[language]]

    assert not [answer for answer in answers if "failed" in answer or "reference" in answer]


def test_results_that_are_not_shown_are_told(prometheus):
    """Twenty series of many are no full list, and the model can see that."""
    answer = prometheus_tool(prometheus, cache=None).run('{__name__=~".+"}')

    assert answer.count("\n") == 20
    assert answer.splitlines()[-1].startswith("(There are ")


# -- through the agents -------------------------------------------------------------------------


class Ends(BaseCallbackHandler):
    """Hears what the tool answers."""

    def __init__(self) -> None:
        self.outputs: list[str] = []

    def on_tool_end(self, output: Any, **_: Any) -> None:
        self.outputs.append(str(getattr(output, "content", output)))


def text_of(prompt: Any) -> str:
    """Return a prompt as one text."""
    if isinstance(prompt, str):
        return prompt
    return "\n".join(str(message.content) for message in prompt)


def told(ends: Ends, prompt: Any) -> str:
    """Answer as a model that has read: with the last output, if the prompt holds it."""
    output = ends.outputs[-1]
    squeezed = " ".join(text_of(prompt).split())
    return output if " ".join(output.split()) in squeezed else "I was not told."


def in_words(kind: AgentType, name: str, mistake: Mistake, ends: Ends) -> Callable[[Any], str]:
    """Write the model's three turns in the form of an agent type."""
    dialect: Any = AGENTS[kind].dialect
    turns = iter(
        [
            lambda _: dialect.write("I ask.", Action(name, mistake.wrong)),
            lambda _: dialect.write("I mend it.", Action(name, mistake.right)),
            lambda prompt: dialect.write("I know.", Answer(told(ends, prompt))),
        ]
    )

    def reply(prompt: Any) -> str:
        return next(turns)(prompt)

    return reply


def in_calls(name: str, argument: str, mistake: Mistake, ends: Ends) -> Callable[[Any], AIMessage]:
    """Write the model's three turns as tool calls."""
    turns = iter([mistake.wrong, mistake.right])

    def reply(messages: list[BaseMessage]) -> AIMessage:
        query = next(turns, None)
        if query is None:
            return AIMessage(told(ends, messages))
        call = {"name": name, "args": {argument: query}, "id": f"call_{len(messages)}"}
        return AIMessage("", tool_calls=[call])

    return reply


def tools_for(kind: AgentType, guided: BaseTool) -> list[BaseTool]:
    """Name the tool as the type wants it."""
    if kind is AgentType.REACT_DOCSTORE:
        lookup: BaseTool = Tool("Lookup", lambda _: "nothing", "Looks up.")
        return [guided.model_copy(update={"name": "Search"}), lookup]
    if kind is AgentType.SELF_ASK_WITH_SEARCH:
        return [guided.model_copy(update={"name": "Intermediate Answer"})]
    return [guided]


def went(
    kind: AgentType, guided: BaseTool, mistake: Mistake, **kwargs: Any
) -> tuple[Any, Any, Ends]:
    """Run a mistake through an agent type."""
    ends = Ends()
    tools = tools_for(kind, guided)
    if AGENTS[kind].dialect is None:
        argument = next(iter(guided.args))
        model: Any = ScriptedChatModel(in_calls(tools[0].name, argument, mistake, ends))
    else:
        model = ScriptedLLM(in_words(kind, tools[0].name, mistake, ends))
    executor = initialize_agent(tools, model, agent=kind)
    asked: dict[str, Any] = {"input": "What is there?"}
    if AGENTS[kind].history:
        asked["chat_history"] = []
    return executor.invoke(asked, {"callbacks": [ends]}), model, ends


@pytest.mark.parametrize("kind", AGENTS, ids=lambda kind: kind.value)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_type_of_agent_corrects_itself(language, kind, make):
    """In every type the second prompt holds the section, and the run ends in the right answer."""
    guided = make(language)
    shown = 0
    for mistake in LANGUAGES[language]:
        answer, model, ends = went(kind, guided, mistake)
        refusal, success = ends.outputs
        second = text_of(model.prompts[1])
        mended = mends(mistake, refusal)
        shown += mended and any(
            f"> {section}\n" in second for section in set(sections(refusal)) & set(mistake.sections)
        )

        assert answer["output"].split() == success.split(), mistake
        assert "failed" not in success

    assert shown >= 18


@pytest.mark.parametrize("language", LANGUAGES)
def test_stock_s_executor_corrects_itself(language, make):
    """The same tool works in stock's executor around our agent."""
    guided, mistake, ends = make(language), LANGUAGES[language][0], Ends()
    kind = AgentType.ZERO_SHOT_REACT_DESCRIPTION
    model = ScriptedLLM(in_words(kind, guided.name, mistake, ends))
    ours: AgentExecutor = initialize_agent([guided], model, agent=kind)
    stock = StockExecutor(agent=ours.agent, tools=[guided])
    answer = stock.invoke({"input": "What is there?"}, {"callbacks": [ends]})

    assert mends(mistake, model.prompts[1])
    assert answer["output"] == ends.outputs[-1]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_create_agent_corrects_itself(language, make):
    """The same tool works under `create_agent`, asynchronously."""
    from langchain.agents import create_agent

    guided, mistake, ends = make(language), LANGUAGES[language][0], Ends()
    model = ScriptedChatModel(in_calls(guided.name, next(iter(guided.args)), mistake, ends))
    agent = create_agent(model, [guided])
    state = await agent.ainvoke({"messages": [("user", "What?")]}, {"callbacks": [ends]})

    assert mends(mistake, text_of(model.prompts[1]))
    assert state["messages"][-1].content == ends.outputs[-1]


SECOND = """
import sys
from langchain_core.embeddings import Embeddings
from examples.query_languages import jira_tool
from langchain_custom_agents.offline import HashingEmbeddings

class Counting(Embeddings):
    model = "counting"
    calls = 0
    def embed_documents(self, texts):
        Counting.calls += 1
        return HashingEmbeddings().embed_documents(texts)
    def embed_query(self, text):
        return HashingEmbeddings().embed_query(text)

tool = jira_tool(sys.argv[1], cache=sys.argv[2], embedding=Counting())
assert "JQL > Equality" in tool.run("status == Done")
print(Counting.calls)
"""


def test_a_second_process_embeds_nothing(apis, tmp_path):
    """The reference is indexed by the first process that needs it, and by no other."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", SECOND, apis, str(tmp_path)]
    calls = [
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        ).stdout.strip()
        for _ in range(2)
    ]

    assert calls == ["1", "0"]


def test_a_page_is_a_reference(apis, tmp_path, monkeypatch):
    """A page at an address is fetched once, read again by age, and kept when it cannot be."""
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    from langchain_custom_agents.tools._manual import Manual

    asked: list[str] = []
    page = ["<nav>Home</nav><h1>JQL</h1><h2>Equality</h2><p>One <code>=</code> sign.</p>"]

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200 if page else 503)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page[0].encode() if page else b"gone")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    now = [0.0]

    def manual() -> Manual:
        url = f"http://127.0.0.1:{server.server_port}/jql"
        return Manual(url, k=1, embedding=None, cache=tmp_path, max_age=60, clock=lambda: now[0])

    try:
        assert manual().find("equality")[0].page_content == "JQL > Equality\nOne `=` sign."
        manual().find("equality")
        assert len(asked) == 1
        now[0] = 60.0
        page[0] = page[0].replace("One", "A single")
        assert "A single" in manual().find("equality")[0].page_content
        now[0] = 120.0
        page.clear()
        assert "A single" in manual().find("equality")[0].page_content
        assert len(asked) == 3
    finally:
        server.shutdown()
        server.server_close()
