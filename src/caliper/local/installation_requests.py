"""The requests of suites to an installation, and the suites that it cannot evaluate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from caliper.core.errors import InvalidInput
from caliper.core.suites import Suite
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import RunConfig, check_config
from caliper.local.request import part_request
from caliper.local.serve_config import suite_serving
from caliper.pipeline.planning.resolution import BenchmarkRequest
from caliper.pipeline.store.supplies import check_digest
from caliper.pipeline.suites.accounts import limits_of
from caliper.wiring.specs import CHAT_KINDS

OWN_ANCHORS = "an installation's own settings decide whether anchors are judged"
_OF_THE_SERVER = (
    "chat:{endpoint}#{model}@{revision}",
    "triton:{endpoint}/{model}#revision={revision}",
)
_SERVERS = (*(f"{kind}:{{endpoint}}#" for kind in CHAT_KINDS), "triton:{endpoint}/")
_OF_A_MACHINE = (*(f"{kind}:" for kind in CHAT_KINDS), "triton:", "replay:", "http:", "https:")


def check_installed(suite: Suite) -> None:
    """Raise InvalidInput, naming the field, for a suite that an installation cannot evaluate."""
    config = check_config(suite.values["run"], file=f"suite {suite.name}")
    month, serve = limits_of(suite), suite_serving(suite.values)
    refusals: dict[str, tuple[bool, str]] = {
        **{
            f"budget.month.{kind}": (
                kind in month and config.max_tokens is None,
                "an installation only counts tokens of suites with budget.tokens",
            )
            for kind in ("tokens", "money")
        },
        "serve.command": (
            serve is not None and serve.command is not None,
            "an installation runs no commands; use triton, endpoint or pod",
        ),
        **{
            f"serve.{name}": (
                serve is not None and name in serve.model_fields_set,
                "a setting of the service that evaluates suites decides where pods run",
            )
            for name in ("namespace", "api", "account")
        },
        "pack": (config.pack is not None, "an installation has its own prompts"),
        "anchors": (
            config.anchors is not None,
            OWN_ANCHORS,
        ),
    }
    for name, part in config.benchmarks.items():
        if serve is not None:
            refusals |= _refusals_served(name, part)
        for role in ("judge", "reader", *(("captioner",) if serve is None else ())):
            spec = getattr(part, role) or ""
            message = f"use the name of the installation's {role}, not {spec:.60}"
            is_foreign = spec.startswith(_OF_A_MACHINE)
            refusals[f"benchmarks.{name}.{role}"] = (is_foreign, message)
        for server in ("tagger", "embedder"):
            is_own = getattr(part, server) != BenchmarkConfig.model_fields[server].default
            refusals[f"benchmarks.{name}.{server}"] = (is_own, "the installation has its own")
    for place, (is_refused, message) in refusals.items():
        if is_refused:
            raise InvalidInput(f"not with --server: {message}", field=place)


def _refusals_served(name: str, part: BenchmarkConfig) -> dict[str, tuple[bool, str]]:
    """Refusals for a benchmark whose checkpoints are served."""
    place = f"benchmarks.{name}"
    return {
        f"{place}.captioner": (
            not (part.captioner or "").startswith(_SERVERS),
            f"expected the checkpoint's server: {' or '.join(_OF_THE_SERVER)}",
        ),
        f"{place}.qa": (
            part.qa is not None and part.qa_replies is None,
            "a served checkpoint only writes captions",
        ),
    }


def benchmark_request(suite: Suite, config: RunConfig, name: str) -> BenchmarkRequest:
    """The request of a benchmark whose files are named by digest. Raises InvalidInput."""
    part = config.benchmarks[name]
    try:
        digests = {field: check_digest(text, field) for field, text in _named_files(part)}
    except InvalidInput as error:
        message = "it was applied without its data; apply it again with --server"
        raise InvalidInput(message, file=f"suite {suite.name}", field=error.field) from error
    answerers = {role: spec for role in ("judge", "reader") if (spec := getattr(part, role))}
    request = part_request(name, part, digests, part.captioner, answerers)
    nodes = suite.values.get("taxonomies", {}).get(name, {})
    return replace(request, taxonomy={domain: tuple(each) for domain, each in nodes.items()})


def _named_files(part: BenchmarkConfig) -> Iterator[tuple[str, str]]:
    files = {"data": part.data, "qa_data": part.qa, "qa_replies": part.qa_replies}
    return ((field, str(file)) for field, file in files.items() if isinstance(file, Path))
