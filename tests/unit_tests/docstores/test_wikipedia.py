"""What WikipediaDocstore refuses before it asks any wiki."""

import pytest

from langchain_custom_agents import WikipediaDocstore
from langchain_custom_agents.docstores._formulas import joined_formulas
from langchain_custom_agents.docstores._html import plain_text
from langchain_custom_agents.docstores._mediawiki import _retry_after

LOCAL = "http://127.0.0.1:9/api.php"


@pytest.mark.parametrize("agent", [None, "", "MyBot/1.0", "python-requests/2.32"])
def test_an_anonymous_reader_of_wikipedia_is_refused(agent):
    """Wikimedia's policy asks for a contact; without one nothing is sent."""
    with pytest.raises(ValueError, match=r"ja\.wikipedia\.org requires to know whom to contact"):
        WikipediaDocstore("ja", user_agent=agent)


@pytest.mark.parametrize("host", ["commons.wikimedia.org", "www.wikidata.org", "fr.wiktionary.org"])
def test_every_wikimedia_site_wants_a_contact(host):
    """The rule holds for Wikipedia's sisters too."""
    with pytest.raises(ValueError, match="user_agent"):
        WikipediaDocstore(api_url=f"https://{host}/w/api.php")


@pytest.mark.parametrize(
    "agent", ["me@example.org", "https://example.org/bot", "MyBot/1.0 (me@example.org)"]
)
def test_a_contact_is_enough(agent):
    """An e-mail address or a web page makes the reader known."""
    store = WikipediaDocstore(user_agent=agent)

    assert repr(store) == "WikipediaDocstore('https://en.wikipedia.org/w/api.php')"


def test_a_wiki_of_ones_own_needs_no_contact():
    """Other wikis have other rules."""
    assert "127.0.0.1" in repr(WikipediaDocstore(api_url=LOCAL))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"language": "../evil"}, "`language`"),
        ({"language": "EN"}, "`language`"),
        ({"language": None}, "`language`"),
        ({"api_url": "ftp://x/api.php"}, "`api_url`"),
        ({"api_url": 5}, "`api_url`"),
        ({"api_url": "wiki"}, "`api_url`"),
        ({"api_url": "http://me:secret@127.0.0.1/api.php"}, "credentials go into `headers`"),
        ({"timeout": 0}, "`timeout`"),
        ({"timeout": float("inf")}, "`timeout`"),
        ({"retries": -1}, "`retries`"),
        ({"retries": 1.5}, "`retries`"),
        ({"cache_age": -1}, "`cache_age`"),
        ({"max_concurrency": 0}, "`max_concurrency`"),
        ({"user_agent": "a@b.c\r\nX: y"}, "one line"),
        ({"headers": {"X": "a\nb"}}, "one line"),
        ({"headers": {"X": 5}}, "one line"),
        ({"headers": "X: 5"}, "`headers`"),
        ({"cache": None}, "`cache`"),
        ({"cache": "/dev/null/cache.db"}, "`cache`"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, words):
    """A mistake names the argument and what it may be."""
    with pytest.raises((TypeError, ValueError), match=words):
        WikipediaDocstore(**({} if "language" in arguments else {"api_url": LOCAL}) | arguments)


def test_a_refused_secret_is_not_repeated():
    """A header that cannot be sent is refused without its value."""
    with pytest.raises(ValueError, match="X-Key") as refused:
        WikipediaDocstore(api_url=LOCAL, headers={"X-Key": "s3cret\n"})

    assert "s3cret" not in str(refused.value)


def test_construction_opens_nothing(tmp_path):
    """A docstore asks for nothing until the first search; only a cache file is tried."""
    WikipediaDocstore(api_url=LOCAL, cache=tmp_path / "deep" / "cache.db").close()

    assert (tmp_path / "deep" / "cache.db").exists()


@pytest.mark.parametrize("term", ["", "   ", "#Section"])
def test_an_empty_title_asks_no_wiki(term):
    """An empty search is answered without a request (the wiki here would refuse one)."""
    assert WikipediaDocstore(api_url=LOCAL).search(term) == "Search needs the title of a page."


def test_an_over_long_title_asks_no_wiki():
    """A title beyond MediaWiki's limit is answered without a request."""
    assert "too long for a title" in WikipediaDocstore(api_url=LOCAL).search("名" * 86)


def test_rendered_html_becomes_text():
    """Headings, paragraphs and list items stay; styles, tables and footnote marks go."""
    html = (
        "<style>x</style><p>Ayako <b>paints</b>\nmountains.<sup>[1]</sup></p>"
        "<h2>Life &amp; work</h2>"
        "<table><tr><td>box</td></tr></table><ul><li>One</li><li>Two<br>lines</li></ul></div>"
    )

    assert plain_text(html) == ("Ayako paints mountains.\n== Life & work ==\nOne\nTwo\nlines")


def test_half_a_character_asks_as_text():
    """A title with half a pair of UTF-16 is a title, as from a stream that broke off."""
    assert "too long for a title" in WikipediaDocstore(api_url=LOCAL).search("\ud83d" * 256)


@pytest.mark.parametrize(
    ("term", "said"),
    [
        ("[[Bill Clinton]]", 'Could not find "[[Bill Clinton]]". Similar pages: Bill Clinton.'),
        ("Bill Clinton", 'Could not find "Bill Clinton". No similar title was found; try another'),
    ],
)
def test_what_brackets_hold_is_offered(term, said):
    """The page in [[...]] was not asked for, so it is offered; one that was asked for is not."""

    class Stale(WikipediaDocstore):
        """A wiki whose index knows a page that is not there."""

        async def _ask(self, question):
            hits = [{"title": "Bill Clinton"}] if "list" in question else []
            return {"query": {"search": hits, "pages": []}}

    assert Stale(api_url=LOCAL).search(term).startswith(said)


