"""A run that was killed goes on in a new process, and repeats no more than the page says."""

from dataclasses import replace

import pytest

from tests.integration_tests.durable.conftest import bookings, notes, run, run_until_killed
from tests.integration_tests.durable.trip import BOOK, BOOKED, READ, Trip, saver

pytestmark = pytest.mark.integration

FERRY = ["ferry begins", "ferry booked"]
ROOM = ["room begins", "room booked"]
ASKED = "model asked for a room"


def done(folder):
    """What was done, in order, by all processes."""
    return [what for _, what in notes(folder)]


def killed_in_the_second_tool(store, folder, thread, *, strict=True, asynchronous=False):
    """Kill a run while its second tool runs, resume it, and check what became of it."""
    trip = Trip(store, folder, thread, BOOK, hold="room begins", asynchronous=asynchronous)
    run_until_killed(trip, strict=strict)
    assert done(folder) == [*FERRY, ASKED, "room begins"]

    messages = run(replace(trip, question=None, hold=""), strict=strict)

    assert messages[-1] == ("ai", BOOKED)
    assert [kind for kind, _ in messages] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert done(folder) == [*FERRY, ASKED, "room begins", *ROOM]
    assert bookings(folder) == [f"{thread}-F-7", f"{thread}-R-3"]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_killed_in_the_second_tool(store, folder, asynchronous):
    """What is finished stays finished; the interrupted tool runs again; the answer is right."""
    killed_in_the_second_tool(store, folder, f"second{asynchronous}", asynchronous=asynchronous)


def test_killed_without_strict_serialisation(tmp_path, folder):
    """LangGraph's permissive serialisation, its default, resumes in the same way."""
    killed_in_the_second_tool(f"sqlite:{tmp_path / 'c.db'}", folder, "permissive", strict=False)


def test_killed_between_effect_and_result(store, folder):
    """A tool whose effect is there but whose result is not runs again, with the same call id."""
    trip = Trip(store, folder, "effect", BOOK, hold="room booked")
    run_until_killed(trip)

    assert run(replace(trip, question=None, hold=""))[-1] == ("ai", BOOKED)
    assert done(folder) == [*FERRY, ASKED, *ROOM, *ROOM]
    assert bookings(folder) == ["effect-F-7", "effect-R-3"]


def test_killed_twice(store, folder):
    """Killed in the model, it is asked again; a resumed run may be killed like any other."""
    trip = Trip(store, folder, "twice", BOOK, hold=ASKED)
    run_until_killed(trip)
    run_until_killed(replace(trip, question=None, hold="room begins"))

    assert run(replace(trip, question=None, hold=""))[-1] == ("ai", BOOKED)
    assert done(folder) == [*FERRY, ASKED, ASKED, "room begins", *ROOM]


def test_killed_between_parallel_tools(store, folder):
    """Of two calls made at once, the one whose result was stored is not made again."""
    trip = Trip(store, folder, "parallel", BOOK, hold="room begins", parallel=True)

    def ferry_is_stored():
        with saver(store) as opened:
            pending = opened.get_tuple(trip.config).pending_writes
        return any(channel == "messages" for _, channel, _ in pending)

    run_until_killed(trip, when=ferry_is_stored)

    assert run(replace(trip, question=None, hold=""))[-1] == ("ai", BOOKED)
    assert sorted(done(folder)) == sorted([*FERRY, "room begins", *ROOM])


@pytest.mark.parametrize("durability", ["sync", "exit"])
def test_a_finished_run_is_not_run_again(tmp_path, folder, durability):
    """Resuming what is finished gives its messages, and calls neither model nor tool."""
    store = f"sqlite:{tmp_path / 'checkpoints.db'}"
    trip = Trip(store, folder, "finished", BOOK, durability=durability)
    messages = run(trip)

    assert run(replace(trip, question=None)) == messages
    assert done(folder) == [*FERRY, ASKED, *ROOM]


def test_exit_loses_the_run(store, folder):
    """With durability "exit" a killed run has left nothing: begun anew, it repeats every tool."""
    trip = Trip(store, folder, "exit", BOOK, hold="room begins", durability="exit")
    run_until_killed(trip)
    with saver(store) as opened:
        assert opened.get_tuple(trip.config) is None

    assert run(replace(trip, hold=""))[-1] == ("ai", BOOKED)
    assert done(folder).count("ferry booked") == 2
    # The same conversation gives the same call ids, so that even here nothing is booked twice.
    assert bookings(folder) == ["exit-F-7", "exit-R-3"]


def test_the_open_page_is_not_carried_over(tmp_path, folder):
    """What Lookup reads was open in the killed process: the model is told, and searches."""
    store = f"sqlite:{tmp_path / 'checkpoints.db'}"
    trip = Trip(store, folder, "page", READ, hold="model asked after 1 searches")
    run_until_killed(trip)

    messages = run(replace(trip, question=None, hold=""))

    assert [text for kind, text in messages if kind == "tool"] == [
        "Hiroko lives on Innoshima. She sells boats.",
        "No page is open. Search for a page first, then Lookup a word in it.",
        "Hiroko lives on Innoshima. She sells boats.",
        "(Result 1/1) In the evening she plays the koto.",
    ]
    assert messages[-1] == ("ai", "The koto.")
