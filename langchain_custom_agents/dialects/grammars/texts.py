r"""The free parts of a step: thoughts, answers and inputs in which nothing counts as form.

A reader takes a line for a label within bounds: so many blanks, marks, digits. A grammar keeps
clear of a little more, of everything that is nearly a label, so that no bound has to be counted
in it. And where a reader looks for words that introduce an example, a grammar does not let a
thought end with a colon or an opening quotation mark at all. In these two it is narrower than
what a dialect writes.
"""

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from langchain_custom_agents.dialects.form import _EMOJI, _MARKS, _TOKENS, VOCABULARY, _beginnings
from langchain_custom_agents.dialects.grammars.nodes import (
    LAST,
    LINE,
    Chars,
    Except,
    Node,
    Twofold,
    either,
    joined,
    many,
    matching,
    maybe,
    none_of,
    one_of,
    others,
    seq,
    word,
)
from langchain_custom_agents.dialects.grammars.patterns import BEYOND, Pattern

if TYPE_CHECKING:
    from langchain_custom_agents.dialects.labelled import LabelledDialect


@lru_cache(maxsize=1)
def _digits() -> Chars:
    return matching(r"\d")


@lru_cache(maxsize=1)
def space() -> Chars:
    """Return the white space that is taken off around a text, within a line."""
    return matching(r"[^\S\n\r]")


def _set(inside: str) -> Chars:
    found = Pattern(f"[{inside}]").node
    assert isinstance(found, Chars)  # noqa: S101
    return found


def within(node: Node) -> Node:
    """Return a line that holds something."""
    return seq(LINE, node, LINE)


def token_in(node: Node) -> Node:
    """Return a line that holds something without a backslash before it."""
    return seq(maybe(seq(LINE, none_of("\n\r\\"))), node, LINE)


