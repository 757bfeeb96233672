r"""Formulas in the plain text of MediaWiki's extracts, as one piece each.

The TextExtracts extension takes the tags out of MathML and leaves its layout: every sign of a
formula stands on an indented line of its own, then comes what was typed, `{\displaystyle ...}`,
and then the sentence goes on.
"""

import re

__all__ = ("joined_formulas",)

_TYPED = re.compile(r" +(\{\\(?:display|text|script)style\b.*)")


def joined_formulas(extract: str) -> str:
    r"""Write every formula once, as it was typed, in the sentence that it belongs to.

    Args:
        extract: The text of a page.

    Example:
        >>> joined_formulas("All \n  \n    \n        x\n    \n    {\\displaystyle x}\n   of a set.")
        'All {\\displaystyle x} of a set.'
    """
    lines: list[str] = []
    waiting: list[str] = []  # indented and empty lines: layout, if what was typed follows
    open_end = False  # whether the last line ends with a formula, so that its sentence may go on
    for line in extract.split("\n"):
        # Between a formula and its sentence stands one line of spaces at most.
        goes_on = open_end and len(waiting) < 2 and "" not in waiting
        if typed := _TYPED.match(line):
            text = _text_before_layout(waiting)
            lines += text
            if lines and not text and "" not in waiting and not lines[-1].startswith("=="):
                lines[-1] += typed[1]
            else:
                lines.append(typed[1])
            waiting, open_end = [], True
        elif line.strip() and goes_on:
            lines[-1] += line if waiting else line.removeprefix("  ")
            waiting, open_end = [], False
        elif not line.strip() or line.startswith("  "):
            waiting.append(line)
        else:
            lines += [*waiting, line]
            waiting, open_end = [], False
    return "\n".join(lines + waiting)


def _text_before_layout(waiting: list[str]) -> list[str]:
    """Return the indented lines that are text: layout begins with a line of nothing but spaces."""
    text = list[str]()
    for line in waiting:
        if line and not line.strip():
            break
        text.append(line)
    return text if any(text) else []
