"""Metadata filters: the operator language of LangChain's stores, written as SQL."""

import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from math import isinf, isnan
from typing import Any, NamedTuple

__all__ = ["Condition", "Filter", "condition"]

Filter = Mapping[str, Any] | Callable[[dict[str, Any]], bool]
"""What `filter=` takes: a mapping in the operator language, or a function of the metadata."""

_COMPARISONS = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_OPERATORS = ("$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte", "$exists", "$not")
_LOGIC = ("$and", "$or", "$not")


class Condition(NamedTuple):
    """A filter as SQL over the table `documents`, and the expressions an index would help."""

    sql: str
    values: tuple[Any, ...]
    indexable: frozenset[str] = frozenset()


def condition(filter: Mapping[str, Any]) -> Condition:  # noqa: A002 - LangChain's word
    """Write a filter as an SQL condition.

    `{"lang": "ja"}` means equal; a list means one of; an operator stands in a mapping:
    `{"year": {"$gte": 2020, "$lt": 2024}}`. Several fields must all hold. `$and` and `$or` take
    lists of filters, `$not` one filter. A missing field and None are the same to `$eq`, `$ne`,
    `$in` and `$nin` and never greater or less than anything; `$exists` tells them apart. Numbers
    compare with numbers, words with words.

    Args:
        filter: The filter.

    Returns:
        The condition.

    Raises:
        ValueError: If an operator is unknown or an operand does not fit it; the sentence names
            the field.

    Example:
        >>> condition({"lang": "ja"}).values
        ('ja',)
        >>> condition({"year": {"$gte": 2020}}).values
        (2020,)
    """
    parts = [_clause(key, value) for key, value in filter.items()]
    return _join(parts, " AND ") if parts else Condition("1", ())


def _join(parts: list[Condition], word: str) -> Condition:
    if len(parts) == 1:
        return parts[0]
    # In halves, since SQLite takes no more than a thousand levels and counts one for each "OR".
    left, right = (_join(half, word) for half in (parts[::2], parts[1::2]))
    return Condition(
        f"({left.sql}{word}{right.sql})",
        (*left.values, *right.values),
        left.indexable | right.indexable,
    )


def _negated(inner: Condition) -> Condition:
    # SQL's third truth value (a comparison with a missing field) counts as "does not hold".
    return Condition(f"({inner.sql}) IS NOT TRUE", inner.values)


def _clause(key: str, value: Any) -> Condition:
    if not isinstance(key, str):
        msg = f"A filter's field names are strings; {key!r} is a {type(key).__name__}."
        raise ValueError(msg)  # noqa: TRY004 - one kind of error for every misuse of a filter
    if key in ("$and", "$or"):
        if not isinstance(value, list | tuple) or not value:
            msg = f"{key} takes a list of at least one filter, not {value!r}."
            raise ValueError(msg)
        return _join([_nested(key, item) for item in value], " AND " if key == "$and" else " OR ")
    if key == "$not":
        return _negated(_nested(key, value))
    if key.startswith("$"):
        raise ValueError(_unknown(key, _LOGIC, "at the top of a filter"))
    if isinstance(value, Mapping) and value and all(str(name).startswith("$") for name in value):
        return _join([_operation(key, name, operand) for name, operand in value.items()], " AND ")
    if isinstance(value, Mapping) and any(str(name).startswith("$") for name in value):
        msg = f"The filter on {key!r} mixes operators and plain keys: {sorted(map(str, value))}."
        raise ValueError(msg)
    if isinstance(value, Mapping) and value and all(f"${name}" in _OPERATORS for name in value):
        meant = ", ".join(f"${name}" for name in value)
        msg = (
            f"The filter on {key!r} has {sorted(value)} without a dollar sign: did you mean "
            f'{meant}? For metadata that is such a mapping itself write {{"$eq": {{...}}}}.'
        )
        raise ValueError(msg)
    value = _operand(key, value)
    return _operation(key, "$in" if isinstance(value, list) else "$eq", value)


def _nested(word: str, item: Any) -> Condition:
    if not isinstance(item, Mapping):
        msg = f"{word} takes filters (mappings), not {item!r}."
        raise ValueError(msg)  # noqa: TRY004
    return condition(item)


