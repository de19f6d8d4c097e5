"""The reply cache: replies by key, one object per job, so that no model is asked twice.

Only replies are cached. Outcomes are always recomputed from them, so a change in reading or
scoring needs no calls. Errors, refusals and empty replies are not cached.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption
from caliper.core.errors import StoreUnavailable
from caliper.core.keys import canonical_json, fields_of, job_key, reply_key
from caliper.core.messages import CaptionJob, ExamineJob
from caliper.core.outcome import Reason
from caliper.core.question import Answer, Ask, Item, Reply, Source
from caliper.core.run import BenchmarkSpec, Identity, RunSpec, refuse_newer
from caliper.pipeline.asking.request import Request
from caliper.pipeline.store.items import encode_item
from caliper.ports.storage import ObjectStore

SCHEMA = 1


def salt_of(spec: RunSpec, run: str, models: Iterable[Identity]) -> str:
    """The salt of reply keys, which separates replies that must not be shared.

    Deliberate replicates have their own, and so has each run with a model without a revision, as
    that model may change.
    """
    if not spec.share_replies and not all(model.revision for model in models):
        return run
    return str(spec.replicate) if spec.replicate else ""


def key_of_job(spec: RunSpec, job: ExamineJob) -> tuple[str, str]:
    """The key of a job, computed before any call, and its salt."""
    part = spec.benchmark(job.benchmark)
    models = _models_of(part, job)
    salt = salt_of(spec, job.run, models.values())
    ports: dict[str, Any] = {
        "models": {role: model.to_json() for role, model in models.items()},
        "pack": spec.pack,
        "decoding": _decoding_settings(part),
        "seed": spec.seed,
    }
    shows_media = job.items[0].source is Source.MEDIA and Source.MEDIA in part.checkpoint_sources
    if shows_media and part.preparation is not None:
        ports["preparation"] = part.preparation.to_json()
    caption = job.caption.digest if job.caption else ""
    return job_key(caption, [_item_json(item) for item in job.items], ports, salt), salt


def traits_of_job(spec: RunSpec, job: ExamineJob | CaptionJob) -> Hashable:
    """A value that equal jobs of any runs have in common; unequal ones may share it."""
    part = spec.benchmark(job.benchmark)
    source = job.items[0].source
    if isinstance(job, ExamineJob):
        caption: Caption | None = job.caption
        models: Mapping[str, Identity | None] = _models_of(part, job)
    else:
        checkpoint = ("captioner", "media")
        caption, models = None, {role: part.models.get(role) for role in checkpoint}
    salt = salt_of(spec, job.run, filter(None, models.values()))
    return job.benchmark, job.sample, source, caption, salt, tuple(models.items())


def _models_of(part: BenchmarkSpec, job: ExamineJob) -> dict[str, Identity]:
    """The models that reply to this job, by role. The captioner is not one of them."""
    from_media = job.items[0].source is Source.MEDIA
    roles = ("media",) if from_media else (benchmark(part.name).role, "tagger", "embedder")
    return {role: part.models[role] for role in roles if role in part.models}


def _item_json(item: Item) -> dict[str, Any]:
    """The JSON of an item without fields that depend on the run: its dense index, and which of its
    questions are drawn.
    """
    fields = encode_item(item)
    del fields["first"]
    for question in fields["questions"]:
        if question["unscored"] == Reason.NOT_DRAWN:
            question["unscored"] = None
    return fields


def _decoding_settings(part: BenchmarkSpec) -> dict[str, str]:
    """The numeric settings, which go to the model; the others only affect reading and scoring."""
    numeric = {setting.name for setting in benchmark(part.name).settings if not setting.choices}
    return {name: value for name, value in part.settings.items() if name in numeric}


class ReplyBook:
    """The cached replies of one job, as read and extended by `run`.

    `is_dirty` is set if there are new replies to save. The stored object records which run asked
    first, and which replies other runs added. Earlier commits did not record that: their replies
    count as another run's.
    """

    def __init__(
        self, key: str, salt: str = "", run: str = "", book: Mapping[str, Any] | None = None
    ) -> None:
        self._key, self._salt, self._run = key, salt, run
        book = {"run": run} if book is None else book
        self._replies: dict[str, Any] = dict(book.get("replies", {}))
        self._first_run: str = book.get("run", "")
        self._added_by: dict[str, str] = dict(book.get("added", {}))
        self.is_dirty = False

    @classmethod
    async def open(cls, store: ObjectStore | None, key: str, salt: str, run: str) -> ReplyBook:
        """Open the book of a job, with the replies already stored.

        Raises NewerSchema if a newer release wrote it, StoreUnavailable.
        """
        return cls(key, salt, run, await _stored(store, key) if store else None)

    async def save(self, store: ObjectStore | None, *, whole: bool = True) -> None:
        """Write the book to the store if it has grown. One that is not `whole` lacks replies that
        others may have stored meanwhile: it gets them first.

        Raises NewerSchema, StoreUnavailable or StoreFull.
        """
        if store is None or not self.is_dirty:
            return
        if not whole:
            # A store that is away refuses the write as well, and may hold it for later.
            with suppress(StoreUnavailable):
                self._merge(await _stored(store, self._key))
        book = {"schema": SCHEMA, "run": self._first_run, "replies": self._replies}
        added = {"added": self._added_by} if self._added_by else {}
        await store.put(object_key(self._key), canonical_json({**book, **added}))
        self.is_dirty = False

    @property
    def askers(self) -> Mapping[str, int]:
        """The number of cached replies by the run that requested them."""
        return Counter(self._added_by.get(key, self._first_run) for key in self._replies)

    def is_reused(self, key: str) -> bool:
        """Whether the cached reply was requested by another run."""
        return self._added_by.get(key, self._first_run) != self._run

    def key_of_ask(self, identity: Identity, ask: Ask, request: Request) -> str:
        """The reply key of an ask that is sent as `request`."""
        decoding = fields_of(request.decoding)
        position = (ask.repeat, ask.attempt)
        return reply_key(identity.to_json(), request.to_json(), decoding, position, self._salt)

    def key_of_text(self, identity: Identity, kind: str, text: str) -> str:
        """The reply key of the nouns or the vector of one text."""
        return reply_key(identity.to_json(), [kind, text], {}, (0, 0), "")

    def reply(self, key: str) -> Reply | None:
        """The cached reply of a model."""
        fields = self._replies.get(key)
        return None if fields is None else Reply(**fields)

    def values(self, key: str) -> Sequence[Any] | None:
        """The cached nouns, or the cached vector."""
        values: Sequence[Any] | None = self._replies.get(key)
        return values

    def add(self, key: str, answer: Answer | Sequence[Any]) -> None:
        """Cache a reply, nouns or a vector. Ignores failures and blank replies."""
        if isinstance(answer, Reply):
            if answer.text.strip():
                self._put(key, fields_of(answer))
        elif isinstance(answer, Sequence):
            self._put(key, list(answer))

    def _put(self, key: str, value: Any) -> None:
        self._replies[key] = value
        if self._first_run != self._run:
            self._added_by[key] = self._run
        self.is_dirty = True

    def _merge(self, book: Mapping[str, Any] | None) -> None:
        if book is None:
            return
        first = book.get("run", "")
        if first != self._first_run:
            own = self._replies.keys() - book["replies"].keys()
            self._added_by |= dict.fromkeys(own - self._added_by.keys(), self._first_run)
            self._first_run = first
        self._added_by = {**book.get("added", {}), **self._added_by}
        self._replies = {**book["replies"], **self._replies}


async def _stored(store: ObjectStore, key: str) -> dict[str, Any] | None:
    """The stored fields of a job's book. Raises NewerSchema, StoreUnavailable."""
    data = await store.get(object_key(key))
    book = None if data is None else _read(data)
    if book is not None:
        refuse_newer(book.get("schema"), object_key(key))
    return book


def _read(data: bytes) -> dict[str, Any] | None:
    """The fields of a job object; None if it is broken, so that its replies are requested again."""
    try:
        book = json.loads(data)
    except (ValueError, RecursionError):
        return None
    valid = isinstance(book, dict) and isinstance(book.get("replies"), dict)
    return book if valid else None


def object_key(key: str) -> str:
    """The key of the object that holds the replies of a job."""
    return f"jobs/{key[:2]}/{key}.json"
