"""Reading a prompt as a model must: which form, which tools, what question, what was done."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

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
    Move,
    SelfAsk,
    ToolSpec,
)
from langchain_custom_agents.dialects.moves import tidy
from langchain_custom_agents.dialects.phrases import IN_CHINESE, IN_ENGLISH, IN_JAPANESE
from langchain_custom_agents.offline._brain import Step
from langchain_custom_agents.offline._words import language_of


@dataclass(frozen=True)
class Heard:
    """What was understood of a prompt.

    Args:
        question: The last question.
        dialect: The form to answer in; None for plain words.
        tools: The tools that are offered.
        steps: What was done for this question so far.
        goes_on: Whether the prompt ends with the cue, so that the reply goes on from it.
        context: Words before a plain question, which may hold the answer.
        must_answer: Whether no more tools may be used.
    """

    question: str
    dialect: Dialect | None = None
    tools: tuple[ToolSpec, ...] = ()
    steps: tuple[Step, ...] = ()
    goes_on: bool = True
    context: str = ""
    must_answer: bool = False

    @property
    def language(self) -> str:
        """The language of the prompt: of its form, else of the question."""
        if self.dialect is None:
            return language_of(self.question)
        return _LANGUAGES.get(self.dialect.phrases.begin) or language_of(
            self.dialect.cue + self.dialect.phrases.begin
        )


_LANGUAGES = {IN_ENGLISH.begin: "en", IN_JAPANESE.begin: "ja", IN_CHINESE.begin: "zh"}


# -- which dialect --------------------------------------------------------------------------------


@dataclass(frozen=True)
class BlobWithLabelledAnswer(JsonBlob):
    """JSON for actions, a label for the answer: what LangChain's `chat-zero-shot` agent reads."""

    final_answer: str = "Final Answer:"

    def write(self, thought: str, move: Move) -> str:
        """Write one step; see `Dialect.write`."""
        if isinstance(move, Answer):
            return f"{self._write_thought(thought)}\n{self.final_answer} {self.escape(move.text)}"
        return super().write(thought, move)


_LABELLED = (ENGLISH, JAPANESE, CHINESE)
_FINISHING = ("Finish", "完了", "終了", "完成", "结束", "回答")


def dialect_of(prompt: str) -> Dialect | None:
    r"""Recognise the dialect whose instructions, or whose steps, stand in a prompt.

    Example:
        >>> dialect_of("Reply so:\nThought: ...\nAction: Search[Hiroko]\nAction: Finish[10]")
        Bracketed(thought='Thought:', action='Action:', observation='Observation:', ...
    """  # doctest: +ELLIPSIS
    # What comes later is the question, and what pages say.
    begin = _BEGIN.search(prompt)
    prompt = prompt[: begin.start()] if begin else prompt
    has = _Labels(prompt)
    own = SelfAsk()
    if has(own.final_answer) and has(own.action):
        return own
    spoken = max(_LABELLED, key=lambda known: sum(map(has, known.labels.values())))
    seen = _label(spoken.observation).search(prompt)
    blob = '"action_input"' in (prompt[: seen.start()] if seen else prompt)
    if not has(spoken.action):
        if has(spoken.thought) and (has(spoken.final_answer) or has("AI:")):
            return spoken if has(spoken.final_answer) else Conversational()
        return JsonBlob() if blob else None
    words: dict[str, Any] = {
        "thought": spoken.thought,
        "action": spoken.action,
        "observation": spoken.observation,
        "question": spoken.question,
    }
    if blob:
        labelled = has("Final Answer:") and "`action` key" in prompt
        return BlobWithLabelledAnswer() if labelled else JsonBlob(**words)
    if has(spoken.action_input):
        if has("AI:") and not has(spoken.final_answer):
            return Conversational(**words, action_input=spoken.action_input, final_answer="AI:")
        return spoken
    label = re.escape(spoken.action.rstrip(":"))
    names = re.findall(
        rf"^[ \t]*{label}[ \t]*\d{{0,3}}[:：][ \t]*([^\[\n]{{1,64}})\[", prompt, re.MULTILINE
    )
    if not names:
        return spoken
    finish = next((name for name in names if name.strip() in _FINISHING), "").strip()
    return Bracketed(
        **words, finish=finish or _FINISHING[_LABELLED.index(spoken) and spoken.action == "行動:"]
    )


