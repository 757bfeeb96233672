"""Several workers share one PostgreSQL, and finish every run once, whoever of them is killed."""

from pathlib import Path

import psycopg
import pytest

from tests.integration_tests.durable.conftest import begin, bookings, end, kill, notes, wait_until
from tests.integration_tests.durable.trip import BOOK, BOOKED
from tests.integration_tests.durable.worker import blocks

pytestmark = pytest.mark.integration

RUNS = 24


@pytest.fixture
def table(postgres):
    """The table of runs as the page makes it, with runs in it; its address."""
    (create,) = blocks("sql")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS runs")
        connection.execute(create)
        for number in range(RUNS):
            connection.execute(
                "INSERT INTO runs (thread_id, question) VALUES (%s, %s)", (f"w{number:02}", BOOK)
            )
    return postgres


def rows(address):
    """Return every run's thread, answer and failure."""
    with psycopg.connect(address) as connection:
        return connection.execute(
            "SELECT thread_id, answer, failure FROM runs ORDER BY thread_id"
        ).fetchall()


def test_workers_finish_every_run_once(table, folder):
    """Two of four workers are killed in a tool: the others finish their runs, booking once."""
    doomed = [begin("worker", table, folder, "room begins") for _ in range(2)]
    for process in doomed:
        wait_until((Path(folder) / f"held-{process.pid}").exists, process)
    workers = [begin("worker", table, folder) for _ in range(2)]
    wait_until(lambda: sum(answer is not None for _, answer, _ in rows(table)) >= 2)
    for process in doomed:
        kill(process)
    for process in workers:
        end(process)
    while any(answer is failure is None for _, answer, failure in rows(table)):
        end(begin("worker", table, folder))

    threads = [f"w{number:02}" for number in range(RUNS)]
    assert rows(table) == [(thread, BOOKED, None) for thread in threads]
    assert bookings(folder) == sorted(f"{t}-{what}" for t in threads for what in ("F-7", "R-3"))
    ferries = [thread for thread, what in notes(folder) if what == "ferry begins"]
    rooms = [thread for thread, what in notes(folder) if what == "room begins"]
    assert sorted(ferries) == threads
    # The two runs that were killed in this tool have begun it twice.
    assert len(rooms) == RUNS + 2
    assert sorted(set(rooms)) == threads


def test_a_run_that_fails_does_not_stop_the_worker(table, folder):
    """What a run raises is kept with it, and the worker takes the next run."""
    with psycopg.connect(table, autocommit=True) as connection:
        connection.execute("DELETE FROM runs WHERE thread_id > 'w02'")
        connection.execute("UPDATE runs SET question = 'Sink the ferry.' WHERE thread_id = 'w01'")
        connection.execute("UPDATE runs SET thread_id = 'failing-' || thread_id")
    end(begin("worker", table, folder))

    assert [answer for _, answer, _ in rows(table)] == [BOOKED, None, BOOKED]
    assert [failure for _, _, failure in rows(table)] == [None, "RuntimeError: No.", None]
