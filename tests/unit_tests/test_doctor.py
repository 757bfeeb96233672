"""The doctor tells the truth about readers, sick and healthy."""

import json
import sys

import pytest
from click.testing import CliRunner
from langchain_classic.agents import AgentOutputParser
from langchain_classic.agents.output_parsers import ReActSingleInputOutputParser
from langchain_classic.agents.react.output_parser import ReActOutputParser
from langchain_classic.agents.structured_chat.output_parser import StructuredChatOutputParser
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.exceptions import OutputParserException

from langchain_custom_agents import ReActAgent
from langchain_custom_agents.cli.doctor import doctor
from langchain_custom_agents.dialects import (
    CHINESE,
    ENGLISH,
    JAPANESE,
    Action,
    Answer,
    Bracketed,
    Conversational,
    JsonBlob,
    Labelled,
    SelfAsk,
)
from langchain_custom_agents.doctor import CRASHED, INVENTED_ANSWER, REFUSED, as_move, examine
from langchain_custom_agents.testing import ScriptedLLM
from langchain_custom_agents.testing.shapes import SHAPES

HEALTHY = [ENGLISH, JAPANESE, CHINESE, Bracketed(), JsonBlob(), SelfAsk(), Conversational()]


class TutorialParser(AgentOutputParser):
    """An output parser as tutorials write it."""

    def parse(self, text):
        if "Final Answer:" in text:
            return AgentFinish({"output": text.split("Final Answer:")[-1].strip()}, text)
        action, found, given = text.partition("Action: ")[2].partition("\nAction Input: ")
        if not found:
            raise OutputParserException(f"Could not parse LLM output: `{text}`")
        return AgentAction(action.strip(), given.strip(), text)


@pytest.mark.parametrize("dialect", HEALTHY, ids=repr)
def test_our_dialects_are_healthy(dialect):
    """Every dialect of the package is right about every shape, and keeps every law."""
    report = examine(dialect)

    assert report.healthy, report.text()
    assert report.counts == {"right": len(report.cases)}


def test_own_words_are_examined_in_own_words():
    """A dialect with words of one's own meets the shapes in those words."""
    german = Labelled(
        thought="Gedanke", action="Handlung", action_input="Eingabe",
        observation="Beobachtung", final_answer="Antwort", question="Frage",
    )  # fmt: skip
    report = examine(german)

    assert any("Handlung" in case.text for case in report.cases)
    assert report.healthy, report.text()


@pytest.mark.parametrize(
    ("subject", "form"),
    [
        (TutorialParser, "Labelled"),
        (ReActSingleInputOutputParser, "Labelled"),
        (ReActOutputParser, "Bracketed"),
        (StructuredChatOutputParser, "JsonBlob"),
    ],
)
def test_parsers_that_pass_on_what_is_wrong_are_told_so(subject, form):
    """The form of a parser is found out, and what it passes on silently is shown with examples."""
    report = examine(subject)

    assert report.dialect == form
    assert not report.healthy
    assert report.silent > 0
    assert f"of {len(report.cases)} cases" in report.text()
    assert report.better_silent == 0
    assert report.better in report.text()


def test_an_invented_answer_is_counted():
    """Machine text handed to the user is the gravest fault, and comes first in the report."""
    report = examine(StructuredChatOutputParser())

    assert report.counts[INVENTED_ANSWER] > 10
    assert f"It {INVENTED_ANSWER} in {report.counts[INVENTED_ANSWER]} of" in report.text()


def test_a_broken_law_is_named():
    """A parser that believes an invented observation breaks a law, with an example."""
    report = examine(TutorialParser())
    law = next(law for law in report.laws if "invented observation" in law.name)

    assert law.held < law.tried
    assert "Observation:" in law.example.text


def test_an_agent_is_examined_by_its_reader():
    """An agent of ours reads with its dialect and is healthy."""
    agent = ReActAgent.from_llm_and_tools(ScriptedLLM([]), [])

    assert examine(agent).healthy


def test_a_reader_that_refuses_everything_is_not_healthy_by_that():
    """Refusing what is clear is counted, and the laws are broken."""

    def refuse(text):
        raise ValueError(text)

    report = examine(refuse, ENGLISH)

    assert report.silent == 0
    assert report.counts[REFUSED] > 40
    assert not report.healthy


def test_a_crash_is_no_refusal():
    """An exception that no executor expects is called a crash."""
    report = examine(lambda text: {}["missing"], ENGLISH)

    assert report.counts[CRASHED] > 40


@pytest.mark.parametrize(
    ("result", "move"),
    [
        (AgentAction("Search", "x", ""), Action("Search", "x")),
        ([AgentAction("Search", "x", ""), AgentAction("Search", "y", "")], Action("Search", "x")),
        (AgentFinish({"output": "42"}, ""), Answer("42")),
        (("action", "Search", {"q": "x"}), Action("Search", {"q": "x"})),
        (("finish", "42"), Answer("42")),
        ({"kind": "action", "tool": "Search", "tool_input": "x"}, Action("Search", "x")),
        ({"answer": "42"}, Answer("42")),
        (Answer("42"), Answer("42")),
    ],
)
def test_whatever_a_reader_returns_is_understood(result, move):
    """LangChain's steps, moves, tuples and dictionaries are all results."""
    assert as_move(result) == move


