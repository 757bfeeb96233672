"""Runs to be recorded, shown and replayed: long, failed, Japanese and hostile."""

import contextlib
from typing import Any

from langchain_core.tools import Tool

from langchain_custom_agents import AgentExecutor, ReActAgent, TextDocstore, docstore_tools
from langchain_custom_agents.dialects import JAPANESE
from langchain_custom_agents.records import Recorder, RunRecord
from langchain_custom_agents.testing import ScriptedLLM

HOSTILE = (
    "<script>document.title='taken'</script>"
    "<img src=x onerror=\"document.title='taken'\">"
    "</pre></details>&amp;<b>bold</b> \x1b[2J\x1b]0;taken\x07 "
    "\u202egnp.exe\u2066 \u200f\u200e\u061c "
    "javascript:alert(1) {{7*7}} \ud800"
)

CITIES = ("Kyoto", "Nara", "Osaka", "Kobe", "Otsu", "Himeji", "Uji", "Suita", "Sakai", "Ikeda")


def recorded(executor: AgentExecutor, question: str) -> RunRecord:
    """Run a question and return its record, whether it failed or not."""
    recorder = Recorder(executor)
    with contextlib.suppress(RuntimeError):
        executor.invoke({"input": question}, {"callbacks": [recorder]})
    return recorder.record


def executor_of(llm: Any, tools: list[Any], **settings: Any) -> AgentExecutor:
    """Make an executor of a ReActAgent."""
    dialect = settings.pop("dialect", None)
    agent = ReActAgent.from_llm_and_tools(llm, tools, dialect=dialect)
    return AgentExecutor(agent=agent, tools=tools, **settings)


def long_run() -> RunRecord:
    """Twelve steps: searches, an invention, a repair, a correction, a failure, the answer."""
    pages = {
        city: f"{city} is a city.\n\n{city} has {n}00,000 people."
        for n, city in enumerate(CITIES, 1)
    }

    def look(city: str) -> str:
        if city == "Sakai":
            msg = "the index does not answer"
            raise ConnectionError(msg)
        return pages.get(city, f"Could not find {city}.")

    said = [f" I look {city} up.\nAction: Search\nAction Input: {city}" for city in CITIES[:-1]]
    said[1] += "\nObservation: Nara has nine million people.\nThought: I know.\nFinal Answer: Nara"
    said[3] = "**Thought:** Kobe is next.\n**Action:** `Search`\n**Action Input:** Kobe"
    said.insert(5, "Action: Serch the web\nAction Input: Himeji")
    said[7] = ' I look again.\n{"action": "Search", "action_input": "Uji"}'
    said += [
        "Thought: One is left.\nAction: Search\nAction Input: Ikeda",
        " I know now.\nFinal Answer: Kyoto to Ikeda have 5,500,000 people.",
    ]
    tools = [Tool("Search", look, "Looks a city up.")]
    return recorded(
        executor_of(ScriptedLLM(said), tools), "How many people live in the ten cities together?"
    )


def failed_run() -> RunRecord:
    """A run that ends with the failure of its model."""
    llm = ScriptedLLM(
        [
            "Action: Search\nAction Input: Takuma",
            RuntimeError("429 Too many requests, key sk-abcdefghijklmnopqrstuvwx"),
        ]
    )
    tools = docstore_tools(TextDocstore({"Takuma": "Takuma is a teacher."}))
    return recorded(executor_of(llm, tools), "What does Takuma do?")


def japanese_run() -> RunRecord:
    """A run in Japanese."""
    llm = ScriptedLLM(
        [
            " 宏子の父を調べます。\n行動: Search\n行動の入力: 宏子\n"
            "観察: 父は医者です。\n最終回答: 医者",
            " 次に琢磨を調べます。\n行動: Search\n行動の入力: 琢磨",
            " わかりました。\n最終回答: 宏子の父の琢磨は教師です。",
        ]
    )
    pages = {"宏子": "宏子の父は琢磨です。", "琢磨": "琢磨は教師です。"}
    return recorded(
        executor_of(llm, docstore_tools(TextDocstore(pages)), dialect=JAPANESE),
        "宏子さんのお父さんの職業は何ですか?",
    )


def hostile_run() -> RunRecord:
    """A run in which every field is hostile."""
    from langchain_custom_agents.records import CallRecord, StepRecord, ToolRecord

    call = CallRecord(
        tool=HOSTILE,
        input={HOSTILE: HOSTILE},
        observation=HOSTILE,
        artifact=[HOSTILE],
        sources=[{"title": HOSTILE, HOSTILE: HOSTILE}],
        error=HOSTILE,
    )
    step = StepRecord(
        prompt=HOSTILE,
        raw=HOSTILE + HOSTILE,
        tool_calls=[{"name": HOSTILE, "args": {HOSTILE: HOSTILE}, "id": HOSTILE}],
        thought=HOSTILE,
        cut=HOSTILE,
        repairs=[HOSTILE],
        calls=[call],
        answer=HOSTILE,
        correction=HOSTILE,
        differs=HOSTILE,
        error=HOSTILE,
        model=HOSTILE,
    )
    chat = step.model_copy(
        update={"prompt": [{"role": HOSTILE, "content": HOSTILE, "name": HOSTILE}]}
    )
    return RunRecord(
        inputs={"input": HOSTILE},
        agent=HOSTILE,
        dialect=HOSTILE,
        tools=[ToolRecord(name=HOSTILE, description=HOSTILE)],
        steps=[step, chat],
        answer=HOSTILE,
        why=HOSTILE,
        started=HOSTILE,
    )
