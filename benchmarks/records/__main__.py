"""What recording costs: CPU of a run of 100 scripted steps with and without a recorder.

    python -m benchmarks.records [--smoke]

Each round measures every case once, forwards or backwards in turn, and holds it against the run
without callbacks of the same round; the median of these ratios counts. "A handler that does
nothing" is what LangChain asks for calling any handler at all. The record is made when somebody
looks at it, so that has a row of its own.
"""

import argparse
import gc
import time
import tracemalloc
import warnings
from statistics import median

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import Tool

from langchain_custom_agents import AgentExecutor, ReActAgent
from langchain_custom_agents.records import Recorder
from langchain_custom_agents.testing import ScriptedLLM

TOOLS = [Tool("Search", lambda query: f"nothing new about {query}", "looks things up")]


def executor(steps):
    """Make an executor whose model acts so many times and then answers."""
    acts = [f" I look\nAction: Search\nAction Input: {number}" for number in range(steps)]
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM([*acts, " I know\nFinal Answer: 42"]), TOOLS)
    return AgentExecutor(agent=agent, tools=TOOLS, max_iterations=None)


def cpu(steps, handlers):
    """Return the CPU seconds of one run."""
    runner = executor(steps)
    gc.collect()
    began = time.process_time()
    result = runner.invoke({"input": "What?"}, {"callbacks": handlers})
    spent = time.process_time() - began
    if result["output"] != "42":
        raise SystemExit(f"It answered {result['output']!r}")
    return spent


def cpu_of_record(steps):
    """Return the CPU seconds that making the record takes."""
    recorder = Recorder(executor(steps))
    recorder.agent.invoke({"input": "What?"}, {"callbacks": [recorder]})
    began = time.process_time()
    record = recorder.record
    spent = time.process_time() - began
    if len(record.calls) != steps:
        raise SystemExit(f"It recorded {len(record.calls)} calls")
    return spent


def memory(steps):
    """Return the bytes that a recorder holds after a run that nobody has looked at."""
    recorder = Recorder()
    runner = executor(steps)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    runner.invoke({"input": "What?"}, {"callbacks": [recorder]})
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return held


def main():
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a short run that only shows it works")
    smoke = parser.parse_args().smoke
    warnings.simplefilter("ignore")
    steps, rounds = (10, 2) if smoke else (100, 51)
    cases = {
        "off": list,
        "a handler that does nothing": lambda: [BaseCallbackHandler()],
        "a recorder": lambda: [Recorder()],
    }
    for make in cases.values():
        cpu(steps, make())
    taken = {name: [] for name in cases}
    for number in range(rounds):
        for name in sorted(cases, reverse=bool(number % 2)):
            taken[name].append(cpu(steps, cases[name]()))
    off = taken["off"]
    print(f"| {steps} steps | CPU, ms | to off |\n|---|---|---|")
    for name, times in taken.items():
        ratio = median(one / base for one, base in zip(times, off, strict=True))
        print(f"| {name} | {median(times) * 1e3:.1f} | {ratio:.3f} |")
    made = median(cpu_of_record(steps) for _ in range(3))
    print(f"| making the record, once | {made * 1e3:.1f} | {made / median(off):.3f} |")
    print(f"\nA recorder holds {memory(steps) / 1e3:.0f} kB after the run.")


if __name__ == "__main__":
    main()
