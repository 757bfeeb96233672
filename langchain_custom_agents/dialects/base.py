"""The dialect: the written form of an agent's steps, spelled once."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from textwrap import dedent
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from langchain_core.messages import BaseMessage

from langchain_custom_agents.dialects.form import Form
from langchain_custom_agents.dialects.lenient_json import is_plain, to_json
from langchain_custom_agents.dialects.moves import (
    Action,
    Answer,
    Misreading,
    Move,
    NoSuchTool,
    Prose,
    Reading,
    tidy,
)
from langchain_custom_agents.dialects.phrases import IN_ENGLISH, Phrases
from langchain_custom_agents.dialects.toolbox import Toolbox, Tools

if TYPE_CHECKING:
    from langchain_custom_agents.dialects.grammars.nodes import Grammar


class Dialect(ABC):
    r"""The written form of an agent's steps: how a step is written and read back.

    A dialect of your own says what `cue` and `observation` are, writes a step (`write`) and
    recognises what it has written (`match`). Stop sequences, scratchpad, instructions,
    corrections and the cut at invented observations follow from these. Its laws are the test
    class `langchain_custom_agents.testing.DialectLaws`.

    Attributes:
        cue: What a prompt ends with, so that the model goes on from there.
        observation: How an observation begins: what a model must never write itself.
        phrases: The plain words around the form.
        only_tool: The one tool the form knows, if it cannot name tools.

    Example:
        >>> from langchain_custom_agents.dialects import ENGLISH, Action
        >>> print(ENGLISH.write("I must look", Action("Search", "Hiroko")))
        Thought: I must look
        Action: Search
        Action Input: Hiroko
        >>> said = "I must look\nAction: Search\nAction Input: Hiroko\nObservation: a doctor"
        >>> reading = ENGLISH.read(said)
        >>> reading.move, reading.cut
        (Action(tool='Search', input='Hiroko'), 'Observation: a doctor')
    """

    cue: str
    observation: str
    phrases: Phrases = IN_ENGLISH
    only_tool: ClassVar[str | None] = None

    # What a dialect must define.

    @abstractmethod
    def write(self, thought: str, move: Move) -> str:
        """Write one step of the model, beginning with the cue.

        Args:
            thought: The reasoning, possibly empty.
            move: What is done. A misreading is written as a thought: words that do nothing.

        Returns:
            The step, without the observation that follows it.

        Raises:
            ValueError: If the form cannot hold the move, such as a tool name with a line break.
        """

    @abstractmethod
    def match(self, text: str) -> tuple[str, Move] | None:
        """Read text that is in the exact written form.

        Args:
            text: One step, beginning with the cue, without white space around it.

        Returns:
            The thought and the move; None if the text is not in the exact form.
        """

    # What follows from it.

    @property
    def stop(self) -> tuple[str, ...]:
        """The stop sequences to send to a model: a hint, made law by `read`."""
        return ("\n" + self.observation,)

    @cached_property
    def form(self) -> Form:
        """What counts as form in a text."""
        return Form((self.cue, self.observation), self.observation, common=False)

    def read(self, text: str | BaseMessage, tools: Tools = ()) -> Reading:
        """Read a model's words.

        The exact written form is tried first; only if the words are not in it are they
        repaired, and every repair is named in the reading.

        Args:
            text: The words, going on from the cue or repeating it; of a message its text is read.
            tools: The tools there are, for their names and their arguments.

        Returns:
            The reading. Words that cannot be read with certainty give a `Misreading`.

        Raises:
            TypeError: If the words are no text and no message.
        """
        words, toolbox = tidy(_plainly(text)), Toolbox.of(tools)
        head, cut = self.cut(words)
        begins = (head,) if head.startswith(self.cue) else (f"{self.cue}\n{head}",)
        for candidate in begins:
            exact = self.match(candidate)
            if exact is None:
                continue
            thought, move = exact
            if not isinstance(move, Action):
                return Reading(thought, move, cut)
            spec = toolbox.get(move.tool)
            if spec is None and not toolbox:
                return Reading(thought, move, cut)
            if spec is not None and spec.suits(move.input):
                return Reading(thought, Action(move.tool, spec.fit(move.input)), cut)
        return self.recover(words, toolbox)

    def cut(self, words: str) -> tuple[str, str]:
        """Split words at the first invented observation, even one broken off in its label."""
        at = self.form.observation_start(words)
        marked = "\n" + words
        for sequence in self.stop:
            found = marked.find(sequence)
            # `marked` is one longer, and a sequence that begins a line is found before its "\n".
            if found >= 0 and (at is None or found < at):
                at = max(found - 1, 0) if not sequence.startswith("\n") else found
        return (words, "") if at is None else (tidy(words[:at]), tidy(words[at:]))

    def recover(self, words: str, toolbox: Toolbox) -> Reading:
        """Read words that are not in the exact written form, or refuse them.

        A dialect refuses by default. Those of this package repair what is certain.
        """
        head, cut = self.cut(words)
        if not head:
            reason = self.phrases.only_observation if cut else self.phrases.empty
            return Reading("", Misreading(words, reason), cut)
        exact = self.match(head if head.startswith(self.cue) else f"{self.cue}\n{head}")
        if exact is not None and isinstance(exact[1], Action):
            if not toolbox.is_complete:
                return Reading(*exact, cut)
            return Reading(exact[0], self.no_such_tool(words, exact[1], toolbox), cut)
        if self.form.is_in(head) or self.cue in head:
            return Reading("", Misreading(words, self.phrases.unclear), cut)
        return Reading("", Prose(words, self.phrases.no_form), cut)

    def no_such_tool(self, words: str, attempted: Action, toolbox: Toolbox) -> NoSuchTool:
        """Return the misreading of words that name an unknown tool."""
        names = ", ".join(toolbox.names)
        reason = self.phrases.no_such_tool.format(tool=attempted.tool, tools=names)
        return NoSuchTool(words, reason, attempted)

    def observe(self, observation: Any) -> str:
        """Write an observation. Whatever counts as form in it is escaped: it cannot speak."""
        text = observation if isinstance(observation, str) else str(observation)
        return f"{self.observation} {self.escape(tidy(text))}".rstrip()

    def step(self, thought: str, move: Move, observation: Any) -> str:
        """Write what one finished step adds to a prompt that ends with the cue."""
        said = self.write(thought, move).removeprefix(self.cue)
        return f"{said}\n{self.observe(observation)}\n{self.cue}"

    def scratchpad(self, steps: Iterable[tuple[str, Move, Any]] = ()) -> str:
        """Write the steps so far, from the first cue to the one the model goes on from.

        Args:
            steps: The thought, the move and the observation of each step.
        """
        return self.cue + "".join(self.step(*step) for step in steps)

    def examples(self, tools: Tools = ()) -> tuple[tuple[str, Move], ...]:
        """Return the steps that the instructions show: an action, if there are tools, an answer."""
        toolbox, say = Toolbox.of(tools), self.phrases
        name = self.only_tool or next(iter(toolbox.names), "Search")
        spec = toolbox.get(name)
        given: str | dict[str, Any] = say.input
        if spec is not None and spec.args and not spec.takes_text and len(spec.args) > 1:
            given = {key: _example_of(schema, say.input) for key, schema in spec.args.items()}
        return (
            (say.thinking, Action(name, given)),
            (say.knowing, Answer(say.answer)),
        )

    def instructions(self, tools: Tools = ()) -> str:
        """Describe the form to a model by steps written in it."""
        acting, answering = (self.write(thought, move) for thought, move in self.examples(tools))
        lines = [self.phrases.form, ""]
        if Toolbox.of(tools):
            lines += [acting, self.observe(self.phrases.result), self.phrases.repeat]
        return "\n".join([*lines, answering])

    def correction(self, misreading: Misreading, tools: Tools = ()) -> str:
        """Say to a model what was misread, how to say it instead, and which tools there are."""
        toolbox = Toolbox.of(tools)
        acting, answering = (
            " / ".join(self.write("", move).removeprefix(self.cue).strip().split("\n"))
            for _, move in self.examples(toolbox)
        )
        if toolbox:
            form = self.phrases.action_form.format(
                form=f"`{acting}` | `{answering}`", tools=", ".join(toolbox.names)
            )
        else:
            form = self.phrases.no_tools.format(form=f"`{answering}`")
        return self.phrases.misread.format(reason=misreading.reason, form=form)

    # What holds an engine to the form.

    def grammar(
        self,
        tools: Tools = (),
        syntax: Literal["gbnf", "lark", "json_schema"] = "gbnf",
        *,
        forced: bool = False,
    ) -> Any:
        """Return the grammar of one step: whatever it admits, `read` reads without repairs.

        Thoughts and answers are free, except that nothing in them can count as form; tools are
        named from the list, and their arguments follow their schemas.

        Args:
            tools: The tools there are. Without any, only an answer is admitted.
            syntax: `"gbnf"` for llama.cpp, `"lark"` for llguidance, `"json_schema"` for
                engines that know JSON schemas only; that is for `JsonBlob`, without its thought.
            forced: Whether a tool must be called: then no answer is admitted.

        Returns:
            The grammar as text; a JSON schema as a dict.

        Raises:
            NotImplementedError: If the dialect defines no `rules`.
            ValueError: If a tool cannot be named in the form, its schema cannot be written, the
                form is not JSON, or a tool must be called and there is none.

        Example:
            >>> from langchain_custom_agents.dialects import JsonBlob
            >>> JsonBlob().grammar((), "json_schema")["properties"]["action"]
            {'const': 'Final Answer'}
        """
        from langchain_custom_agents.dialects.grammars import rendering, steps

        toolbox = Toolbox.of(tools)
        if forced or toolbox.forced:
            if not toolbox:
                msg = "A grammar that is forced to call a tool needs one: there are no tools."
                raise ValueError(msg)
            toolbox = Toolbox(toolbox.specs, forced=True)
        if syntax == "json_schema":
            return steps.json_schema(self, toolbox)
        writers = {"gbnf": rendering.gbnf, "lark": rendering.lark}
        if syntax not in writers:
            msg = f"There is no syntax {syntax!r}; choose gbnf, lark or json_schema."
            raise ValueError(msg)
        return writers[syntax](self.rules(toolbox))

    def rules(self, toolbox: Toolbox) -> "Grammar":
        """Return the rules of one step; a dialect of your own defines them to have a grammar.

        Args:
            toolbox: The tools there are, and whether one must be called (`forced`).

        Raises:
            NotImplementedError: If the dialect defines none.
        """
        from langchain_custom_agents.dialects.grammars.steps import rules_of

        found = rules_of(self, toolbox)
        if found is None:
            msg = (
                f"{type(self).__name__} has no grammar: define its method `rules`, which returns "
                "a `Grammar` of nodes from langchain_custom_agents.dialects.grammars."
            )
            raise NotImplementedError(msg)
        return found

    # What a dialect may use to write and to match.

    def escape(self, content: str) -> str:
        r"""Put a backslash before everything in the content that would count as form."""
        return self.form.escape(content)

    def unescape(self, content: str) -> str:
        """Take the backslashes of `escape` away."""
        return self.form.unescape(content)


# What editors and tokenizers leave before a text, and nobody sees.
_UNSEEN = "\ufeff\u200b\u2060\u200e\u200f"


def _plainly(text: str | BaseMessage) -> str:
    """Return words without unseen marks before them, and without an indentation of all lines."""
    if not isinstance(text, str):
        # `tidy` says what is wrong with anything else.
        return _plainly(str(text.text)) if isinstance(text, BaseMessage) else tidy(text)
    text = text.lstrip(_UNSEEN)
    if not text[:1].isspace():
        return text
    indented = all(line[0] in " \t" for line in text.split("\n") if line.strip())
    return dedent(text) if indented else text


# A text that begins like JSON, a quotation or a fence would be read as such: it is escaped too.
_LIKE_DATA = ("{", "[", '"', "'", "`", "“", "”", "「", "『")


def write_input(dialect: Dialect, given: str | dict[str, Any]) -> str:
    """Write an action's input: a text as it is, arguments as one line of JSON."""
    if isinstance(given, dict):
        return to_json(given)
    mark = "\\" if given.lstrip("\\").startswith(_LIKE_DATA) else ""
    return mark + escape_rest(dialect, given)


