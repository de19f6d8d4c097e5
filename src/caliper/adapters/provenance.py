"""How the figures of a benchmark were made: the same facts in every readable report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from caliper.adapters.caption_warnings import injection_note
from caliper.adapters.phrases import percent
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
_SHOWN_ELSEWHERE = frozenset(
    {
        *("prompt", "taxonomy", "frames", "images", "caption_tokens"),
        *("temperature", "top_p", "max_tokens"),
    }
)
"""Settings that have a fact of their own."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about how figures were made.

    The terminal omits facts that are not `brief` and highlights a `warning`.
    """

    label: str
    text: str
    brief: bool = True
    warning: bool = False


def facts(part: BenchmarkReport, spec: Mapping[str, Any]) -> Iterator[Fact]:
    """How a benchmark's figures were made; `spec` is that of its report."""
    supplied = part.name in spec.get("captions", {})
    if data := spec.get("data_names", {}).get(part.name):
        yield Fact("Data", data)
    yield Fact("Captions", _captions(part, supplied=supplied))
    for role, label in _ROLES.items():
        # With supplied captions, the captioner only answers questions from the media.
        if role in part.models and not (role == "captioner" and supplied):
            yield Fact(label, part.models[role])
        if role in part.generation:
            yield from _generation(label, part, part.generation[role], spec)
    if "frames" in part.settings:
        frames, images = part.settings["frames"], part.settings["images"]
        yield Fact("Media", f"frames of a clip: {frames}; pictures: {images}")
    if settings := sorted(part.settings.keys() - _SHOWN_ELSEWHERE):
        text = ", ".join(f"{key}={part.settings[key]}" for key in settings)
        yield Fact("Settings", text, brief=False)
    yield Fact("Coverage", coverage(part.coverage))
    if signs := injection_note(part.suspicious):
        warning = part.suspicious.captions > 0
        yield Fact("Signs", signs, brief=warning, warning=warning)
    if part.check is not None:
        yield Fact("Judge check", _check(part.check))
    if "judge" in part.generation or "reader" in part.generation:
        yield Fact("Known agreement", "none for this judge; `caliper agreement` measures it")


def _captions(part: BenchmarkReport, *, supplied: bool) -> str:
    examined = part.suspicious.examined
    text = f"{examined:,} " if examined else ""
    text += "supplied" if supplied else "written by the captioner"
    if examined and part.settings.get(BLANK_CAPTION.name) == "answer":
        estimate = part.estimates.get(BLANK_CAPTIONS)
        blank = int(estimate.value) if estimate is not None and estimate.value else 0
        text += f", {blank:,} blank ({percent(blank / examined)})" if blank else ", none blank"
    if supplied:
        # The prompt of supplied captions cannot be verified.
        return f"{text}; caption prompt recorded as {part.settings.get('prompt', 'none')}"
    return text


def _generation(
    label: str, part: BenchmarkReport, generation: Generation, spec: Mapping[str, Any]
) -> Iterator[Fact]:
    names = ", ".join(name.removeprefix(f"{part.name}/") for name in generation.prompts)
    if label == _ROLES["captioner"] and "taxonomy" in part.settings:
        names += f", taxonomy {part.settings['taxonomy']}"
    pack = str(spec.get("pack", ""))[:12]
    yield Fact(f"{label}: prompts", f"{names} (pack {pack})", brief=False)
    decoding = generation.decoding
    times = "once" if generation.repeats == 1 else f"{generation.repeats} times"
    yield Fact(
        f"{label}: decoding",
        f"temperature {decoding.temperature:g}, top-p {decoding.top_p:g}, "
        f"at most {decoding.max_tokens:,} tokens, seed {decoding.seed}; each asked {times}",
    )


def coverage(counts: Coverage) -> str:
    """How many questions have a score, and the share of unscored ones per reason."""
    text = f"{counts.scored:,} of {counts.askable:,} askable questions scored"
    failures = {name: count for name, count in counts.unscored.items() if name != "not_drawn"}
    if failures:
        drawn = counts.planned - counts.undrawn
        reasons = (
            f"{count:,} {reason} ({percent(count / drawn)})"
            for reason, count in sorted(failures.items())
        )
        text += f"; unscored: {', '.join(reasons)}"
    return text


def _check(check: JudgeCheck) -> str:
    text = f"{check.agreed:,} of {check.scored:,} known answers judged correctly"
    if check.scored:
        text += f" ({percent(check.agreed / check.scored)})"
    return f"{text}, {check.unscored:,} without a verdict" if check.unscored else text
