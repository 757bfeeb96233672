"""A transport that keeps to a deadline, however slowly the other side answers.

A timeout of the HTTP client is one for each read, and begins anew with every byte: a server that
sends a letter of its headers every few seconds would hold a reader for days.
"""

import ssl
from collections.abc import Callable, Iterable
from typing import Any

import httpcore2
import httpx2

__all__ = ("transport_until",)

Left = Callable[[], float]


def transport_until(left: Left, context: ssl.SSLContext) -> httpx2.BaseTransport:
    """Return a transport that ends with a timeout when no time is left.

    Args:
        left: Says how many seconds are left.
        context: What certificates are checked with.
    """
    transport = httpx2.HTTPTransport(verify=context, trust_env=False)
    # There is no argument for this: an HTTP transport makes its pool itself.
    transport._pool = httpcore2.ConnectionPool(ssl_context=context, network_backend=_Backend(left))
    return transport


def _limited(left: Left, error: type[Exception]) -> float:
    if (seconds := left()) <= 0:
        msg = "no time is left"
        raise error(msg)
    return seconds


class _Backend(httpcore2.NetworkBackend):
    def __init__(self, left: Left) -> None:
        self._left = left
        self._plain = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - it begins anew with every call
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        seconds = _limited(self._left, httpcore2.ConnectTimeout)
        stream = self._plain.connect_tcp(host, port, seconds, local_address, socket_options)
        return _Stream(stream, self._left)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream, left: Left) -> None:
        self._stream = stream
        self._left = left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        return self._stream.read(max_bytes, _limited(self._left, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._stream.write(buffer, _limited(self._left, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        seconds = _limited(self._left, httpcore2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, seconds), self._left)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
