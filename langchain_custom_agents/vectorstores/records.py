"""What was indexed, and from where: the memory of `langchain_core.indexing.index`."""

import time
from collections.abc import Sequence
from pathlib import Path

from langchain_core.indexing.base import RecordManager
from langchain_core.runnables.config import run_in_executor

from langchain_custom_agents.vectorstores._documents import Documents, in_parts, marks

__all__ = ["FolderRecordManager"]


class FolderRecordManager(RecordManager):
    """Records in a folder's `docs.db`: which documents were indexed, from which source, when.

    `FAISSStore.record_manager()` gives the one that lives in the store's own folder. It counts a
    document as indexed only while the store really holds it, so whatever happens between the two
    (a crash, a deletion by hand) is put right by indexing again. For stores elsewhere, give a
    folder of its own.

    Args:
        namespace: Keeps several sets of records in one folder apart.
        folder: The folder, made if need be.

    Example:
        >>> from langchain_core.indexing import index
        >>> from langchain_core.documents import Document
        >>> from langchain_custom_agents.offline import HashingEmbeddings
        >>> from langchain_custom_agents.vectorstores.faiss import FAISSStore
        >>> store = FAISSStore(HashingEmbeddings())
        >>> page = Document("takuma is a teacher", metadata={"source": "drama.txt"})
        >>> for _ in range(2):
        ...     told = index([page], store.record_manager(), store, key_encoder="sha256")
        ...     print(told["num_added"], told["num_skipped"])
        1 0
        0 1
    """

    def __init__(self, namespace: str, folder: str | Path) -> None:
        super().__init__(namespace)
        self._path = Path(folder)
        self._path.mkdir(parents=True, exist_ok=True)
        self._documents = Documents(self._path, read_only=False, fsync=True)
        self._held_only = False

    @classmethod
    def beside(cls, documents: Documents, namespace: str) -> "FolderRecordManager":
        """Return the records that live with a store's documents."""
        made = cls.__new__(cls)
        RecordManager.__init__(made, namespace)
        made._documents = documents
        made._held_only = True
        return made

    def create_schema(self) -> None:
        """Do nothing: the folder has its tables from the start."""

    async def acreate_schema(self) -> None:
        """Do nothing: the folder has its tables from the start."""

    def get_time(self) -> float:
        """Return the time, later than every record even if the clock was set back."""
        with self._documents.reading() as connection:
            last: float | None = connection.execute(
                "SELECT max(updated_at) FROM records WHERE namespace = ?", (self.namespace,)
            ).fetchone()[0]
        return max(time.time(), (last or 0.0) + 1e-6)

    async def aget_time(self) -> float:
        """Return the time; see `get_time`."""
        return await run_in_executor(None, self.get_time)

    def update(
        self,
        keys: Sequence[str],
        *,
        group_ids: Sequence[str | None] | None = None,
        time_at_least: float | None = None,
    ) -> None:
        """Record that documents are there now.

        Args:
            keys: The documents' ids.
            group_ids: Their sources, one per key; None keeps what is recorded.
            time_at_least: The least time to record.

        Raises:
            ValueError: If there are not as many sources as keys.
        """
        if group_ids is not None and len(group_ids) != len(keys):
            msg = f"group_ids must hold one source per key: {len(group_ids)} for {len(keys)} keys."
            raise ValueError(msg)
        now = max(time.time(), time_at_least or 0.0)
        groups = group_ids if group_ids is not None else [None] * len(keys)
        with self._documents.writing() as connection:
            connection.executemany(
                "INSERT INTO records VALUES (?, ?, ?, ?) ON CONFLICT (namespace, key) DO UPDATE "
                "SET updated_at = excluded.updated_at, "
                "group_id = coalesce(excluded.group_id, group_id)",
                (
                    (self.namespace, key, group, now)
                    for key, group in zip(keys, groups, strict=True)
                ),
            )

    async def aupdate(
        self,
        keys: Sequence[str],
        *,
        group_ids: Sequence[str | None] | None = None,
        time_at_least: float | None = None,
    ) -> None:
        """Record that documents are there now; see `update`."""
        await run_in_executor(
            None, self.update, keys, group_ids=group_ids, time_at_least=time_at_least
        )

    def exists(self, keys: Sequence[str]) -> list[bool]:
        """Say for each key whether it is recorded (and, beside a store, really there).

        Args:
            keys: The documents' ids.

        Returns:
            One truth per key.
        """
        held = " AND key IN (SELECT id FROM documents)" if self._held_only else ""
        found: set[str] = set()
        with self._documents.reading() as connection:
            for part in in_parts(keys):
                rows = connection.execute(
                    f"SELECT key FROM records WHERE namespace = ? AND key IN ({marks(part)}){held}",  # noqa: S608
                    (self.namespace, *part),
                )
                found.update(key for (key,) in rows)
        return [key in found for key in keys]

    async def aexists(self, keys: Sequence[str]) -> list[bool]:
        """Say for each key whether it is recorded; see `exists`."""
        return await run_in_executor(None, self.exists, keys)

    def list_keys(
        self,
        *,
        before: float | None = None,
        after: float | None = None,
        group_ids: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[str]:
        """Return recorded keys.

        Args:
            before: Only those recorded before this time.
            after: Only those recorded after this time.
            group_ids: Only those from these sources.
            limit: At most so many.

        Returns:
            The keys.
        """
        sql = "SELECT key FROM records WHERE namespace = ?"
        values: list[str | float] = [self.namespace]
        if before is not None:
            sql += " AND updated_at < ?"
            values.append(before)
        if after is not None:
            sql += " AND updated_at > ?"
            values.append(after)
        keys: list[str] = []
        with self._documents.reading() as connection:
            parts = [None] if group_ids is None else list(in_parts(group_ids))
            for part in parts:
                inside = f" AND group_id IN ({marks(part)})" if part is not None else ""
                rows = connection.execute(
                    f"{sql}{inside} LIMIT ?",
                    (*values, *(part or ()), -1 if limit is None else limit - len(keys)),
                )
                keys.extend(key for (key,) in rows)
        return keys

    async def alist_keys(
        self,
        *,
        before: float | None = None,
        after: float | None = None,
        group_ids: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[str]:
        """Return recorded keys; see `list_keys`."""
        return await run_in_executor(
            None, self.list_keys, before=before, after=after, group_ids=group_ids, limit=limit
        )

    def delete_keys(self, keys: Sequence[str]) -> None:
        """Forget keys.

        Args:
            keys: The documents' ids.
        """
        with self._documents.writing() as connection:
            connection.executemany(
                "DELETE FROM records WHERE namespace = ? AND key = ?",
                ((self.namespace, key) for key in keys),
            )

    async def adelete_keys(self, keys: Sequence[str]) -> None:
        """Forget keys; see `delete_keys`."""
        await run_in_executor(None, self.delete_keys, keys)

    def sources(self) -> list[str]:
        """Return every source something is recorded from, sorted.

        Example:
            >>> from langchain_custom_agents.vectorstores.faiss import FAISSStore
            >>> FAISSStore(None).record_manager().sources()
            []
        """
        with self._documents.reading() as connection:
            rows = connection.execute(
                "SELECT DISTINCT group_id FROM records WHERE namespace = ? "
                "AND group_id IS NOT NULL ORDER BY group_id",
                (self.namespace,),
            )
            return [source for (source,) in rows]
