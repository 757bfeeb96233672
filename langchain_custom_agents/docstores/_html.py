"""The readable text of a page that a wiki renders as HTML."""

import re
from html.parser import HTMLParser

__all__ = ("plain_text",)

_SKIPPED = {"style", "script", "table", "figure", "noscript"}
_SKIPPED_CLASSES = {"reference", "references", "mw-editsection", "noprint"}
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_POWER = re.compile("[-+−]?[0-9]+")
_FOOTNOTE = re.compile(r"\s*\[[^\]]*\]\s*")
_EMPTY = {"br", "hr", "img", "input", "link", "meta", "wbr"}  # tags that nothing closes
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
        self._raised = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = (dict(attrs).get("class") or "").split()
        again = self._skipped[-1:] == [tag]
        if tag in _SKIPPED or again or (tag not in _EMPTY and _SKIPPED_CLASSES & {*classes}):
            self._skipped.append(tag)
        elif self._skipped:
            return
        elif tag == "sup":
            self._raised += 1
        elif tag in _HEADINGS:
            self.parts.append(f"\n{_HEADINGS[tag]} ")
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._skipped:
            del self._skipped[len(self._skipped) - 1 - self._skipped[::-1].index(tag) :]
        elif self._skipped:
            return
        elif tag == "sup":
            self._raised = max(0, self._raised - 1)
        elif tag in _HEADINGS:
            self.parts.append(f" {_HEADINGS[tag]}\n")
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._raised and _FOOTNOTE.fullmatch(data):
            return
        if not self._skipped:
            # Without it ten to the sixth would be 106.
            power = self._raised and _POWER.fullmatch(data.strip())
            self.parts.append(data.strip().translate(_RAISED) if power else data.replace("\n", " "))
