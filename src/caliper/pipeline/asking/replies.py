"""Replies kept by key, one object a job, so that nothing is asked of a model twice.

Only replies are kept: outcomes are always recomputed from them, so a changed reading or
scoring asks a model nothing. Errors, refusals and empty replies are not kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from caliper.benchmarks.registry import benchmark
from caliper.core.keys import canonical_json, fields_of, job_key, reply_key
from caliper.core.messages import ExamineJob
from caliper.core.question import Answer, Ask, Item, Reply, Source
from caliper.core.run import BenchmarkSpec, Identity, RunSpec, refuse_newer
from caliper.pipeline.asking.request import Request
from caliper.pipeline.store.items import encode_item
from caliper.ports.storage import ObjectStore

SCHEMA = 1


def salt_of(spec: RunSpec, run: str, models: Iterable[Identity]) -> str:
    """What keeps replies apart that are not to be shared: those of deliberate replicates, and
    those of every run where one of the models has no revision, for it may be another by then.
    """
    if not spec.share_replies and not all(model.revision for model in models):
        return run
    return str(spec.replicate) if spec.replicate else ""


def key_of_job(spec: RunSpec, job: ExamineJob) -> tuple[str, str]:
    """The key of a job, computable before any call is made, and its salt."""
    part = spec.benchmark(job.benchmark)
    models = _used(part, job)
    salt = salt_of(spec, job.run, models.values())
    ports: dict[str, Any] = {
        "models": {role: model.to_json() for role, model in models.items()},
        "pack": spec.pack,
        "decoding": _decoding_settings(part),
        "seed": spec.seed,
    }
    shown = job.items[0].source is Source.MEDIA and Source.MEDIA in part.asked_of_checkpoint
    if shown and part.preparation is not None:
        ports["preparation"] = part.preparation.to_json()
    caption = job.caption.digest if job.caption else ""
    return job_key(caption, [_free_of_run(item) for item in job.items], ports, salt), salt


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
    """The replies of one job, in the hands of `run`. `grown` tells that there is something new
    to keep.

    What is kept says which run asked first, and which replies other runs added. Earlier commits
    did not write that: their replies count as another run's.
    """

    def __init__(
        self, key: str, salt: str = "", run: str = "", kept: Mapping[str, Any] | None = None
    ) -> None:
        self._key, self._salt, self._run = key, salt, run
        kept = {"run": run} if kept is None else kept
        self._replies: dict[str, Any] = dict(kept.get("replies", {}))
        self._first: str = kept.get("run", "")
        self._added: dict[str, str] = dict(kept.get("added", {}))
        self.grown = False

    @classmethod
    async def open(cls, store: ObjectStore | None, key: str, salt: str, run: str) -> ReplyBook:
        """The book of a job, with what the store already keeps of it.

        Raises NewerSchema when a newer release wrote it, StoreUnavailable.
        """
        written = await store.get(_object(key)) if store else None
        kept = None if written is None else _readable(written)
        if kept is not None:
            refuse_newer(kept.get("schema"), _object(key))
        return cls(key, salt, run, kept)

    async def save(self, store: ObjectStore | None) -> None:
        """Keep the book if it has grown. Raises StoreUnavailable or StoreFull."""
        if store is None or not self.grown:
            return
        written = {"schema": SCHEMA, "run": self._first, "replies": self._replies}
        added = {"added": self._added} if self._added else {}
        await store.put(_object(self._key), canonical_json({**written, **added}))
        self.grown = False

    def reused(self, key: str) -> bool:
        """Whether another run asked for the reply that is kept."""
        return self._added.get(key, self._first) != self._run

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
                self._put(key, fields_of(answer))
        elif isinstance(answer, Sequence):
            self._put(key, list(answer))

    def _put(self, key: str, value: Any) -> None:
        self._replies[key] = value
        if self._first != self._run:
            self._added[key] = self._run
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
