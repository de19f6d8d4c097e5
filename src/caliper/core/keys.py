"""Canonical JSON, digests, and the ids and keys derived from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

_CANONICAL = json.JSONEncoder(
    # Values with keys never contain themselves: not checking for that saves a sixth of the time.
    check_circular=False,
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
)


def canonical_json(value: Any) -> bytes:
    """The canonical form of `value`: sorted keys, no white space, UTF-8, no NaN.

    Raises ValueError for NaN and infinities, TypeError for values that JSON cannot hold.
    """
    # Strict UTF-8 cannot encode a lone surrogate (a broken escape in somebody's JSON).
    return _CANONICAL.encode(value).encode("utf-8", "surrogatepass")


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, without the deep copy that `asdict` makes."""
    return {name: getattr(value, name) for name in _field_names(value.__class__)}


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON of `value`, 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def text_digest(text: str) -> str:
    """SHA-256 of a text, 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def files_digest(files: Mapping[str, bytes]) -> str:
    """SHA-256 over the names of files and the SHA-256 of each, `files`."""
    whole = hashlib.sha256()
    for name, inner in sorted(files.items()):
        # Names contain no zero byte and digests have a fixed length, so no two sets of files give
        # the same bytes. Bytes in names that are not UTF-8 become lone surrogates.
        whole.update(name.encode("utf-8", "surrogateescape") + b"\0" + inner)
    return whole.hexdigest()


def run_id(fingerprint: str) -> str:
    """The first 16 hexadecimal digits of a resolved spec's fingerprint."""
    return fingerprint[:16]


def sampling_seed(seed: int, *turns: int) -> int:
    """The seed sent to a server: `seed` for the first turn (all 0), else 31 bits of a digest of
    the seed and the turns. Neither repeats nor runs with neighbouring seeds share random draws,
    and every server accepts the value.
    """
    if not any(turns):
        return seed
    return int(digest(["sampling", seed, *turns])[:8], 16) >> 1


def question_id(dataset_digest: str, item: str, ordinal: int) -> str:
    """A question's id, independent of any run: comparisons pair runs by it."""
    return digest(["question", dataset_digest, item, ordinal])[:32]


def reply_key(
    identity: Any, messages: Any, decoding: Any, position: tuple[int, int], salt: str
) -> str:
    """The cache key of one reply of one model: equal keys may be served from the store.

    `identity` is the model's identity and revision, `messages` the rendered messages with
    media digests, `position` the repeat and the attempt (0, or 1 when asked once more).
    """
    return digest(["reply", identity, messages, decoding, list(position), salt])


def job_key(caption_digest: str, questions: Iterable[Any], ports: Any, salt: str) -> str:
    """A job's key, computed before any call is made.

    `questions` are the encoded items. `ports` holds everything that can change a reply: models,
    pack, decoding and repeats.
    """
    return digest(["job", caption_digest, list(questions), ports, salt])