class _Labels:
    """Counts the lines of a prompt that begin with a label."""

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt

    def __call__(self, label: str) -> int:
        return len(_label(label).findall(self.prompt))


def _label(*labels: str) -> re.Pattern[str]:
    """Return a pattern for a line that begins with one of these labels."""
    return re.compile("|".join(map(_one_label, labels)), re.MULTILINE)


def _one_label(label: str) -> str:
    if not label.endswith((":", "：")):
        return rf"^[ \t]*{re.escape(label)}"
    words = r"[ \-]?".join(re.escape(word) for word in label[:-1].split())
    return rf"^[ \t]*{words}[ \t]*\d{{0,3}}[ \t]*[:：]"


# -- what stands in a text ------------------------------------------------------------------------

_BEGIN = re.compile(r"^(?:Begin[!.]|始めましょう。|开始。)", re.MULTILINE)
_EARLIER_WORK = re.compile(r"^This was your previous work\b.*$", re.MULTILINE)
_ANSWERED = re.compile(
    r"^[ \t]*(?:Final Answer|最終回答|最终答案|So the final answer is)[ \t]*[:：]"
    r"|\b(?:Finish|完了|終了|完成)\[|\"Final Answer\"",
    re.MULTILINE,
)
_OTHER_QUESTIONS = ("Question:", "質問:", "问题:", "New input:", "Human:")


def hear(prompt: str, dialect: Dialect | None = None) -> Heard:
    """Understand a prompt that is one text.

    Args:
        prompt: The prompt.
        dialect: The dialect, if it is known.
    """
    prompt = tidy(prompt)
    dialect = dialect or dialect_of(prompt)
    if dialect is None:
        return _plain(prompt)
    if "RESPONSE FORMAT INSTRUCTIONS" in prompt and prompt.startswith("System: "):
        return hear_messages(_split_messages(prompt), dialect)
    begins, ends = _last_question(prompt, dialect)
    head, tail = prompt[:begins], prompt[ends:]
    question, steps = _transcript(tail, dialect)
    must_answer = any(s.wrap_up in tail for s in (IN_ENGLISH, IN_JAPANESE, IN_CHINESE))
    return Heard(
        question=question,
        dialect=dialect,
        tools=_tools(head, dialect),
        steps=steps,
        goes_on=_ends_with_cue(prompt, dialect),
        must_answer=must_answer or dialect.phrases.wrap_up in tail,
    )


def _ends_with_cue(prompt: str, dialect: Dialect) -> bool:
    last = prompt.rstrip().rpartition("\n")[2]
    return last.endswith(dialect.cue) or bool(re.fullmatch(_one_label(dialect.cue), last))


def _split_messages(prompt: str) -> list[BaseMessage]:
    """Undo what LangChain does to messages for a text model."""
    kinds = {"System": SystemMessage, "Human": HumanMessage, "AI": AIMessage}
    _, *parts = re.split(r"^(System|Human|AI): ", prompt, flags=re.MULTILINE)
    return [kinds[kind](text.strip()) for kind, text in zip(parts[::2], parts[1::2], strict=True)]


def _plain(prompt: str) -> Heard:
    """Take the last question, or the last line, for what is asked, and the rest for a text."""
    labelled = [found for word in _OTHER_QUESTIONS for found in _label(word).finditer(prompt)]
    if labelled:
        last = max(labelled, key=lambda found: found.start())
        rest = re.split(
            r"\n\s*\n|\n[^\n]{0,40}(?:answer|回答|答え|答案)[^\n]{0,20}[:：]\s*\Z",
            prompt[last.end() :].strip(),
            flags=re.IGNORECASE,
        )[0]
        return Heard(" ".join(rest.split()), context=prompt[: last.start()])
    lines = [line for line in prompt.splitlines() if line.strip()] or [""]
    asking = [
        i for i, line in enumerate(lines) if line.rstrip().endswith(("?", "？", "か。", "か"))
    ]
    at = asking[-1] if asking else len(lines) - 1
    return Heard(lines[at].strip(), context="\n".join(lines[:at] + lines[at + 1 :]))


