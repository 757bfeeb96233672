"""Reading words that are not in the exact written form: repair what is certain, refuse the rest.

The wrapping is taken off first, and everything from an invented observation on is cut. Then the
first step in the text is looked for: under labels, in tags, as JSON, in brackets. What is quoted
as an example does not count. Whatever form it was found in, a step is settled in one place: its
tool must be one there is, its input must fit the tool.
"""

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from langchain_custom_agents.dialects import calls, tags
from langchain_custom_agents.dialects.arguments import (
    WORDS_AFTER,
    ArgumentsError,
    bound,
    fitted,
    is_nothing,
    read_input,
)
from langchain_custom_agents.dialects.calls import Call, NotGiven, Said
from langchain_custom_agents.dialects.lenient_json import (
    BrokenJSONError,
    CutOffJSONError,
    read_json,
)
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
from langchain_custom_agents.dialects.names import (
    LONGEST_NAME,
    bare,
    is_echo,
    is_name,
    is_none,
    is_other_name,
    letters,
    resolve,
)
from langchain_custom_agents.dialects.segments import Label, Segments, introduces_example
from langchain_custom_agents.dialects.toolbox import Toolbox, ToolSpec
from langchain_custom_agents.dialects.unwrapping import unwrap

if TYPE_CHECKING:
    from langchain_custom_agents.dialects.base import Dialect

FENCED = "A code fence around the reply was removed."
LABELS = "The labels were not written exactly."
ONE_LINE = "Labels within a line were read as labels."
NO_LABEL = "The step had no label."
OTHER_FORM = "The step was in another form."
NO_INPUT_LABEL = "The input stood beside the tool's name."
WEAK = "Other labels were read as those of the form."
QUOTATION = "Block quotation marks around the reply were removed."
AFTER_REASONING = "The words after the reasoning were taken as the answer."
NO_TOOL = "The words after the remark that no tool is needed were taken as the answer."

_ECHOED_INPUT = re.compile(
    r"\A\W{0,9}(?:the input (?:to|for) the (?:action|tool)|\$(?:tool_)?input\b"
    r"|input to the (?:action|tool))",
    re.IGNORECASE,
)
_ECHOED_ANSWER = re.compile(
    r"\A\W{0,9}(?:the final answer to the original(?: input)? question"
    r"|your (?:final )?(?:answer|response) here)\W{0,9}\Z",
    re.IGNORECASE,
)
_WEAK_ACT = re.compile(
    r"^[*_#\-> \t]{0,6}(?:Tool|Tool Name|Function|Tool to use)[*_ \t]{0,3}[:：]"
    r"(?P<name>[^\n]{1,200})\n{1,3}[*_#\-> \t]{0,6}(?:Tool |Function )?"
    r"(?:Input|Inputs|Arguments|Args|Parameters|Query)[*_ \t]{0,3}[:：]",
    re.MULTILINE | re.IGNORECASE,
)
_WEAK_INPUT = re.compile(
    r"[*_#\-> \t]{0,6}(?:Tool |Function )?"
    r"(?:Input|Inputs|Arguments|Args|Parameters|Query|入力|输入|輸入)"
    r"[*_ \t]{0,3}[:：]",
    re.IGNORECASE,
)
_WEAK_ANSWER = re.compile(
    r"^[*_#\-> \t]{0,6}(?:Answer|Final Response|回答|答え|答案)[*_ \t]{0,3}[:：]", re.MULTILINE
)
_NO_TOOL = re.compile(
    r"\A[^\n]{0,80}(?:use a tool|使用工具|ツール)[^\n]{0,40}[?？]\s{0,3}"
    r"(?:No\b|いいえ|否|不)[.。]?\s{1,9}(?=\S)",
    re.IGNORECASE,
)
# A name and an input in the brackets of a place; a remark after a name; words before an input.
_PLACE = re.compile(r"([\[<])[^\[\]<>]{1,64}[\]>]")
_REMARK = re.compile(r"([^()\n]{1,64}?)[ \t]{1,3}\([^()\"'=\n]{1,200}\)")
_WITH_INPUT = re.compile(
    r"\A(?:with|using)\s(?:the\s)?(?:action\s)?(?:input|query|arguments?)\b\s?[:：]?\s?",
    re.IGNORECASE,
)
# A line break as it is written in JSON or in HTML.
_BREAK = re.compile(r"[ \t]{0,3}(?:(?<!\\)\\n(?![a-z])|<br\s?/?>)[ \t]{0,3}")
_BLOB_LEAD = re.compile(
    r"\s{0,99}(?:\([^)\n]{0,200}\)\s{0,9})?(?:(?:```|~~~)[\w+#.\-]{0,20}\s{0,9})?"
)
_BLOB_START = re.compile(
    r"(?:(?<=[.!?。:：>])[ \t]{0,9}|^[ \t]{0,20}(?:(?:```|~~~)\w{0,10}[ \t]{1,3})?)(?=[\[{])",
    re.MULTILINE,
)
_NAME_LINE = re.compile(
    r"(?:<\|assistant\|>)?\s{0,9}(?P<name>[\w.\-]{1,64})[ \t]{0,9}\n\s{0,9}"
    r"(?:(?=\{)|```(?:python)?\s{0,9}(?=tool_call\())"
)
_CALL_LIST = re.compile(r"\[(?=[^\W\d][\w.]{0,79}\()")
_AT_START = re.compile(r"(?:\A|[\n.!?。:：>])[ \t]{0,9}\Z")
_LIKE_BLOB = re.compile(
    r"""[\[{][\s\[{]{0,99}["'“”]?(?:action|tool|name|function|final)""", re.IGNORECASE
)
_FENCE_END = re.compile(r"(?:```|~~~)\w{0,10}\s{0,9}\Z")
_AFTER_BLOB = re.compile(r"[\s`~}\]),]{0,99}")
_TAGS = re.compile(r"\A(?:\s|</[\w:]{1,30}>|<\|/?\w{1,30}\|>|<｜[^>]{1,40}>|[`\]})])*")
# What prompts teach a model to say before the answer: without one it is none.
_ANNOUNCED = re.compile(
    r"\W{0,9}(?:thought\W{1,3})?i (?:now know the final answer|now can give a great answer"
    r"|can answer without using any more tools)(?: and can provide it[^.\n]{0,40})?\W{0,9}"
    r"|\W{0,9}(?:thought\W{1,3})?do i need to use a tool\?(?:\s(?:yes|no))?\W{0,9}"
    r"|(?:我)?现在(?:我)?知道(?:了)?最终答案(?:了)?\W{0,9}|最終的な答えが(?:分|わ)かった\W{0,9}",
    re.IGNORECASE,
)
# Words around JSON that speak about a step instead of taking it.
_HEDGED = re.compile(
    r"\b(?:but|however|not|unless|if|instead|would|could|should|might|example|format|form|like)\b"
    r"|n't\b|例|形式|格式|如果|もし|但",
    re.IGNORECASE,
)
_NOT_QUOTED = re.compile(r"^[^\S\n]{0,40}[^\s>]", re.MULTILINE)
_QUOTATION_MARK = re.compile(r"^[^\S\n]{0,40}>[ \t]?", re.MULTILINE)
_TAG_END = re.compile(r"\s{0,9}</([A-Za-z]\w{0,20})>\s{0,9}\Z")
# What is no answer, though no step can be read in it: data, marks, and what is left of tags.
_LIKE_DATA = re.compile(
    r"[\[{<`~]|\"[^\"\n]{1,40}\"\s{0,9}:|[\w.]{1,80}[\[(][^\n]{0,999}[\])]\Z"
    r"|[\"'“]{1,3}\s{0,9}[\[{]|\W{0,99}\Z"
)
_MACHINE = re.compile(
    r"\[ARGS\]|\bto=functions\.|\b(?:invoke|parameter) name=[\"']|_(?:tool_call|arg_key|arg_value)>"
)
_POLITE = re.compile(
    r"\b(?:let me know|feel free|don't hesitate|would you like|if you (?:need|have|want))\b"
    r"[^.!?\n]*",
    re.IGNORECASE,
)
# What opens a block of code: a call in it is not made yet.
_BLOCK = re.compile(
    r"[ \t]{0,40}(?:if|elif|else|for|while|with|try|except|finally|def|class)\b[^\n]{0,200}:\s{0,9}"
)
# So many calls above each other are looked at for the first one.
_MOST_LINES = 64
_FINAL = "The name of the action means the answer."


