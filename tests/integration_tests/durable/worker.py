"""A worker as docs/durable-runs.md writes it, in a process of its own.

python -m tests.integration_tests.durable.worker ADDRESS FOLDER [HOLD]
"""

import re
import sys
from pathlib import Path

from tests.integration_tests.durable.trip import Trip

PAGE = Path(__file__).parents[3] / "docs" / "durable-runs.md"


def blocks(language):
    """Return the blocks of the page in a language."""
    fence = rf"^```{language}\n(.*?)^```"
    return re.findall(fence, PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def worker():
    """Return the function of the page."""
    (code,) = (block for block in blocks("python") if "def work(" in block)
    names = {}
    exec(compile(code, str(PAGE), "exec"), names)
    return names["work"]


def main():
    """Work until there is nothing to do."""
    address, folder, *hold = sys.argv[1:]
    trip = Trip(address, folder, hold=hold[0] if hold else "")
    worker()(address, trip.agent)


if __name__ == "__main__":
    main()
