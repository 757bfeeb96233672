"""A wiki that misbehaves: every fault ends in a helpful observation, and the run goes on."""

import asyncio
import os
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.documents import Document

from langchain_custom_agents import AgentExecutor, ReActAgent, WikipediaDocstore, docstore_tools
from langchain_custom_agents.dialects import Bracketed
from langchain_custom_agents.testing import ScriptedLLM

pytestmark = pytest.mark.integration

# Fault: the words of the sentence, and how many requests it costs with one retry.
FAULTS = {
    "forbidden": ("refuses to answer (403). Give a `user_agent` with a contact", 1),
    "limited": ("too many requests from here (429). It asks to wait 600 seconds", 1),
    "unavailable": ("has trouble of its own (503)", 2),
    "lagging": ("is too busy (maxlag). It asks to wait 300 seconds", 1),
    "private": ("is a private wiki; give the `headers`", 1),
    "silent": ("did not answer within 2 seconds", 1),
    "slow_headers": ("did not answer within 2 seconds", 1),
    "slow_body": ("did not answer within 2 seconds", 1),
    "truncated": ("broke off in the middle", 2),
    "hung_up": ("could not be reached (RemoteProtocolError)", 2),
    "html": ("did not answer with JSON; check that `api_url`", 1),
    "number": ("did not answer with JSON", 1),
    "other_api": ("does not answer as a MediaWiki does; check that `api_url`", 1),
    "odd_pages": ("does not answer as a MediaWiki does", 1),
    "deep": ("broke off in the middle", 2),
    "bad_gzip": ("could not be reached (DecodingError)", 2),
    "odd_redirect": ("could not be reached (RemoteProtocolError)", 2),
    "circle": ("sends requests around in circles", 6),
    "huge": ("is larger than 16 MB", 1),
    "missing_api": ("has no API at this address (404)", 1),
}
ENDLESS = {"silent", "slow_headers", "slow_body"}  # given up after 2 seconds, however busy we are


