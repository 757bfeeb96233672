"""Secrets leave this package nowhere: the one rule that says what a secret is."""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

REDACTED = "[redacted]"

# Keys of the providers as they look, each by the letters it cannot be without.
_KEYS = {
    "sk-": re.compile(r"\bsk-[\w-]{16,}"),
    "_": re.compile(r"\b(?:gh[opsur]|hf)_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}"),
    "glpat-": re.compile(r"\bglpat-[\w-]{16,}"),
    "xox": re.compile(r"\bxox[abprs]-[\w-]{10,}"),
    "AKIA": re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
    "AIza": re.compile(r"\bAIza[\w-]{30,}"),
    "eyJ": re.compile(r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}"),
    "PRIVATE KEY": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
    ),
}
# What stands behind a name that says it is a secret.
_NAMED = re.compile(
    r"(?P<before>(?:api[_-]?key|access[_-]?token|auth[_-]?token|secret(?:[_-]?key)?|passw(?:or)?d"
    r"|passphrase|パスワード|密码)[\"']?\s{0,3}[:=：]\s{0,3}[\"']?"
    r"|\b(?:Bearer|Basic)\s{1,3}(?=[\w.~+/=-]{16})|\bAuthorization:\s{0,3}(?:Bearer|Basic)\s{1,3}"
    r"|://[^\s:/@]{0,64}:(?=[^\s/@]{1,200}@))(?P<secret>[^\s\"',;&<>{}\[\]@]{4,})",
    re.IGNORECASE,
)
_NAMES = (
    "key",
    "token",
    "secret",
    "passw",
    "passphrase",
    "bearer",
    "basic",
    "パスワード",
    "密码",
    "://",
)
_SECRET_NAME = re.compile(
    r"(?:api|access|secret|private)[_-]?key|(?:access|auth|api|bearer)[_-]?token|secret|passw(?:or)?d"
    r"|passphrase|パスワード|密码|authorization|credential",
    re.IGNORECASE,
)
_SECRET_VARIABLE = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)\Z")
_SHORTEST = 8


def redact(value: Any) -> Any:
    """Return data with every secret in it replaced.

    A secret is the value of an environment variable whose name ends in KEY, TOKEN, SECRET,
    PASSWORD or CREDENTIALS; what looks like a provider's key; and what stands behind a name such
    as `api_key`, `password` or `Authorization: Bearer`, in a text or in a mapping.

    Args:
        value: A text, or mappings and lists of texts.

    Returns:
        The same data; what holds no secret is equal to what was given.

    Example:
        >>> redact("curl -H 'Authorization: Bearer abcdefghijklmnop' http://me:pass@host/")
        "curl -H 'Authorization: Bearer [redacted]' http://me:[redacted]@host/"
        >>> redact({"api_key": "12345", "city": "Kyoto"})
        {'api_key': '[redacted]', 'city': 'Kyoto'}
    """
    return _redacted(value, _in_environment(os.environ.items()))


def _in_environment(variables: Iterable[tuple[str, str]]) -> re.Pattern[str] | None:
    """Return what finds the secrets among environment variables; None if there are none."""
    values = {
        value.strip()
        for name, value in variables
        if _SECRET_VARIABLE.search(name.upper()) and len(value.strip()) >= _SHORTEST
    }
    longest_first = sorted(values, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def _redacted(value: Any, known: re.Pattern[str] | None) -> Any:
    if isinstance(value, str):
        if known is not None:
            value = known.sub(REDACTED, value)
        # Looking for a few letters first is many times faster than the expressions.
        for letters, key in _KEYS.items():
            if letters in value:
                value = key.sub(REDACTED, value)
        lowered = value.lower()
        if any(name in lowered for name in _NAMES):
            value = _NAMED.sub(rf"\g<before>{REDACTED}", value)
        return value
    if isinstance(value, Mapping):
        return {
            name: REDACTED
            if isinstance(item, str) and item and _SECRET_NAME.search(str(name))
            else _redacted(item, known)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_redacted(item, known) for item in value]
    return value
