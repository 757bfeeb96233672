"""A wiki of ours on loopback that misbehaves as it is told: `/FAULT/api.php`.

Without a fault it answers every title with a page, after a moment, and counts.
"""

import asyncio
import json
import threading
from collections import Counter
from urllib.parse import parse_qs, urlsplit

FIFTY_MB = 50_000_000


class Wiki:
    """The server, on a thread of its own."""

    def __init__(self) -> None:
        self.titles: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.headers: list[dict[str, str]] = []
        self.open = 0
        self.most_open = 0
        self.bytes_sent = 0
        self.connections: set[asyncio.Task[None]] = set()
        self.holding = threading.Event()
        self.released = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait()

    def api_url(self, fault: str = "none", host: str = "127.0.0.1") -> str:
        """The address of a wiki with a fault."""
        return f"http://{host}:{self.port}/{fault}/api.php"

    def release(self) -> None:
        """Let the held answers go."""
        self._loop.call_soon_threadsafe(self.released.set)

    def stop(self) -> None:
        """Close everything."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        self._server.close()
        for task in self.connections:
            task.cancel()
        await asyncio.gather(*self.connections, return_exceptions=True)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._ready.set()
        self._loop.run_forever()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections.add(task)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.open -= 1
            self.connections.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        request, *lines = head.split("\r\n")
        path = request.split(" ")[1]
        self.headers.append(
            {name.lower(): value for name, value in (x.split(": ", 1) for x in lines if x)}
        )
        fault = urlsplit(path).path.split("/")[1]
        query = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        self.faults[fault] += 1
        write = getattr(self, f"_{fault}")
        more: bool = await write(writer, query)
        return more

    async def _send(
        self, writer: asyncio.StreamWriter, body: object, status: str = "200 OK", headers: str = ""
    ) -> bool:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "" if "content-type" in headers else "content-type: application/json\r\n"
        head = f"HTTP/1.1 {status}\r\n{kind}{headers}content-length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        await writer.drain()
        return True

    # -- how it answers --------------------------------------------------------------------------

    async def _none(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        await asyncio.sleep(0.02)
        title = query.get("titles", "").split("|")[0]
        self.titles[title] += 1
        page = {"pageid": 1, "title": title, "extract": f"The text of {title}.", "lastrevid": 1}
        pages = [{"title": other, "missing": True} for other in query["titles"].split("|")[1:]]
        return await self._send(writer, {"query": {"pages": [page, *pages]}})

    async def _held(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        self.holding.set()
        await self.released.wait()
        return await self._none(writer, query)

    async def _suggesting(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        """Answer as Wikipedia does, with a "did you mean" that leads astray."""
        title = query.get("titles", "").split("|")[0]
        if "list" in query:
            meant = {"suggestion": "1871 Chicago fire"}
            return await self._send(
                writer, {"query": {"searchinfo": meant, "search": [{"title": query["srsearch"]}]}}
            )
        page = {
            "pageid": 1,
            "ns": 0,
            "title": title or "?",
            "fullurl": f"http://127.0.0.1/wiki/{title}",
            "extract": f"The text of {title}.",
            "revisions": [{"revid": 1, "parentid": 0}],
        }
        pages = [page] if query.get("formatversion") == "2" else {"1": page}
        return await self._send(writer, {"query": {"pages": pages}})

    async def _forbidden(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, b"Please set a user-agent", "403 Forbidden")

    async def _limited(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, b"", "429 Too Many Requests", "retry-after: 600\r\n")

    async def _limited_once(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        if self.faults["limited_once"] == 1:
            return await self._send(writer, b"", "429 Too Many Requests", "retry-after: 0\r\n")
        return await self._none(writer, query)

    async def _unavailable(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, b"<html>", "503 Service Unavailable")

    async def _unavailable_once(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        if self.faults["unavailable_once"] == 1:
            return await self._unavailable(writer, query)
        return await self._none(writer, query)

    async def _lagging(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        error = {"code": "maxlag", "info": "Waiting for a database server: 7 seconds lagged."}
        return await self._send(writer, {"error": error}, headers="retry-after: 300\r\n")

    async def _private(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, {"error": {"code": "readapidenied", "info": "No."}})

    async def _silent(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        await asyncio.sleep(3600)
        return False

    async def _slow_headers(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:  # one letter of a header at a time, so that no single read waits for long
            writer.write(b"x-slow: ")
            for _ in range(1000):
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.05)
            writer.write(b"\r\n")

    async def _slow_body(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n{")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.05)

    async def _truncated(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, b'{"query": {"pages": [{"title": "Tr')

    async def _hung_up(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{"query"')
        await writer.drain()
        return False

    async def _html(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        page = b"<!DOCTYPE html><title>Log in</title>"
        return await self._send(writer, page, headers="content-type: text/html\r\n")

    async def _number(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, b"7")

    async def _other_api(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, {"status": "ok"})

    async def _odd_pages(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, {"query": {"pages": {"1": "Tree"}}})

    async def _deep(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, b'{"a":' * 100_000)

    async def _bad_gzip(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, b'{"a": 1}', headers="content-encoding: gzip\r\n")

    async def _odd_redirect(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, b"", "302 Found", "location: http://[::1/api.php\r\n")

    async def _moved(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        there = f"location: /none/api.php?titles={query['titles'].split('|')[0]}\r\n"
        return await self._send(writer, b"", "301 Moved Permanently", there)

    async def _moved_endlessly(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        title = query["titles"].split("|")[0]
        there = f"location: /none/api.php?titles={title}\r\n"
        writer.write(f"HTTP/1.1 301 Moved Permanently\r\n{there}\r\n".encode())
        while True:  # until the other side hangs up
            writer.write(b" " * 100_000)
            await writer.drain()
            self.bytes_sent += 100_000

    async def _elsewhere(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        title = query["titles"].split("|")[0]
        there = f"location: http://localhost:{self.port}/none/api.php?titles={title}\r\n"
        return await self._send(writer, b"", "302 Found", there)

    async def _circle(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, b"", "302 Found", "location: /circle/api.php\r\n")

    async def _huge(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-length: {FIFTY_MB}\r\n\r\n".encode())
        for _ in range(FIFTY_MB // 100_000):
            writer.write(b" " * 100_000)
            await writer.drain()
            self.bytes_sent += 100_000
        return True

    async def _missing_api(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> bool:
        return await self._send(writer, b"not here", "404 Not Found")
