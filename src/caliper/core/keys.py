"""Names that are computed: canonical bytes, digests, and the keys built from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical_json(value: Any) -> bytes:
    """The one way to write `value`: sorted keys, no white space, UTF-8, no NaN.

    Raises ValueError for NaN and infinities, TypeError for what JSON cannot hold.
    """
    # A lone surrogate (a broken escape in somebody's JSON) has no UTF-8 form of its own.
    return _CANONICAL.encode(value).encode("utf-8", "surrogatepass")


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, as they are: `asdict` would copy all that they hold."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON of `value`, 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def text_digest(text: str) -> str:
    """SHA-256 of a text, 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def run_id(fingerprint: str) -> str:
    """The first 16 hexadecimal digits of a resolved spec's fingerprint."""
    return fingerprint[:16]


def sampling_seed(seed: int, *turns: int) -> int:
    """What a server draws from: `seed` at the first turn (all 0), else 31 bits of a digest of it
    and the turns. So neither repeats nor runs of neighbouring seeds share their draws, and every
    server takes it.
    """
    if not any(turns):
        return seed
    return int(digest(["sampling", seed, *turns])[:8], 16) >> 1


def question_id(dataset_digest: str, item: str, ordinal: int) -> str:
    """Names a question free of any run, so that two runs can be paired on it."""
    return digest(["question", dataset_digest, item, ordinal])[:32]


def reply_key(
    identity: Any, messages: Any, decoding: Any, position: tuple[int, int], salt: str
) -> str:
    """Names one reply of one model: equal keys may be served from the store.

    `identity` is the model's identity and revision, `messages` the rendered messages with
    media digests, `position` the repeat and the ask (0, or 1 when asked once more).
    """
    return digest(["reply", identity, messages, decoding, list(position), salt])


def job_key(caption_digest: str, questions: Iterable[Any], ports: Any, salt: str) -> str:
    """Names a job before any call is made.

    `questions` are the encoded items, `ports` whatever of the models, pack, decoding and
    repeats can change a reply.
    """
    return digest(["job", caption_digest, list(questions), ports, salt])