def _last_question(prompt: str, dialect: Dialect) -> tuple[int, int]:
    """Return where the last question's label begins and ends.

    Examples in a prompt have questions too, so the last one counts; but not one that stands in
    an observation, before the answer it belongs to: that is what a page says.
    """
    begin = max((found.end() for found in _first(_BEGIN.finditer(prompt))), default=0)
    observed = _label(dialect.observation)
    own = getattr(dialect, "question", "Question:")
    for word in dict.fromkeys((own, *_OTHER_QUESTIONS)):
        last: re.Match[str] | None = None
        for found in _question_label(word).finditer(prompt, begin):
            between = prompt[last.end() if last else begin : found.start()]
            seen = list(observed.finditer(between))
            if seen and not _ANSWERED.search(between, seen[-1].end()):
                continue
            last = found
        if last:
            return last.start(), last.end()
    return (begin, begin) if begin else (0, 0)


def _question_label(word: str) -> re.Pattern[str]:
    """Return a pattern for a question's label, also where LangChain has named the speaker."""
    return re.compile(_one_label(word).replace("^", "^(?:Human: ?)?", 1), re.MULTILINE)


def _first(found: Iterator[re.Match[str]]) -> Iterator[re.Match[str]]:
    yield from (match for match, _ in zip(found, range(1), strict=False))


def _transcript(tail: str, dialect: Dialect) -> tuple[str, tuple[Step, ...]]:
    """Split what follows the question's label into the question and the steps taken."""
    labels = [label for label in _model_labels(dialect) if label]
    speaks = re.compile("|".join([*map(_one_label, labels), _EARLIER_WORK.pattern]), re.MULTILINE)
    first = speaks.search(tail)
    asked = tail[: first.start()] if first else tail
    question = dialect.unescape(tidy(asked))
    return " ".join(question.split()), tuple(
        _steps(tail[first.start() :] if first else "", dialect, speaks)
    )


def _model_labels(dialect: Dialect) -> list[str]:
    labels = dict(getattr(dialect, "labels", {}))
    labels.pop("question", None)
    labels.pop("observation", None)
    return [dialect.cue, *labels.values()]


def _steps(text: str, dialect: Dialect, speaks: re.Pattern[str]) -> Iterator[Step]:
    text = _EARLIER_WORK.sub("", text)
    observed = _label(dialect.observation)
    at = 0
    while found := observed.search(text, at):
        said = text[at : found.start()]
        following = speaks.search(text, found.end())
        end = following.start() if following else len(text)
        if step := _step(said, text[found.end() : end], dialect):
            yield step
        at = end


def _step(said: str, seen: str, dialect: Dialect) -> Step | None:
    """Read one step; None if the model's words were no action."""
    # LangChain's self-ask prompt spells its own cue in two ways.
    cue = _label(dialect.cue).match(said)
    move = dialect.read(said[cue.end() :] if cue else said).move
    if not isinstance(move, Action):
        return None
    return Step(move.tool, _text_of(move.input), dialect.unescape(tidy(seen)))


def _text_of(given: object) -> str:
    """Return the text in an input: the one there is, or the longest."""
    if isinstance(given, dict):
        texts = [str(value) for value in given.values()]
        return max(texts, key=len, default="")
    return str(given)


# -- which tools ----------------------------------------------------------------------------------

