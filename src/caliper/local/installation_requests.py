"""What an installation is asked for by its suites, and which of them it cannot evaluate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from caliper.core.errors import InvalidInput
from caliper.core.suites import Suite
from caliper.local.config import BenchmarkConfig, RunConfig, check_config
from caliper.local.request import part_request
from caliper.pipeline.planning.resolution import BenchmarkRequest
from caliper.pipeline.store.supplies import check_digest
from caliper.pipeline.suites.accounts import limits_of

_OF_A_MACHINE = ("tgi:", "triton:", "replay:", "http:", "https:")


def check_installed(suite: Suite) -> None:
    """Raise InvalidInput, naming the field, for a suite that an installation cannot evaluate."""
    config = check_config(suite.values["run"], file=f"suite {suite.name}")
    month = limits_of(suite)
    refusals: dict[str, tuple[bool, str]] = {
        "budget.month.money": ("money" in month, "an installation knows no prices"),
        "budget.month.tokens": (
            "tokens" in month and config.max_tokens is None,
            "an installation counts tokens only of suites with budget.tokens",
        ),
        "serve": (
            suite.values.get("serve") is not None,
            "an installation serves no checkpoints: supply their captions, or name its captioner",
        ),
        "retention": (
            suite.keep is not None,
            "an installation removes runs by CALIPER_GATEWAY_RETENTION_DAYS",
        ),
        "pack": (config.pack is not None, "an installation has its own prompts"),
        "anchors": (
            config.anchors is not None,
            "whether anchors are judged, an installation's judges are told by its own settings",
        ),
    }
    for name, part in config.benchmarks.items():
        for role in ("judge", "reader", "captioner"):
            spec = getattr(part, role) or ""
            message = f"name it as the installation's {role} names itself, not by {spec:.60}"
            is_foreign = spec.startswith(_OF_A_MACHINE)
            refusals[f"benchmarks.{name}.{role}"] = (is_foreign, message)
        for server in ("tagger", "embedder"):
            is_own = getattr(part, server) != BenchmarkConfig.model_fields[server].default
            refusals[f"benchmarks.{name}.{server}"] = (is_own, "it is that of the installation")
    for place, (is_refused, message) in refusals.items():
        if is_refused:
            raise InvalidInput(f"not with --server: {message}", field=place)


def benchmark_request(suite: Suite, config: RunConfig, name: str) -> BenchmarkRequest:
    """The request of a benchmark whose files are named by digest. Raises InvalidInput."""
    part = config.benchmarks[name]
    try:
        digests = {field: check_digest(text, field) for field, text in _named_files(part)}
    except InvalidInput as error:
        message = "it was applied without its data: apply it again, with --server"
        raise InvalidInput(message, file=f"suite {suite.name}", field=error.field) from error
    answerers = {role: spec for role in ("judge", "reader") if (spec := getattr(part, role))}
    request = part_request(name, part, digests, part.captioner, answerers)
    nodes = suite.values.get("taxonomies", {}).get(name, {})
    return replace(request, taxonomy={domain: tuple(each) for domain, each in nodes.items()})


def _named_files(part: BenchmarkConfig) -> Iterator[tuple[str, str]]:
    files = {"data": part.data, "qa_data": part.qa, "qa_replies": part.qa_replies}
    return ((field, str(file)) for field, file in files.items() if isinstance(file, Path))
