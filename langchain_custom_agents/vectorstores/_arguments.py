"""Checks of what callers hand over: everything is refused before anything is written."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from langchain_core.documents import Document

__all__ = [
    "checked_documents",
    "checked_ids",
    "checked_metadata",
    "checked_pairs",
    "checked_texts",
    "checked_vectors",
    "given_ids",
    "given_question",
    "whole_number",
]


_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_ENCODE_ALL = json.JSONEncoder(
    ensure_ascii=False, separators=("\x1f", ":"), allow_nan=False, check_circular=False
).encode
_SIMPLE = {str, int, float, bool, type(None)}


def whole_number(name: str, value: Any) -> int:
    """Return a count of at least 1.

    Raises:
        ValueError: If it is something else.
    """
    if type(value) is int and value > 0:
        return value
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        msg = f"{name} must be a whole number of at least 1, not {value!r}."
        raise ValueError(msg)
    return int(value)


def given_question(query: str) -> str:
    """Return a question.

    Raises:
        ValueError: If it is no string.
    """
    if not isinstance(query, str):
        msg = f"query must be a string, not {query!r}."
        raise ValueError(msg)  # noqa: TRY004
    return query


def given_ids(ids: Iterable[str]) -> list[str]:
    """Return the ids of documents that are looked for, each once.

    Raises:
        ValueError: If they are not a list of strings.
    """
    made = _listed("ids", ids, "strings")
    for id_ in made:
        _check_id(id_)
    return list(dict.fromkeys(made))


def _check_id(id_: Any) -> None:
    if not isinstance(id_, str):
        msg = f"ids must be strings; {id_!r} is a {type(id_).__name__}."
        raise ValueError(msg)  # noqa: TRY004
    _check_characters(id_, "ids")


def _check_characters(text: str, where: str) -> None:
    if not text.isascii() and text.encode("utf-8", "replace").decode() != text:
        msg = (
            f"{where} holds half a character (a lone surrogate), which no file can keep; decode it "
            "properly."
        )
        raise ValueError(msg)


def _listed(name: str, values: Any, kind: str) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        one = f"one string; write [{name[:-1]}]" if isinstance(values, str) else repr(values)[:200]
        msg = f"{name} must be a list of {kind}, not {one}."
        raise ValueError(msg)  # noqa: TRY004
    return list(values)


def checked_documents(documents: Iterable[Document]) -> list[Document]:
    """Return the documents as a list.

    Raises:
        ValueError: If one is something else.
    """
    if isinstance(documents, Document):
        msg = "documents must be a list of documents, not one; write [document]."
        raise ValueError(msg)  # noqa: TRY004
    made = _listed("documents", documents, "documents")
    for number, document in enumerate(made):
        if not isinstance(document, Document):
            msg = f"documents[{number}] must be a Document, not a {type(document).__name__}"
            hint = "; add_texts takes strings." if isinstance(document, str) else "."
            raise ValueError(msg + hint)  # noqa: TRY004
    return made


def checked_pairs(pairs: Iterable[tuple[str, Any]]) -> tuple[list[str], list[Any]]:
    """Return the texts and the vectors of pairs.

    Raises:
        ValueError: If one is no pair.
    """
    texts, vectors = [], []
    for number, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            msg = f"text_embeddings[{number}] must be a pair of a text and its vector."
            raise ValueError(msg)
        texts.append(pair[0])
        vectors.append(pair[1])
    return texts, vectors


def checked_ids(ids: Sequence[str | None] | None, count: int) -> list[str]:
    """Return one id per text, made up where none is given.

    Raises:
        ValueError: If there are too few or too many, or one comes twice.
    """
    if ids is None:
        return [str(uuid4()) for _ in range(count)]
    given = [] if isinstance(ids, str) else _listed("ids", ids, "strings")
    if isinstance(ids, str) or len(given) != count:
        there = "one string" if isinstance(ids, str) else f"{len(given)} ids"
        msg = f"ids must hold one id per text: there are {there} for {count} texts."
        raise ValueError(msg)
    made: list[str] = []
    seen: set[str] = set()
    for id_ in given:
        if id_ is not None:
            _check_id(id_)
        if id_ == "":
            msg = "ids holds an empty string; give None for an id that is made up."
            raise ValueError(msg)
        name = id_ or str(uuid4())
        if name in seen:
            msg = f"ids holds {name!r} twice; one call can write a document only once."
            raise ValueError(msg)
        seen.add(name)
        made.append(name)
    return made


def checked_metadata(metadatas: Sequence[Mapping[str, Any] | None] | None, count: int) -> list[str]:
    """Return one JSON text per text.

    Raises:
        ValueError: If there are too few or too many, or one cannot be kept as JSON.
    """
    if metadatas is None:
        return ["{}"] * count
    kind = "mappings, one mapping per text"
    given = [metadata or {} for metadata in _listed("metadatas", metadatas, kind)]
    if len(given) != count:
        msg = f"metadatas must hold one mapping per text: {len(given)} for {count} texts."
        raise ValueError(msg)
    if (
        {type(metadata) for metadata in given} == {dict}
        and {type(key) for metadata in given for key in metadata} <= {str}
        and {type(value) for metadata in given for value in metadata.values()} <= _SIMPLE
    ):
        # Written in one go, which takes a third of the time, and cut where one ends: control
        # characters are escaped in JSON, and a flat mapping has no other "}" before a separator.
        with suppress(ValueError):  # put into words below
            written = _ENCODE_ALL(given)
            written.encode()
            return written[1:-1].replace("}\x1f{", "}\n{").replace("\x1f", ",").split("\n")
    return [_as_json(metadata, number) for number, metadata in enumerate(given)]


def _as_json(metadata: Mapping[str, Any], number: int) -> str:
    if not isinstance(metadata, Mapping):
        msg = f"metadatas[{number}] must be a mapping, not {metadata!r}."
        raise ValueError(msg)  # noqa: TRY004
    try:
        return _ENCODE(_plain(metadata, f"metadatas[{number}]"))
    except RecursionError:
        msg = f"metadatas[{number}] is nested too deeply, or holds itself."
        raise ValueError(msg) from None


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        _check_characters(value, where)
        return str.__str__(value)  # an enumeration's own would name its member
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        msg = f"{where} is {value}, which JSON cannot hold; use None."
        raise ValueError(msg)
    if isinstance(value, Mapping):
        _refuse_odd_keys(value, where)
        return {key: _plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{place}]") for place, item in enumerate(value)]
    hint = "; use .isoformat()" if hasattr(value, "isoformat") else "; use str() or a list"
    msg = (
        f"{where} is a {type(value).__name__}; a store on disk keeps strings, numbers, booleans, "
        f"None, lists and mappings{hint}."
    )
    raise ValueError(msg)


def _refuse_odd_keys(mapping: Mapping[Any, Any], where: str) -> None:
    for key in mapping:
        if not isinstance(key, str):
            msg = f"{where} has the key {key!r}, a {type(key).__name__}; keys must be strings."
            raise ValueError(msg)  # noqa: TRY004
        _check_characters(key, f"{where}, in a key,")


def checked_texts(texts: Iterable[str]) -> list[str]:
    """Return the texts as a list.

    Raises:
        ValueError: If one is not a string, or all are one string.
    """
    made = _listed("texts", texts, "strings")
    for number, text in enumerate(made):
        if not isinstance(text, str):
            msg = f"texts[{number}] must be a string, not a {type(text).__name__}."
            raise ValueError(msg)  # noqa: TRY004
        _check_characters(text, f"texts[{number}]")
    return made


def checked_vectors(
    vectors: Any, count: int, dimension: int | None, *, normalise: bool, what: str = "vector"
) -> npt.NDArray[np.float32]:
    """Return vectors as a float32 matrix, one row per text.

    Raises:
        ValueError: If their number or dimension is wrong, or one holds NaN or infinity, or is
            too long to be compared.
    """
    if count == 0:
        return np.empty((0, dimension or 0), np.float32)
    try:
        matrix = np.array(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        lengths = sorted({len(vector) for vector in vectors if hasattr(vector, "__len__")})
        msg = f"The {what}s are not lists of numbers of one length (lengths seen: {lengths[:5]})."
        raise ValueError(msg) from error
    if matrix.ndim != 2 or len(matrix) != count or matrix.shape[1] == 0:
        msg = f"There must be one {what} per text: {count} texts, an array of shape {matrix.shape}."
        raise ValueError(msg)
    if dimension is not None and matrix.shape[1] != dimension:
        msg = (
            f"This store holds vectors of {dimension} dimensions; the {what} has "
            f"{matrix.shape[1]}. Use the embeddings the store was made with, or make a new store."
        )
        raise ValueError(msg)
    # A sum is finite only if everything in it is; looking closer costs more and is rare.
    squares = np.einsum("ij,ij->i", matrix, matrix)
    if not (squares < 8e37).all():
        bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
        if len(bad):
            msg = f"The {what} at place {bad[0]} holds NaN or infinity, so nothing could find it."
            raise ValueError(msg)
        if not normalise:
            msg = f"A {what} is too long for float32 to compare; use metric='cosine', or scale it."
            raise ValueError(msg)
    if normalise:
        odd = ~((squares > 1e-30) & (squares < 1e30))
        lengths = np.sqrt(squares, where=~odd, out=np.ones_like(squares))
        if odd.any():
            # Float32 cannot square these; a zero vector stays one, at 0 from everything.
            exact = np.linalg.norm(matrix[odd].astype(np.float64), axis=1, keepdims=True)
            matrix[odd] = matrix[odd] / np.where(exact == 0, 1.0, exact)
        matrix /= lengths[:, None]
    return matrix
