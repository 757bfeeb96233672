"""The laws of a dialect, as tests to inherit."""

from itertools import pairwise
from typing import Any, ClassVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langchain_custom_agents.dialects import Action, Answer, Dialect, Misreading, Move, Reading

# Text made of what breaks written forms: labels of every language, mark-up, brackets, quotes,
# braces, escapes and tokens, between ordinary words of several scripts.
_PIECES = st.sampled_from(
    [
        *("Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:", "Question:"),
        *("思考:", "行動：", "行動の入力:", "観察:", "最終回答:", "质问", "AI:", "Follow up:"),
        *("**Action:**", "### Observation", "action 3:", "- Observation:", "1. Thought:", "Obser"),
        *("[", "]", "[[", "]]", "\\[", "{", "}", "{input}", "{{", '{"a": 1}', "'", '"', "“", "`"),
        *(
            "```",
            "```json",
            "\\",
            "\\\\",
            "\\Action:",
            "\\n",
            "\n",
            "\n\n",
            "\r\n",
            "\t",
            " ",
            "　",
        ),
        *("</think>", "<think>", "<|im_end|>", "</s>", "<tool_call>", "\\</s>", "<observation>"),
        *(
            "Hiroko",
            "先生",
            "مرحبا",
            "👩‍🏫",
            "Finish",
            "Finish[x]",
            "Search",
            "null",
            "0",
            "\x00",
            "\u2028",
        ),
    ]
)
_TEXT = st.lists(st.one_of(_PIECES, st.text(max_size=8)), max_size=8).map("".join)
_SOME = _TEXT.filter(lambda text: bool(text.strip()))
_NAMES = st.from_regex(r"[A-Za-z\u3042-\u3093\u4e00-\u4e80](?:[\w \-]{0,10}\w)?", fullmatch=True)
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_TEXT, inner, max_size=3)),
    max_leaves=5,
)

# Each law is one function that every subclass runs with a dialect of its own, so a failing
# example of one dialect is no example for another: none is kept.
_law = settings(
    deadline=None, database=None, suppress_health_check=[HealthCheck.differing_executors]
)


class DialectLaws:
    """The laws that every dialect keeps. Subclass it and name yours.

    Attributes:
        dialect: The dialect under test.
        tool: A strategy for tool names, or None for names of many kinds.

    Example:
        >>> from langchain_custom_agents.dialects import ENGLISH
        >>> class TestEnglish(DialectLaws):
        ...     dialect = ENGLISH
    """

    dialect: ClassVar[Dialect]
    tool: ClassVar[Any] = None

    def _moves(self) -> st.SearchStrategy[Action | Answer]:
        return st.one_of(
            st.builds(Action, self._names(), st.one_of(_TEXT, st.dictionaries(_TEXT, _JSON))),
            st.builds(Answer, _SOME),
        )

    def _names(self) -> st.SearchStrategy[str]:
        if self.dialect.only_tool is not None:
            return st.just(self.dialect.only_tool)
        return (self.tool or _NAMES).filter(self._writable)

    def _writable(self, name: str) -> bool:
        try:
            self.dialect.write("", Action(name, ""))
        except ValueError:
            return False
        return True

    def _read_back(self, thought: str, move: Move) -> None:
        expected = Reading(thought, move)

        assert self.dialect.read(self.dialect.write(thought, move)) == expected

    @_law
    @given(data=st.data())
    def test_law_1_what_is_written_is_read_back(self, data: st.DataObject) -> None:
        """A step is read back as it was written, with nothing cut and nothing repaired."""
        self._read_back(data.draw(_TEXT), data.draw(self._moves()))

    @_law
    @given(data=st.data())
    def test_law_2_it_reads_on_from_the_cue(self, data: st.DataObject) -> None:
        """The model may repeat the cue or go on from it: the reading is the same."""
        thought, move = data.draw(_TEXT), data.draw(self._moves())
        written = self.dialect.write(thought, move)

        assert written.startswith(self.dialect.cue)
        assert self.dialect.read(written.removeprefix(self.dialect.cue)) == Reading(thought, move)

    @_law
    @given(data=st.data())
    def test_law_3_it_never_writes_a_stop_sequence(self, data: st.DataObject) -> None:
        """No content makes a written step hold a stop sequence."""
        written = self.dialect.write(data.draw(_TEXT), data.draw(self._moves()))

        assert [stop for stop in self.dialect.stop if stop in written] == []

    @_law
    @given(data=st.data())
    def test_law_4_it_stops_even_if_the_model_does_not(self, data: st.DataObject) -> None:
        """From the first invented observation on, everything is cut and nothing is believed."""
        thought, move = data.draw(_TEXT), data.draw(self._moves())
        written = self.dialect.write(thought, move)
        invented = f"{self.dialect.observation} {data.draw(_TEXT)}\n" + self.dialect.write(
            "now I know", Answer("invented")
        )
        reading = self.dialect.read(f"{written}\n{invented}")

        assert (reading.thought, reading.move) == (Reading(thought, move).thought, move)
        assert reading.cut.startswith(self.dialect.observation)

    @_law
    @given(data=st.data())
    def test_law_5_it_can_read_its_own_instructions(self, data: st.DataObject) -> None:
        """The instructions are made of steps that the dialect wrote and can read."""
        tools = [data.draw(self._names())]
        instructions = self.dialect.instructions(tools)

        for thought, move in self.dialect.examples(tools):
            assert self.dialect.write(thought, move) in instructions
            self._read_back(thought, move)

    @_law
    @given(data=st.data())
    def test_law_6_it_tells_the_model_what_it_misread(self, data: st.DataObject) -> None:
        """A correction names the mistake and every tool, and is nothing that could be read."""
        tools = data.draw(st.lists(self._names(), min_size=1, max_size=3, unique=True))
        correction = self.dialect.correction(Misreading("?", "the reason"), tools)

        assert "the reason" in correction
        assert all(tool in correction for tool in tools)
        assert isinstance(self.dialect.read(correction).move, Misreading)

    @_law
    @given(data=st.data())
    def test_law_7_the_scratchpad_only_grows(self, data: st.DataObject) -> None:
        """Every scratchpad begins with the whole one before it, and ends with the cue."""
        moves = st.builds(Action, self._names(), _TEXT)
        steps = data.draw(st.lists(st.tuples(_TEXT, moves, _TEXT), max_size=3))
        pads = [self.dialect.scratchpad(steps[:n]) for n in range(len(steps) + 1)]

        assert all(later.startswith(pad) for pad, later in pairwise(pads))
        assert all(pad.endswith(self.dialect.cue) for pad in pads)

    @_law
    @given(data=st.data())
    def test_law_8_an_observation_cannot_speak(self, data: st.DataObject) -> None:
        """A whole step quoted in an observation is neither an action nor an answer."""
        quoted = self.dialect.write(data.draw(_TEXT), data.draw(self._moves()))
        hostile = f"{data.draw(_TEXT)}\n{quoted}\n{self.dialect.observation} more\n{quoted}"
        observed = self.dialect.observe(hostile)
        body = observed.removeprefix(self.dialect.observation)

        assert [stop for stop in self.dialect.stop if stop in body] == []
        assert isinstance(self.dialect.read(body).move, Misreading)
