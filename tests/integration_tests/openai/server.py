"""A loopback server of OpenAI's protocol that ignores stop sequences and counts what it writes."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

BREAK = "…"
"""In a reply: the stream ends here, without a finish reason."""


class TokenServer(ThreadingHTTPServer):
    """Says replies word by word: chat completions and text completions.

    Attributes:
        replies: What is left to say, in order.
        written: How many words of each reply were written.
        asked: The requests.
        refuses_stop: Whether a request with stop sequences is answered by a 400.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[str] = []
        self.written: list[int] = []
        self.asked: list[dict[str, Any]] = []
        self.refuses_stop = False
        self.open = 0

    @property
    def url(self) -> str:
        """The base URL of the API."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def settled(self) -> list[int]:
        """Wait until no reply is being written, and return how many words of each were."""
        while self.open:
            time.sleep(0.01)
        return self.written


class _Handler(BaseHTTPRequestHandler):
    server: TokenServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer a request for words."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        if self.server.refuses_stop and body.get("stop"):
            said = "Unsupported parameter: 'stop' is not supported with this model."
            error = {"message": said, "type": "invalid_request_error", "param": "stop"}
            self._whole(400, {"error": error})
            return
        said = self.server.replies.pop(0)
        if body.get("stream"):
            self.server.open += 1
            try:
                self._stream(said)
            finally:
                self.server.open -= 1
        else:
            self.server.written.append(len(said.split(" ")))
            self._whole(200, self._object(said, "stop"))

    def _whole(self, status: int, said: Any) -> None:
        text = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _object(self, said: str, why: str | None, *, part: bool = False) -> dict[str, Any]:
        about: dict[str, Any] = {"id": "1", "created": 1, "model": "loopback"}
        if not part:
            used = len(said.split(" "))
            about["usage"] = {
                "prompt_tokens": 1,
                "completion_tokens": used,
                "total_tokens": used + 1,
            }
        if self.path.endswith("/chat/completions"):
            message = {"role": "assistant", "content": said}
            choice = {"index": 0, "delta" if part else "message": message, "finish_reason": why}
            kind = "chat.completion.chunk" if part else "chat.completion"
            return {**about, "object": kind, "choices": [choice]}
        choice = {"index": 0, "text": said, "finish_reason": why, "logprobs": None}
        return {**about, "object": "text_completion", "choices": [choice]}

    def _stream(self, said: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        at = len(self.server.written)
        self.server.written.append(0)
        words = said.split(" ")
        try:
            for number, word in enumerate(words):
                if word.endswith(BREAK):
                    return
                self._event(self._object((" " if number else "") + word, None, part=True))
                self.server.written[at] += 1
                # As a model takes its time for a word, so that a closed connection is noticed.
                time.sleep(0.002)
            self._event(self._object("", "stop", part=True))
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            return

    def _event(self, said: Any) -> None:
        self.wfile.write(f"data: {json.dumps(said)}\n\n".encode())
        self.wfile.flush()


@contextmanager
def token_server() -> Iterator[TokenServer]:
    """Run a server on loopback."""
    server = TokenServer()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
