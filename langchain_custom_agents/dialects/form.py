r"""What counts as form in a text, and the one rule that keeps content from counting as form.

Form is a label at the beginning of a line ("Action:", "**Observation 2:**", "最終回答:"), the
beginning of an observation's label alone on the last line, or a token that models use around
their words ("</think>", "<|im_end|>", "<tool_call>"). Within a line, an observation's label is
form as well where it follows what a tool is called with: "Action Input: x Observation: rain".

The rule: in content, a backslash stands before everything that would count as form; where
there already are backslashes, one more. So "\nObservation: rain" inside an answer is written
"\n\Observation: rain", and reading takes one backslash away.

A reader counts: a label has so many blanks, marks and digits around it, and no more. What has more
is nearly a label; it is escaped as well, so that a grammar can keep clear of it without counting.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

# The words of each role that our dialects use, in any of our languages, and their usual variants.
# A reader understands all of them; a writer uses those of its dialect.
VOCABULARY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "question": ("Question", "質問", "问题", "問題"),
        "thought": ("Thought", "思考", "考え", "想法"),
        "action": ("Action", "行動", "行动", "动作", "動作", "アクション"),
        "input": (
            "Action Input",
            "行動の入力",
            "行動入力",
            "行动输入",
            "行動輸入",
            "动作输入",
            "動作輸入",
            "アクションの入力",
            "アクション入力",
        ),
        "observation": (
            "Observation",
            "観察",
            "观察",
            "觀察",
            "観察結果",
            "观察结果",
            "觀察結果",
            "Intermediate answer",
        ),
        "answer": (
            "Final Answer",
            "最終回答",
            "最終的な回答",
            "最終的な答え",
            "最終答案",
            "最终答案",
            "最终回答",
            "So the final answer is",
            "The final answer is",
        ),
        "follow_up": ("Follow up", "Follow up question", "Are follow up questions needed here"),
    }
)

# Tokens around the words of a model: of its reasoning, of the end of its turn, of its tool calls.
OPENING = (
    r"<(?:\w{1,20}:)?think(?:ing)?>|<reasoning>|\[THINK\]|◁think▷"
    r"|<\|START_THINKING\|>|<\|channel>(?:thought|analysis)\b"
)
CLOSING = (
    r"</(?:\w{1,20}:)?think(?:ing)?>|</reasoning>|\[/THINK\]|◁/think▷"
    r"|<\|END_THINKING\|>|<channel\|>"
)
ENDINGS = (
    r"<\|(?:im_end|im_start|eot_id|eom_id|endoftext|end_of_text|end_of_turn|end|eos|return|user"
    r"|system|human|start_header_id|end_header_id|header_start|header_end|endofprompt|EOT"
    r"|END_OF_TURN_TOKEN|END_RESPONSE|END_TEXT|observation|tool_response)\|>"
    r"|</s>|<s>|<eos>|<end_of_turn>|<start_of_turn>|<\|?turn\|?>|\[/?INST\]"
    r"|<｜end▁of▁sentence｜>|<｜User｜>|<tool_response>|<start_function_response>"
)
# What models put before the names of such tags.
TAG_PREFIX = r"(?:[a-z]{1,12}:|[｜|]{1,2}DSML[｜|]{1,2})?"
CALLS = (
    rf"</?{TAG_PREFIX}(?:tool_?calls?|function_calls?|invoke)\b|<functioncall>|</?tool_use>"
    rf"|</?tool_code>|<\|/?(?:python_tag|tool_call\w{{0,20}}|tool_calls\w{{0,20}})\|>"
    r"|\[TOOL_CALLS\]|<\|tool_call>|<start_function_call>"
    r"|<function=|</function>|<｜tool▁\w{4,20}｜>"
    r"|</?tool>|</?tool_input>|</?final_answer>|</?answer>"
)
_TOKENS = rf"{OPENING}|{CLOSING}|{ENDINGS}|{CALLS}|<\|[A-Za-z0-9_]{{1,40}}\|>"
# What all of them begin with, so that other text is passed over at once.
_NEARLY = r"(?=<[a-z｜/]|<\|{1,2}[\w/]|\[/?[a-z]|◁)"
# The same without bounds, and whatever begins as most of them do.
NEAR_TOKENS = r"<\|{1,2}[\w/\u0080-\U0010FFFF]|<｜|" + re.sub(
    r"\{(\d),\d\d\}", r"{\1,}", _TOKENS.replace(r"\b", "")
)

_MARKS = r"#>*\-•+_`|"
_EMOJI = r"\U0001F300-\U0001FAFF\u2600-\u27BF"

# A fence begins a line, or stands alone after a label.
_FENCE_LINE = re.compile(r"^(?=[ \t\\`~])([ \t]{0,8})(?=\\*(?:```|~~~))", re.MULTILINE)
_FENCE_ESCAPED = re.compile(r"^(?=[ \t\\])([ \t]{0,8})\\(?=\\*(?:```|~~~))", re.MULTILINE)


# What may stand around a quotation, and what a phrase does not end with.
_PAIRS = {
    '"': '"', "'": "'", "`": "`", "“": "”", "「": "」", "『": "』",
    "(": ")", "（": "）", "[": "]", "{": "}",
}  # fmt: skip
_GOES_ON = "#/-–—:：,、;=*"


def words_pattern(words: Iterable[str]) -> str:
    """Return a pattern for any of these words, longest first, however they are spaced."""
    variants = {
        r"[ \t_\-]{0,3}".join(re.escape(part) for part in word.split()) for word in words if word
    }
    return "|".join(sorted(variants, key=len, reverse=True))


@lru_cache(maxsize=64)
def label_pattern(words: tuple[str, ...]) -> str:
    """Return a pattern for a line's beginning with one of these words as its label.

    Markdown around the label, a list mark or a number before it, a number after it, and a
    full-width colon are all still a label. Every repetition is bounded, so that reading stays
    linear in the length of the text.
    """
    word = words_pattern(words)
    initials = "".join(sorted({case(each[0]) for each in words for case in (str.lower, str.upper)}))
    # What a label can begin with, so that other lines are passed over at once.
    first = rf"(?!```)(?=[{_MARKS}{_EMOJI}\dsS{re.escape(initials)}])"
    marks = rf"(?:[{_EMOJI}]\uFE0F?[ \t]{{0,3}})?(?:[{_MARKS}][ \t{_MARKS}]{{0,12}})?"
    counted = r"(?:(?:\d{1,3}[.)]|step[ \t]{0,3}\d{1,3}[ \t]{0,3}[:.)\-])[ \t]{0,4}[*_`]{0,3})?"
    # In French a narrow or fixed space stands before a colon.
    number = r"[ \t]{0,3}[#(（]?\d{0,3}[)）]?[ \t\u00A0\u202F]{0,3}"
    return (
        rf"{first}(?:{marks}{counted}(?:{word}){number}[*_`]{{0,3}}[ \t]{{0,3}}[:：]"
        rf"|#{{1,6}}[ \t]{{0,4}}(?:{word}){number}[*_`]{{0,3}}[ \t]{{0,8}}(?=\n|\Z)"
        rf"|(?:\*\*|__)(?:{word}){number}(?:\*\*|__)[ \t]{{0,8}}(?=\n|\Z))"
    )


@lru_cache(maxsize=64)
def near_label_pattern(words: tuple[str, ...]) -> str:
    """Return a pattern for what is a label or nearly one; see `label_pattern`."""
    word = "|".join(r"[ \t_\-]*".join(map(re.escape, each.split())) for each in words)
    # What stands before a word is taken at once: nothing in it is tried again.
    lead = rf"(?=(?P<lead>(?:[{_MARKS}{_EMOJI}\d \t\uFE0F.):]|step)*))(?P=lead)"
    after = r"(?:[^\S\n\r]|[\d_\-#()（）*`])*"
    return (
        rf"(?:{label_pattern(words)}|{lead}(?:{word}){after}[:：]"
        rf"|(?:#+|\*\*|__)[ \t]*(?:{word}){after}(?=\n|\Z))"
    )


@lru_cache(maxsize=64)
class Form:
    r"""What counts as form for one dialect: its own labels beside the common ones.

    Args:
        labels: The labels of the dialect, with or without their colons.
        observation: The label of an observation among them.
        common: Whether the labels of the package's dialects count as well, in every language.

    Example:
        >>> form = Form(("Thought:", "Action:"), "Observation:")
        >>> form.escape("It said:\nAction: run")
        'It said:\n\\Action: run'
        >>> form.unescape(form.escape("It said:\nAction: run"))
        'It said:\nAction: run'
    """

    def __init__(self, labels: tuple[str, ...], observation: str, *, common: bool = True) -> None:
        self._arguments = (labels, observation, common)
        own = {label.rstrip(":： ") for label in labels} | {observation.rstrip(":： ")}
        own.discard("")
        vocabulary = VOCABULARY if common else {}
        known = {word for words in vocabulary.values() for word in words}
        label = label_pattern(tuple(sorted(own | known)))
        observed = observation.rstrip(":： ")
        # A common word for an observation may be another label of this dialect.
        other = {word.casefold() for word in own - {observed}}
        common_words = (
            word for word in vocabulary.get("observation", ()) if word.casefold() not in other
        )
        seen = tuple(sorted({observed, *common_words} - {""}))
        partial = "|".join(
            re.escape(part)
            for part in sorted(
                {part for word in seen for part in _beginnings(word)}, key=len, reverse=True
            )
        )
        unfinished = rf"|(?<=\n)[ \t]{{0,20}}(?:{partial})\Z" if partial else ""
        flags = re.MULTILINE | re.IGNORECASE
        # Empty lines are passed over at once.
        line = r"^(?=[^\n])"
        self._label = re.compile(rf"{line}(?:[ \t]{{0,20}}{label}{unfinished})", flags)
        self._token = re.compile(rf"{_NEARLY}(?<!\\)(?:{_TOKENS})", flags)
        observed = label_pattern(seen)
        self._observation = re.compile(rf"{line}(?:[ \t]{{0,20}}{observed}{unfinished})", flags)
        near = near_label_pattern(tuple(sorted(own | known)))
        at_line = rf"{near}|(?:{partial})\Z" if partial else near
        self._nearly = re.compile(
            rf"{line}[ \t]*(?:{near})|(?=[<\[◁])(?<!\\)(?:{NEAR_TOKENS})", flags
        )
        # Backslashes are passed over all at once, however many there are.
        slashes = r"\\*(?!\\)"
        self._to_escape = re.compile(rf"{line}([ \t]*)(?={slashes}(?:{at_line}))", flags)
        self._escaped = re.compile(rf"{line}([ \t]*)\\(?={slashes}(?:{at_line}))", flags)
        token = rf"{slashes}(?=[<\[◁])(?:{NEAR_TOKENS})"
        self._token_to_escape = re.compile(rf"(?=[<\[◁\\])(?<!\\)(?={token})", flags)
        self._token_escaped = re.compile(rf"(?=\\)(?<!\\)\\(?={token})", flags)
        within = rf"(?:{words_pattern(seen)})[ \t]?\d{{0,3}}[:：]"
        # Within a line a label is spelled as it is, and begins after a space.
        self._label_within = re.compile(rf"(?<=[ \t。])(?:{within})")
        self._may_be_within = re.compile(rf"[ \t。](?:{within})")
        self._within = re.compile(rf"(?<=[ \t。])(?:{within})|\\+.|[\"'`“”「」『』(){{}}\[\]（）]")
        self._to_escape_within = re.compile(rf"(?<=[ \t。])(?={slashes}{within})")
        self._escaped_within = re.compile(rf"(?<=[ \t。])\\(?={slashes}{within})")

    def __reduce__(self) -> "tuple[Callable[..., Form], tuple[object, ...]]":
        """Let an agent be handed to another process: the cache hides the class from pickle."""
        return _form, self._arguments

    def escape(self, content: str) -> str:
        """Return content in which nothing counts as form any more."""
        content = self._to_escape.sub(r"\1\\", content)
        return self._token_to_escape.sub(r"\\", content)

    def unescape(self, content: str) -> str:
        """Return what was escaped."""
        content = self._token_escaped.sub("", content)
        return self._escaped.sub(r"\1", content)

    def labels(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Find the labels of a text: where each begins and ends, and its word, normalised."""
        for found in self._label.finditer(text):
            yield found.start(), found.end(), plain_word(found[0])

    def is_escaped_in(self, content: str) -> bool:
        """Tell whether something in the content was escaped, so that it is a quotation."""
        return bool(self._escaped.search(content) or self._token_escaped.search(content))

    def is_in(self, content: str) -> bool:
        """Tell whether something in the content counts as form, so that it was not escaped."""
        return bool(self._label.search(content) or self._token.search(content))

    def is_nearly_in(self, content: str) -> bool:
        """Tell whether something in the content counts as form, or nearly so."""
        return self.is_in(content) or bool(self._nearly.search(content))

    def observation_start(self, text: str) -> int | None:
        """Return where the first observation begins, even one broken off in its label."""
        found = self._observation.search(text)
        return found.start() if found else None

    def may_observe_within(self, text: str) -> bool:
        """Tell whether an observation's label stands after a space anywhere in a text."""
        return self._may_be_within.search(text) is not None

    def observation_within(self, text: str, start: int) -> int | None:
        """Return where an observation begins on the line on which a step's input stands.

        A label in quotation marks or brackets, or after a colon, a comma or a dash, is part of
        the input.

        Args:
            text: The text.
            start: Where the input begins.
        """
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        # Most lines hold no such label, however many marks they hold.
        if not self._label_within.search(text, start, end):
            return None
        closers: list[str] = []
        for found in self._within.finditer(text, start, end):
            mark, at = found[0], found.start()
            if mark[0] == "\\":
                continue
            in_word = mark == "'" and text[at + 1 : at + 2].isalnum()
            if closers and mark == closers[-1] and not in_word:
                closers.pop()
            elif mark in _PAIRS:
                if mark != "'" or not text[at - 1].isalnum():
                    closers.append(_PAIRS[mark])
            elif len(mark) > 1 and not closers:
                before = text[max(start, at - 9) : at].rstrip()[-1:]
                if before and before not in _GOES_ON:
                    return at
        return None

    def escape_within(self, content: str) -> str:
        r"""Escape the labels of observations within the line on which an input stands.

        Example:
            >>> Form((), "Observation:").escape_within("x Observation: y")
            'x \\\\Observation: y'
        """
        return _on_first_line(self._to_escape_within, "\\\\", content)

    def unescape_within(self, written: str) -> str:
        """Undo `escape_within`."""
        return _on_first_line(self._escaped_within, "", written)


