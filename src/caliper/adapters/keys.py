"""Keys of the object store: one rule for all stores, so that no key leads outside its store."""

from __future__ import annotations

import re

from caliper.core.errors import InvalidInput

_SEGMENT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", re.ASCII)
# The limit of S3; file systems allow longer paths.
_LONGEST = 1024


def check_key(key: str) -> str:
    """Return `key` if it is valid, else raise InvalidInput.

    A key has at most 1,024 characters, in segments separated by slashes. Segments consist of
    letters, digits, `.`, `_` and `-`, and do not start with a dot.
    """
    if len(key) > _LONGEST or not all(map(_SEGMENT.fullmatch, key.split("/"))):
        raise InvalidInput(f"not a key of the object store: {key[:200]!r}")
    return key


def check_size(key: str, data: bytes | None, max_bytes: int | None) -> bytes | None:
    """Return an object's `data` if it has at most `max_bytes` bytes, else raise InvalidInput."""
    if data is not None and max_bytes is not None and len(data) > max_bytes:
        raise InvalidInput(f"larger than {max_bytes} bytes", file=key)
    return data


def check_prefix(prefix: str) -> str:
    """Return `prefix` if keys can begin with it, else raise InvalidInput.

    The part after its last slash may be anything: at worst it matches no key.
    """
    folder, slash, _ = prefix.rpartition("/")
    if slash:
        check_key(folder)
    return prefix
