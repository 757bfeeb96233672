"""The operator language of filters, against a plain reading of it in Python."""

import json
import sqlite3
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_custom_agents.vectorstores._filters import condition
from langchain_custom_agents.vectorstores.faiss import FAISSStore

FIELDS = ["lang", "year", "o'clock", 'quo"ted', "back\\slash", "ключ", "a.b", "new\nline", "$.x"]
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(-(2**70), 2**70),
    st.floats(-2, 2),
    st.sampled_from(["", "ja", "en", "[1]", "{}", "1", "日本", "it's", 'say "hi"']),
)
values = st.one_of(scalars, st.lists(scalars, max_size=2), st.dictionaries(st.just("k"), scalars))
metadata = st.dictionaries(st.sampled_from(FIELDS), values, max_size=3)
comparable = scalars.filter(lambda value: value is not None)
operations = st.one_of(
    st.tuples(st.sampled_from(["$eq", "$ne"]), values),
    st.tuples(st.sampled_from(["$in", "$nin"]), st.lists(values, max_size=3)),
    st.tuples(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), comparable),
    st.tuples(st.just("$exists"), st.booleans()),
)
fields = st.tuples(
    st.sampled_from(FIELDS[:-1]),
    st.one_of(
        scalars,
        operations.map(lambda pair: dict([pair])),
        operations.map(lambda pair: {"$not": dict([pair])}),
    ),
).map(lambda pair: dict([pair]))
filters = st.recursive(
    fields,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$and": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$or": parts}),
        inner.map(lambda part: {"$not": part}),
        st.tuples(inner, inner).map(lambda pair: {**pair[0], **pair[1]}),
    ),
    max_leaves=5,
)


def same(left: Any, right: Any) -> bool:
    """Say whether two JSON values are equal; numbers and booleans are numbers."""
    if isinstance(left, list | dict) or isinstance(right, list | dict):
        return type(left) is type(right) and json.dumps(left) == json.dumps(right)
    if isinstance(left, str) or isinstance(right, str):
        return isinstance(left, str) and isinstance(right, str) and left == right
    if left is None or right is None:
        return left is right
    return plain(left) == plain(right)


def plain(number: Any) -> Any:
    """Return a number as 64 bits can hold it."""
    return float(number) if abs(number) >= 2**63 else number


def compared(operator: str, value: Any, operand: Any) -> bool:
    """Say whether a comparison holds."""
    if isinstance(value, str) != isinstance(operand, str):
        return False
    if value is None or isinstance(value, list | dict):
        return False
    left, right = (value, operand) if isinstance(value, str) else (plain(value), plain(operand))
    return {
        "$gt": left > right,
        "$gte": left >= right,
        "$lt": left < right,
        "$lte": left <= right,
    }[operator]


def holds(wanted: dict[str, Any], held: dict[str, Any]) -> bool:
    """Say whether metadata passes a filter: the language in a dozen lines."""
    for key, value in wanted.items():
        if key in ("$and", "$or"):
            results = [holds(part, held) for part in value]
            result = all(results) if key == "$and" else any(results)
        elif key == "$not":
            result = not holds(value, held)
        elif isinstance(value, dict) and value and next(iter(value)).startswith("$"):
            result = all(operates(name, operand, key, held) for name, operand in value.items())
        else:
            result = same(held.get(key), value)
        if not result:
            return False
    return True


def operates(operator: str, operand: Any, key: str, held: dict[str, Any]) -> bool:
    """Say whether one operator on one field holds."""
    value = held.get(key)
    if operator == "$not":
        return not holds({key: operand}, held)
    if operator == "$exists":
        return (key in held) == operand
    if operator in ("$eq", "$ne"):
        return same(value, operand) == (operator == "$eq")
    if operator in ("$in", "$nin"):
        return any(same(value, item) for item in operand) == (operator == "$in")
    return compared(operator, value, operand)


