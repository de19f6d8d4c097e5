"""`caliper explain`: the story of one sample of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from caliper.adapters.exports.jsonl import record
from caliper.cli.console import OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.run_arguments import Run
from caliper.core.report import VerdictRow
from caliper.core.run import Identity
from caliper.local.directory import find_run
from caliper.local.directory_run import DirectoryRun
from caliper.local.installation import store_at
from caliper.pipeline.ledger.runs import StoredRun
from caliper.pipeline.reports.report_files import captions_of_run, stored_texts
from caliper.pipeline.reports.sample_story import JobStory, SampleStory, sample_story
from caliper.pipeline.store.pack_store import PackStore
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import is_run_id
from caliper.wiring.clock import SystemClock

Sample = Annotated[
    str, typer.Argument(metavar="SAMPLE", help="The sample, as verdicts and captions name it.")
]
Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="DIR|URL",
        help="The installation's store, or the folder of replies. Default: .store beside the run.",
    ),
]

_Calls = Mapping[str, Mapping[str, int]]


def explain(run: Run, sample: Sample, store: Store = None, json: Json = False) -> int:
    """Explain one sample of a run: its plan, caption, replies and verdicts.

    No model is called. Replies are counted in the store: two for a question that was asked again.
    """
    story, calls = asyncio.run(_story(run, sample, store))
    if json:
        write_json({**_as_json(story), "calls": calls})
        return Exit.DONE
    for line in _lines(story, calls):
        OUT.print(plain(line), soft_wrap=True, highlight=False)
    return Exit.DONE


async def _story(run: str, sample: str, place: str | None) -> tuple[SampleStory, _Calls]:
    """The story, and the calls of the run's last command, by model; empty if they are not stored,
    as by an installation.
    """
    if place is None or not is_run_id(run):
        directory = find_run(run)
        spec = directory.read_spec()
        own = directory.store(spec, Path(place) if place else None)
        story = await sample_story(DirectoryRun(spec, own, directory.captions), sample)
        models = directory.read_execution().get("models", {})
        return story, {
            name: {each: spent.get(each, 0) for each in ("calls", "failed")}
            for name, spent in models.items()
        }
    clock = SystemClock()
    store = PackStore(store_at(place), clock)
    spec = await RunBook(store, clock).spec(run)
    captions = partial(captions_of_run, partial(stored_texts, store))
    return await sample_story(StoredRun(spec, store, captions), sample), {}


def _as_json(story: SampleStory) -> dict[str, Any]:
    return {
        "run": story.spec.run_id,
        "name": story.spec.name,
        "sample": story.sample,
        "started": story.started and story.started.isoformat(),
        "planned_at": story.planned and story.planned.isoformat(),
        "ended": story.ended and story.ended.isoformat(),
        "state": story.state,
        "jobs": [_job_json(job) for job in story.jobs],
    }


def _job_json(job: JobStory) -> dict[str, Any]:
    caption = job.caption and {"text": job.caption.text, "truncated": job.caption.truncated}
    return {
        "benchmark": job.benchmark,
        "source": job.source,
        "first": job.first,
        "planned": job.planned,
        "caption": caption,
        "captioner": _label(job.captioner),
        "answerer": _label(job.answerer),
        "replies": dict(job.replies),
        "verdicts": [record(row) for row in job.rows],
    }


def _label(model: Identity | None) -> str | None:
    return None if model is None else model.label


def _lines(story: SampleStory, calls: _Calls) -> Iterator[str]:
    yield f"{story.sample} in run {story.spec.run_id} ({story.spec.name})"
    if story.started:
        yield f"Run first started: {story.started.isoformat(timespec='seconds')}"
    planned = story.planned
    yield f"Planned: {planned.isoformat(timespec='seconds') if planned else 'time not stored'}"
    if story.state:
        when = f" {story.ended.isoformat(timespec='seconds')}" if story.ended else ""
        yield f"Run ended: {story.state}{when}"
    yield f"Attempts: {_attempts(calls)}"
    for job in story.jobs:
        yield ""
        yield from _job_lines(job, story.spec.run_id)


def _attempts(calls: _Calls) -> str:
    if not calls:
        return "not stored; caliper dead-letters has those of failed jobs"
    models = (
        f"{each['calls']:,} calls of {name}, {each['failed']:,} of them failed"
        for name, each in calls.items()
    )
    return f"stored for the last command as a whole: {'; '.join(models)}"


def _job_lines(job: JobStory, run: str) -> Iterator[str]:
    last = job.first + job.planned - 1
    yield f"{job.benchmark}, from the {job.source}: indices {job.first:,} to {last:,} of the plan"
    if job.caption is not None:
        origin = f"by {job.captioner.label}" if job.captioner else "supplied"
        cut = ", cut at the token limit" if job.caption.truncated else ""
        yield f"Caption ({origin}{cut}): {job.caption.text}"
    elif job.source == "caption":
        yield "Caption: none"
    if job.answerer:
        yield f"Answered by: {job.answerer.label}"
    if job.replies:
        others = sum(job.replies.values()) - job.replies.get(run, 0)
        reused = f", {others:,} of them of other runs" if others else ""
        yield f"Replies stored: {sum(job.replies.values()):,}{reused}"
    else:
        yield "Replies stored: none"
    for row in job.rows:
        yield from _verdict_lines(row)
    if missing := job.planned - len(job.rows):
        yield f"Without a verdict yet: {missing:,} of {job.planned:,}"


def _verdict_lines(row: VerdictRow) -> Iterator[str]:
    repeat = f", repeat {row.repeat}" if row.repeat else ""
    score = (
        f"unscored: {row.reason}" if row.score is None else f"{row.outcome}, score {row.score:g}"
    )
    yield f"  {row.index} {row.dimension}{repeat}: {score}"
    yield f"    Question: {row.question}"
    yield f"    Expected: {row.expected}"
    if row.reply:
        yield f"    Reply{' (format repaired)' if row.repaired else ''}: {row.reply}"
    if row.explanation:
        yield f"    Explanation: {row.explanation}"
