"""Where the labels of a step stand in a text, and what is only quoted there."""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from langchain_custom_agents.dialects.form import VOCABULARY, plain_word, words_pattern

if TYPE_CHECKING:
    from langchain_custom_agents.dialects.base import Dialect

_FENCE = re.compile(
    r"^(?=[^\n])(?P<lead>[^\n`~]{0,60}?[:：])?[ \t]{0,8}(?P<mark>`{3,9}|~{3,9})"
    r"[ \t]{0,3}(?P<lang>[\w+#.\-]{0,20})[ \t]{0,9}$",
    re.MULTILINE,
)
_EXAMPLE = re.compile(
    r"for example|for instance|\be\.g\.|\bexample\b"
    # For labels of one's own in other languages.
    r"|\b(?:beispiel|beispielsweise|ejemplo|exemple|exemplo|esempio|например)\b|예를 들|예시"
    r"|(?:instructions?|prompt|message) (?:says?|said|tells?|told|shows?|showed)"
    r"|(?:format|form|syntax|template|step) (?:is|was|looks?|would be)\b"
    r"|(?:could|would|might) (?:say|write|answer|reply|respond|look)"
    # "Example" as a word or the end of one, but not in words for laws, ratios and the like.
    r"|(?:\b|[^条條比判慣惯症特凡通])例\b|例えば|たとえば|例として|の例|例如|比如|譬如|例子|[举舉]例"
    r"|(?:形式|書式|書き方|フォーマット|構文|格式)(?:\b|は|如下|是|[为為])"
    r"|(?:次|以下|下記|上記|こ)の(?:形式|書式|書き方|フォーマット|構文)[でに]"
    r"|(?:次|以下|下記|こ)のように(?:\b|[書記答返]|回答|出力|入力|表|な[りる])|こう(?:書|答え)"
    r"|(?:如下|以下|下列|下面|下述|[这這][种種])(?:的)?格式"
    r"|(?:如下|[这這][样樣]|如此)(?:所示|[写寫]|[书書][写寫]|回答|回[复復])",
    re.IGNORECASE,
)
# The first step is looked for: what comes after so many labels and fences does not matter.
_MOST = 2_000
# A step has fewer labels than this.
_STEP = 64
_EMPHASIS = re.compile(r"(?:\*{1,3}|_{1,3}|`{1,3}|\|)[ \t]?(?=\w)")
_ROLES = {
    "question": "question",
    "thought": "thought",
    "action": "action",
    "action_input": "input",
    "observation": "observation",
    "final_answer": "answer",
}


