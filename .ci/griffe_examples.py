"""Lets the reference show our `Example:` sections as code; griffe knows them as `Examples:`."""

import re
from typing import Any

import griffe


class Examples(griffe.Extension):
    """Renames the section in every docstring that is read."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:  # noqa: ARG002
        """Rename the section in one docstring."""
        if obj.docstring:
            obj.docstring.value = re.sub(
                r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE
            )
