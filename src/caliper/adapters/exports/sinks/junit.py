"""A run as CI shows it: whether enough questions were scored, and why others were not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from caliper.adapters import phrases
from caliper.adapters.caption_warnings import stuffing_warnings
from caliper.adapters.exports.junit import JunitCase, JunitSuite, junit_text
from caliper.adapters.files import write_text
from caliper.core.errors import InvalidInput
from caliper.core.report import BenchmarkReport, Report
from caliper.ports.sinks import Results


@dataclass(frozen=True, slots=True)
class JunitSink:
    """ports.sinks.Sink for a folder of JUnit XML: a file per run, a suite per benchmark."""

    folder: str

    def __post_init__(self) -> None:
        if not self.folder:
            raise InvalidInput("name a folder: junit:DIR")

    def write(self, results: Results) -> str:
        suites = (_suite(results, part) for part in results.report.benchmarks)
        path = Path(self.folder) / f"caliper-{results.run}.xml"
        return str(write_text(path, junit_text(suites)))


def _suite(results: Results, part: BenchmarkReport) -> JunitSuite:
    about = {"run": results.run, "revision": results.revision, "state": results.report.state}
    figures = {
        figure.path: str(figure.value)
        for figure in results.figures
        if figure.benchmark == part.name
    }
    name = f"{results.report.name}.{part.title}"
    return JunitSuite(name, tuple(_cases(results, part)), {**about, **part.models, **figures})


def _cases(results: Results, part: BenchmarkReport) -> Iterator[JunitCase]:
    """Coverage, the reasons of questions without a score, the captions, and the headline."""
    covered, floor = part.coverage, results.spec.coverage_floor
    counts = f"{covered.scored:,} of {covered.askable:,} questions scored"
    shares = f"{phrases.percent(covered.share)}, {phrases.percent(floor)} needed"
    is_covered = covered.share >= floor
    text = f"{counts} ({shares})"
    if is_covered and not results.report.partial:
        yield JunitCase("coverage", output=text)
    else:
        message = text if not is_covered else phrases.state(results.report)
        yield JunitCase("coverage", "failure", "coverage", message)
    for reason, count in covered.unscored.items():
        message = f"questions without a score: {count:,}"
        yield JunitCase(f"unscored: {reason}", "skipped", message=message)
    if part.suspicious.stuffing:
        (message,) = stuffing_warnings(_alone(results.report, part))
        yield JunitCase("captions", "failure", "stuffing", message)
    name, headline = phrases.label(part, part.headline), phrases.headline(part)
    if headline.value is None:
        yield JunitCase(name, "error", "no data", "no question has a score")
    else:
        yield JunitCase(name, output=phrases.with_interval(headline))


def _alone(report: Report, part: BenchmarkReport) -> Report:
    return Report(report.name, report.state, (part,), report.spec)
