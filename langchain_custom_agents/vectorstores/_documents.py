"""Documents in SQLite: the truth of a store, and its only commit point."""

import io
import json
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.documents import Document
from pydantic import BaseModel

from langchain_custom_agents.vectorstores._filters import Filter, condition
from langchain_custom_agents.vectorstores._hybrid import query_words, terms

__all__ = ["FORMAT", "Documents", "Held", "State", "in_parts", "marks"]

FORMAT = 1
"""The folder format this version writes; later versions read it."""

_SCHEMA = """
CREATE TABLE manifest (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE state (generation INTEGER, rows INTEGER, commits INTEGER, codes INTEGER);
INSERT INTO state VALUES (1, 0, 0, 0);
CREATE TABLE documents (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE tombstones (commits INTEGER, row INTEGER, PRIMARY KEY (commits, row)) WITHOUT ROWID;
CREATE TABLE records (
    namespace TEXT, key TEXT, group_id TEXT, updated_at REAL,
    PRIMARY KEY (namespace, key)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(
    terms, content='', tokenize="porter unicode61 remove_diacritics 2");
"""
_MOST_INDEXES = 16
_INDEX_FROM = 500
_LARGE = 50_000
_CLOCK_TICK = 2_000_000_000  # nanoseconds: no file system's clock is coarser than 2 s
_abandoned: list[Any] = []


class State(NamedTuple):
    """Where a store stands: what a reader compares to know that something changed."""

    generation: int
    rows: int
    commits: int
    codes: int


_BLANK = dict(Document(id="", page_content="", metadata={}).__dict__)
_new, _set = Document.__new__, object.__setattr__
_set_fields, _set_extra, _set_private = (
    BaseModel.__dict__[f"__pydantic_{name}__"].__set__
    for name in ("fields_set", "extra", "private")
)


class Held:
    """One document as it is kept; whoever asks gets a copy of their own."""

    __slots__ = ("_flat", "_whole", "id", "metadata", "text")

    def __init__(self, id_: str, text: str, metadata: str) -> None:
        self.id, self.text, self.metadata = id_, text, metadata
        self._whole = {**_BLANK, "id": id_, "page_content": text}
        self._flat: dict[str, Any] | None = None

    def document(self) -> Document:
        """Return the document; changing it changes nothing here."""
        parts = self._whole.copy()
        if self._flat is not None:
            parts["metadata"] = self._flat.copy()
        else:
            parts["metadata"] = metadata = json.loads(self.metadata)
            if not any(isinstance(value, list | dict) for value in metadata.values()):
                self._flat = metadata.copy()
        # What `copy` does to a pydantic object, and no more: checking again what was checked, and
        # looking at a kept object's parts, would take longer than the rest of a small search.
        made = _new(Document)
        _set(made, "__dict__", parts)
        _set_fields(made, {"id", "page_content", "metadata"})
        _set_extra(made, None)
        _set_private(made, None)
        return made


class _Connection(sqlite3.Connection):
    """A connection that remembers when it last looked, and what it saw."""

    looked: tuple[int, State] | None = None


