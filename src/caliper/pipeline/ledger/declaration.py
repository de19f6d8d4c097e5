"""The part of a report that needs no verdicts: models, settings, generation and data."""

from __future__ import annotations

from dataclasses import replace

from caliper.benchmarks.registry import benchmark
from caliper.core.keys import digest
from caliper.core.question import Decoding, Source
from caliper.core.report import BenchmarkReport, Coverage, Generation, Report
from caliper.core.run import BenchmarkSpec, RunSpec, RunState

_KINDS_WITHOUT_DECODING = ("lexical", "replay", "function")
"""Kinds of models without decoding settings."""


def empty_report(spec: RunSpec) -> Report:
    """A report without verdicts or scores: models, settings and data only."""
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
    """Every protocol setting of a benchmark, the caption prompt, and how media were prepared."""
    details = {} if part.preparation is None else part.preparation.describe()
    if part.taxonomy:
        details["taxonomy"] = digest(part.taxonomy)[:12]
    if "captioner" in part.models and part.captions is None:
        details["caption_tokens"] = str(part.caption_tokens)
    return {**part.settings, "prompt": part.prompt, **details}


def models_of(part: BenchmarkSpec) -> dict[str, str]:
    """The name, kind and revision of each model, by role."""
    return {
        role: f"{model.name} ({model.kind}, no revision)"
        if model.label == model.name
        else model.label
        for role, model in sorted(part.models.items())
    }


def generation_of(spec: RunSpec, part: BenchmarkSpec) -> dict[str, Generation]:
    """The generation settings of a benchmark's chat models: the judge or reader, and the
    checkpoint.
    """
    definition, seed = benchmark(part.name), spec.sampling_seed
    generations = {}
    for role, source in ((definition.role, Source.CAPTION), ("media", Source.MEDIA)):
        if role in part.models and part.models[role].kind not in _KINDS_WITHOUT_DECODING:
            generation = definition.generation(source, part.settings, part.repeats)
            decoding = replace(generation.decoding, seed=seed)
            generations[role] = replace(generation, decoding=decoding)
    captioner = None if part.captions is not None else part.models.get("captioner")
    if captioner is not None and captioner.kind not in _KINDS_WITHOUT_DECODING:
        decoding = Decoding(max_tokens=part.caption_tokens, seed=seed)
        generations["captioner"] = Generation((part.prompt,), decoding)
    return generations


def spec_for_readers(spec: RunSpec) -> dict[str, object]:
    """The spec as readers need it to reproduce the run, in addition to settings and models.

    Leaves out the run id, so equal results give equal files.
    """
    fields = spec.to_json()
    benchmarks = fields.pop("benchmarks")
    for kind in ("data", "qa_data", "captions"):
        fields[kind] = {part["name"]: part[kind] for part in benchmarks if part[kind]}
    if names := {part.name: part.data_name for part in spec.benchmarks if part.data_name}:
        fields["data_names"] = names
    return fields
