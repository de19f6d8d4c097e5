"""How the figures of a benchmark were made: the same facts in every readable report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from caliper.adapters.wording import percent, suspicious
from caliper.benchmarks.base import BLANK_CAPTION, BLANK_CAPTIONS
from caliper.core.report import BenchmarkReport, Coverage, Generation, JudgeCheck

TITLE = "How these figures were made"
_ROLES = {
    "captioner": "Captioner",
    "judge": "Judge",
    "reader": "Reader",
    "media": "Questions from the media",
    "tagger": "Nouns",
    "embedder": "Similarity",
}
_OF_ASKING = frozenset(
    {
        *("prompt", "taxonomy", "frames", "images", "caption_tokens"),
        *("temperature", "top_p", "max_tokens"),
    }
)
"""Settings that facts of their own tell."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing to know beside a figure. The terminal leaves out those that are not `brief`, and
    marks a `warning`.
    """

    label: str
    text: str
    brief: bool = True
    warning: bool = False


def facts(part: BenchmarkReport, spec: Mapping[str, Any]) -> tuple[Fact, ...]:
    """What a benchmark's figures rest on; `spec` is that of its report."""
    return tuple(_facts(part, spec))


def _facts(part: BenchmarkReport, spec: Mapping[str, Any]) -> Iterator[Fact]:
    supplied = part.name in spec.get("captions", {})
    yield Fact("Captions", _captions(part, supplied=supplied))
    for role, label in _ROLES.items():
        # Beside supplied captions a captioner only answers questions from the media.
        if role in part.models and not (role == "captioner" and supplied):
            yield Fact(label, part.models[role])
        if role in part.generation:
            yield from _generation(label, part, part.generation[role], spec)
    if "frames" in part.settings:
        frames, images = part.settings["frames"], part.settings["images"]
        yield Fact("Media", f"frames of a clip: {frames}; pictures: {images}")
    if settings := sorted(part.settings.keys() - _OF_ASKING):
        text = ", ".join(f"{key}={part.settings[key]}" for key in settings)
        yield Fact("Settings", text, brief=False)
    yield Fact("Coverage", coverage(part.coverage))
    if told := suspicious(part.suspicious):
        found = part.suspicious.captions > 0
        yield Fact("Signs", told, brief=found, warning=found)
    if part.check is not None:
        yield Fact("Judge check", _check(part.check))
    if "judge" in part.generation or "reader" in part.generation:
        yield Fact("Known agreement", "none for this judge; `caliper agreement` measures it")


def _captions(part: BenchmarkReport, *, supplied: bool) -> str:
    examined = part.suspicious.examined
    told = f"{examined:,} " if examined else ""
    told += "supplied" if supplied else "written by the captioner"
    if examined and part.settings.get(BLANK_CAPTION.name) == "answer":
        found = part.estimates.get(BLANK_CAPTIONS)
        blank = int(found.value) if found is not None and found.value else 0
        told += f", {blank:,} blank ({percent(blank / examined)})" if blank else ", none blank"
    if supplied:
        # Nobody checks which prompt supplied captions were written with.
        return f"{told}; caption prompt recorded as {part.settings.get('prompt', 'none')}"
    return told


def _generation(
    label: str, part: BenchmarkReport, found: Generation, spec: Mapping[str, Any]
) -> Iterator[Fact]:
    names = ", ".join(name.removeprefix(f"{part.name}/") for name in found.prompts)
    if label == _ROLES["captioner"] and "taxonomy" in part.settings:
        names += f", taxonomy {part.settings['taxonomy']}"
    pack = str(spec.get("pack", ""))[:12]
    yield Fact(f"{label}: prompts", f"{names} (pack {pack})", brief=False)
    sent = found.decoding
    times = "once" if found.repeats == 1 else f"{found.repeats} times"
    yield Fact(
        f"{label}: decoding",
        f"temperature {sent.temperature:g}, top-p {sent.top_p:g}, at most {sent.max_tokens:,} "
        f"tokens, seed {sent.seed}; each asked {times}",
    )


def coverage(found: Coverage) -> str:
    """How many questions have a score, and the share of those without one by reason."""
    told = f"{found.scored:,} of {found.askable:,} askable questions scored"
    if found.unscored:
        reasons = (
            f"{count:,} {reason} ({percent(count / found.planned)})"
            for reason, count in sorted(found.unscored.items())
        )
        told += f"; unscored: {', '.join(reasons)}"
    return told


def _check(found: JudgeCheck) -> str:
    told = f"{found.agreed:,} of {found.scored:,} known answers judged correctly"
    if found.scored:
        told += f" ({percent(found.agreed / found.scored)})"
    return f"{told}, {found.unscored:,} without a verdict" if found.unscored else told