def recover(dialect: "Dialect", words: str, toolbox: Toolbox) -> Reading:
    """Read words that are not in a dialect's exact written form.

    Args:
        dialect: The dialect, whose own form comes first.
        words: The words.
        toolbox: The tools there are.

    Returns:
        The reading: what is certain, with what had to be mended, or a misreading.
    """
    return _Reader(dialect, words, toolbox).read()


def _is_a(dialect: "Dialect", name: str) -> bool:
    """Tell whether a dialect is of a class here, whose module imports this one."""
    from langchain_custom_agents import dialects

    return isinstance(dialect, getattr(dialects, name))


class _RefusalError(Exception):
    """What was said cannot be known. Takes the move to return in its place."""

    def __init__(self, move: Misreading) -> None:
        super().__init__(move.reason)
        self.move = move


class _Reader:
    """Reads one reply."""

    def __init__(self, dialect: "Dialect", words: str, toolbox: Toolbox) -> None:
        self.dialect, self.words, self.toolbox = dialect, words, toolbox
        self.say = dialect.phrases
        self.finish: str = getattr(dialect, "finish", "")
        # The word that means the answer in place of a tool's name.
        self.final = self.finish or getattr(dialect, "final_answer", "").rstrip(":： ")
        self.brackets = _is_a(dialect, "Bracketed")
        self.repairs: list[str] = []
        self.thought = ""
        self.cut = ""
        self.rest = ""
        self.example = False
        # Where calls in tags stand that only are shown.
        self.shown: list[range] = []

    def read(self) -> Reading:
        unwrapped = unwrap(self.words)
        self.repairs += unwrapped.repairs
        body, cut = self.dialect.cut(unwrapped.body)
        self.head = body if unwrapped.body == self.words else ""
        self.tail = "\n".join(part for part in (cut, unwrapped.tail) if part)
        try:
            if not body:
                self.refuse(self.say.only_observation if cut else self.say.empty)
            move: Move | None
            if unwrapped.called:
                move = self.settle(self.called(unwrapped.called, body))
            else:
                move = self.step(body, 3)
            goes_on = unwrapped.inside or unwrapped.is_open
            if move is None and not goes_on and unwrapped.reasoning:
                move = self.after_reasoning(body, unwrapped.reasoning)
            if move is None:
                move = self.nothing(body, may_be_answer=not goes_on)
        except _RefusalError as refusal:
            move = refusal.move
        except BrokenJSONError as error:
            move = Misreading(self.words, self.broken(error))
        except RecursionError:
            move = Misreading(self.words, self.say.unclear)
        reasoning = self.dialect.form.unescape(unwrapped.reasoning)
        thought = "\n".join(part.strip() for part in (reasoning, self.thought) if part.strip())
        repairs = () if isinstance(move, Misreading) else tuple(dict.fromkeys(self.repairs))
        return Reading(thought, move, self.all_cut(), repairs)

    def refuse(self, reason: str) -> NoReturn:
        raise _RefusalError(Misreading(self.words, reason))

    def all_cut(self) -> str:
        """Return the words left out: all of them, from the first on."""
        rest = self.rest.strip()
        parts = [rest if rest.strip("`~*_ \n\"'})],.") else "", self.tail]
        first = next((part for part in parts if part), "")
        if not first:
            return ""
        at = self.words.rfind(first)
        return tidy(self.words[at:]) if at >= 0 else "\n".join(part for part in parts if part)

    # The forms, in their order.

    def step(self, body: str, left: int) -> Move | None:
        """Return the first step in a text; None if there is none."""
        # The words as they stand have been tried before.
        exact = None if body == self.head else self.exact(body)
        if exact is not None:
            return exact
        bare = _unquoted(body) if left else None
        if bare is not None:
            self.repairs.append(QUOTATION)
            return self.step(bare, left - 1)
        segments = Segments(body, self.dialect)
        if segments.mended:
            self.repairs.append(FENCED)
            exact = self.exact(segments.text)
            if exact is not None:
                return exact
        body = segments.text
        quotes = self.dialect.form.is_escaped_in(body)
        first = self.first_act(segments)
        if not quotes:
            tagged = self.tagged(body, segments, len(body) if first is None else first)
            if tagged is not None:
                return tagged
        if first is not None and not quotes:
            # An action before an answer: the action is taken.
            early = self.blob(body[:first], segments) or self.listed(body[:first], segments)
            if early is not None:
                self.rest += body[first:]
                return early
        if first is not None and left and "\n" not in body and _BREAK.search(body, first):
            broken = _BREAK.sub("\n", body)
            if any(label.role == "input" for label in Segments(broken, self.dialect).labels):
                self.repairs.append(ONE_LINE)
                return self.again(broken, left)
        if first is not None:
            found = self.labelled(segments)
            if found is not None:
                return found
        if left and (inner := self.unquoted(body, segments)) is not None:
            return self.step(inner, left - 1)
        if quotes:
            return None
        for form in (self.blob, self.listed, self.bare_line):
            found = form(body, segments)
            if found is not None:
                return found
        if left:
            rewritten = self.rewritten(body, segments)
            if rewritten is not None:
                return self.again(rewritten, left)
        return None

    def again(self, rewritten: str, left: int) -> Move | None:
        """Return the first step in a text that was written in another shape."""
        head, cut = self.dialect.cut(rewritten)
        self.tail = "\n".join(part for part in (cut, self.tail) if part)
        return self.step(head, left - 1)

    def exact(self, body: str) -> Move | None:
        """Read a text that is in the exact form once its wrapping is gone."""
        cue = self.dialect.cue
        matched = self.dialect.match(body if body.startswith(cue) else f"{cue}\n{body}")
        if matched is None:
            return None
        thought, move = matched
        if isinstance(move, Action):
            if self.toolbox and move.tool not in self.toolbox:
                return None
            spec = self.toolbox.get(move.tool) or ToolSpec(move.tool)
            if not spec.suits(move.input):
                return None
            move = Action(move.tool, spec.fit(move.input))
        self.thought = thought
        return move

    def first_act(self, segments: Segments) -> int | None:
        acts = ("action", "input", "answer", "follow_up")
        return next((label.start for label in segments.labels if label.role in acts), None)

    def labelled(self, segments: Segments) -> Move | None:
        """Read the first step under labels."""
        skip_to = 0
        for index, label in enumerate(segments.labels):
            if label.role not in ("action", "input", "answer", "follow_up") or label.quoted:
                continue
            if label.start < skip_to or self.is_said_again(segments, index):
                continue
            if introduces_example(segments.text[max(0, label.start - 400) : label.start]):
                self.example = True
                end = segments.text.find("\n\n", label.end)
                skip_to = len(segments.text) if end < 0 else end
                continue
            heard = self.under_label(segments, index)
            if heard is None:
                # An action that is none has an input that is none.
                following = segments.labels[index + 1 : index + 2]
                skip_to = following[0].end if following and following[0].role == "input" else 0
                continue
            self.thought = self.dialect.form.unescape(segments.thought(label.start))
            if not all(self.is_spelled(each, segments) for each in segments.labels[: index + 2]):
                self.repairs.append(LABELS)
            return self.settle(heard)
        return None

    def is_said_again(self, segments: Segments, index: int) -> bool:
        """Tell whether nothing stands under a label but the same label once more."""
        following = segments.labels[index + 1 : index + 2]
        again = following and following[0].role == segments.labels[index].role
        return bool(again) and not segments.content(index).strip()

    def is_spelled(self, label: Label, segments: Segments) -> bool:
        """Tell whether a label is written just as the dialect writes it."""
        written = segments.text[label.start : label.end].rstrip()
        return written in getattr(self.dialect, "labels", {}).values()

    def under_label(self, segments: Segments, index: int) -> Call | Said | None:
        """Return what stands under one label; None if it says that nothing is done."""
        label, content = segments.labels[index], segments.content(index)
        if label.role == "answer":
            return self.answer(segments, index)
        if label.role == "follow_up":
            tool = self.dialect.only_tool or "Intermediate Answer"
            if self.dialect.only_tool is None and tool not in self.toolbox:
                return None
            self.rest = segments.text[segments.stop(index) :]
            return Call(tool, self.unescaped(content), written=True)
        if label.role == "input":
            self.refuse(self.say.no_tool)
        following = segments.labels[index + 1 : index + 2]
        if following and following[0].role == "input":
            given = segments.content(index + 1)
            given = _without_end(given, segments.text[: label.start])
            self.rest = segments.text[segments.stop(index + 1) :]
            return self.named(content, given, last=index + 2 == len(segments.labels))
        self.rest = segments.text[segments.stop(index) :]
        return self.unnamed(content, segments)

    def unescaped(self, content: str) -> str:
        form = self.dialect.form
        return form.unescape(form.unescape_within(content.strip()))

    def named(self, content: str, given: str, *, last: bool) -> Call | Said | None:
        """Read an action that has an input under a label of its own."""
        name = next((line.strip() for line in content.split("\n") if line.strip("`~*_ \t")), "")
        value = self.unescaped(given)
        if is_none(name) and resolve(name, self.toolbox) is None:
            if is_nothing(value) and not last:
                return None
            attempted = Action(name, value)
            raise _RefusalError(NoSuchTool(self.words, self.say.no_tool, attempted))
        if around := _PLACE.fullmatch(name):
            # Both were put into the brackets of the places that instructions show.
            left, right = around[1], name[-1]
            if value.startswith(left) and value.endswith(right):
                value = value[1:-1].strip()
        if is_echo(name) or _ECHOED_INPUT.match(value) or value == self.say.input:
            self.refuse(self.say.echo)
        if not name:
            return self.in_blob(value) or self.refuse(self.say.no_tool)
        if name not in self.toolbox and (remark := _REMARK.fullmatch(name)):
            name = remark[1]
        if name not in self.toolbox:
            for found in (calls.in_brackets(name), calls.in_expression(name)):
                if found is not None and bare(found[0].name):
                    inside = found[0].given
                    if inside not in ({}, "", value) and not _is_same(inside, value):
                        self.refuse(self.say.unclear)
                    name = found[0].name
        if name[:1] == "{":
            return self.in_blob(content) or self.refuse(self.say.unclear)
        return Call(name, value, written=True)

    def unnamed(self, content: str, segments: Segments) -> Call | Said | None:
        """Read an action that has no input under a label: the input stands beside the name."""
        head = content.strip()
        if not head:
            self.refuse(self.say.cut_off)
        blob = self.in_blob(content)
        if blob is not None:
            return blob
        tagged = next(tags.in_tags(head, self.toolbox), None)
        if tagged is not None and tagged.start == 0:
            self.rest = tagged.rest + self.rest
            return tagged.heard
        line, _, below = head.partition("\n")
        inline = re.match(
            rf"(?P<name>[^\n:：]{{1,64}}?)[ \t]{{1,9}}(?:{segments.words.any_of('input')})\s?[:：]",
            head,
        )
        if inline:
            return self.inline(inline["name"], head[inline.end() :], segments)
        marked = line.strip("`*_ \t")
        if is_none(marked) and resolve(marked, self.toolbox) is None:
            return None
        if is_echo(marked):
            self.refuse(self.say.echo)
        under = below.lstrip("\n")
        weak = _WEAK_INPUT.match(under)
        if weak:
            self.repairs.append(WEAK)
            return Call(line, self.unescaped(under[weak.end() :]), written=True)
        if below.lstrip().startswith(("```", "~~~")) and self.can_be_tool(marked):
            # What stands in a fence under a name is its input.
            self.repairs.append(NO_INPUT_LABEL)
            return Call(marked, self.unescaped(below), written=True)
        head = head.strip("`*_ \t") if "\n" not in head else head
        for found in (calls.in_brackets(head), calls.in_expression(head)):
            if found is not None and self.can_be_tool(found[0].name):
                self.after(found[1])
                return found[0]
        return self.beside(marked, below)

    def after(self, rest: str) -> None:
        """Note the words after a call."""
        if rest.strip("`*_ \t\n.,;"):
            self.repairs.append(WORDS_AFTER)
            self.rest = rest + self.rest

    def can_be_tool(self, name: str) -> bool:
        return bool(bare(name)) and (
            is_name(bare(name)) or resolve(name, self.toolbox) is not None or is_echo(name)
        )

    def inline(self, name: str, rest: str, segments: Segments) -> Call:
        """Read an action whose input label stands on the same line."""
        self.repairs.append(ONE_LINE)
        later = segments.words.any_of("observation", "thought", "question", "answer")
        found = re.search(rf"\s(?:{later})\s?\d{{0,3}}[:：]", rest)
        if found:
            self.rest = rest[found.start() :] + self.rest
            rest = rest[: found.start()]
        return Call(name, self.unescaped(rest), written=True)

    def beside(self, line: str, below: str) -> Call | Said:
        """Read a line that begins with a name and goes on with the input."""
        found = re.match(
            r"([^{:：\n]{1,64}?)\s{0,3}[:：\-]?\s{0,3}(\{.{0,9999}\})\s*\Z",
            line + "\n" + below,
            re.DOTALL,
        )
        if found and self.can_be_tool(found[1]):
            return Call(found[1], found[2], written=True)
        name, colon, rest = re.sub(r"：", ":", line, count=1).partition(":")
        if colon and rest.strip() and calls.is_finish(bare(name), self.final):
            return Said(rest + "\n" + below, (_FINAL,))
        tool = self.prefix(line)
        if tool is not None:
            given = re.sub(
                r"\A\s{0,9}(?:[-=]>|[:：\-–—|→]|,\s)\s{0,9}", "", line[len(tool) :]
            ).strip()
            if given.startswith(("[", "(")):
                self.refuse(self.say.cut_off)
            given = _WITH_INPUT.sub("", given)
            given = re.sub(r"\Afor\s{1,3}(?=[\"“「'].*[\"”」']\Z)", "", given)
            if given:
                self.repairs.append(NO_INPUT_LABEL)
                return Call(tool, f"{given}\n{below}".strip(), written=True)
        if "[" in line or "(" in line.strip(")"):
            begun = line[:400]
            opened = calls.in_brackets(begun + "]") or calls.in_expression(begun + '")')
            if opened is not None and resolve(line, self.toolbox) is None:
                self.refuse(self.say.cut_off)
        return Call(line, NotGiven)

    def prefix(self, line: str) -> str | None:
        """Return the tool whose name a line begins with, if it is the only one."""
        names = self.toolbox.names
        if not names and self.brackets:
            # The tools of the paper, where it is not known which there are.
            names = ("Search", "Lookup")
        folded = line.casefold()
        near = [
            name
            for name in names
            if folded.startswith(name.casefold()) and not line[len(name) : len(name) + 1].isalnum()
        ]
        longest = [name for name in near if len(name) == max(map(len, near))]
        return line[: len(longest[0])] if len(longest) == 1 else None

    def answer(self, segments: Segments, index: int) -> Said:
        """Read an answer, to the next label that ends it."""
        stop = len(segments.text)
        for later in range(index + 1, len(segments.labels)):
            label = segments.labels[later]
            follows = segments.labels[later + 1 : later + 2]
            content = segments.content(later)
            acts = (
                label.role != "action"
                or (follows and follows[0].role == "input")
                or calls.in_brackets(content.strip()) is not None
                or not content.strip()
            )
            if acts and label.role not in ("input", "follow_up"):
                stop = label.start
                break
        text = segments.content(index, stop)
        self.rest = segments.text[stop:]
        following = segments.labels[index + 1 : index + 2]
        if following and following[0].role == "input" and segments.words.begins_step(text):
            self.refuse(self.say.unclear)
        tag = next(tags.in_tags(text, self.toolbox), None)
        if tag is not None:
            if not text[: tag.start].strip():
                self.refuse(self.say.unclear)
            self.rest = text[tag.start :] + self.rest
            text = text[: tag.start]
        blob = self.in_blob(text)
        if blob is not None:
            if isinstance(blob, Call) and not calls.is_finish(bare(blob.name), self.final):
                self.refuse(self.say.unclear)
            return Said(blob.given, (OTHER_FORM,))
        if _ECHOED_ANSWER.match(text):
            self.refuse(self.say.echo)
        text = _without_end(text, segments.text[: segments.labels[index].start])
        written = text.strip()
        if written.startswith("\\") and written.lstrip("\\")[:1] in ("{", "[", "`", "~"):
            text = written[1:]
        return Said(self.dialect.form.unescape(text))

    def in_blob(self, content: str) -> Call | Said | None:
        """Read JSON that stands at the beginning of a text, perhaps in a fence."""
        lead = _BLOB_LEAD.match(content)
        start = lead.end() if lead else 0
        if content[start : start + 1] not in ("{", "["):
            return None
        if content[start] == "[" and not _LIKE_BLOB.match(content[start:]):
            found = calls.in_expression(content[start + 1 :])
            return found[0] if found and found[1].lstrip().startswith((",", "]")) else None
        try:
            value = read_json(content[start:])
        except BrokenJSONError as error:
            if not _LIKE_BLOB.match(content[start:]):
                return None
            self.refuse(self.broken(error))
        heard = calls.in_json(value.value, self.toolbox)
        if heard is not None:
            if value.repaired:
                self.repairs.append(calls.JSON_MENDED)
            self.rest = value.rest + self.rest
        return heard

    def broken(self, error: BrokenJSONError) -> str:
        return self.say.cut_off if isinstance(error, CutOffJSONError) else self.say.bad_json

    def called(self, name: str, body: str) -> Call:
        """Return the call of a tool that the chat template names."""
        try:
            return Call(name, read_json(body).value)
        except BrokenJSONError as error:
            if body.startswith(("{", "[")):
                self.refuse(self.broken(error))
            return Call(name, body, written=True)

    # Forms without labels.

    def tagged(self, body: str, segments: Segments, end: int) -> Move | None:
        """Read the first call in tags, if it comes before the first label."""
        self.shown = []
        try:
            for found in tags.in_tags(body, self.toolbox):
                if found.start >= end:
                    return None
                before = body[: found.start]
                line = before.rpartition("\n")[2].strip()
                rest = _TAGS.sub("", found.rest[:400]) + found.rest[400:]
                after = _TAGS.sub("", found.rest[:400].partition("\n")[0]).strip("`~ []")
                if (
                    segments.in_fence(found.start)
                    or line.startswith(">")
                    or line.count("`") % 2
                    or (line and not line.endswith((".", "!", "?", ":", "。", "：", ">", "```")))
                    or introduces_example(before)
                    or (line and after and not found.is_token)
                ):
                    self.example = True
                    self.shown.append(range(found.start, len(body) - len(found.rest)))
                    continue
                self.thought = self.dialect.form.unescape(segments.thought(found.start))
                inside = found.heard.given if isinstance(found.heard, Said) else ""
                if isinstance(inside, str) and isinstance(self.in_blob(inside), Call):
                    self.refuse(self.say.unclear)
                self.rest = rest
                return self.settle(found.heard)
        except BrokenJSONError as error:
            self.refuse(self.broken(error))
        return None

    def blob(self, body: str, segments: Segments) -> Move | None:
        """Read JSON without a label, if it is the step and not an example."""
        for number, start in enumerate(_BLOB_START.finditer(body)):
            at = start.end()
            if number >= 8:
                break
            if not _LIKE_BLOB.match(body, at) and body[at] != "{":
                continue
            before = body[: start.start()]
            line = before.rpartition("\n")[2].lstrip()
            quoted = line.startswith(">") or line.count("`") % 2
            if quoted or any(at in each for each in self.shown):
                self.example = True
                continue
            try:
                value = read_json(body[at:])
            except BrokenJSONError as error:
                if _LIKE_BLOB.match(body, at):
                    self.refuse(self.broken(error))
                continue
            heard = calls.in_json(value.value, self.toolbox)
            if heard is None:
                continue
            skipped = _AFTER_BLOB.match(value.rest)
            rest = value.rest[skipped.end() :] if skipped else value.rest
            if self.is_discussed(_FENCE_END.sub("", before), rest):
                self.example = True
                continue
            if value.repaired:
                self.repairs.append(calls.JSON_MENDED)
            self.repairs.append(NO_LABEL)
            self.thought = self.dialect.form.unescape(
                _FENCE_END.sub("", segments.thought(start.start()))
            )
            self.rest = rest
            return self.settle(heard)
        return None

    def is_discussed(self, before: str, rest: str) -> bool:
        """Tell whether JSON only stands in the words about it, as an example."""
        if introduces_example(before):
            return True
        if not rest or not before.strip("`~ \n") or _LIKE_BLOB.match(rest):
            return False
        around = (
            f"{before.rstrip()[-200:].rpartition(chr(10))[2]} {rest[:200].partition(chr(10))[0]}"
        )
        around = _POLITE.sub("", around)
        return not _is_a(self.dialect, "JsonBlob") or bool(_HEDGED.search(around))

    def listed(self, body: str, segments: Segments) -> Move | None:
        """Read the first of calls in a list, as Llama writes them: `[now(), search(q="x")]`."""
        for start in islice(_CALL_LIST.finditer(body), 8):
            found = calls.in_expression(body[start.end() :])
            if found is None or not found[1].lstrip().startswith((",", "]")):
                continue
            if not _AT_START.search(body[max(0, start.start() - 10) : start.start()]):
                continue
            call, rest = found
            if call.positional is None and call.given != {}:
                continue
            if not self.toolbox or resolve(call.name, self.toolbox) is None:
                continue
            before, after = body[: start.start()], rest.partition("]")[2].strip()
            if (
                introduces_example(before)
                or before.rpartition("\n")[2].count("`") % 2
                or segments.in_fence(start.start()) is not None
                or after[:1].islower()
            ):
                self.example = True
                continue
            self.repairs.append(NO_LABEL)
            self.thought = self.dialect.form.unescape(segments.thought(start.start()))
            self.rest = after
            return self.settle(call)
        return None

    def bare_line(self, body: str, segments: Segments) -> Move | None:
        """Read a last line that is nothing but a call: `Finish[42]`, `search("x")`."""
        alone = _NAME_LINE.match(body)
        if alone and alone["name"] in self.toolbox:
            return self.under_name(alone["name"], body[alone.end() :])
        head, _, line = body.rpartition("\n")
        in_block = line[:1].isspace() and _BLOCK.fullmatch(head.rpartition("\n")[2])
        if in_block or introduces_example(head):
            return None
        in_fence = segments.in_fence(len(head))
        if in_fence is not None:
            head, line = body[: in_fence.start], body[in_fence.inner : in_fence.stop].strip()
            if introduces_example(head) or body[in_fence.end :].strip():
                return None
            # More than calls is code.
            lines = [each for each in line.split("\n") if each.strip()]
            if not 0 < len(lines) <= _MOST_LINES or not all(map(self.alone, lines)):
                return None
            head, line = "\n".join((head, *lines[:-1])), lines[-1]
        call = self.alone(line)
        if call is None:
            return None
        # Of several calls, one a line, the first.
        for _ in range(_MOST_LINES):
            before, _, above = head.rstrip().rpartition("\n")
            earlier = self.alone(above)
            if earlier is None:
                break
            if introduces_example(before):
                return None
            head, call = (
                before,
                Call(
                    earlier.name,
                    earlier.given,
                    earlier.written,
                    earlier.positional,
                    tuple(dict.fromkeys((*earlier.repairs, calls.SEVERAL))),
                ),
            )
        self.repairs.append(NO_LABEL)
        self.thought = self.dialect.form.unescape(segments.thought(len(head)))
        return self.settle(call)

    def alone(self, line: str) -> Call | None:
        """Return the call that a line is, with nothing before and after it."""
        line = line.strip().strip("`*_ ")
        found = calls.in_brackets(line)
        if found is None and line.startswith("["):
            found = calls.in_expression(line[1:])
        found = found or calls.in_expression(line)
        if found is None or found[1].strip("`*_. ])"):
            return None
        name = found[0].name
        finishes = (
            calls.is_finish(bare(name), self.final) and calls.EXPRESSION not in found[0].repairs
        )
        paper = self.brackets and not self.toolbox and bare(name) in ("Search", "Lookup")
        known = self.toolbox and resolve(name, self.toolbox)
        return found[0] if finishes or paper or known else None

    def under_name(self, name: str, given: str) -> Move | None:
        """Read arguments under a line that is nothing but a tool's name, as GLM writes them."""
        self.repairs.append(NO_LABEL)
        if given.startswith("{"):
            value = read_json(given)
            return None if value.rest.strip() else self.settle(Call(name, value.value))
        found = calls.in_expression(given)
        if found is None or found[1].strip(" \n`"):
            return None
        call = found[0]
        return self.settle(Call(name, call.given, call.written, call.positional, call.repairs))

    # Texts to read again in another shape.

    def unquoted(self, body: str, segments: Segments) -> str | None:
        """Return what stands inside a fence around the whole step."""
        acts = [
            label for label in segments.fenced if label.role in ("action", "answer", "follow_up")
        ]
        if acts:
            fence = segments.in_fence(acts[0].start)
            if (
                fence is None
                or body[fence.end :].strip()
                or introduces_example(body[: fence.start])
            ):
                self.example = True
                return None
            self.repairs.append(FENCED)
            return f"{body[: fence.start]}\n{body[fence.inner : fence.stop]}".strip()
        self.example = self.example or any(label.quoted for label in segments.labels)
        return None

    def rewritten(self, body: str, segments: Segments) -> str | None:
        """Return a text with weak labels made strong, or its one line broken at the labels."""
        led = any(label.role == "thought" and not label.quoted for label in segments.labels)
        action, given = (
            segments.words.spelled["action"][0],
            segments.words.spelled.get("input", ("Action Input",))[0],
        )
        answer = segments.words.spelled.get("answer", ("Final Answer",))[0]
        respelled = segments.words.respelled(body, led)
        if respelled is not None and not segments.fences:
            self.repairs.append(LABELS)
            return respelled
        weak = _WEAK_ACT.search(body)
        is_meant = weak and (led or resolve(weak["name"], self.toolbox) in self.toolbox)
        if weak and is_meant and segments.in_fence(weak.start()) is None:
            self.repairs.append(WEAK)
            return f"{body[: weak.start()]}{action}: {weak['name']}\n{given}: {body[weak.end() :]}"
        if led:
            weak = _WEAK_ANSWER.search(body)
            if weak and segments.in_fence(weak.start()) is None:
                self.repairs.append(WEAK)
                return f"{body[: weak.start()]}{answer}: {body[weak.end() :]}"
        if "\n" not in body and _BREAK.search(body):
            self.repairs.append(ONE_LINE)
            return _BREAK.sub("\n", body)
        unfolded = segments.words.unfolded(body, led)
        if unfolded is not None:
            self.repairs.append(ONE_LINE)
            return unfolded
        if getattr(self.dialect, "turns", ()) and (
            said := _NO_TOOL.match(body.removeprefix(self.dialect.cue).lstrip())
        ):
            self.repairs.append(NO_TOOL)
            rest = body.removeprefix(self.dialect.cue).lstrip()
            return f"{said[0].strip()}\n{self.dialect.labels['final_answer']} {rest[said.end() :]}"  # type: ignore[attr-defined]
        return None

    # What the words come to.

    def settle(self, heard: Call | Said) -> Move:
        """Return the move that a call or an answer is."""
        self.repairs += heard.repairs
        if isinstance(heard, Said):
            return self.answered(heard.given)
        name = bare(heard.name)
        short = len(name) <= 4 * LONGEST_NAME
        own = short and bool(self.finish) and letters(name) == letters(self.finish)
        if own or (calls.is_finish(name, self.final) and name not in self.toolbox):
            if not own or calls.EXPRESSION in heard.repairs:
                self.repairs.append(_FINAL)
            if heard.given is NotGiven:
                self.refuse(self.say.empty_answer)
            given = heard.given
            if heard.positional is not None:
                given = heard.positional[0] if len(heard.positional) == 1 else given
            elif heard.written:
                given = read_input(given, ToolSpec("", takes_text=True))[0] if given.strip() else ""
            return self.answered(given)
        return self.acted(heard)

    def answered(self, given: Any) -> Answer:
        called = None if isinstance(given, str) else calls.in_json(given, self.toolbox)
        if isinstance(called, Call) and (
            called.given is not NotGiven or resolve(called.name, self.toolbox) in self.toolbox
        ):
            self.refuse(self.say.unclear)
        text = tidy(_text_of(given))
        if not text.strip("`*_\"' "):
            self.refuse(self.say.empty_answer)
        return Answer(text)

    def acted(self, call: Call) -> Action:
        tool = resolve(call.name, self.toolbox)
        only = self.dialect.only_tool
        if only is not None and tool is not None and letters(tool) == letters(only):
            tool = only
        if tool is None:
            if is_echo(call.name):
                self.refuse(self.say.echo)
            if not self.toolbox or is_none(call.name) or not bare(call.name):
                self.refuse(self.say.no_tool)
            attempted = Action(bare(call.name), self.loosely(call))
            unknown = self.dialect.no_such_tool(self.words, attempted, self.toolbox)
            if call.given is NotGiven:
                self.refuse(unknown.reason)
            if not self.toolbox.is_complete and is_other_name(attempted.tool, self.toolbox):
                return attempted
            raise _RefusalError(unknown)
        if tool != call.name.strip():
            self.repairs.append(f"The tool was named {call.name.strip()!r}.")
        spec = self.toolbox.get(tool) or ToolSpec(tool)
        try:
            return Action(tool, self.given(call, spec))
        except CutOffJSONError:
            self.refuse(self.say.cut_off)
        except BrokenJSONError:
            self.refuse(self.say.bad_json)
        except ArgumentsError as error:
            self.refuse(self.say.bad_input.format(tool=tool, detail=error))

    def given(self, call: Call, spec: ToolSpec) -> str | dict[str, Any]:
        if call.given is NotGiven:
            if spec.args is not None and not spec.args and not spec.takes_text:
                return {}
            self.refuse(self.say.no_input.format(tool=spec.name))
        if call.positional is not None:
            return bound(call.positional, call.given, spec)
        if call.written:
            repeated = _repeated(call.given, spec)
            if repeated is not None:
                self.repairs.append(calls.EXPRESSION)
                return self.given(repeated, spec)
            given, repairs = read_input(call.given, spec)
            self.repairs += repairs
            return given
        return fitted(call.given, spec)

    def loosely(self, call: Call) -> str | dict[str, Any]:
        """Return the input for a tool that is not known, as far as it can be read."""
        try:
            return "" if call.given is NotGiven else self.given(call, ToolSpec(call.name))
        except ValueError:
            return str(call.given)

    def after_reasoning(self, body: str, reasoning: str) -> Move | None:
        """Take plain words after a reasoning block as the answer, unless they may be a step."""
        plain, form = body.strip(), self.dialect.form
        if self.example or form.is_in(plain) or form.is_escaped_in(plain) or not plain:
            return None
        if _ANNOUNCED.fullmatch(plain) or plain.endswith(("[", "(", "{", ":", "：")):
            return None
        if (
            re.match(r"[\[{<`~]", plain)
            or _MACHINE.search(plain)
            or self.first_act(Segments(reasoning, self.dialect)) is not None
        ):
            return None
        if any(name.casefold() in plain.casefold() for name in self.toolbox.names):
            return None
        self.repairs.append(AFTER_REASONING)
        return Answer(plain)

    def nothing(self, body: str, may_be_answer: bool) -> Misreading:
        """Say why no step can be read."""
        if self.example:
            return Misreading(self.words, self.say.quoted)
        like_data = _LIKE_DATA.match(body) or _MACHINE.search(body)
        announced = _ANNOUNCED.fullmatch(body.strip())
        if not may_be_answer or like_data or announced or self.dialect.form.is_in(body):
            return Misreading(self.words, self.say.no_form)
        if self.dialect.form.is_escaped_in(body):
            return Misreading(self.words, self.say.quoted)
        return Prose(self.words, self.say.no_form)


