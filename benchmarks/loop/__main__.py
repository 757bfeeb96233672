"""Framework overhead of a run: a model and a tool that answer at once.

    python -m benchmarks.loop [--smoke]

CPU per step of stock's AgentExecutor with a LLMSingleActionAgent, and of ours, in one process and
in turns, so that the ratio holds on a noisy machine. Each run's answer is checked.
"""

import argparse
import asyncio
import statistics
import time
import warnings

from langchain_classic.agents import AgentExecutor as StockExecutor
from langchain_classic.agents import AgentOutputParser, LLMSingleActionAgent
from langchain_classic.chains import LLMChain
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.prompts import StringPromptTemplate
from langchain_core.tools import Tool

from langchain_custom_agents import AgentExecutor, ReActAgent
from langchain_custom_agents.testing import ScriptedLLM

TOOLS = [Tool("Search", lambda _: "nothing new", "looks things up")]


class StockPrompt(StringPromptTemplate):
    """A prompt template as LangChain's tutorials write it."""

    def format(self, **kwargs):
        text = f"Question: {kwargs['input']}\n"
        for action, observation in kwargs["intermediate_steps"]:
            text += f"{action.log}\nObservation: {observation}\nThought: "
        return text


class StockParser(AgentOutputParser):
    """An output parser as LangChain's tutorials write it."""

    def parse(self, text):
        if "Final Answer:" in text:
            return AgentFinish({"output": text.split("Final Answer:")[-1].strip()}, text)
        action, _, given = text.partition("Action: ")[2].partition("\nAction Input: ")
        return AgentAction(action, given, text)


def model(steps):
    """Make a model that acts so many times and then answers."""
    acts = [f"I look\nAction: Search\nAction Input: {number}" for number in range(steps)]
    return ScriptedLLM([*acts, "I know\nFinal Answer: 42"], honors_stop=True)


def stock(steps):
    """Make LangChain's executor."""
    chain = LLMChain(
        llm=model(steps), prompt=StockPrompt(input_variables=["input", "intermediate_steps"])
    )
    agent = LLMSingleActionAgent(
        llm_chain=chain, output_parser=StockParser(), stop=["\nObservation:"]
    )
    return StockExecutor(agent=agent, tools=TOOLS, max_iterations=None)


def ours(steps):
    """Make our executor."""
    agent = ReActAgent.from_llm_and_tools(model(steps), TOOLS)
    return AgentExecutor(agent=agent, tools=TOOLS, max_iterations=None)


def cpu_of_run(make, steps):
    """Return the CPU seconds per step of one run."""
    executor = make(steps)
    began = time.process_time()
    result = executor.invoke({"input": "What?"})
    spent = time.process_time() - began
    if result["output"] != "42":
        raise SystemExit(f"{make.__name__} answered {result['output']!r}")
    return spent / steps


def cpu_of_many(make, runs):
    """Return the CPU seconds per run of so many concurrent runs of three steps."""
    executors = [make(3) for _ in range(runs)]

    async def all_at_once():
        return await asyncio.gather(*(each.ainvoke({"input": "What?"}) for each in executors))

    began = time.process_time()
    results = asyncio.run(all_at_once())
    spent = time.process_time() - began
    if any(result["output"] != "42" for result in results):
        raise SystemExit(f"{make.__name__} gave a wrong answer")
    return spent / runs


def main():
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a short run that only shows it works")
    smoke = parser.parse_args().smoke
    warnings.simplefilter("ignore")
    rounds = 2 if smoke else 9
    cases = {
        "10 steps": lambda make: cpu_of_run(make, 10),
        "200 steps": lambda make: cpu_of_run(make, 20 if smoke else 200),
        "1,000 runs at once": lambda make: cpu_of_many(make, 20 if smoke else 1000),
    }
    print("| case | stock, CPU us per step or run | ours / stock |")
    print("|---|---|---|")
    for name, measure in cases.items():
        measure(stock), measure(ours)
        repeats = 1 if name.startswith("1,000") else rounds
        pairs = [(measure(stock), measure(ours)) for _ in range(repeats)]
        ratio = statistics.median(own / other for other, own in pairs)
        base = statistics.median(other for other, _ in pairs) * 1e6
        print(f"| {name} | {base:.0f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
