"""Every dialect of the package, and one of a user's own, keeps the laws."""

from xml.sax.saxutils import escape, unescape

from langchain_custom_agents.dialects import (
    CHINESE,
    ENGLISH,
    JAPANESE,
    Action,
    Answer,
    Bracketed,
    Conversational,
    Dialect,
    JsonBlob,
    Labelled,
    Move,
    SelfAsk,
)
from langchain_custom_agents.testing import DialectLaws


class XML(Dialect):
    cue = "<thought>"
    observation = "<observation>"

    def write(self, thought, move):
        if isinstance(move, Action):
            done = f'<action tool="{escape(move.tool)}">{escape(str(move.input))}</action>'
        else:
            done = (
                f"<answer>{escape(move.text if isinstance(move, Answer) else move.heard)}</answer>"
            )
        return f"<thought>{escape(thought)}</thought>\n{done}"


class TestEnglish(DialectLaws):
    dialect = ENGLISH


class TestJapanese(DialectLaws):
    dialect = JAPANESE


class TestChinese(DialectLaws):
    dialect = CHINESE


class TestGerman(DialectLaws):
    dialect = Labelled(
        thought="Gedanke",
        action="Handlung",
        action_input="Eingabe",
        observation="Beobachtung",
        final_answer="Antwort",
        question="Frage",
    )


class TestBracketed(DialectLaws):
    dialect = Bracketed()


class TestBracketedInJapanese(DialectLaws):
    dialect = Bracketed(thought="思考:", action="行動:", observation="観察:", finish="完了")


class TestJsonBlob(DialectLaws):
    dialect = JsonBlob()


class TestSelfAsk(DialectLaws):
    dialect = SelfAsk()


class TestConversational(DialectLaws):
    dialect = Conversational()
