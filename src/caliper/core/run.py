"""A run's spec, resolved so completely that its fingerprint identifies the run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from caliper.core.caption import CAPTION_TOKENS
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import digest, run_id, sampling_seed
from caliper.core.preparation import Preparation
from caliper.core.question import Source
from caliper.core.taxonomy import Taxonomy

SCHEMA = 1
MOST_REPEATS = 100
"""The most times that a run may ask each question."""
COVERAGE_FLOOR = 0.99
"""The share of a benchmark's questions that need a score, unless a run or policy sets another."""
_HASH = re.compile("[0-9a-f]{40,}")


class RunState(StrEnum):
    """The state of a run. `finished`: every question has an outcome. `complete`: enough of the
    outcomes are also scores. `decided`: enough are of those that were drawn, and the answer needs
    no others. The report of a run in any other state than the last two is partial.
    """

    PLANNING = "planning"
    RUNNING = "running"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    FINISHED = "finished"
    COMPLETE = "complete"
    DECIDED = "decided"
    FAILED = "failed"


WHOLE_STATES = frozenset({RunState.COMPLETE, RunState.DECIDED})
"""The states of a run in which nothing is left to ask."""
REPORTED_STATES = WHOLE_STATES | {RunState.FINISHED}
"""The states of a run that ended with a report of all that was asked."""
FINAL_STATES = REPORTED_STATES | {RunState.CANCELLED, RunState.FAILED}
"""The final states."""


def check_name(name: str, field: str = "name") -> None:
    """Raise InvalidInput, naming the field, for a checkpoint name that is not one line of
    printable text: lists, reports and terminals show it to others.

    Line ends, control characters and text direction marks are refused. Lone surrogates pass,
    because file names may contain them; they are shown escaped.
    """
    bad = next((c for c in name if not (c.isprintable() or "\ud800" <= c <= "\udfff")), None)
    if bad is not None:
        message = f"expected printable characters only, found {bad!a} in {name!r:.80}"
        raise InvalidInput(message, field=field)


@dataclass(frozen=True, slots=True)
class Identity:
    """Which model answers. `kind` is the adapter's (lexical, replay, tgi ...).

    `revision` changes whenever replies may change: a hash reported by the server or given by the
    user, or a hash of rules or of recorded replies. Empty if unknown. `origin` is whatever else
    the server says about the model: it tells replicas and switched models apart, but two models
    may share it. `cached` says whether replies are worth storing; it is not part of the identity.
    """

    kind: str
    name: str
    revision: str
    cached: bool = field(default=False, compare=False)
    origin: str = ""

    @property
    def label(self) -> str:
        """The model's name in reports, with hashes cut to 12 digits."""
        if not self.revision and not self.origin:
            return self.name
        revision = self.revision or f"no revision, origin {self.origin}"
        short = _HASH.sub(lambda match: match[0][:12], revision)
        return f"{self.name} ({self.kind}, {short})"

    def to_json(self) -> dict[str, str]:
        """The part of the identity that goes into keys and specs."""
        origin = {"origin": self.origin} if self.origin else {}
        return {"kind": self.kind, "name": self.name, "revision": self.revision, **origin}

    @property
    def by_origin(self) -> Identity:
        """The identity as in specs from before origins: with the origin as revision."""
        if self.revision:
            return self
        return replace(self, revision=self.origin, origin="")

    def matches(self, other: Identity) -> bool:
        """Whether a spec with the identity `other` was resolved with this model. Earlier commits
        recorded the origin as the revision, or not at all.
        """
        return other in (self, self.by_origin, replace(self, origin=""))


RECORDED = "replay"
"""The kind of recorded replies, and the name of their model if it is unknown."""


def recorded_identity(revision: str, name: str = RECORDED) -> Identity:
    """The identity of recorded replies: the model's `name`, if known, and as `revision` the digest
    of the recordings.
    """
    return Identity(kind=RECORDED, name=name, revision=revision)