def _form(labels: tuple[str, ...], observation: str, common: bool) -> Form:
    return Form(labels, observation, common=common)


def _on_first_line(pattern: re.Pattern[str], by: str, text: str) -> str:
    first, newline, rest = text.partition("\n")
    return pattern.sub(by, first) + newline + rest


@lru_cache(maxsize=4096)
def plain_word(label: str) -> str:
    """Return a label's word as it is compared: without mark-up, numbers, spaces and case.

    Example:
        >>> plain_word("**Action_Input 3**:")
        'actioninput'
    """
    word = re.sub(r"step\W{0,3}\d{1,3}", "", label.casefold(), count=1)
    return "".join(mark for mark in word if mark.isalpha())


def escape_fences(content: str, escape: Callable[[str], str]) -> str:
    """Escape the fences of a text that opens one and does not close it.

    What stands inside a fence is a quotation. A fence left open in one part of a step would
    reach into the next.

    Args:
        content: The text.
        escape: What will be done to it afterwards. A fence with a label behind it is escaped by
            that; then the others are escaped as well, so that a grammar can tell what pairs up.
    """
    fences = len(_FENCE_LINE.findall(content))
    if fences == 0 or (fences % 2 == 0 and not _FENCE_ESCAPED.search(escape(content))):
        return content
    return _FENCE_LINE.sub(r"\1\\", content)


def unescape_fences(content: str) -> str | None:
    """Undo `escape_fences`; None if a fence is left open."""
    fences, escaped = len(_FENCE_LINE.findall(content)), len(_FENCE_ESCAPED.findall(content))
    if escaped == 0:
        return content if fences % 2 == 0 else None
    return _FENCE_ESCAPED.sub(r"\1", content) if escaped == fences else None


def _beginnings(label: str) -> list[str]:
    """List the broken-off forms of a label: at least half of its word, at least two letters."""
    word = label.rstrip(":： ")
    return [word[:end] for end in range(max(2, (len(word) + 1) // 2), len(word) + 1)]
