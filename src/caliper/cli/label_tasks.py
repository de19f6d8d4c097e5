"""`caliper labels export`: tasks in Label Studio for people who check verdicts."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Annotated
from urllib.parse import quote

import typer
from rich.markup import escape

from caliper.adapters.exports.label_studio import LabelTask, label_studio_files
from caliper.adapters.files import write_text
from caliper.adapters.media.bounds import CLIPS
from caliper.adapters.media.thumbnails import Thumbnails
from caliper.analysis.label_sample import (
    Doubt,
    LabelUnit,
    confidence_of,
    doubts_of,
    draw_for_labels,
)
from caliper.analysis.prediction_powered import LEAST_LABELS
from caliper.cli.agreement import refuse_other_captions
from caliper.cli.console import OUT
from caliper.cli.exits import Exit
from caliper.cli.people_estimate import estimate
from caliper.cli.tables import text_table
from caliper.core.errors import InvalidInput, MediaMissing
from caliper.local.directory import RunDirectory, find_run
from caliper.local.reports import media_of
from caliper.pipeline.comparing.question_verdicts import (
    Questions,
    judged_questions,
    sampled_coverages,
)
from caliper.pipeline.store.plan import Captions
from caliper.wiring.settings import decoders

_Url = Callable[[str, str], str]
"""The URL of a medium of a benchmark."""
_LOCAL_FILES = "/data/local-files/?d="
_MOST = 500
_LONGEST = 1024

Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...",
        help="The run to check; others with the same captions, for doubts.",
    ),
]
Out = Annotated[Path, typer.Option("--out", help="Folder to write to.")]
Most = Annotated[
    int, typer.Option("--most", min=1, help="At most this many tasks, the doubtful first.")
]
Random = Annotated[
    int | None,
    typer.Option(
        "--random",
        metavar="N",
        min=LEAST_LABELS,
        help="N random ones per task or domain instead, for estimates.",
    ),
]
Prefix = Annotated[
    str,
    typer.Option(
        "--media-prefix", metavar="URL", help="Where Label Studio finds media of a {benchmark}."
    ),
]
Embed = Annotated[
    bool,
    typer.Option(
        "--embed-media",
        help="Embed small copies of media in tasks, if you may redistribute them.",
    ),
]

app = typer.Typer(help="Label with people, in Label Studio.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Label with people, in Label Studio."""


@dataclass(frozen=True, slots=True)
class _JudgedRun:
    """A run with its questions and captions."""

    run: str
    questions: Questions
    captions: Captions


@app.command("export")
def export(
    runs: Runs,
    out: Out,
    most: Most = _MOST,
    random: Random = None,
    media_prefix: Prefix = _LOCAL_FILES,
    embed_media: Embed = False,
) -> int:
    """Write verdicts as tasks for Label Studio, with the judge's as predictions.

    One JSON per benchmark and kind of media, with the labeling interface as XML beside it. Verdicts
    are doubtful if another RUN's judge or a repeat contradicts them, or the reply was repaired.
    """
    directories = [find_run(name) for name in runs]
    refuse_other_captions([directory.read_spec() for directory in directories])
    judged = [
        asyncio.run(_judged(directory, to_sample=random is not None and place == 0))
        for place, directory in enumerate(directories)
    ]
    doubts = _doubts(judged[0].questions, [other.questions for other in judged[1:]])
    probabilities = _probabilities(judged[0], doubts, most, random)
    url = _embedded(media_of(directories[0])) if embed_media else _url_below(media_prefix)
    tasks = [
        _task(judged[0], name, url, (doubts[name], probabilities[name])) for name in probabilities
    ]
    files = label_studio_files(tasks)
    for name, text in files.items():
        write_text(out / name, text)
    counts = {
        name: sum(task.question.first.benchmark == name for task in tasks)
        for name in dict.fromkeys(task.question.first.benchmark for task in tasks)
    }
    doubtful = sum(bool(task.doubts) for task in tasks)
    grid = text_table(("benchmark",), ("tasks",))
    for name, count in counts.items():
        grid.add_row(escape(name), f"{count:,}")
    OUT.print(grid)
    OUT.print(f"{doubtful:,} of them doubtful; in {escape(str(out))}: {', '.join(files)}")
    return Exit.DONE


app.command("estimate")(estimate)


async def _judged(directory: RunDirectory, *, to_sample: bool) -> _JudgedRun:
    run = await directory.stored_run.open()
    if to_sample:
        sampled_coverages(run)
    return _JudgedRun(run.run, await judged_questions(run), await directory.captions(run))


def _doubts(questions: Questions, others: Sequence[Questions]) -> dict[str, tuple[Doubt, ...]]:
    return {
        name: doubts_of(question.rows, [other[name].scores for other in others if name in other])
        for name, question in questions.items()
    }


def _probabilities(
    judged: _JudgedRun, doubts: Mapping[str, tuple[Doubt, ...]], most: int, random: int | None
) -> Mapping[str, float | None]:
    """The probability of each chosen question, in the order of the tasks."""
    if not doubts:
        raise InvalidInput("no question has a verdict to check")
    if random is None:
        # The sort is stable: equally doubtful ones keep the order of the plan.
        ordered = sorted(doubts, key=lambda name: confidence_of(doubts[name]))
        return dict.fromkeys(ordered[:most])
    units = [
        LabelUnit(name, f"{row.benchmark}/{row.dimension}", bool(doubts[name]))
        for name, row in ((name, question.first) for name, question in judged.questions.items())
    ]
    return draw_for_labels(units, random, judged.run)


def _task(
    judged: _JudgedRun, name: str, url: _Url, selection: tuple[tuple[Doubt, ...], float | None]
) -> LabelTask:
    question = judged.questions[name]
    row = question.first
    urls = tuple(url(row.benchmark, path) for path in row.media)
    caption = judged.captions.get(row.benchmark, {}).get(row.sample, "")
    return LabelTask(question, caption, judged.run, _kind(row.media, urls), urls, *selection)


def _kind(media: Sequence[str], urls: Sequence[str]) -> str:
    if not media:
        return "text"
    is_clip = PurePath(media[0]).suffix.lower() in CLIPS
    # An embedded clip is a picture of its frames.
    return "video" if is_clip and not urls[0].startswith("data:") else "image"


def _url_below(prefix: str) -> _Url:
    """URLs of media that are served below a prefix, in which `{benchmark}` is replaced."""

    def url(benchmark: str, path: str) -> str:
        place = quote(path.encode("utf-8", "surrogatepass"))
        return prefix.replace("{benchmark}", benchmark) + place

    return url


def _embedded(folders: Mapping[str, Path]) -> _Url:
    """URLs that hold small JPEG copies of media; of a clip, nine frames."""
    limits = decoders().limits

    @cache
    def url(benchmark: str, path: str) -> str:
        data = Thumbnails(folders[benchmark], limits).sheet(path, _LONGEST)
        if data is None:
            raise MediaMissing(f"{benchmark}: no usable medium {path!r:.200}")
        return "data:image/jpeg;base64," + base64.b64encode(data).decode("ascii")

    return url
