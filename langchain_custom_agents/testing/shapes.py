r"""Shapes of replies that break readers: what was said, and what was meant by it.

Every shape was written for this library. Where nothing can be known, `meant` is None, and a
reader that refuses is right.

Example:
    >>> shape = next(shape for shape in SHAPES if shape.kind == "missing colon")
    >>> shape.text
    'Thought: I need the height\nAction Search\nAction Input Mount Aso'
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_custom_agents.dialects import Action, Answer

_WEATHER: Mapping[str, Any] = {
    "name": "get_weather",
    "parameters": {
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
_NOW: Mapping[str, Any] = {"name": "now", "parameters": {"properties": {}}}
_TOOLS: tuple[Any, ...] = ("Search", "Calculator", _WEATHER, _NOW)
_PAPER: tuple[Any, ...] = ("Search", "Lookup")


@dataclass(frozen=True)
class Shape:
    """One reply and what was meant by it.

    Args:
        kind: What is the matter with it.
        form: The form it was asked for: "labelled", "bracketed", "json", "self-ask" or "chat".
        text: The reply.
        meant: The action or the answer; None where nothing can be known.
        tools: The tools there are.
    """

    kind: str
    form: str
    text: str
    meant: Action | Answer | None
    tools: tuple[Any, ...] = _TOOLS


def _labelled(kind: str, text: str, meant: Action | Answer | None) -> Shape:
    return Shape(kind, "labelled", text, meant)


def _bracketed(kind: str, text: str, meant: Action | Answer | None) -> Shape:
    return Shape(kind, "bracketed", text, meant, _PAPER)


def _json(kind: str, text: str, meant: Action | Answer | None) -> Shape:
    return Shape(kind, "json", text, meant)


_ASO = Action("Search", "Mount Aso")
_HEIGHT = Answer("1,592 metres")
_KYOTO = Action("get_weather", {"city": "Kyoto"})
_THREE_DAYS = Action("get_weather", {"city": "Kyoto", "days": 3})

SHAPES: tuple[Shape, ...] = (
    # The form itself, so that a reader that refuses everything is found out.
    _labelled("as asked", "I need the height\nAction: Search\nAction Input: Mount Aso", _ASO),
    _labelled("as asked", "I know it now\nFinal Answer: 1,592 metres", _HEIGHT),
    _bracketed("as asked", "I need the page\nAction: Search[Mount Aso]", _ASO),
    _bracketed("as asked", "I know it now\nAction: Finish[1,592 metres]", _HEIGHT),
    _json(
        "as asked",
        'I look\nAction:\n```json\n{"action": "Search", "action_input": "Mount Aso"}\n```',
        _ASO,
    ),
    _json(
        "as asked",
        'I know\nAction:\n```json\n{"action": "Final Answer", "action_input": "1,592 metres"}\n```',
        _HEIGHT,
    ),
    # Labels.
    _labelled(
        "markdown around labels",
        "**Thought**: the height is missing\n**Action**: Search\n**Action Input**: Mount Aso",
        _ASO,
    ),
    _labelled(
        "markdown around labels",
        "*Thought:* I know it\n\n*Final Answer:* 1,592 metres",
        _HEIGHT,
    ),
    _labelled(
        "headings",
        "## Thought\nI need the height\n\n## Action\nSearch\n\n## Action Input\nMount Aso\n",
        _ASO,
    ),
    _labelled("headings", "# Final Answer\n1,592 metres", _HEIGHT),
    _labelled(
        "lists",
        "- Thought: I need the height\n- Action: Search\n- Action Input: Mount Aso",
        _ASO,
    ),
    _labelled(
        "lists",
        "1. Thought: I need the height\n2. Action: Search\n3. Action Input: Mount Aso",
        _ASO,
    ),
    _labelled(
        "numbered labels",
        "Thought 4: I need the height\nAction 4: Search\nAction Input 4: Mount Aso",
        _ASO,
    ),
    _bracketed("numbered labels", "I need the page.\nAction 12: Search[Mount Aso]", _ASO),
    _labelled(
        "lower case",
        "thought: i need the height\naction: search\naction input: Mount Aso",
        _ASO,
    ),
    _labelled("lower case", "i know it now\nfinal answer: 1,592 metres", _HEIGHT),
    _labelled(
        "spelling of labels", "THOUGHT: the height\nACTION: Search\nACTION_INPUT: Mount Aso", _ASO
    ),
    _labelled(
        "missing colon", "Thought: I need the height\nAction Search\nAction Input Mount Aso", _ASO
    ),
    _labelled("missing colon", "Thought: I know it now\nFinal Answer 1,592 metres", _HEIGHT),
    _labelled(
        "full-width colons", "Thought：height\nAction：Search\nAction Input：Mount Aso", _ASO
    ),
    _labelled(
        "another language", "思考: 高さを調べる\n行動: Search\n行動の入力: Mount Aso", _ASO
    ),
    _labelled(
        "another language", "思考：我需要高度\n行动：Search\n行动输入：Mount Aso", _ASO
    ),
    _labelled("another language", "わかった。\n最終回答：1,592 metres", _HEIGHT),
    _labelled(
        "one line", "Thought: I need the height. Action: Search Action Input: Mount Aso", _ASO
    ),
    _labelled("one line", "Thought: I know it now. Final Answer: 1,592 metres", _HEIGHT),
    _bracketed("one line", "Thought: I need the page. Action: Search[Mount Aso]", _ASO),
    _labelled(
        "other labels", "Thought: the height\nTool: Search\nTool Input: Mount Aso", _ASO
    ),
    _labelled(
        "other labels", "Thought: I can answer without more tools.\nAnswer: 1,592 metres", _HEIGHT
    ),
    # Fences and quotation marks.
    _labelled(
        "reply in a fence",
        "```text\nThought: the height\nAction: Search\nAction Input: Mount Aso\n```",
        _ASO,
    ),
    _labelled(
        "reply in a fence",
        "Here is my step.\n```\nAction: Search\nAction Input: Mount Aso\n```",
        _ASO,
    ),
    _labelled("reply in a fence", "```\nFinal Answer: 1,592 metres\n```", _HEIGHT),
    _labelled(
        "input in a fence",
        "Let me compute.\nAction: Calculator\nAction Input:\n```python\n17 * 23\n```",
        Action("Calculator", "17 * 23"),
    ),
    _labelled(
        "input in quotation marks", 'Look it up\nAction: Search\nAction Input: "Mount Aso"', _ASO
    ),
    _labelled(
        "input in quotation marks", "Look it up\nAction: Search\nAction Input: 「Mount Aso」", _ASO
    ),
    _labelled(
        "input in quotation marks",
        'Look it up\nAction: Search\nAction Input: "Aso" or "Kuju"',
        Action("Search", '"Aso" or "Kuju"'),
    ),
    # Tool names.
    _labelled(
        "name nearly right", "Look\nAction: `search`\nAction Input: Mount Aso", _ASO
    ),
    _labelled("name nearly right", "Look\nAction: [Search]\nAction Input: Mount Aso", _ASO),
    _labelled(
        "name nearly right", "Look\nAction: Use the Search tool\nAction Input: Mount Aso", _ASO
    ),
    _labelled(
        "name nearly right", "Look\nAction: Get Weather\nAction Input: Kyoto", _KYOTO
    ),
    _labelled(
        "name nearly right", "Look\nAction: functions.Search\nAction Input: Mount Aso", _ASO
    ),
    _labelled("no such tool", "Look\nAction: Browser\nAction Input: Mount Aso", None),
    _labelled("no such tool", "Look\nAction: Search or Calculator\nAction Input: Mount Aso", None),
    _labelled("no tool", "I cannot use any tool for this.\nAction: N/A", None),
    _labelled("no tool", "Nothing to do.\nAction: None\nAction Input: None", None),
    _labelled(
        "no tool", "I know it.\nAction: None needed\nFinal Answer: 1,592 metres", _HEIGHT
    ),
    _labelled("no tool", "I should look\nAction Input: Mount Aso", None),
    # Inputs.
    _labelled("input beside the name", "Look\nAction: Search: Mount Aso", _ASO),
    _bracketed("input beside the name", "Look\nAction: Search Mount Aso", _ASO),
    _labelled("expression", 'Look\nAction: Search("Mount Aso")', _ASO),
    _labelled("expression", "Look\nAction: get_weather(city='Kyoto', days=3)", _THREE_DAYS),
    _labelled("expression", "Look\nAction: get_weather(town='Kyoto')", None),
    _labelled("expression", "Look\nAction: get_weather('Kyoto', 3)", _THREE_DAYS),
    _labelled("expression", 'Look\nAction: Search("Mount', None),
    _labelled("no input", "Look\nAction: Search", None),
    _labelled("no input", "What time is it?\nAction: now", Action("now", {})),
    _labelled(
        "several arguments",
        'Look\nAction: get_weather\nAction Input: {"city": "Kyoto", "days": 3}',
        _THREE_DAYS,
    ),
    _labelled(
        "several arguments",
        "Look\nAction: get_weather\nAction Input: {'city': 'Kyoto', 'days': 3,}",
        _THREE_DAYS,
    ),
    _labelled(
        "several arguments", "Look\nAction: get_weather\nAction Input: city=Kyoto, days=3", _THREE_DAYS
    ),
    _labelled(
        "several arguments", 'Look\nAction: get_weather\nAction Input: {"town": "Kyoto"}', None
    ),
    _bracketed("other brackets", "Look\nAction: Search[Aso [Kumamoto]]", Action("Search", "Aso [Kumamoto]")),
    _bracketed("other brackets", "Look\nAction: `Search[Mount Aso]`", _ASO),
    _bracketed("other brackets", 'Look\nAction: Search["Mount Aso"]', _ASO),
    _bracketed("other brackets", "Look\nAction: search[Mount Aso] on the web", _ASO),
    _bracketed("other brackets", "Look\nAction: Search(Mount Aso)", _ASO),
    _bracketed("other brackets", "Look\nAction: Search[Mount", None),
    _bracketed("other brackets", "I know\nAction: finish[1,592 metres].", _HEIGHT),
    _bracketed("other brackets", "I know\nAction 3:\n\nFinish[1,592\nmetres]", Answer("1,592\nmetres")),
    _bracketed("no label", "I know it now.\nFinish[1,592 metres]", _HEIGHT),
    _bracketed("no label", "I could call Search[Mount Aso] or give up.", None),
    # JSON.
    _json("JSON without a fence", '{"action": "Search", "action_input": "Mount Aso"}', _ASO),
    _json(
        "JSON without a fence",
        'I look it up.\n{"action": "Search", "action_input": "Mount Aso"}',
        _ASO,
    ),
    _json("JSON in another fence", '~~~\n{"action": "Search", "action_input": "Mount Aso"}\n~~~', _ASO),
    _json(
        "JSON in another fence",
        'Action: ```json {"action": "Search", "action_input": "Mount Aso"} ```',
        _ASO,
    ),
    _json(
        "JSON mended", "```json\n{'action': 'Search', 'action_input': 'Mount Aso',}\n```", _ASO
    ),
    _json(
        "JSON mended",
        '```\n{\n  // look it up\n  "action": "Search",\n  "action_input": "Mount Aso" /* a page */\n}\n```',
        _ASO,
    ),
    _json(
        "JSON mended", '```\n{“action”: “Search”, “action_input”: “Mount Aso”}\n```', _ASO
    ),
    _json(
        "JSON mended",
        '{"action": "Search", "action_input": "the "big" crater"}',
        Action("Search", 'the "big" crater'),
    ),
    _json(
        "JSON mended",
        '{"action": "get_weather", "action_input": {"city": "Kyoto", "days": 1 + 2}}',
        _THREE_DAYS,
    ),
    _json(
        "JSON mended",
        '{"action": "Final Answer", "action_input": "first\nsecond"}',
        Answer("first\nsecond"),
    ),
    _json(
        "backslashes",
        '{"action": "Final Answer", "action_input": "\\frac{3}{4} of \\alpha"}',
        Answer("\\frac{3}{4} of \\alpha"),
    ),
    _json(
        "backslashes",
        '{"action": "Search", "action_input": "D:\\notes\\table.txt"}',
        Action("Search", "D:\\notes\\table.txt"),
    ),
    _json("other keys", '{"tool": "Search", "tool_input": "Mount Aso"}', _ASO),
    _json(
        "other keys", '{"name": "get_weather", "arguments": "{\\"city\\": \\"Kyoto\\"}"}', _KYOTO
    ),
    _json(
        "other keys", '{"function": {"name": "get_weather", "parameters": {"city": "Kyoto"}}}', _KYOTO
    ),
    _json("other keys", '{"action": "get_weather", "city": "Kyoto", "days": 3}', _THREE_DAYS),
    _json("other keys", '{"thought": "I know it", "final_answer": "1,592 metres"}', _HEIGHT),
    _json("other keys", '{"height": 1592, "unit": "metres"}', None),
    # Other forms.
    _json(
        "tags of open models",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Kyoto"}}\n</tool_call>',
        _KYOTO,
    ),
    _labelled("tags of open models", '<function=get_weather>{"city": "Kyoto"}</function>', _KYOTO),
    _labelled(
        "tags of open models",
        "I look.\n<tool_call>\n<function=get_weather>\n<parameter=city>\nKyoto\n</parameter>\n"
        "</function>\n</tool_call>",
        _KYOTO,
    ),
    _labelled("tags of open models", '<|python_tag|>get_weather.call(city="Kyoto")', _KYOTO),
    _labelled(
        "tags of open models",
        '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Kyoto"}}]',
        _KYOTO,
    ),
    _labelled("tags of open models", "<tool>Search</tool><tool_input>Mount Aso</tool_input>", _ASO),
    _labelled("tags of open models", '[get_weather(city="Kyoto", days=3)]', _THREE_DAYS),
    _labelled(
        "tags of open models",
        "<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary "
        'to=functions.get_weather <|constrain|>json<|message|>{"city": "Kyoto"}<|call|>',
        _KYOTO,
    ),
    # Reasoning blocks and chat templates.
    _labelled(
        "reasoning block",
        "<think>Perhaps Action: Calculator?</think>\nAction: Search\nAction Input: Mount Aso",
        _ASO,
    ),
    _labelled(
        "reasoning block", "Is it high? It is.\n</think>\n\nFinal Answer: 1,592 metres", _HEIGHT
    ),
    _labelled(
        "reasoning block", "<think>I look.\nAction: Search\nAction Input: Mount Aso</think>", _ASO
    ),
    _labelled(
        "reasoning block", "<think>I look.\nAction: Search\nAction Input: Mount Aso", _ASO
    ),
    _labelled("reasoning block", "<think>Hm, let me think about what to do", None),
    _labelled(
        "chat template", "I know\nFinal Answer: 1,592 metres<|im_end|>\n<|im_start|>user\nThanks", _HEIGHT
    ),
    _labelled("chat template", "I look\nAction: Search\nAction Input: Mount Aso<|eot_id|>", _ASO),
    # What a model goes on to invent.
    _labelled(
        "invented observation",
        "I look\nAction: Search\nAction Input: Mount Aso\nObservation: 3,000 metres\n"
        "Final Answer: 3,000 metres",
        _ASO,
    ),
    _labelled(
        "invented observation",
        "Action: Search\nAction Input: Mount Aso\n**Observation:** 3,000 metres",
        _ASO,
    ),
    _labelled(
        "invented observation", "Action: Search\nAction Input: Mount Aso\nObserva", _ASO
    ),
    _labelled("invented observation", "Observation: 3,000 metres\nFinal Answer: 3,000 metres", None),
    _bracketed(
        "invented observation",
        "I look\nAction 1: Search[Mount Aso]\nObservation 1: high\nAction 2: Finish[high]",
        _ASO,
    ),
    _labelled(
        "several steps",
        "Action: Search\nAction Input: Mount Aso\nThought: then\nAction: Calculator\nAction Input: 1",
        _ASO,
    ),
    _bracketed("several steps", "Both.\nAction: Search[Mount Aso], Search[Mount Fuji]", _ASO),
    _json(
        "several steps",
        '[{"action": "Search", "action_input": "Mount Aso"}, {"action": "now", "action_input": {}}]',
        _ASO,
    ),
    _labelled(
        "action and answer",
        "Action: Search\nAction Input: Mount Aso\nFinal Answer: about 2,000 metres",
        _ASO,
    ),
    _labelled(
        "action and answer",
        "Final Answer: 1,592 metres\n\nQuestion: And Fuji?\nThought: I look\nAction: Search\n"
        "Action Input: Fuji",
        _HEIGHT,
    ),
    _labelled("action for the answer", "I know\nAction: Final Answer\nAction Input: 1,592 metres", _HEIGHT),
    _labelled("action for the answer", "I know\nAction: Finish[1,592 metres]", _HEIGHT),
    # What must not run, and is no answer.
    _labelled(
        "quoted example",
        "You asked for the form. For example:\n\nAction: Search\nAction Input: your query\n\n"
        "That is how a step looks.",
        None,
    ),
    _labelled(
        "quoted example",
        "The form is this:\n```\nAction: Search\nAction Input: x\n```\nbut I know it.\n"
        "Final Answer: 1,592 metres",
        _HEIGHT,
    ),
    _labelled(
        "quoted example", "> Action: Search\n> Action Input: Mount Aso\n\nYou wrote that before.", None
    ),
    _json(
        "quoted example",
        'A step looks like this: `{"action": "Search", "action_input": "x"}`. What do you want?',
        None,
    ),
    _json(
        "quoted example",
        'I would have to send\n```json\n{"action": "Search", "action_input": "x"}\n```\n'
        "but that is not needed here.",
        None,
    ),
    _labelled("escaped labels", "It said:\n\\Action: Search\n\\Action Input: Mount Aso", None),
    _labelled(
        "echo of the instructions",
        "Thought: you should always think about what to do\nAction: the action to take, should be "
        "one of [Search, Calculator]\nAction Input: the input to the action",
        None,
    ),
    _json(
        "echo of the instructions", '{"action": "$TOOL_NAME", "action_input": "$INPUT"}', None
    ),
    _labelled("empty", "", None),
    _labelled("empty", "   \n\n", None),
    _labelled("empty answer", "I know it now\nFinal Answer:", None),
    _json("empty answer", '{"action": "Final Answer", "action_input": ""}', None),
    _json("cut off", '```json\n{"action": "Search", "action_input": "Mount A', None),
    _json("cut off", '{"action": "Final Answer", "action_input": "It is 1,5', None),
    _json("cut off", '{"action": "Search", "action_input": "Mount Aso"', _ASO),
    _labelled("cut off", "I need the height\nAction:", None),
    _labelled("cut off", 'Look\nAction: get_weather\nAction Input: {"city": "Kyo', None),
    _labelled("prose", "Mount Aso is 1,592 metres high.", None),
    _labelled("prose", "I will search for the height of Mount Aso now.", None),
    _labelled(
        "machine text as answer", 'Final Answer: {"action": "Search", "action_input": "Mount Aso"}', None
    ),
    # Labels in other dress, and replies in a wrapping.
    _labelled("labels in brackets", "[Thought] I look\n[Action] Search\n[Action Input] Mount Aso", _ASO),
    _labelled("labels in brackets", "(Thought): I know\n(Final Answer): 1,592 metres", _HEIGHT),
    _labelled(
        "labels in tags",
        "<thought>I look</thought>\n<action>Search</action>\n<action_input>Mount Aso</action_input>",
        _ASO,
    ),
    _labelled("labels with dashes", "Thought - I look\nAction - Search\nAction Input - Mount Aso", _ASO),
    _labelled("labels with dashes", "Thought = I look\nAction = Search\nAction Input = Mount Aso", _ASO),
    _labelled("label said twice", "I know\nFinal Answer: Final Answer: 1,592 metres", _HEIGHT),
    _labelled("label said twice", "Action: Action: Search\nAction Input: Action Input: Mount Aso", _ASO),
    _labelled("missing colon", "I know\nFinal Answer 1,592 metres", _HEIGHT),
    _bracketed("missing colon", "I look\nAction Search[Mount Aso]", _ASO),
    _labelled("table row", "| Thought: I know |\n| Final Answer: 1,592 metres |", _HEIGHT),
    _labelled(
        "whole reply in quotation marks", '"Thought: I look\nAction: Search\nAction Input: Mount Aso"', _ASO
    ),
    _labelled(
        "whole reply in a tag",
        "<response>\nThought: I know\nFinal Answer: 1,592 metres\n</response>",
        _HEIGHT,
    ),
    _labelled("whole reply between rules", "---\nThought: I know\nFinal Answer: 1,592 metres\n---", _HEIGHT),
    _labelled(
        "line breaks spelled out", r"I look\nAction: Search\nAction Input: Mount Aso", _ASO
    ),
    _labelled(
        "line breaks spelled out", "I look<br>Action: Search<br>Action Input: Mount Aso", _ASO
    ),
    _json(
        "on one line", 'I look. Action: ```json {"action": "Search", "action_input": "Mount Aso"} ```', _ASO
    ),
    _labelled("on one line", "I look. Action: Search(Mount Aso)", _ASO),
    _labelled(
        "invented observation on the line",
        "I look\nAction: Search\nAction Input: Mount Aso Observation: 3,000 metres",
        _ASO,
    ),
    _bracketed(
        "invented observation on the line",
        "I look\nAction: Search[Mount Aso] Observation: 3,000 metres Action: Finish[3,000 metres]",
        _ASO,
    ),
    _labelled(
        "mentioned observation",
        'Action: Search\nAction Input: what "Thought: x Observation: y" means',
        Action("Search", 'what "Thought: x Observation: y" means'),
    ),
    _labelled("places kept", "Action: [Search]\nAction Input: [Mount Aso]", _ASO),
    _labelled("remark after the name", "Action: Search (to find the height)\nAction Input: Mount Aso", _ASO),
    _labelled("input beside the name", 'I look\nAction: Search with input "Mount Aso"', _ASO),
    _labelled("no action, then an answer", "Action: None\nAction Input: None\nFinal Answer: 1,592 metres", _HEIGHT),
    _json("missing value", '{"action": "get_weather", "action_input": {"city": }}', None),
    # What servers pass on of the forms that models are trained in.
    _labelled(
        "tags of open models",
        '<acme:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Kyoto</parameter>\n'
        '<parameter name="days">3</parameter>\n</invoke>\n</acme:tool_call>',
        _THREE_DAYS,
    ),
    _json(
        "tags of open models",
        'I look.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n'
        '<｜DSML｜parameter name="city" string="true">Kyoto</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        _THREE_DAYS,
    ),
    _labelled(
        "tags of open models",
        "<function_calls>\n<invoke>\n<tool_name>get_weather</tool_name>\n<parameters>\n"
        "<city>Kyoto</city>\n</parameters>\n</invoke>\n</function_calls>",
        _KYOTO,
    ),
    _labelled(
        "tags of open models",
        "<tool_call>\n  <function=get_weather>\n    <parameter=city>\n      Kyoto\n"
        "    </parameter>\n  </function>\n</tool_call>",
        _KYOTO,
    ),
    _labelled(
        "tags of open models",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nKyoto\n<parameter=days>\n3\n"
        "</function>\n</tool_call>",
        _THREE_DAYS,
    ),
    _labelled(
        "tags of open models", '<invoke name="get_weather"><parameter name="city">Kyo', None
    ),
    _labelled(
        "tags of open models",
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Kyoto</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
        _THREE_DAYS,
    ),
    _labelled(
        "tags of open models",
        '<|tool_call>call:get_weather{city:<|"|>Kyoto<|"|>,days:3}<tool_call|>',
        _THREE_DAYS,
    ),
    _labelled(
        "tags of open models",
        "<start_function_call>call:get_weather{city:<escape>Kyoto<escape>}<end_function_call>",
        _KYOTO,
    ),
    _json(
        "tags of open models",
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": '
        '{"city": "Kyoto"}}]<|END_ACTION|>',
        _KYOTO,
    ),
    _labelled(
        "tags of open models", '✿FUNCTION✿: get_weather\n✿ARGS✿: {"city": "Kyoto"}\n✿RESULT✿', _KYOTO
    ),
    _labelled("tags of open models", '[TOOL_CALLS]get_weather{"city": "Kyoto", "days": 3}', _THREE_DAYS),
    _labelled("tags of open models", '<function=get_weather>{{"city": "Kyoto"}}</function>', _KYOTO),
    _labelled("tags of open models", '[Calling tool: get_weather({"city": "Kyoto"})]', _KYOTO),
    _labelled(
        "tags of open models",
        '<|python_start|>[get_weather(city="Kyoto")]<|python_end|> It will rain.',
        _KYOTO,
    ),
    _labelled(
        "channels without their tokens", 'commentary to=functions.get_weather json{"city": "Kyoto"}', _KYOTO
    ),
    _labelled(
        "channels without their tokens",
        "analysisWe know the height of it.assistantfinal1,592 metres",
        _HEIGHT,
    ),
    _labelled("list of calls", 'I look: [get_weather(city="Kyoto", days=3), now()]', _THREE_DAYS),
    _labelled("list of calls", 'A call such as [get_weather(city="Kyoto")] is not needed here.', None),
    _labelled("list of calls", '[get_weather(city="Kyoto")] is how one would ask for it.', None),
    _labelled(
        "reasoning block",
        "<|START_THINKING|>Is it high?<|END_THINKING|><|START_RESPONSE|>1,592 metres<|END_RESPONSE|>",
        _HEIGHT,
    ),
    _labelled(
        "reasoning block",
        "<|channel>thought\nI look.\n<channel|>Action: Search\nAction Input: Mount Aso",
        _ASO,
    ),
    _labelled(
        "chat template",
        "Action: Search\nAction Input: Mount Aso<|header_start|>assistant<|header_end|>\n\n"
        "Thought: It is high.",
        _ASO,
    ),
    _labelled(
        "invented observation",
        "Action: Search\nAction Input: Mount Aso\n<tool_response>\n3,000 metres\n</tool_response>",
        _ASO,
    ),
    _labelled(
        "input beside the name",
        "I compute.\n\nAction: Calculator\n```python\n17 * 23\n```",
        Action("Calculator", "17 * 23"),
    ),
    _labelled("input beside the name", "I look\nAction: Search, 'Mount Aso'", _ASO),
    _labelled(
        "input that repeats the call",
        "I look\nAction: get_weather\nAction Input: get_weather(city='Kyoto', days=3)",
        _THREE_DAYS,
    ),
    _json("other keys", '{"response": "1,592 metres"}', _HEIGHT),
    _labelled(
        "invented observation on the line",
        "I look\nAction: Search\nAction Input:\nMount Aso Observation: 3,000 metres",
        _ASO,
    ),
    _labelled(
        "whole reply in a tag",
        "Here is my step.\n<response>\nThought: I know\nFinal Answer: 1,592 metres\n</response>",
        _HEIGHT,
    ),
    _labelled("input beside the name", 'I look\nAction: Search for "Mount Aso"', _ASO),
    _labelled("input beside the name", "I look\nAction: Search\n\nInput: Mount Aso", _ASO),
    _labelled("name nearly right", "Look\nAction: I will use Search\nAction Input: Mount Aso", _ASO),
    _labelled("other labels", "Tool: Search\nInput: Mount Aso", _ASO),
    _labelled("name above the arguments", 'get_weather\n{"city": "Kyoto", "days": 3}', _THREE_DAYS),
    _labelled(
        "name above the arguments",
        "get_weather\n```python\ntool_call(city='Kyoto', days=3)\n```",
        _THREE_DAYS,
    ),
    _labelled("name above the arguments", 'weather report\n{"city": "Kyoto"}', None),
    _labelled(
        "emphasis around the input", "**Action:** **Search**\n**Action Input:** **Mount Aso**", _ASO
    ),
    _json(
        "words after",
        'Here it is:\n{"action": "Search", "action_input": "Mount Aso"}\nLet me know if you need more.',
        _ASO,
    ),
    _json(
        "cut off",
        '[{"action": "Search", "action_input": "Mount Aso [map]"}, {"action": "now", "action_in',
        None,
    ),
    _json(
        "cut off",
        'Action:\n```\n[{"action": "Search", "action_input": "Aso [map]"},\n {"action": "now", '
        '"action_input": {}\n',
        Action("Search", "Aso [map]"),
    ),
    # Other dialects.
    Shape(
        "self-ask", "self-ask", "Are follow up questions needed here: Yes. Follow up: How high is it?",
        Action("Intermediate Answer", "How high is it?"), ("Intermediate Answer",),
    ),
    Shape(
        "self-ask", "self-ask", "Yes.\nFollow up: How high is Mount Aso?",
        Action("Intermediate Answer", "How high is Mount Aso?"), ("Intermediate Answer",),
    ),
    Shape(
        "self-ask", "self-ask", "**So the final answer is:** 1,592 metres", _HEIGHT,
        ("Intermediate Answer",),
    ),
    Shape(
        "self-ask", "self-ask",
        "Follow up: How high is Mount Aso?\nIntermediate answer: 3,000 metres.\n"
        "So the final answer is: 3,000 metres",
        Action("Intermediate Answer", "How high is Mount Aso?"), ("Intermediate Answer",),
    ),
    Shape("chat", "chat", "Do I need to use a tool? No\nAI: 1,592 metres", _HEIGHT),
    Shape("chat", "chat", "AI: 1,592 metres\nHuman: Thanks!\nAI: You are welcome.", _HEIGHT),
    Shape(
        "chat", "chat",
        "Do I need to use a tool? Yes\nAction: Search\nAction Input: Mount Aso\nObservation:", _ASO,
    ),
)  # fmt: skip
