"""report.html: a self-contained page, rendered from a report and templates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from markupsafe import Markup

from caliper.adapters import phrases
from caliper.adapters.files import write_text
from caliper.adapters.pages.page import SAMPLES, TABLES, render
from caliper.adapters.pages.page_data import PageData, Thumbnail, pack, size
from caliper.adapters.pages.samples import Selection, choose
from caliper.core.report import Report, VerdictRow, leaves
from caliper.pipeline.store.plan import Captions

LARGEST = 25_000_000
"""The most bytes a page may have."""


class PageExport:
    """Writes report.html."""

    def __init__(self, captions: Captions, thumbnail: Thumbnail) -> None:
        self._captions = captions
        self._thumbnail = thumbnail

    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        """Choose samples, write the page and return the file. Raises StoreFull."""
        text = render_report(report, choose(verdicts, self._captions), self._thumbnail)
        return write_text(directory / "report.html", text)


def render_report(
    report: Report,
    selection: Selection,
    thumbnail: Thumbnail,
    largest: int = LARGEST,
    *,
    compressed: bool = False,
) -> str:
    """Render the page, at most `largest` bytes of UTF-8, before its samples are `compressed`.

    Names, captions and replies are untrusted: templates escape them, the script reads them
    from a block of inert JSON, and a content security policy forbids all requests and all
    scripts but the page's own. If the page would be too large, pictures and then samples are
    left out from the end, and the page says so.
    """
    count = len(selection.samples)
    bare = size(_page(report, PageData("", count, sum(selection.counts.values()), count, count)))
    packed = pack(selection, thumbnail, largest - bare)
    return _page(report, packed.compressed() if compressed else packed)


def _page(report: Report, packed: PageData) -> str:
    return render(
        "report.html",
        scripts=(*SAMPLES, *TABLES),
        report=report,
        said=phrases.state(report),
        spec=dict(leaves(report.spec)),
        packed=packed,
        data=Markup(packed.data),  # noqa: S704 - page_data.script_json leaves no markup in it
    )
