"""mountebank: a server that answers as it is told, and remembers what it was asked."""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_STARTS_WITHIN = 60.0


def free_port() -> int:
    """Return a port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _send(method: str, url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read() or b"null")


def _kind_of(body: Any) -> str:
    return "text/event-stream" if isinstance(body, str) else "application/json"


class Mountebank:
    """A running mountebank.

    Args:
        url: Where it takes orders.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.port = 0

    def serve(self, *bodies: Any) -> str:
        """Answer the next requests with these bodies, in order; return the address to ask.

        Args:
            *bodies: The bodies. Data is sent as JSON, text as a stream of events.
        """
        self.forget()
        self.port = free_port()
        replies = [
            {"is": {"headers": {"Content-Type": _kind_of(body)}, "body": body}} for body in bodies
        ]
        imposter = {
            "protocol": "http",
            "host": "127.0.0.1",
            "port": self.port,
            "recordRequests": True,
            "stubs": [{"responses": replies}],
        }
        _send("POST", f"{self.url}/imposters", imposter)
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def heard(self) -> Sequence[dict[str, Any]]:
        """The bodies of the requests so far."""
        imposter = _send("GET", f"{self.url}/imposters/{self.port}")
        return [json.loads(request["body"]) for request in imposter["requests"]]

    def forget(self) -> None:
        """Serve nothing any more."""
        if self.port:
            _send("DELETE", f"{self.url}/imposters/{self.port}")
            self.port = 0


@contextmanager
def running(folder: Path) -> Iterator[Mountebank]:
    """Run a mountebank in a folder.

    Raises:
        RuntimeError: If it does not start.
    """
    port = free_port()
    command = ["mb", "start", "--host", "127.0.0.1", "--port", str(port), "--nologfile"]
    log = folder / "mountebank.log"
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT)
    server = Mountebank(f"http://127.0.0.1:{port}")
    try:
        ends = time.monotonic() + _STARTS_WITHIN
        while True:
            try:
                _send("GET", f"{server.url}/imposters")
                break
            except urllib.error.URLError as error:
                if process.poll() is not None or time.monotonic() > ends:
                    msg = f"mountebank did not start: {log.read_text()}"
                    raise RuntimeError(msg) from error
                time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=30)
