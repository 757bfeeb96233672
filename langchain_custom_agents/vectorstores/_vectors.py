"""Vectors: an append-only file, and the two ways to search it."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from langchain_custom_agents.vectorstores._documents import Held, State

__all__ = ["Metric", "Snapshot", "Tier", "VectorIndex", "relevance"]

Metric = Literal["cosine", "dot", "l2"]
Tier = Literal["auto", "exact", "codes"]
Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]

_log = logging.getLogger(__name__)

CODES_FROM = 20_000
"""Where the second tier begins: below it, looking at every vector takes a few milliseconds."""

_CANDIDATES = 400  # rows by code that are looked at in full, at first
_DOUBT = 4.0  # standard errors of the codes within which a row that was left out counts as near
_TAIL = 8_192  # newest rows that may go without codes; looking at them all takes a millisecond
SAVE = 8_192
"""How many rows may have codes that are only in memory, and would be made again at an opening."""

_GATHER = 50_000  # a filter that leaves fewer is answered by looking at each one
_BLOCK = 65_536
_TRAINING = 4_096
_FEW = 256  # rows that are copied together sooner than faiss is loaded


@cache
def _faiss() -> Any:
    """Return faiss, loaded when it is first needed."""
    faiss = import_module("faiss")
    if hasattr(os, "register_at_fork"):
        # OpenMP's threads do not come along into a forked process, and waiting for them never ends.
        os.register_at_fork(after_in_child=partial(faiss.omp_set_num_threads, 1))
    return faiss


class VectorFile:
    """Rows of float32, written once and never changed; in a file or in memory."""

    def __init__(self, path: Path | None, dimension: int) -> None:
        self.path = path
        self.dimension = dimension
        self._buffer: Floats = np.empty((0, dimension), np.float32)

    def write(self, first: int, vectors: Floats, *, fsync: bool) -> None:
        """Write rows from `first` on; whatever an unfinished write left there is covered."""
        if self.path is None:
            end = first + len(vectors)
            if end > len(self._buffer):
                # Snapshots keep the buffer they have seen; only the new one grows.
                grown = np.empty((max(end, 2 * len(self._buffer), 64), self.dimension), np.float32)
                grown[:first] = self._buffer[:first]
                self._buffer = grown
            self._buffer[first:end] = vectors
            return
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        with os.fdopen(descriptor, "r+b") as file:
            file.seek(first * self.dimension * 4)
            file.write(np.ascontiguousarray(vectors).data)
            file.flush()
            if fsync:
                getattr(os, "fdatasync", os.fsync)(file.fileno())

    def view(self, rows: int) -> Floats:
        """Return the first rows without reading them."""
        if self.path is None:
            return self._buffer[:rows]
        if rows == 0:
            return np.empty((0, self.dimension), np.float32)
        have = self.path.stat().st_size // (self.dimension * 4) if self.path.exists() else 0
        if have < rows:
            msg = (
                f"{self.path} holds {have} vectors where docs.db knows of {rows}: the file was cut "
                "or replaced. Restore the folder from a copy, or index the documents again."
            )
            raise ValueError(msg)
        mapped = np.memmap(self.path, np.float32, "r", shape=(rows, self.dimension))
        return np.asarray(mapped)


class Codes:
    """One bit per dimension for each vector: a first look that fits in memory.

    Product quantisation (Jégou et al., TPAMI 2011, https://doi.org/10.1109/TPAMI.2010.57): after
    a random rotation, which spreads what a vector says evenly, every four dimensions become one
    of sixteen learnt values. faiss scans such codes in CPU registers (André et al., VLDB 2015,
    https://doi.org/10.14778/2856318.2856324). Never changed once made, so any number of threads
    may search it.
    """

    def __init__(self, index: Any, metric: Metric) -> None:
        self._index = index
        self._metric = metric
        self.rows = int(index.ntotal)

    @classmethod
    def trained(cls, vectors: Floats, metric: Metric) -> "Codes":
        """Learn the values from a sample of the vectors, and encode them all."""
        faiss = _faiss()
        dimension = vectors.shape[1]
        groups = -(-dimension // 4)
        rotation = faiss.RandomRotationMatrix(dimension, 4 * groups)
        kind = faiss.METRIC_INNER_PRODUCT if metric == "dot" else faiss.METRIC_L2
        inner = faiss.IndexPQFastScan(4 * groups, groups, 4, kind)
        inner.pq.cp.niter = 8
        inner.pq.cp.min_points_per_centroid = 1  # a small sample is no reason for a warning
        index = faiss.IndexPreTransform(rotation, inner)
        sample = vectors[:: max(1, len(vectors) // _TRAINING)][:_TRAINING]
        # Learning is thousands of steps of microseconds; threads wait for each other after each,
        # on a busy machine for seconds in all, and save next to nothing on an idle one.
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            rotation.init(20_240_521)
            index.train(np.resize(sample, (max(16, len(sample)), dimension)))
        finally:
            faiss.omp_set_num_threads(threads)
        inner.pq.sync_transposed_centroids()  # encodes a third faster
        for block in _blocks(vectors):
            index.add(block)
        return cls(index, metric)

    def extended(self, vectors: Floats) -> "Codes":
        """Return codes for more rows; these stay as they are, for those who still use them."""
        faiss = _faiss()
        index = faiss.deserialize_index(faiss.serialize_index(self._index))
        for block in _blocks(vectors):
            index.add(block)
        return Codes(index, self._metric)

    def candidates(self, query: Floats, count: int) -> tuple[Rows, Floats]:
        """Return the rows that are probably nearest, and what their scores probably are."""
        found, rows = self._index.search(query[None], min(count, self.rows))
        there = rows[0] >= 0
        estimates = found[0][there]
        if self._metric == "cosine":
            estimates = 1.0 - estimates / 2.0  # between vectors of length 1
        elif self._metric == "l2":
            estimates = -np.sqrt(np.maximum(estimates, 0.0))
        return cast("Rows", rows[0][there]), estimates

    def save(self, path: Path) -> None:
        """Write to a file that is complete or absent, whatever happens."""
        unfinished = path.with_suffix(f".{os.getpid()}.tmp")
        _faiss().write_index(self._index, str(unfinished))
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)

    @classmethod
    def load(cls, path: Path, metric: Metric) -> "Codes":
        """Read from a file."""
        return cls(_faiss().read_index(str(path)), metric)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The vectors as of one commit; it never changes, so threads share it freely."""

    state: State
    metric: Metric
    vectors: Floats
    alive: npt.NDArray[np.bool_]
    dead: Rows
    """The rows of documents that were deleted or replaced: the others of `alive`."""

    codes: Codes | None = None
    seen: dict[int, Held] = field(default_factory=dict)
    """Documents that were read: reading them again would cost more than a small search."""

    matched: dict[str, Rows] = field(default_factory=dict)
    """What recent filters left, by their text."""

    def unsaved(self) -> int:
        """Return how many rows have codes that no file holds yet."""
        return 0 if self.codes is None else max(0, self.codes.rows - self.state.codes)

    def nearest(self, query: Floats, count: int, allowed: Rows | None = None) -> dict[int, float]:
        """Return the best rows with their scores, best first; a higher score is better.

        Args:
            query: The vector to be near to.
            count: How many; fewer come back only when fewer exist.
            allowed: The rows a filter leaves (ascending), or None for all.
        """
        usable = len(self.vectors) - len(self.dead) if allowed is None else len(allowed)
        count = min(count, usable)
        if count <= 0:
            return {}
        if self.codes is not None and (allowed is None or usable > _GATHER):
            found = self._by_code(self.codes, query, count, allowed, usable)
            if found is not None:
                return found
        if allowed is not None:
            return _best(allowed, self.scores(query, allowed), count)
        scores = scored(self.vectors, query, self.metric)
        if len(self.dead):
            scores[self.dead] = -np.inf
        return _best(None, scores, count)

    def _by_code(
        self, codes: Codes, query: Floats, count: int, allowed: Rows | None, usable: int
    ) -> dict[int, float] | None:
        """Return the best of the probably best rows, or None where codes would not pay.

        How wrong the codes are about this query shows in the candidates. While a row that was
        left out might still belong among the best, four times as many are looked at.
        """
        mask = self.alive
        if allowed is not None:
            mask = np.zeros(len(self.vectors), bool)
            mask[allowed] = True
        tail = np.flatnonzero(mask[codes.rows :]) + codes.rows
        asked = int(max(_CANDIDATES, 8 * count) * len(self.vectors) / usable)
        while asked <= codes.rows // 4:
            rows, estimates = codes.candidates(query, asked)
            last = estimates[-1]
            order = np.argsort(rows)
            order = order[mask[rows[order]]]
            rows, estimates = rows[order], estimates[order]
            scores = self.scores(query, rows)
            if len(rows) >= max(count, _CANDIDATES // 4):
                errors = scores - estimates
                worst = np.partition(scores, -count)[-count]
                if worst >= last + errors.mean() + _DOUBT * errors.std():
                    rows = np.concatenate([rows, tail])
                    return _best(rows, np.concatenate([scores, self.scores(query, tail)]), count)
            asked *= 4
        return None

    def scores(self, query: Floats, rows: Rows) -> Floats:
        """Return how near some rows are; a higher score is better."""
        if len(rows) <= _FEW:
            return scored(self.vectors[rows], query, self.metric)
        return scored_in_place(self.vectors, query, rows, self.metric)


class VectorIndex:
    """The vectors of one store: keeps the snapshot of the newest commit it was shown."""

    def __init__(
        self, folder: Path | None, dimension: int, metric: Metric, *, tier: Tier, fsync: bool
    ) -> None:
        self._folder = folder
        self.dimension = dimension
        self._metric = metric
        self._tier = tier
        self._fsync = fsync
        self._lock = threading.Lock()
        self._buffers: dict[int, VectorFile] = {}
        self.newest: Snapshot | None = None

    def write(self, state: State, vectors: Floats) -> None:
        """Write vectors behind the last row (the caller holds the writer's place)."""
        self._file(state.generation).write(state.rows, vectors, fsync=self._fsync)

    def rewrite(self, snapshot: Snapshot, rows: Rows) -> None:
        """Write the next generation: only these rows, in this order."""
        file = self._file(snapshot.state.generation + 1)
        for start in range(0, len(rows), _BLOCK):
            block = snapshot.vectors[rows[start : start + _BLOCK]]
            file.write(start, block, fsync=self._fsync)

    def snapshot(self, state: State, dead_since: Any) -> Snapshot:
        """Return the vectors as of a commit, doing only what changed since the last one.

        Args:
            state: Where the store stands.
            dead_since: Called with a commit, returns the rows emptied after it.
        """
        newest = self.newest
        if newest is not None and newest.state == state:
            return newest
        with self._lock:
            newest = self.newest
            if newest is not None and newest.state == state:
                return newest
            if newest is not None and newest.state.commits > state.commits:
                newest = None  # a reader that began before the last commit; rare, so start afresh
            made = self._advanced(newest, state, dead_since)
            if self.newest is None or self.newest.state.commits <= state.commits:
                self.newest = made
            return made

    def _advanced(self, old: Snapshot | None, state: State, dead_since: Any) -> Snapshot:
        if old is not None and old.state.generation == state.generation:
            gone = np.array(dead_since(old.state.commits), np.int64)
            alive = np.ones(state.rows, bool)
            alive[: len(old.alive)] = old.alive
            codes, seen, dead = old.codes, old.seen, np.concatenate([old.dead, gone])
        else:
            dead = gone = np.array(dead_since(-1), np.int64)
            alive = np.ones(state.rows, bool)
            codes, seen = None, {}
        alive[gone] = False
        vectors = self._file(state.generation).view(state.rows)
        if self._wants_codes(state.rows):
            codes = self._codes(codes, state, vectors)
        return Snapshot(state, self._metric, vectors, alive, dead, codes, seen)

    def _wants_codes(self, rows: int) -> bool:
        return rows > 0 and (self._tier == "codes" or (self._tier == "auto" and rows >= CODES_FROM))

    def _codes(self, codes: Codes | None, state: State, vectors: Floats) -> Codes:
        tail = max(_TAIL, state.rows // 64)
        if (codes is None or state.rows - codes.rows > tail) and state.codes:
            path = self._codes_path(state.generation, state.codes)
            # Derived: what cannot be read is made again.
            with suppress(RuntimeError, OSError):
                loaded = Codes.load(path, self._metric) if path is not None else None
                if loaded is not None and loaded.rows == state.codes:
                    codes = loaded
        if codes is None or state.rows > 8 * codes.rows:
            _log.info("Encoding %d vectors.", state.rows)
            return Codes.trained(vectors, self._metric)
        if state.rows - codes.rows > tail:
            return codes.extended(vectors[codes.rows :])
        return codes

    def save_codes(self, snapshot: Snapshot) -> int:
        """Save the codes, and say how many rows the file covers."""
        codes = cast("Codes", snapshot.codes)
        codes.save(cast("Path", self._codes_path(snapshot.state.generation, codes.rows)))
        return codes.rows

    def tidy(self, state: State) -> None:
        """Remove files that no commit speaks of any more."""
        if self._folder is None:
            for generation in [*self._buffers]:
                if generation != state.generation:
                    del self._buffers[generation]
            return
        keep = {
            self._vectors_path(state.generation),
            self._codes_path(state.generation, state.codes),
        }
        for pattern in ("vectors-*.f32", "codes-*.faiss", "codes-*.tmp"):
            for path in self._folder.glob(pattern):
                if path not in keep:
                    with suppress(OSError):  # still open elsewhere, on Windows
                        path.unlink()

    def _file(self, generation: int) -> VectorFile:
        if self._folder is not None:
            return VectorFile(self._vectors_path(generation), self.dimension)
        return self._buffers.setdefault(generation, VectorFile(None, self.dimension))

    def _vectors_path(self, generation: int) -> Path | None:
        return None if self._folder is None else self._folder / f"vectors-{generation}.f32"

    def _codes_path(self, generation: int, rows: int) -> Path | None:
        return None if self._folder is None else self._folder / f"codes-{generation}-{rows}.faiss"


def _best(rows: Rows | None, scores: Floats, count: int) -> dict[int, float]:
    """Return the best of some rows (None for all) with their scores, best first."""
    if count <= 8:
        # For the few that are usually asked for, looking again and again is quickest.
        found = {}
        for _ in range(count):
            place = int(scores.argmax())
            found[place if rows is None else rows.item(place)] = scores.item(place)
            scores[place] = -np.inf
        return found
    places = np.arange(len(scores))
    if count < len(scores):
        places = np.argpartition(scores, -count)[-count:]
    places = places[np.lexsort((places, -scores[places]))]
    best = places if rows is None else rows[places]
    return dict(zip(best.tolist(), scores[places].tolist(), strict=True))


def scored(block: Floats, query: Floats, metric: Metric) -> Floats:
    """Return how near each vector of a block is; a higher score is better."""
    if metric != "l2":
        scores: Floats = block.dot(query)
        return scores
    faiss = _faiss()
    block = np.ascontiguousarray(block)
    squares = np.empty(len(block), np.float32)
    if len(block):
        faiss.fvec_L2sqr_ny(
            *(faiss.swig_ptr(array) for array in (squares, query, block)), len(query), len(block)
        )
    return cast("Floats", -np.sqrt(squares))


def scored_in_place(vectors: Floats, query: Floats, rows: Rows, metric: Metric) -> Floats:
    """Return how near some of the vectors are, without copying them together."""
    faiss = _faiss()
    made = np.empty(len(rows), np.float32)
    one_by_one = faiss.fvec_L2sqr_by_idx if metric == "l2" else faiss.fvec_inner_products_by_idx
    arrays = (made, query, vectors, rows)
    one_by_one(*(faiss.swig_ptr(array) for array in arrays), len(query), 1, len(rows))
    return cast("Floats", -np.sqrt(made) if metric == "l2" else made)


def relevance(score: float, metric: Metric) -> float:
    """Return a score as a number from 0 to 1 that keeps the order.

    Cosine: the cosine itself, 0 where it is negative. Distance d: 1 / (1 + d). Dot product s:
    1 / (1 + exp(-s)).

    Example:
        >>> relevance(-1.0, "l2")
        0.5
    """
    if metric == "cosine":
        return min(1.0, max(0.0, score))
    if metric == "l2":
        return 1.0 / (1.0 - score)
    return float(0.5 * (1.0 + np.tanh(score / 2.0)))


def _blocks(vectors: Floats) -> Iterator[Floats]:
    for start in range(0, len(vectors), _BLOCK):
        yield np.ascontiguousarray(vectors[start : start + _BLOCK])
