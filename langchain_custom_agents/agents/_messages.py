"""The steps of a run as messages: every call answered exactly once, every step written once."""

import json
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.agents import AgentAction
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.tools.base import TOOL_MESSAGE_BLOCK_TYPES

from langchain_custom_agents.dialects import Toolbox
from langchain_custom_agents.loop import CORRECTION, Step

UNANSWERED = "No result of this call is kept."

# Content blocks that hold a call, and what they call its id: Anthropic's, the Responses API's,
# LangChain's own.
_CALL_BLOCKS = {
    "tool_use": "id",
    "function_call": "call_id",
    "custom_tool_call": "call_id",
    "tool_call": "id",
}


def text_in(content: Any) -> str:
    """Return the text in a message's content: reasoning, calls and images are left out.

    Example:
        >>> text_in([{"type": "reasoning"}, {"type": "text", "text": "Takuma "}, "is a teacher."])
        'Takuma is a teacher.'
    """
    if isinstance(content, str):
        return content
    parts = []
    for block in content or ():
        if isinstance(block, str):
            parts.append(block)
        elif block.get("type") in ("text", "output_text"):
            parts.append(block.get("text") or "")
        elif block.get("type") == "refusal":
            parts.append(block.get("refusal") or "")
    return "".join(parts)


def observed(observation: Any, *, blocks: bool = True) -> str | list[str | dict[Any, Any]]:
    """Return an observation of any type as a message's content.

    Args:
        observation: What a tool returned.
        blocks: Whether content blocks may stay blocks; otherwise their text is taken.

    Example:
        >>> observed(20000), observed({"北": 1})
        ('20000', '{"北": 1}')
    """
    if isinstance(observation, str):
        return observation
    told = _told(observation)
    if told is not None:
        return observed(told.content, blocks=blocks)
    if _are_blocks(observation):
        content: list[str | dict[Any, Any]] = observation
        return content if blocks else str(in_words(observation))
    try:
        return json.dumps(observation, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(observation)


def in_words(observation: Any) -> Any:
    r"""Return content blocks, as tools of MCP servers return them, as one text.

    What is no list of blocks comes back as it is.

    Example:
        >>> in_words([{"type": "text", "text": "sun", "id": "lc_1"}, {"type": "image", "url": "x"}])
        'sun\n[image left out: only text is read here]'
        >>> in_words(20000)
        20000
    """
    told = _told(observation)
    content = observation if told is None else told.content
    return "\n".join(map(_block_in_words, content)) if _are_blocks(content) else content


def _block_in_words(block: Mapping[str, Any]) -> str:
    kind = block["type"]
    if kind == "text":
        return str(block.get("text") or "")
    if kind in ("json", "search_result"):
        return json.dumps(block, ensure_ascii=False, default=str)
    return f"[{kind} left out: only text is read here]"


def _told(observation: Any) -> ToolMessage | None:
    """Return the tool message in an observation: the answer a tool wrote itself.

    A tool that is given its call's id may return it in a LangGraph command.
    """
    if isinstance(observation, ToolMessage):
        return observation
    update = getattr(observation, "update", None)
    messages = update.get("messages") if isinstance(update, dict) else None
    last = messages[-1] if isinstance(messages, list) and messages else None
    return last if isinstance(last, ToolMessage) else None


def _are_blocks(observation: Any) -> bool:
    return isinstance(observation, list) and bool(observation) and all(map(_is_block, observation))


def _is_block(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") in TOOL_MESSAGE_BLOCK_TYPES


def calls_in(message: BaseMessage) -> list[Mapping[str, Any]]:
    """Return the calls in a message, readable or not; a legacy function call is one without id."""
    if not isinstance(message, AIMessage):
        return []
    calls: list[Mapping[str, Any]] = [*message.tool_calls, *message.invalid_tool_calls]
    legacy = message.additional_kwargs.get("function_call")
    if not calls and legacy:
        calls.append({"name": legacy.get("name"), "args": legacy.get("arguments"), "legacy": True})
    return calls


def is_legacy(calls: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether calls are a legacy function call, which is answered by a function message."""
    return bool(calls) and bool(calls[0].get("legacy"))


def as_said(message: BaseMessage) -> str:
    """Return a model's words; with calls among them, in the form that the API gives them."""
    calls = calls_in(message)
    if not calls:
        return text_in(message.content)
    said: dict[str, Any] = {"role": "assistant", "content": text_in(message.content) or None}
    functions = [
        {"name": call.get("name") or "", "arguments": _as_text(call.get("args"))} for call in calls
    ]
    if is_legacy(calls):
        said["function_call"] = functions[0]
    else:
        said["tool_calls"] = [
            {"id": call.get("id"), "type": "function", "function": function}
            for call, function in zip(calls, functions, strict=True)
        ]
    return json.dumps(said, ensure_ascii=False)


def _as_text(arguments: Any) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False, default=str)


def with_calls(words: str) -> AIMessage | None:
    """Return the reply that `as_said` wrote, with valid calls; None if it held none."""
    if not words.startswith('{"role": "assistant"'):
        return None
    try:
        said = json.loads(words)
    except ValueError:
        return None
    content = said.get("content") or ""
    if "function_call" in said:
        return AIMessage(content, additional_kwargs={"function_call": said["function_call"]})
    calls = [
        ToolCall(
            name=call["function"]["name"] or "unknown",
            args=_as_object(call["function"]["arguments"]),
            id=call["id"],
        )
        for call in said.get("tool_calls", ())
    ]
    return AIMessage(content, tool_calls=calls)


def _as_object(arguments: str) -> dict[str, Any]:
    try:
        given = json.loads(arguments)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


@dataclass(frozen=True)
class _Written:
    """What is written of a run, and the turn from which to go on."""

    steps: list[tuple["weakref.ref[AgentAction]", Any]]
    resume: int
    messages: list[BaseMessage]
    ids: list[str]


class MessageScratchpad:
    """Writes the steps of a run as messages.

    Whatever a provider left out or used twice, the messages are in order: the calls of one
    reply stand together, each with an id of its own, each answered once. What a run has written
    is kept while the run lives, so that a step is written once however often it is sent.

    Args:
        legacy: Whether steps that were made by hand become legacy function calls.
        toolbox: The tools, for the names of their arguments.

    Example:
        >>> pad = MessageScratchpad()
        >>> [m.type for m in pad.write([(AgentAction("Search", "Hiroko", ""), "10 years old")])]
        ['ai', 'tool']
    """

    def __init__(self, *, legacy: bool = False, toolbox: Toolbox = Toolbox()) -> None:  # noqa: B008
        self._legacy = legacy
        self._toolbox = toolbox
        # Keyed by the identity of a run's first action, and dropped with it.
        self._runs: dict[int, tuple[weakref.ref[AgentAction], _Written]] = {}

    def write(self, steps: Sequence[Step], used: Sequence[str] = ()) -> list[BaseMessage]:
        """Return the messages of these steps.

        Args:
            steps: The steps of the run so far.
            used: The ids of calls that stand before them, in the history.
        """
        if not steps:
            return []
        at, messages, ids = 0, list[BaseMessage](), list(used)
        known = self._runs.get(id(steps[0][0]))
        # This loop sees every step at every call of the model: it stays free of calls.
        if known is not None and len(known[1].steps) <= len(steps):
            for (ref, observation), step in zip(known[1].steps, steps, strict=False):
                if ref() is not step[0] or observation is not step[1]:
                    break
            else:
                at, messages, ids = known[1].resume, known[1].messages[:], known[1].ids[:]
        resume = at, len(messages), len(ids)
        while at < len(steps):
            end, complete = _turn_end(steps, at)
            messages += self._turn(steps[at:end], ids)
            at = end
            if complete:
                resume = at, len(messages), len(ids)
        self._remember(steps, resume, messages, ids)
        return messages

    def _remember(
        self,
        steps: Sequence[Step],
        resume: tuple[int, int, int],
        messages: list[BaseMessage],
        ids: list[str],
    ) -> None:
        refs = [(weakref.ref(step[0]), step[1]) for step in steps]
        written = _Written(refs, resume[0], messages[: resume[1]], ids[: resume[2]])
        key, runs = id(steps[0][0]), self._runs
        runs[key] = (weakref.ref(steps[0][0], lambda _: runs.pop(key, None)), written)

    def _turn(self, turn: Sequence[Step], ids: list[str]) -> list[BaseMessage]:
        """Write one reply of the model and what became of its calls."""
        action, observation = turn[0]
        if action.tool == CORRECTION:
            return self._correction(action, observation, ids)
        before, message = _said(action)
        if message is None:
            message = self._by_hand(action)
        calls = calls_in(message)
        if is_legacy(calls):
            return [*before, message, _function_message(calls[0]["name"], observation)]
        given = _matched(calls, turn)
        fresh = _unique_ids(calls, ids)
        answers = [
            _tool_message(call, call_id, turn[index][1] if index is not None else UNANSWERED)
            for call, call_id, index in zip(calls, fresh, given, strict=True)
        ]
        return [*before, _with_ids(message, calls, fresh), *answers]

    def _correction(self, action: AgentAction, said: Any, ids: list[str]) -> list[BaseMessage]:
        """Write what the model said, and what is wrong with it."""
        message = with_calls(action.log)
        if message is None:
            words: list[BaseMessage] = [AIMessage(action.log)] if action.log.strip() else []
            return [*words, HumanMessage(observed(said))]
        calls = calls_in(message)
        if is_legacy(calls):
            return [message, _function_message(calls[0]["name"], said)]
        fresh = _unique_ids(calls, ids)
        answers = [
            _tool_message(call, call_id, said) for call, call_id in zip(calls, fresh, strict=True)
        ]
        return [_with_ids(message, calls, fresh), *answers]

    def _by_hand(self, action: AgentAction) -> AIMessage:
        """Make the reply that would have led to an action without one."""
        given, spec = action.tool_input, self._toolbox.get(action.tool)
        if isinstance(given, str):
            named = list(spec.args or ()) if spec is not None and not spec.takes_text else []
            given = {named[0] if len(named) == 1 else "__arg1": given}
        log = "" if action.log.startswith("\nInvoking: ") else action.log.strip()
        if self._legacy:
            call = {"name": action.tool, "arguments": _as_text(given)}
            return AIMessage(log, additional_kwargs={"function_call": call})
        return AIMessage(log, tool_calls=[ToolCall(name=action.tool, args=given, id=None)])


def _said(action: AgentAction) -> tuple[list[BaseMessage], AIMessage | None]:
    """Return the reply that named an action, and the messages that stood before it."""
    log = list(getattr(action, "message_log", ()))
    for at in range(len(log) - 1, -1, -1):
        if calls_in(log[at]):
            return log[:at], log[at]
    return log, None


def _turn_end(steps: Sequence[Step], at: int) -> tuple[int, bool]:
    """Return where the steps of one reply end, and whether each of its calls has a step."""
    _, message = _said(steps[at][0])
    if message is None:
        return at + 1, True
    count, end = len(calls_in(message)), at + 1
    while end < len(steps) and end - at < count:
        _, other = _said(steps[end][0])
        # Steps that were stored and loaded hold equal messages, not the same one.
        if other is not message and other != message:
            break
        end += 1
    return end, end - at >= count


def _matched(calls: Sequence[Mapping[str, Any]], turn: Sequence[Step]) -> list[int | None]:
    """Return for each call which step answers it: by id, then by name, then by order."""
    answered: list[int | None] = [None] * len(calls)
    left = list(range(len(turn)))
    for same in (_same_call, _same_tool, lambda *_: True):
        for index, call in enumerate(calls):
            if answered[index] is None:
                found = next((step for step in left if same(call, turn[step][0])), None)
                if found is not None:
                    answered[index] = found
                    left.remove(found)
    return answered


def _same_tool(call: Mapping[str, Any], action: AgentAction) -> bool:
    return bool(call["name"] == action.tool)


def _same_call(call: Mapping[str, Any], action: AgentAction) -> bool:
    return bool(call.get("id")) and call.get("id") == getattr(action, "tool_call_id", None)


def _unique_ids(calls: Sequence[Mapping[str, Any]], ids: list[str]) -> list[str]:
    """Return an id of its own for each call, adding them to those of the run."""
    fresh = []
    for call in calls:
        call_id, count = call.get("id"), len(ids)
        while not call_id or call_id in ids:
            call_id = f"call_{count}"
            count += 1
        ids.append(call_id)
        fresh.append(call_id)
    return fresh


def _with_ids(
    message: AIMessage, calls: Sequence[Mapping[str, Any]], ids: Sequence[str]
) -> AIMessage:
    """Return a message whose calls have these ids: itself, if they have them already."""
    if all(call.get("id") == call_id for call, call_id in zip(calls, ids, strict=True)):
        return message
    renamed = [{**call, "id": call_id} for call, call_id in zip(calls, ids, strict=True)]
    valid = len(message.tool_calls)
    content, left = message.content, iter(ids)
    if isinstance(content, list):
        content = [_renamed(block, left) for block in content]
    others = {k: v for k, v in message.additional_kwargs.items() if k != "tool_calls"}
    return message.model_copy(
        update={
            "tool_calls": renamed[:valid],
            "invalid_tool_calls": renamed[valid:],
            "content": content,
            "additional_kwargs": others,
        }
    )


def _renamed(block: Any, ids: Any) -> Any:
    key = _CALL_BLOCKS.get(block.get("type", "")) if isinstance(block, dict) else None
    call_id = next(ids, None) if key else None
    return block if key is None or call_id is None else {**block, key: call_id}


def _tool_message(call: Mapping[str, Any], call_id: str, observation: Any) -> ToolMessage:
    told = _told(observation)
    if told is not None:
        return told.model_copy(update={"tool_call_id": call_id})
    return ToolMessage(observed(observation), tool_call_id=call_id, name=call.get("name"))


def _function_message(name: str | None, observation: Any) -> FunctionMessage:
    return FunctionMessage(name=name or "unknown", content=observed(observation, blocks=False))