@contextmanager
def _damage_named(path: Path | None) -> Iterator[None]:
    """Say which file it is that cannot be read; what SQLite says names none."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:  # locked, read-only, a full disk: no damage
            raise
        msg = (
            f"{path} cannot be read ({error}): the file was cut or replaced. Restore the folder "
            "from a copy, or index the documents again, in a new one."
        )
        raise ValueError(msg) from error


class Documents:
    """The documents of one store, in a folder's `docs.db` or in memory.

    Rows are numbers that are never used twice within a generation; row n is also the place of
    the document's vector. Readers see one commit, whole, for as long as they read.
    """

    def __init__(self, folder: Path | None, *, read_only: bool, fsync: bool) -> None:
        self._path = None if folder is None else folder.absolute() / "docs.db"
        self._read_only = read_only
        self._fsync = fsync
        self._lock = threading.RLock()
        self._writer: _Connection | None = None
        # What is at rest here may be closed; what a thread took out to read with is its own.
        self._idle: list[_Connection] = []
        self._kept: list[_Connection | io.FileIO] = []
        self._pid = os.getpid()
        self._closing = weakref.finalize(self, _close, self._idle, self._kept, self._pid)
        self._indexed: frozenset[str] = frozenset()
        self._log: io.FileIO | None = None
        self._quiet: tuple[int, State] | None = None
        with _damage_named(self._path):
            opened = self.reading() if read_only else nullcontext(self._writing_connection())
            with opened as connection:
                if self._made(connection):
                    return
            with self.writing() as connection:
                if not self._made(connection):  # no other process was first
                    for statement in _SCHEMA.split(";\n"):
                        connection.execute(statement)
                    connection.execute("INSERT INTO manifest VALUES ('format', ?)", (FORMAT,))

    def _made(self, connection: _Connection) -> bool:
        """Say whether the tables are there; a file emptied or of something else is refused."""
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "state" in tables:
            return True
        vectors = self._path is not None and any(self._path.parent.glob("vectors-*.f32"))
        if tables or vectors or self._read_only:
            msg = "it holds no tables of a FAISSStore"
            raise sqlite3.DatabaseError(msg)
        return False

    def _connect(self, *, write: bool) -> _Connection:
        if self._path is None:
            name = ":memory:"
        elif write:
            name = self._path.as_uri()
        else:
            name = self._path.as_uri() + ("?immutable=1" if self._frozen() else "?mode=ro")
        connection = sqlite3.connect(
            name,
            timeout=60,
            isolation_level=None,
            check_same_thread=False,
            uri=True,
            factory=_Connection,
        )
        if write:
            self._kept.append(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA cache_size = -32000")  # kB, used up only by large writes
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._fsync else 'NORMAL'}")
        return connection

    def _frozen(self) -> bool:
        """Say whether nothing can change: on a read-only disk there is no place for locks."""
        if not self._read_only or self._path is None or os.access(self._path.parent, os.W_OK):
            return False
        log, shared = Path(f"{self._path}-wal"), Path(f"{self._path}-shm")
        if not log.exists() or not log.stat().st_size:
            return True
        if not shared.exists():
            msg = (
                f"{log} holds writes that are not in docs.db yet, and they cannot be put there: "
                "close the store that this folder is a copy of, and copy it again."
            )
            raise ValueError(msg)
        return False

    def _check_open(self) -> None:
        if not self._closing.alive:
            msg = "This FAISSStore is closed; open it again with FAISSStore(embedding, path)."
            raise ValueError(msg)
        if self._pid != os.getpid():
            # SQLite connections must not be used, nor even closed, on the other side of a fork.
            if self._path is not None:
                _abandoned.extend([*self._idle, *self._kept])
                self._idle.clear()
                self._kept.clear()
                self._writer = self._log = self._quiet = None
            self._lock = threading.RLock()
            self._pid = os.getpid()
            self._closing.detach()
            self._closing = weakref.finalize(self, _close, self._idle, self._kept, self._pid)

    def _writing_connection(self) -> _Connection:
        self._check_open()
        if self._writer is None:
            self._writer = self._connect(write=True)
        return self._writer

    @contextmanager
    def writing(self) -> Iterator[_Connection]:
        """Hold the one writer's place, in this and every other process; commit at the end."""
        self._check_open()
        if self._read_only:
            msg = "This FAISSStore was opened with read_only=True; open it without to write."
            raise ValueError(msg)
        with self._lock:
            connection = self._writing_connection()
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if "locked" in str(error):
                    msg = "Another process has been writing to this store for a minute; try later."
                    raise TimeoutError(msg) from error
                raise
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[_Connection]:
        """See one commit, whole, however long it takes and whoever writes meanwhile."""
        self._check_open()
        if self._path is None:
            with self._lock:
                yield self._writing_connection()
            return
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect(write=False)
        connection.execute("BEGIN")
        try:
            yield connection
        finally:
            connection.execute("COMMIT")
            self._rest(connection)

    def _rest(self, connection: _Connection) -> None:
        """Lay a reading connection by for the next reader; after `close` there is none."""
        self._idle.append(connection)
        if self.closed:
            _close(self._idle, [], self._pid)

    def close(self) -> None:
        """Close every connection (those in use when they are done); writes must be done first."""
        with self._lock:
            self._closing()

    @property
    def closed(self) -> bool:
        """Whether the connections are closed."""
        return not self._closing.alive

    # What is written, given a connection inside `reading` or `writing`.

    def state(self, connection: _Connection) -> State:
        """Return where the store stands."""
        return State(*connection.execute("SELECT * FROM state").fetchone())

    def manifest(self, connection: _Connection) -> dict[str, Any]:
        """Return what was fixed when the store was made."""
        return dict(connection.execute("SELECT key, value FROM manifest"))

    def still(self, state: State) -> bool:
        """Say whether nothing was committed since a state was seen, at the cost of a glance.

        SQLite is asked, which takes two locks; until its log has another time than it had then,
        the answer stays the same. (A time is only trusted once later writes must differ from it,
        as in https://git-scm.com/docs/racy-git.)
        """
        self._check_open()
        if self._path is None:
            return True
        try:
            written = os.fstat(self._log.fileno()).st_mtime_ns if self._log is not None else 0
        except (OSError, ValueError):  # closed meanwhile, as the next step will say
            return False
        if written and self._quiet == (written, state):
            return True
        now = time.time_ns()  # before SQLite answers, or a commit might come in between
        try:
            connection = self._idle.pop()
        except IndexError:
            return False
        same = connection.looked == (_version(connection), state)
        self._rest(connection)
        if same and 0 < written < now - _CLOCK_TICK:
            self._quiet = written, state
        if self._log is None and os.name == "posix":  # elsewhere file times may be late
            with suppress(OSError):
                self._log = io.FileIO(f"{self._path}-wal")
                self._kept.append(self._log)
        return same

    def looked(self, connection: _Connection, state: State) -> None:
        """Note what a reading connection sees, for `still`."""
        connection.looked = (_version(connection), state)

    def describe(self, connection: _Connection, **facts: Any) -> None:
        """Write facts into the manifest."""
        connection.executemany("INSERT OR REPLACE INTO manifest VALUES (?, ?)", facts.items())

    def insert(
        self,
        connection: _Connection,
        ids: Sequence[str],
        texts: Sequence[str],
        metadatas: Sequence[str],
    ) -> None:
        """Add documents; one with the same id gives way."""
        self.remove(connection, self.rows_of(connection, ids))
        first = self.state(connection).rows
        rows = range(first, first + len(ids))
        connection.executemany(
            "INSERT INTO documents VALUES (?, ?, ?, ?)",
            zip(rows, ids, texts, metadatas, strict=True),
        )
        self._write_words(connection, zip(rows, texts, strict=True))
        connection.execute("UPDATE state SET rows = rows + ?", (len(ids),))

    def remove(self, connection: _Connection, rows: Sequence[int]) -> None:
        """Take documents out; their rows stay empty until the store is compacted."""
        if not rows:
            return
        commits = self.state(connection).commits + 1
        for part in in_parts(rows):
            inside = f"row IN ({marks(part)})"
            found = connection.execute(
                f"SELECT row, text FROM documents WHERE {inside}",  # noqa: S608
                part,
            ).fetchall()
            connection.executemany(
                "INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)",
                ((row, terms(text)) for row, text in found),
            )
            connection.execute(f"DELETE FROM documents WHERE {inside}", part)  # noqa: S608
        connection.executemany(
            "INSERT OR IGNORE INTO tombstones VALUES (?, ?)", ((commits, row) for row in rows)
        )

    def committed(self, connection: _Connection) -> None:
        """Count one more commit, so that readers notice."""
        connection.execute("UPDATE state SET commits = commits + 1")

    def encoded(self, connection: _Connection, rows: int) -> None:
        """Note how many rows the newest file of codes covers."""
        connection.execute("UPDATE state SET codes = ?", (rows,))

    def renumber(self, connection: _Connection, rows: Sequence[int]) -> None:
        """Give the documents in `rows` (ascending) the rows 0, 1, 2, ... of a new generation."""
        connection.executemany(
            "UPDATE documents SET row = ? WHERE row = ?",
            ((new, old) for new, old in enumerate(rows) if new != old),
        )
        connection.execute("DELETE FROM tombstones")
        connection.execute(
            "UPDATE state SET generation = generation + 1, rows = ?, codes = 0", (len(rows),)
        )
        connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
        self._write_words(connection, connection.execute("SELECT row, text FROM documents"))

    def _write_words(self, connection: _Connection, texts: Iterable[tuple[int, str]]) -> None:
        connection.executemany(
            "INSERT INTO words (rowid, terms) VALUES (?, ?)",
            ((row, terms(text)) for row, text in texts),
        )

    # What is read.

    def count(self, connection: _Connection) -> int:
        """Return how many documents there are."""
        number: int = connection.execute("SELECT count(*) FROM documents").fetchone()[0]
        return number

    def after(
        self, connection: _Connection, row: int, count: int
    ) -> list[tuple[int, str, str, str]]:
        """Return the next (row, id, text, metadata) behind a row."""
        return connection.execute(
            "SELECT * FROM documents WHERE row > ? ORDER BY row LIMIT ?", (row, count)
        ).fetchall()

    def rows_of(self, connection: _Connection, ids: Sequence[str]) -> list[int]:
        """Return the rows of those ids that exist."""
        return [
            row
            for part in in_parts(ids)
            for (row,) in connection.execute(
                f"SELECT row FROM documents WHERE id IN ({marks(part)})",  # noqa: S608
                part,
            )
        ]

    def dead_since(self, connection: _Connection, commits: int) -> list[int]:
        """Return the rows that were emptied after a commit."""
        found = connection.execute("SELECT row FROM tombstones WHERE commits > ?", (commits,))
        return [row for (row,) in found]

    def fetch(self, connection: _Connection, rows: Sequence[int]) -> dict[int, Held]:
        """Return documents by row."""
        return {
            row: Held(id_, text, metadata)
            for part in in_parts(rows)
            for row, id_, text, metadata in connection.execute(
                f"SELECT row, id, text, metadata FROM documents WHERE row IN ({marks(part)})",  # noqa: S608
                part,
            )
        }

    def matching(
        self,
        connection: _Connection,
        filter: Filter,  # noqa: A002 - LangChain's word
    ) -> list[int]:
        """Return the rows whose metadata passes a filter, ascending."""
        if callable(filter):
            found = connection.execute("SELECT row, metadata FROM documents ORDER BY row")
            return [row for row, metadata in found if filter(json.loads(metadata))]
        where = condition(filter)
        found = connection.execute(
            f"SELECT row FROM documents WHERE {where.sql}",  # noqa: S608 - values are bound
            where.values,
        )
        return sorted(row for (row,) in found)

    def prepare(self, filter: Filter | None) -> None:  # noqa: A002
        """Make an index for each field a filter asks about, the first time it does."""
        if filter is None or callable(filter) or self._read_only:
            return
        wanted = condition(filter).indexable - self._indexed
        if not wanted:
            return
        with self.reading() as connection:
            if self.state(connection).rows < _INDEX_FROM:
                return
            if wanted <= self._field_indexes(connection):
                self._indexed |= wanted
                return
        # An index is a convenience: while another process writes, a search does without.
        with suppress(TimeoutError), self.writing() as connection:
            have = self._field_indexes(connection)
            missing = sorted(wanted - have)[: max(0, _MOST_INDEXES - len(have))]
            for number, expression in enumerate(missing, len(have)):
                connection.execute(f"CREATE INDEX by_field_{number} ON documents ({expression})")
        self._indexed |= wanted

    def _field_indexes(self, connection: _Connection) -> set[str]:
        listed = connection.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'index' AND name LIKE 'by_field_%'"
        )
        return {sql.split(" ON documents (", 1)[1].removesuffix(")") for (sql,) in listed}

    def _rare(self, connection: _Connection, words: list[str]) -> list[str]:
        """Return the words that fewer than one in twenty documents hold.

        In a large store the others cost nearly all of the time and change next to nothing.
        """
        limit = self.state(connection).rows // 20
        sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        return [
            word for word in words if connection.execute(sql, (word, limit)).fetchone()[0] < limit
        ]

    def keyword(
        self,
        connection: _Connection,
        query: str,
        count: int,
        filter: Filter | None,  # noqa: A002
    ) -> dict[int, float]:
        """Return the best rows by BM25, best first, with scores where higher is better."""
        words = query_words(query)
        if len(words) > 1 and self.state(connection).rows > _LARGE:
            words = self._rare(connection, words) or words
        if not words:
            return {}
        wanted = " OR ".join(words)
        sql, values = "", tuple[Any, ...]()
        if callable(filter):
            sql = " AND rowid IN (SELECT value FROM json_each(?))"
            values = (json.dumps(self.matching(connection, filter)),)
        elif filter:
            where = condition(filter)
            sql = f" AND rowid IN (SELECT row FROM documents WHERE {where.sql})"  # noqa: S608
            values = where.values
        found = connection.execute(
            f"SELECT rowid, -rank FROM words WHERE words MATCH ?{sql} ORDER BY rank LIMIT ?",  # noqa: S608
            (wanted, *values, min(count, 2**63 - 1)),
        )
        return dict(found.fetchall())


def _version(connection: _Connection) -> int:
    """Return a number that changes when another connection, of any process, commits."""
    version: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return version


def _close(idle: list[_Connection], kept: list[_Connection | io.FileIO], pid: int) -> None:
    if pid != os.getpid():
        return
    for opened in (idle, kept):
        with suppress(IndexError):  # two threads may be at it
            while True:
                opened.pop().close()


def in_parts(items: Sequence[Any], size: int = 500) -> Iterator[Sequence[Any]]:
    """Cut values into parts that fit into one SQL statement."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def marks(items: Sequence[Any]) -> str:
    """Return one question mark per value."""
    return ",".join("?" * len(items))
