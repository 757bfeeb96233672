"""Every dialect of the package, and one of a user's own, keeps the laws."""

import json
import re
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
    Misreading,
    SelfAsk,
)
from langchain_custom_agents.testing import DialectLaws


class XML(Dialect):
    """A dialect of a user's own: what it writes, and how that is recognised."""

    cue, observation = "<thought>", "<observation>"
    form_of_step = re.compile(
        r'<thought>(.*?)</thought>\n(?:<call tool="(.*?)">(.*?)</call>|<answer>(.*?)</answer>)',
        re.DOTALL,
    )

    def write(self, thought, move):
        if isinstance(move, Misreading):
            return f"<thought>{escape(move.heard)}</thought>"
        if isinstance(move, Answer):
            done = f"<answer>{escape(move.text)}</answer>"
        else:
            done = f'<call tool="{escape(move.tool)}">{escape(json.dumps(move.input))}</call>'
        return f"<thought>{escape(thought)}</thought>\n{done}"

    def match(self, text):
        found = self.form_of_step.fullmatch(text)
        if found is None:
            return None
        thought, tool, given, answer = (unescape(part or "") for part in found.groups())
        return (thought, Action(tool, json.loads(given)) if tool else Answer(answer))

    def escape(self, content):
        return escape(content)


class TestXML(DialectLaws):
    """Four lines give a dialect of one's own all the laws."""

    dialect = XML()


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
