"""Measure how `lca ask --docs` should read: as pages (Search and Lookup) or as passages.

The texts and the questions are those of `benchmarks/extractive`: what Python says about itself,
not written for this package. The reading is the command line's own, the model its stand-in.

    python benchmarks/docs_option/measure.py
"""

import importlib.util
import json
import tempfile
import time
import warnings
from pathlib import Path

from langchain_custom_agents import AgentExecutor, FAISSStore, FolderDocstore, docstore_tools
from langchain_custom_agents.agents.types import make_agent
from langchain_custom_agents.cli.documents import files_in, read, split
from langchain_custom_agents.cli.names import TEXT
from langchain_custom_agents.offline import ExtractiveLLM, HashingEmbeddings
from langchain_custom_agents.tools.retriever import retriever_tool

EXTRACTIVE = Path(__file__).parents[1] / "extractive"


def score_module():
    """Load the sibling benchmark, whose texts and marks are used here."""
    spec = importlib.util.spec_from_file_location("score", EXTRACTIVE / "score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ways(folder: Path):
    """Yield each way of reading: its name, its agent type and its tools."""
    yield "pages", "react-docstore", docstore_tools(FolderDocstore(folder))
    documents = [document for file in files_in([folder], TEXT) if (document := read(file))]
    for size in (500, 1000, 2000):
        pieces = [piece for document in documents for piece in split(document, size, size // 10)]
        for kind in ("dense", "keyword", "hybrid"):
            store = FAISSStore(HashingEmbeddings(), search_type=kind)
            store.add_documents(pieces)
            for k in (4, 8):
                name = f"passages of {size}, {kind}, k={k}"
                yield name, "zero-shot-react-description", [retriever_tool(store, k=k)]


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    score = score_module()
    lines = (EXTRACTIVE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    print("| how | answered rightly | refused rightly | wrong | refused wrongly | s |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        score.write_texts(Path(name))
        for how, kind, tools in ways(Path(name)):
            counts = dict.fromkeys(("right", "refused", "wrong", "refused wrongly"), 0)
            executor = AgentExecutor(agent=make_agent(kind, ExtractiveLLM(), tools), tools=tools)
            began = time.perf_counter()
            for question in questions:
                answer = executor.invoke({"input": question["question"]})["output"]
                known = not question.get("unanswerable")
                if score.is_right(question, answer):
                    counts["right" if known else "refused"] += 1
                elif known and answer == score.UNKNOWN:
                    counts["refused wrongly"] += 1
                else:
                    counts["wrong"] += 1
            took = time.perf_counter() - began
            print(f"| {how} | {' | '.join(map(str, counts.values()))} | {took:.1f} |", flush=True)


if __name__ == "__main__":
    main()
