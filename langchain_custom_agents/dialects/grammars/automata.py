"""From a regular node to the smallest automaton for it: for engines that cannot say "but not".

All code points are first parted into the classes that the nodes tell apart, some hundreds. From
then on a set of characters is a number with one bit for each of its classes.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

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

# What was reached, by the numbers of `_Parts.closed`.
State = frozenset[int]
Bits = int
Moves = list[list[tuple[Bits, int]]]


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


@lru_cache(maxsize=32)
def automaton(nodes: tuple[Node, ...]) -> Automaton:
    """Make one smallest automaton for several regular nodes, which share what they can."""
    exceptions = tuple(node if isinstance(node, Except) else Except(node, ()) for node in nodes)
    parts = _Parts(_Classes(nodes), exceptions)
    queue = list(dict.fromkeys(parts.begins))
    known = {state: number for number, state in enumerate(queue)}
    moves: Moves = []
    for state in queue:
        targets: list[tuple[Bits, int]] = []
        for target, bits in parts.moves_of(state).items():
            if target not in known:
                known[target] = len(queue)
                queue.append(target)
            targets.append((bits, known[target]))
        moves.append(targets)
    starts = [known[begin] for begin in parts.begins]
    accepting = [parts.accepts(state) for state in queue]
    return _smallest(starts, accepting, moves, parts.classes.ranges)


class _Classes:
    """The code points, parted into the classes that nodes tell apart.

    Args:
        nodes: The nodes.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        named = dict.fromkeys(each for node in nodes for each in _characters(node))
        # Which sets a code point is in changes only where one of their ranges begins or ends.
        changes: dict[int, int] = {}
        for number, ranges in enumerate(named):
            for low, high in ranges:
                changes[low] = changes.get(low, 0) ^ (1 << number)
                changes[high + 1] = changes.get(high + 1, 0) ^ (1 << number)
        parts: dict[int, list[tuple[int, int]]] = {}
        holding = 0
        for at, following in pairwise([*sorted(changes), LAST + 1]):
            holding ^= changes[at]
            if holding:
                parts.setdefault(holding, []).append((at, following - 1))
        self.parts = list(parts.values())
        self.all = (1 << len(self.parts)) - 1
        self._bits: dict[Ranges, Bits] = dict.fromkeys(named, 0)
        for number, ranges in enumerate(named):
            held = (1 << at for at, among in enumerate(parts) if among >> number & 1)
            self._bits[ranges] = sum(held)
        self._ranges: dict[Bits, Ranges] = {}

    def bits(self, ranges: Ranges) -> Bits:
        """Return the classes of a set of characters that a node names."""
        return self._bits[ranges]

    def ranges(self, bits: Bits) -> Ranges:
        """Return the characters of classes."""
        if bits not in self._ranges:
            held = (part for at, part in enumerate(self.parts) if bits >> at & 1)
            self._ranges[bits] = ranges_of(pair for part in held for pair in part)
        return self._ranges[bits]


def _characters(node: Node) -> Iterable[Ranges]:
    """List the sets of characters that a node names."""
    match node:
        case Literal(text):
            yield from (((ord(mark), ord(mark)),) for mark in text)
        case Chars(ranges):
            yield ranges
        case Sequence(items) | Choice(items):
            for item in items:
                yield from _characters(item)
        case Repeat(item):
            yield from _characters(item)
        case Except(base, without):
            for each in (base, *without):
                yield from _characters(each)


def _breaks_lines(ranges: Ranges) -> bool:
    return any(low <= ord(mark) <= high for low, high in ranges for mark in "\n\r")


