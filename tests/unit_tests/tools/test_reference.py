"""Tools with a reference: what the model reads after a refusal, and who is told what."""

import asyncio
import json
import warnings
from pathlib import Path
from typing import Annotated, Any
from urllib.error import HTTPError

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, InjectedToolCallId, Tool, ToolException, tool
from pydantic import BaseModel

from langchain_custom_agents import AgentExecutor, ReActAgent
from langchain_custom_agents.offline import HashingEmbeddings
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM
from langchain_custom_agents.tools import _manual
from langchain_custom_agents.tools._manual import Manual
from langchain_custom_agents.tools._passages import estimate_tokens
from langchain_custom_agents.tools._sections import cut
from langchain_custom_agents.tools.reference import reference_middleware, with_reference

MANUAL = """\
# JQL

## Operators
Equality is one sign: status = Done. Two signs are not understood.

## Dates
Relative dates need quotes and a unit: created >= "-7d".

## Functions
The user who asks is currentUser().

```
# a comment in code is no heading
assignee = currentUser()
```
"""


class Engine:
    """A tracker that understands one sign of equality, and counts what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def find(self, jql: str) -> str:
        self.asked.append(jql)
        if "==" in jql:
            raise ValueError("Expecting a value for equality but got the operator '='.")
        return f"LCA-7 matches {jql}"

    def tool(self, **kwargs: Any) -> BaseTool:
        @tool
        def find_issues(jql: str) -> str:
            """Finds issues. Input: JQL."""
            return self.find(jql)

        return with_reference(find_issues, MANUAL, **{"k": 1, "cache": None, **kwargs})


def mended(function: Any, **kwargs: Any) -> BaseTool:
    """Give a function its manual."""
    return with_reference(tool(function), MANUAL, **{"k": 1, "cache": None, **kwargs})


# -- what the model reads -----------------------------------------------------------------------


def test_a_refusal_shows_the_words_the_input_and_the_section():
    """After an exception the observation holds what the API said, the input, and what mends it."""
    shown = Engine().tool().run("status == Done")

    assert "ValueError: Expecting a value for equality but got the operator '='." in shown
    assert "Its input was: status == Done" in shown
    assert "[1] JQL > Operators\nEquality is one sign" in shown
    assert "Dates" not in shown


async def test_a_refusal_reads_the_same_asynchronously():
    """`ainvoke` gives the words that `invoke` gives."""
    assert await Engine().tool().ainvoke("status == Done") == Engine().tool().invoke(
        "status == Done"
    )


def test_a_success_is_clean():
    """What succeeds is shown as the tool gave it."""
    assert Engine().tool().run("status = Done") == "LCA-7 matches status = Done"


def test_the_same_failing_input_is_pointed_out():
    """Only the second failure of one input says that it has failed before; it is tried again."""
    engine = Engine()
    mended = engine.tool()
    first, other, second = (mended.run(f"{name} == 1") for name in ("a", "b", "a"))

    assert "failed before" not in first
    assert "failed before" not in other
    assert "This same input has failed before" in second
    assert engine.asked == ["a == 1", "b == 1", "a == 1"]


def test_always_puts_the_reference_into_the_description():
    """With "always" the reference stands in the description and refusals stay short."""
    always, both = Engine().tool(when="always"), Engine().tool(when="both")

    assert always.description.startswith("Finds issues. Input: JQL.\nIts reference:\n# JQL")
    assert "Equality is one sign" in always.description
    assert "From the reference" not in always.run("status == Done")
    assert both.description == always.description
    assert "From the reference" in both.run("status == Done")


def test_a_long_reference_is_described_by_its_beginning_and_its_sections():
    """A reference that does not fit is shown as its beginning and the names of its sections."""
    long = "# A\n" + "\n".join(f"## Part {n}\n{'word ' * 50}" for n in range(9))
    described = with_reference(
        Engine().tool(), long, when="always", max_tokens=90, cache=None
    ).description

    assert "Its sections: A > Part 0; A > Part 1" in described
    assert estimate_tokens(described) < 140


@given(k=st.integers(1, 9), max_tokens=st.integers(10, 300))
def test_what_is_shown_keeps_to_its_budget(k, max_tokens):
    """However long the reference, no more than k sections and max_tokens of it are shown."""
    long = "\n".join(f"## Part {n}\n{'equality ' * (7 * n + 1)}" for n in range(12))
    find = Tool("find", Engine().find, "Finds.")
    shown = with_reference(find, long, k=k, max_tokens=max_tokens, cache=None).run("a == b")
    sections = shown.partition("mend it:\n")[2]

    assert 1 <= sections.count("Part ") <= k
    assert estimate_tokens(sections) <= max_tokens + k


def test_a_broken_reference_does_not_hide_what_the_api_said():
    """When the sections cannot be found, the refusal is still told, and so is the trouble."""

    class Down(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
            raise ConnectionError("no route to the index")

    find = Tool("find", Engine().find, "Finds.")
    shown = with_reference(find, Down(), cache=None).run("a == b")

    assert "Expecting a value for equality" in shown
    assert "The reference could not be read: ConnectionError: no route to the index" in shown


# -- what a refusal is --------------------------------------------------------------------------


def client_error() -> httpx2.HTTPStatusError:
    """Return what raise_for_status raises."""
    request = httpx2.Request("GET", "https://api.example/search?api_key=SECRET&jql=x")
    response = httpx2.Response(400, json={"error": "unexpected '='"}, request=request)
    with pytest.raises(httpx2.HTTPStatusError) as caught:
        response.raise_for_status()
    return caught.value


def test_an_http_error_says_its_status_and_body_and_no_key():
    """An HTTP client's exception is told by status and body; keys in the address stay out."""

    def find(jql: str) -> str:
        """Finds."""
        raise client_error()

    shown = mended(find).run("a = b")

    assert "HTTP 400: " in shown
    assert "unexpected '='" in shown
    assert "SECRET" not in shown


