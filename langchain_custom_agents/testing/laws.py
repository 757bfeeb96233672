"""The laws of a dialect, as tests to inherit."""

import random
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, ClassVar, Literal, Protocol

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from langchain_custom_agents.dialects import (
    Action,
    Answer,
    Dialect,
    Misreading,
    Move,
    Reading,
    Toolbox,
)
from langchain_custom_agents.testing.gbnf import GBNF, States
from langchain_custom_agents.testing.tool_schemas import TOOL_SCHEMAS

# Text made of what breaks written forms: labels of every language, mark-up, brackets, quotes,
# braces, escapes and tokens, between ordinary words of several scripts.
_HOSTILE = (
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
)
_PIECES = st.sampled_from(_HOSTILE)
_TEXT = st.lists(st.one_of(_PIECES, st.text(max_size=8)), max_size=8).map("".join)
_SOME = _TEXT.filter(lambda text: bool(text.strip()))
# Deferred, it is made once; filtered as it is, it would be made anew for every example.
_NAMES = st.deferred(
    lambda: st.from_regex(r"[A-Za-z\u3042-\u3093\u4e00-\u4e80](?:[\w \-]{0,10}\w)?", fullmatch=True)
)


def _json(*, infinite: bool = True) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.floats(allow_nan=False, allow_infinity=infinite),
            _TEXT,
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(_TEXT, inner, max_size=3)
        ),
        max_leaves=5,
    )


_JSON = _json()

# Each law is one function that every subclass runs with a dialect of its own, so a failing
# example of one dialect is no example for another: none is kept.
_law = settings(
    deadline=None, database=None, suppress_health_check=[HealthCheck.differing_executors]
)

