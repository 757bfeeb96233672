"""Kill a writing process again and again, and see whether the store kept its word.

    python -m benchmarks.faiss_store.crash --runs 1000          # kill -9
    python -m benchmarks.faiss_store.crash --runs 100 --power   # only what was synced stays

Each run works on a folder until it dies: it announces an operation, does it, and acknowledges it.
It dies at a random line of the store's own code, or at a random moment. Then another process opens
the folder and compares: every acknowledged operation must be there, the last unacknowledged one
wholly or not at all, and every document must have its own vector, words and metadata.

With --power a small C library notes each file as it was when it was last synced; the folder that
is looked at afterwards is made of those (or, file by file, by chance, of what was written).
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np

from langchain_custom_agents.vectorstores import _documents, _vectors, faiss
from langchain_custom_agents.vectorstores.faiss import FAISSStore

DIMENSION = 16
WATCHED = {module.__file__ for module in (_documents, _vectors, faiss)}


def vector_of(text: str) -> list[float]:
    """Return the vector a text must have."""
    vector = np.random.default_rng(zlib.crc32(text.encode())).normal(size=DIMENSION)
    return (vector / np.linalg.norm(vector)).tolist()


def operations(rng: random.Random, ids: list[str], label: str):
    """Yield random operations for ever."""
    known = list(ids)
    number = 0
    while True:
        number += 1
        kind = rng.choices(["add", "update", "delete", "compact"], [6, 3, 2, 0.3])[0]
        if kind == "add":
            fresh = [f"{label}-{number}-{i}" for i in range(rng.randint(1, 6))]
            known.extend(fresh)
            yield ["put", {id_: f"text {id_}" for id_ in fresh}]
        elif kind == "compact":
            yield ["compact", {}]
        elif known:
            chosen = rng.sample(known, min(len(known), rng.randint(1, 4)))
            if kind == "update":
                yield ["put", {id_: f"text {id_} v{label}{number}" for id_ in chosen}]
            else:
                known = [id_ for id_ in known if id_ not in chosen]
                yield ["delete", dict.fromkeys(chosen)]


def applied(state: dict[str, str], operation) -> dict[str, str]:
    """Return what a store holds after an operation."""
    kind, change = operation
    if kind == "delete":
        return {id_: text for id_, text in state.items() if id_ not in change}
    return {**state, **change}


def work(folder: str, log: int, seed: int, ids: list[str], *, fsync: bool, die_at_line: int | None):
    """Write until killed."""
    if die_at_line is not None:
        left = [die_at_line]

        def trace(frame, event, _):
            if frame.f_code.co_filename not in WATCHED:
                return None
            if event == "line":
                left[0] -= 1
                if left[0] <= 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
    rng = random.Random(seed)
    # Small tails, so that codes are extended and saved often enough to be in the way.
    _vectors._TAIL = faiss.SAVE = 20
    store = FAISSStore(None, folder, tier=rng.choice(["exact", "codes"]), fsync=fsync)
    for operation in operations(rng, ids, f"r{seed}"):
        os.write(log, json.dumps(operation).encode() + b"\n")
        kind, change = operation
        if kind == "put":
            pairs = [(text, vector_of(text)) for text in change.values()]
            store.add_embeddings(pairs, [{"of": id_} for id_ in change], ids=list(change))
        elif kind == "delete":
            store.delete(list(change))
        else:
            store.compact()
        os.write(log, b"ok\n")


def held(folder: str) -> dict[str, str]:
    """Return what a folder holds; raise if anything in it is torn."""
    with FAISSStore(None, folder) as store:
        found = {}
        with store._documents.reading() as connection:
            state = store._documents.state(connection)
            snapshot = store._snapshot(connection, state)
            rows = store._documents.after(connection, -1, 10**9)
            for row, id_, text, metadata in rows:
                found[id_] = text
                assert json.loads(metadata) == {"of": id_}, f"metadata of {id_}"
                assert np.allclose(snapshot.vectors[row], vector_of(text), atol=1e-5), (
                    f"vector {id_}"
                )
            if snapshot is not None:
                alive = set(np.flatnonzero(snapshot.alive).tolist())
                assert alive == {row for row, *_ in rows}, "rows"
            words = connection.execute("SELECT count(*) FROM words").fetchone()[0]
            assert words == len(rows), "words"
        for id_ in random.Random(0).sample(sorted(found), min(5, len(found))):
            best = store.similarity_search_with_score_by_vector(vector_of(found[id_]), k=1)
            assert best[0][0].page_content == found[id_], "search"
            assert best[0][1] > 0.999, "score"
            query = f"{id_} {found[id_]}"
            assert store.similarity_search(query, k=1, search_type="keyword"), "keyword"
    return found


def in_a_child(function, *args) -> int:
    """Run something in a forked process; return its wait status."""
    child = os.fork()
    if child == 0:
        try:
            function(*args)
            os._exit(0)
        except BaseException as error:  # the parent reports it
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
    return child


def read_log(data: bytes, state: dict[str, str]) -> list[dict[str, str]]:
    """Return the states a store may be in after a log that may break off."""
    announced = None
    for line in data.split(b"\n")[:-1]:
        if line == b"ok":
            state = applied(state, announced)
            announced = None
        else:
            announced = json.loads(line)
    return [state] if announced is None else [state, applied(state, announced)]


def check(folder: str, allowed: list[dict[str, str]]) -> dict[str, str]:
    """Open a folder in another process and return what it holds, which must be allowed."""
    reading, writing = os.pipe()

    def look():
        os.write(writing, json.dumps(held(folder)).encode())

    child = in_a_child(look)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        data = file.read()
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise AssertionError(f"{folder} could not be read whole after the kill (status {status})")
    found = json.loads(data)
    if found not in allowed:
        lost = {id_ for id_ in allowed[0] if id_ not in found}
        raise AssertionError(f"{folder}: acknowledged writes lost or torn: {sorted(lost)[:5]}")
    return found


def kill_runs(runs: int, seed: int) -> int:
    """Kill a writer so many times; return how many operations were acknowledged in all."""
    import faiss  # noqa: F401 - once, and not in every process that is forked

    rng = random.Random(seed)
    acknowledged = 0
    folder, state = "", {}
    try:
        for run in range(runs):
            if run % 25 == 0:
                if folder:
                    shutil.rmtree(folder)
                folder, state = tempfile.mkdtemp(), {}
                store = str(Path(folder, "store"))
            line = rng.choice([None, rng.randint(1, 400), rng.randint(1, 5_000)])
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    work(store, writing, rng.randint(0, 10**9), list(state), fsync=False,
                         die_at_line=line)  # fmt: skip
                finally:
                    os._exit(3)
            os.close(writing)
            if line is None:
                time.sleep(rng.random() * 0.08)
                os.kill(child, signal.SIGKILL)
            with os.fdopen(reading, "rb") as file:
                data = file.read()
            _, status = os.waitpid(child, 0)
            if not os.WIFSIGNALED(status):
                raise AssertionError(f"run {run}: the writer failed by itself")
            acknowledged += data.count(b"ok\n")
            state = check(store, read_log(data, state))
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    return acknowledged


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Keep a copy of every file as it was when it was last synced. */
static int shadow_of(const char *path, char *out) {
  const char *live = getenv("POWER_LIVE"), *kept = getenv("POWER_KEPT");
  if (!live || !kept || strncmp(path, live, strlen(live))) return 0;
  snprintf(out, PATH_MAX, "%s%s", kept, path + strlen(live));
  return 1;
}
static int renamed(const char *old, const char *new) {
  int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
  return real(old, new);
}
static void keep(int fd) {
  char link[64], path[PATH_MAX], shadow[PATH_MAX], part[PATH_MAX + 8], buffer[65536];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  struct stat info;
  if (!shadow_of(path, shadow) || fstat(fd, &info) || !S_ISREG(info.st_mode)) return;
  snprintf(part, sizeof part, "%s.part", shadow);
  int from = open(path, O_RDONLY), to = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (from < 0 || to < 0) abort();
  while ((length = read(from, buffer, sizeof buffer)) > 0)
    if (write(to, buffer, length) != length) abort();
  close(from); close(to);
  if (renamed(part, shadow)) abort();
}
int fsync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  int result = real(fd); keep(fd); return result;
}
int fdatasync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  int result = real(fd); keep(fd); return result;
}
int rename(const char *old, const char *new) {
  char a[PATH_MAX], b[PATH_MAX];
  int result = renamed(old, new);
  if (!result && shadow_of(old, a) && shadow_of(new, b)) renamed(a, b);
  return result;
}
int unlink(const char *path) {
  int (*real)(const char *) = dlsym(RTLD_NEXT, "unlink");
  char shadow[PATH_MAX];
  int result = real(path);
  if (!result && shadow_of(path, shadow)) real(shadow);
  return result;
}
"""


