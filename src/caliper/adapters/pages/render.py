"""report.html: one file that needs nothing else, from a report's values and templates."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from caliper.adapters import wording
from caliper.adapters.files import write_text
from caliper.adapters.pages import charts
from caliper.adapters.pages.packing import Packed, Thumbnail, pack, size
from caliper.adapters.pages.samples import Sample, choose
from caliper.core.report import BenchmarkReport, Estimate, Report, Table, VerdictRow, leaves
from caliper.core.report import Path as FigurePath

LARGEST = 25_000_000
"""The most bytes a page may have."""
_TEMPLATES = files("caliper.adapters.pages") / "templates"


class PageExport:
    """Writes report.html. `captions` go by (benchmark, sample)."""

    def __init__(self, captions: Mapping[tuple[str, str], str], thumbnail: Thumbnail) -> None:
        self._captions = captions
        self._thumbnail = thumbnail

    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        """Choose samples, write the page and return the file. Raises StoreFull."""
        samples = choose(verdicts, self._captions)
        text = render_report(report, samples, self._thumbnail)
        return write_text(directory / "report.html", text)


def render_report(
    report: Report, samples: Sequence[Sample], thumbnail: Thumbnail, largest: int = LARGEST
) -> str:
    """The page as text, at most `largest` bytes of UTF-8.

    Names, captions and replies are untrusted: templates escape them, the script reads them
    from a block of inert JSON, and a content security policy forbids any request and any
    script but the page's own. Pictures, then samples, are left out from the end when the
    page would be too large, and the page says so.
    """
    bare = size(_page(report, Packed("", len(samples), len(samples), len(samples))))
    return _page(report, pack(samples, thumbnail, largest - bare))


def _page(report: Report, packed: Packed) -> str:
    style, script = (_TEMPLATES.joinpath(name).read_text("utf-8") for name in _INLINE)
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            said=wording.state(report.state),
            spec=dict(leaves(report.spec)),
            packed=packed,
            data=Markup(packed.data),  # noqa: S704 - packing.script_json leaves no markup in it
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )


_INLINE = ("report.css", "report.js")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("caliper.adapters.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        label=wording.label,
        headline=wording.headline,
        notes=wording.notes,
        suspicious=wording.suspicious,
        chart_scale=chart_scale,
        bar=charts.bar,
    )
    environment.filters.update(
        number=wording.number, interval=wording.interval, percent=wording.percent
    )
    return environment


def chart_scale(benchmark: BenchmarkReport, table: Table) -> charts.Scale | None:
    """The axis of the table's charted column; None when it has no chart or no data."""
    if table.chart is None:
        return None
    paths = (row.cells[table.chart] for row in table.rows)
    return charts.scale(_known(benchmark, paths))


def _known(benchmark: BenchmarkReport, paths: Iterable[FigurePath | None]) -> Iterator[Estimate]:
    for path in paths:
        if path is not None and path in benchmark.estimates:
            yield benchmark.estimates[path]


def _hash(text: str) -> str:
    """How a content security policy names an inline script or style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