def docstore(wiki, fault="none", **options):
    """A docstore on the bad wiki."""
    timeout = 2 if fault in ENDLESS else 60
    return WikipediaDocstore(
        api_url=wiki.api_url(fault), **{"timeout": timeout, "retries": 1, "cache": True, **options}
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_ends_in_a_sentence_that_says_what_to_do(bad_wiki, fault):
    """The search returns, with a sentence, after the requests that make sense and no more."""
    words, requests = FAULTS[fault]
    with docstore(bad_wiki, fault) as store:
        found = store.search("Tree")

    assert isinstance(found, str)
    assert words in found
    assert bad_wiki.faults[fault] <= requests
    assert bad_wiki.faults[fault] == requests or fault in ENDLESS


@pytest.mark.parametrize("fault", FAULTS)
async def test_every_fault_ends_so_asynchronously(bad_wiki, fault):
    """The async search gives the same sentence, and the event loop stays free meanwhile."""
    with docstore(bad_wiki, fault) as store:
        found = asyncio.create_task(store.asearch("Tree"))
        turns = 0
        while not found.done():
            await asyncio.sleep(0.001)
            turns += 1

    assert FAULTS[fault][0] in await found
    assert turns > 1


@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_goes_on_after_a_fault(bad_wiki, fault):
    """The agent sees the sentence as an observation, and answers."""
    with docstore(bad_wiki, fault) as store:
        tools = docstore_tools(store)
        model = ScriptedLLM(
            [
                "Thought: Search.\nAction: Search[Tree]",
                "Thought: Look.\nAction: Lookup[trunk]",
                "Thought: Enough.\nAction: Finish[unknown]",
            ]
        )
        agent = ReActAgent.from_llm_and_tools(model, tools, dialect=Bracketed())
        executor = AgentExecutor(agent=agent, tools=tools, return_intermediate_steps=True)
        result = executor.invoke({"input": "What is a tree?"})

    assert result["output"] == "unknown"
    assert FAULTS[fault][0] in result["intermediate_steps"][0][1]
    assert result["intermediate_steps"][1][1].startswith("No page is open.")


@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_gets_into_the_cache(bad_wiki, fault, tmp_path):
    """What went wrong is asked again the next time, never remembered."""
    with docstore(bad_wiki, fault, cache=tmp_path / "cache.db", retries=0) as store:
        for _ in range(20):  # a machine that stands still may give up before it has asked
            store.search("Tree")
            if bad_wiki.faults[fault] >= 2:
                break
    with sqlite3.connect(tmp_path / "cache.db") as database:
        kept = database.execute("SELECT count(*) FROM entries").fetchone()

    assert bad_wiki.faults[fault] >= 2
    assert kept == (0,)


@pytest.mark.parametrize("fault", ["limited_once", "unavailable_once", "moved", "moved_endlessly"])
def test_what_passes_is_waited_for(bad_wiki, fault):
    """A wiki that is busy once, or has moved, is asked again and gives its page."""
    with docstore(bad_wiki, fault) as store:
        found = store.search("Tree")

    assert isinstance(found, Document)
    assert found.page_content == "The text of Tree."


def test_a_wiki_that_is_not_there_is_a_sentence():
    """A refused connection names the host and the setting."""
    store = WikipediaDocstore(api_url="http://127.0.0.1:9/api.php", retries=0)

    assert store.search("Tree") == (
        "127.0.0.1 could not be reached (ConnectError). "
        "Check the network and `api_url`, or answer from what is known."
    )


def test_only_part_of_a_huge_answer_is_read(bad_wiki):
    """A body of 50 MB is not read to its end."""
    with docstore(bad_wiki, "huge") as store:
        store.search("Tree")

    assert bad_wiki.bytes_sent < 40_000_000


def test_secrets_go_to_the_wiki_and_nowhere_else(bad_wiki, tmp_path, caplog):
    """Auth headers reach the wiki, but no redirect's host, cache, log, repr or sentence."""
    caplog.set_level("DEBUG")
    cache = tmp_path / "cache.db"
    headers = {"Authorization": "Bearer s3cret", "X-Api-Key": "s3cret"}
    with docstore(bad_wiki, headers=headers, cache=cache) as store:
        tools = docstore_tools(store)
        store.search("Tree")
        told = [repr(store), *map(repr, tools), str(vars(tools[0]).get("metadata"))]
    assert bad_wiki.headers[-1]["authorization"] == "Bearer s3cret"

    with docstore(bad_wiki, "elsewhere", headers=headers) as store:
        assert isinstance(store.search("Tree"), Document)
    assert bad_wiki.headers[-2]["x-api-key"] == "s3cret"
    assert not {"authorization", "x-api-key"} & set(bad_wiki.headers[-1])

    for fault in FAULTS:
        with docstore(bad_wiki, fault, headers=headers, retries=0, timeout=0.5) as store:
            told.append(str(store.search("Tree")))
    assert "s3cret" not in " ".join(told) + caplog.text
    for file in tmp_path.iterdir():
        assert b"s3cret" not in file.read_bytes()


def test_readers_with_other_secrets_share_no_cache(bad_wiki, tmp_path):
    """A page of a private wiki is not given from the cache to who may not read it."""
    for key in ("one", "two", "one"):
        headers = {"Authorization": key}
        with docstore(bad_wiki, headers=headers, cache=tmp_path / "cache.db") as store:
            store.search("Tree")

    assert bad_wiki.titles["Tree"] == 2


def test_the_user_agent_names_the_caller_and_us(bad_wiki):
    """The User-Agent has the form that Wikimedia asks for."""
    for agent, sent in {
        "me@example.org": r"langchain-custom-agents/\S+ \(me@example.org\)",
        "MyBot/1.0 (me@example.org)": r"MyBot/1.0 \(me@example.org\) langchain-custom-agents/\S+",
        None: r"langchain-custom-agents/\S+",
    }.items():
        with docstore(bad_wiki, user_agent=agent) as store:
            store.search("Tree")
        assert re.fullmatch(sent, bad_wiki.headers[-1]["user-agent"])


# -- many at once ---------------------------------------------------------------------------------


def test_a_hundred_tasks_and_thirty_two_threads_on_one_docstore(bad_wiki):
    """Everyone gets the right page, over few connections, and each page is fetched once."""
    titles = [f"Page {n % 20}" for n in range(100)]
    with docstore(bad_wiki, max_concurrency=5) as store:

        async def tasks():
            return await asyncio.gather(*map(store.asearch, titles))

        with ThreadPoolExecutor(33) as threads:
            in_tasks = threads.submit(asyncio.run, tasks())
            in_threads = list(threads.map(store.search, titles[:32] * 3))
            found = [*in_tasks.result(), *in_threads]

    assert [page.metadata["title"] for page in found] == titles + titles[:32] * 3
    assert bad_wiki.most_open <= 5
    assert set(bad_wiki.titles.values()) == {1}


def test_without_a_cache_pages_are_fetched_again(bad_wiki):
    """With the cache off every later search asks the wiki."""
    with docstore(bad_wiki, cache=False) as store:
        store.search("Tree")
        store.search("Tree")

    assert bad_wiki.titles["Tree"] == 2


def test_a_cache_file_outlives_the_docstore_until_its_age(bad_wiki, tmp_path):
    """Another docstore reads from the file; after the age the wiki is asked again."""
    for _ in range(2):
        with docstore(bad_wiki, cache=tmp_path / "cache.db") as store:
            store.search("Tree")
    assert bad_wiki.titles["Tree"] == 1

    with docstore(bad_wiki, cache=tmp_path / "old.db", cache_age=0.001) as store:
        store.search("Tree")
        store.search("Tree")
    assert bad_wiki.titles["Tree"] == 3


def test_a_cache_file_of_another_program_is_left_alone(bad_wiki, tmp_path):
    """A database that is not a cache of ours is named, and not changed."""
    with sqlite3.connect(tmp_path / "mine.db") as database:
        database.execute("CREATE TABLE entries (mine)")
        database.execute("INSERT INTO entries VALUES ('precious')")
    database.close()

    with docstore(bad_wiki, cache=tmp_path / "mine.db") as store:
        found = store.search("Tree")

    assert found.startswith("The cache cannot be used (")
    with sqlite3.connect(tmp_path / "mine.db") as database:
        assert database.execute("SELECT * FROM entries").fetchall() == [("precious",)]


def test_a_forked_process_asks_for_itself(bad_wiki):
    """After a fork, as web servers do it, both processes read on."""
    store = docstore(bad_wiki, cache=False)
    store.search("Tree")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(store.search("Three")).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as answer:
        assert b"The text of Three." in answer.read()

    assert isinstance(store.search("Tree"), Document)
    store.close()


def test_two_wikis_share_a_cache_file_but_no_page(bad_wiki, tmp_path):
    """The site is part of the cache's key."""
    for fault in ("none", "moved"):
        with docstore(bad_wiki, fault, cache=tmp_path / "cache.db") as store:
            store.search("Tree")

    assert bad_wiki.titles["Tree"] == 2


async def test_who_gives_up_does_not_take_the_page_from_others(bad_wiki):
    """A cancelled search leaves the request to those who wait for the same page."""
    with docstore(bad_wiki, "held") as store:
        first = asyncio.create_task(store.asearch("Tree"))
        second = asyncio.create_task(store.asearch("Tree"))
        await asyncio.to_thread(bad_wiki.holding.wait)
        first.cancel()
        await asyncio.wait([first])
        bad_wiki.release()
        found = await second

    assert found.page_content == "The text of Tree."
    assert first.cancelled()
    assert bad_wiki.titles["Tree"] == 1


def test_closing_leaves_no_connection(bad_wiki):
    """After close the wiki sees no open connection, and a later search opens a new one."""
    store = docstore(bad_wiki, cache=False)
    store.search("Tree")
    store.close()
    for _ in range(1000):
        if not bad_wiki.open:
            break
        asyncio.run(asyncio.sleep(0.01))

    assert bad_wiki.open == 0
    assert isinstance(store.search("Tree"), Document)
    store.close()


def test_a_docstore_serves_one_event_loop_after_another(bad_wiki):
    """asyncio.run after asyncio.run works, as it does in scripts and notebooks."""
    with docstore(bad_wiki, cache=False) as store:
        for _ in range(3):
            assert asyncio.run(store.asearch("Tree")).page_content == "The text of Tree."