class _Parts:
    """Nodes taken apart into states with moves, and with steps that read nothing.

    What is said twice has the same states, so that automata of much the same nodes are much the
    same already before they are made small.

    Args:
        classes: The classes of characters.
        nodes: The nodes.
    """

    def __init__(self, classes: _Classes, nodes: tuple[Except, ...]) -> None:
        self.classes = classes
        self.moves: list[tuple[Bits, int] | None] = []
        self.free: list[list[int]] = []
        self._known: dict[tuple[Node, int], int] = {}
        self._reading: dict[tuple[Bits, int], int] = {}
        self._reached: list[frozenset[int]] = []
        self._number_of: dict[frozenset[int], int] = {}
        self._closed: dict[int, int] = {}
        self._inner: set[int] = set()
        self._known_ways: dict[tuple[int, ...], dict[State, Bits]] = {}
        self.good = self.state()
        inside = [self.add(node.base, self.good) for node in nodes]
        # All states so far lead to the good end, and none of the others does.
        self._outer = len(self.free)
        self.bad, self.lost = self.state(), self.state()
        outside = [
            [self.add(*self._outside(each, node.base)) for each in node.without] for node in nodes
        ]
        self.begins = [
            frozenset(map(self.closed, (base, *without)))
            for base, without in zip(inside, outside, strict=True)
        ]

    def _outside(self, node: Node, base: Node) -> tuple[Node, int]:
        """Return a node to keep out of and its end: on one line, any rest of it is no way out."""
        one_line = not any(map(_breaks_lines, _characters(base)))
        if one_line and isinstance(node, Sequence) and node.items[-1] == LINE:
            return Sequence(node.items[:-1]), self.lost
        return node, self.bad

    def state(self) -> int:
        self.moves.append(None)
        self.free.append([])
        return len(self.free) - 1

    def add(self, node: Node, end: int) -> int:
        """Return the state from which the node leads to an end."""
        if (node, end) not in self._known:
            self._known[node, end] = self._added(node, end)
        return self._known[node, end]

    def _added(self, node: Node, end: int) -> int:
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
        move = (self.classes.bits(ranges), end)
        if move not in self._reading:
            self._reading[move] = start = self.state()
            self.moves[start] = move
        return self._reading[move]

    def closed(self, state: int) -> int:
        """Return the number of all that is reached from a state without reading.

        Only what reads or ends counts; two states that reach the same have the same number.
        """
        if state not in self._closed:
            found, left = {state}, [state]
            while left:
                for following in self.free[left.pop()]:
                    if following not in found:
                        found.add(following)
                        left.append(following)
            ends = frozenset(at for at in found if self.moves[at] or not self.free[at])
            ends = frozenset((self.lost,)) if self.lost in ends else ends
            if ends not in self._number_of:
                self._number_of[ends] = number = len(self._reached)
                self._reached.append(ends)
                if any(at < self._outer for at in ends):
                    self._inner.add(number)
            self._closed[state] = self._number_of[ends]
        return self._closed[state]

    def accepts(self, state: State) -> bool:
        """Tell whether a text may end in a state of the automaton."""
        reached = frozenset[int]().union(*(self._reached[each] for each in state))
        return self.good in reached and self.bad not in reached and self.lost not in reached

    def moves_of(self, state: State) -> dict[State, Bits]:
        """Return what a state of the automaton leads to, but for what cannot end well."""
        lost = self.closed(self.lost)
        if lost in state:
            return {}
        return {
            target: bits
            for target, bits in self._ways(tuple(sorted(state))).items()
            if lost not in target and not self._inner.isdisjoint(target)
        }

    def _ways(self, state: tuple[int, ...]) -> dict[State, Bits]:
        """Return where a state leads on every character, be it nowhere."""
        # Most states share their first parts, which have the lowest numbers.
        if state not in self._known_ways:
            *first, last = state
            self._known_ways[state] = (
                self._both(self._ways(tuple(first)), self._ways((last,)))
                if first
                else self._ways_of_one(last)
            )
        return self._known_ways[state]

    def _ways_of_one(self, number: int) -> dict[State, Bits]:
        ways: dict[State, Bits] = {frozenset(): self.classes.all}
        by_bits: dict[Bits, set[int]] = {}
        for each in self._reached[number]:
            move = self.moves[each]
            if move:
                by_bits.setdefault(move[0], set()).add(self.closed(move[1]))
        for bits, reached in by_bits.items():
            rest = self.classes.all & ~bits
            ways = self._both(ways, {frozenset(reached): bits, frozenset(): rest})
        return ways

    def _both(self, some: dict[State, Bits], more: dict[State, Bits]) -> dict[State, Bits]:
        ways: dict[State, Bits] = {}
        for target, bits in some.items():
            for also, held in more.items():
                inside = bits & held
                if inside:
                    both = target | also
                    ways[both] = ways.get(both, 0) | inside
        return ways


def _smallest(
    starts: list[int],
    accepting: list[bool],
    moves: Moves,
    spelled: Callable[[Bits], Ranges],
) -> Automaton:
    """Join the states that cannot be told apart, and leave out those that lead nowhere."""
    live = _live(accepting, moves)
    moves = [[move for move in targets if move[1] in live] for targets in moves]
    group = _grouped(accepting, moves)
    number: dict[int, int] = {}
    shown: list[int] = []
    # Groups are numbered as they are reached, so that the same nodes give the same text.
    queue = list(starts)
    for state in queue:
        if group[state] not in number:
            number[group[state]] = len(number)
            shown.append(state)
            queue += [target for _, target in moves[state]]
    return Automaton(
        tuple(number[group[start]] for start in starts),
        frozenset(at for at, state in enumerate(shown) if accepting[state]),
        tuple(
            tuple((spelled(bits), number[to]) for to, bits in _together(moves[at], group).items())
            for at in shown
        ),
    )


def _grouped(accepting: list[bool], moves: Moves) -> list[int]:
    """Number the groups of states that cannot be told apart.

    Source:
        Hopcroft, An n log n algorithm for minimizing states in a finite automaton, 1971: of a
        group that falls apart, the largest part keeps its number, so that only the states that
        lead to the smaller ones are looked at again.
    """
    group = [int(accepts) for accepts in accepting]
    members: list[set[int]] = [set(), set()]
    for state, number in enumerate(group):
        members[number].add(state)
    sources: list[set[int]] = [set() for _ in moves]
    for source, targets in enumerate(moves):
        for _, target in targets:
            sources[target].add(source)
    doubtful = set(range(len(moves)))
    while doubtful:
        by_group: dict[int, list[int]] = {}
        for state in doubtful:
            by_group.setdefault(group[state], []).append(state)
        doubtful = set()
        fallen: list[set[int]] = []
        for number, states in by_group.items():
            alike: dict[object, set[int]] = {}
            for state in states:
                seen = frozenset(_together(moves[state], group).items())
                alike.setdefault(seen, set()).add(state)
            # Those that nothing has changed for are alike among themselves.
            unchanged = members[number].difference(states)
            if unchanged:
                seen = frozenset(_together(moves[next(iter(unchanged))], group).items())
                alike.setdefault(seen, set()).update(unchanged)
            if len(alike) > 1:
                largest = max(alike.values(), key=len)
                fallen += (part for part in alike.values() if part is not largest)
                members[number] = largest
        for part in fallen:
            for state in part:
                group[state] = len(members)
                doubtful |= sources[state]
            members.append(part)
    return group


def _together(targets: Iterable[tuple[Bits, int]], group: list[int]) -> dict[int, Bits]:
    """Join the moves that lead to the same group."""
    joined: dict[int, Bits] = {}
    for bits, target in targets:
        joined[group[target]] = joined.get(group[target], 0) | bits
    return joined


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
