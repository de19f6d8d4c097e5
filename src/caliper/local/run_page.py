"""A run as a single page to share, with all its verdicts."""

from __future__ import annotations

from dataclasses import replace

from caliper.adapters.pages.render import render_report
from caliper.adapters.pages.samples import select_all
from caliper.local.directory import RunDirectory
from caliper.local.reports import media_of, stored_report
from caliper.pipeline.ledger.report import verdict_rows
from caliper.wiring.sinks import folder_thumbnails

_LARGEST = 400_000_000
"""The maximum size in bytes before compression."""


async def run_page(directory: RunDirectory, *, with_media: bool) -> str:
    """Render the page; it contains pictures only `with_media`, as not everybody may share them.

    Raises what `reports.read_report` raises.
    """
    run = await directory.stored_run.open()
    captions = await directory.captions(run)
    report = replace(await stored_report(directory, run, captions), reuse=directory.reuse)
    shards = verdict_rows(run.spec, run.plan, run.ledger)
    selection = select_all([row async for shard in shards for row in shard], captions)
    thumbnail = folder_thumbnails(media_of(directory) if with_media else {})
    return render_report(report, selection, thumbnail, _LARGEST, compressed=True)
