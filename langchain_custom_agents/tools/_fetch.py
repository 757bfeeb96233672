"""Fetching pages that strangers name: public addresses only, checked at every hop, bounded.

A model follows links that pages give it, so every address is a stranger's. It is resolved here,
every address it resolves to must be public, and the connection goes to the address that was
checked: whatever the name resolves to a moment later does not matter. No proxy is asked, since a
proxy would resolve the name again. A site is asked for one page at a time, as slowly as it wishes.
"""

import contextlib
import ipaddress
import re
import socket
import ssl
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import httpx2

from langchain_custom_agents._counted import counted
from langchain_custom_agents._version import __version__
from langchain_custom_agents.tools._deadline import transport_until
from langchain_custom_agents.tools._robots import Robots

__all__ = ("Fetched", "Fetcher", "RefusedError", "is_public", "origin_of")

AGENT = "langchain-custom-agents"

_REDIRECTS = 5
_ROBOTS_BYTES = 500_000
_ROBOTS_AGE = 3600.0
_SITES_KEPT = 1_000
_PLACES_TRIED = 3
_PRODUCT = re.compile(r"([A-Za-z][\w.-]*)/\S")
_GZIP = 31  # zlib's number for it
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_UNICAST = ipaddress.ip_network("2000::/3")  # all that is given out of IPv6, by IANA
_EXAMPLES = ipaddress.ip_network("3fff::/20")  # for documents, by RFC 9637

Resolve = Callable[[str, int], Iterable[str]]


