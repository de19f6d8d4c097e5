"""Who writes the files of a finished run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from caliper.adapters.exports.json import JsonExport
from caliper.adapters.exports.jsonl import JsonLinesExport
from caliper.adapters.exports.markdown import MarkdownExport
from caliper.adapters.exports.parquet import ParquetExport
from caliper.adapters.media.thumbnails import Thumbnails
from caliper.adapters.pages.packing import Thumbnail
from caliper.adapters.pages.render import PageExport
from caliper.pipeline.aggregate import Captions
from caliper.ports.storage import ReportSink

_SINKS: dict[str, Callable[[], ReportSink]] = {
    "report.json": JsonExport,
    "report.md": MarkdownExport,
    "verdicts.parquet": ParquetExport,
}


def sink_of(file: str, captions: Captions, thumbnail: Thumbnail) -> list[ReportSink]:
    """The sink of one file alone."""
    kind = _SINKS.get(file)
    return [PageExport(by_sample(captions), thumbnail) if kind is None else kind()]


def thumbnails_below(media: Mapping[str, Path]) -> Thumbnail:
    """Thumbnails of media in folders, by benchmark."""

    def thumbnail(benchmark: str, path: str) -> bytes | None:
        return Thumbnails(media[benchmark]).jpeg(path) if benchmark in media else None

    return thumbnail


def sinks(captions: Captions, thumbnail: Thumbnail) -> list[ReportSink]:
    """One sink a file."""
    return [
        JsonExport(),
        MarkdownExport(),
        JsonLinesExport(),
        ParquetExport(),
        PageExport(by_sample(captions), thumbnail),
    ]


def by_sample(captions: Captions) -> dict[tuple[str, str], str]:
    """Captions by (benchmark, sample)."""
    return {
        (name, sample): text for name, part in captions.items() for sample, text in part.items()
    }
