"""Engines on loopback: a real Prometheus, and a Jira and a Sourcegraph of ours."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from tests.integration_tests.reference import jql, sourcegraph

CONFIG = """
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: self
    static_configs: [{targets: ["127.0.0.1:PORT"]}]
"""


@pytest.fixture(scope="session")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start Debian's Prometheus, which watches itself, and wait for its first samples."""
    folder = tmp_path_factory.mktemp("prometheus")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "prometheus.yml").write_text(CONFIG.replace("PORT", str(port)))
    command = [
        "prometheus", f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for_samples(url, process, folder / "log")
        yield url
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.wait(30)


def _wait_for_samples(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    wanted = "count(count_over_time(up[1m]) >= 2)"
    for _ in range(300):
        assert process.poll() is None, log.read_text()
        try:
            answer = httpx2.get(f"{url}/api/v1/query", params={"query": wanted})
            if answer.status_code == 200 and answer.json()["data"]["result"]:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.1)
    pytest.fail(f"Prometheus did not start: {log.read_text()}")


class Handler(BaseHTTPRequestHandler):
    """Answers as Jira's and Sourcegraph's APIs do."""

    def do_GET(self) -> None:
        """Answer Jira's search."""
        query = parse_qs(urlsplit(self.path).query).get("jql", [""])[0]
        try:
            found = jql.search(query)
        except jql.JQLError as error:
            self.answer(400, {"errorMessages": [str(error)], "errors": {}})
            return
        issues = [
            {"key": issue["key"], "fields": {**issue, "status": {"name": issue["status"]}}}
            for issue in found
        ]
        self.answer(200, {"issues": issues, "isLast": True})

    def do_POST(self) -> None:
        """Answer Sourcegraph's search."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        query = json.loads(body)["variables"]["query"]
        results: dict[str, Any] = {"alert": None, "results": []}
        try:
            results["results"] = sourcegraph.search(query)
        except sourcegraph.QueryError as error:
            results["alert"] = {"title": "Unable To Process Query", "description": str(error)}
        self.answer(200, {"data": {"search": {"results": results}}})

    def answer(self, status: int, body: dict[str, Any]) -> None:
        """Send JSON."""
        sent = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def apis() -> Iterator[str]:
    """Start the APIs of ours."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
