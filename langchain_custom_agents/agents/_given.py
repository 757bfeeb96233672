"""What an agent is given: checked when it is made, and completed where a part is missing."""

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from langchain_custom_agents.agents.output_parser import DialectOutputParser
from langchain_custom_agents.dialects import Dialect, Toolbox


def completed(
    values: Mapping[str, Any], usual: Dialect, parser_class: type[DialectOutputParser]
) -> dict[str, Any]:
    """Return the arguments of an agent with dialect, output parser and allowed tools among them.

    Args:
        values: The arguments given. LangChain's tutorials give an agent `tools` and `verbose`, too:
            the tools are what the parser knows and what is allowed, if nothing else says so;
            `verbose` is the executor's, and has no meaning here.
        usual: The dialect, if neither it nor a prompt or a parser that has one is given.
        parser_class: The class of the parser, if none is given.

    Raises:
        ValueError: If dialect and output parser disagree.
    """
    values = {name: value for name, value in values.items() if name != "verbose"}
    given = values.pop("tools", None)
    if given is not None:
        values.setdefault("allowed_tools", list(Toolbox.of(given).names))
    parser, dialect = values.get("output_parser"), values.get("dialect")
    if parser is None:
        prompt = getattr(values.get("llm_chain"), "prompt", None)
        dialect = dialect or getattr(prompt, "dialect", None) or usual
        tools = given or getattr(prompt, "tools", None) or values.get("allowed_tools") or ()
        values["output_parser"] = parser_class(dialect=dialect, tools=Toolbox.of(tools))
    elif isinstance(parser, DialectOutputParser):
        if dialect is not None and dialect != parser.dialect:
            msg = "The agent's dialect and its output parser's dialect must be the same."
            raise ValueError(msg)
        dialect = parser.dialect
    return {**values, "dialect": dialect}


def check_parts(llm: Any, tools: Any, dialect: Any = None, prompt: Any = None) -> None:
    """Refuse parts of an agent that are something else.

    Raises:
        TypeError: If one is; the message names it and says what to give.
    """
    if not isinstance(llm, Runnable):
        msg = f"`llm` is {_named(llm)}; give a LangChain model, such as one of `init_chat_model`."
        raise TypeError(msg)
    check_tools(tools)
    if dialect is not None and not isinstance(dialect, Dialect):
        msg = f"`dialect` is {_named(dialect)}; give a dialect, such as `dialects.JAPANESE`."
        raise TypeError(msg)
    if prompt is not None and not isinstance(prompt, BasePromptTemplate):
        msg = f"`prompt` is {_named(prompt)}; give a prompt template of LangChain's kind."
        raise TypeError(msg)


def check_tools(tools: Any) -> None:
    """Refuse tools that are something else.

    Raises:
        TypeError: If they are no list of LangChain tools.
        ValueError: If one has no name.
    """
    if isinstance(tools, BaseTool | str) or not isinstance(tools, Sequence):
        msg = f"`tools` is {_named(tools)}; give a list of LangChain tools."
        raise TypeError(msg)
    for at, tool in enumerate(tools):
        if not isinstance(tool, BaseTool):
            msg = (
                f"Item {at} of `tools` is {_named(tool)}; give LangChain tools: a `Tool`, or a "
                "function under `@tool`."
            )
            raise TypeError(msg)
        if not tool.name.strip():
            msg = f"Item {at} of `tools` has no name; a model calls a tool by its name."
            raise ValueError(msg)


def _named(value: Any) -> str:
    return f"the text {value!r}" if isinstance(value, str) else type(value).__name__


def check_alone(**parts: Any) -> None:
    """Refuse parts of a prompt that are given beside a whole one: they would have no effect.

    Raises:
        ValueError: If one is; the message names it.
    """
    given = [name for name, part in parts.items() if part]
    if given:
        has = "has" if len(given) == 1 else "have"
        msg = f"With a prompt of your own, {', '.join(given)} {has} nothing to act on."
        raise ValueError(msg)


def check_templates(**templates: Any) -> None:
    """Refuse texts that are no templates: mostly braces that were meant as they stand.

    Raises:
        TypeError: If one is no text.
        ValueError: If a brace in it names no variable.
    """
    for field, template in templates.items():
        if template is None:
            continue
        if not isinstance(template, str):
            msg = f"`{field}` is {_named(template)}; give a text."
            raise TypeError(msg)
        try:
            names = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
        except ValueError as error:
            raise ValueError(_braces(field, str(error))) from error
        strange = [name for name in names if not name.isidentifier()]
        if strange:
            raise ValueError(_braces(field, f"{{{strange[0]}}} names no variable"))


def _braces(field: str, why: str) -> str:
    return (
        f"`{field}` is no template: {why.rstrip('.')}. "
        "Write braces that mean themselves twice: {{ and }}."
    )


def check_variables(prompt: BasePromptTemplate[Any], named: Sequence[str] | None) -> None:
    """Refuse variables that are named but stand in no template.

    Raises:
        ValueError: If there is one.
    """
    known = {
        *prompt.input_variables,
        *prompt.optional_variables,
        *prompt.partial_variables,
        *("agent_scratchpad", "intermediate_steps", "tools", "tool_names"),
    }
    strange = [name for name in named or () if name not in known]
    if strange:
        msg = f"input_variables names {', '.join(strange)}, which no template of the prompt holds."
        raise ValueError(msg)
