"""Public names that are loaded the first time they are used (PEP 562)."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package.

    Args:
        package: Its name.
        homes: The module within it that holds each name.

    Example:
        >>> load, _ = lazily("langchain_custom_agents", {"Run": "loop"})
        >>> load("Run").__module__
        'langchain_custom_agents.loop'
    """
    module = sys.modules[package]

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        value = getattr(import_module(f"{package}.{home}"), name)
        setattr(module, name, value)
        return value

    return load, lambda: sorted(module.__all__)