@dataclass(frozen=True, slots=True)
class BenchmarkSpec:
    """One benchmark of a run. Data are identified by digest, models by identity.

    `prompt` is the name of the caption prompt: used by a captioner, and recorded if captions are
    supplied. `models` maps the roles (captioner, judge, reader, media, tagger, embedder) to
    identities; `media` answers questions about the media. `preparation` says how media are
    prepared for a captioner, None if no model sees them. `taxonomy` holds the nodes that the
    caption prompt lists, for domains that do not use the benchmark's own. `caption_tokens` is the
    output token limit per caption. `media` is the digest of the media by path that whoever started
    the run pushed, empty for those that are everybody's. `data_name` is the name and revision that
    the data were fetched by, empty if they were not; it identifies nothing, as the digest does.
    """

    name: str
    data: str
    captions: str | None
    settings: Mapping[str, str]
    models: Mapping[str, Identity]
    qa_data: str | None = None
    prompt: str = "simple"
    repeats: int | None = None
    preparation: Preparation | None = None
    taxonomy: Taxonomy = field(default_factory=dict)
    caption_tokens: int = CAPTION_TOKENS
    media: str = ""
    data_name: str = field(default="", compare=False)

    @property
    def checkpoint_sources(self) -> frozenset[Source]:
        """What the checkpoint itself is called for: captions, answers from the media."""
        captioner = self.models.get("captioner")
        answers = captioner is not None and self.models.get("media") == captioner
        sources = ((Source.CAPTION, self.captions is None), (Source.MEDIA, answers))
        return frozenset(source for source, needed in sources if needed)

    def to_json(self) -> dict[str, Any]:
        # Defaults are left out, so that the fingerprints of earlier runs stay the same.
        optional: dict[str, Any] = {}
        if self.preparation is not None:
            optional["preparation"] = self.preparation.to_json()
        if self.taxonomy:
            optional["taxonomy"] = {name: list(nodes) for name, nodes in self.taxonomy.items()}
        if self.caption_tokens != CAPTION_TOKENS:
            optional["caption_tokens"] = self.caption_tokens
        if self.media:
            optional["media"] = self.media
        if self.data_name:
            optional["data_name"] = self.data_name
        return {
            **{name: getattr(self, name) for name in ("name", "data", "captions", "qa_data")},
            **optional,
            "prompt": self.prompt,
            "repeats": self.repeats,
            "settings": dict(self.settings),
            "models": {role: model.to_json() for role, model in self.models.items()},
        }


@dataclass(frozen=True)
class RunSpec:
    """Everything that can change a figure, and nothing else but the names of fetched data.

    No path, URL, output folder or concurrency. `limit` items per task or domain are drawn with
    `seed`. `replicate` tells deliberate repetitions of a run apart. With `share_replies`, even
    replies of models without a revision are shared with other runs. `judge_share` is the share of
    the questions about captions that are asked, None for all. `judging` is the digest of what ends
    the run once the answer is sure, empty if all questions are asked.
    """

    name: str
    version: str
    pack: str
    benchmarks: tuple[BenchmarkSpec, ...]
    seed: int = 0
    limit: int | None = None
    replicate: int = 0
    coverage_floor: float = COVERAGE_FLOOR
    share_replies: bool = False
    judge_share: float | None = None
    judging: str = ""
    schema: int = SCHEMA

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON of the whole spec, but for where data were fetched from."""
        parts = tuple(replace(part, data_name="") for part in self.benchmarks)
        return digest(replace(self, benchmarks=parts).to_json())

    @property
    def run_id(self) -> str:
        """The first 16 hexadecimal digits of the fingerprint."""
        return run_id(self.fingerprint)

    @property
    def sampling_seed(self) -> int:
        """The sampling seed of models. A server repeats its text for the same seed, so every
        replicate has its own.
        """
        return sampling_seed(self.seed, self.replicate)

    def benchmark(self, name: str) -> BenchmarkSpec:
        """The spec of a benchmark. Raises KeyError if it is not in the run."""
        for spec in self.benchmarks:
            if spec.name == name:
                return spec
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` reads it back to an equal spec."""
        plain = ("name", "version", "pack", "seed", "limit", "replicate", "coverage_floor")
        # Defaults are left out, so that the fingerprints of earlier runs stay the same.
        optional: dict[str, Any] = {"share_replies": True} if self.share_replies else {}
        if self.judge_share is not None:
            optional["judge_share"] = self.judge_share
        if self.judging:
            optional["judging"] = self.judging
        return {
            "schema": self.schema,
            **{name: getattr(self, name) for name in plain},
            **optional,
            "benchmarks": [spec.to_json() for spec in self.benchmarks],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, file: str = "") -> RunSpec:
        """The spec that `to_json` wrote.

        Raises NewerSchema for a spec of a newer release, InvalidInput for anything else.
        """
        refuse_newer(data.get("schema"), file)
        try:
            parts = dict(data)
            benchmarks = tuple(_benchmark_from_json(part) for part in parts.pop("benchmarks"))
            return cls(benchmarks=benchmarks, **parts)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise InvalidInput(f"not a run spec: {error}", file=file) from error


def refuse_newer(schema: object, file: str) -> None:
    """Raise NewerSchema if `schema` is too new for this release, InvalidInput if it is not a
    schema number.
    """
    if not isinstance(schema, int):
        raise InvalidInput("no schema number", file=file, field="schema")
    if schema > SCHEMA:
        raise NewerSchema(
            f"written with schema {schema} by a newer Caliper; this one reads up to {SCHEMA}",
            file=file,
            field="schema",
        )


def _benchmark_from_json(data: Mapping[str, Any]) -> BenchmarkSpec:
    parts = dict(data)
    models = {role: Identity(**model) for role, model in parts.pop("models").items()}
    fields = parts.pop("preparation", None)
    preparation = None if fields is None else Preparation.of(fields)
    taxonomy = {name: tuple(nodes) for name, nodes in parts.pop("taxonomy", {}).items()}
    return BenchmarkSpec(models=models, preparation=preparation, taxonomy=taxonomy, **parts)
