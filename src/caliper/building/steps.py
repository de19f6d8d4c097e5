"""The effect of a build's step on each candidate, and its file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from caliper.building.candidates import (
    AssessedCandidate,
    Candidate,
    CandidateDecision,
    candidate_of,
)
from caliper.core.keys import fields_of
from caliper.core.rows import Row

_MOST_EXAMPLES = 3
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Fate:
    """A candidate after a step. `dropped` is the reason for dropping it, empty if it
    stays; `detail` adds to it for people. `decision` and `reasons` are the validators'.
    """

    candidate: Candidate
    dropped: str = ""
    detail: str = ""
    decision: str = ""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step of a build: the fate of every candidate that came in.

    `models` are the labels of the models that it used, `prompts` the digests of its prompts by
    name, and `remarks` are for people. `skipped` says why it did nothing.
    """

    name: str
    fates: tuple[Fate, ...]
    models: tuple[str, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    skipped: str = ""

    @property
    def stayed(self) -> tuple[Candidate, ...]:
        """The candidates that the next step gets."""
        return tuple(fate.candidate for fate in self.fates if not fate.dropped)

    @property
    def dropped(self) -> dict[str, int]:
        """The number of dropped candidates by reason, most frequent first."""
        return dict(Counter(fate.dropped for fate in self.fates if fate.dropped).most_common())

    @property
    def examples(self) -> dict[str, tuple[Fate, ...]]:
        """The first few dropped candidates of each reason."""
        return {
            reason: tuple(fate for fate in self.fates if fate.dropped == reason)[:_MOST_EXAMPLES]
            for reason in self.dropped
        }

    def summary(self) -> dict[str, Any]:
        """The step as JSON, without its candidates."""
        return {
            "step": self.name,
            "came": len(self.fates),
            "stayed": len(self.stayed),
            "dropped": self.dropped,
            "models": list(self.models),
            "prompts": dict(self.prompts),
            "remarks": list(self.remarks),
            "skipped": self.skipped,
        }


def keep_all(candidates: Iterable[Candidate]) -> tuple[Fate, ...]:
    """The fates of candidates that all stay."""
    return tuple(map(Fate, candidates))


def fate_lines(fates: Iterable[Fate]) -> str:
    """The fates as JSON Lines, for `read_fates`."""
    return "".join(
        json.dumps({**asdict(fate.candidate), **_own(fate)}, ensure_ascii=False) + "\n"
        for fate in fates
    )


def _own(fate: Fate) -> dict[str, Any]:
    fields = fields_of(fate)
    del fields["candidate"]
    return fields


def read_fates(rows: Iterable[Row]) -> tuple[Fate, ...]:
    """The fates in rows of a step's file. Raises InvalidInput naming file, line and field."""
    return tuple(
        Fate(
            candidate=candidate_of(row),
            dropped=str(row.fields.get("dropped", "")),
            detail=str(row.fields.get("detail", "")),
            decision=str(row.fields.get("decision", "")),
            reasons=tuple(map(str, row.fields.get("reasons", ()))),
        )
        for row in rows
    )


def restore_step(summary: Mapping[str, Any], fates: Iterable[Fate]) -> StepResult:
    """The step with that summary, as `StepResult.summary` returns it, and those fates."""
    return StepResult(
        name=str(summary["step"]),
        fates=tuple(fates),
        models=tuple(summary["models"]),
        prompts=dict(summary["prompts"]),
        remarks=tuple(summary["remarks"]),
        skipped=str(summary["skipped"]),
    )


def assess(fates: Sequence[Fate], pictures: Mapping[str, str]) -> list[AssessedCandidate]:
    """The candidates of these fates, with the validators' decisions.

    `pictures` are the digests of the pictures by path. They are part of ids, so that a verdict
    about a picture does not count for another one of the same name.
    """

    def candidate(plain: Candidate) -> Candidate:
        return replace(plain, id=f"{plain.id}-{pictures[plain.image][:_DIGITS]}")

    return [
        AssessedCandidate(candidate(fate.candidate), CandidateDecision(fate.decision), fate.reasons)
        for fate in fates
    ]


def coverage(categories: Iterable[str], candidates: Iterable[Candidate]) -> dict[str, int]:
    """The number of candidates per category, also if it is 0."""
    counts = Counter(candidate.category for candidate in candidates)
    return {category: counts[category] for category in categories}
