"""A benchmark of a run as the aggregate record of Every Eval Ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from caliper.adapters.caption_warnings import stuffing_warnings
from caliper.adapters.exports.sinks.selection import rankable_figures
from caliper.adapters.exports.sinks.where import HubDataset
from caliper.adapters.phrases import label
from caliper.adapters.provenance import coverage
from caliper.analysis.jackknife import NORMAL
from caliper.benchmarks.base import Better
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.report import BenchmarkReport, Estimate, Path
from caliper.core.run import BenchmarkSpec, Identity
from caliper.ports.prompts import PromptPack
from caliper.ports.sinks import Results

SCHEMA_VERSION = "0.3.0"
_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}
_PERCENT = (0.0, 100.0)


@dataclass(frozen=True)
class BenchmarkResult:
    """A benchmark of a run. `dataset` is where its data are from: a dataset on the Hub or a URL,
    None if unknown. `model_id` is the model's id if one was named, and `pack` are the prompts at
    hand.
    """

    results: Results
    part: BenchmarkReport
    dataset: HubDataset | str | None
    model_id: str
    pack: PromptPack

    @property
    def spec(self) -> BenchmarkSpec:
        """How the benchmark was resolved."""
        return self.results.spec.benchmark(self.part.name)

    @property
    def captioner(self) -> Identity | None:
        """The model that wrote the captions; None if they were supplied."""
        return self.spec.models.get("captioner") if self.spec.captions is None else None

    @property
    def model(self) -> str:
        """The id of the model under test: as named, as its server does, or the checkpoint's."""
        served = self.captioner.name if self.captioner else ""
        return self.model_id or served or self.results.report.name

    @cached_property
    def time(self) -> str:
        """When the run ended, in seconds of the Unix epoch."""
        return f"{datetime.fromisoformat(self.results.ended).timestamp():.0f}"

    @property
    def id(self) -> str:
        """The evaluation's id. The run's is in it: a model may be evaluated twice in a second."""
        return f"{self.part.name}/{self.model}/{self.results.run}/{self.time}"

    def prompts(self, role: str, path: Path) -> str:
        """The templates that a role was asked with for a figure, or their names if another pack
        than the one at hand has them.
        """
        generation = self.part.generation.get(role)
        if generation is None:
            return "not known"
        named = {name: name.partition("/")[2] for name in generation.prompts}
        # CAPability has a template per task, such as scene or style_labels.
        of_task = [name for name, stem in named.items() if stem.startswith(path[1:2])]
        names = of_task or list(named)
        if self.results.spec.pack != self.pack.digest:
            return f"{', '.join(names)} of the prompt pack sha256:{self.results.spec.pack}"
        templates = map(self.pack.template, names)
        return "\n\n".join(f"{one.system}\n\n{one.user}".strip() for one in templates)


def evaluation_names(part: BenchmarkReport) -> dict[str, str]:
    """The name of the evaluation that the verdicts of a dimension belong to, by dimension."""
    paths = [path for path, _ in _figures(part) if len(path) == 3]
    return {path[1]: _names(part, path)[0] for path in reversed(paths)}


def evaluation_record(evaluation: BenchmarkResult, source: Mapping[str, str]) -> dict[str, Any]:
    """The record of a benchmark. Raises InvalidInput if no figure says anything about the model."""
    results, part = evaluation.results, evaluation.part
    figures = [_result(evaluation, path, each) for path, each in _figures(part)]
    if not figures:
        raise InvalidInput("it has no figure that is better or worse", field=part.name)
    about = {
        "run": results.run,
        "checkpoint": results.report.name,
        "coverage": coverage(part.coverage),
        "notes": " ".join((*stuffing_warnings(results.report), *part.notes)),
        "suite": results.suite,
        "step": "" if results.step is None else str(results.step),
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation.id,
        "evaluation_timestamp": evaluation.time,
        "retrieved_timestamp": evaluation.time,
        "source_metadata": {
            "source_name": "Caliper",
            "source_type": "evaluation_run",
            **source,
            "additional_details": {name: text for name, text in about.items() if text},
        },
        "model_info": _model_under_test(evaluation),
        "eval_library": {"name": "caliper-captions", "version": results.spec.version},
        "evaluation_results": figures,
    }


def _figures(part: BenchmarkReport) -> Iterator[tuple[Path, Estimate]]:
    """The figures in the tables, and the headline, that say something about the model."""
    cells = {cell for table in part.tables for row in table.rows for cell in row.cells if cell}
    for path, _, estimate in rankable_figures(part):
        if path in cells or path == part.headline:
            yield path, estimate


def _names(part: BenchmarkReport, path: Path) -> tuple[str, str]:
    """The names of what was evaluated, and of the metric."""
    is_first = path[0] in benchmark(part.name).better
    metric, evaluation = (path[0], path[1:]) if is_first else (path[-1], path[:-1])
    return ".".join((part.name, *evaluation)), f"{part.name}.{metric}"


def _model_under_test(evaluation: BenchmarkResult) -> dict[str, Any]:
    model, revision = evaluation.model, evaluation.results.revision
    developer = model.rpartition("/")[0]
    return {
        "name": evaluation.results.report.name,
        "id": model,
        **({"developer": developer} if developer else {}),
        "additional_details": {**_UNKNOWN, **({"revision": revision} if revision else {})},
    }


