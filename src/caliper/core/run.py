"""A run: what was measured, resolved so far that its fingerprint names it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from caliper.core.caption import CAPTION_TOKENS
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import digest, run_id, sampling_seed
from caliper.core.preparation import Preparation
from caliper.core.question import Source
from caliper.core.taxonomy import Taxonomy

SCHEMA = 1
_HASH = re.compile("[0-9a-f]{40,}")


class RunState(StrEnum):
    """Where a run stands. `finished`: every question has an outcome; `complete`: and enough
    of them are scores. Only the report of a complete run is more than partial.
    """

    PLANNING = "planning"
    RUNNING = "running"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    FINISHED = "finished"
    COMPLETE = "complete"
    FAILED = "failed"


OVER = frozenset({RunState.CANCELLED, RunState.FINISHED, RunState.COMPLETE, RunState.FAILED})
"""What a run ends in."""


def check_name(name: str) -> None:
    """Raise InvalidInput, with the field `name`, for a checkpoint's name that is more than a line
    of text: lists, reports and terminals show it to others.

    Line ends, control characters and those that turn the direction of writing are refused. A
    lone surrogate passes, for the names of files hold them: it is shown by its escape.
    """
    odd = next((sign for sign in name if not (sign.isprintable() or _lone(sign))), None)
    if odd is not None:
        message = f"expected printable characters only, found {odd!a} in {name!r:.80}"
        raise InvalidInput(message, field="name")


def _lone(sign: str) -> bool:
    return "\ud800" <= sign <= "\udfff"


@dataclass(frozen=True, slots=True)
class Identity:
    """Which model answers. `kind` is the adapter's (lexical, replay, tgi ...).

    `revision` changes whenever replies may change: a hash that the server reports or the user
    names, a hash of rules or of recorded replies. Empty where nobody knows one. `origin` is what
    else the server says of the model: it tells replicas and switched models apart, but two
    models may share it. `cached` tells whether replies are worth keeping in the store; it is no
    part of who the model is.
    """

    kind: str
    name: str
    revision: str
    cached: bool = field(default=False, compare=False)
    origin: str = ""

    @property
    def label(self) -> str:
        """How reports name the model; hashes are cut to 12 digits."""
        if not self.revision and not self.origin:
            return self.name
        known = self.revision or f"no revision, origin {self.origin}"
        short = _HASH.sub(lambda found: found[0][:12], known)
        return f"{self.name} ({self.kind}, {short})"

    def to_json(self) -> dict[str, str]:
        """What of the identity is part of keys and specs."""
        origin = {"origin": self.origin} if self.origin else {}
        return {"kind": self.kind, "name": self.name, "revision": self.revision, **origin}

    @property
    def by_origin(self) -> Identity:
        """The identity as specs from before origins have it: the origin is the revision."""
        if self.revision:
            return self
        return replace(self, revision=self.origin, origin="")

    def meant_by(self, named: Identity) -> bool:
        """Whether a spec that names `named` was resolved with this model. Earlier commits have the
        origin as the revision, or leave it out.
        """
        return named in (self, self.by_origin, replace(self, origin=""))


RECORDED = "replay"
"""The kind of recorded replies, and their name where nobody says whose they are."""


def recorded(revision: str, name: str = RECORDED) -> Identity:
    """Who gives recorded replies: the model of that `name`, if it is known; `revision` is the
    digest of the recordings.
    """
    return Identity(kind=RECORDED, name=name, revision=revision)


@dataclass(frozen=True, slots=True)
class BenchmarkSpec:
    """One benchmark of a run. Data are named by digest, models by identity.

    `prompt` is the caption prompt's name: used by a captioner, recorded when captions
    are supplied. `models` maps the roles (captioner, judge, reader, media, tagger,
    embedder) to identities; `media` answers the questions that are asked from the media.
    `preparation` is what a captioner is shown of them, None where no model looks at media.
    `taxonomy` holds the nodes that the caption prompt lists for those domains where they are
    not the benchmark's own. `caption_tokens` are the most that a captioner may
    write of one sample.
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

    @property
    def asked_of_checkpoint(self) -> frozenset[Source]:
        """What the checkpoint itself is reached for: captions, answers from the media."""
        captioner = self.models.get("captioner")
        answers = captioner is not None and self.models.get("media") == captioner
        sources = ((Source.CAPTION, self.captions is None), (Source.MEDIA, answers))
        return frozenset(source for source, asked in sources if asked)

    def to_json(self) -> dict[str, Any]:
        # Left out where there is none, or the default: such runs keep their fingerprints.
        shown: dict[str, Any] = {}
        if self.preparation is not None:
            shown["preparation"] = self.preparation.to_json()
        if self.taxonomy:
            shown["taxonomy"] = {name: list(nodes) for name, nodes in self.taxonomy.items()}
        if self.caption_tokens != CAPTION_TOKENS:
            shown["caption_tokens"] = self.caption_tokens
        return {
            **{name: getattr(self, name) for name in ("name", "data", "captions", "qa_data")},
            **shown,
            "prompt": self.prompt,
            "repeats": self.repeats,
            "settings": dict(self.settings),
            "models": {role: model.to_json() for role, model in self.models.items()},
        }


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Everything that can change a figure, and nothing that cannot.

    No path, URL, output folder or concurrency. `limit` items a task or domain are drawn
    by `seed`; `replicate` tells deliberate repetitions of a run apart. With `share_replies`
    replies of models without a revision are shared with other runs, too.
    """

    name: str
    version: str
    pack: str
    benchmarks: tuple[BenchmarkSpec, ...]
    seed: int = 0
    limit: int | None = None
    replicate: int = 0
    coverage_floor: float = 0.99
    share_replies: bool = False
    schema: int = SCHEMA

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON of the whole spec."""
        return digest(self.to_json())

    @property
    def run_id(self) -> str:
        """The first 16 hexadecimal digits of the fingerprint."""
        return run_id(self.fingerprint)

    @property
    def sampling_seed(self) -> int:
        """The seed from which models draw. A server gives the same words for the same seed, so
        every replicate has its own.
        """
        return sampling_seed(self.seed, self.replicate)

    def benchmark(self, name: str) -> BenchmarkSpec:
        """The part of that benchmark. Raises KeyError when it is not in the run."""
        for spec in self.benchmarks:
            if spec.name == name:
                return spec
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` reads it back to an equal spec."""
        plain = ("name", "version", "pack", "seed", "limit", "replicate", "coverage_floor")
        # Left out where they are not shared: such runs keep their fingerprints.
        shared = {"share_replies": True} if self.share_replies else {}
        return {
            "schema": self.schema,
            **{name: getattr(self, name) for name in plain},
            **shared,
            "benchmarks": [spec.to_json() for spec in self.benchmarks],
        }

    @property
    def by_origin(self) -> RunSpec:
        """The spec as earlier commits resolved it, with origins as revisions."""
        parts = (
            replace(part, models={role: one.by_origin for role, one in part.models.items()})
            for part in self.benchmarks
        )
        return replace(self, benchmarks=tuple(parts))

    @classmethod
    def from_json(cls, written: Mapping[str, Any], *, file: str = "") -> RunSpec:
        """The spec that `to_json` wrote.

        Raises NewerSchema for a spec of a newer release, InvalidInput for anything else.
        """
        refuse_newer(written.get("schema"), file)
        try:
            parts = dict(written)
            benchmarks = tuple(_benchmark_from_json(part) for part in parts.pop("benchmarks"))
            return cls(benchmarks=benchmarks, **parts)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise InvalidInput(f"not a run spec: {error}", file=file) from error


def refuse_newer(schema: object, file: str) -> None:
    """Raise NewerSchema when `schema` is newer than this release reads, InvalidInput when
    it is no schema number.
    """
    if not isinstance(schema, int):
        raise InvalidInput("no schema number", file=file, field="schema")
    if schema > SCHEMA:
        raise NewerSchema(
            f"written with schema {schema} by a newer Caliper; this one reads up to {SCHEMA}",
            file=file,
            field="schema",
        )


def _benchmark_from_json(written: Mapping[str, Any]) -> BenchmarkSpec:
    parts = dict(written)
    models = {role: Identity(**model) for role, model in parts.pop("models").items()}
    shown = parts.pop("preparation", None)
    preparation = None if shown is None else Preparation.of(shown)
    taxonomy = {name: tuple(nodes) for name, nodes in parts.pop("taxonomy", {}).items()}
    return BenchmarkSpec(models=models, preparation=preparation, taxonomy=taxonomy, **parts)
