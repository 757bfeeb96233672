"""`lca index`: documents into a folder that can be searched."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from langchain_custom_agents.cli.documents import (
    CHUNK,
    OVERLAP,
    files_in,
    read,
    split,
)
from langchain_custom_agents.cli.errors import Failure, using_model
from langchain_custom_agents.cli.names import CONVERTED, TEXT
from langchain_custom_agents.cli.sources import WrittenPath, progress_on

if TYPE_CHECKING:
    from langchain_core.documents import Document


_EXAMPLES = """\b
Examples:
  lca index notes/ handbook.pdf --into my-index
  lca ask --index my-index "What is the notice period?"
"""


@click.command(epilog=_EXAMPLES)
@click.argument("paths", nargs=-1, required=True, type=WrittenPath(path_type=Path))
@click.option(
    "--into",
    required=True,
    metavar="FOLDER",
    type=WrittenPath(path_type=Path, file_okay=False),
    help="The folder of the index, made if need be.",
)
@click.option(
    "--embeddings",
    metavar="PROVIDER:NAME",
    help="The embedding model, such as openai:text-embedding-3-small. Without: hashing, which "
    "needs no model. `ask` and `search` must name the same.",
)
@click.option(
    "--chunk-size",
    type=click.IntRange(min=50),
    default=CHUNK,
    show_default=True,
    metavar="N",
    help="The most characters of a passage.",
)
@click.option(
    "--chunk-overlap",
    type=click.IntRange(min=0),
    default=OVERLAP,
    show_default=True,
    metavar="N",
    help="How many characters two passages may share.",
)
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
def index(
    paths: tuple[Path, ...],
    into: Path,
    embeddings: str | None,
    chunk_size: int,
    chunk_overlap: int,
    as_object: bool,
) -> None:
    """Put the documents under PATHS into a folder that `ask` and `search` can read.

    Of folders the txt, md, rst, pdf, docx and html files are read, the last three with the extra
    docs.

    Run again, it touches only what changed: changed and new documents are added, those that are
    gone from PATHS are deleted. A run that was stopped goes on where it was. A document that
    cannot be read is named and left as it was in the index; the exit code is then 1.
    """
    from langchain_custom_agents.cli.models import open_embeddings
    from langchain_custom_agents.cli.show import as_json
    from langchain_custom_agents.vectorstores.faiss import FAISSStore
    from langchain_custom_agents.vectorstores.indexing import index_documents

    if chunk_overlap >= chunk_size:
        msg = "--chunk-overlap must be less than --chunk-size."
        raise click.UsageError(msg)
    files = files_in(paths, (*TEXT, *CONVERTED))
    unread: list[str] = []
    # A file that could not be read must not be taken for one that is gone: then nothing is.
    under = [str(path.expanduser().resolve()) for path in paths]

    def passages() -> "Iterator[Document]":
        for file in files:
            try:
                document = read(file)
            except Failure as failure:
                click.echo(f"Left out: {failure.message}", err=True)
                unread.append(str(file))
                under.clear()
                continue
            finally:
                advance()
            if document is None:
                click.echo(f"There is no text in {file}.", err=True)
            else:
                # The index outlives the folder that this was called in.
                document.metadata["source"] = str(file.resolve())
                yield from split(document, chunk_size, chunk_overlap)

    with (
        FAISSStore(open_embeddings(embeddings), into.expanduser()) as store,
        using_model(embeddings),
        progress_on(len(files), "Indexing") as advance,
    ):
        told = index_documents(passages(), store, under=under)
        holds = len(store)
    said: dict[str, Any] = {
        "into": str(into),
        "files": len(files) - len(unread),
        **told._asdict(),
        "passages": holds,
        "unread": unread,
    }
    if as_object:
        click.echo(as_json(said))
    else:
        click.echo(
            f"Files read: {said['files']}. Passages: {told.added} added, {told.updated} updated, "
            f"{told.skipped} skipped, {told.deleted} deleted; {into} holds {holds}."
        )
    if unread:
        raise click.exceptions.Exit(1)
