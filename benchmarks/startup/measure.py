"""Measure how long importing and starting take, beside stock LangChain.

Each line runs in new processes, one after the other in turn, so that a busy moment hits all
alike; the median is shown.

    python benchmarks/startup/measure.py
    python benchmarks/startup/measure.py --smoke     # once each, and checks what must be small
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time

LCA = ["-m", "langchain_custom_agents.cli"]
QUESTION = "What is hiroko's father's occupation?"

LINES = {
    "python": ["-c", "pass"],
    "import langchain_classic.agents (stock)": ["-c", "import langchain_classic.agents"],
    "import langchain_custom_agents": ["-c", "import langchain_custom_agents"],
    "... and AgentExecutor, ReActAgent": [
        "-c",
        "from langchain_custom_agents import AgentExecutor, ReActAgent",
    ],
    "... and docstore_tools, FolderDocstore": [
        "-c",
        "from langchain_custom_agents import docstore_tools, FolderDocstore",
    ],
    "... and FAISSStore": ["-c", "from langchain_custom_agents import FAISSStore"],
    "lca --help": [*LCA, "--help"],
    "lca ask --help": [*LCA, "ask", "--help"],
    "lca demo": [*LCA, "demo"],
    f'lca ask "{QUESTION}"': [*LCA, "ask", QUESTION],
}

_STOCK = "import langchain_classic.agents (stock)"


def run(args: list[str]) -> tuple[float, float, float]:
    """Run a process; return its seconds, its seconds of processor, and its megabytes."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, *args], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(args)} ended with {process.returncode}.")
    took = time.perf_counter() - began
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return took, used.ru_utime + used.ru_stime, used.ru_maxrss / unit


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="how often each is run")
    parser.add_argument("--smoke", action="store_true", help="run each once, and check")
    chosen = parser.parse_args()
    rounds = 1 if chosen.smoke else chosen.rounds
    for args in LINES.values():
        run(args)  # the first time writes byte code
    taken: dict[str, list[tuple[float, float, float]]] = {name: [] for name in LINES}
    for _ in range(rounds):
        for name, args in LINES.items():
            taken[name].append(run(args))
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, median of {rounds}\n")
    print("| what | seconds | of processor | MB |\n|---|---|---|---|")
    medians = {
        name: [statistics.median(values) for values in zip(*runs, strict=True)]
        for name, runs in taken.items()
    }
    for name, (seconds, processor, megabytes) in medians.items():
        print(f"| {name} | {seconds:.2f} | {processor:.2f} | {megabytes:.0f} |")
    if chosen.smoke:
        # Seconds depend on the machine; that nothing of LangChain is loaded shows in both.
        for name in ("import langchain_custom_agents", "lca --help", "lca ask --help"):
            if not all(
                mine < stock for mine, stock in zip(medians[name], medians[_STOCK], strict=True)
            ):
                raise SystemExit(f"{name} is no lighter than {_STOCK}.")


if __name__ == "__main__":
    main()
