"""The readers on the scoreboard: ours, and those of other packages where they are installed."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from langchain_custom_agents.dialects import (
    ENGLISH,
    Action,
    Answer,
    Bracketed,
    Conversational,
    JsonBlob,
    Misreading,
    SelfAsk,
)
from langchain_custom_agents.dialects.arguments import read_arguments
from langchain_custom_agents.dialects.moves import NoSuchTool
from langchain_custom_agents.dialects.toolbox import ToolSpec
from langchain_custom_agents.doctor import as_move

DIALECTS = {
    "text_react": ENGLISH,
    "docstore_react": Bracketed(),
    "structured_chat": JsonBlob(),
    "conversational": Conversational(),
    "self_ask": SelfAsk(),
}


@dataclass(frozen=True)
class Reader:
    """One line of the table: a name, the formats it claims, and record -> moves."""

    name: str
    forms: tuple[str, ...]
    read: Callable
    all_calls: bool = False


def tools_of(record):
    """The names of a record's tools; none if it only says from where they were loaded."""
    names = record.get("tools") or []
    if any(isinstance(name, str) and ":" in name for name in names):
        return []
    return [name for name in names if name != "Finish"]


def _ours(record, tools):
    move = DIALECTS[record["format"]].read(record["llm_output"], tools).move
    # The label of a turn that names an unknown tool is that call: it was read, and must not run.
    return [move.attempted if isinstance(move, NoSuchTool) else move]


def _calls(record):
    message = json.loads(record["llm_output"])
    calls = [call["function"] for call in message.get("tool_calls") or []]
    return message, calls + ([message["function_call"]] if message.get("function_call") else [])


def _our_calls(record):
    message, calls = _calls(record)
    if not calls:
        said = message.get("content")
        return [Answer(said)] if said else [Misreading("", "it is empty")]
    moves = []
    for call in calls:
        given = read_arguments(call.get("arguments"), ToolSpec(call["name"]))
        moves.append(Action(call["name"], given))
    return moves


def _text(parse):
    return lambda record: [as_move(parse(record["llm_output"]))]


def readers(*, only_ours=False):
    """Every reader there is, ours first."""
    yield Reader("langchain-custom-agents", tuple(DIALECTS), lambda record: _ours(record, ()))
    yield Reader(
        "langchain-custom-agents, told the tools",
        tuple(DIALECTS),
        lambda record: _ours(record, tools_of(record)),
    )
    yield Reader("langchain-custom-agents", ("functions",), _our_calls, all_calls=True)
    if not only_ours:
        for others in (_langchain, _llama_index, _smolagents):
            try:
                yield from others()
            except ImportError as error:  # noqa: PERF203 - three turns
                print(f"# not installed: {error.name}")


def _langchain():
    from langchain_classic.agents.conversational.output_parser import ConvoOutputParser
    from langchain_classic.agents.mrkl.output_parser import MRKLOutputParser
    from langchain_classic.agents.output_parsers import (
        JSONAgentOutputParser,
        ReActSingleInputOutputParser,
        SelfAskOutputParser,
    )
    from langchain_classic.agents.output_parsers.openai_tools import OpenAIToolsAgentOutputParser
    from langchain_classic.agents.react.output_parser import ReActOutputParser
    from langchain_classic.agents.structured_chat.output_parser import StructuredChatOutputParser
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration

    for parser, form in (
        (ReActSingleInputOutputParser, "text_react"),
        (MRKLOutputParser, "text_react"),
        (ReActOutputParser, "docstore_react"),
        (StructuredChatOutputParser, "structured_chat"),
        (JSONAgentOutputParser, "structured_chat"),
        (ConvoOutputParser, "conversational"),
        (SelfAskOutputParser, "self_ask"),
    ):
        yield Reader(f"langchain {parser.__name__}", (form,), _text(parser().parse))

    def calls(record):
        message, made = _calls(record)
        listed = [
            {"id": f"call_{number}", "type": "function", "function": call}
            for number, call in enumerate(made)
        ]
        said = AIMessage(message.get("content") or "", additional_kwargs={"tool_calls": listed})
        read = OpenAIToolsAgentOutputParser().parse_result([ChatGeneration(message=said)])
        return [as_move(each) for each in (read if isinstance(read, list) else [read])]

    yield Reader("langchain OpenAIToolsAgentOutputParser", ("functions",), calls, all_calls=True)


def _llama_index():
    from llama_index.core.agent.react.output_parser import ReActOutputParser

    yield Reader("llama_index ReActOutputParser", ("text_react",), _text(ReActOutputParser().parse))


def _smolagents():
    from smolagents.utils import parse_json_blob

    def read(record):
        said, _ = parse_json_blob(record["llm_output"])
        name, given = (
            said.get("action", said.get("name")),
            said.get("action_input", said.get("arguments")),
        )
        if name is None:
            return [Misreading("", "no name")]
        if str(name).casefold().replace(" ", "_") == "final_answer":
            return [Answer(str(given.get("answer", given) if isinstance(given, dict) else given))]
        return [Action(str(name), given if isinstance(given, dict) else str(given))]

    yield Reader("smolagents parse_json_blob", ("structured_chat",), read)
