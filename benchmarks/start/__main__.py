"""What it costs to start: importing the package and its names, and the command line.

    python -m benchmarks.start [--smoke]

CPU seconds of a fresh interpreter, the least of several, taken in turns so that the comparison
holds on a noisy machine.
"""

import argparse
import os
import subprocess
import sys

PROGRAMS = {
    "bare Python": ["-c", "pass"],
    "import langchain_custom_agents": ["-c", "import langchain_custom_agents"],
    "its dialects": ["-c", "import langchain_custom_agents.dialects"],
    "its ReActAgent": ["-c", "from langchain_custom_agents import ReActAgent"],
    "its initialize_agent": ["-c", "from langchain_custom_agents import initialize_agent"],
    "stock: langchain_core llms and tools": [
        "-c",
        "import langchain_core.language_models.llms, langchain_core.tools",
    ],
    "stock: langchain_classic.agents": ["-c", "import langchain_classic.agents"],
    "stock: langchain_classic initialize_agent": [
        "-c",
        "from langchain_classic.agents import initialize_agent",
    ],
    "stock: langchain.agents.create_agent": ["-c", "from langchain.agents import create_agent"],
    "lca --version": ["-m", "langchain_custom_agents.cli", "--version"],
    "lca --help": ["-m", "langchain_custom_agents.cli", "--help"],
    "lca agents": ["-m", "langchain_custom_agents.cli", "agents"],
    "lca demo": ["-m", "langchain_custom_agents.cli", "demo"],
}


def cpu(arguments):
    """Return the CPU seconds that a fresh interpreter takes."""
    before = os.times()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def main():
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="once each: only shows it works")
    rounds = 1 if parser.parse_args().smoke else 7
    for arguments in PROGRAMS.values():  # once for the compiled files
        cpu(arguments)
    least = dict.fromkeys(PROGRAMS, float("inf"))
    for _ in range(rounds):
        for name, arguments in PROGRAMS.items():
            least[name] = min(least[name], cpu(arguments))
    bare = least["bare Python"]
    print("| | CPU seconds | over bare Python |\n|---|---|---|")
    for name, seconds in least.items():
        print(f"| {name} | {seconds:.2f} | {seconds - bare:.2f} |")


if __name__ == "__main__":
    main()
