"""Measure FAISSStore against LangChain's FAISS and Milvus Lite, in one run.

    python -m benchmarks.faiss_store.run                     # 1k, 100k and 1M: a quarter of an hour
    python -m benchmarks.faiss_store.run --smoke             # 1k and 25k: half a minute, a check
    python -m benchmarks.faiss_store.run --shape isotropic --stores ours langchain

Each store is built, opened, changed and measured in processes of its own; searches are then timed
in one process, the stores taking turns, so that a busy machine is busy for all of them. Times are
medians; "CPU" is what the process used, which other work on the machine changes least. "Persisted"
means that the change is on disk: LangChain's FAISS has to save everything. "First filter" is in a
store just opened, and makes an index where the store makes one; the other filters come after each
has been asked for once.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings

DIMENSION = 384
QUERIES = 100
K = 4
STORES = ("ours", "langchain", "milvus")
PEER_UP_TO = 100_000  # a million takes Milvus Lite longer than everything else together


class Nothing(Embeddings):
    """Stands where LangChain's FAISS wants embeddings; the vectors are given."""

    def embed_query(self, text):
        raise NotImplementedError

    embed_documents = embed_query


def make_data(folder: Path, size: int, shape: str) -> None:
    """Write vectors of length 1.

    "clustered" is shaped like a model's: clusters, and few directions that carry most. "isotropic"
    is as many directions, all alike: no model's are, and nothing is harder to search.
    """
    rng = np.random.default_rng(size)
    spectrum = (np.arange(1, DIMENSION + 1) ** -0.5).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(DIMENSION, DIMENSION)))[0].astype(np.float32)
    centres = rng.normal(size=(2_000, DIMENSION)).astype(np.float32)
    made = np.lib.format.open_memmap(
        folder / "vectors.npy", "w+", np.float32, (size + QUERIES, DIMENSION)
    )
    for start in range(0, len(made), 100_000):
        count = min(100_000, len(made) - start)
        block = rng.standard_normal((count, DIMENSION), dtype=np.float32)
        if shape == "clustered":
            block += centres[rng.integers(0, len(centres), count)]
            block = (block * spectrum) @ turn
        made[start : start + count] = block / np.linalg.norm(block, axis=1, keepdims=True)
    made.flush()


def data(folder: Path):
    """Return vectors, queries, texts and metadata."""
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    vectors, queries = vectors[:-QUERIES], np.array(vectors[-QUERIES:])
    rng = np.random.default_rng(7)
    words = rng.zipf(1.3, (len(vectors), 8)) % 50_000
    texts = [" ".join(f"word{word}" for word in row) for row in words.tolist()]
    metadatas = [{"bucket": i % 100, "source": f"file{i % 997}.txt"} for i in range(len(vectors))]
    return vectors, queries, texts, metadatas


def open_langchain(folder: Path):
    from langchain_community.vectorstores import FAISS

    return FAISS.load_local(str(folder), Nothing(), allow_dangerous_deserialization=True)


def open_ours(folder: Path):
    from langchain_custom_agents.vectorstores.faiss import FAISSStore

    return FAISSStore(None, folder)


def open_milvus(folder: Path):
    from langchain_custom_agents.vectorstores.opening import open_store

    folder.mkdir(exist_ok=True)
    return open_store(f"milvus:{folder / 'milvus.db'}#documents", Nothing())


OPEN = {"ours": open_ours, "langchain": open_langchain, "milvus": open_milvus}


def load(kind: str) -> None:
    """Import what a store is made of, which is not to be measured."""
    import faiss  # noqa: F401

    if kind == "langchain":
        from langchain_community.vectorstores import FAISS  # noqa: F401
    elif kind == "ours":
        from langchain_custom_agents.vectorstores.faiss import FAISSStore  # noqa: F401
    else:
        import langchain_milvus  # noqa: F401


def build(kind: str, folder: Path, place: Path):
    """Build a store on disk and return the seconds that took."""
    vectors, _, texts, metadatas = data(folder)
    ids = [str(number) for number in range(len(texts))]
    rows = list(vectors)
    load(kind)
    began, used = time.perf_counter(), time.process_time()
    if kind == "langchain":
        from langchain_community.vectorstores import FAISS

        pairs = zip(texts, rows, strict=True)
        FAISS.from_embeddings(pairs, Nothing(), metadatas, ids=ids).save_local(str(place))
    elif kind == "ours":
        with OPEN[kind](place) as store:
            store.add_embeddings(zip(texts, rows, strict=True), metadatas, ids=ids)
    else:
        OPEN[kind](place).add_embeddings(texts, rows, metadatas, ids=ids)
    return {
        "build s": time.perf_counter() - began,
        "build, CPU s": time.process_time() - used,
        "disk MB": size_of(place) / 2**20,
    }


