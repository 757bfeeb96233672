"""MediaWiki's web API over HTTP: one question at a time, bounded in every direction."""

import asyncio
import hashlib
import json
import random
import sqlite3
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx2

from langchain_custom_agents._counted import counted

__all__ = ("MediaWiki", "TroubleError", "late", "strange")

_MAX_BYTES = 16_000_000
_MAX_CACHE_BYTES = 256_000_000
_LONGEST_WAIT = 366 * 24 * 3600.0  # what a Retry-After may say is a stranger's number


class TroubleError(Exception):
    """The wiki could not be asked; the message is the sentence for the model.

    Args:
        sentence: What happened and what to do.
        again_in: How many seconds the wiki asks to wait; None when trying again is of no use.
    """

    def __init__(self, sentence: str, again_in: float | None = None) -> None:
        super().__init__(sentence)
        self.again_in = again_in


def late(host: str, seconds: float) -> str:
    """Say that the time is over."""
    return (
        f"{host} did not answer within {counted(seconds, 'second')}. "
        "Try again later, or answer from what is known."
    )


def strange(host: str) -> str:
    """Say that who answers is not a MediaWiki."""
    return (
        f"{host} does not answer as a MediaWiki does; check that `api_url` is the address of its "
        "api.php."
    )


class MediaWiki:
    """The API of one wiki. Belongs to one event loop, that of its first question.

    Args:
        api_url: The address of the wiki's api.php.
        headers: What every request carries: the User-Agent, and who may read a private wiki.
        timeout: How many seconds a question may take in all.
        retries: How often a question is asked again.
        cache: A file, "" for memory, or None for none.
        cache_age: How many seconds an answer is kept.
        max_concurrency: How many connections may be open at the same time.
    """

    def __init__(
        self,
        api_url: str,
        headers: Mapping[str, str],
        *,
        timeout: float,
        retries: int,
        cache: str | Path | None,
        cache_age: float,
        max_concurrency: int,
    ) -> None:
        self._url = httpx2.URL(api_url)
        self._host = self._url.host
        self._headers = dict(headers)
        self._timeout = timeout
        self._retries = retries
        self._cache = cache
        self._cache_age = cache_age
        self._max_concurrency = max_concurrency
        self._client: asyncio.Task[httpx2.AsyncClient] | None = None
        self._asked: dict[str, asyncio.Task[dict[str, Any]]] = {}

    async def ask(self, question: Mapping[str, str | int]) -> dict[str, Any]:
        """Ask the wiki; callers that ask the same at the same time share the answer.

        Args:
            question: Parameters of the API.

        Returns:
            The answer as MediaWiki gives it, in format version 2.

        Raises:
            TroubleError: If there is none.
        """
        url = str(
            self._url.copy_merge_params(
                {**question, "format": "json", "formatversion": 2, "maxlag": 5}
            )
        )
        task = self._asked.get(url)
        if task is None:
            task = self._asked[url] = asyncio.create_task(self._ask_in_time(url))
            task.add_done_callback(lambda done: self._forget(url, done))
        # One caller's cancellation must not take the answer from the others.
        return await asyncio.shield(task)

    def _forget(self, url: str, done: asyncio.Task[dict[str, Any]]) -> None:
        del self._asked[url]
        if not done.cancelled():
            done.exception()  # seen, also when every caller has gone

    async def close(self) -> None:
        """Close the connections and the cache."""
        if self._client is not None:
            client, self._client = self._client, None
            await (await client).aclose()

    # -- one question, until it is answered or the time is over --------------------------------

    async def _ask_in_time(self, url: str) -> dict[str, Any]:
        deadline = time.monotonic() + self._timeout
        try:
            return await asyncio.wait_for(self._ask_again(url, deadline), self._timeout)
        except asyncio.TimeoutError:
            raise TroubleError(late(self._host, self._timeout)) from None

    async def _ask_again(self, url: str, deadline: float) -> dict[str, Any]:
        for attempt in range(self._retries + 1):
            try:
                return await self._ask_once(url)
            except TroubleError as trouble:
                if trouble.again_in is None or attempt == self._retries:
                    raise
                # Many clients that were refused together must not come back together.
                pause = max(trouble.again_in, 0.25 * 2**attempt) * random.uniform(1, 1.5)  # noqa: S311
                if time.monotonic() + pause >= deadline:
                    raise
            await asyncio.sleep(pause)
        raise AssertionError  # pragma: no cover - the loop always ends inside

    async def _ask_once(self, url: str) -> dict[str, Any]:
        if self._client is None:
            self._client = asyncio.create_task(self._open())
        client = await asyncio.shield(self._client)
        # Another user of the same cache file, with other credentials, may not see these answers.
        who = hashlib.sha256(repr(sorted(self._headers.items())).encode()).hexdigest()
        caching = {"key": hashlib.sha256(f"{who} {url}".encode()).hexdigest()}
        try:
            response = await client.get(url, extensions={"caching": caching})
        except httpx2.TooManyRedirects:
            msg = f"{self._host} sends requests around in circles; check that `api_url` is right."
            raise TroubleError(msg) from None
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            kind = type(error).__name__
            msg = (
                f"{self._host} could not be reached ({kind}). "
                "Check the network and `api_url`, or answer from what is known."
            )
            raise TroubleError(msg, again_in=0) from None
        except (RuntimeError, sqlite3.Error) as error:  # hishel's words about its file
            msg = f"The cache cannot be used ({error}); give another file as `cache`, or False."
            raise TroubleError(msg) from None
        answer: dict[str, Any] = response.json()
        return answer

    async def _open(self) -> httpx2.AsyncClient:
        limits = httpx2.Limits(
            max_connections=self._max_concurrency, max_keepalive_connections=self._max_concurrency
        )
        # Who waits in line for a connection is covered by the time for the whole question.
        timeout = httpx2.Timeout(self._timeout, pool=None)
        # A client rather than a transport, because it knows the proxies of the environment.
        inner = httpx2.AsyncClient(limits=limits)
        transport: httpx2.AsyncBaseTransport = _Checked(inner, self._url, self._headers)
        if self._cache is not None:
            transport = await self._cached(transport)
        return httpx2.AsyncClient(
            transport=transport, timeout=timeout, follow_redirects=True, max_redirects=5
        )

    async def _cached(self, transport: httpx2.AsyncBaseTransport) -> httpx2.AsyncBaseTransport:
        # Imported here because with the cache off nobody needs them.
        import anysqlite
        from hishel import AsyncSqliteStorage
        from hishel.httpx2 import AsyncCacheTransport

        connection = await anysqlite.connect(str(self._cache or ":memory:"), isolation_level=None)
        storage = AsyncSqliteStorage(
            connection=connection, default_ttl=self._cache_age, max_size=_MAX_CACHE_BYTES
        )
        return AsyncCacheTransport(transport, storage)


