"""What agents make of the same blunders of the same model.

    python -m benchmarks.peers            the table; LlamaIndex if it is installed
    python -m benchmarks.peers --smoke    LangChain's and ours, held against docs/peers.md

Right: the answer is what the tool said ("+1": the model was asked once more than without the
blunder). Invented: the answer is what the model made up. Wrong: any other answer. A crash is
named. Loops: the model was asked more than twelve times. The last row is the outcome of ten runs.
"""

import argparse
import asyncio
import contextlib
import importlib.util
import inspect
import io
import logging
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path

from benchmarks.peers.killed import killed_and_resumed
from benchmarks.peers.peers import PEERS, Given
from benchmarks.peers.situations import QUESTION, SITUATIONS, LoopedError, outcome, scene

ROOT = Path(__file__).parents[2]
KILLED = "killed by SIGKILL between two tools, and resumed"


def met(peer, situation):
    """Put a peer into a situation, and name what comes of it."""
    model, tool = scene(situation, peer.form)
    tools = [Given("Timetable", inspect.getdoc(type(tool).__call__), tool.__call__)]
    setting = {"stop": situation.stop, "japanese": situation.japanese}
    hushed = io.StringIO()
    try:
        with contextlib.redirect_stdout(hushed), contextlib.redirect_stderr(hushed):
            answer = asyncio.run(peer.run(model, tools, QUESTION, **setting))
    except Exception as error:
        causes = [error, error.__cause__, error.__context__]
        if any(isinstance(cause, LoopedError) for cause in causes):
            return "loops"
        return f"crash: `{type(error).__name__}`"
    return outcome(model, answer)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true", help="without LlamaIndex; against the docs")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    peers = [peer for peer in PEERS if importlib.util.find_spec(peer.package)]
    if args.smoke:
        peers = [peer for peer in peers if peer.package != "llama_index"]
    rows = [["the model or its tool", *(peer.name for peer in peers)], ["---"] * (len(peers) + 1)]
    rows += [[each.name, *(met(peer, each) for peer in peers)] for each in SITUATIONS]
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        times = 1 if args.smoke else 10
        rows.append([KILLED, *(killed_and_resumed(peer.name, where, times) for peer in peers)])
    for row in rows:
        print(f"| {' | '.join(row)} |")
    shown = {"langchain": "langchain", "langchain_classic": "langchain-classic"}
    shown["llama_index"] = "llama-index-core"
    print()
    packages = dict.fromkeys(shown[peer.package] for peer in peers)
    print(", ".join(f"{package} {version(package)}" for package in packages))
    if args.smoke and (wrong := differences(rows)):
        sys.exit("\n".join(["docs/peers.md says otherwise:", *wrong]))


def differences(rows):
    """Compare the table with the one in the documentation, where they have the same columns."""
    lines = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8").splitlines()
    written = [[cell.strip() for cell in line.split(" | ")] for line in lines if " | " in line]
    written = [[row[0].lstrip("| "), *row[1:-1], row[-1].rstrip("| ")] for row in written]
    head = next(row for row in written if row[0] == rows[0][0])
    said = {row[0]: dict(zip(head, row, strict=True)) for row in written if len(row) == len(head)}
    return [
        f"{row[0]}: {column} is {cell}, not {said.get(row[0], {}).get(column)}"
        for row in rows[2:]
        for column, cell in zip(rows[0], row, strict=True)
        if said.get(row[0], {}).get(column) != cell
    ]


if __name__ == "__main__":
    main()
