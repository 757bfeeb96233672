"""Fetching pages that strangers name: public addresses only, checked at every hop, bounded.

A model follows links that pages give it, so every address is a stranger's. It is resolved here,
every address it resolves to must be public, and the connection goes to the address that was
checked: whatever the name resolves to a moment later does not matter. No proxy is asked, since a
proxy would resolve the name again.
"""

import contextlib
import ipaddress
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import httpx2

from langchain_custom_agents._version import __version__
from langchain_custom_agents.tools._robots import Robots

__all__ = ("Fetched", "Fetcher", "RefusedError", "is_public", "origin_of")

AGENT = "langchain-custom-agents"

_REDIRECTS = 5
_ROBOTS_BYTES = 500_000
_ROBOTS_AGE = 3600.0
_ROBOTS_KEPT = 1_000
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Resolve = Callable[[str, int], Iterable[str]]


class RefusedError(Exception):
    """A page that is not fetched; the message is a sentence for the model."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came back: the last address, the kind of content, its bytes and declared encoding."""

    url: str
    kind: str
    body: bytes
    charset: str | None


def resolve(host: str, port: int) -> list[str]:
    """Return every address of a host."""
    with contextlib.suppress(ValueError):
        return [str(ipaddress.ip_address(host))]
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public(address: str) -> bool:
    """Say whether an address belongs to the public internet, and so does what it wraps.

    Example:
        >>> [is_public(a) for a in ("93.184.216.34", "127.0.0.1", "::ffff:10.0.0.1")]
        [True, False, False]
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
        if ip in _NAT64:
            inner.append(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
        if not all(is_public(str(wrapped)) for wrapped in inner if wrapped is not None):
            return False
        if ip.ipv4_mapped is not None:
            return True
    return ip.is_global and not ip.is_multicast


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address.

    Raises:
        RefusedError: If it is not one of a page.

    Example:
        >>> origin_of("https://Example.org/a?b")
        'https://example.org:443'
    """
    try:
        parsed = httpx2.URL(url)
        port = parsed.port or {"http": 80, "https": 443}.get(parsed.scheme)
    except (httpx2.InvalidURL, ValueError, TypeError):
        port, parsed = None, httpx2.URL("")
    if port is None or not 0 < port < 65_536 or not parsed.host:
        msg = f"{url[:200]!r} is no address of a web page; give one that begins with https://."
        raise RefusedError(msg)
    if parsed.userinfo:
        msg = "Addresses with a user name or password are not read; give the address without."
        raise RefusedError(msg)
    host = parsed.raw_host.decode("ascii").lower()
    host = f"[{host}]" if ":" in host else host
    return f"{parsed.scheme}://{host}:{port}"


