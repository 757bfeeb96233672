"""Write and search one store from many threads at once, again and again.

    python -m benchmarks.faiss_store.threads --runs 100
    python -m benchmarks.faiss_store.threads --runs 5 --langchain     # on LangChain's FAISS

Every run is a process of its own, so that a crash of the interpreter is seen and counted. Three
threads write, replace and delete; three search in every way and check what they get. All go on
until both kinds have done enough, so that a run is as much work on a slow machine as on a fast one.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import threading

import numpy as np
from langchain_core.embeddings import Embeddings

DIMENSION = 32


def vector_of(text: str) -> list[float]:
    """Return the vector a text must have."""
    vector = np.random.default_rng(int(text.rpartition("-")[2])).normal(size=DIMENSION)
    return (vector / np.linalg.norm(vector)).tolist()


class Counting(Embeddings):
    """Embeddings whose vectors can be told from the text."""

    def embed_query(self, text):
        return vector_of(text)

    def embed_documents(self, texts):
        return [vector_of(text) for text in texts]


def opened(kind: str):
    """Make a store of a kind, with a few documents that nobody touches."""
    texts = [f"fixed-{number}" for number in range(50)]
    ids = [f"f{number}" for number in range(50)]
    if kind == "langchain":
        from langchain_community.vectorstores import FAISS

        return FAISS.from_texts(texts, Counting(), ids=ids)
    from langchain_custom_agents.vectorstores import _vectors
    from langchain_custom_agents.vectorstores.faiss import FAISSStore

    _vectors._TAIL = 50  # codes are extended while others search them
    path = tempfile.mkdtemp() + "/store" if kind != "memory" else None
    store = FAISSStore(Counting(), path, tier="codes" if kind == "codes" else "auto", fsync=False)
    store.add_texts(texts, [{"kind": "fixed"}] * 50, ids=ids)
    return store


def stress(kind: str, operations: int) -> None:
    """Write and search at once, so many times each at least; raise what any thread raised."""
    store = opened(kind)
    errors: list[BaseException] = []
    done = {"writes": 0, "searches": 0}

    def going_on() -> bool:
        return not errors and min(done.values()) < operations

    def writer(number: int) -> None:
        rng = random.Random(number)
        mine: list[str] = []
        while going_on():
            if len(mine) < 30 or rng.random() < 0.6:
                value = rng.randint(1_000, 10**9)
                id_ = f"w{number}-{value}"
                store.add_texts([f"text-{value}"], [{"kind": "moving"}], ids=[id_])
                mine.append(id_)
            else:
                store.delete([mine.pop(rng.randrange(len(mine)))])
            done["writes"] += 1

    def reader(number: int) -> None:
        rng = random.Random(100 + number)
        while going_on():
            value = rng.randrange(50)
            found = store.similarity_search(f"fixed-{value}", k=4)
            assert len(found) == 4, f"{len(found)} of 4"
            assert found[0].page_content == f"fixed-{value}", found[0].page_content
            if kind != "langchain":
                fixed = store.similarity_search(f"x-{value}", k=10, filter={"kind": "fixed"})
                assert len(fixed) == 10
                assert all(document.metadata["kind"] == "fixed" for document in fixed)
                assert store.get_by_ids([f"f{value}"])[0].page_content == f"fixed-{value}"
            done["searches"] += 1

    def guarded(function, number: int) -> None:
        try:
            function(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(function, number))
               for function in (writer, reader) for number in range(3)]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    print(f"{done['writes']} writes, {done['searches']} searches")


def runs(number: int, kinds: list[str], operations: int, *, rounds: int = 1) -> list[str]:
    """Run in processes of their own; return what went wrong."""
    faults = []
    for run in range(number):
        kind = kinds[run % len(kinds)]
        command = [
            sys.executable,
            "-m",
            "benchmarks.faiss_store.threads",
            "--work",
            kind,
            str(operations),
            str(rounds),
        ]
        told = subprocess.run(command, check=False, capture_output=True, text=True, timeout=1800)
        if told.returncode:
            last = told.stderr.strip().splitlines()[-1:] or [f"signal {-told.returncode}"]
            faults.append(f"{kind}: exit {told.returncode}: {last[0]}")
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--operations", type=int, default=100)
    parser.add_argument("--langchain", action="store_true")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        kinds, operations, rounds = given.work
        for kind in kinds.split(",") * int(rounds):
            stress(kind, int(operations))
        return
    kinds = ["langchain"] if given.langchain else ["memory", "folder", "codes"]
    faults = runs(given.runs, kinds, given.operations)
    print(f"{given.runs} runs of 3 writers and 3 readers: {len(faults)} failed")
    for fault in faults[:10]:
        print(" ", fault)


if __name__ == "__main__":
    main()