class _Checked(httpx2.AsyncBaseTransport):
    """Sends requests, and lets nothing through but a good answer.

    It stands below the cache: a refusal, a broken or an endless answer never gets into the cache,
    and neither do the headers that say who asks, which are put on here, and only for the wiki
    itself.
    """

    def __init__(
        self, inner: httpx2.AsyncClient, api: httpx2.URL, headers: Mapping[str, str]
    ) -> None:
        self._inner = inner
        self._api = api
        self._headers = headers

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        home = (request.url.scheme, request.url.host, request.url.port) == (
            self._api.scheme, self._api.host, self._api.port,
        )  # fmt: skip
        headers = httpx2.Headers(request.headers)
        for name, value in self._headers.items():
            if home or name.lower() == "user-agent":
                headers[name] = value
        sent = httpx2.Request(
            request.method,
            request.url,
            headers=headers,
            extensions={k: v for k, v in request.extensions.items() if k != "caching"},
        )
        response = await self._inner.send(sent, stream=True)
        if response.has_redirect_location:
            await response.aclose()  # nobody reads what it says beside, which may have no end
            there = {"location": response.headers["location"]}
            return httpx2.Response(response.status_code, headers=there)
        try:
            body = await self._body(response)
        finally:
            await response.aclose()
        _check(self._api.host, response, body)
        return httpx2.Response(200, content=body, headers={"content-type": "application/json"})

    async def _body(self, response: httpx2.Response) -> bytes:
        parts, size = [], 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > _MAX_BYTES:
                msg = (
                    f"The answer of {self._api.host} is larger than {_MAX_BYTES // 1_000_000} MB, "
                    "which is more than a page can be. Search for another page."
                )
                raise TroubleError(msg)
            parts.append(part)
        return b"".join(parts)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _check(host: str, response: httpx2.Response, body: bytes) -> None:
    """Raise what is wrong with an answer, as a sentence that says what to do."""
    status = response.status_code
    wait = _retry_after(response.headers.get("retry-after", ""))
    asked = f" It asks to wait {counted(round(wait), 'second')}." if wait else ""
    if status == 429:
        msg = (
            f"{host} gets too many requests from here (429).{asked} "
            "Search again later, or lower `max_concurrency`."
        )
        raise TroubleError(msg, again_in=wait or 1)
    if status in (401, 403):
        msg = (
            f"{host} refuses to answer ({status}). Give a `user_agent` with a contact, and the "
            "`headers` the wiki asks for; trying again does not help."
        )
        raise TroubleError(msg)
    if status >= 500:
        msg = f"{host} has trouble of its own ({status}).{asked} Search again later."
        raise TroubleError(msg, again_in=wait or 0)
    if status != 200:
        msg = f"{host} has no API at this address ({status}); check that `api_url` ends in api.php."
        raise TroubleError(msg)
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        if body.lstrip()[:1] == b"{":
            msg = f"The answer of {host} broke off in the middle. Search again."
            raise TroubleError(msg, again_in=0) from None
        answer = None
    if not isinstance(answer, dict):
        msg = (
            f"{host} did not answer with JSON; check that `api_url` is the address of the wiki's "
            "api.php, and that no login page stands before it."
        )
        raise TroubleError(msg)
    if error := answer.get("error"):
        code = error.get("code") if isinstance(error, dict) else str(error)
        if code in ("maxlag", "readonly", "ratelimited") or str(code).startswith("internal_api"):
            msg = f"{host} is too busy ({code}).{asked} Search again later."
            raise TroubleError(msg, again_in=wait or 1)
        if code == "readapidenied":
            msg = f"{host} is a private wiki; give the `headers` that let you read it."
            raise TroubleError(msg)
        info = " ".join(str(error.get("info", "")).split())[:200] if isinstance(error, dict) else ""
        msg = f"{host} did not understand the request ({code}: {info}). Search for another title."
        raise TroubleError(msg)
    if not _is_mediawiki(answer):
        raise TroubleError(strange(host))


def _is_mediawiki(answer: dict[str, Any]) -> bool:
    query = answer.get("query")
    if not isinstance(query, dict):
        return isinstance(answer.get("parse"), dict)
    pages = query.get("pages", [])
    return isinstance(pages, list) and all(isinstance(page, dict) for page in pages)


def _retry_after(header: str) -> float | None:
    """Read Retry-After: seconds, or a date."""
    try:
        if header.strip().isdigit():
            return min(float(header), _LONGEST_WAIT)
        until = parsedate_to_datetime(header)
        if until.tzinfo is None:
            until = until.replace(tzinfo=timezone.utc)
        return max(0.0, (until - datetime.now(timezone.utc)).total_seconds())
    except (ValueError, TypeError):
        return None