class RefusedError(Exception):
    """A page that is not fetched.

    Args:
        message: A sentence for the model.
        status: The HTTP status, if that is why.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


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
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if ip in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
        inner = [ip.sixtofour, *(ip.teredo or ())]
        if not all(is_public(str(wrapped)) for wrapped in inner if wrapped is not None):
            return False
        # Python calls much global that is not given out, and so may mean anything in a network.
        return ip.is_global and ip in _UNICAST and ip not in _EXAMPLES
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
        msg = f"{str(url)[:200]!r} is no address of a web page; give one that begins with https://."
        raise RefusedError(msg)
    if parsed.userinfo:
        msg = "Addresses with a user name or password are not read; give the address without."
        raise RefusedError(msg)
    host = _ascii_host(parsed).lower()
    host = f"[{host}]" if ":" in host else host
    return f"{parsed.scheme}://{host}:{port}"


def _ascii_host(url: httpx2.URL) -> str:
    return url.raw_host.decode("ascii")


class Fetcher:
    """Fetches pages under the rules above; safe to use from several threads.

    Args:
        allow_origins: Origins that may be private, such as "http://wiki.internal:8080".
        user_agent: Who asks, for the sites: "MyBot/1.0 (me@example.org)", whose name robots.txt
            may know, or an address to write to alone.
        timeout: How many seconds a page may take in all.
        max_bytes: How large it may be, unpacked.
        obey_robots: Whether robots.txt is asked first.
        resolve: What resolves names.
        transport: What connects, in place of the network.
        clock: What tells the time.
        sleep: What waits where a site asks for time between its pages.

    Raises:
        ValueError: If an origin is no address, or no header can say who asks.
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
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        try:
            self._allowed = frozenset(map(origin_of, allow_origins))
        except RefusedError as error:
            msg = f"`allow_origins`: {error}"
            raise ValueError(msg) from error
        if user_agent and not (user_agent.isascii() and user_agent.isprintable()):
            msg = f"`user_agent` is {user_agent!r}; give one line of ASCII letters, as headers are."
            raise ValueError(msg)
        own = _PRODUCT.match(user_agent or "")
        contact = f" ({user_agent})" if user_agent else ""
        self._agent = str(user_agent) if own else f"{AGENT}/{__version__}{contact}"
        self._name = own[1] if own else AGENT
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._obey_robots = obey_robots
        self._resolve = resolve
        self._transport = transport
        self._clock = clock
        self._sleep = sleep
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._certificates: ssl.SSLContext | None = None
        self._lock = threading.Lock()

    def fetch(self, url: str) -> Fetched:
        """Fetch a page.

        Args:
            url: Its address.

        Raises:
            RefusedError: If it may not be or cannot be read; the message says why.
        """
        deadline = self._clock() + self._timeout
        with self._client(deadline) as client:
            for _ in range(_REDIRECTS + 1):
                # The fragment is for browsers and would make two pages of one.
                url = str(httpx2.URL(url).copy_with(fragment=None)) if origin_of(url) else url
                with self._turn(url, deadline) as site:
                    if self._obey_robots:
                        self._ask_robots(site, client, url, deadline)
                    found = self._hop(client, url, deadline, self._max_bytes)
                if isinstance(found, Fetched):
                    return found
                url = found
        msg = f"{url} redirects too often."
        raise RefusedError(msg)

    def _client(self, deadline: float) -> httpx2.Client:
        with self._lock:
            if self._certificates is None and self._transport is None:
                self._certificates = httpx2.create_ssl_context(trust_env=False)
        transport = self._transport
        if self._certificates is not None:
            transport = transport_until(lambda: deadline - self._clock(), self._certificates)
        return httpx2.Client(
            transport=transport,
            trust_env=False,
            follow_redirects=False,
            headers={
                "User-Agent": self._agent,
                "Accept": "text/html, text/*;q=0.9, */*;q=0.5",
                "Accept-Encoding": "gzip",
            },
        )

    @contextlib.contextmanager
    def _turn(self, url: str, deadline: float) -> Iterator["_Site"]:
        """Wait for the turn to ask a site: one reader at a time, with the pause it asks for."""
        origin = origin_of(url)
        with self._lock:
            site = self._sites.setdefault(origin, _Site())
            self._sites.move_to_end(origin)
            while len(self._sites) > _SITES_KEPT:
                self._sites.popitem(last=False)
        if not site.lock.acquire(timeout=max(0.0, deadline - self._clock())):
            msg = f"{url} was not read: the site is still busy with another page. Try it later."
            raise RefusedError(msg)
        try:
            if (wait := site.free_at - self._clock()) > 0:
                if self._clock() + wait > deadline:
                    msg = (
                        f"{url} was not read: its site asks for "
                        f"{counted(site.robots.delay, 'second')} between pages. "
                        "Read another page first."
                    )
                    raise RefusedError(msg)
                self._sleep(wait)
            try:
                yield site
            finally:
                site.free_at = self._clock() + site.robots.delay
        finally:
            site.lock.release()

    def _checked(self, url: str) -> list[httpx2.URL]:
        """Return where to connect to: the public addresses of the host, or what was allowed."""
        parsed, origin = httpx2.URL(url), origin_of(url)
        try:
            port = int(origin.rpartition(":")[2])
            # As it is written in a request: Python would spell some letters in an older way.
            addresses = list(self._resolve(_ascii_host(parsed), port))
        except (OSError, UnicodeError) as error:
            msg = f"{parsed.host} was not found; check the address."
            raise RefusedError(msg) from error
        # One private address among public ones is a trap, not an accident.
        if not addresses or not (origin in self._allowed or all(map(is_public, addresses))):
            msg = f"{url} is not read: it is not on the public internet."
            raise RefusedError(msg)
        return [parsed.copy_with(host=address.partition("%")[0]) for address in addresses]

    def _hop(
        self, client: httpx2.Client, url: str, deadline: float, max_bytes: int
    ) -> Fetched | str:
        """Ask one address; return the page, or where it redirects to."""
        try:
            *others, last = self._checked(url)[:_PLACES_TRIED]
            for place in others:
                with contextlib.suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                    return self._asked(client, url, place, deadline, max_bytes)
            return self._asked(client, url, last, deadline, max_bytes)
        except (httpx2.InvalidURL, ValueError) as error:
            msg = f"{url} redirects to something that is no address."
            raise RefusedError(msg) from error
        except httpx2.TimeoutException as error:
            raise RefusedError(self._too_slow(url)) from error
        except httpx2.HTTPError as error:
            msg = f"{url} could not be read ({type(error).__name__})."
            raise RefusedError(msg) from error

    def _asked(
        self, client: httpx2.Client, url: str, place: httpx2.URL, deadline: float, max_bytes: int
    ) -> Fetched | str:
        named = httpx2.URL(url)
        with client.stream(
            "GET",
            place,
            headers={"Host": named.netloc.decode("ascii")},
            # The certificate must be that of the name, not of the address.
            extensions={"sni_hostname": _ascii_host(named)},
            timeout=max(0.1, deadline - self._clock()),
        ) as response:
            if response.has_redirect_location:
                return str(named.join(response.headers["location"]))
            if response.status_code >= 300:
                msg = f"{url} could not be read: HTTP {response.status_code}."
                raise RefusedError(msg, response.status_code)
            return self._page(url, response, deadline, max_bytes)

    def _page(
        self, url: str, response: httpx2.Response, deadline: float, max_bytes: int
    ) -> Fetched:
        body = bytearray()
        for part in _unpacked(url, response, max_bytes):
            body += part
            if len(body) > max_bytes:
                msg = f"{url} is not read: it is larger than {max_bytes:,} bytes."
                raise RefusedError(msg)
            if self._clock() > deadline:
                raise RefusedError(self._too_slow(url))
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Fetched(url, kind, bytes(body), response.charset_encoding)

    def _too_slow(self, url: str) -> str:
        return f"{url} did not answer within {counted(self._timeout, 'second')}."

    def _ask_robots(self, site: "_Site", client: httpx2.Client, url: str, deadline: float) -> None:
        """Refuse a page that the site's robots.txt asks not to read."""
        if site.asked_at is None or self._clock() - site.asked_at > _ROBOTS_AGE:
            site.robots = self._read_robots(client, url, deadline)
            site.asked_at = self._clock()
        if not site.robots.allows(httpx2.URL(url).raw_path.decode("ascii")):
            msg = f"{url} may not be read: the site's robots.txt asks not to."
            raise RefusedError(msg)

    def _read_robots(self, client: httpx2.Client, page: str, deadline: float) -> Robots:
        """Read a site's robots.txt; as RFC 9309 has it, none allows all, and an error nothing."""
        url = f"{origin_of(page)}/robots.txt"
        for _ in range(_REDIRECTS + 1):
            try:
                found = self._hop(client, url, deadline, _ROBOTS_BYTES)
            except RefusedError as error:
                if error.status is None:  # nothing is known, so nothing is remembered
                    raise RefusedError(str(error).replace(url, page)) from error
                rules = "" if error.status < 500 else "User-agent: *\nDisallow: /"
                return Robots(rules, self._name)
            if isinstance(found, Fetched):
                return Robots(found.body.decode("utf-8", "replace"), self._name)
            url = found
        return Robots("", self._name)