def _operation(key: str, operator: str, operand: Any) -> Condition:
    expression, kind, indexable = _field(key)
    if operator == "$not":
        if not isinstance(operand, Mapping):
            msg = f"$not on the field {key!r} takes operators, not {operand!r}."
            raise ValueError(msg)
        return _negated(_clause(key, operand))
    operand = _operand(key, operand)
    if operator == "$exists":
        if not isinstance(operand, bool):
            msg = f"$exists on the field {key!r} takes True or False, not {operand!r}."
            raise ValueError(msg)
        return Condition(f"{kind} IS {'NOT ' if operand else ''}NULL", ())
    if operator == "$eq":
        return _equal(expression, kind, indexable, operand)
    if operator == "$ne":
        return _negated(_equal(expression, kind, indexable, operand))
    if operator in ("$in", "$nin"):
        if not isinstance(operand, list):
            msg = f"{operator} on the field {key!r} takes a list of values, not {operand!r}."
            raise ValueError(msg)
        inside = _one_of(expression, kind, indexable, operand)
        return inside if operator == "$in" else _negated(inside)
    if operator in _COMPARISONS:
        if isinstance(operand, str):
            right_type = f"{kind} = 'text'"
        elif isinstance(operand, int | float):
            right_type = f"typeof({expression}) IN ('integer', 'real')"
        else:
            msg = f"{operator} on the field {key!r} compares numbers or words, not {operand!r}."
            raise ValueError(msg)
        sql = f"({expression} {_COMPARISONS[operator]} ? AND {right_type})"
        return Condition(sql, (_scalar(operand),), indexable)
    raise ValueError(_unknown(operator, _OPERATORS, f"on the field {key!r}"))


def _equal(expression: str, kind: str, indexable: frozenset[str], operand: Any) -> Condition:
    if operand is None:
        return Condition(f"{expression} IS NULL", (), indexable)
    if isinstance(operand, list | dict):
        written = json.dumps(operand, ensure_ascii=False, separators=(",", ":"))
        sql = f"({expression} = ? AND {kind} IN ('array', 'object'))"
        return Condition(sql, (written,), indexable)
    if isinstance(operand, str) and operand[:1] in ("[", "{"):
        # SQL sees a list as its text; a text that looks like one must not equal it.
        return Condition(f"({expression} = ? AND {kind} = 'text')", (operand,), indexable)
    return Condition(f"{expression} = ?", (_scalar(operand),), indexable)


def _one_of(
    expression: str, kind: str, indexable: frozenset[str], operands: list[Any]
) -> Condition:
    special = [
        operand
        for operand in operands
        if operand is None
        or isinstance(operand, list | dict)
        or (isinstance(operand, str) and operand[:1] in ("[", "{"))
        or (isinstance(operand, float) and isinf(operand))  # which JSON cannot write
    ]
    plain = [_scalar(operand) for operand in operands if operand not in special]
    parts = [_equal(expression, kind, indexable, operand) for operand in special]
    if plain:
        sql = f"{expression} IN (SELECT value FROM json_each(?))"  # noqa: S608 - keys are quoted
        parts.append(Condition(sql, (json.dumps(plain),), indexable))
    return _join(parts, " OR ") if parts else Condition("0", ())


def _scalar(operand: str | float) -> str | float:
    """Return a value as SQL has it: no booleans, and large whole numbers are floats."""
    if isinstance(operand, bool):
        return int(operand)
    if isinstance(operand, int) and not -(2**63) <= operand < 2**63:
        return float(operand)
    return operand


def _operand(key: str, operand: Any) -> Any:
    """Return what is compared with as metadata would hold it."""
    if hasattr(operand, "tolist"):  # numpy's numbers and arrays
        operand = operand.tolist()
    if isinstance(operand, list | tuple | set | frozenset | range):
        return [_operand(key, item) for item in operand]
    if isinstance(operand, Mapping):
        return {name: _operand(key, item) for name, item in operand.items()}
    if isinstance(operand, float) and isnan(operand):
        msg = f"The filter on {key!r} compares with NaN, which nothing equals."
        raise ValueError(msg)
    if operand is None or isinstance(operand, str | int | float):
        return operand
    msg = (
        f"The filter on {key!r} compares with a {type(operand).__name__}; metadata holds strings, "
        "numbers, booleans, None, lists and mappings."
    )
    raise ValueError(msg)


def _field(key: str) -> tuple[str, str, frozenset[str]]:
    """Return the SQL for a field's value and for its JSON type."""
    if any(mark in key for mark in '"\\') or any(ord(mark) < 32 for mark in key):
        # SQLite's JSON paths cannot spell such a name; looking at each key can.
        name = "'" + key.replace("'", "''") + "'" if "\0" not in key else "''"
        inside = f"FROM json_each(metadata) WHERE key = {name})"
        return f"(SELECT value {inside}", f"(SELECT type {inside}", frozenset()
    path = "'$.\"" + key.replace("'", "''") + "\"'"
    expression = f"json_extract(metadata, {path})"
    return expression, f"json_type(metadata, {path})", frozenset([expression])


def _unknown(operator: str, known: tuple[str, ...], where: str) -> str:
    near = get_close_matches(operator, known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{operator!r} is not an operator {where}: {hint}The operators are {', '.join(known)}."