_NAMED = re.compile(
    r"(?:one of \[([^\]\n]{1,2000})\]|Valid \"action\" values: \"Final Answer\" or ([^\n]{1,2000})"
    r"|[Mm]ust be one of ([^\n]{1,2000})|\"action\" field are: ([^\n]{1,2000}))"
)
_TOOL = re.compile(
    r"^(?:> |[-*] )?(?P<name>[^\s:：(\[{\"'][^:：(\n]{0,63}?)(?:\([^\n]*?\)(?: ->[^\n:]{1,40}?)?)?"
    r"(?:: | - |：)"
    r"(?P<says>[^\n]*)$",
    re.MULTILINE,
)
_ARGS = re.compile(r",? args: (\{.*\})\s*\Z")


def _tools(head: str, dialect: Dialect) -> tuple[ToolSpec, ...]:
    """Find the tools in the words before the question: their list, or the examples."""
    if dialect.only_tool:
        return (ToolSpec(dialect.only_tool),)
    named = [
        name.strip().strip("'\"")
        for found in _NAMED.finditer(head)
        for name in next(group for group in found.groups() if group).split(",")
    ]
    labels = {
        label.rstrip(":：").casefold() for label in (*_model_labels(dialect), *_OTHER_QUESTIONS)
    }
    labels |= {dialect.observation.rstrip(":：").casefold()}
    form = _label(*_model_labels(dialect), dialect.observation)
    shown = form.search(head)
    found_specs: dict[str, ToolSpec] = {}
    for found in _TOOL.finditer(head if named else head[: shown.start()] if shown else head):
        name = found["name"].strip()
        if name.casefold() not in labels and (not named or name in named):
            found_specs.setdefault(name, _spec(name, found["says"]))
    for name in named:
        if name and not name.startswith(("{", "$")):
            found_specs.setdefault(name, ToolSpec(name))
    if not found_specs and isinstance(dialect, Bracketed):
        label = re.escape(dialect.action.rstrip(":："))
        for name in re.findall(rf"^{label}[:：][ \t]*([^\[\n]{{1,64}})\[", head, re.MULTILINE):
            if name.strip() != dialect.finish:
                found_specs.setdefault(name.strip(), ToolSpec(name.strip()))
    return tuple(found_specs.values())


def _spec(name: str, says: str) -> ToolSpec:
    args = _ARGS.search(says)
    if not args or len(args[1]) > 10_000:
        return ToolSpec(name, says.strip())
    try:
        known = ast.literal_eval(args[1])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        known = None
    if not isinstance(known, dict):
        return ToolSpec(name, says.strip())
    required = tuple(
        key
        for key, schema in known.items()
        if not isinstance(schema, dict) or "default" not in schema
    )
    return ToolSpec(name, says[: args.start()].strip(), known, required)


# -- messages -------------------------------------------------------------------------------------

_TOOL_RESPONSE = re.compile(
    r"\ATOOL RESPONSE:\s*-+\s*(?P<seen>.*?)\s*(?:\n\s*USER'S INPUT\s*\n.*)?\Z", re.DOTALL
)
_USERS_INPUT = re.compile(r"USER'S INPUT\s*\n-+\s*\n[^\n]*:\s*\n+(?P<asked>.*)\Z", re.DOTALL)


def hear_messages(messages: Sequence[BaseMessage], dialect: Dialect | None = None) -> Heard:
    """Understand a prompt of messages in a text dialect, or in plain words.

    Args:
        messages: The messages.
        dialect: The dialect, if it is known.
    """
    if len(messages) == 1:
        return hear(text_of(messages[0]), dialect)
    texts = [(message, text_of(message)) for message in messages]
    instructions = "\n\n".join(t for m, t in texts if isinstance(m, (SystemMessage, HumanMessage)))
    dialect = dialect or dialect_of(instructions)
    if dialect is None:
        asked = [i for i, (m, _) in enumerate(texts) if isinstance(m, HumanMessage)]
        if not asked:
            return _plain("\n".join(text for _, text in texts))
        heard = _plain(texts[asked[-1]][1])
        before = "\n".join(text for m, text in texts[: asked[-1]] if isinstance(m, SystemMessage))
        return replace(heard, context=f"{before}\n{heard.context}")
    said = _Conversation(dialect)
    for message, text in texts:
        if isinstance(message, HumanMessage):
            said.hear_user(text)
        elif isinstance(message, AIMessage):
            said.hear_model(text)
        elif isinstance(message, (ToolMessage, FunctionMessage)):
            said.hear_tool(text)
    head = "\n\n".join(t for m, t in texts if isinstance(m, SystemMessage))
    human = "" if said.labelled else instructions
    last = texts[-1][1].rstrip() if texts else ""
    return Heard(
        question=said.question,
        dialect=dialect,
        tools=_tools(f"{head}\n\n{human}", dialect),
        steps=tuple(said.steps),
        goes_on=_ends_with_cue(last, dialect),
        must_answer=any(dialect.phrases.wrap_up in text for _, text in texts[-1:]),
    )


