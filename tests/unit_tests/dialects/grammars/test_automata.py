"""Automata say of every text what their nodes say."""

import re
import sys
import unicodedata
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from langchain_custom_agents.dialects.grammars import Except, Node, either, many, seq
from langchain_custom_agents.dialects.grammars.automata import Automaton, automaton
from langchain_custom_agents.dialects.grammars.nodes import (
    LAST,
    LINE,
    Chars,
    Choice,
    Literal,
    Repeat,
    Sequence,
    any_case,
    matching,
    none_of,
    one_of,
    ranges_of,
)

ALPHABET = "ab\n"
TEXTS = ["".join(marks) for length in range(5) for marks in product(ALPHABET, repeat=length)]


def ends(node: Node, text: str, at: int) -> set[int]:
    """Return where a node that begins here may end: slowly, and as its words say."""
    match node:
        case Literal(words):
            return {at + len(words)} if text.startswith(words, at) else set()
        case Chars(ranges):
            held = at < len(text) and any(low <= ord(text[at]) <= high for low, high in ranges)
            return {at + 1} if held else set()
        case Sequence(items):
            found = {at}
            for item in items:
                found = {end for begin in found for end in ends(item, text, begin)}
            return found
        case Choice(items):
            return {end for item in items for end in ends(item, text, at)}
        case Repeat(item, least, most):
            here, found = {at}, {at} if least == 0 else set()
            for count in range(1, (most if most is not None else least + len(text)) + 1):
                here = {end for begin in here for end in ends(item, text, begin)}
                found |= here if count >= least else set()
            return found
        case Except(base, without):
            kept_out = {end for each in without for end in ends(each, text, at)}
            return ends(base, text, at) - kept_out
    raise TypeError(node)


def admits(node: Node, text: str) -> bool:
    return len(text) in ends(node, text, 0)


def accepts(made: Automaton, state: int, text: str) -> bool:
    for mark in text:
        ways = [
            to
            for ranges, to in made.moves[state]
            if any(low <= ord(mark) <= high for low, high in ranges)
        ]
        assert len(ways) <= 1
        if not ways:
            return False
        state = ways[0]
    return state in made.accepting


_CHARS = st.sampled_from([one_of("a"), one_of("ab"), none_of("a"), none_of("\n\r"), none_of("")])
_NODES = st.recursive(
    st.one_of(st.builds(Literal, st.text(ALPHABET, max_size=3)), _CHARS, st.just(LINE)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda items: seq(*items)),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: either(*items)),
        st.builds(
            lambda item, least, more: many(item, least, None if more > 2 else least + more),
            inner,
            st.integers(0, 2),
            st.integers(0, 3),
        ),
    ),
    max_leaves=6,
)
_EXCEPTIONS = st.builds(Except, _NODES, st.lists(_NODES, max_size=3).map(tuple))


@given(nodes=st.lists(_EXCEPTIONS, min_size=1, max_size=3))
def test_an_automaton_says_what_its_nodes_say(nodes: list[Except]) -> None:
    """Every short text is accepted from a node's start just where the node admits it."""
    made = automaton(tuple(nodes))

    for node, start in zip(nodes, made.starts, strict=True):
        assert [text for text in TEXTS if accepts(made, start, text)] == [
            text for text in TEXTS if admits(node, text)
        ]


@given(nodes=st.lists(_EXCEPTIONS, min_size=1, max_size=2))
def test_no_two_states_of_an_automaton_are_alike(nodes: list[Except]) -> None:
    """Two states always differ: in whether a text may end there, or in what follows."""
    made = automaton(tuple(nodes))
    told = [state in made.accepting for state in range(len(made.moves))]
    alike: list[object] = list(told)
    for _ in made.moves:
        alike = [
            (told[state], frozenset((ranges, alike.index(alike[to])) for ranges, to in moves))
            for state, moves in enumerate(_joined(made, alike))
        ]

    assert len(set(alike)) == len(made.moves)


def _joined(made: Automaton, alike: list[object]) -> list[list[tuple[object, int]]]:
    """Join the moves of each state that lead to states which look alike."""
    rows = []
    for moves in made.moves:
        by_look: dict[int, list[tuple[int, int]]] = {}
        for ranges, to in moves:
            by_look.setdefault(alike.index(alike[to]), []).extend(ranges)
        rows.append([(ranges_of(found), look) for look, found in by_look.items()])
    return rows


def test_what_says_the_same_is_the_same_automaton() -> None:
    """One language said in two ways has one start."""
    line = none_of("\n")
    said = Except(many(line), (seq(many(line), "b", many(line)),))
    made = automaton((said, Except(many(none_of("\nb")), ())))

    assert made.starts == (0, 0)
    assert len(made.moves) == 1


def test_what_admits_nothing_has_a_start_that_leads_nowhere() -> None:
    """A node whose every text is kept out accepts no text, not even the empty one."""
    made = automaton((Except(LINE, (LINE,)),))

    assert made == Automaton((0,), frozenset(), ((),))


def test_classes_of_characters_are_those_of_all_of_unicode() -> None:
    """Blanks, digits and letters with a case are found among some planes, and are all there are."""
    marks = [chr(point) for point in range(LAST + 1)]
    blank = ranges_of((ord(mark), ord(mark)) for mark in marks if mark.isspace())
    digit = ranges_of((ord(m), ord(m)) for m in marks if unicodedata.category(m) == "Nd")
    cased = re.compile("[ksi]", re.IGNORECASE)
    found = {mark for each in "ksi" for mark in marks if cased.match(mark)}

    assert sys.maxunicode == LAST
    assert matching(r"\s").ranges == blank
    assert matching(r"\d").ranges == digit
    assert {
        chr(at)
        for each in "ksi"
        for low, high in any_case(each).ranges
        for at in range(low, high + 1)
    } == found
