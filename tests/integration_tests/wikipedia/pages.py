"""The pages of the test wiki, written for these tests."""

from collections.abc import Iterator
from xml.sax.saxutils import escape

FILLERS = 2_000

PAGES = {
    "Hiroko Yamada": """'''Hiroko Yamada''' is a ten-year-old girl from Nagano. Her father is \
[[Takuma Yamada]], and her mother is [[Ayako Yamada]].

== School ==
Hiroko goes to the school where her father works. She walks there every morning.

== Music ==
She plays the piano. Her piano stands in the kitchen. On Sundays she plays the piano for her father.
""",
    "Takuma Yamada": """'''Takuma Yamada''' (born 1984) is the father of [[Hiroko Yamada]].

He grew up in Matsumoto and moved to Nagano in 2005.

== Career ==
Takuma is a teacher. He has taught mathematics since 2008. Before that he was a baker.

== Family ==
Takuma married [[Ayako Yamada]] in 2012. They have one daughter.
""",
    "Ayako Yamada": "'''Ayako Yamada''' is a painter. She paints mountains.\n",
    "Hiroko": "#REDIRECT [[Hiroko Yamada]]\n",
    "Hiroko's father": "#REDIRECT [[Takuma Yamada]]\n",
    "Work of Takuma": "#REDIRECT [[Takuma Yamada#Career]]\n",
    "Bill Clinton": """'''William Jefferson Clinton''' (born 1946) was the 42nd president of the \
United States. He is the husband of [[Hillary Clinton]].

== Early life ==
He was born in Hope, Arkansas.
""",
    "Hillary Clinton": """'''Hillary Rodham Clinton''' (born 1947) is a politician, diplomat and \
lawyer. She is married to [[Bill Clinton]].
""",
    "Chicago": "'''Chicago''' is a city on Lake Michigan. It is the third city of its country.\n",
    "Great Chicago Fire": "The '''Great Chicago Fire''' burned in the city of Chicago in 1871.\n",
    "1871 Chicago fire": "#REDIRECT [[Great Chicago Fire]]\n",
    "Tree": "A '''tree''' is a tall plant with a trunk of wood.\n",
    "Three": "'''Three''' is the number after two.\n",
    "Mercury": """'''Mercury''' may refer to:

* [[Mercury (planet)]], the planet nearest to the Sun
* [[Mercury (element)]], a metal that is liquid
* [[Freddie Mercury]], a singer

__DISAMBIG__
""",
    "Mercury (planet)": "'''Mercury''' is the planet nearest to the Sun.\n",
    "Mercury (element)": "'''Mercury''' is a metal that is liquid at room temperature.\n",
    "Freddie Mercury": "'''Freddie Mercury''' was a singer.\n",
    "宮沢賢治": """'''宮沢賢治'''は日本の詩人である。岩手県に生まれた。「雨ニモマケズ」を書いた。

== 生涯 ==
賢治は農学校の教師だった。教師をやめて農業をした。1933年に亡くなった。
""",
    "賢治": "#REDIRECT [[宮沢賢治]]\n",
    "Café de Flore": "The '''Café de Flore''' is a café in Paris. Writers met there.\n",
    "Ångström": "The '''ångström''' is a unit of length.\n",
    "C++": "'''C++''' is a programming language. It was designed by Bjarne Stroustrup.\n",
    "AC/DC": "'''AC/DC''' is a band from Sydney.\n",
    "Empty page": "<!-- nothing to read here -->\n",
    "Circle one": "#REDIRECT [[Circle two]]\n",
    "Circle two": "#REDIRECT [[Circle one]]\n",
}

LONG_TITLE = "Long page"
NEEDLE = "The golden needle lies in the haystack."


def long_page() -> str:
    """Write a page of about one megabyte with one sentence that Lookup must find."""
    line = "This is sentence number {} of a page that is far too long to be read as a whole."
    parts = ["A '''long page''' that tests how much text a reader can bear."]
    for chapter in range(120):
        parts.append(f"== Chapter {chapter} ==")
        sentences = [line.format(chapter * 100 + number) for number in range(100)]
        if chapter == 97:
            sentences.insert(50, NEEDLE)
        parts.extend(" ".join(sentences[start : start + 10]) for start in range(0, 101, 10))
    return "\n\n".join(parts)


def dump() -> Iterator[str]:
    """Write the pages as MediaWiki export XML."""
    yield (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">'
        "<siteinfo><sitename>Test</sitename><namespaces>"
        '<namespace key="0" case="first-letter" /></namespaces></siteinfo>\n'
    )
    pages = dict(PAGES)
    pages[LONG_TITLE] = long_page()
    for number in range(FILLERS):
        pages[f"Village {number}"] = f"'''Village {number}''' is a village with {number} houses.\n"
    for number, (title, text) in enumerate(pages.items(), 1):
        yield (
            f"<page><title>{escape(title)}</title><ns>0</ns><id>{number}</id><revision>"
            f"<id>{number}</id><timestamp>2024-01-01T00:00:00Z</timestamp>"
            "<contributor><username>Tester</username></contributor><model>wikitext</model>"
            f'<format>text/x-wiki</format><text xml:space="preserve">{escape(text)}</text>'
            "</revision></page>\n"
        )
    yield "</mediawiki>\n"
