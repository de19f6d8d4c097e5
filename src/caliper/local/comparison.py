"""Compares runs on this machine or on an installation, by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from caliper.adapters.pages.page_data import Thumbnail
from caliper.analysis.drift import AnchorJudgement, drift
from caliper.local.directory import find_run
from caliper.local.installation import open_gateway
from caliper.local.reports import media_of, stored_judgements
from caliper.pipeline.comparing.comparison import Comparison, ComparisonRequest, compare_runs
from caliper.pipeline.reports.judge_check import AnchorJudgements
from caliper.wiring.sinks import folder_thumbnails

_MOST_EXAMPLES = 5


async def open_comparison(
    runs: Sequence[str], server: str | None, request: ComparisonRequest, *, pictures: bool = False
) -> tuple[Comparison, Thumbnail]:
    """Compare the first run with the others, locally or on an installation; also their pictures.

    Raises what `compare_runs` raises, InvalidInput for a local run that does not exist, and what
    `RemoteGateway.compare` raises on an installation.
    """
    if server is not None:
        async with open_gateway(server) as gateway:
            comparison, thumbnails = await gateway.compare(runs, request, pictures=pictures)
        return comparison, lambda benchmark, path: thumbnails.get((benchmark, path))
    directories = [find_run(name) for name in runs]
    comparison = await compare_runs([each.stored_run for each in directories], request)
    # Combine all folders: another run may have media that one lacks.
    folders: dict[str, Path] = {}
    for directory in directories if pictures else ():
        folders |= media_of(directory)
    return comparison, folder_thumbnails(folders)


async def judge_drift(runs: Sequence[str]) -> AsyncIterator[str]:
    """Warnings about anchors judged differently in the first local run and the others.

    Runs without anchors are skipped. Raises InvalidInput if one is not a run, and for an
    unreadable execution.json.
    """
    first, *others = [(name, await _judgements(name)) for name in runs]
    for other in others:
        for benchmark in first[1].keys() & other[1].keys():
            if warning := _drift(benchmark, first, other):
                yield warning


async def _judgements(name: str) -> AnchorJudgements:
    directory = find_run(name)
    return await stored_judgements(directory, directory.read_spec())


def _drift(
    name: str, one: tuple[str, AnchorJudgements], other: tuple[str, AnchorJudgements]
) -> str:
    """The warning about a benchmark's anchors in two runs; empty if they were judged alike."""
    (first, before), (second, after) = (one[0], one[1][name]), (other[0], other[1][name])
    difference = drift(before, after)
    if difference is None:
        return (
            f"{name}: {first} and {second} used different anchors, so judge drift cannot be checked"
        )
    if not difference.changed and before.agreement == after.agreement:
        return ""
    examples = ", ".join(difference.changed[:_MOST_EXAMPLES])
    more = (
        f" and {len(difference.changed) - _MOST_EXAMPLES} more"
        if len(difference.changed) > _MOST_EXAMPLES
        else ""
    )
    changed = f" ({examples}{more})" if difference.changed else ""
    return (
        f"{name}: the judge gave {len(difference.changed)} of {difference.paired} anchors another "
        f"verdict{changed}; known answers judged correctly: {_agreed(before)} in {first}, "
        f"{_agreed(after)} in {second} (p {difference.p:.3f}). A difference between the runs "
        "of this size may come from the judge"
    )


def _agreed(judgement: AnchorJudgement) -> str:
    share = "" if judgement.agreement is None else f" ({judgement.agreement:.1%})"
    return f"{judgement.correct_count} of {judgement.scored_count}{share}"