def _without_end(content: str, before: str) -> str:
    """Return content without the end of a tag that was opened before it."""
    found = _TAG_END.search(content[-40:])
    if found is None or f"<{found[1]}>" not in before or f"<{found[1]}>" in content:
        return content
    return content[: len(content) - len(found[0])]


def _unquoted(body: str) -> str | None:
    """Return a text whose lines are all in block quotation without its marks."""
    if not body.lstrip().startswith(">") or _NOT_QUOTED.search(body):
        return None
    return _QUOTATION_MARK.sub("", body)


def _repeated(given: str, spec: ToolSpec) -> Call | None:
    """Return the call that an input repeats: `get_weather(city="Kyoto")` for get_weather.

    Where a tool takes several arguments, whatever stands around them is no argument.
    """
    several = bool(spec.args) and not spec.takes_text and len(spec.args or ()) > 1
    if given.startswith("{"):
        return _repeated_in_json(given, spec)
    if given.startswith("<"):
        return _repeated_in_tags(given, spec)
    found = calls.in_expression(given.strip()) if given.rstrip().endswith(")") else None
    if found is None or found[1].strip():
        return None
    call = found[0]
    if call.written or not (several or letters(call.name) == letters(spec.name)):
        return None
    return call


def _repeated_in_tags(given: str, spec: ToolSpec) -> Call | None:
    """Return the call of the same tool that an input is, in the tags of an open model."""
    found = next(tags.in_tags(given, Toolbox((spec,))), None)
    if found is None or found.start or _TAGS.sub("", found.rest[:400]):
        return None
    call = found.heard
    return call if isinstance(call, Call) and letters(call.name) == letters(spec.name) else None