def match_input(dialect: Dialect, written: str) -> str | dict[str, Any] | None:
    """Read an input in its exact written form; None if it is not in it."""
    if written.startswith("{"):
        try:
            given = json.loads(written) if is_plain(written) else None
        except (ValueError, RecursionError):
            return None
        return given if isinstance(given, dict) else None
    if written.startswith(_LIKE_DATA):
        return None
    if written.startswith("\\") and written.lstrip("\\").startswith(_LIKE_DATA):
        written = written[1:]
    return match_rest(dialect, written)


# An answer that begins like a call in JSON would be machine text for a reader.
_LIKE_CALL = re.compile(
    r"""(?:(?:```|~~~)\w{0,10}\s{0,9})?[\[{]\s{0,9}\{?\s{0,9}["'“]?(?:action|tool|name|function)""",
    re.IGNORECASE,
)


def write_answer(dialect: Dialect, text: str) -> str:
    """Write an answer: a text as it is, unless it begins like a call in JSON."""
    mark = "\\" if _LIKE_CALL.match(text.lstrip("\\")) else ""
    return mark + escape_rest(dialect, text)


def match_answer(dialect: Dialect, written: str) -> str | None:
    """Read an answer in its exact written form; None if it is not in it."""
    text = match_rest(dialect, written)
    if text is None or _LIKE_CALL.match(text):
        return None
    return text[1:] if text.startswith("\\") and _LIKE_CALL.match(text.lstrip("\\")) else text


def escape_rest(dialect: Dialect, content: str) -> str:
    """Escape content that follows its label on the same line, where no other label can stand."""
    first, newline, rest = ("\n" + content).partition("\n")[2].partition("\n")
    escaped = dialect.form.escape("\n" + rest)[1:] if newline else ""
    return dialect.form.escape("\0" + first)[1:] + newline + escaped


def match_rest(dialect: Dialect, written: str) -> str | None:
    """Undo `escape_rest`; None if something in it counts as form."""
    first, newline, rest = written.partition("\n")
    if dialect.form.is_in("\0" + first) or (newline and dialect.form.is_in("\n" + rest)):
        return None
    unescaped = dialect.form.unescape("\n" + rest)[1:] if newline else ""
    return dialect.form.unescape("\0" + first)[1:] + newline + unescaped


def _example_of(schema: Mapping[str, Any], text: str) -> Any:
    """Return a value of a JSON schema to show."""
    if schema.get("enum"):
        return schema["enum"][0]
    values: dict[str, Any] = {
        "integer": 1,
        "number": 1.5,
        "boolean": True,
        "array": [],
        "object": {},
    }
    return values.get(schema.get("type", "string"), text)