def test_urllib_s_error_says_its_body(tmp_path):
    """urllib's HTTPError, which is its own answer, is read."""

    def find(jql: str) -> str:
        """Finds."""
        import io

        raise HTTPError("https://api.example", 422, "Unprocessable", {}, io.BytesIO(b"bad field"))

    assert "HTTP 422: bad field" in mended(find).run("x")


@pytest.mark.parametrize(
    ("result", "is_one"),
    [
        ({"status_code": 400, "text": "no"}, True),
        ({"status": 503}, True),
        (json.dumps({"status": 400, "detail": "no"}), True),
        (httpx2.Response(404, text="gone"), True),
        (httpx2.Response(200, text="fine"), False),
        ({"status": "error"}, False),
        ({"status": True}, False),
        ("400 issues found", False),
        ('{"status": 400', False),
        (None, False),
    ],
)
def test_a_status_in_the_result_is_a_refusal(result, is_one):
    """A result that is an HTTP answer with an error status is refused, and nothing else is."""

    def find(jql: str) -> Any:
        """Finds."""
        return result

    shown = mended(find).run("x")

    assert ("From the reference" in str(shown)) is is_one
    assert is_one or shown == result


def test_a_predicate_says_what_a_refusal_is():
    """`is_error` recognises refusals that look like results."""

    def find(jql: str) -> str:
        """Finds."""
        return "ERROR equality is one sign" if "==" in jql else "LCA-7"

    guided = mended(find, is_error=lambda result: result.startswith("ERROR"))

    assert "JQL > Operators" in guided.run("a == b")
    assert guided.run("a = b") == "LCA-7"


def test_an_error_the_tool_words_itself_is_a_refusal():
    """What a tool makes of its own ToolException is what the API said."""

    def find(jql: str) -> str:
        """Finds."""
        raise ToolException("raw")

    worded = tool(find)
    worded.handle_tool_error = lambda error: f"worded: equality ({error})"

    assert "find failed: worded: equality (raw)" in with_reference(worded, MANUAL, cache=None).run(
        "x"
    )


