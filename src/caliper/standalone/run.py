"""A whole run in one process: plan, publish what is missing, work, report."""

from __future__ import annotations

import platform
import resource
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from caliper.adapters.media.decoding import Decoders
from caliper.adapters.media.frames import MediaFolder
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.core.report import Report
from caliper.pipeline.aggregate import report, verdict_rows
from caliper.pipeline.budget import affordable
from caliper.pipeline.caption import Captioner
from caliper.pipeline.examine import Examiner
from caliper.pipeline.holding import HeldMedia, Holding
from caliper.pipeline.outputs import write_outputs
from caliper.pipeline.plan import plan
from caliper.pipeline.publish import Publisher, before, jobs
from caliper.pipeline.reuse import with_reuse
from caliper.pipeline.runs import run_store
from caliper.pipeline.tracked import TrackedRun
from caliper.ports.clock import Clock
from caliper.ports.telemetry import Watcher
from caliper.runtime.metering import Spent
from caliper.runtime.sinks import sinks, thumbnails_below
from caliper.runtime.worker import Limits
from caliper.standalone.anchored import kept_sittings, sit, with_checks
from caliper.standalone.checks import warnings
from caliper.standalone.config import as_asked
from caliper.standalone.directory import RunDirectory
from caliper.standalone.prepare import Prepared
from caliper.standalone.stages import Stages


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended: its report, where it is kept, and what its calls cost by model. `since` is
    when an earlier process ended it, None where this one had something to do.
    """

    report: Report
    directory: Path
    since: datetime | None = None
    spent: Mapping[str, Spent] = field(default_factory=dict)


async def evaluate(prepared: Prepared, watcher: Watcher, clock: Clock) -> Finished:
    """Run to the end, or take up where an earlier process left off.

    Raises InvalidInput for rows that cannot be planned, ModelChanged, StoreUnavailable and
    StoreFull; what is done by then is kept, and the same call goes on from there.
    """
    _take_up(prepared)
    directory = run_directory(prepared)
    begun, started = clock.monotonic(), clock.now()
    allowance = prepared.allowance
    allowance.tell = watcher.warned
    with directory.claim(prepared.spec):
        store = directory.store(prepared.spec.run_id)
        summary = await plan(prepared.spec, prepared.sources, store)
        # Only now: rows that cannot be planned will be mended, and then it is another run.
        directory.keep_spec(prepared.spec, as_asked(prepared.config))
        watcher.planned(summary)
        tracked = await directory.open(prepared.spec)
        run = _Run(prepared, directory, tracked)
        for text in await warnings(prepared.spec, prepared.captions, tracked.plan):
            watcher.warned(text)
        for planned in summary.benchmarks:
            scored, unscored = tracked.ledger.count(planned.first, planned.questions)
            watcher.resumed(planned.name, scored + sum(unscored.values()))
        missing = await run.missing()
        if missing == 0 and run.written:
            return already(directory, await run.report())
        sittings = await sit(prepared, watcher)
        await run.work(watcher, clock)
        found = with_checks(await run.report(), sittings)
        await run.write(found)
        reuse = {} if found.reuse is None else {"reuse": asdict(found.reuse)}
        directory.write_execution(
            {
                "run": prepared.spec.run_id,
                "state": found.state,
                "started": started.isoformat(timespec="seconds"),
                "finished": clock.now().isoformat(timespec="seconds"),
                "seconds": round(clock.monotonic() - begun, 3),
                "jobs": missing,
                "models": {name: spent.to_json() for name, spent in prepared.room.spent.items()},
                "anchors": {name: sitting.to_json() for name, sitting in sittings.items()},
                "warnings": list(allowance.warnings.values()),
                **reuse,
                **_surroundings(),
            }
        )
    return Finished(found, directory.path, None, prepared.room.spent)


def already(directory: RunDirectory, found: Report) -> Finished:
    """A run that an earlier process ended, with its report. Raises NewerSchema or InvalidInput."""
    told = directory.read_execution().get("finished")
    since = None if told is None else datetime.fromisoformat(told)
    found = with_checks(replace(found, reuse=directory.reuse), kept_sittings(directory))
    return Finished(found, directory.path, since)


def _take_up(prepared: Prepared) -> None:
    """Go on with a run that an earlier commit began, under the spec that it has."""
    before = replace(prepared, spec=prepared.spec.by_origin)
    with suppress(InvalidInput):
        if run_directory(before).read_spec() == before.spec:
            prepared.spec = before.spec


def run_directory(prepared: Prepared) -> RunDirectory:
    """Where the run is kept: `--out`, else below `runs/`."""
    if prepared.config.out is not None:
        return RunDirectory(prepared.config.out)
    return RunDirectory.default(prepared.spec)


class _Run:
    """One planned run with its ledger."""

    def __init__(self, prepared: Prepared, directory: RunDirectory, run: TrackedRun) -> None:
        self._prepared = prepared
        self._directory = directory
        self._run = run
        self._captions: dict[str, dict[str, str]] = prepared.captions
        if prepared.captioners:
            self._captions = {**directory.read_captions(), **self._captions}
        self._end: int | None = None
        self._store = DirectoryStore(prepared.config.store or directory.path.parent / ".store")

    @property
    def written(self) -> bool:
        """Whether an earlier process got as far as the last file of the directory."""
        return (self._directory.path / "execution.json").exists()

    async def missing(self) -> int:
        """How many jobs that the cap on calls leaves lack an outcome."""
        calls, count = self._prepared.config.max_calls, 0
        if calls is not None:
            self._end = await affordable(self._run.spec, self._run.plan, calls)
        async for items in before(self._run.plan, self._end)():
            count += sum(
                any(self._run.ledger.lacks(item) for item in members) for members in jobs(items)
            )
        return count

    async def work(self, watcher: Watcher, clock: Clock) -> None:
        prepared, spec = self._prepared, self._prepared.spec
        stream, codec = MemoryStream(), IdentityCodec()
        # Until its last file is there anew, the directory does not count as written.
        (self._directory.path / "execution.json").unlink(missing_ok=True)
        self._directory.write_captions(await self.planned_captions())
        decoders = Decoders(prepared.decoders)
        holding = Holding(prepared.decoders.held_bytes, prepared.decoders.workers)
        media = HeldMedia(self._media(decoders), holding)
        stages = Stages(
            publisher=Publisher(spec.run_id, stream, codec, self._captions),
            examiner=Examiner(spec, prepared.models, self._store),
            captioners={
                name: Captioner(spec, model, prepared.pack, media, self._store)
                for name, model in prepared.captioners.items()
            },
            asked={part.name: part.asked_of_checkpoint for part in spec.benchmarks},
            run=self._run,
            stream=stream,
            codec=codec,
            watcher=watcher,
            clock=clock,
            limits=Limits(
                in_flight=prepared.config.concurrency, budget=prepared.room.access.retry_budget
            ),
            keep_caption=self._keep_caption,
        )
        try:
            await stages.work(self._end)
        finally:
            await decoders.close()

    def _keep_caption(self, benchmark: str, caption: Caption) -> None:
        self._directory.append_caption(benchmark, caption.sample, caption.plain)
        self._captions.setdefault(benchmark, {})[caption.sample] = caption.plain

    def _media(self, decoders: Decoders) -> dict[str, MediaFolder]:
        spec, config = self._prepared.spec, self._prepared.config
        return {
            name: MediaFolder(
                config.benchmarks[name].media_root,
                decoders,
                spec.benchmark(name).preparation or Preparation(),
            )
            for name in self._prepared.captioners
        }

    async def planned_captions(self) -> dict[str, dict[str, str]]:
        """The captions of planned samples, in plan order."""
        planned: dict[str, dict[str, str]] = {}
        async for items in self._run.plan():
            for item in items:
                text = self._captions.get(item.benchmark, {}).get(item.sample)
                if text is not None:
                    planned.setdefault(item.benchmark, {})[item.sample] = text
        return planned

    async def report(self) -> Report:
        captions, spec = await self.planned_captions(), self._prepared.spec
        run = self._run
        found = await report(spec, run.summary, run.plan, run.ledger, captions)
        return await with_reuse(found, spec, captions, run_store(self._store, spec.run_id))

    async def write(self, found: Report) -> None:
        captions = await self.planned_captions()
        self._directory.write_captions(captions)
        run = self._run
        roots = {
            name: self._prepared.config.benchmarks[name].media_root
            for name in self._prepared.sources
        }
        await write_outputs(
            sinks(captions, thumbnails_below(roots)),
            found,
            lambda: verdict_rows(run.spec, run.plan, run.ledger),
            self._directory.path,
        )


def _surroundings() -> dict[str, Any]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "host": platform.node(),
        "python": sys.version.split()[0],
        "peak_memory_mib": round(usage.ru_maxrss / 1024, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
    }
