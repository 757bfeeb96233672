"""A calculator that evaluates arithmetic and nothing else."""

import ast
import math
import operator
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import CallbackManagerForToolRun
from langchain_core.tools import BaseTool

from langchain_custom_agents.tools._input import ToolInput, refusal

__all__ = ("calculator_tool",)


def calculator_tool() -> BaseTool:
    """Make a tool that answers arithmetic as LangChain's llm-math does, without a model.

    It reads numbers (also "1,234.5", "12%", "１２"), `+ - * / // % **`, `^` as power, `× ÷ −`,
    parentheses, `pi`, `e`, and functions such as `sqrt`, `log`, `ln`, `sin`, `round`, `max` and
    `factorial`. It evaluates with the simpleeval package, never with Python's `eval`, and refuses
    numbers of more than about 1,000 digits. What it cannot read or compute it says in a sentence.

    Returns:
        The tool `Calculator`.

    Example:
        >>> calculator_tool().run("128*345")
        'Answer: 44160'
        >>> calculator_tool().run("9**9**9")
        'The result of 9**9**9 is too large; the calculator stops at about 1,000 digits.'
    """
    return _Calculator()


class _Calculator(BaseTool):
    name: str = "Calculator"
    description: str = (
        "Computes arithmetic. Input: an expression with numbers only, such as 128 * 345, "
        "2^10, (3 + 4) / 5, sqrt(2) or 15% of 80."
    )
    args_schema: Any = ToolInput
    handle_validation_error: Any = refusal

    def _run(self, query: str, run_manager: CallbackManagerForToolRun | None = None) -> str:
        del run_manager
        return _answer(query)

    async def _arun(self, query: str, **_: Any) -> str:
        return _answer(query)


_MAX_BITS = 3_400  # about 1,000 digits
_MAX_LETTERS = 1_000


class _TooLargeError(ValueError):
    """The result has more digits than anybody reads."""


class _UnclearError(ValueError):
    """A comma may stand in a number or between two."""


class _NotRealError(ValueError):
    """The result is a complex number."""


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise _TooLargeError
    if isinstance(value, complex):
        raise _NotRealError("it is not a real number")
    if isinstance(value, float) and not math.isfinite(value):
        raise OverflowError
    return value


def _power(base: Any, exponent: Any) -> Any:
    whole = isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1
    if whole and abs(exponent) * abs(base).bit_length() > 2 * _MAX_BITS:
        raise _TooLargeError
    return base**exponent


def _divide(left: Any, right: Any) -> Any:
    """Divide so that what comes out even stays an integer, of any size."""
    if isinstance(left, int) and isinstance(right, int) and right and left % right == 0:
        return left // right
    return left / right


def _small(function: Callable[..., int], largest: int) -> Callable[..., int]:
    """Refuse arguments whose result would be too large before it is computed."""

    def bounded(*numbers: int) -> int:
        if any(number > largest for number in numbers):
            raise _TooLargeError
        return function(*numbers)

    return bounded


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divide,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs, "round": round, "min": min, "max": max, "pow": _power,
    "sqrt": math.sqrt, "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x), "exp": math.exp,
    "log": math.log, "ln": math.log, "log2": math.log2, "log10": math.log10,
    "sin": math.sin, "cos": math.cos, "tan": math.tan,
    "asin": math.asin, "acos": math.acos, "atan": math.atan, "atan2": math.atan2,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "hypot": math.hypot,
    "degrees": math.degrees, "radians": math.radians, "gcd": math.gcd, "lcm": math.lcm,
    "factorial": _small(math.factorial, 450), "comb": _small(math.comb, 3_000),
}  # fmt: skip
_NAMES = {"pi": math.pi, "e": math.e, "tau": math.tau}
_READ = (ast.Expr, ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.Call)
_SEVERAL = ("max", "min", "pow", "log", "round", "gcd", "lcm", "hypot", "atan2", "comb")

