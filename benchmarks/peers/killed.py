"""A run of two tools that is killed in the second, and what each agent can do about it.

The second tool kills its own process with SIGKILL the first time it is called. A new process then
resumes the run where the agent offers that, and asks again where it does not.
"""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

from benchmarks.peers.peers import PEERS, Given, PlainChat, _structured, llama_index_agent
from benchmarks.peers.situations import FINAL_ANSWER

QUESTION = "Book a ferry and a room in Innoshima."


class Booker:
    """The model: first the ferry, then the room, then the answer."""

    def __init__(self, form):
        self.form = form

    def __call__(self, heard):
        """Say the next reply."""
        if "Ferry is booked" not in heard:
            return self.form.act("Ferry")
        if "Room is booked" not in heard:
            return self.form.act("Room")
        return self.form.finish("booked")


def tools_in(folder):
    """Make the two tools; what they do is noted in a file."""

    def book(what, town):
        first = not (folder / "killed").exists()
        if what == "Room" and first:
            (folder / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        with (folder / "booked").open("a") as file:
            file.write(f"{what}\n")
        return f"{what} is booked for {town}."

    def ferry(town: str) -> str:
        """Book a ferry to a town."""
        return book("Ferry", town)

    def room(town: str) -> str:
        """Book a room in a town."""
        return book("Room", town)

    return [Given("Ferry", ferry.__doc__, ferry), Given("Room", room.__doc__, room)]


def checkpointed(folder, *, ours):
    """Run or resume create_agent over SQLite."""
    from langchain.agents import create_agent
    from langgraph.checkpoint.sqlite import SqliteSaver

    from langchain_custom_agents import with_tool_calling

    model = PlainChat(says=Booker(FINAL_ANSWER))
    with SqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver:
        agent = create_agent(
            with_tool_calling(model) if ours else model,
            _structured(tools_in(folder)),
            checkpointer=saver,
        )
        config = {"configurable": {"thread_id": "1"}}
        begun = agent.get_state(config).created_at is not None
        asked = None if begun else {"messages": [("user", QUESTION)]}
        return agent.invoke(asked, config, durability="sync")["messages"][-1].text


async def with_saved_context(folder, form):
    """Run or resume LlamaIndex's agent; its context and memory are written at every event."""
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import ChatMemoryBuffer
    from llama_index.core.workflow import Context

    def memory_of(messages):
        history = [ChatMessage(role=role, content=content) for role, content in messages]
        return ChatMemoryBuffer.from_defaults(chat_history=history, token_limit=4_000)

    agent, saved = llama_index_agent(Booker(form), tools_in(folder)), folder / "saved.json"
    if saved.exists():
        written = json.loads(saved.read_text())
        context = Context.from_dict(agent, written["context"])
        running = agent.run(ctx=context)
        # Memory is not part of a written context: it has to be put back by hand.
        await running.ctx.store.set("memory", memory_of(written["memory"]))
        return str(await running)
    context, memory = Context(agent), memory_of([])
    running = agent.run(user_msg=QUESTION, memory=memory, ctx=context)
    async for _ in running.stream_events():
        messages = [(message.role.value, message.content) for message in memory.get_all()]
        written = {"context": running.ctx.to_dict(), "memory": messages}
        (folder / "saved.new").write_text(json.dumps(written))
        (folder / "saved.new").replace(saved)
    return str(await running)


def main():
    """Run or resume one agent."""
    warnings.simplefilter("ignore")
    name, folder = sys.argv[1], Path(sys.argv[2])
    (peer,) = (peer for peer in PEERS if peer.name == name)
    if name.startswith("`create_agent`"):
        answer = checkpointed(folder, ours="ours" in name)
    elif peer.package == "llama_index":
        answer = asyncio.run(with_saved_context(folder, peer.form))
    else:
        answer = asyncio.run(peer.run(Booker(peer.form), tools_in(folder), QUESTION))
    print(f"answer: {answer}")


def killed_and_resumed(name, folder, times=1):
    """Kill and resume an agent so many times, and name what comes of it."""
    found = Counter(
        _once(name, folder / f"{re.sub(r'[^a-z]', '', name)}-{n}") for n in range(times)
    )
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{what} ({count} of {times})" for what, count in found.most_common())


def _once(name, folder):
    folder.mkdir()
    command = [sys.executable, "-m", "benchmarks.peers.killed", name, str(folder)]
    for expected in (-signal.SIGKILL, 0):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode != expected:
            error = re.findall(r"^([\w.]+)(?::|$)", done.stderr, re.MULTILINE)
            return f"crash: `{error[-1].rpartition('.')[2] if error else done.returncode}`"
    if "booked" not in done.stdout:
        return "wrong"
    booked = Counter((folder / "booked").read_text().split())
    again = [what.lower() for what, count in booked.items() if count > 1]
    return f"right, but booked the {' and the '.join(again)} twice" if again else "right"


if __name__ == "__main__":
    main()