def test_wrong_arguments_are_a_refusal():
    """Arguments that do not fit the schema are told with the sections, not raised."""

    class Query(BaseModel):
        jql: str
        limit: int

    @tool(args_schema=Query)
    def find(jql: str, limit: int) -> str:
        """Finds."""
        return "never"

    shown = with_reference(find, MANUAL, k=1, cache=None).run({"jql": "a == b", "limit": "many"})

    assert "find failed: limit: Input should be a valid integer" in shown
    assert 'Its input was: {"jql": "a == b", "limit": "many"}' in shown


def test_an_interrupt_of_langgraph_goes_its_way():
    """Control flow is raised again: a graph can be interrupted inside the tool."""
    from langgraph.errors import GraphInterrupt

    def find(jql: str) -> str:
        """Finds."""
        raise GraphInterrupt

    with pytest.raises(GraphInterrupt):
        mended(find).run("x")


def test_a_cancelled_call_stays_cancelled():
    """Cancellation is no refusal."""

    @tool
    async def find(jql: str) -> str:
        """Finds."""
        raise asyncio.CancelledError

    async def call() -> None:
        await with_reference(find, MANUAL, cache=None).ainvoke("x")

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(call())


# -- what a tool keeps --------------------------------------------------------------------------


def test_the_tool_keeps_what_it_was():
    """Name, description, schema and kind are the tool's own, and the tool itself is untouched."""

    @tool
    def find_issues(jql: str, limit: int = 3) -> str:
        """Finds issues."""
        raise ValueError("no")

    guided = with_reference(find_issues, MANUAL, cache=None)

    assert isinstance(guided, type(find_issues))
    assert (guided.name, guided.description) == (find_issues.name, find_issues.description)
    assert guided.args == find_issues.args
    assert guided.tool_call_schema.model_json_schema()["properties"].keys() == {"jql", "limit"}
    with pytest.raises(ValueError, match="no"):
        find_issues.run({"jql": "x"})


def test_artifacts_and_injected_arguments_are_kept():
    """The artifact of a success travels on; what LangChain injects is not shown as input."""

    @tool(response_format="content_and_artifact")
    def find(jql: str, call_id: Annotated[str, InjectedToolCallId]) -> tuple[str, list[str]]:
        """Finds."""
        if "==" in jql:
            raise ValueError("equality")
        return "found", [call_id]

    guided = with_reference(find, MANUAL, cache=None)
    call = {"name": "find", "id": "call_1", "type": "tool_call"}
    good = guided.invoke({**call, "args": {"jql": "a = b"}})
    bad = guided.invoke({**call, "args": {"jql": "a == b"}})

    assert (good.content, good.artifact, good.status) == ("found", ["call_1"], "success")
    assert bad.status == "error"
    assert "Its input was: a == b\n" in bad.content


def test_listeners_hear_what_the_model_reads():
    """A tracer is told the whole observation as the end of the tool, not an error."""
    from langchain_core.callbacks import BaseCallbackHandler

    heard: list[Any] = []

    class Listener(BaseCallbackHandler):
        def on_tool_end(self, output: Any, **_: Any) -> None:
            heard.append(str(output))

        def on_tool_error(self, error: BaseException, **_: Any) -> None:
            heard.append(error)

    shown = Engine().tool().run("a == b", callbacks=[Listener()])

    assert heard == [shown]


def test_an_asynchronous_tool_needs_no_synchronous_form():
    """A tool with only a coroutine is guided, too."""

    @tool
    async def find(jql: str) -> str:
        """Finds."""
        raise ValueError("equality")

    shown = asyncio.run(with_reference(find, MANUAL, k=1, cache=None).ainvoke("a == b"))

    assert "JQL > Operators" in shown


# -- under every executor -----------------------------------------------------------------------

WRONG = 'Thought: I ask.\nAction: find_issues\nAction Input: status == "Done"'
RIGHT = "Thought: One sign.\nAction: find_issues\nAction Input: status = Done"
END = "Thought: I know.\nFinal Answer: LCA-7"


