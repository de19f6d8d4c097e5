"""Keys of the object store: the one rule for every store, so that none can be escaped from."""

from __future__ import annotations

import re

from caliper.core.errors import InvalidInput

_SEGMENT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", re.ASCII)
# What S3 allows, and less than a path may have.
_LONGEST = 1024


def checked(key: str) -> str:
    """`key`, when it is one: at most 1024 characters in segments between slashes, of letters,
    digits, `.`, `_` and `-`; no segment starts with a dot. Raises InvalidInput.
    """
    if len(key) > _LONGEST or not all(map(_SEGMENT.fullmatch, key.split("/"))):
        raise InvalidInput(f"not a key of the object store: {key[:200]!r}")
    return key


def too_long(key: str, most: int) -> InvalidInput:
    """What is raised for an object that has more bytes than were wanted."""
    return InvalidInput(f"larger than {most} bytes", file=key)


def checked_prefix(prefix: str) -> str:
    """`prefix`, when keys can begin with it. The part after its last slash may be anything,
    for then nothing is found. Raises InvalidInput.
    """
    folder, slash, _ = prefix.rpartition("/")
    if slash:
        checked(folder)
    return prefix
