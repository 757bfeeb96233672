"""Thirty tools of every kind of schema, for whoever writes or reads what tools are called with."""

from typing import Any

_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_POINT = {
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
    "required": ["x", "y"],
}


def _tool(name: str, properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required), **more}
    return {"name": name, "description": name, "parameters": parameters}


TOOL_SCHEMAS: tuple[dict[str, Any], ...] = (
    _tool("now", {}),
    _tool("search", {"query": _TEXT}, "query"),
    _tool("maybe_search", {"query": _TEXT}),
    _tool("square", {"n": _WHOLE}, "n"),
    _tool("root", {"x": {"type": "number"}}, "x"),
    _tool("switch", {"on": {"type": "boolean"}}, "on"),
    _tool("blank", {"value": {"type": "null"}}, "value"),
    _tool("unit", {"unit": {"enum": ["C", "F", "K"]}}, "unit"),
    _tool("mixed_enum", {"value": {"enum": ["auto", 1, None, True]}}, "value"),
    _tool("constant", {"kind": {"const": "fixed [1]"}}, "kind"),
    _tool("weather", {"city": _TEXT, "days": _WHOLE}, "city"),
    _tool("either_of", {"key": {"anyOf": [_WHOLE, _TEXT]}}, "key"),
    _tool("optional", {"key": {"anyOf": [_TEXT, {"type": "null"}]}}),
    _tool("types", {"key": {"type": ["integer", "string", "null"]}}, "key"),
    _tool("one_of", {"shape": {"oneOf": [_POINT, {"type": "array", "items": _WHOLE}]}}, "shape"),
    _tool("numbers", {"values": {"type": "array", "items": {"type": "number"}}}, "values"),
    _tool(
        "names", {"names": {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": 3}}, "names"
    ),
    _tool(
        "matrix", {"rows": {"type": "array", "items": {"type": "array", "items": _WHOLE}}}, "rows"
    ),
    _tool(
        "pair",
        {"pair": {"type": "array", "prefixItems": [_TEXT, _WHOLE], "items": False, "minItems": 2}},
        "pair",
    ),
    _tool("anything", {"value": {}}, "value"),
    _tool("any_list", {"values": {"type": "array"}}, "values"),
    _tool("point", {"point": _POINT}, "point"),
    _tool("line", {"start": _POINT, "end": _POINT, "label": _TEXT}, "start", "end"),
    _tool("counts", {"counts": {"type": "object", "additionalProperties": _WHOLE}}, "counts"),
    _tool("free_form", {"data": {"type": "object"}}, "data"),
    _tool(
        "referred", {"place": {"$ref": "#/$defs/Point"}}, "place", **{"$defs": {"Point": _POINT}}
    ),
    _tool(
        "tree",
        {"root": {"$ref": "#/$defs/Node"}},
        "root",
        **{
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {
                        "name": _TEXT,
                        "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                    },
                    "required": ["name"],
                }
            }
        },
    ),
    _tool("code", {"code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{1,4}$"}}, "code"),
    _tool(
        "short",
        {
            "text": {"type": "string", "minLength": 1, "maxLength": 5},
            "n": {"type": "integer", "minimum": 1, "maximum": 10},
        },
        "text",
        "n",
    ),
    _tool(
        "booking",
        {
            "name": _TEXT,
            "guests": {"type": "integer", "minimum": 1, "maximum": 9},
            "rooms": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"kind": {"enum": ["single", "double"]}, "nights": _WHOLE},
                    "required": ["kind"],
                },
            },
            "paid": {"type": "boolean"},
            "note": {"anyOf": [_TEXT, {"type": "null"}]},
        },
        "name",
        "guests",
    ),
)