# At most two examples for each of the thirty tools, as an engine is made for every one of them;
# as many as are asked for where that is more than usual.
_asked = _law.max_examples
_grammar_law = settings(_law, max_examples=_asked if _asked > 100 else min(60, _asked))


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

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Leave out the law of grammars where the dialect has none."""
        super().__init_subclass__(**kwargs)
        if hasattr(cls, "dialect"):
            try:
                cls.dialect.rules(Toolbox())
            except NotImplementedError:
                for name in [each for each in dir(cls) if each.startswith("test_law_9")]:
                    setattr(cls, name, None)

    @cached_property
    def _moves(self) -> st.SearchStrategy[Action | Answer]:
        return st.one_of(
            st.builds(Action, self._names, st.one_of(_TEXT, st.dictionaries(_TEXT, _JSON))),
            st.builds(Answer, _SOME),
        )

    @cached_property
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
        self._read_back(data.draw(_TEXT), data.draw(self._moves))

    @_law
    @given(data=st.data())
    def test_law_2_it_reads_on_from_the_cue(self, data: st.DataObject) -> None:
        """The model may repeat the cue or go on from it: the reading is the same."""
        thought, move = data.draw(_TEXT), data.draw(self._moves)
        written = self.dialect.write(thought, move)

        assert written.startswith(self.dialect.cue)
        assert self.dialect.read(written.removeprefix(self.dialect.cue)) == Reading(thought, move)

    @_law
    @given(data=st.data())
    def test_law_3_it_never_writes_a_stop_sequence(self, data: st.DataObject) -> None:
        """No content makes a written step hold a stop sequence."""
        written = self.dialect.write(data.draw(_TEXT), data.draw(self._moves))

        assert [stop for stop in self.dialect.stop if stop in written] == []

    @_law
    @given(data=st.data())
    def test_law_4_it_stops_even_if_the_model_does_not(self, data: st.DataObject) -> None:
        """From the first invented observation on, everything is cut and nothing is believed."""
        thought, move = data.draw(_TEXT), data.draw(self._moves)
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
        tools = [data.draw(self._names)]
        instructions = self.dialect.instructions(tools)

        for thought, move in self.dialect.examples(tools):
            assert self.dialect.write(thought, move) in instructions
            self._read_back(thought, move)

    @_law
    @given(data=st.data())
    def test_law_6_it_tells_the_model_what_it_misread(self, data: st.DataObject) -> None:
        """A correction names the mistake and every tool, and is nothing that could be read."""
        tools = data.draw(st.lists(self._names, min_size=1, max_size=3, unique=True))
        correction = self.dialect.correction(Misreading("?", "the reason"), tools)

        assert "the reason" in correction
        assert all(tool in correction for tool in tools)
        assert isinstance(self.dialect.read(correction).move, Misreading)

    @_law
    @given(data=st.data())
    def test_law_7_the_scratchpad_only_grows(self, data: st.DataObject) -> None:
        """Every scratchpad begins with the whole one before it, and ends with the cue."""
        moves = st.builds(Action, self._names, _TEXT)
        steps = data.draw(st.lists(st.tuples(_TEXT, moves, _TEXT), max_size=3))
        pads = [self.dialect.scratchpad(steps[:n]) for n in range(len(steps) + 1)]

        assert all(later.startswith(pad) for pad, later in pairwise(pads))
        assert all(pad.endswith(self.dialect.cue) for pad in pads)

    @_law
    @given(data=st.data())
    def test_law_8_an_observation_cannot_speak(self, data: st.DataObject) -> None:
        """A whole step quoted in an observation is neither an action nor an answer."""
        quoted = self.dialect.write(data.draw(_TEXT), data.draw(self._moves))
        hostile = f"{data.draw(_TEXT)}\n{quoted}\n{self.dialect.observation} more\n{quoted}"
        observed = self.dialect.observe(hostile)
        body = observed.removeprefix(self.dialect.observation)

        assert [stop for stop in self.dialect.stop if stop in body] == []
        assert isinstance(self.dialect.read(body).move, Misreading)

    @_grammar_law
    @given(data=st.data())
    def test_law_9_what_the_grammar_admits_is_read(self, data: st.DataObject) -> None:
        """Whatever the grammar admits is read without repairs, with arguments the schema admits."""
        tool = self._named(data.draw(st.sampled_from(TOOL_SCHEMAS)))
        self._admitted_is_read(_lark(self.dialect, tool), [tool], data)

    @_grammar_law
    @given(data=st.data())
    def test_law_9_what_is_written_the_grammar_admits(self, data: st.DataObject) -> None:
        """Whatever is written for a tool, or as an answer, the grammar admits."""
        tool = self._named(data.draw(st.sampled_from(TOOL_SCHEMAS)))
        self._written_is_admitted(_lark(self.dialect, tool), tool, data)

    @_grammar_law
    @given(data=st.data())
    def test_law_9_what_gbnf_admits_is_read(self, data: st.DataObject) -> None:
        """The grammar of all tools in GBNF admits only what is read without repairs."""
        tools = data.draw(st.sampled_from(self._sets_of_tools()))
        self._admitted_is_read(_gbnf(self.dialect, tools), tools, data)

    @_grammar_law
    @given(data=st.data())
    def test_law_9_what_is_written_gbnf_admits(self, data: st.DataObject) -> None:
        """The grammar of all tools in GBNF admits whatever is written."""
        tools = data.draw(st.sampled_from(self._sets_of_tools()))
        tool = data.draw(st.sampled_from(tools))
        self._written_is_admitted(_gbnf(self.dialect, tools), tool, data)

    def _admitted_is_read(self, engine: "_Engine", tools: Any, data: st.DataObject) -> None:
        import jsonschema

        said = _walk(engine, self._ways_out(tools[0]["name"]), data.draw(st.integers(0)))
        reading = self.dialect.read(said, tools)

        assert reading.repairs == ()
        assert reading.cut == ""
        if not isinstance(reading.move, Answer):
            assert isinstance(reading.move, Action)
            (tool,) = (tool for tool in tools if tool["name"] == reading.move.tool)
            if isinstance(reading.move.input, dict):
                jsonschema.validate(reading.move.input, tool["parameters"])

    def _written_is_admitted(self, engine: "_Engine", tool: Any, data: st.DataObject) -> None:
        thought = data.draw(_TEXT.filter(_ends_plainly))
        schema = tool["parameters"]
        arguments = values_of(schema, schema.get("$defs", {}))
        move = data.draw(
            st.one_of(st.builds(Answer, _SOME), st.builds(Action, st.just(tool["name"]), arguments))
        )

        assert engine.refused(self.dialect.write(thought, move)) is None

    def _named(self, tool: dict[str, Any]) -> dict[str, Any]:
        return {**tool, "name": self.dialect.only_tool or tool["name"]}

    def _ways_out(self, name: str) -> list[str]:
        """Return what leads from a thought to a move, in the words of this dialect."""
        written = [self.dialect.write("", move) for move in (Action(name, "x"), Answer("x"))]
        return [step.removeprefix(self.dialect.cue).rpartition("x")[0] for step in written]

    def _sets_of_tools(self) -> list[list[dict[str, Any]]]:
        """Return all tools at once, or some one by one if the form knows only one."""
        if self.dialect.only_tool is None:
            return [list(TOOL_SCHEMAS)]
        return [[self._named(tool)] for tool in TOOL_SCHEMAS[1::9]]


# What ends like an introduction holds nothing that a token begins with; see docs/grammars.md.
def _ends_plainly(thought: str) -> bool:
    line = thought.rstrip().rpartition("\n")[2]
    introduces = line.rstrip("`*_~ ").rstrip().endswith((":", "：", '"', "“", "「"))
    return not introduces or not set(line) & set("<[◁")


def values_of(schema: Any, definitions: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for the values that a schema of `TOOL_SCHEMAS` admits."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return st.deferred(lambda: values_of(definitions[name], definitions))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return st.one_of(*(values_of(each, definitions) for each in schema[union]))
    match schema.get("type"):
        case list() as kinds:
            return st.one_of(*(values_of({"type": kind}, definitions) for kind in kinds))
        case "string" if "pattern" in schema:
            return st.from_regex(schema["pattern"].replace("$", r"\Z"))
        case "string" if "maxLength" in schema:
            return st.text('ab é"\\', min_size=schema["minLength"], max_size=schema["maxLength"])
        case "string":
            return _TEXT
        case "integer":
            return st.integers(schema.get("minimum"), schema.get("maximum"))
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False) | st.integers()
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array" if "prefixItems" in schema:
            return st.tuples(*(values_of(each, definitions) for each in schema["prefixItems"])).map(
                list
            )
        case "array":
            items = values_of(schema.get("items", {}), definitions)
            return st.lists(
                items, min_size=schema.get("minItems", 0), max_size=schema.get("maxItems", 3)
            )
        case "object" if "properties" in schema:
            parts = {
                name: values_of(each, definitions) for name, each in schema["properties"].items()
            }
            needed = {
                name: part for name, part in parts.items() if name in schema.get("required", ())
            }
            free = {name: part for name, part in parts.items() if name not in needed}
            found = st.fixed_dictionaries(needed, optional=free)
            # More than six have the order of their schema; see docs/grammars.md.
            names = list(parts)
            orders = st.permutations(names) if len(names) <= 6 else st.just(names)
            return st.builds(
                lambda given, order: {name: given[name] for name in order if name in given},
                found,
                orders,
            )
        case "object":
            more = schema.get("additionalProperties", {})
            return st.dictionaries(_TEXT, values_of(more, definitions), max_size=3)
    return _json(infinite=False)


class _Engine(Protocol):
    """A grammar on its way through a text."""

    def refused(self, text: str) -> str | None:
        """Return where it does not go on with a text; None if it admits all of it."""

    def may_end(self) -> bool:
        """Tell whether the text may end here."""

    def goes_on(self, piece: str) -> bool:
        """Tell whether all of a piece may follow."""

    def take(self, piece: bytes) -> None:
        """Go on with a piece."""

    def any(self, chance: random.Random) -> bytes | None:
        """Return something short that may follow, by chance; None if nothing may."""


class _Bytes:
    """A tokenizer whose tokens are the bytes, for the engine."""

    eos_token_id, bos_token_id, special_token_ids = 256, None, (256,)
    tokens = (*(bytes([byte]) for byte in range(256)), b"<eos>")

    def __call__(self, text: bytes | str) -> list[int]:
        return list(text if isinstance(text, bytes) else text.encode())


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    try:
        import llguidance
    except ImportError as error:
        msg = "The law of grammars needs an engine: pip install llguidance"
        raise ImportError(msg) from error
    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()), n_vocab=257)


@lru_cache(maxsize=32)
def _matcher(grammar: str) -> Any:
    from llguidance import LLMatcher, LLParserLimits

    # A tokenizer of single bytes makes the engine look much further than one of words.
    fuel = 1_000_000_000
    limits = LLParserLimits(initial_lexer_fuel=fuel, step_lexer_fuel=fuel)
    matcher = LLMatcher(_tokenizer(), LLMatcher.grammar_from_lark(grammar), limits=limits)
    assert not matcher.is_error(), matcher.get_error()
    return matcher


class _InLark:
    """The grammar in Lark, as llguidance runs it."""

    def __init__(self, grammar: str) -> None:
        self.matcher = _matcher(grammar).deep_copy()

    def refused(self, text: str) -> str | None:
        words = text.encode()
        taken = self.matcher.try_consume_tokens(list(words))
        if taken == len(words) and self.matcher.is_accepting():
            return None
        return words[:taken].decode(errors="replace") + "⟂" + words[taken:].decode(errors="replace")

    def may_end(self) -> bool:
        return bool(self.matcher.is_accepting())

    def goes_on(self, piece: str) -> bool:
        words = piece.encode()
        return bool(self.matcher.validate_tokens(list(words)) == len(words))

    def take(self, piece: bytes) -> None:
        self.matcher.consume_tokens(list(piece))

    def any(self, chance: random.Random) -> bytes | None:
        mask = self.matcher.compute_bitmask()
        allowed = [at for at in range(256) if mask[at // 8] >> (at % 8) & 1]
        return bytes([chance.choice(allowed)]) if allowed else None


class _InGBNF:
    """The grammar in GBNF, as its text says it."""

    def __init__(self, grammar: GBNF) -> None:
        self.grammar, self.states = grammar, grammar.start

    def refused(self, text: str) -> str | None:
        at = self.grammar.refused_at(text)
        return None if at is None else f"{text[:at]}⟂{text[at:]}"

    def may_end(self) -> bool:
        return None in self.states

    def _after(self, piece: str) -> States:
        states = self.states
        for mark in piece:
            states = self.grammar.after(states, mark)
        return states

    def goes_on(self, piece: str) -> bool:
        return bool(self._after(piece))

    def take(self, piece: bytes) -> None:
        self.states = self._after(piece.decode())

    def any(self, chance: random.Random) -> bytes | None:
        choices = self.grammar.choices(self.states)
        if not choices:
            return None
        low, high = chance.choice(chance.choice(choices))
        point = chance.choice((low, high, chance.randint(low, min(high, low + 99))))
        return chr(high if 0xD800 <= point <= 0xDFFF else point).encode()


@lru_cache(maxsize=1)
def _grammars(_dialect: str) -> dict[tuple[str, str], Any]:
    """Return what is kept of a dialect: with the steps in them grammars take a lot of memory."""
    return {}


def _grammar(dialect: Dialect, tools: list[dict[str, Any]], syntax: Literal["lark", "gbnf"]) -> Any:
    made, key = _grammars(repr(dialect)), (repr(tools), syntax)
    if key not in made:
        text = dialect.grammar(tools, syntax)
        made[key] = GBNF(text) if syntax == "gbnf" else text
    return made[key]


def _lark(dialect: Dialect, tool: dict[str, Any]) -> _Engine:
    return _InLark(_grammar(dialect, [tool], "lark"))


def _gbnf(dialect: Dialect, tools: list[dict[str, Any]]) -> _Engine:
    return _InGBNF(_grammar(dialect, tools, "gbnf"))


def _walk(engine: _Engine, ways_out: list[str], seed: int) -> str:
    """Take random steps through the grammar to its end, trying what breaks written forms."""
    chance, said = random.Random(seed), bytearray()  # noqa: S311
    ways_out = [*ways_out, "]", '"', "}", "\n"]
    pieces = [*ways_out, *_HOSTILE]
    while len(said) < 4000:
        step = engine.any(chance)
        if engine.may_end() and (step is None or len(said) > 300 or chance.random() < 0.2):
            return said.decode()
        for piece in chance.sample(pieces if len(said) < 300 else ways_out, 6):
            if engine.goes_on(piece):
                step = piece.encode()
                break
        assert step is not None
        engine.take(step)
        said += step
    assume(False)
    return ""