def _is_same(inside: Any, written: str) -> bool:
    """Tell whether arguments beside a name are those under the label, written as JSON."""
    try:
        found = read_json(written) if isinstance(inside, dict) and written[:1] == "{" else None
    except BrokenJSONError:
        return False
    return found is not None and found.value == inside


def _repeated_in_json(given: str, spec: ToolSpec) -> Call | None:
    """Return the call of the same tool that an input is, as an object with the tool's name."""
    if not _LIKE_BLOB.match(given) or spec.takes_text or spec.args is None:
        return None
    try:
        found = read_json(given)
    except BrokenJSONError:
        return None
    call = calls.in_json(found.value, Toolbox((spec,)))
    is_it = isinstance(call, Call) and letters(call.name) == letters(spec.name)
    takes_it = isinstance(found.value, dict) and set(found.value) <= set(spec.args)
    return call if isinstance(call, Call) and is_it and not takes_it else None


_ANSWER_KEYS = {"answer", "finalanswer", "output", "response", "text", "result", "content"}


def _text_of(given: Any) -> str:
    """Return the text of an answer that was given as a JSON value."""
    if given is None or given in ({}, []):
        return ""
    if isinstance(given, str):
        return given
    if isinstance(given, dict) and len(given) == 1:
        key, value = next(iter(given.items()))
        if letters(key) in _ANSWER_KEYS and isinstance(value, str):
            return value
    return json.dumps(given, ensure_ascii=False)
