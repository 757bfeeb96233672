"""The tools a reader knows of: their names and what they take."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from langchain_core.tools import BaseTool, Tool


@dataclass(frozen=True)
class ToolSpec:
    """One tool, as far as writing and reading need to know it.

    Args:
        name: The name a model must use.
        description: What it does.
        args: JSON schema of each argument by name; None if nothing is known of them.
        required: The arguments that must be given.
        takes_text: Whether the tool wants one plain text whatever its argument is called.
        definitions: The schemas that those of the arguments refer to, by name.

    Example:
        >>> ToolSpec("Search").args is None
        True
    """

    name: str
    description: str = ""
    args: Mapping[str, Any] | None = None
    required: tuple[str, ...] = ()
    takes_text: bool = False
    definitions: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, tool: "ToolLike") -> "ToolSpec":
        """Describe a LangChain tool, a JSON function schema, or a bare name.

        Raises:
            TypeError: If it is none of these, or its schema is none.
        """
        if isinstance(tool, ToolSpec):
            return tool
        if isinstance(tool, str):
            return cls(tool)
        if isinstance(tool, BaseTool):
            parameters = _schema_of(tool)
            _check_schema(tool.name, parameters)
            return cls(
                name=tool.name,
                description=tool.description,
                args=tool.args if isinstance(tool, Tool) else _arguments(parameters),
                required=tuple(parameters.get("required") or ()),
                takes_text=isinstance(tool, Tool),
                definitions=_definitions(parameters),
            )
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if isinstance(function, Mapping) and isinstance(name := function.get("name"), str):
            # OpenAI's and LangChain's name for the schema, and Anthropic's.
            parameters = function.get("parameters") or function.get("input_schema") or {}
            _check_schema(name, parameters)
            return cls(
                name=name,
                description=function.get("description") or "",
                args=_arguments(parameters) if parameters.get("properties") is not None else None,
                required=tuple(parameters.get("required") or ()),
                definitions=_definitions(parameters),
            )
        msg = (
            f"A tool is a LangChain tool, a function schema with a name, or a name; "
            f"{type(tool).__name__} is none of them."
        )
        raise TypeError(msg)

    def suits(self, given: str | dict[str, Any]) -> bool:
        """Tell whether all that is given is for the tool, as far as is known.

        That something is missing is for the tool's own check to say.

        Example:
            >>> weather = ToolSpec("weather", args={"city": {}, "days": {}}, required=("city",))
            >>> weather.suits({"city": "Kyoto"}), weather.suits("Kyoto")
            (True, False)
        """
        if self.takes_text:
            return isinstance(given, str) or self.names_text(given)
        if self.args is None:
            return True
        if isinstance(given, str):
            return len(self.args) == 1
        return set(given) <= set(self.args)

    def names_text(self, given: dict[str, Any]) -> bool:
        """Tell whether an object is the one text of a tool under its name, not that text itself."""
        return len(given) == 1 and set(given) <= {*(self.args or ()), "__arg1"}

    def fit(self, given: str | dict[str, Any]) -> str | dict[str, Any]:
        """Return the input in the shape the tool takes.

        A JSON object for a tool that takes one text, and does not look like its arguments, is
        that text: a request body, say.
        """
        if not self.takes_text or isinstance(given, str):
            return given
        if self.names_text(given):
            return given
        return json.dumps(given, ensure_ascii=False)


@dataclass(frozen=True)
class Toolbox:
    """Tools by name. Made once for an agent; a reader takes it wherever it takes tools.

    Tools of which the arguments are known are all there are. Bare names are a hint: a log or a
    prompt may name others, so a plausible name that is none of them is read as it stands.

    Args:
        specs: The tools, in the order they are offered.
        forced: Whether one of them must be called, so that a grammar admits no answer.

    Example:
        >>> [spec.name for spec in Toolbox.of(["Search", "Lookup"])]
        ['Search', 'Lookup']
    """

    specs: tuple[ToolSpec, ...] = ()
    forced: bool = False
    _by_name: dict[str, ToolSpec] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {spec.name: spec for spec in self.specs})

    @classmethod
    def of(cls, tools: "Tools") -> "Toolbox":
        """Make a toolbox of whatever describes tools; a toolbox stays what it is.

        Raises:
            TypeError: If it is no list, or something in it is no tool.
        """
        if isinstance(tools, Toolbox):
            return tools
        if isinstance(tools, str | Mapping | BaseTool) or not isinstance(tools, Iterable):
            # A text would be taken for its letters, a schema for its keys.
            kind = "one tool" if isinstance(tools, BaseTool) else repr(tools)
            msg = f"`tools` is {kind}; give a list of tools, of schemas or of names."
            raise TypeError(msg)
        return cls(tuple(ToolSpec.of(tool) for tool in tools))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._by_name)

    @cached_property
    def is_complete(self) -> bool:
        """Whether these are all the tools there are."""
        return any(spec.takes_text or spec.args is not None for spec in self.specs)

    def __iter__(self) -> Iterator[ToolSpec]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def get(self, name: str) -> ToolSpec | None:
        """Return the tool of exactly this name."""
        return self._by_name.get(name)


def _schema_of(tool: BaseTool) -> Any:
    """Return the schema of the arguments that a model gives."""
    schema: Any = tool.tool_call_schema
    if isinstance(schema, dict):
        return schema
    # A model of pydantic 1, which LangChain still takes, calls it by another name.
    return (getattr(schema, "model_json_schema", None) or schema.schema)()


def _check_schema(tool: str, schema: Any) -> None:
    """Refuse what is no schema of a tool's arguments.

    Raises:
        TypeError: If it is none; the message names the field and says what belongs there.
    """
    if not isinstance(schema, Mapping):
        msg = f"The schema of the tool {tool} is {schema!r}; give an object with `properties`."
        raise TypeError(msg)
    given = schema.get("properties") or {}
    if not isinstance(given, Mapping) or not all(
        isinstance(name, str) and (isinstance(it, Mapping) or it is True)
        for name, it in given.items()
    ):
        wanted = 'an object of names and schemas, such as {"city": {"type": "string"}}'
        msg = f"In the schema of the tool {tool}, `properties` is {given!r}; give {wanted}."
        raise TypeError(msg)
    needed = schema.get("required") or ()
    if not isinstance(needed, list | tuple) or not all(isinstance(name, str) for name in needed):
        msg = f"In the schema of the tool {tool}, `required` is {needed!r}; give a list of names."
        raise TypeError(msg)
    for field_name in ("$defs", "definitions"):
        if not isinstance(defined := schema.get(field_name) or {}, Mapping):
            msg = (
                f"In the schema of the tool {tool}, `{field_name}` is {defined!r}; "
                "give an object of names and schemas."
            )
            raise TypeError(msg)


def _arguments(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the arguments that a schema names; None if it takes others as well."""
    if schema.get("additionalProperties"):
        return None
    # In JSON Schema True is the schema of anything.
    given = schema.get("properties") or {}
    return {name: {} if it is True else it for name, it in given.items()}


def _definitions(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**(schema.get("definitions") or {}), **(schema.get("$defs") or {})}


ToolLike: TypeAlias = ToolSpec | BaseTool | Mapping[str, Any] | str
Tools: TypeAlias = Toolbox | Iterable[ToolLike]