@dataclass(frozen=True)
class Words:
    """The words of each role, as one dialect has them: its own first, then all others.

    Args:
        roles: The role of each word, normalised.
        spelled: The words of each role.
    """

    roles: Mapping[str, str]
    spelled: Mapping[str, tuple[str, ...]]

    @staticmethod
    def of(dialect: "Dialect") -> "Words":
        """Return the words of a dialect."""
        labels = getattr(dialect, "labels", {"thought": dialect.cue})
        turns = tuple(getattr(dialect, "turns", ()))
        asks = dialect.only_tool is not None
        return _words(tuple(labels.items()), turns, asks)

    def any_of(self, *roles: str) -> str:
        """Return a pattern for the words of some roles."""
        return words_pattern(word for role in roles for word in self.spelled.get(role, ()))

    def begins_step(self, text: str) -> bool:
        """Tell whether a text begins with the label of an action."""
        return re.match(rf"\s{{0,9}}(?:{self.any_of('action')})\s?\d{{0,3}}[:：]", text) is not None

    def unfolded(self, text: str, loose: bool) -> str | None:
        """Return a text whose step stands on one line with line breaks before its labels.

        Args:
            text: The text.
            loose: Whether a label may follow anything, rather than the end of a sentence.

        Returns:
            The text; None if no whole step stands within a line.
        """
        start, given, later = self._folded
        for found in islice(start.finditer(text), 16):
            before = text[: found.end("before")]
            line = before.rpartition("\n")[2]
            if (loose or found["before"] in ".!?。！？…") and line.count("`") % 2 == 0:
                rest = given.sub("\n", text[found.end() :], count=1)
                return f"{before}\n{later.sub(chr(10), rest)}"
        return None

    def respelled(self, text: str, led: bool) -> str | None:
        """Return a text with its labels spelled, where they are dressed up or lack their colons.

        Args:
            text: The text.
            led: Whether a label of a thought leads the step.

        Returns:
            The text; None if it has no such labels of a step.
        """
        dressed, closing, bare = self._undressed
        roles = set()

        def spell(found: re.Match[str]) -> str:
            role = self.roles[plain_word(found["dressed"] or found["counted"] or found["dashed"])]
            roles.add(role)
            return f"{self.spelled[role][0]}: "

        opened = closing.sub("\n", text, count=_STEP) if "</" in text else text
        spelled = dressed.sub(spell, opened, count=_STEP)
        if roles & {"action", "answer", "follow_up"}:
            return spelled
        found = bare.search(text)
        if found is None:
            return None
        leads = led or re.match(rf"\s{{0,9}}(?:{self.any_of('thought')})[ \t]", text)
        if not leads and (found["led"] or found["asked"]):
            return None
        role = "follow_up" if found["asked"] else "action"
        role = "answer" if found["answer"] or found["led"] else role
        rest = text[found.end() :]
        if found["action"]:
            rest = re.sub(
                rf"\n[*_#\- \t]{{0,6}}(?:{self.any_of('input')})[*_]{{0,2}}[ \t]{{1,3}}",
                f"\n{self.spelled['input'][0]}: ",
                rest,
                count=1,
                flags=re.IGNORECASE,
            )
        return f"{text[: found.start()]}{self.spelled[role][0]}: {rest}"

    @cached_property
    def _undressed(self) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
        """Labels in brackets or tags or after East Asian numbers; ends of tags; no colons."""
        word = self.any_of("thought", "action", "input", "observation", "answer", "follow_up")
        actions, inputs, answers, asks = map(
            self.any_of, ("action", "input", "answer", "follow_up")
        )
        full = words_pattern({self.spelled["answer"][0], "Final Answer"} - {"AI"})
        marks = r"[*_#\- \t]{0,6}"
        flags = re.MULTILINE | re.IGNORECASE
        return (
            re.compile(
                rf"^[ \t]{{0,8}}(?:[\[(<【](?P<dressed>{word})[\])>】][ \t]?[:：]?"
                rf"|\d{{1,3}}[．）、][ \t\u3000]{{0,4}}(?P<counted>{word})[ \t]?[:：]"
                rf"|(?P<dashed>{word})[ \t]{{1,3}}(?:[=\-]?>|[=\-–—→]))[ \t]{{0,9}}",
                flags,
            ),
            re.compile(rf"</(?:{word})>", flags),
            re.compile(
                rf"^(?:{marks}(?P<action>(?i:{actions})[*_]{{0,2}}[ \t]{{1,3}}"
                rf"(?=[^\n:：]{{1,64}}\n{{1,2}}{marks}(?i:{inputs})[*_]{{0,2}}[ \t]{{1,3}}))"
                rf"|(?P<call>(?:{actions})[ \t]{{1,3}})"
                rf"(?=[^\n:：\[\]]{{1,64}}\[[^\n]{{0,999}}\][ \t.]{{0,9}}$)"
                rf"|(?P<answer>(?:{full})(?:[ \t]is|[ \t]\([^():：\n]{{1,40}}\)[:：])?"
                rf"[ \t]{{1,3}})(?=[^a-z\s])"
                rf"|{marks}(?P<led>(?:{answers})[*_]{{0,2}}[ \t]{{1,3}})(?=\S)"
                rf"|(?P<asked>(?:{asks})[ \t]{{1,3}})(?=\S))",
                re.MULTILINE,
            ),
        )

    @cached_property
    def _folded(self) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
        action, given, answer = self.any_of("action"), self.any_of("input"), self.any_of("answer")
        asks = self.any_of("follow_up")
        act = rf"(?:{action})\s?\d{{0,3}}[:：]\s{{0,3}}[^\n:：\[\]]{{1,64}}?"
        later = self.any_of("observation", "thought", "question")
        return (
            re.compile(
                rf"(?P<before>\S)[ \t]{{1,9}}"
                rf"(?=(?:{answer}|{asks})\s?[:：]|(?:{action})\s?[:：]\s{{0,3}}(?:```\w{{0,9}}\s{{0,3}})?\{{"
                rf"|{act}(?:[ \t]{{1,9}}(?:{given})\s?[:：]|\[|(?<=\w)\())"
            ),
            re.compile(rf"[ \t]{{1,9}}(?=(?:{given})\s?[:：])"),
            re.compile(rf"[ \t]{{1,9}}(?=(?:{later})\s?\d{{0,3}}[:：])"),
        )


@lru_cache(maxsize=64)
def _words(labels: tuple[tuple[str, str], ...], turns: tuple[str, ...], asks: bool) -> Words:
    roles: dict[str, str] = {}
    spelled: dict[str, tuple[str, ...]] = {}

    def learn(word: str, role: str) -> None:
        word = word.rstrip(":： ")
        if plain_word(word) not in roles:
            roles[plain_word(word)] = role
            spelled[role] = (*spelled.get(role, ()), word)

    for name, label in labels:
        learn(label, "follow_up" if asks and name == "action" else _ROLES.get(name, name))
    for label in turns:
        learn(label, "question")
    for role, words in VOCABULARY.items():
        for word in words:
            learn(word, "thought" if word.startswith("Are follow up") else role)
    return Words(roles, spelled)


@dataclass(frozen=True)
class Label:
    """A label in a text.

    Args:
        start: Where it begins.
        end: Where its content begins.
        role: What it stands for.
        quoted: Whether it stands in a block quotation.
        mark: The emphasis that it opens and does not close.
    """

    start: int
    end: int
    role: str
    quoted: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Fence:
    """A fenced block: where it begins, where its content begins and ends, where it ends."""

    start: int
    inner: int
    stop: int
    end: int
    after_label: bool = False


