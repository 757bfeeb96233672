"""Taking off what models and chat templates put around a reply."""

import re
from dataclasses import dataclass

from langchain_custom_agents.dialects.form import CALLS, CLOSING, ENDINGS, OPENING

REASONING = "A reasoning block was taken as the thought."
INSIDE = "The step was read inside a reasoning block."
MARKS = "Marks around the whole reply were removed."
TEMPLATE = "Tokens of a chat template were removed."

_TAG = re.compile(rf"(?=[<\[◁])(?<!\\)(?:(?P<open>{OPENING})|(?P<close>{CLOSING}))", re.IGNORECASE)
_ENDING = re.compile(rf"(?=[<\[])(?<!\\)(?:{ENDINGS})", re.IGNORECASE)
_HEAD = re.compile(
    r"\s*(?:<\|im_start\|>\s{0,3}assistant\b"
    r"|<\|start_header_id\|>\s{0,3}assistant\s{0,3}<\|end_header_id\|>"
    r"|<\|(?:assistant|start_of_turn|begin_of_text|startoftext|start)\|>(?:assistant\b)?"
    r"|<\|header_start\|>\s{0,3}assistant\s{0,3}<\|header_end\|>|<\|START_(?:RESPONSE|TEXT)\|>"
    r"|<start_of_turn>\s{0,3}model\b|\[/INST\]|<s>|<bos>)",
    re.IGNORECASE,
)
_CHANNEL = re.compile(
    r"(?:<\|start\|>(?P<role>[^<]{0,200}))?<\|channel\|>(?P<to>[^<]{0,200})"
    r"(?:<\|constrain\|>[^<]{0,40})?<\|message\|>",
    re.IGNORECASE,
)
_BARE_CALL = (
    r"(?:commentary to=(?:functions\.)?|to=functions\.)(?P<call>[\w.\-]{1,80})"
    r"\s{0,3}(?:json|code)?\s{0,9}(?=\{)"
)
_BARE_CHANNEL = re.compile(
    rf"\s{{0,9}}(?:assistant)?(?:{_BARE_CALL}|analysis(?=[A-Z\"']|\w{{2,20}} ))"
)
_BARE_NEXT = re.compile(rf"assistant(?:{_BARE_CALL}|final(?=\S))")
_CHANNEL_END = re.compile(r"<\|(?:end|call|return|start)\|>", re.IGNORECASE)
_RECIPIENT = re.compile(r"to=([\w.\-]{1,80})")


# How quotation marks, rules and tags around a whole reply begin.
AROUND = re.compile(
    r"(?:(?P<mark>\"{3}|'{3}|[\"']|(?:---+|\*\*\*+|===+)(?=\n))|“|<(?P<tag>[A-Za-z]\w{0,20})>)\s{0,9}"
)
_NO_WRAPPING = re.compile(rf"(?:{CALLS})|<(?:action|thought)>", re.IGNORECASE)


@dataclass(frozen=True)
class Unwrapped:
    """A reply without its wrapping.

    Args:
        body: What is to be read.
        reasoning: What stood in reasoning blocks.
        tail: The words from the end of the model's turn on.
        repairs: What was taken off.
        called: A tool named by the template itself, if one is.
        inside: Whether the body is what stood in the reasoning blocks.
        is_open: Whether a reasoning block is not closed.
    """

    body: str
    reasoning: str = ""
    tail: str = ""
    repairs: tuple[str, ...] = ()
    called: str = ""
    inside: bool = False
    is_open: bool = False


def unwrap(words: str) -> Unwrapped:
    """Take reasoning blocks and the tokens of a chat template off a reply.

    Example:
        >>> unwrap("<think>Hm.</think>Final Answer: 42<|im_end|>").body
        'Final Answer: 42'
    """
    channels = _channels(words) if "<|channel|>" in words else _bare_channels(words)
    if channels is not None:
        return channels
    body, reasoning, inside, is_open = _without_reasoning(words)
    repairs = [INSIDE] if inside else [REASONING] if reasoning else []
    for _ in range(8):
        head = _HEAD.match(body)
        if head is None:
            break
        body = body[head.end() :]
        repairs.append(TEMPLATE)
    tail = ""
    for found in _ENDING.finditer(body):
        repairs.append(TEMPLATE)
        if body[: found.start()].strip():
            body, tail = body[: found.start()], body[found.end() :]
            break
        body = body[found.end() :]
        break
    body = body.strip()
    around = AROUND.match(body)
    if around is not None:
        tag, mark = around["tag"], around["mark"] or "”"
        end = f"</{tag}>" if tag else mark
        inner = body[around.end() : -len(end)].strip()
        if body.endswith(end) and "\n" in inner and not _NO_WRAPPING.match(body):
            body = inner
            repairs.append(MARKS)
    return Unwrapped(
        body, reasoning.strip(), tail.strip(), tuple(dict.fromkeys(repairs)), "", inside, is_open
    )


def _without_reasoning(words: str) -> tuple[str, str, bool, bool]:
    """Split words into what stands outside of reasoning blocks and what stands in them."""
    outside: list[str] = []
    within: list[str] = []
    depth = at = 0
    seen = False
    for found in _TAG.finditer(words):
        seen = True
        (within if depth else outside).append(words[at : found.start()])
        at = found.end()
        if found["open"]:
            depth += 1
        elif depth:
            depth -= 1
        else:
            # Only the end of a block: what came before it was the block.
            within.extend(outside)
            outside = []
    if not seen:
        return words, "", False, False
    (within if depth else outside).append(words[at:])
    body, reasoning = "".join(outside), "\n".join(within)
    if re.search(r"\w", re.sub(r"^\s*\w{1,20}\s*[:：]", "", body)):
        return body, reasoning, False, depth > 0
    return reasoning, "", True, depth > 0


def _bare_channels(words: str) -> Unwrapped | None:
    """Read the channels of OpenAI's template where a server took its tokens out."""
    start = _BARE_CHANNEL.match(words)
    if start is None:
        return None
    reasoning, rest = "", words[start.end() :]
    if not start["call"]:
        following = _BARE_NEXT.search(rest)
        if following is None:
            return None
        reasoning, rest = rest[: following.start()].strip(), rest[following.end() :]
        start = following
    repairs = (REASONING, TEMPLATE) if reasoning else (TEMPLATE,)
    return Unwrapped(rest.strip(), reasoning, "", repairs, start["call"] or "")


def _channels(words: str) -> Unwrapped | None:
    """Read the channels of OpenAI's harmony template: analysis, commentary, final."""
    reasoning: list[str] = []
    parts = list(_CHANNEL.finditer(words))
    if not parts:
        return None
    for found, following in zip(parts, [*parts[1:], None], strict=True):
        content = words[found.end() : following.start() if following else len(words)]
        content = _CHANNEL_END.split(content, maxsplit=1)[0]
        to = found["to"]
        name = _RECIPIENT.search(to) or _RECIPIENT.search(found["role"] or "")
        if name and name[1] == "assistant":
            # What a tool returned is addressed so: it was invented, and all that follows.
            break
        if name or not to.strip().startswith(("analysis", "commentary")):
            tail = words[following.start() :] if following else ""
            called = name[1] if name else ""
            repairs = (REASONING, TEMPLATE) if reasoning else (TEMPLATE,)
            return Unwrapped(content.strip(), "\n".join(reasoning).strip(), tail, repairs, called)
        reasoning.append(content)
    return Unwrapped("\n".join(reasoning).strip(), "", "", (INSIDE, TEMPLATE), "", inside=True)
