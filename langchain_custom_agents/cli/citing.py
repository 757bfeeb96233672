"""Where answers come from, as it is said."""

from typing import TYPE_CHECKING, Any

from langchain_custom_agents._cited import numbers_in

if TYPE_CHECKING:
    from langchain_core.documents import Document

_ALSO = ("license", "license_url", "revision", "number", "date")


def about(document: "Document") -> dict[str, Any]:
    """Return what can be said about where a document comes from."""
    metadata = document.metadata
    said: dict[str, Any] = {name: str(metadata.get(name) or "") for name in ("title", "source")}
    said |= {name: metadata[name] for name in _ALSO if metadata.get(name)}
    if metadata.get("score") is not None:
        said["score"] = round(float(metadata["score"]), 4)
    return said


def sources_of(found: "list[Document]") -> list[dict[str, Any]]:
    """Return where documents come from: each source once, in order, with its best score."""
    kept: dict[tuple[str, str], dict[str, Any]] = {}
    for document in found:
        said = about(document)
        if not (said["title"] or said["source"]):
            continue
        known = kept.setdefault((said["title"], said["source"]), said)
        if "score" in said:
            known["score"] = max(said["score"], known.get("score", said["score"]))
    return list(kept.values())


def said_source(found: dict[str, Any], number: int) -> str:
    """Write a source in one line.

    Example:
        >>> said_source({"title": "GPL-3", "source": "/gpl.txt", "score": 0.5}, 1)
        '[1] 0.500 GPL-3, /gpl.txt'
    """
    score = f"{found['score']:.3f} " if "score" in found else ""
    parts = ("title", "source", "date", "license")
    said = ", ".join(str(found[name]) for name in parts if found.get(name))
    return f"[{found.get('number', number)}] {score}{said}".rstrip()


def cited(answer: str, sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the sources whose numbers an answer names; all of them if it names none.

    A page is called by its own title, though the search may have found it under another.

    Args:
        answer: The answer.
        sources: Sources with numbers, in order.

    Example:
        >>> cited("A teacher [2].", [{"number": 1}, {"number": 2}])
        [{'number': 2}]
    """
    numbered = {source["number"]: source for source in sources}
    named = numbers_in(answer)
    return [numbered[number] for number in sorted(named & set(numbered) or set(numbered))]


def with_number(answer: str, found: "list[Document]") -> str:
    """Add the number of the source that holds an answer word for word, as the stand-in's does.

    Example:
        >>> from langchain_core.documents import Document
        >>> page = Document("He says: takuma is a teacher", metadata={"number": 3})
        >>> with_number("Takuma is a teacher.", [page])
        'Takuma is a teacher. [3]'
    """
    words = " ".join(answer.split()).rstrip(".。").casefold()
    for document in found:
        if words and words in " ".join(document.page_content.split()).casefold():
            return f"{answer} [{document.metadata['number']}]"
    return answer
