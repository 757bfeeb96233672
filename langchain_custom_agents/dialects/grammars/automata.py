"""From a regular node to the smallest automaton for it: for engines that cannot say "but not"."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from langchain_custom_agents.dialects.grammars.nodes import (
    LAST,
    LINE,
    Chars,
    Choice,
    Except,
    Literal,
    Node,
    Ranges,
    Repeat,
    Sequence,
    ranges_of,
)

State = frozenset[int]


@dataclass(frozen=True)
class Automaton:
    """A deterministic automaton without states from which nothing can be reached.

    Args:
        starts: The state in which each of the nodes begins.
        accepting: The states in which a text may end.
        moves: Where each state goes on which characters.
    """

    starts: tuple[int, ...]
    accepting: frozenset[int]
    moves: tuple[tuple[tuple[Ranges, int], ...], ...]


class _Parts:
    """Nodes taken apart into states with moves, and with steps that read nothing."""

    def __init__(self) -> None:
        self.moves: list[tuple[Ranges, int] | None] = []
        self.free: list[list[int]] = []
        self._closed: dict[int, State] = {}

    def state(self) -> int:
        self.moves.append(None)
        self.free.append([])
        return len(self.free) - 1

    def add(self, node: Node, end: int) -> int:
        """Return the state from which the node leads to an end."""
        match node:
            case Literal(text):
                for mark in reversed(text):
                    end = self.reading(((ord(mark), ord(mark)),), end)
                return end
            case Chars(ranges):
                return self.reading(ranges, end)
            case Sequence(items):
                for item in reversed(items):
                    end = self.add(item, end)
                return end
            case Choice(items):
                start = self.state()
                self.free[start] = [self.add(item, end) for item in items]
                return start
            case Repeat(item, least, most):
                if most is None:
                    loop = self.state()
                    self.free[loop] = [self.add(item, loop), end]
                    end = loop
                for _ in range((most or least) - least):
                    start = self.state()
                    self.free[start] = [self.add(item, end), end]
                    end = start
                for _ in range(least):
                    end = self.add(item, end)
                return end
        msg = f"{type(node).__name__} cannot stand inside of a regular node."
        raise TypeError(msg)

    def reading(self, ranges: Ranges, end: int) -> int:
        start = self.state()
        self.moves[start] = (ranges, end)
        return start

    def closed(self, states: set[int]) -> State:
        """Return the states reached without reading; only those that read or end count."""
        return frozenset().union(*map(self._closed_one, states))

    def _closed_one(self, state: int) -> State:
        if state not in self._closed:
            found, left = {state}, [state]
            while left:
                for following in self.free[left.pop()]:
                    if following not in found:
                        found.add(following)
                        left.append(following)
            ends = (each for each in found if self.moves[each] or not self.free[each])
            self._closed[state] = frozenset(ends)
        return self._closed[state]


@lru_cache(maxsize=32)
def automaton(nodes: tuple[Node, ...]) -> Automaton:
    """Make one smallest automaton for several regular nodes, which share what they can."""
    parts = _Parts()
    good, bad, lost = parts.state(), parts.state(), parts.state()
    begins: list[State] = []
    for node in nodes:
        base: Node = node
        without: tuple[Node, ...] = ()
        if isinstance(node, Except):
            base, without = node.base, node.without
        states = {
            parts.add(base, good),
            *(parts.add(*_outside(each, bad, lost)) for each in without),
        }
        begins.append(parts.closed(states))
    table: list[dict[State, list[tuple[int, int]]]] = []
    queue = list(dict.fromkeys(begins))
    known = {state: number for number, state in enumerate(queue)}
    for state in queue:
        targets: dict[State, list[tuple[int, int]]] = {}
        for low, high, reached in _cut_up(parts, state):
            following = parts.closed(reached)
            if lost not in following:
                targets.setdefault(following, []).append((low, high))
        table.append(targets)
        for target in targets:
            if target not in known:
                known[target] = len(queue)
                queue.append(target)
    moves = [
        [(ranges_of(ranges), known[target]) for target, ranges in targets.items()]
        for targets in table
    ]
    accepting = [good in state and bad not in state for state in queue]
    return _smallest([known[begin] for begin in begins], accepting, moves)


def _outside(node: Node, bad: int, lost: int) -> tuple[Node, int]:
    """Return a node to keep out of and its end: whatever follows, if it ends with any line."""
    if isinstance(node, Sequence) and node.items[-1] == LINE:
        return Sequence(node.items[:-1]), lost
    return node, bad


def _cut_up(parts: _Parts, state: State) -> list[tuple[int, int, set[int]]]:
    """Cut the code points up where the moves of a state differ."""
    changes: dict[int, list[tuple[int, int]]] = {}
    for each in state:
        move = parts.moves[each]
        for low, high in move[0] if move else ():
            changes.setdefault(low, []).append((1, move[1] if move else 0))
            changes.setdefault(high + 1, []).append((-1, move[1] if move else 0))
    pieces: list[tuple[int, int, set[int]]] = []
    counts: dict[int, int] = {}
    points = sorted(changes)
    for at, following in zip(points, [*points[1:], LAST + 1], strict=True):
        for sign, target in changes[at]:
            counts[target] = counts.get(target, 0) + sign
        reached = {target for target, count in counts.items() if count}
        if reached and at < following:
            pieces.append((at, following - 1, reached))
    return pieces


Moves = list[list[tuple[Ranges, int]]]


def _smallest(starts: list[int], accepting: list[bool], moves: Moves) -> Automaton:
    """Join the states that cannot be told apart, and leave out those that lead nowhere."""
    live = _live(accepting, moves)
    moves = [[move for move in targets if move[1] in live] for targets in moves]
    # First those whose moves are alike as they stand, which is quickly seen; then all others.
    for whole in (False, True):
        group = _grouped(accepting, moves, whole=whole)
        count = max(group, default=-1) + 1
        merged: Moves = [[] for _ in range(count)]
        ends = [False] * count
        for state in reversed(range(len(moves))):
            merged[group[state]] = _together((ranges, group[to]) for ranges, to in moves[state])
            ends[group[state]] = accepting[state]
        starts = [group[start] for start in starts]
        moves, accepting = merged, ends
    kept = sorted(_live(accepting, moves) | set(starts))
    number = {old: new for new, old in enumerate(kept)}
    return Automaton(
        tuple(number[start] for start in starts),
        frozenset(number[state] for state in kept if accepting[state]),
        tuple(tuple((ranges, number[to]) for ranges, to in moves[state]) for state in kept),
    )


def _grouped(accepting: list[bool], moves: Moves, *, whole: bool) -> list[int]:
    """Number the groups of states that cannot be told apart."""
    group, count = [int(accepts) for accepts in accepting], 0
    while True:
        numbers: dict[object, int] = {}
        following = []
        for state, targets in enumerate(moves):
            reached: list[tuple[Ranges, int]] = [(ranges, group[to]) for ranges, to in targets]
            seen = (group[state], frozenset(_together(reached) if whole else reached))
            following.append(numbers.setdefault(seen, len(numbers)))
        group = following
        if len(numbers) == count:
            return group
        count = len(numbers)


def _together(targets: Iterable[tuple[Ranges, int]]) -> list[tuple[Ranges, int]]:
    """Join the ranges that lead to the same state."""
    by_target: dict[int, list[Ranges]] = {}
    for ranges, to in targets:
        by_target.setdefault(to, []).append(ranges)
    return [
        (found[0] if len(found) == 1 else ranges_of(pair for each in found for pair in each), to)
        for to, found in by_target.items()
    ]


def _live(accepting: list[bool], moves: Moves) -> set[int]:
    """Return the states from which a text can end."""
    sources: list[set[int]] = [set() for _ in moves]
    for source, targets in enumerate(moves):
        for _, target in targets:
            sources[target].add(source)
    live = {state for state, accepts in enumerate(accepting) if accepts}
    left = list(live)
    while left:
        for source in sources[left.pop()] - live:
            live.add(source)
            left.append(source)
    return live
