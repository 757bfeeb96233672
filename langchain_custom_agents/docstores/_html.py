"""The readable text of a page that a wiki renders as HTML."""

import re
from html.parser import HTMLParser

__all__ = ("plain_text",)

_SKIPPED = {"style", "script", "table", "sup", "figure", "noscript"}
_BLOCKS = {"p", "li", "dd", "dt", "div", "blockquote", "pre", "ul", "ol", "br"}
_HEADINGS = {f"h{level}": "=" * level for level in range(1, 7)}


def plain_text(html: str) -> str:
    r"""Take the text out of HTML: paragraphs on lines of their own, headings as `== Name ==`.

    Args:
        html: What `action=parse` gives.

    Returns:
        Text like that of the TextExtracts extension.

    Example:
        >>> plain_text("<p>Ayako <b>paints</b>.</p><h2>Life</h2><p>She lives in Nagano.</p>")
        'Ayako paints.\n== Life ==\nShe lives in Nagano.'
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    return re.sub(r"\n+", "\n", "\n".join(line for line in lines if line))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        if tag in _SKIPPED:
            self._skipped.append(tag)
        elif tag in _HEADINGS:
            self.parts.append(f"\n{_HEADINGS[tag]} ")
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            if tag in self._skipped:
                del self._skipped[self._skipped.index(tag) :]
        elif tag in _HEADINGS:
            self.parts.append(f" {_HEADINGS[tag]}\n")
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.parts.append(data.replace("\n", " "))