@pytest.mark.parametrize("how", ["wrapped", "middleware"])
def test_a_call_that_cannot_be_made_is_no_refusal_of_the_api(how):
    """A synchronous call of a tool that is only asynchronous is a mistake no model can mend."""
    from langchain.agents import create_agent

    @tool
    async def find_issues(jql: str) -> str:
        """Finds issues."""
        return jql

    call = {"name": "find_issues", "args": {"jql": "x"}, "id": "1"}
    model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "I see."])
    if how == "wrapped":
        agent = create_agent(model, [with_reference(find_issues, MANUAL, cache=None)])
    else:
        agent = create_agent(
            model, [find_issues], middleware=[reference_middleware(MANUAL, cache=None)]
        )

    with pytest.raises(NotImplementedError, match="does not support sync"):
        agent.invoke({"messages": [("user", "?")]})


@pytest.mark.parametrize("executor", [StockExecutor, AgentExecutor])
def test_the_second_prompt_holds_the_section_under_an_executor(executor):
    """Under stock's executor and ours the model reads the section, corrects itself and answers."""
    engine = Engine()
    llm = ScriptedLLM([WRONG, RIGHT, END])
    guided = engine.tool()
    agent = ReActAgent.from_llm_and_tools(llm, [guided])
    answer = executor(agent=agent, tools=[guided]).invoke({"input": "What is done?"})

    assert "Equality is one sign" not in llm.prompts[0]
    assert "Equality is one sign" in llm.prompts[1]
    assert "(refusal 1 of 5)" in llm.prompts[1]
    assert answer["output"] == "LCA-7"


def tool_call(jql: str, number: int) -> AIMessage:
    """Return a model's call of the tool."""
    call = {"name": "find_issues", "args": {"jql": jql}, "id": f"call_{number}"}
    return AIMessage("", tool_calls=[call])