@settings(max_examples=4 * settings().max_examples)
@given(filters, st.lists(metadata, min_size=1, max_size=5))
def test_sql_says_what_the_language_says(
    wanted: dict[str, Any], held: list[dict[str, Any]]
) -> None:
    """Whatever the filter and the metadata, the SQL chooses what a plain reading chooses."""
    store = FAISSStore(None)
    store.add_embeddings(
        [("text", [1.0])] * len(held), held, ids=[str(n) for n in range(len(held))]
    )
    found = {d.id for d in store.similarity_search_by_vector([1.0], k=9, filter=wanted)}
    assert found == {str(number) for number, each in enumerate(held) if holds(wanted, each)}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"year": {"$gtt": 1}},
            r"'\$gtt' is not an operator on the field 'year': did you mean \$gt",
        ),
        ({"$an": []}, r"did you mean \$and"),
        ({"$and": []}, r"\$and takes a list of at least one filter"),
        ({"$or": {"a": 1}}, r"\$or takes a list"),
        ({"$and": [1]}, "takes filters"),
        ({"$not": 3}, "takes filters"),
        ({"a": {"$not": 3}}, r"\$not on the field 'a'"),
        ({"a": {"$in": "ja"}}, r"\$in on the field 'a' takes a list"),
        ({"a": {"$gt": None}}, r"\$gt on the field 'a' compares numbers or words"),
        ({"a": {"$gt": float("nan")}}, "compares with NaN"),
        ({"a": {"$exists": 1}}, "takes True or False"),
        ({"a": {"$gt": 1, "b": 2}}, "mixes operators and plain keys"),
        ({"a": {"gt": 1}}, r"did you mean \$gt\? For metadata that is such a mapping"),
        ({1: 2}, "field names are strings"),
        ({"a": object()}, "metadata holds strings"),
    ],
)
def test_a_filter_that_says_nothing_is_refused(wrong: Any, sentence: str) -> None:
    """A mistake in a filter is a sentence that names the field, never an empty result."""
    with pytest.raises(ValueError, match=sentence):
        condition(wrong)


@pytest.mark.parametrize(
    "wanted",
    [
        {"year": np.int64(2024)},
        {"year": {"$lte": np.int64(2024)}},
        {"year": {"$in": np.array([2023, 2024])}},
        {"year": {"$in": {np.float32(2024)}}},
        {"year": range(2020, 2025)},
        {"year": {"$in": [float("inf"), 2024]}},
        {"$or": [{"year": year} for year in range(2_500)]},
        {"$and": [{f"field {number}": {"$exists": False}} for number in range(1_500)]},
    ],
    ids=lambda wanted: repr(wanted)[:40],
)
def test_what_programs_write_is_understood(wanted: Any) -> None:
    """Numpy's numbers, sets, ranges, infinity, and thousands of clauses are filters like others."""
    store = FAISSStore(None)
    store.add_embeddings([("text", [1.0])] * 2, [{"year": 2024}, {"year": 5_000, "field 7": 1}])
    (found,) = store.similarity_search_by_vector([1.0], filter=wanted)
    assert found.metadata == {"year": 2024}


def test_negations_may_be_nested() -> None:
    """Twenty negations within each other are none."""
    wanted: dict[str, Any] = {"year": 2024}
    for _ in range(20):
        wanted = {"$not": wanted}
    store = FAISSStore(None)
    store.add_embeddings([("text", [1.0])] * 2, [{"year": 2024}, {}])
    assert len(store.similarity_search_by_vector([1.0], filter=wanted)) == 1


def test_a_list_means_one_of() -> None:
    """A bare list is short for $in, as in LangChain's FAISS."""
    store = FAISSStore(None)
    store.add_embeddings([("a", [1.0]), ("b", [1.0]), ("c", [1.0])], [{"n": n} for n in range(3)])
    found = store.similarity_search_by_vector([1.0], filter={"n": [0, 2]})
    assert sorted(d.page_content for d in found) == ["a", "c"]


def test_a_function_is_a_filter_too() -> None:
    """A function of the metadata filters first as well."""
    store = FAISSStore(None)
    store.add_embeddings([(str(n), [1.0]) for n in range(100)], [{"n": n} for n in range(100)])
    found = store.similarity_search_by_vector([1.0], k=9, filter=lambda held: held["n"] % 50 == 1)
    assert sorted(d.page_content for d in found) == ["1", "51"]


def test_keys_cannot_speak_sql() -> None:
    """A field name is a name, whatever it holds."""
    store = FAISSStore(None)
    evil = "x') OR 1=1 --"
    store.add_embeddings([("a", [1.0]), ("b", [1.0])], [{evil: 1}, {}])
    assert len(store.similarity_search_by_vector([1.0], filter={evil: 1})) == 1


def test_an_index_answers_the_second_time() -> None:
    """The first filter on a field of a large store makes an index, which SQLite then uses."""
    store = FAISSStore(None)
    count = 6_000
    store.add_embeddings([("a", [1.0])] * count, [{"n": n, "o'": n} for n in range(count)])
    for key in ("n", "o'"):
        (found,) = store.similarity_search_by_vector([1.0], filter={key: 4_321})
        assert found.metadata["n"] == 4_321
    with store._documents.reading() as connection:
        where = condition({"n": 5})
        plan = connection.execute(
            f"EXPLAIN QUERY PLAN SELECT row FROM documents WHERE {where.sql}", where.values
        ).fetchall()
    assert "USING" in plan[0][3]
    assert "INDEX by_field_0" in plan[0][3]


def test_sqlite_has_json() -> None:
    """The SQLite that Python brings knows JSON and full text."""
    connection = sqlite3.connect(":memory:")
    assert connection.execute("""SELECT json_extract('{"a":[1]}', '$."a"')""").fetchone() == (
        "[1]",
    )
    connection.close()
