"""What a run says of itself before there is a verdict: models, settings, data."""

from __future__ import annotations

from dataclasses import replace

from caliper.benchmarks.registry import benchmark
from caliper.core.keys import digest
from caliper.core.question import Decoding, Source
from caliper.core.report import BenchmarkReport, Coverage, Generation, Report
from caliper.core.run import BenchmarkSpec, RunSpec, RunState

_NO_CHAT = ("lexical", "replay")
"""Kinds of models that are sent no prompt."""


def declared(spec: RunSpec) -> Report:
    """What a report says without a single verdict: models, settings, data. No figures."""
    parts = (
        BenchmarkReport(
            name=part.name,
            title=benchmark(part.name).title,
            headline=(),
            estimates={},
            tables=(),
            coverage=Coverage(0, 0),
            settings=settings_of(part),
            models=models_of(part),
            generation=generation_of(spec, part),
        )
        for part in spec.benchmarks
    )
    return Report(spec.name, str(RunState.PLANNING), tuple(parts), spec_for_readers(spec))


def settings_of(part: BenchmarkSpec) -> dict[str, str]:
    """Every protocol choice of a benchmark, the caption prompt, and what a captioner was shown."""
    shown = {} if part.preparation is None else part.preparation.shown()
    if part.taxonomy:
        shown["taxonomy"] = digest(part.taxonomy)[:12]
    if "captioner" in part.models and part.captions is None:
        shown["caption_tokens"] = str(part.caption_tokens)
    return {**part.settings, "prompt": part.prompt, **shown}


def models_of(part: BenchmarkSpec) -> dict[str, str]:
    """Name, kind and revision of each model by its role."""
    return {
        role: f"{model.name} ({model.kind}, no revision)"
        if model.label == model.name
        else model.label
        for role, model in sorted(part.models.items())
    }


def generation_of(spec: RunSpec, part: BenchmarkSpec) -> dict[str, Generation]:
    """How the chat models of a benchmark generate: who judges or reads, and the checkpoint."""
    chosen, seed = benchmark(part.name), spec.sampling_seed
    found = {}
    for role, source in ((chosen.role, Source.CAPTION), ("media", Source.MEDIA)):
        if role in part.models and part.models[role].kind not in _NO_CHAT:
            asked = chosen.generation(source, part.settings, part.repeats)
            found[role] = replace(asked, decoding=replace(asked.decoding, seed=seed))
    if part.captions is None and "captioner" in part.models:
        decoding = Decoding(max_tokens=part.caption_tokens, seed=seed)
        found["captioner"] = Generation((part.prompt,), decoding)
    return found


def spec_for_readers(spec: RunSpec) -> dict[str, object]:
    """What a reader needs to repeat the run beside settings and models; no run id, so that
    equal findings are equal files.
    """
    written = spec.to_json()
    benchmarks = written.pop("benchmarks")
    for kind in ("data", "qa_data", "captions"):
        written[kind] = {part["name"]: part[kind] for part in benchmarks if part[kind]}
    return written
