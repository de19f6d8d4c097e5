"""Checks of a run's benchmarks that need neither data nor models."""

from __future__ import annotations

from caliper.benchmarks.registry import benchmark
from caliper.benchmarks.settings import check_prompt, resolve_settings
from caliper.core.errors import InvalidInput
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import RunConfig
from caliper.wiring.endpoint_tokens import endpoint_places
from caliper.wiring.specs import check_embedder, check_tagger, split_chat_spec, split_spec


def check_parts(config: RunConfig) -> None:
    """Raise InvalidInput for a role, setting or caption prompt that a benchmark lacks, and a folder
    of media that does not exist; it names the flag, or file, line and field.
    """
    for name, part in config.benchmarks.items():
        for role in ("judge", "reader"):
            with config.origin.naming(name, role):
                _check_role(name, role, getattr(part, role))
        with config.origin.naming(name, "set"):
            resolve_settings(name, part.set)
        with config.origin.naming(name, "prompt"):
            check_prompt(name, part.prompt)
        with config.origin.naming(name, "media"):
            if part.lacks_media:
                raise InvalidInput(f"no such folder: {part.media}")


def check_specs(config: RunConfig) -> None:
    """Raise InvalidInput, like `check_parts`, for a SPEC that names no model. Addresses with a
    checkpoint's {field} are not known yet.
    """
    for name, part in config.benchmarks.items():
        role = benchmark(name).role
        answerer = answerer_spec(name, part)
        with config.origin.naming(name, role, answerer):
            split_spec(answerer)
            endpoint_places(answerer)
        if benchmark(name).needs_language:
            with config.origin.naming(name, "tagger"):
                check_tagger(part.tagger)
            with config.origin.naming(name, "embedder", part.embedder):
                check_embedder(part.embedder)
        if part.captioner is not None:
            with config.origin.naming(name, "captioner", part.captioner):
                split_chat_spec(part.captioner)
                if "{" not in part.captioner.partition("#")[0]:
                    endpoint_places(part.captioner)


def answerer_spec(name: str, part: BenchmarkConfig) -> str:
    """The SPEC of the judge or reader. Raises InvalidInput for a role that the benchmark lacks."""
    specs = {"judge": part.judge, "reader": part.reader}
    for role, spec in specs.items():
        _check_role(name, role, spec)
    return specs[benchmark(name).role] or "lexical"


def _check_role(name: str, role: str, spec: str | None) -> None:
    own = benchmark(name).role
    if role != own and spec is not None:
        raise InvalidInput(f"{name} has no {role}; it has a {own}")