class Segments:
    """A text with its labels, and its fenced blocks, in which labels are quotations.

    Args:
        text: The text.
        dialect: The dialect whose labels come first.
    """

    def __init__(self, text: str, dialect: "Dialect") -> None:
        self.words = Words.of(dialect)
        self.text, self.fences = _without_strays(text)
        self.mended = self.text != text
        starts = [fence.start for fence in self.fences]
        self.labels: list[Label] = []
        self.fenced: list[Label] = []
        for start, end, word in islice(dialect.form.labels(self.text), _MOST):
            role = self.words.roles.get(word)
            if role is None:
                continue
            at = bisect_right(starts, start) - 1
            label = self._label(start, end, role)
            hidden = at >= 0 and self.fences[at].inner <= start < self.fences[at].end
            (self.fenced if hidden else self.labels).append(label)

    def _label(self, start: int, end: int, role: str) -> Label:
        """Make a label; emphasis that it opens ends after its colon, or with its content.

        A label that is said twice is one.
        """
        spelled = self.text[start:end]
        # A label of one's own may hold the mark of a block quotation itself.
        word = next((each for each in self.words.spelled[role] if each in spelled), "")
        again = re.compile(rf"[ \t]{{0,3}}{re.escape(spelled.strip())}").match(self.text, end)
        if again and spelled.rstrip().endswith((":", "：")):
            end = again.end()
        opened = _EMPHASIS.search(spelled)
        mark = opened[0].rstrip() if opened else ""
        if mark and spelled.rstrip(":： \t").endswith(mark):
            mark = ""
        if mark and self.text.startswith(mark, end):
            end, mark = end + len(mark), ""
        return Label(
            start, end, role, ">" in spelled.partition(word)[0] if word else ">" in spelled, mark
        )

    def content(self, index: int, stop: int | None = None) -> str:
        """Return what stands under a label, up to the next one if not told where it stops."""
        label = self.labels[index]
        return self._unmarked(
            label, self.text[label.end : self.stop(index) if stop is None else stop]
        )

    def _unmarked(self, label: Label, content: str) -> str:
        """Return content without the end of the emphasis that its label opened."""
        bare = content.rstrip()
        if label.mark and bare.endswith(label.mark) and bare.count(label.mark) % 2:
            return bare[: -len(label.mark)]
        return content

    def stop(self, index: int) -> int:
        """Return where the content of a label ends."""
        following = self.labels[index + 1 : index + 2]
        return following[0].start if following else len(self.text)

    def thought(self, before: int) -> str:
        """Return the reasoning before a position, without labels and a repeated question."""
        parts, above = [], Label(0, 0, "thought")
        for label in (*self.labels, Label(before, before, "")):
            if above.role != "question":
                content = self.text[above.end : min(label.start, before)]
                parts.append(self._unmarked(above, content).strip())
            if label.start >= before:
                break
            above = label
        return "\n".join(part for part in parts if part.strip("`~*_# \n"))

    def in_fence(self, at: int) -> Fence | None:
        """Return the fenced block around a position."""
        return next((fence for fence in self.fences[:64] if fence.start <= at < fence.end), None)


def introduces_example(before: str) -> bool:
    """Tell whether a text ends by introducing an example.

    Example:
        >>> introduces_example("For example, you could write:")
        True
        >>> introduces_example("I need an example of a fable.")
        False
        >>> introduces_example("使用例："), introduces_example("例外を調べる：")
        (True, False)
        >>> introduces_example("Zum Beispiel:"), introduces_example("예를 들어:")
        (True, True)
    """
    line = before.rstrip()[-300:].rpartition("\n")[2].rstrip("`*_~ ")
    return line.endswith((":", "：", '"', "“", "「")) and bool(_EXAMPLE.search(line))


def _without_strays(text: str, left: int = 2) -> tuple[str, tuple[Fence, ...]]:
    """Pair the fences of a text; one without a partner at its beginning or end is removed."""
    opened: re.Match[str] | None = None
    pairs: list[tuple[re.Match[str], re.Match[str]]] = []
    strays: list[re.Match[str]] = []
    for found in islice(_FENCE.finditer(text), _MOST):
        if opened is None:
            opened = found
        elif found["lang"] or found["lead"]:
            strays.append(opened)
            opened = found
        else:
            pairs.append((opened, found))
            opened = None
    if opened is not None:
        strays.append(opened)
    for stray in (strays[:1] + strays[1:][-1:]) if left else ():
        outer = not text[: stray.start()].strip() or not text[stray.end() :].strip()
        if (
            outer
            and not stray["lead"]
            and not (stray["lang"] and text[stray.end() :].lstrip()[:1] in "{[")
        ):
            rest = text[: stray.start()] + text[stray.end() :]
            return _without_strays(rest.strip(), left - 1)
    return text, tuple(
        Fence(
            start=opening.start("mark"),
            inner=opening.end(),
            stop=closing.start(),
            end=closing.end(),
            after_label=bool(opening["lead"]),
        )
        for opening, closing in pairs
    )