_SIGNS = str.maketrans(
    {
        "×": "*",
        "✕": "*",
        "·": "*",
        "⋅": "*",
        "∗": "*",
        "÷": "/",
        "∕": "/",
        "−": "-",
        "–": "-",
        "π": "pi",
    }
)
_RAISED = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_THOUSANDS = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?![\d,])")
# A group of three that begins with 0 is no number of its own, and who writes a space after one
# comma would write it after another, too.
_UNCLEAR = re.compile(
    r"\d,0\d\d(?!\d)"
    r"|(?<!\d)\d{1,3},\d{3}(?!\d).*,\s"
    r"|,\s.*(?<!\d)\d{1,3},\d{3}(?!\d)"
)
_TAKES_SEVERAL = re.compile(rf"\b(?:{'|'.join(_SEVERAL)})\s*\(", re.IGNORECASE)
_ASKED = re.compile(r"\A(?:what is|what's|calculate|compute|evaluate)\b:?", re.IGNORECASE)
_PERCENT_OF = re.compile(r"(\d+(?:\.\d+)?)\s*%\s*of\b", re.IGNORECASE)
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%(?=\s*(?:[-+*/^)]|$))")


def _normal(expression: str) -> str:
    """Write an expression as Python would."""
    # Before the normal form, in which 3² is 32.
    text = _RAISED.sub(lambda power: f"^({power[0]})", expression)
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS).strip().strip("`'\"; \n")
    if ";" in text:
        msg = "there are several expressions, and only one has an answer"
        raise SyntaxError(msg)
    text = _ASKED.sub("", text)
    text = re.sub(r"\s*=\s*\??\s*$|\?\s*$", "", text).replace("$", "").replace("¥", "")
    if not _TAKES_SEVERAL.search(text):
        text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    elif _UNCLEAR.search(text):
        raise _UnclearError
    text = _PERCENT_OF.sub(r"(\1/100)*", text)
    text = _PERCENT.sub(r"(\1/100)", text)
    return re.sub(r"\s+", " ", text).replace("^", "**").lower()


def _answer(expression: str) -> str:
    # Imported here because the calculator is the only one who needs it.
    from simpleeval import InvalidExpression, SimpleEval

    shown = " ".join(expression.split())
    shown = shown if len(shown) <= 80 else shown[:79] + "…"
    if not shown:
        return "The calculator needs an expression, for example 128 * 345."
    unread = (
        f"The calculator cannot read {shown}. "
        "Give numbers, + - * / ^, parentheses and functions such as sqrt, for example 128 * 345."
    )
    if len(expression) > _MAX_LETTERS:
        return f"The expression is too long; give at most {_MAX_LETTERS} characters at a time."
    evaluator = SimpleEval(operators=_checked(_OPERATORS), functions=_checked(_FUNCTIONS))
    evaluator.names = _NAMES
    evaluator.nodes = {
        kind: rule
        for kind, rule in evaluator.nodes.items()
        if kind
        in (ast.Expr, ast.Expression, ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.Call)
    }
    try:
        value = _bounded(evaluator.eval(_normal(expression)))
    except _TooLargeError:
        return f"The result of {shown} is too large; the calculator stops at about 1,000 digits."
    except _UnclearError:
        return (
            f"The calculator cannot read {shown}: in a function of several numbers a comma stands "
            "between two of them. Write 1000, not 1,000."
        )
    except OverflowError:
        return f"The result of {shown} is too large for a number with a decimal point."
    except ZeroDivisionError:
        return f"The result of {shown} is not defined: it divides by zero."
    except ValueError as error:
        return f"The result of {shown} is not defined: {error}."
    except (InvalidExpression, SyntaxError, TypeError, RecursionError, MemoryError):
        return unread
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return unread
    return f"Answer: {_written(value)}"


def _checked(functions: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """Let every function take numbers only, and give none that is too large."""

    def check(function: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*values: Any) -> Any:
            if not all(isinstance(value, (int, float)) for value in values):
                raise TypeError
            return _bounded(function(*values))

        return checked

    return {name: check(function) for name, function in functions.items()}


def _written(value: float) -> str:
    """Write a number as people do: integers as such, others to fifteen digits."""
    return str(value) if isinstance(value, int) else f"{value:.15g}"
