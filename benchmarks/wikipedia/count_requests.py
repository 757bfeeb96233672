"""How many HTTP requests a page costs: ours, LangChain's Wikipedia, and Wikipedia-API.

Builds Debian's MediaWiki with the pages of the integration tests, asks all three for the same
titles, counts the requests in the server's own log, and prints a Markdown table.

    pip install -e '.[testing,wikipedia]' wikipedia-api
    python -m benchmarks.wikipedia.count_requests [FOLDER OF A WIKI ALREADY BUILT]
"""

import asyncio
import re
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import wikipedia
import wikipediaapi
from langchain_community.docstore.wikipedia import Wikipedia

from langchain_custom_agents import WikipediaDocstore
from tests.integration_tests.wikipedia.mediawiki import MediaWiki, fast_folder

CASES = {
    "plain page": ["Takuma Yamada"],
    "redirect": ["Hiroko"],
    "Japanese redirect": ["賢治"],
    "disambiguation": ["Mercury"],
    "missing title": ["Hiroko Yamda"],
    "page of 1 MB": ["Long page"],
    "Clinton run": ["Bill Clinton", "Hillary Clinton"],
    "the same run again": ["Bill Clinton", "Hillary Clinton"],
}
ROUNDS = 5


def ours(api_url):
    """Our docstore, with its cache in memory."""
    store = WikipediaDocstore(api_url=api_url, timeout=60)
    return lambda title: str(store.search(title))


def stock(api_url):
    """LangChain's docstore over the `wikipedia` package."""
    for remembered in (wikipedia.search, wikipedia.suggest):
        remembered.clear_cache()
    wikipedia.wikipedia.API_URL = api_url
    store = Wikipedia()
    return lambda title: str(store.search(title))


def wikipedia_api(api_url):
    """The Wikipedia-API package: the text and the address of a page, as a docstore needs them."""

    class Local(wikipediaapi.Wikipedia):
        @staticmethod
        def _build_url(_language):
            return api_url

    def search(title):
        page = Local("benchmark (me@example.org)").page(title)
        return f"{page.text} {page.fullurl}" if page.exists() else "missing"

    return search


def main():
    """Build, ask, print."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        wiki = MediaWiki(Path(folder) / "wiki")
        if len(sys.argv) > 1:
            settings = (Path(sys.argv[1]) / "conf/LocalSettings.php").read_text(encoding="utf-8")
            port = re.search(r"127\.0\.0\.1:(\d+)", settings)[1]
            wiki = MediaWiki(Path(sys.argv[1]))
            wiki.port, wiki.api_url = int(port), f"http://127.0.0.1:{port}/api.php"
        else:
            wiki.build()
        wiki.start(workers=4)
        try:
            table(wiki)
            many(wiki)
        finally:
            wiki.stop()


def table(wiki):
    """Ask every client for every case."""
    print("| | ours | LangChain's Wikipedia | Wikipedia-API |\n|---|---|---|---|")
    cells = {name: [] for name in CASES}
    for make in (ours, stock, wikipedia_api):
        costs = {name: [] for name in CASES}
        for _ in range(ROUNDS):
            search = make(wiki.api_url)
            for name, titles in CASES.items():
                before, start = wiki.requests(), time.perf_counter()
                for title in titles:
                    search(title)
                spent = time.perf_counter() - start
                costs[name].append((wiki.requests() - before, spent))
        for name, rounds in costs.items():
            requests = statistics.median(count for count, _ in rounds)
            seconds = statistics.median(spent for _, spent in rounds)
            cells[name].append(f"{requests:.0f} requests, {1000 * seconds:.0f} ms")
    for name, row in cells.items():
        print(f"| {name} | {' | '.join(row)} |")


def many(wiki):
    """Ask for 100 pages at once."""
    titles = [f"Village {number}" for number in range(100)]
    store = WikipediaDocstore(api_url=wiki.api_url, timeout=120, cache=False)

    async def tasks():
        await asyncio.gather(*map(store.asearch, titles))

    start = time.perf_counter()
    asyncio.run(tasks())
    print(f"\n100 pages at once: {time.perf_counter() - start:.1f} s over at most 8 connections")
    search = stock(wiki.api_url)
    start = time.perf_counter()
    for title in titles:
        search(title)
    print(f"LangChain's Wikipedia, which has no async: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
