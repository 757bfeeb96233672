"""An agent to be killed: it books a ferry and a room, or reads a page, in a process of its own.

    python -m tests.integration_tests.durable.trip '{"store": "sqlite:FILE", "folder": ...}'

Whatever the process does is noted in files of the folder, which outlive it. At a point named by
`hold` it makes the file `held` and waits, so that it is killed at that point and no other. The
final messages are printed as JSON.
"""

import asyncio
import contextlib
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.runnables import ensure_config
from langchain_core.tools import InjectedToolCallId, tool

from langchain_custom_agents import TextDocstore, docstore_tools, with_tool_calling
from langchain_custom_agents.dialects import ENGLISH
from langchain_custom_agents.testing import ScriptedChatModel, ScriptedLLM

BOOK = "Book a ferry to Innoshima and a room there for Hiroko."
BOOKED = "Ferry F-7 and room R-3 are booked for Hiroko."
READ = "Which instrument does Hiroko play?"
HIROKO = "Hiroko lives on Innoshima. She sells boats.\n\nIn the evening she plays the koto."


@dataclass
class Trip:
    """What a process is to do, and how far it may go."""

    store: str
    folder: str
    thread: str = "hiroko"
    question: str | None = None  # None resumes
    hold: str = ""
    durability: str = "sync"
    asynchronous: bool = False
    parallel: bool = False

    @property
    def config(self):
        """The thread of conversation."""
        return {"configurable": {"thread_id": self.thread}}

    def note(self, what):
        """Write a line that outlives the process; lines of several processes do not mix."""
        line = json.dumps([running(), what]) + "\n"
        opened = os.open(Path(self.folder) / "notes", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(opened, line.encode())
        os.close(opened)

    def reach(self, point):
        """Note that a point was reached, and be killed there if it is the one."""
        self.note(point)
        if point == self.hold:
            (Path(self.folder) / f"held-{os.getpid()}").touch()
            while True:
                time.sleep(60)

    def book(self, what, number, key):
        """Book something, once for each key, however often it is asked for."""
        self.reach(f"{what} begins")
        with contextlib.suppress(FileExistsError):
            (Path(self.folder) / f"booked-{running()}-{number}-{key}").touch(exist_ok=False)
        self.reach(f"{what} booked")
        return f"{number} is booked."

    def says(self, prompt):
        """Say the next step: what a model would, that has understood what it was told."""
        heard = str(prompt)
        if READ in heard:
            return self._reads(heard)
        if "Sink" in heard:
            raise RuntimeError("No.")
        if "R-3 is booked" in heard:
            return f"All is booked.\nFinal Answer: {BOOKED}"
        if "F-7 is booked" in heard:
            self.reach("model asked for a room")
            return "Now the room.\nAction: Room\nAction Input: Innoshima"
        return "First the ferry.\nAction: Ferry\nAction Input: Innoshima"

    def _reads(self, heard):
        if "(Result 1/1)" in heard:
            return "She plays the koto.\nFinal Answer: The koto."
        searches = heard.count("lives on Innoshima")
        self.reach(f"model asked after {searches} searches")
        if searches and searches > heard.count("No page is open."):
            return "I look for it.\nAction: Lookup\nAction Input: plays"
        return "I open her page.\nAction: Search\nAction Input: Hiroko"

    def calls(self, messages):
        """Make two calls in one message, then answer: what a model with tool calling may do."""
        if len(messages) > 1:
            return AIMessage(BOOKED)
        calls = [
            {"name": name, "args": {"town": "Innoshima"}, "id": f"call-{name}"}
            for name in ("Ferry", "Room")
        ]
        return AIMessage("", tool_calls=calls)

    def tools(self):
        """Return the tools of the agent."""

        @tool("Ferry")
        def ferry(town: str, key: Annotated[str, InjectedToolCallId]) -> str:
            """Book a ferry to a town."""
            return self.book("ferry", "F-7", key)

        @tool("Room")
        def room(town: str, key: Annotated[str, InjectedToolCallId]) -> str:
            """Book a room in a town."""
            return self.book("room", "R-3", key)

        pages = docstore_tools(TextDocstore({"Hiroko": HIROKO}), search_tokens=12, lookup_tokens=0)
        return [ferry, room, *pages]

    def agent(self, saver):
        """Make the agent over a checkpointer."""
        if self.parallel:
            model = ScriptedChatModel(self.calls)
        else:
            model = with_tool_calling(ScriptedLLM(self.says), dialect=ENGLISH)
        return create_agent(model, self.tools(), checkpointer=saver)

    @property
    def start(self):
        """What the run begins with: nothing, if it is to go on."""
        return {"messages": [("user", self.question)]} if self.question else None

    def run(self):
        """Run or resume, and return the final messages."""
        with saver(self.store) as opened:
            agent = self.agent(opened)
            return agent.invoke(self.start, self.config, durability=self.durability)["messages"]

    async def arun(self):
        """Run or resume asynchronously, and return the final messages."""
        async with asaver(self.store) as opened:
            agent = self.agent(opened)
            state = await agent.ainvoke(self.start, self.config, durability=self.durability)
            return state["messages"]


def running():
    """Return the thread of conversation that runs."""
    return ensure_config()["configurable"]["thread_id"]


def saver(store):
    """Open a checkpointer: "sqlite:FILE" or PostgreSQL's address."""
    kind, _, where = store.partition(":")
    if kind == "sqlite":
        from langgraph.checkpoint.sqlite import SqliteSaver

        return SqliteSaver.from_conn_string(where)
    from langgraph.checkpoint.postgres import PostgresSaver

    return PostgresSaver.from_conn_string(store)


def asaver(store):
    """Open the same checkpointer for asyncio."""
    kind, _, where = store.partition(":")
    if kind == "sqlite":
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        return AsyncSqliteSaver.from_conn_string(where)
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    return AsyncPostgresSaver.from_conn_string(store)


def main():
    """Do what the first argument says."""
    trip = Trip(**json.loads(sys.argv[1]))
    messages = asyncio.run(trip.arun()) if trip.asynchronous else trip.run()
    print(json.dumps([[message.type, str(message.text)] for message in messages]))


if __name__ == "__main__":
    main()
