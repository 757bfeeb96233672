r"""The free parts of a step: thoughts, answers and inputs in which nothing counts as form.

A reader takes a line for a label within bounds: so many blanks, marks, digits. A grammar keeps
clear of a little more, of everything that is nearly a label, a token or a word for an example, so
that no bound has to be counted in it. Where a thought ends like the introduction of an example, a
grammar in GBNF keeps clear of what a token begins with as well. In these it is narrower than what
a dialect writes.
"""

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from langchain_custom_agents.dialects.form import (
    _EMOJI,
    _MARKS,
    NEAR_TOKENS,
    VOCABULARY,
    _beginnings,
)
from langchain_custom_agents.dialects.grammars.nodes import (
    LAST,
    LINE,
    Chars,
    Except,
    Literal,
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
from langchain_custom_agents.dialects.segments import _EXAMPLE

if TYPE_CHECKING:
    from langchain_custom_agents.dialects.labelled import LabelledDialect


@lru_cache(maxsize=1)
def _digits() -> Chars:
    return matching(r"\d")


@lru_cache(maxsize=1)
def space() -> Chars:
    """Return the white space that is taken off around a text, within a line."""
    return matching(r"[^\S\n\r]")


_EMPTY = Literal("")
_LETTERS = ((65, 90), (97, 122))
_WORDS = ((48, 57), (65, 90), (95, 95), (97, 122))
# What every token begins with.
_BEGIN_TOKENS = "<[◁"


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
        return Pattern(NEAR_TOKENS, BEYOND, near=True).node

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

    @cached_property
    def _example(self) -> Node:
        """The words for an example."""
        return Pattern(_EXAMPLE.pattern, BEYOND, near=True).node

    @property
    def _introducing(self) -> Node:
        """How a line ends that may introduce something."""
        return seq(one_of(':："“「'), many(joined(one_of("`*_~"), space())))

    @cached_property
    def observed(self) -> Node:
        """A line in which an observation follows."""
        label = seq(either(*self.observations), maybe(one_of(" \t")), many(_digits(), 0, 3))
        return within(seq(one_of(" \t。"), label, one_of(":：")))

    def line(self, *bad: Node, base: Node = LINE) -> Node:
        """Return a line that goes on from a label, so that no other can stand there.

        Args:
            bad: What it may not be.
            base: What it has to be.
        """
        return Except(base, (token_in(self.tokens), *bad))

    def own(self, *bad: Node, base: Node = LINE) -> Node:
        """Return a line of its own."""
        return self.line(*self._labels, *bad, base=base)

    @cached_property
    def _quoted(self) -> tuple[Node, Node]:
        """A first line that begins with a quotation mark or a tag, then with a label."""
        quotes = either('"""', "'''", one_of("\"'“"))
        tag = seq("<", Chars(_LETTERS), many(joined(Chars(_WORDS), Chars(BEYOND))), ">")
        lead = seq(either(quotes, tag), many(space()))
        return seq(lead, self._labels[0]), seq(lead, self._labels[1])

    @property
    def _labels(self) -> tuple[Node, Node]:
        label, heading = self._label
        return seq(label, LINE), heading

    @property
    def _fenced_labels(self) -> tuple[Node, Node]:
        """A fence whose one backslash is a label's, behind it: taken off, it leaves it open."""
        lead = seq(many(one_of(" \t")), "\\", either("```", "~~~"))
        label, heading = self._labels
        return seq(lead, label), seq(lead, heading)

    def _last(self, *bad: Node, lead: Node = _EMPTY) -> Node:
        """Return the last line of a thought, which introduces no example.

        It does not end as if it did, or has no word for one. Where it ends so, it holds nothing
        that a token begins with either: an automaton for both at once would be twice as large.
        """
        plain = many(none_of(_BEGIN_TOKENS + "\n\r"))
        return either(
            self.line(*bad, seq(LINE, self._introducing), base=seq(lead, LINE)),
            Except(seq(lead, plain, self._introducing), (*bad, within(self._example))),
        )

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
        quoted, quoted_heading = self._quoted
        fenced, fenced_heading = self._fenced_labels
        return Except(
            lines,
            (
                seq(quoted, maybe(seq("\n", every))),
                seq(quoted_heading, maybe(seq("\n", every))),
                seq(joined(space(), one_of("\n\r")), every),
                seq(every, "\r", every),
                seq(before, label, every),
                seq(before, heading, maybe(seq("\n", every))),
                seq(before, fenced, maybe(seq("\n", every))),
                seq(before, fenced_heading, maybe(seq("\n", every))),
                seq(maybe(seq(every, none_of("\\"))), self.tokens, every),
                seq(every, "\n", self.partial),
                seq(every, self._example, LINE, self._introducing),
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
        first = self.own(*self._quoted, any_fence, base=starts)
        last = self._last(*self._labels, any_fence, empty, self.partial)
        only = self._last(*self._labels, *self._quoted, any_fence, empty, seq(space(), LINE))

        def thoughts(opening: Node, inner: Node, closing: Node, whole: Node) -> Node:
            begins = seq(either(first, opening), "\n")
            middle = many(seq(either(plain, inner), "\n"))
            return either(only, whole, seq(begins, middle, either(last, closing)))

        def block(opening: Node, closing: Node) -> Node:
            return seq(opening, "\n", many(seq(plain, "\n")), closing)

        opened, closed = self.line(base=fence), self._last(lead=seq(lead, marks))
        at_once = self.line(base=seq(marks, LINE))
        whole = block(at_once, closed)
        fenced = thoughts(
            block(at_once, opened), block(opened, opened), block(opened, closed), whole
        )
        some, bad = seq(many(one_of("\\"), 1), marks), self._fenced_labels
        slashed_last = self._last(*bad, lead=seq(lead, some))
        slashed_only = self._last(*bad, lead=some)
        slashed_first = self.line(*bad, base=seq(some, LINE))
        slashed = thoughts(slashed_first, self.line(*bad, base=escaped), slashed_last, slashed_only)
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