class Texts:
    """The free texts of one dialect, line by line.

    Args:
        labels: All words that are labels.
        observations: Those of them that begin an observation.
    """

    def __init__(self, labels: tuple[str, ...], observations: tuple[str, ...]) -> None:
        self.labels, self.observations = labels, observations

    @cached_property
    def tokens(self) -> Node:
        """What models use around their words."""
        return Pattern(_TOKENS, BEYOND, near=True).node

    @cached_property
    def _label(self) -> tuple[Node, Node]:
        """The beginning of a line that is nearly a label, and a line that is nearly a heading."""
        blank = one_of(" \t")
        around = joined(_set(_MARKS), _set(_EMOJI), _digits(), one_of(" \t\ufe0f.):-"))
        after = joined(_digits(), space(), one_of(" \t_-#()（）*`"))
        words = either(*(_spaced(each) for each in self.labels))
        first = many(either(around, word("step")))
        heading = seq(many(blank), either(many(one_of("#"), 1), "**", "__"), many(blank))
        return (
            seq(first, words, many(after), one_of(":：")),
            seq(heading, words, many(after)),
        )

    @cached_property
    def partial(self) -> Node:
        """The beginning of an observation's label, broken off."""
        parts = {part for each in self.observations for part in _beginnings(each)}
        spelled = (word(part) for part in sorted(parts))
        return seq(many(one_of(" \t")), either(*spelled), many(space()))

    @property
    def _introduction(self) -> Node:
        """The end of a line that may introduce something."""
        return seq(one_of(':："“「'), many(joined(one_of("`*_~"), space())))

    @cached_property
    def observed(self) -> Node:
        """A line in which an observation follows."""
        label = seq(either(*self.observations), maybe(one_of(" \t")), many(_digits(), 0, 3))
        return within(seq(one_of(" \t。"), label, one_of(":：")))

    def line(self, *bad: Node, base: Node = LINE, ends: bool = False) -> Node:
        """Return a line that goes on from a label, so that no other can stand there.

        Args:
            bad: What it may not be.
            base: What it has to be.
            ends: Whether it ends a thought, so that it must not end like an introduction.
        """
        # Whether an example is introduced would have to be known from the line's beginning on.
        ending = (seq(LINE, self._introduction),) if ends else ()
        return Except(base, (token_in(self.tokens), *bad, *ending))

    def own(self, *bad: Node, base: Node = LINE, ends: bool = False) -> Node:
        """Return a line of its own."""
        label, heading = self._label
        return self.line(seq(label, LINE), heading, *bad, base=base, ends=ends)

    def rest(self) -> Node:
        """Return the further lines of a text, the last of which is not left blank."""
        last = self.own(many(space()), self.partial)
        return maybe(seq("\n", many(seq(self.own(), "\n")), last))

    def thought(self) -> Node:
        """Return a thought: lines, and fences that are closed, or all escaped."""
        return Twofold(self._whole_thought(), self._thought_by_lines())

    def _whole_thought(self) -> Node:
        # What is kept out of and what is let in end with the same node, so that an engine sees at
        # once where nothing can follow any more.
        every = many(Chars(((0, LAST),)))
        before = maybe(seq(every, "\n"))
        lead, marks = many(one_of(" \t"), 0, 8), either("```", "~~~")
        fence, escaped = seq(lead, marks, LINE), seq(lead, many(one_of("\\"), 1), marks, LINE)
        plain = _no_fence()
        block = seq(fence, "\n", many(seq(plain, "\n")), fence)
        lines = either(_rows(either(plain, block)), _rows(either(plain, escaped)))
        label, heading = self._label
        return Except(
            lines,
            (
                seq(joined(space(), one_of("\n\r")), every),
                seq(every, "\r", every),
                seq(before, label, every),
                seq(before, heading, maybe(seq("\n", every))),
                seq(maybe(seq(every, none_of("\\"))), self.tokens, every),
                seq(every, "\n", self.partial),
                seq(every, self._introduction),
                seq(before, many(space())),
            ),
        )

    def _thought_by_lines(self) -> Node:
        marks = either("```", "~~~")
        lead, slashes = many(one_of(" \t"), 0, 8), many(one_of("\\"))
        fence = seq(lead, marks, LINE)
        escaped = seq(lead, many(one_of("\\"), 1), marks, LINE)
        any_fence = seq(lead, slashes, marks, LINE)
        starts = seq(Chars(others(joined(space(), one_of("\n\r")).ranges)), LINE)
        empty = many(space())

        plain = self.own(any_fence)
        first = self.own(any_fence, base=starts)
        last = self.own(any_fence, empty, self.partial, ends=True)
        only = self.own(any_fence, base=starts, ends=True)

        def thoughts(opening: Node, inner: Node, closing: Node, whole: Node) -> Node:
            begins = seq(either(first, opening), "\n")
            middle = many(seq(either(plain, inner), "\n"))
            return either(only, whole, seq(begins, middle, either(last, closing)))

        def block(opening: Node, closing: Node) -> Node:
            return seq(opening, "\n", many(seq(plain, "\n")), closing)

        opened, closed = self.line(base=fence), self.line(base=fence, ends=True)
        at_once = self.line(base=seq(marks, LINE))
        whole = block(at_once, closed)
        fenced = thoughts(
            block(at_once, opened), block(opened, opened), block(opened, closed), whole
        )
        slashed_last = self.line(base=escaped, ends=True)
        slashed_first = self.line(base=seq(many(one_of("\\"), 1), marks, LINE))
        slashed_only = self.line(base=seq(many(one_of("\\"), 1), marks, LINE), ends=True)
        slashed = thoughts(slashed_first, self.line(base=escaped), slashed_last, slashed_only)
        return either(fenced, slashed)


def _rows(line: Node) -> Node:
    return seq(line, many(seq("\n", line)))


def _no_fence() -> Node:
    """Return a line that begins with no fence, escaped or not, said without an exception."""
    tails: list[Node | str] = ["", seq(none_of(" \t`~\\\n\r"), LINE)]
    for mark in "`~":
        other = maybe(seq(none_of(mark + "\n\r"), LINE))
        tails.append(seq(mark, either(other, seq(mark, other))))
    slashed = seq(many(one_of("\\"), 1), either("", seq(none_of("`~\\\n\r"), LINE), *tails[2:]))
    blank = one_of(" \t")
    return either(seq(many(blank, 0, 8), either(*tails, slashed)), seq(many(blank, 9, 9), LINE))


def _spaced(label: str) -> Node:
    parts: list[Node] = []
    for part in label.split():
        parts += [*([many(one_of(" \t_-"))] if parts else []), word(part)]
    return seq(*parts)


@lru_cache(maxsize=32)
def texts_of(dialect: "LabelledDialect") -> Texts:
    """Return the free texts of a dialect with labels."""
    turns = tuple(getattr(dialect, "turns", ()))
    own = tuple(label.rstrip(":： ") for label in (*dialect.labels.values(), *turns))
    known = (each for every in VOCABULARY.values() for each in every)
    observed = dialect.observation.rstrip(":： ")
    others_ = {each.casefold() for each in own if each != observed}
    seen = [each for each in VOCABULARY["observation"] if each.casefold() not in others_]
    return Texts(tuple(sorted({*own, *known})), tuple(dict.fromkeys((observed, *seen))))
