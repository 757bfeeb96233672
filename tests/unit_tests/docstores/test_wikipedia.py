"""What WikipediaDocstore refuses before it asks any wiki."""

import pytest

from langchain_custom_agents import WikipediaDocstore
from langchain_custom_agents.docstores._html import plain_text

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