class Fetcher:
    """Fetches pages under the rules above; safe to use from several threads.

    Args:
        allow_origins: Origins that may be private, such as "http://wiki.internal:8080".
        user_agent: Who asks, for the sites.
        timeout: How many seconds a page may take in all.
        max_bytes: How large it may be, unpacked.
        obey_robots: Whether robots.txt is asked first.
        resolve: What resolves names.
        transport: What connects, in place of the network.
        clock: What tells the time.
    """

    def __init__(
        self,
        *,
        allow_origins: Sequence[str] = (),
        user_agent: str | None = None,
        timeout: float = 20,
        max_bytes: int = 5_000_000,
        obey_robots: bool = True,
        resolve: Resolve = resolve,
        transport: httpx2.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._allowed = frozenset(map(origin_of, allow_origins))
        self._agent = user_agent or f"{AGENT}/{__version__}"
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._obey_robots = obey_robots
        self._resolve = resolve
        self._transport = transport
        self._clock = clock
        self._robots: OrderedDict[str, tuple[float, Robots]] = OrderedDict()
        self._lock = threading.Lock()

    def fetch(self, url: str) -> Fetched:
        """Fetch a page.

        Args:
            url: Its address.

        Raises:
            RefusedError: If it may not be or cannot be read; the message says why.
        """
        deadline = self._clock() + self._timeout
        with self._client() as client:
            for _ in range(_REDIRECTS + 1):
                # The fragment is for browsers and would make two pages of one.
                url = str(httpx2.URL(url).copy_with(fragment=None)) if origin_of(url) else url
                if self._obey_robots and not self._may_read(client, url, deadline):
                    msg = f"{url} may not be read: the site's robots.txt asks not to."
                    raise RefusedError(msg)
                found = self._hop(client, url, deadline, self._max_bytes)
                if isinstance(found, Fetched):
                    return found
                url = found
        msg = f"{url} redirects too often."
        raise RefusedError(msg)

    def _client(self) -> httpx2.Client:
        return httpx2.Client(
            transport=self._transport,
            trust_env=False,
            follow_redirects=False,
            headers={"User-Agent": self._agent, "Accept": "text/html, text/*;q=0.9, */*;q=0.5"},
        )

    def _checked(self, url: str) -> tuple[httpx2.URL, str]:
        """Return where to connect to: a public address of the host, or what was allowed."""
        parsed, origin = httpx2.URL(url), origin_of(url)
        try:
            port = int(origin.rpartition(":")[2])
            addresses = list(self._resolve(parsed.host, port))
        except (OSError, UnicodeError) as error:
            msg = f"{parsed.host} was not found; check the address."
            raise RefusedError(msg) from error
        # One private address among public ones is a trap, not an accident.
        if not addresses or not (origin in self._allowed or all(map(is_public, addresses))):
            msg = f"{url} is not read: it is not on the public internet."
            raise RefusedError(msg)
        return parsed.copy_with(host=addresses[0].partition("%")[0]), parsed.netloc.decode("ascii")

    def _hop(
        self, client: httpx2.Client, url: str, deadline: float, max_bytes: int
    ) -> Fetched | str:
        """Ask one address; return the page, or where it redirects to."""
        place, host = self._checked(url)
        left = max(0.1, deadline - self._clock())
        name = httpx2.URL(url).host
        try:
            with client.stream(
                "GET",
                place,
                headers={"Host": host},
                # The certificate must be that of the name, not of the address.
                extensions={"sni_hostname": name},
                timeout=left,
            ) as response:
                if response.is_redirect:
                    return str(httpx2.URL(url).join(response.headers["location"]))
                if response.status_code >= 400:
                    msg = f"{url} could not be read: HTTP {response.status_code}."
                    raise RefusedError(msg)
                return self._page(url, response, deadline, max_bytes)
        except (httpx2.InvalidURL, ValueError) as error:
            msg = f"{url} redirects to something that is no address."
            raise RefusedError(msg) from error
        except httpx2.HTTPError as error:
            msg = f"{url} could not be read ({type(error).__name__})."
            raise RefusedError(msg) from error

    def _page(
        self, url: str, response: httpx2.Response, deadline: float, max_bytes: int
    ) -> Fetched:
        body = bytearray()
        for part in response.iter_bytes():
            body += part
            if len(body) > max_bytes:
                msg = f"{url} is not read: it is larger than {max_bytes:,} bytes."
                raise RefusedError(msg)
            if self._clock() > deadline:
                msg = f"{url} did not answer within {self._timeout:g} seconds."
                raise RefusedError(msg)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Fetched(url, kind, bytes(body), response.charset_encoding)

    def _may_read(self, client: httpx2.Client, url: str, deadline: float) -> bool:
        origin = origin_of(url)
        with self._lock:
            known = self._robots.get(origin)
        if known is None or self._clock() - known[0] > _ROBOTS_AGE:
            known = self._clock(), self._read_robots(client, url, deadline)
            with self._lock:
                self._robots[origin] = known
                while len(self._robots) > _ROBOTS_KEPT:
                    self._robots.popitem(last=False)
        return known[1].allows(httpx2.URL(url).raw_path.decode("ascii"))

    def _read_robots(self, client: httpx2.Client, page: str, deadline: float) -> Robots:
        """Read a site's robots.txt; as RFC 9309 has it, none allows all, and an error nothing."""
        url = f"{origin_of(page)}/robots.txt"
        for _ in range(_REDIRECTS + 1):
            try:
                found = self._hop(client, url, deadline, _ROBOTS_BYTES)
            except RefusedError as error:
                if ": HTTP 4" in str(error):
                    return Robots("", AGENT)
                if "public internet" in str(error) or "was not found" in str(error):
                    raise RefusedError(str(error).replace(url, page)) from error
                return Robots("User-agent: *\nDisallow: /", AGENT)
            if isinstance(found, Fetched):
                return Robots(found.body.decode("utf-8", "replace"), AGENT)
            url = found
        return Robots("", AGENT)