def size_of(place: Path) -> int:
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def anonymous() -> float:
    """Return the MB of memory that no file stands behind."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def opening(kind: str, folder: Path, place: Path):
    """Open in a fresh process, search, and change one document, persisted."""
    queries = np.load(folder / "vectors.npy", mmap_mode="r")[-QUERIES:].tolist()
    load(kind)
    before = anonymous()
    began = time.perf_counter()
    store = OPEN[kind](place)
    opened = time.perf_counter()
    store.similarity_search_by_vector(queries[0], k=K)
    searched = time.perf_counter()
    for query in queries[:20]:
        store.similarity_search_by_vector(query, k=K)
    told = {
        "open s": opened - began,
        "open + first search s": searched - began,
        "anonymous MB": anonymous() - before,
    }
    began = time.perf_counter()
    store.similarity_search_by_vector(queries[0], k=K, **only_bucket(kind, 0))
    told["first 1 % filter ms"] = (time.perf_counter() - began) * 1e3
    times: dict[str, list[float]] = {"add one, persisted ms": [], "delete one, persisted ms": []}
    for number in range(5 if kind != "langchain" else 2):
        id_ = f"new-{number}"
        for what, change in (
            ("add one, persisted ms", lambda i=id_, q=queries[number]: add_one(kind, store, i, q)),
            ("delete one, persisted ms", lambda i=id_: store.delete([i])),
        ):
            began = time.perf_counter()
            change()
            if kind == "langchain":
                store.save_local(str(place))
            times[what].append((time.perf_counter() - began) * 1e3)
    return told | {what: statistics.median(each) for what, each in times.items()}


def only_bucket(kind, bucket: int):
    """Return the arguments that leave one document in a hundred."""
    return {"expr": f"bucket == {bucket}"} if kind == "milvus" else {"filter": {"bucket": bucket}}


def add_one(kind, store, id_, vector):
    if kind == "milvus":
        store.add_embeddings(["new"], [vector], [{"bucket": 0, "source": "new"}], ids=[id_])
    else:
        store.add_embeddings([("new", vector)], [{"bucket": 0, "source": "new"}], ids=[id_])


def searching(folder: Path, places: dict[str, Path], seconds: float):
    """Time searches, the stores taking turns, and check what they find."""
    vectors, queries, _, _ = data(folder)
    exact = exact_nearest(vectors, queries)
    buckets = np.arange(len(vectors)) % 100
    stores = {kind: OPEN[kind](place) for kind, place in places.items()}
    asked = queries.tolist()
    times: dict[str, dict[str, list[float]]] = {kind: {} for kind in stores}
    hits = {kind: [0, 0] for kind in stores}
    recall = {}
    for kind, store in stores.items():
        found = [
            {d.id or d.metadata["pk"] for d in store.similarity_search_by_vector(query, k=10)}
            for query in asked
        ]
        true = [{str(row) for row in rows} for rows in exact]
        recall[kind] = float(np.mean([len(f & t) / 10 for f, t in zip(found, true, strict=True)]))
    for kind, store in stores.items():
        for bucket in range(100):
            store.similarity_search_by_vector(asked[bucket], k=K, **only_bucket(kind, bucket))
    until = time.perf_counter() + seconds
    turn = 0

    def timed(kind: str, what: str, *given, **options):
        began, used = time.perf_counter(), time.process_time()
        found = stores[kind].similarity_search_by_vector(*given, k=K, **options)
        used, began = time.process_time() - used, time.perf_counter() - began
        times[kind].setdefault(f"{what} ms", []).append(began)
        times[kind].setdefault(f"{what}, CPU ms", []).append(used)
        return found

    while time.perf_counter() < until or turn < 10:
        for kind in stores:
            for step in range(5):
                timed(kind, "search", asked[(turn * 5 + step) % QUERIES])
            bucket = turn % 100
            query = asked[turn % QUERIES]
            found = timed(kind, "1 % filter", query, **only_bucket(kind, bucket))
            hits[kind][0] += len(found)
            hits[kind][1] += min(K, int((buckets == bucket).sum()))
        turn += 1
    return {
        kind: {
            **{name: statistics.median(each) * 1e3 for name, each in times[kind].items()},
            "recall@10": recall[kind],
            "1 % filter, found of 4": 4 * hits[kind][0] / hits[kind][1],
        }
        for kind in stores
    }


def exact_nearest(vectors, queries):
    best = np.empty((QUERIES, 0), np.int64)
    scores = np.empty((QUERIES, 0), np.float32)
    for start in range(0, len(vectors), 100_000):
        block = queries @ np.asarray(vectors[start : start + 100_000]).T
        rows = np.argsort(-block, axis=1)[:, :10]
        best = np.hstack([best, rows + start])
        scores = np.hstack([scores, np.take_along_axis(block, rows, 1)])
        keep = np.argsort(-scores, axis=1)[:, :10]
        best, scores = np.take_along_axis(best, keep, 1), np.take_along_axis(scores, keep, 1)
    return best


def worker(what: str, *arguments: str):
    """Run one step in a process of its own."""
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.faiss_store.run", "--work", what, *arguments],
        capture_output=True,
        text=True,
        check=False,
        # Threads of one store that wait for work must not take the time of the next.
        env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
    )
    if told.returncode:
        raise SystemExit(f"{what} {arguments} failed:\n{told.stderr[-3_000:]}")
    return json.loads(told.stdout.splitlines()[-1])


def measure(size: int, kinds: list[str], seconds: float, shape: str):
    """Measure one size; return a number per store and measure."""
    base = Path(tempfile.mkdtemp(prefix="faiss-store-"))
    try:
        make_data(base, size, shape)
        results = {}
        for kind in kinds:
            place = str(base / kind)
            results[kind] = worker("build", kind, str(base), place)
            print(f"{size:>9,} {kind}: built in {results[kind]['build s']:.1f} s", file=sys.stderr)
            results[kind] |= worker("open", kind, str(base), place)
        told = worker(
            "search", str(base), json.dumps({k: str(base / k) for k in kinds}), str(seconds)
        )
        return {kind: results[kind] | told[kind] for kind in kinds}
    finally:
        shutil.rmtree(base)


def table(all_results) -> str:
    """Return the results as a Markdown table, LangChain's over ours as "times"."""
    lines = []
    for size, results in all_results.items():
        kinds = list(results)
        lines.append(f"\n**{size:,} documents of {DIMENSION} dimensions**\n")
        lines.append("| | " + " | ".join(NAMES[kind] for kind in kinds) + " | LangChain / ours |")
        lines.append("|---" * (len(kinds) + 2) + "|")
        for name in results["ours"]:
            row = [results[kind].get(name, float("nan")) for kind in kinds]
            ratio = results["langchain"][name] / results["ours"][name]
            times = f"{ratio:,.0f}x" if ratio >= 20 else f"{ratio:.1f}x"
            if "recall" in name or "found" in name:
                times = ""
            shown = [f"{n:,.3g}" if n < 1000 else f"{n:,.0f}" for n in row]
            lines.append(f"| {name} | {' | '.join(shown)} | {times} |")
    return "\n".join(lines)


