"""Score the extractive stand-in over texts that were not written for it.

The texts are the language reference and module docstrings that every Python brings along; the
questions beside this file are ours. Each is put to a real agent with the stand-in as its model,
once over a docstore (Search and Lookup) and once over a FAISSStore with HashingEmbeddings.

    python benchmarks/extractive/score.py            # the table
    python benchmarks/extractive/score.py --wrong    # and what was answered wrongly
"""

import argparse
import contextlib
import importlib
import io
import json
import platform
import tempfile
import time
import warnings
from pathlib import Path

from langchain_custom_agents import (
    AgentExecutor,
    FAISSStore,
    FolderDocstore,
    ReActAgent,
    docstore_tools,
    retriever_tool,
)
from langchain_custom_agents.dialects import Bracketed
from langchain_custom_agents.offline import ExtractiveLLM, HashingEmbeddings

MODULES = ("argparse", "calendar", "copy", "csv", "doctest", "heapq", "json", "pickle", "random",
           "sched", "statistics", "string", "tempfile", "textwrap", "this", "uuid")  # fmt: skip
PASSAGE = 700  # letters
UNKNOWN = "The documents do not say."


def write_texts(folder: Path) -> None:
    """Write what Python says about itself into text files, one a topic."""
    topics = importlib.import_module("pydoc_data.topics").topics
    for name, text in topics.items():
        (folder / f"{name}.rst").write_text(text, encoding="utf-8")
    for name in MODULES:
        if name != "this":
            text = importlib.import_module(name).__doc__ or ""
        else:
            with contextlib.redirect_stdout(io.StringIO()):  # it prints itself
                this = importlib.import_module("this")
            text = "".join(this.d.get(letter, letter) for letter in this.s)
        heading = f"The {name} module"
        page = f"{heading}\n{'=' * len(heading)}\n\n{text}"
        (folder / f"{name}_module.rst").write_text(page, encoding="utf-8")


def passages(text: str) -> list[str]:
    """Cut a text at blank lines into passages of about one size."""
    found = [""]
    for paragraph in text.split("\n\n"):
        if found[-1] and len(found[-1]) + len(paragraph) > PASSAGE:
            found.append("")
        found[-1] += paragraph + "\n\n"
    return [passage.strip() for passage in found if passage.strip()]


def agents(folder: Path) -> dict[str, AgentExecutor]:
    """Make the two agents."""
    docstore = FolderDocstore(folder)
    store = FAISSStore(HashingEmbeddings())
    texts, metadatas = [], []
    for page in docstore.documents:
        for passage in passages(page.page_content):
            title = page.metadata["title"]
            texts.append(f"{title}\n\n{passage}")
            metadatas.append({"title": title})
    store.add_texts(texts, metadatas)
    toolsets = {
        "Search and Lookup": (docstore_tools(docstore), {"dialect": Bracketed()}),
        "FAISSStore": ([retriever_tool(store)], {}),
    }
    return {
        name: AgentExecutor(
            agent=ReActAgent.from_llm_and_tools(ExtractiveLLM(), tools, **options), tools=tools
        )
        for name, (tools, options) in toolsets.items()
    }


def is_right(question: dict, answer: str) -> bool:
    """Compare an answer with those accepted: one of them must stand in it."""
    if question.get("unanswerable"):
        return answer == UNKNOWN
    plain = " ".join(answer.casefold().split())
    return any(accepted.casefold() in plain for accepted in question["accept"])


def main() -> None:
    """Run the questions and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wrong", action="store_true", help="show what was answered wrongly")
    parser.add_argument("--split", help="only the questions of this split")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = Path(__file__).with_name("questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_texts(folder)
        read = " ".join(
            " ".join(path.read_text(encoding="utf-8").casefold().split())
            for path in folder.iterdir()
        )
        asked = [
            question
            for question in questions
            if question.get("unanswerable")
            or any(accepted.casefold() in read for accepted in question["accept"])
        ]
        print(f"Python {platform.python_version()}: {len(asked)} of {len(questions)} questions")
        for question in questions:
            if question not in asked:
                print(f"  not in this Python's texts: {question['id']} {question['question']}")
        print("| tools | split | answered rightly | refused rightly | wrong | refused wrongly |")
        print("|---|---|---|---|---|---|")
        for tools, executor in agents(folder).items():
            started, wrongs = time.perf_counter(), []
            for split in dict.fromkeys(question["split"] for question in asked):
                if chosen.split and split != chosen.split:
                    continue
                counts = dict.fromkeys(("right", "refused", "wrong", "refused wrongly"), 0)
                of = [question for question in asked if question["split"] == split]
                for question in of:
                    answer = executor.invoke({"input": question["question"]})["output"]
                    right, no = is_right(question, answer), answer == UNKNOWN
                    known = not question.get("unanswerable")
                    kind = ("right" if known else "refused") if right else "wrong"
                    counts["refused wrongly" if known and no else kind] += 1
                    if not right:
                        wrongs.append((question, answer))
                answerable = sum(not question.get("unanswerable") for question in of)
                print(
                    f"| {tools} | {split} | {counts['right']} of {answerable} | "
                    f"{counts['refused']} of {len(of) - answerable} | {counts['wrong']} | "
                    f"{counts['refused wrongly']} |"
                )
            if chosen.wrong:
                for question, answer in wrongs:
                    print(f"    {question['id']} {question['question']}\n      -> {answer}")
                print(f"    {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
