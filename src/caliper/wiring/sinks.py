"""The sinks that write the files of a finished run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from caliper.adapters.exports.json import JsonExport
from caliper.adapters.exports.jsonl import JsonLinesExport
from caliper.adapters.exports.markdown import MarkdownExport
from caliper.adapters.media.thumbnails import Thumbnails
from caliper.adapters.pages.page_data import Thumbnail
from caliper.adapters.pages.render import PageExport
from caliper.core.errors import InvalidInput
from caliper.core.run import RunSpec
from caliper.lazy import check_library, lazy_module
from caliper.pipeline.store.plan import Captions
from caliper.ports.storage import ReportSink
from caliper.wiring.settings import decoders

if TYPE_CHECKING:
    from caliper.adapters.exports import parquet
else:
    parquet = lazy_module("caliper.adapters.exports.parquet")

_SINKS: dict[str, Callable[[], ReportSink]] = {
    "report.json": JsonExport,
    "report.md": MarkdownExport,
    "verdicts.parquet": lambda: parquet.ParquetExport(),  # noqa: PLW0108 - the name alone would import it
}


def sink_of(file: str, captions: Captions, thumbnail: Thumbnail) -> list[ReportSink]:
    """The sink of a single file."""
    kind = _SINKS.get(file)
    return [PageExport(captions, thumbnail) if kind is None else kind()]


def folder_thumbnails(media: Mapping[str, Path]) -> Thumbnail:
    """A source of thumbnails for media in one folder per benchmark, of a local run.

    Raises what `wiring.settings.decoders` raises.
    """
    limits = decoders().limits

    def thumbnail(benchmark: str, path: str) -> bytes | None:
        return Thumbnails(media[benchmark], limits).jpeg(path) if benchmark in media else None

    return thumbnail


def sinks(captions: Captions, thumbnail: Thumbnail) -> list[ReportSink]:
    """The sinks of all files for which the libraries are installed."""
    return [
        JsonExport(),
        MarkdownExport(),
        JsonLinesExport(),
        *(() if _lack("pyarrow") else (parquet.ParquetExport(),)),
        PageExport(captions, thumbnail),
    ]


def lacks(*, pictures: bool) -> Iterator[str]:
    """The gaps in a run's files because a library is not installed; `pictures` tells whether the
    run has any.
    """
    if lack := _lack("pyarrow"):
        yield f"verdicts.parquet is not written: it {lack}"
    if pictures and (lack := _lack("PIL")):
        yield f"report.html has no pictures: it {lack}"


def _lack(library: str) -> str:
    """The reason why a library is missing, with what to install; empty if it is installed."""
    try:
        check_library(library)
    except InvalidInput as missing:
        return str(missing)
    return ""


def plain_sinks(_: RunSpec, captions: Captions) -> list[ReportSink]:
    """The sinks of all files, without pictures."""
    return sinks(captions, lambda _, __: None)