@pytest.mark.parametrize("how", ["wrapped", "middleware"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_create_agent_reads_the_section(how, asynchronous):
    """Under `create_agent`, wrapped or by middleware, the second prompt holds the section."""
    from langchain.agents import create_agent

    engine = Engine()

    @tool
    def find_issues(jql: str) -> str:
        """Finds issues."""
        return engine.find(jql)

    model = ScriptedChatModel([tool_call("a == b", 1), tool_call("a = b", 2), AIMessage("LCA-7")])
    if how == "wrapped":
        agent = create_agent(model, [with_reference(find_issues, MANUAL, k=1, cache=None)])
    else:
        middleware = reference_middleware(MANUAL, k=1, cache=None)
        agent = create_agent(model, [find_issues], middleware=[middleware])
    asked = {"messages": [("user", "What is done?")]}
    state = asyncio.run(agent.ainvoke(asked)) if asynchronous else agent.invoke(asked)
    refusal, success = (m for m in state["messages"] if isinstance(m, ToolMessage))

    assert refusal.status == "error"
    assert "(refusal 1 of 5)" in refusal.content
    assert "Equality is one sign" in model.prompts[1][-1].content
    assert success.content == "LCA-7 matches a = b"
    assert state["messages"][-1].content == "LCA-7"


def test_middleware_leaves_other_tools_alone():
    """Only the named tools are guided, and an interrupt passes through the middleware."""
    from langchain.agents import create_agent
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import interrupt

    @tool
    def find_issues(jql: str) -> str:
        """Finds issues."""
        return str(interrupt("May I?"))

    @tool
    def another(jql: str) -> str:
        """Does something else."""
        return jql

    for named in (["find_issues"], ["another"]):
        model = ScriptedChatModel([tool_call("a", 1), AIMessage("done")])
        agent = create_agent(
            model,
            [find_issues, another],
            middleware=[reference_middleware(MANUAL, tools=named, cache=None)],
            checkpointer=InMemorySaver(),
        )
        config: Any = {"configurable": {"thread_id": "1"}}
        state = agent.invoke({"messages": [("user", "Go")]}, config)

        assert state["__interrupt__"][0].value == "May I?"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_middleware_says_which_tools_there_are_not(asynchronous):
    """A name that none of the model's tools has is said once, with the one that was meant."""
    from langchain.agents import create_agent

    @tool
    def find_issues(jql: str) -> str:
        """Finds issues."""
        return jql

    model = ScriptedChatModel([tool_call("a", 1), AIMessage("done")])
    named = ["find_issue", "zzz", "find_issues"]
    guide = reference_middleware(MANUAL, tools=named, cache=None)
    agent = create_agent(model, [find_issues], middleware=[guide])
    asked: Any = {"messages": [("user", "Go")]}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        asyncio.run(agent.ainvoke(asked)) if asynchronous else agent.invoke(asked)

    said = [str(warning.message) for warning in heard]
    said = [words for words in said if "reference_middleware" in words]
    assert [words.partition("; ")[2] for words in said] == [
        "did you mean 'find_issues'?",
        "it has: find_issues.",
    ]


def test_middleware_can_describe_the_tools():
    """With "always" the tools that the model sees carry the reference."""
    from langchain.agents import create_agent

    model = ScriptedChatModel([AIMessage("done")])
    middleware = reference_middleware(MANUAL, when="always", cache=None)
    create_agent(model, [Engine().tool()], middleware=[middleware]).invoke(
        {"messages": [("user", "Go")]}
    )

    assert "Equality is one sign" in json.dumps(model.calls[0]["tools"])


@pytest.mark.parametrize("how", ["wrapped", "middleware"])
def test_attempts_are_capped_in_a_run_and_forgotten_in_the_next(how):
    """After the last attempt the tool is not called again in this run, but in the next turn."""
    from langchain.agents import create_agent
    from langgraph.checkpoint.memory import InMemorySaver

    engine = Engine()

    @tool
    def find_issues(jql: str) -> str:
        """Finds issues."""
        return engine.find(jql)

    turns = [
        reply
        for first in (0, 4)
        for reply in (
            *(tool_call(f"{n} == 1", n) for n in range(first, first + 4)),
            AIMessage("not found"),
        )
    ]
    options: Any = {"k": 1, "cache": None, "max_attempts": 2}
    tools = [with_reference(find_issues, MANUAL, **options) if how == "wrapped" else find_issues]
    middleware = [] if how == "wrapped" else [reference_middleware(MANUAL, **options)]
    agent = create_agent(
        ScriptedChatModel(turns),
        tools,
        middleware=middleware,
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "one"}}
    state = agent.invoke({"messages": [("user", "Go")]}, config)
    said = [message.content for message in state["messages"] if isinstance(message, ToolMessage)]

    assert len(engine.asked) == 2
    assert "will not be called again in this run" in said[1]
    assert said[2].startswith("find_issues was not called: it failed 2 times in a row.")

    agent.invoke({"messages": [("user", "Again")]}, config)

    assert len(engine.asked) == 4


def test_a_success_begins_a_new_count():
    """Refusals are counted in a row, not over a run."""
    engine = Engine()
    steps = [step.replace("Done", name) for name in "abc" for step in (WRONG, RIGHT)]
    llm = ScriptedLLM([*steps, END])
    guided = engine.tool(max_attempts=2)
    agent = ReActAgent.from_llm_and_tools(llm, [guided])
    AgentExecutor(agent=agent, tools=[guided], max_iterations=9).invoke({"input": "Go"})

    assert "(refusal 2 of 2)" not in llm.prompts[-1]
    assert len(engine.asked) == 6


# -- the index ----------------------------------------------------------------------------------


class Counting(Embeddings):
    """Embeddings that count how many texts they were given."""

    model = "counting"

    def __init__(self) -> None:
        self.documents = 0
        self._inner = HashingEmbeddings(64)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.documents += len(texts)
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        return self._inner.embed_query(text)


def test_the_reference_is_indexed_once(tmp_path):
    """Neither a second question nor a second tool over the same text embeds it again."""
    first, second = Counting(), Counting()
    guided = Engine().tool(cache=tmp_path, embedding=first)
    assert first.documents == 0

    guided.run("a == b")
    guided.run("b == c")
    assert first.documents == 3

    assert "JQL > Operators" in Engine().tool(cache=tmp_path, embedding=second).run("a == b")
    assert second.documents == 0


def test_another_embedding_has_another_index(tmp_path):
    """Vectors of two models are never mixed in one index."""
    Engine().tool(cache=tmp_path).run("a == b")
    Engine().tool(cache=tmp_path, embedding=HashingEmbeddings(64)).run("a == b")

    assert len([folder for folder in tmp_path.iterdir() if folder.is_dir()]) == 2


def test_models_of_one_class_have_indexes_of_their_own(tmp_path):
    """Two models of HuggingFace, say, are told apart as the store tells them apart."""

    class Named(HashingEmbeddings):
        def __init__(self, model_name: str, dimension: int) -> None:
            super().__init__(dimension)
            self.model_name = model_name

        model = None

    for embedding in (Named("small", 64), Named("large", 128)):
        shown = Engine().tool(cache=tmp_path, embedding=embedding).run("a == b")
        assert "JQL > Operators" in shown


def test_a_damaged_index_is_made_again(tmp_path):
    """A cache that was cut off does not take the reference away; what is wrong is warned of."""
    Engine().tool(cache=tmp_path).run("a == b")
    for file in tmp_path.rglob("*"):
        if file.is_file():
            file.write_bytes(b"garbage")

    with pytest.warns(UserWarning, match="indexed in memory"):
        shown = Engine().tool(cache=tmp_path).run("a == b")
    assert "JQL > Operators" in shown


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"text": "x", "fetched_at": "soon"}'])
def test_a_damaged_page_is_fetched_again(tmp_path, damage, monkeypatch):
    """What was kept of an address and cannot be read is no reason to have no reference."""
    monkeypatch.setattr(_manual, "_fetched", lambda _: "# A\nfresh words")
    manual("https://example.org/r", cache=tmp_path).find("words")
    for file in tmp_path.glob("*.json"):
        file.write_text(damage)

    assert (
        "fresh words"
        in manual("https://example.org/r", cache=tmp_path).find("words")[0].page_content
    )