@dataclass(slots=True)
class _Site:
    """What is known of a site: its robots.txt, who is asking it, and when it may be asked again."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    robots: Robots = field(default_factory=lambda: Robots("", AGENT))
    asked_at: float | None = None
    free_at: float = float("-inf")


def _unpacked(url: str, response: httpx2.Response, limit: int) -> Iterator[bytes]:
    """Yield a body; of one that is packed no more than a little beyond the limit is unpacked."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if response.is_stream_consumed:  # a transport that is no network gave it whole
        yield response.content
        return
    if packing in {"identity", ""}:
        yield from response.iter_raw()
        return
    if packing not in {"gzip", "x-gzip"}:
        msg = f"{url} is not read: it came packed as {packing[:40]!r}, which was not asked for."
        raise RefusedError(msg)
    unpack = zlib.decompressobj(_GZIP)
    for part in response.iter_raw():
        rest = part
        try:
            while rest:
                if unpack.eof:  # what follows is packed by itself, as when files are joined
                    unpack = zlib.decompressobj(_GZIP)
                yield unpack.decompress(rest, limit + 1)
                rest = unpack.unconsumed_tail or unpack.unused_data
        except zlib.error as error:
            msg = f"{url} could not be read: it is not packed as it says."
            raise RefusedError(msg) from error
