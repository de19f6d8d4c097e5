"""Removes a run directory, with the replies that no neighbouring run uses."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.errors import InvalidInput, RunInUse, StoreUnavailable
from caliper.core.run import Identity, RunSpec
from caliper.local.baseline_runs import place_whole
from caliper.local.directory import RunDirectory
from caliper.pipeline.asking.captioner import captions_asked_by
from caliper.pipeline.asking.reuse import reused_jobs
from caliper.pipeline.gateway.purge import RetainedRuns, own_replies
from caliper.pipeline.store.runs import run_store


async def remove_run(directory: RunDirectory) -> None:
    """Remove the directory, and those replies beside it that no other run there requested or uses.
    Captions are removed if no other run has their captioner. If a run cannot be read, all stay.
    Nothing is removed of a run that somebody works on.
    """
    root = directory.path.parent
    try:
        with directory.claim(await asyncio.to_thread(directory.read_spec)):
            pass
    except RunInUse:
        return
    except (InvalidInput, StoreUnavailable):
        # What is no run any more is removed all the same.
        pass
    for each in (directory, RunDirectory(place_whole(directory))):
        with suppress(InvalidInput, StoreUnavailable):
            await _remove_replies(each, root)
    await asyncio.to_thread(shutil.rmtree, directory.path, ignore_errors=True)


async def _remove_replies(directory: RunDirectory, root: Path) -> None:
    removed = (directory.path, *directory.path.parents)
    files = await asyncio.to_thread(lambda: [*root.glob("*/run.yaml")])
    others = [RunDirectory(file.parent) for file in files if file.parent not in removed]
    spec = await asyncio.to_thread(directory.read_spec)
    specs = await asyncio.to_thread(lambda: [each.read_spec() for each in others])
    runs = {each.run_id for each in specs}
    if spec.run_id in runs:
        return
    shared = DirectoryStore(root / ".store", synced=False)
    reused = [await reused_jobs(run_store(shared, run)) for run in runs]
    texts_of = await asyncio.to_thread(directory.texts_of, spec)
    using = RetainedRuns(runs, set[str]().union(*reused))
    keys = [*await own_replies(directory.store(spec, root / ".store"), texts_of, spec, using)]
    if all(_captioners(spec).isdisjoint(_captioners(each)) for each in specs):
        keys += await captions_asked_by(shared, spec.run_id)
    keys += [key async for key in shared.list(f"runs/{spec.run_id}/")]
    await shared.delete(*keys)


def _captioners(spec: RunSpec) -> set[Identity]:
    return {part.models["captioner"] for part in spec.benchmarks if "captioner" in part.models}