def test_what_cannot_read_is_refused():
    """Something that is no reader is refused in a full sentence."""
    with pytest.raises(TypeError, match="A reader is an output parser"):
        examine(42)


def test_an_unknown_form_is_asked_for():
    """A reader of no known form is not examined against the wrong one."""
    with pytest.raises(ValueError, match="reads none of the forms"):
        examine(lambda text: ("finish", "always the same"))


def test_a_function_may_ask_for_the_tools():
    """A reader of two arguments is given the text and the tools there are."""

    def two(text, tools):
        return ENGLISH.read(text, tools)

    assert examine(two).healthy


async def awaited(text):
    """Read, but not at once."""
    return ENGLISH.read(text)


class Configured(TutorialParser):
    """An output parser that cannot be made without arguments."""

    language: str


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        (lambda a, b, c: a, "is no reader: one takes a text, or a text and the tools"),
        (awaited, "awaited must be awaited; give a function that returns the step itself"),
        (Configured, r"Configured cannot be made without arguments; make one"),
    ],
)
def test_what_cannot_be_called_with_a_text_is_told_so(subject, said):
    """What is wrong with how a reader is called is said, and not taken for how it reads."""
    with pytest.raises(TypeError, match=said):
        examine(subject)


def test_a_reader_that_always_raises_is_told_what():
    """Where every reply raises, the first exception is shown: it may be no matter of form."""

    def broken(text):
        raise KeyError(text.missing)

    with pytest.raises(ValueError, match=r"at every reply, first AttributeError: 'str' object"):
        examine(broken)


def test_a_reader_that_ends_the_process_is_said_to_crash():
    """A reader that calls `sys.exit` neither ends the examination nor goes unnoticed."""
    report = examine(lambda text: sys.exit(3), ENGLISH)

    assert report.counts == {CRASHED: len(report.cases)}
    assert "SystemExit(3)" in report.cases[0].read


def test_reports_are_whole():
    """JSON holds every case; the page needs nothing else and escapes what models said."""
    report = examine(TutorialParser())
    page = report.to_html()

    assert len(json.loads(report.to_json())["cases"]) == len(report.cases)
    assert "<think>" not in page
    assert "&lt;think&gt;" in page
    assert "src=" not in page
    assert "@import" not in page


def test_the_library_of_shapes_is_ours_and_large():
    """There are at least 64 shapes, of many kinds, each written once."""
    assert len(SHAPES) >= 64
    assert len({shape.kind for shape in SHAPES}) >= 30
    assert len({(shape.form, shape.text) for shape in SHAPES}) == len(SHAPES)


def test_the_command_ends_with_1_where_something_is_wrong(tmp_path):
    """`lca doctor` shows what breaks, writes both reports, and fails a build."""
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    result = CliRunner().invoke(
        doctor,
        [f"{__name__}:TutorialParser", "--html", str(page), "--json", str(data)],
    )

    assert result.exit_code == 1
    assert "TutorialParser reads the form of Labelled." in result.output
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(data.read_text(encoding="utf-8"))["healthy"] is False


def test_the_command_ends_with_0_where_all_is_well():
    """`lca doctor` passes a healthy reader."""
    result = CliRunner().invoke(doctor, ["langchain_custom_agents.dialects:JAPANESE"])

    assert result.exit_code == 0
    assert "Nothing wrong is passed on silently" in result.output


def test_the_command_takes_a_file(tmp_path):
    """A file is named by its path, and may import what stands beside it."""
    (tmp_path / "beside_the_file.py").write_text(
        "from langchain_custom_agents.dialects import ENGLISH"
    )
    file = tmp_path / "mine.py"
    file.write_text(
        "from beside_the_file import ENGLISH\ndef fine(text):\n    return ENGLISH.read(text)"
    )
    result = CliRunner().invoke(doctor, [f"{file}:fine", "--dialect", "english"])

    assert "fine reads the form of Labelled." in result.output


def test_a_file_that_cannot_be_imported_is_told_why(tmp_path):
    """A script that ends the process when it is imported is named, with what it raised."""
    file = tmp_path / "script.py"
    file.write_text("import sys\nsys.exit('usage: script')")
    result = CliRunner().invoke(doctor, [f"{file}:reader"])

    assert result.exit_code == 2
    assert "raised SystemExit: usage: script" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("nonsense", "must be MODULE:OBJECT"),
        ("no_such_module_anywhere:parser", "There is no module"),
        ("json:nonsense", "has no 'nonsense'"),
        ("json:__doc__", "A reader is"),
        ("os:getcwd", "one takes a text"),
        ("os.path:basename", "--dialect"),
        ("./no_such_file.py:reader", "There is no Python file"),
        (".relative:reader", "Importing .relative raised"),
        ("json:loads --examples -1", "-1 is not in the range"),
    ],
)
def test_the_command_says_what_to_do(subject, said):
    """What cannot be examined ends with a sentence and exit code 2."""
    result = CliRunner().invoke(doctor, subject.split())

    assert result.exit_code == 2
    assert said in result.output