class Told(WikipediaDocstore):
    """A wiki that answers with what it is told, and remembers what it was asked."""

    def __init__(self, *pages, **query):
        super().__init__(api_url=LOCAL)
        self.query = {"pages": list(pages), **query}
        self.asked = []

    async def _ask(self, question):
        self.asked.append(question)
        return {"query": {} if "list" in question else self.query}


NASA = {"title": "NASA", "pageid": 1, "extract": "NASA flies.\n== History ==\nIt began in 1958."}
REDIRECTS = [{"from": "Nasa", "to": "NASA", "tofragment": "History"}]


def test_the_redirect_of_another_spelling_is_not_followed():
    """NASA was not redirected because Nasa is, and opens at its beginning."""
    metadata = Told(NASA, redirects=REDIRECTS).search("NASA").metadata

    assert "redirected_from" not in metadata
    assert "section" not in metadata


def test_a_redirect_says_where_it_came_from():
    """The redirect that was asked for is told, with the section that it leads to."""
    metadata = Told(NASA, redirects=REDIRECTS).search("Nasa").metadata

    assert (metadata["redirected_from"], metadata["section"]) == ("Nasa", "History")


@pytest.mark.parametrize("term", ["C#", "C# (programming language)"])
def test_a_sharp_in_a_name_opens_no_other_page(term):
    """C# is not the page C with a section: no title holds the sign, so the nearest are offered."""
    store = Told({"title": "C", "pageid": 1, "extract": "A letter."})

    assert store.search(term).startswith(f'Could not find "{term}"')
    assert store.asked[0]["srsearch"] == term


def test_the_signs_of_an_address_are_read():
    """A title as it stands in an address, with %20 for a space, is the title."""
    store = Told({"title": "Café Flore", "pageid": 1, "extract": "A café."})

    assert store.search("Caf%C3%A9%20Flore").metadata["title"] == "Café Flore"


def test_what_no_title_can_be_is_searched_as_text():
    """The wiki refuses to look for titles like "../x", so only its texts are searched."""
    store = Told({"title": "../x", "invalid": True})

    assert store.search("../x").startswith('Could not find "../x"')
    assert store.asked[1]["list"] == "search"
    assert "pssearch" not in store.asked[1]


def test_a_disambiguation_page_loses_no_option():
    """Options that the page shows under another name are offered after the others."""
    page = {
        "title": "Mixed",
        "pageid": 1,
        "pageprops": {"disambiguation": ""},
        "extract": "Mixed may be the planet or Tree.",
        "links": [{"title": "Mercury (planet)"}, {"title": "Tree"}],
    }

    assert "may refer to: Tree; Mercury (planet)." in Told(page).search("Mixed")


def test_rendered_powers_stay_powers():
    """Ten to the sixth is not ten, and a nested table is left out whole."""
    html = (
        "<p>10<sup>6</sup> km<sup>2</sup>, 10<sup>−3</sup>, 1<sup>er</sup>."
        '<sup class="reference"><span>[</span>1<span>]</span></sup></p>'
        "<table><tr><td><table><tr><td>in</td></tr></table>out</td></tr></table>"
        '<ol class="references"><li>A note</li></ol>'
    )

    assert plain_text(html) == "10⁶ km², 10⁻³, 1er."


def formula(typed, *signs, style="displaystyle"):
    """A formula as the TextExtracts extension gives it."""
    laid_out = "".join(f"        {sign}\n" for sign in signs)
    return f"\n  \n    \n      \n{laid_out}      \n    \n    {{\\{style} {typed}}}\n  "


@pytest.mark.parametrize(
    ("extract", "text"),
    [
        (f"All {formula('x', 'x')} of a set.", r"All {\displaystyle x} of a set."),
        (f"All {formula('x', 'x')}, or", r"All {\displaystyle x}, or"),
        (f"({formula('n')}\n-dimensional)", r"({\displaystyle n}-dimensional)"),
        (f"{formula('p', style='textstyle')}\n and", r"{\textstyle p} and"),
        (f"A {formula('a')}{formula('b', 'b')} c", r"A {\displaystyle a}{\displaystyle b} c"),
        (
            f"It is:\n{formula('E=mc^{2}', 'E', '=')}\n\nwhere E",
            "It is:|{\\displaystyle E=mc^{2}}|where E",
        ),
        (f"== Law =={formula('x')} is", "== Law ==|{\\displaystyle x} is"),
        ("A poem:\n    of one style\nEnd.", "A poem:|    of one style|End."),
        (f"A line:\n   kept{formula('x')}\n\nEnd.", "A line:|   kept|{\\displaystyle x}|End."),
    ],
)
def test_a_formula_is_one_piece_of_its_sentence(extract, text):
    """A formula is written once, as it was typed; its sentence is not cut into signs."""
    lines = joined_formulas(extract).replace("\r", "").split("\n")

    assert "|".join(line for line in lines if line.strip()) == text


@pytest.mark.parametrize("header", ["9" * 400, "²", "soon", "-1", ""])
def test_any_retry_after_is_a_wait_or_none(header):
    """What a server asks for is never more than a number of seconds."""
    wait = _retry_after(header)

    assert wait is None or 0 < wait < 10**9
