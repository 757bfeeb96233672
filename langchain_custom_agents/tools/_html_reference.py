"""The text of a reference written in HTML: headings, paragraphs, rows of tables and code."""

from html.parser import HTMLParser

__all__ = ("reference_text",)

_SKIPPED = {"script", "style", "noscript", "nav", "header", "footer", "svg", "template", "button"}
_BLOCKS = {"p", "div", "section", "article", "ul", "ol", "dl", "dd", "table", "blockquote", "br"}
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}


def reference_text(html: str) -> str:
    r"""Take the text out of HTML as Markdown, keeping headings, tables and code.

    Unlike an article's extractor it throws nothing away but navigation: what a manual says in a
    table or in an example is what one looks for in it.

    Args:
        html: The page.

    Returns:
        Its text.

    Example:
        >>> reference_text("<h2>Dates</h2><p>Use <code>now()</code>.</p><pre>due < now()</pre>")
        '## Dates\n\nUse `now()`.\n\n```\ndue < now()\n```'
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    blocks = "".join(reader.parts).split("\0")
    return "\n\n".join(filter(None, map(_tidied, blocks)))


def _tidied(block: str) -> str:
    if block.startswith("```"):
        return block
    return " ".join(block.split()).removesuffix(" |")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._skipped: list[str] = []
        self._in_code = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        if tag in _SKIPPED:
            self._skipped.append(tag)
        elif tag == "pre":
            self._in_code = True
            self.parts.append("\0```\n")
        elif tag in _HEADINGS:
            self.parts.append(f"\0{_HEADINGS[tag]} ")
        elif tag in {"li", "dt"}:
            self.parts.append("\0- ")
        elif tag in _BLOCKS or tag == "tr":
            self.parts.append("\n" if self._in_code else "\0")
        elif tag == "code" and not self._in_code:
            self.parts.append("`")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            if tag in self._skipped:
                del self._skipped[self._skipped.index(tag) :]
        elif tag == "pre":
            self._in_code = False
            self.parts.append("\n```\0")
        elif tag in {"td", "th"}:
            self.parts.append(" | ")
        elif tag in _HEADINGS or (tag in _BLOCKS and not self._in_code):
            self.parts.append("\0")
        elif tag == "code" and not self._in_code:
            self.parts.append("`")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.parts.append(data.strip("\n") if self._in_code else data)