@pytest.mark.parametrize("charset", ["x-unknown", "idna", "hex", "utf-8", None])
def test_an_encoding_that_nobody_knows_is_read_as_utf_8(charset):
    """What a server declares is no reason to have no reference."""
    assert "\u00e9".encode().decode(_manual._known(charset), "replace")


def manual(reference: Any, clock: Any = None, **kwargs: Any) -> Manual:
    """Return a manual of one section per answer."""
    options = {"k": 1, "embedding": None, "cache": None, "max_age": None, **kwargs}
    return Manual(reference, **({"clock": clock} if clock else {}), **options)


def test_files_are_read_again_when_they_are_old(tmp_path):
    """A reference that changed on disk is noticed when its age has passed, not before."""
    file = tmp_path / "manual.md"
    file.write_text("# A\nold words")
    now = [0.0]
    asked = manual(file, lambda: now[0], max_age=60)
    assert "old words" in asked.find("words")[0].page_content

    file.write_text("# A\nnew words")
    now[0] = 59.0
    assert "old words" in asked.find("words")[0].page_content
    now[0] = 60.0
    assert "new words" in asked.find("words")[0].page_content


def test_a_folder_is_read_whole(tmp_path):
    """Markdown, text, reStructuredText and HTML below a folder are read; hidden files are not."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.md").write_text("# Apples\nred")
    (tmp_path / "deep" / "b.rst").write_text("Pears\n=====\n\ngreen\n")
    (tmp_path / "c.html").write_text("<h1>Plums</h1><table><tr><td>blue<td>3</tr></table>")
    (tmp_path / ".d.md").write_text("# Hidden\nsecret")
    found = {
        word: manual(tmp_path).find(word)[0].metadata["section"]
        for word in ("red", "green", "blue")
    }

    assert found == {"red": "Apples", "green": "Pears", "blue": "Plums"}
    assert "secret" not in manual(tmp_path).beginning(1_000)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("", "`reference` is empty"),
        ("no-such-file.md", "`reference` names no-such-file.md, which does not exist"),
        (Path("nowhere"), "`reference` names nowhere, which does not exist"),
        (3, "`reference` is int"),
        ([3], "`reference` is list"),
        ([], "`reference` is an empty list"),
    ],
)
def test_a_reference_that_is_none_is_refused(reference, words):
    """What is no reference is refused at construction, in a sentence that says what to give."""
    with pytest.raises((ValueError, TypeError), match=words):
        manual(reference)


def test_files_without_text_are_refused_when_the_tool_is_made(tmp_path):
    """An empty file or folder is missed at once, not at the first refusal, in front of a model."""
    (tmp_path / "empty.md").touch()
    with pytest.raises(ValueError, match=r"empty\.md, which is empty"):
        manual(tmp_path / "empty.md")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="folder, which holds no"):
        manual(tmp_path / "folder")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"k": 0}, "`k` is 0"),
        ({"max_tokens": 0}, "`max_tokens` is 0"),
        ({"max_attempts": True}, "`max_attempts` is True"),
        ({"when": "sometimes"}, "`when` is 'sometimes'"),
        ({"is_error": 5}, "`is_error` is 5"),
        ({"embedding": "minilm"}, "`embedding` is 'minilm'"),
        ({"cache": 5}, "`cache` is 5"),
        ({"max_age": -1}, "`max_age` is -1"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(given, words):
    """A wrong argument is refused at construction, by name."""
    with pytest.raises((ValueError, TypeError), match=words):
        Engine().tool(**given)


def test_what_is_no_tool_or_ends_the_run_is_refused():
    """A function and a tool that returns directly are refused with what to do."""
    with pytest.raises(TypeError, match="`tool` is function; give a LangChain tool"):
        with_reference(Engine().find.__func__, MANUAL)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="return_direct=True"):
        with_reference(tool(return_direct=True)(client_error), MANUAL)


def test_a_retriever_has_no_beginning():
    """A retriever cannot be put into a description, and the sentence says what can."""
    store = manual(MANUAL)._indexed()

    assert "Operators" in with_reference(Engine().tool(), store, k=1).run("a == b")
    with pytest.raises(ValueError, match="a retriever has only passages"):
        with_reference(Engine().tool(), store.as_retriever(), when="both")


def test_a_cache_that_cannot_be_written_is_refused(tmp_path):
    """A cache that is a file is refused with what to give instead."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="`cache` cannot be kept in"):
        Engine().tool(cache=tmp_path / "file" / "below")


# -- cutting ------------------------------------------------------------------------------------


def test_headings_of_three_kinds_are_found():
    """Markdown, wiki and underlined headings give the way to a section."""
    ways = [
        [section.path for section in cut(text)]
        for text in ("# A\n## B\nx", "= A =\n== B ==\nx", "A\n===\n\nB\n---\n\nx")
    ]

    assert ways == [[("A", "B")]] * 3


def test_code_is_not_cut():
    """A comment in a fenced block is no heading, and a blank line in it no paragraph's end."""
    (section,) = cut("# A\n```\n# no heading\n\nx\n```\n", max_tokens=6)

    assert section.text == "```\n# no heading\n\nx\n```"


@given(st.lists(st.text("ab\n #=-`", max_size=20), max_size=20))
def test_no_word_is_lost_in_cutting(lines):
    """Every letter of a reference is in a section or in the way to one that has text."""
    text = "\n".join(lines)
    sections = cut(text, max_tokens=50)
    kept = " ".join(" ".join((*section.path, section.text)) for section in sections)
    body = [word for section in sections for word in section.text.split()]

    assert set(body) <= set(text.split())
    assert all(section.text.strip() for section in sections)
    assert len(kept) >= len("".join(body))
