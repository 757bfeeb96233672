"""`lca demo`: one model's recorded words, through LangChain's agent and through ours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from langchain_custom_agents._counted import counted

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from rich.text import Text

_WIDE = 100

_RECORDED = (
    "the model's words. text-davinci-003 said them in 2023, and nothing stopped it where a tool "
    "had to be called."
)
_LIVE = (
    "both agents, their executors and the search in the five sentences, here and now. No key, no "
    "network."
)


@dataclass(frozen=True)
class Side:
    """What one agent did.

    Args:
        title: Which agent it is.
        lines: What happened, ready to print.
        searches: How often the search was called.
        cuts: How often invented words were cut.
        answer: What it answered.
    """

    title: str
    lines: Sequence["Text"]
    searches: int
    cuts: int
    answer: str


@click.command()
def demo() -> None:
    """Watch an agent invent its evidence, and ours search instead.

    The words that a real model said go through LangChain's own agent and through ours. Nothing
    is asked of you: no key, no network.
    """
    from langchain_custom_agents.cli.drama import QUESTION, sentences
    from langchain_custom_agents.cli.show import console, line

    screen = console()
    screen.print(line("question", QUESTION))
    screen.print(line("note", "; ".join(sentences()), label="What the search can find"))
    screen.print(line("note", _RECORDED, label="Recorded"))
    screen.print(line("note", _LIVE, label="Live"))
    screen.print()
    tool = _search()
    sides = (_stock(tool), _ours(tool))
    if screen.is_terminal and screen.width >= _WIDE:
        screen.print(_beside(sides), soft_wrap=False)
    else:
        for side in sides:
            screen.print(line("question", side.title, label=""))
            for text in side.lines:
                screen.print(text)
            screen.print()
    for side in sides:
        screen.print(line("note", _sum(side), label=side.title))
    screen.print(line("answer", sides[1].answer))


def _search() -> "BaseTool":
    from langchain_custom_agents.cli.drama import sentences
    from langchain_custom_agents.offline import HashingEmbeddings
    from langchain_custom_agents.tools.retriever import retriever_tool
    from langchain_custom_agents.vectorstores.faiss import FAISSStore

    store = FAISSStore.from_texts(sentences(), HashingEmbeddings())
    return retriever_tool(store, k=1, name="Search")


def _stock(tool: "BaseTool") -> Side:
    """Run LangChain's agent, built as in the tutorial."""
    from langchain_custom_agents.cli.stock import tutorial_executor

    return _run("LangChain's LLMSingleActionAgent", tool, tutorial_executor, dialect=None)


def _ours(tool: "BaseTool") -> Side:
    """Run our agent."""
    from langchain_custom_agents.agents.executor import AgentExecutor
    from langchain_custom_agents.agents.react import ReActAgent
    from langchain_custom_agents.dialects import ENGLISH

    def executor(llm: Any, tool: "BaseTool") -> AgentExecutor:
        # A stream would be closed where the model invents; here all that it said is to be seen.
        agent = ReActAgent.from_llm_and_tools(llm, [tool], streaming=False)
        return AgentExecutor(agent=agent, tools=[tool])

    return _run("langchain-custom-agents' ReActAgent", tool, executor, dialect=ENGLISH)


def _run(title: str, tool: "BaseTool", executor: Any, dialect: Any) -> Side:
    from langchain_custom_agents.cli.drama import QUESTION, RECORDED
    from langchain_custom_agents.cli.show import line
    from langchain_custom_agents.cli.steps import Steps
    from langchain_custom_agents.dialects import Toolbox
    from langchain_custom_agents.testing import ScriptedLLM

    lines: list[Text] = []

    def tell(kind: str, text: str, label: str | None = None) -> None:
        lines.append(line(kind, text, label=label))

    # The scripted model ignores stop sequences: the words come as they were recorded.
    llm = ScriptedLLM(RECORDED)
    steps = Steps(tell, dialect, Toolbox.of([tool]), tell_words=True)
    answer = executor(llm, tool).invoke({"input": QUESTION}, {"callbacks": [steps]})["output"]
    tell("answer", answer)
    searches = [step for step in steps.taken if step.get("observation") is not None]
    cuts = [step for step in steps.taken if step.get("cut")]
    return Side(title, lines, len(searches), len(cuts), answer)


def _sum(side: Side) -> str:
    searched = counted(side.searches, "search", "searches")
    cut = f"{counted(side.cuts, 'invention')} cut"
    return f"{searched}, {cut}: {side.answer}"


def _beside(sides: Sequence[Side]) -> Any:
    """Put the two sides beside each other."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*(side.title for side in sides), expand=True, show_lines=False)
    for column in table.columns:
        column.ratio = 1
    table.add_row(*(Text("\n").join(side.lines) for side in sides))
    return table
