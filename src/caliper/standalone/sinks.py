"""Who writes the files of a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from caliper.adapters.exports.json import JsonExport
from caliper.adapters.exports.jsonl import JsonLinesExport
from caliper.adapters.exports.markdown import MarkdownExport
from caliper.adapters.exports.parquet import ParquetExport
from caliper.adapters.media.thumbnails import Thumbnails
from caliper.adapters.pages.render import PageExport
from caliper.pipeline.aggregate import Captions
from caliper.ports.storage import ReportSink


def sinks(captions: Captions, media: Mapping[str, Path]) -> list[ReportSink]:
    """One sink a file; `media` are the folders of thumbnails by benchmark."""
    texts = {
        (name, sample): text for name, part in captions.items() for sample, text in part.items()
    }

    def thumbnail(benchmark: str, path: str) -> bytes | None:
        return Thumbnails(media[benchmark]).jpeg(path) if benchmark in media else None

    return [
        JsonExport(),
        MarkdownExport(),
        JsonLinesExport(),
        ParquetExport(),
        PageExport(texts, thumbnail),
    ]
