"""How the chat models of a run generate their replies, for its report."""

from __future__ import annotations

from dataclasses import replace

from caliper.benchmarks.registry import benchmark
from caliper.core.question import Decoding, Source
from caliper.core.report import Generation
from caliper.core.run import BenchmarkSpec, RunSpec

_NO_CHAT = ("lexical", "replay")
"""Kinds of models that are sent no prompt."""


def generation(spec: RunSpec, part: BenchmarkSpec) -> dict[str, Generation]:
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