def build_shim(folder: Path) -> Path:
    """Compile the library that remembers what was synced (Linux)."""
    source, library = folder / "power.c", folder / "power.so"
    source.write_text(SHIM)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True
    )
    return library


def power_runs(runs: int, seed: int) -> int:
    """Cut the power so many times; return how many operations were acknowledged in all."""
    rng = random.Random(seed)
    acknowledged = 0
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        shim = build_shim(base)
        for run in range(runs):
            live, kept, disk = base / "live", base / "kept", base / "disk"
            for folder in (live, kept, disk):
                shutil.rmtree(folder, ignore_errors=True)
            kept.mkdir()
            log = base / "log"
            log.write_bytes(b"")
            environment = {
                **os.environ,
                "LD_PRELOAD": str(shim),
                "POWER_LIVE": f"{live}{os.sep}",
                "POWER_KEPT": f"{kept}{os.sep}",
            }
            arguments = ["--work", str(live), str(log), str(rng.randint(0, 10**9))]
            child = subprocess.Popen([sys.executable, "-m", __spec__.name, *arguments],
                                     env=environment)  # fmt: skip
            while not log.stat().st_size and child.poll() is None:
                time.sleep(0.01)
            time.sleep(rng.random() * 0.6)
            child.send_signal(signal.SIGKILL)
            if child.wait() != -signal.SIGKILL:
                raise AssertionError(f"run {run}: the writer failed by itself")
            disk.mkdir()
            # What was not synced may have reached the disk or not, file by file.
            names = {path.name for path in (*live.iterdir(), *kept.iterdir())}
            for name in sorted(names):
                if name.endswith((".part", "-shm")):
                    continue
                source = (
                    kept / name if rng.random() < 0.7 or not (live / name).exists() else live / name
                )
                if source.exists():
                    shutil.copy(source, disk / name)
            data = log.read_bytes()
            acknowledged += data.count(b"ok\n")
            if not (disk / "docs.db").exists() and not data.count(b"ok\n"):
                continue
            check(str(disk), read_log(data, {}))
    return acknowledged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        folder, log, seed = given.work
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND)
        work(folder, descriptor, int(seed), [], fsync=True, die_at_line=None)
    began = time.time()
    done = (power_runs if given.power else kill_runs)(given.runs, given.seed)
    kind = "power cuts" if given.power else "kills"
    print(f"{given.runs} {kind}, {done} acknowledged operations: 0 lost, 0 torn "
          f"({time.time() - began:.0f} s, seed {given.seed})")  # fmt: skip


if __name__ == "__main__":
    main()