NAMES = {"ours": "FAISSStore", "langchain": "LangChain FAISS", "milvus": "Milvus Lite"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 100_000, 1_000_000])
    parser.add_argument("--stores", nargs="+", choices=STORES, default=list(STORES))
    parser.add_argument("--shape", choices=["clustered", "isotropic"], default="clustered")
    parser.add_argument("--seconds", type=float, default=20, help="how long to time searches")
    parser.add_argument("--smoke", action="store_true", help="small, fast, and only what must hold")
    parser.add_argument("--json", type=Path, help="write the numbers here, too")
    parser.add_argument("--work", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        what, *rest = given.work
        if what == "search":
            places = {kind: Path(place) for kind, place in json.loads(rest[1]).items()}
            told = searching(Path(rest[0]), places, float(rest[2]))
        else:
            told = {"build": build, "open": opening}[what](rest[0], Path(rest[1]), Path(rest[2]))
        print(json.dumps(told))
        return
    if given.smoke:
        given.sizes, given.stores, given.seconds = [1_000, 25_000], ["ours", "langchain"], 1.0
    results = {}
    least = 0.99 if given.shape == "clustered" else 0.98
    for size in given.sizes:
        kinds = [kind for kind in given.stores if kind != "milvus" or size <= PEER_UP_TO]
        results[size] = measure(size, kinds, given.seconds, given.shape)
    print(table(results))
    if given.json:
        given.json.write_text(json.dumps(results, indent=1))
    for size, told in results.items():
        ours = told["ours"]
        if ours["recall@10"] < least or ours["1 % filter, found of 4"] < 4:
            raise SystemExit(f"{size}: recall or filters are not what they must be: {ours}")


if __name__ == "__main__":
    main()
