"""Run directories as the web pages show them: the same pages as of an installation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from cachetools import LRUCache

from caliper.adapters.media.place import find
from caliper.adapters.stores.directory import DirectoryStore
from caliper.analysis.leaderboard import Board
from caliper.core.errors import InvalidInput, MediaMissing, NotFound, NotReady, UnknownName
from caliper.core.report import Report
from caliper.core.run import RunSpec, RunState
from caliper.local.boards import boards_of
from caliper.local.directory import RunDirectory
from caliper.local.entrants import entrants
from caliper.local.exports import read_file
from caliper.local.reports import media_of, read_report
from caliper.pipeline.comparing.comparer import PICTURES_A_FLIP, Pictures
from caliper.pipeline.comparing.comparison import Comparison, ComparisonRequest, compare_runs
from caliper.pipeline.gateway.gateway import Page
from caliper.pipeline.reports.run_reader import FILES, RunReader
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.store.store_view import StoreView
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore
from caliper.serving.page_sources import PageSources
from caliper.wiring.sinks import folder_thumbnails, sink_of

_CACHED_RUNS = 4


class RunShelf:
    """Some run directories, by run id."""

    def __init__(self, directories: Sequence[RunDirectory]) -> None:
        """Raises NewerSchema or InvalidInput for a directory without a readable run."""
        # A run may have been copied.
        runs = {spec.run_id: (spec, each) for each in directories for spec in (each.read_spec(),)}
        self.specs = [spec for spec, _ in runs.values()]
        self._directories = {run: directory for run, (_, directory) in runs.items()}
        self._media = {run: media_of(directory) for run, directory in self._directories.items()}
        self._reports: LRUCache[str, Report] = LRUCache(_CACHED_RUNS)
        self._captions: LRUCache[str, dict[str, Mapping[str, str]]] = LRUCache(_CACHED_RUNS)

    def sources(self, clock: Clock) -> PageSources:
        """What the pages of these runs show."""
        store = _ShelfStore(self.specs, self.directory)
        book = RunBook(store, clock, capacity=max(1, len(self.specs)))
        return PageSources(
            gateway=self,
            reader=_ShelfReader(store, book, clock, self.directory),
            comparer=self,
            runs=book,
            store=store,
            captions=self,
            has_media=self._has_media,
            pictures=lambda spec: folder_thumbnails(self._media[spec.run_id]),
            rank=self._rank if len(self.specs) > 1 else None,
        )

    def directory(self, run: str) -> RunDirectory:
        """Raises NotFound for a run that is not here."""
        if run not in self._directories:
            raise NotFound(f"no run {run}")
        return self._directories[run]

    async def list(self, size: int = 0, token: str = "", name: str = "") -> Page:
        """All runs, newest first, or those of one checkpoint."""
        del size
        if token:
            raise InvalidInput("not a valid page token", field="page_token")
        evaluations = [self._listed(spec) for spec in self.specs if name in ("", spec.name)]
        return Page(tuple(sorted(evaluations, key=lambda one: one.started, reverse=True)), "")

    def _listed(self, spec: RunSpec) -> Evaluation:
        """A run without figures: computing those of many takes long."""
        directory = self.directory(spec.run_id)
        started = directory.read_execution().get("started")
        if started is None:
            begun = datetime.fromtimestamp((directory.path / "run.yaml").stat().st_mtime, UTC)
        else:
            begun = datetime.fromisoformat(started)
        with suppress(OSError, ValueError, KeyError, TypeError):
            state = json.loads((directory.path / "report.json").read_bytes())["state"]
            return Evaluation(spec, RunState(state), begun)
        return Evaluation(spec, RunState.RUNNING, begun)

    async def get(self, run: str) -> Evaluation:
        """A run with its figures. Raises NotFound, and what `reports.read_report` raises."""
        directory = self.directory(run)
        report = self._reports.get(run)
        if report is None:
            report = await asyncio.to_thread(asyncio.run, read_report(directory))
        if directory.is_finished:
            self._reports[run] = report
        spec = next(each for each in self.specs if each.run_id == run)
        return replace(
            self._listed(spec),
            state=RunState(report.state),
            benchmarks=report.benchmarks,
            reuse=directory.reuse,
        )

    async def captions(
        self, spec: RunSpec, samples: Iterable[tuple[str, str]]
    ) -> dict[tuple[str, str], str]:
        """Captions by (benchmark, sample). Raises as `RunDirectory.texts_of`."""
        run, directory = spec.run_id, self.directory(spec.run_id)
        texts = self._captions.get(run)
        if texts is None:
            texts_of = directory.texts_of(spec)
            texts = {part.name: await texts_of(run, part) for part in spec.benchmarks}
        if directory.is_finished:
            self._captions[run] = texts
        return {key: texts[key[0]][key[1]] for key in samples if key[1] in texts[key[0]]}

    async def compare(
        self, runs: Sequence[str], request: ComparisonRequest, *, pictures: bool = False
    ) -> tuple[Comparison, Pictures]:
        """Compare the first run with the others. Raises NotFound and as `compare_runs`."""
        stored = [self.directory(run).stored_run for run in runs]
        comparison = await asyncio.to_thread(asyncio.run, compare_runs(stored, request))
        if not pictures:
            return comparison, {}
        return comparison, await asyncio.to_thread(self._pictures, comparison, runs[1:])

    def _pictures(self, comparison: Comparison, runs: Sequence[str]) -> Pictures:
        pictures: Pictures = {}
        for run, candidate in zip(runs, comparison.candidates, strict=True):
            thumbnail = folder_thumbnails(self._media[run])
            for flip in candidate.flips.listed:
                for media in flip.after.media[:PICTURES_A_FLIP]:
                    jpeg = thumbnail(flip.after.benchmark, media)
                    if jpeg is not None:
                        pictures[flip.after.benchmark, media] = jpeg
        return pictures

    async def _has_media(self, spec: RunSpec, name: str, media: str) -> bool:
        folder = self._media[spec.run_id].get(name)
        try:
            return folder is not None and find(folder, media) is not None
        except (InvalidInput, MediaMissing):
            return False

    async def _rank(self, request: ComparisonRequest) -> Sequence[Board]:
        places = [str(self.directory(spec.run_id).path) for spec in self.specs]

        async def ranked() -> Sequence[Board]:
            return await boards_of(await entrants(places, None, request))

        return await asyncio.to_thread(asyncio.run, ranked())


class _ShelfStore(StoreView):
    """The stores of all runs as one, with the files of a report where an installation has them."""

    def __init__(
        self, specs: Sequence[RunSpec], directory_of: Callable[[str], RunDirectory]
    ) -> None:
        self._stores = {spec.run_id: directory_of(spec.run_id).store(spec) for spec in specs}
        self._files = {
            spec.run_id: DirectoryStore(directory_of(spec.run_id).path) for spec in specs
        }

    def _place(self, key: str) -> tuple[ObjectStore, str]:
        _, run, rest = (*key.split("/", 2), "", "")[:3]
        file = rest.removeprefix("report/")
        if run in self._files and file in FILES:
            return self._files[run], file
        # Another run is in none of them.
        return self._stores.get(run, next(iter(self._stores.values()))), key


class _ShelfReader(RunReader):
    """Reads verdicts as an installation does, and the files from the directories."""

    def __init__(
        self,
        store: ObjectStore,
        book: RunBook,
        clock: Clock,
        directory_of: Callable[[str], RunDirectory],
    ) -> None:
        super().__init__(store, book, clock, lambda _, texts, file: sink_of(file, texts, _nothing))
        self._directory_of = directory_of

    async def report(self, run: str, file: str, *, partial: bool) -> tuple[bytes, str]:
        """Raises NotFound for a run or file that is not there, InvalidInput for an unknown one."""
        del partial
        if file not in FILES:
            raise InvalidInput(str(UnknownName("file", file, tuple(FILES))), field="file")
        try:
            data = await asyncio.to_thread(read_file, self._directory_of(run).path, file)
        except NotReady:
            raise NotFound(f"no {file}: `caliper report` writes it") from None
        return data, FILES[file]


def _nothing(_: str, __: str) -> None:
    return None