def _result(evaluation: BenchmarkResult, path: Path, estimate: Estimate) -> dict[str, Any]:
    part = evaluation.part
    return {
        "evaluation_result_id": ".".join((part.name, *path)),
        "evaluation_name": _names(part, path)[0],
        "source_data": _dataset(evaluation),
        "metric_config": _metric(evaluation, path, estimate),
        "score_details": {"score": estimate.value, "uncertainty": _uncertainty(part, path)},
        "generation_config": _generation(evaluation, path),
    }


def _dataset(evaluation: BenchmarkResult) -> dict[str, Any]:
    digest = f"sha256:{evaluation.spec.data}"
    source: dict[str, Any] = {"dataset_name": evaluation.part.title}
    match evaluation.dataset:
        case None:
            return source | {"source_type": "other", "source_id": digest}
        case HubDataset(name, revision, _):
            source |= {"source_type": "hf_dataset", "hf_repo": name}
            if revision is not None:
                source["hf_revision"] = revision
        case url:
            source |= {"source_type": "url", "url": [url]}
    return source | {"additional_details": {"data": digest}}


def _metric(evaluation: BenchmarkResult, path: Path, estimate: Estimate) -> dict[str, Any]:
    part, definition = evaluation.part, benchmark(evaluation.part.name)
    bounds = definition.bounds_of(path)
    text = label(part, path)
    metric: dict[str, Any] = {
        "evaluation_description": f"{part.title}: {text}",
        "metric_id": _names(part, path)[1],
        "metric_name": text.rpartition(", ")[2],
        "metric_unit": "percent" if bounds == _PERCENT else "points",
        "lower_is_better": definition.direction(path) is Better.LESS,
    }
    # A setting may take the judge's numbers unchecked.
    if estimate.value is not None and bounds[0] <= estimate.value <= bounds[1]:
        low, high = bounds
        metric |= {"score_type": "continuous", "min_score": low, "max_score": high}
    role = definition.role
    judge = evaluation.spec.models.get(role)
    if judge is not None and judge.kind != "lexical" and not definition.is_unjudged(path):
        metric["llm_scoring"] = {
            "judges": [_judge(evaluation, role, judge)],
            "input_prompt": evaluation.prompts(role, path),
        }
    return metric


def _judge(evaluation: BenchmarkResult, role: str, judge: Identity) -> dict[str, Any]:
    details = {"kind": judge.kind, "revision": judge.revision, **_UNKNOWN}
    model = {"name": judge.name, "id": judge.name, "additional_details": details}
    generation = evaluation.part.generation.get(role)
    if generation is None:
        return {"model_info": model}
    sent = {name: str(getattr(generation.decoding, name)) for name in ("top_p", "max_tokens")}
    return {
        "model_info": model,
        "temperature": generation.decoding.temperature,
        "additional_details": {**sent, "repeats": str(generation.repeats)},
    }


def _uncertainty(part: BenchmarkReport, path: Path) -> dict[str, Any]:
    estimate, bounds = part.estimates[path], benchmark(part.name).bounds_of(path)
    uncertainty: dict[str, Any] = {}
    if estimate.low is not None and estimate.high is not None:
        uncertainty["confidence_interval"] = {
            "lower": estimate.low,
            "upper": estimate.high,
            "confidence_level": 0.95,
            "method": f"{estimate.method}, clustered by media file",
        }
        # At a bound the interval has one side only.
        if estimate.value not in bounds:
            uncertainty["standard_error"] = {
                "value": (estimate.high - estimate.low) / 2 / NORMAL,
                "method": "half the width of the 95% interval, over its normal quantile",
            }
    number = _scored(part, path)
    if number is not None:
        uncertainty["num_samples"] = number
    return uncertainty


def _scored(part: BenchmarkReport, path: Path) -> int | None:
    """The number of scores behind a figure: the count in its row of a table, or those of the whole
    benchmark for its headline; None if unknown.
    """
    rows = (row.cells for table in part.tables for row in table.rows if path in row.cells)
    counts = (cell for cells in rows for cell in cells if cell and cell[-1].endswith("n_scored"))
    count = next((part.estimates[cell].value for cell in counts if cell in part.estimates), None)
    if count is None and path == part.headline:
        count = part.coverage.scored
    return None if count is None else int(count)


def _generation(evaluation: BenchmarkResult, path: Path) -> dict[str, Any]:
    part, run = evaluation.part, evaluation.results.spec
    supplied = evaluation.spec.captions
    details = {
        "captions": "written for this run" if supplied is None else f"supplied, sha256:{supplied}",
        "prompt_pack": f"sha256:{run.pack}",
        "seed": str(run.seed),
        "limit": "none" if run.limit is None else f"{run.limit} items per task or domain",
        **{f"setting_{name}": value for name, value in sorted(part.settings.items())},
    }
    written = part.generation.get("captioner") if evaluation.captioner else None
    # Answers about the media are decoded in another way than captions.
    if written is None or benchmark(part.name).is_unjudged(path):
        return {"additional_details": details}
    decoding = written.decoding
    sent = {name: getattr(decoding, name) for name in ("temperature", "top_p", "max_tokens")}
    return {"generation_args": sent, "additional_details": details}
