"""Replies kept by key, one object a job, so that nothing is asked of a model twice.

Only replies are kept: outcomes are always recomputed from them, so a changed reading or
scoring asks a model nothing. Errors, refusals and empty replies are not kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from caliper.benchmarks.registry import benchmark
from caliper.core.keys import canonical_json, fields_of, job_key, reply_key
from caliper.core.question import Answer, Ask, Item, Reply, Source
from caliper.core.run import BenchmarkSpec, Identity, RunSpec, refuse_newer
from caliper.pipeline.items import encode_item
from caliper.pipeline.rendering import Request
from caliper.ports.codec import ExamineJob
from caliper.ports.storage import ObjectStore

SCHEMA = 1


@runtime_checkable
class Rendering(Protocol):
    """An answerer that can say what it would send: a cached one must."""

    def request(self, ask: Ask) -> Request:
        """The request that `answer` would send."""
        ...


def salt_of(spec: RunSpec) -> str:
    """What keeps the replies of deliberate replicates apart."""
    return str(spec.replicate) if spec.replicate else ""


def key_of_job(spec: RunSpec, job: ExamineJob) -> str:
    """The key of a job, computable before any call is made."""
    part = spec.benchmark(job.benchmark)
    ports: dict[str, Any] = {
        "models": {role: model.to_json() for role, model in _used(part, job).items()},
        "pack": spec.pack,
        "decoding": _decoding_settings(part),
        "seed": spec.seed,
    }
    shown = job.items[0].source is Source.MEDIA and Source.MEDIA in part.asked_of_checkpoint
    if shown and part.preparation is not None:
        ports["preparation"] = part.preparation.to_json()
    caption = job.caption.digest if job.caption else ""
    return job_key(caption, [_free_of_run(item) for item in job.items], ports, salt_of(spec))


def _used(part: BenchmarkSpec, job: ExamineJob) -> dict[str, Identity]:
    """The models that this job's replies come from: who wrote the caption is none of them."""
    chosen = benchmark(part.name)
    from_media = job.items[0].source is Source.MEDIA
    roles = ("media",) if from_media else (chosen.role, "tagger", "embedder")
    return {role: part.models[role] for role in roles if role in part.models}


def _free_of_run(item: Item) -> dict[str, Any]:
    written = encode_item(item)
    del written["first"]
    return written


def _decoding_settings(part: BenchmarkSpec) -> dict[str, str]:
    """The numeric settings: they go to the model, the others to our own reading and scoring."""
    numeric = {setting.name for setting in benchmark(part.name).settings if not setting.choices}
    return {name: value for name, value in part.settings.items() if name in numeric}


class ReplyBook:
    """The replies of one job. `grown` tells that there is something new to keep."""

    def __init__(self, key: str, salt: str = "", replies: Mapping[str, Any] | None = None) -> None:
        self._key = key
        self._salt = salt
        self._replies = dict(replies or {})
        self.grown = False

    @classmethod
    async def open(cls, store: ObjectStore | None, key: str, salt: str) -> ReplyBook:
        """The book of a job, with what the store already keeps of it.

        Raises NewerSchema when a newer release wrote it, StoreUnavailable.
        """
        written = await store.get(_object(key)) if store else None
        kept = None if written is None else _readable(written)
        if kept is None:
            return cls(key, salt)
        refuse_newer(kept.get("schema"), _object(key))
        return cls(key, salt, kept["replies"])

    async def save(self, store: ObjectStore | None) -> None:
        """Keep the book if it has grown. Raises StoreUnavailable or StoreFull."""
        if store is None or not self.grown:
            return
        await store.put(
            _object(self._key), canonical_json({"schema": SCHEMA, "replies": self._replies})
        )
        self.grown = False

    def key_of_ask(self, identity: Identity, ask: Ask, request: Request) -> str:
        """The reply key of one ask that is sent as `request`."""
        decoding = fields_of(request.decoding)
        position = (ask.repeat, ask.attempt)
        return reply_key(identity.to_json(), request.to_json(), decoding, position, self._salt)

    def key_of_text(self, identity: Identity, kind: str, text: str) -> str:
        """The reply key of the nouns or the vector of one text."""
        return reply_key(identity.to_json(), [kind, text], {}, (0, 0), "")

    def reply(self, key: str) -> Reply | None:
        """The kept reply of a model."""
        kept = self._replies.get(key)
        return None if kept is None else Reply(**kept)

    def values(self, key: str) -> Sequence[Any] | None:
        """The kept nouns, or the kept vector."""
        kept: Sequence[Any] | None = self._replies.get(key)
        return kept

    def keep(self, key: str, answer: Answer | Sequence[Any]) -> None:
        """Keep a reply, nouns or a vector; anything that is trouble is not kept."""
        if isinstance(answer, Reply):
            if answer.text.strip():
                self._replies[key] = fields_of(answer)
                self.grown = True
        elif isinstance(answer, Sequence):
            self._replies[key] = list(answer)
            self.grown = True


def _readable(written: bytes) -> dict[str, Any] | None:
    """What a job object holds; None for a broken one, whose replies are asked for again."""
    try:
        kept = json.loads(written)
    except ValueError:
        return None
    whole = isinstance(kept, dict) and isinstance(kept.get("replies"), dict)
    return kept if whole else None


def _object(key: str) -> str:
    return f"jobs/{key[:2]}/{key}.json"