@dataclass
class _Conversation:
    """A conversation in a text dialect, heard message by message."""

    dialect: Dialect
    question: str = ""
    steps: list[Step] = field(default_factory=list)
    pending: Action | None = None
    labelled: bool = False

    def hear_user(self, text: str) -> None:
        """Hear a question, with or without the transcript after it, or an observation."""
        if self.pending is not None:
            found = _TOOL_RESPONSE.match(text)
            self.hear_tool(found["seen"] if found else text)
            return
        text = tidy(text)
        if said := _USERS_INPUT.search(text):
            text = said["asked"]
        labels = (getattr(self.dialect, "question", "Question:"), *_OTHER_QUESTIONS)
        label = _label(*dict.fromkeys(labels)).match(text)
        self.labelled = self.labelled or bool(label)
        question, steps = _transcript(text[label.end() if label else 0 :], self.dialect)
        if question:
            self.question, self.steps = question, list(steps)

    def hear_model(self, text: str) -> None:
        """Hear a step of the model, an answer given before, or a whole scratchpad."""
        _, steps = _transcript("\n" + tidy(text), self.dialect)
        if steps:
            self.steps += steps
            return
        move = self.dialect.read(text).move
        self.pending = move if isinstance(move, Action) else None

    def hear_tool(self, seen: str) -> None:
        """Hear what a tool returned."""
        if self.pending is not None:
            prefix = _label(self.dialect.observation).match(seen)
            seen = seen[prefix.end() :] if prefix else seen
            given = _text_of(self.pending.input)
            self.steps.append(Step(self.pending.tool, given, self.dialect.unescape(tidy(seen))))
        self.pending = None


def text_of(message: BaseMessage) -> str:
    """Return the text of a message; blocks of other kinds are left out."""
    content = message.content
    if isinstance(content, str):
        return content
    parts = (block if isinstance(block, str) else str(block.get("text", "")) for block in content)
    return "".join(parts)


def hear_calls(messages: Sequence[BaseMessage]) -> tuple[str, tuple[Step, ...]]:
    """Understand a conversation with tool calls: the last question, and the calls made for it.

    Args:
        messages: The messages; results are tool messages, or function messages as once.
    """
    last = max((i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=-1)
    question = text_of(messages[last]) if last >= 0 else ""
    calls: dict[str, tuple[str, str]] = {}
    steps: list[Step] = []
    function = ("", "")
    for message in messages[last + 1 :]:
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                calls[str(call["id"])] = (call["name"], _text_of(call["args"]))
            legacy = message.additional_kwargs.get("function_call")
            if legacy:
                function = (str(legacy.get("name", "")), _arguments_of(legacy.get("arguments")))
        elif isinstance(message, ToolMessage):
            name, given = calls.get(message.tool_call_id, (message.name or "", ""))
            steps.append(Step(name, given, text_of(message)))
        elif isinstance(message, FunctionMessage):
            steps.append(Step(message.name, function[1], text_of(message)))
    return " ".join(question.split()), tuple(steps)


def _arguments_of(written: object) -> str:
    try:
        given = json.loads(str(written))
    except ValueError:
        return str(written)
    return _text_of(given)
