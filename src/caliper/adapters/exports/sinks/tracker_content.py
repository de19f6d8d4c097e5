"""The content that experiment trackers get of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from caliper.adapters.files import encode_text
from caliper.adapters.tracker_libraries import metric_name
from caliper.core.report import leaves
from caliper.ports.sinks import Results


def run_name(results: Results) -> str:
    """The id of the tracker's run, where one can be chosen: the same for the same run."""
    return f"caliper-{results.run}"


def metrics_of(results: Results) -> dict[str, float]:
    """The figures by name, with the intervals of the headlines, and the coverage."""
    return dict(_metrics(results))


def _metrics(results: Results) -> Iterator[tuple[str, float]]:
    for figure in results.figures:
        name = metric_name(figure)
        yield name, figure.value
        if figure.is_headline and figure.low is not None and figure.high is not None:
            yield f"{name}.low", figure.low
            yield f"{name}.high", figure.high
    for part in results.report.benchmarks:
        yield f"{part.name}.coverage", part.coverage.share


def setup_of(results: Results) -> dict[str, str]:
    """The setup: the resolved spec with the digests of datasets, models and settings."""
    setup = dict(leaves(results.report.spec))
    for part in results.report.benchmarks:
        setup |= {f"{part.name}.{role}": label for role, label in part.models.items()}
        setup |= {f"{part.name}.{name}": value for name, value in part.settings.items()}
    return setup


def standing_of(results: Results) -> dict[str, str]:
    """Facts about the checkpoint and the run that may change."""
    facts = {
        "run": results.run,
        "state": results.report.state,
        "step": "" if results.step is None else str(results.step),
        "revision": results.revision,
        "suite": results.suite,
        "tags": ", ".join(results.tags),
    }
    return {name: value for name, value in facts.items() if value}


def mark_of(results: Results) -> str:
    """Equal marks mean equal figures at the same step: they are not logged twice."""
    return hashlib.sha256(encode_text(f"{results.step} {results.text}")).hexdigest()


def files_of(results: Results) -> Iterator[tuple[str, bytes]]:
    """The files to keep beside the figures. The page and the verdicts hold captions and pictures.
    Raises what `Results.read` raises.
    """
    for file in ("report.json", "report.md"):
        yield file, results.read(file)
    if results.with_verdicts:
        for file in ("report.html", "verdicts.parquet"):
            yield file, results.read(file)
