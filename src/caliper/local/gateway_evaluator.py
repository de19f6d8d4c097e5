"""Evaluates the checkpoints of suites by an installation's gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from caliper.adapters.exports.report_reader import read_report
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.benchmarks.registry import benchmark
from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.entry_states import EntryCause
from caliper.core.errors import (
    BackendError,
    BackendOverloaded,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
    NotFound,
)
from caliper.core.run import FINAL_STATES, RunState
from caliper.core.spending import Spending
from caliper.core.suites import Suite
from caliper.local.bucket_captions import BucketCaptions, is_empty
from caliper.local.config import BenchmarkConfig, RunConfig, check_config
from caliper.local.request import part_request, run_request
from caliper.local.setup import open_sources
from caliper.local.suite_config import suite_run
from caliper.local.suite_decisions import EvaluatedRun, decide
from caliper.pipeline.asking.token_budget import spent_tokens
from caliper.pipeline.comparing.comparer import Comparer
from caliper.pipeline.comparing.comparison import Comparison
from caliper.pipeline.comparing.gating import GATE_REQUEST
from caliper.pipeline.planning.resolution import BenchmarkRequest
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.store.runs import read_replaceable, run_store, write_json
from caliper.pipeline.store.supplies import check_digest
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.evaluation import EntryResult
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

_INTERVAL, _PAUSE = 1.0, 5.0
_PATIENCE = 3600.0
"""Seconds for which a gateway that does not answer is waited for before a run is begun."""
_CANCELLATION_PATIENCE = 60.0
"""Seconds for which it is waited for before a run is left to itself."""
_AWAY = (BackendUnavailable, BackendTimeout, BackendOverloaded)
_WITHOUT_CALLS = ("lexical", "replay")
_OF_A_MACHINE = ("tgi:", "triton:", "replay:", "http:", "https:")
_Result = TypeVar("_Result")


def check_installed(suite: Suite) -> None:
    """Raise InvalidInput, naming the field, for a suite that an installation cannot evaluate."""
    config = check_config(suite.values["run"], file=f"suite {suite.name}")
    refusals: dict[str, tuple[bool, str]] = {
        "judging": ("judging" in suite.values, "an installation judges in full so far"),
        "serve": (
            suite.values.get("serve") is not None,
            "an installation serves no checkpoints: supply their captions, or name its captioner",
        ),
        "retention": (
            suite.keep is not None,
            "an installation removes runs by CALIPER_GATEWAY_RETENTION_DAYS",
        ),
        "pack": (config.pack is not None, "an installation has its own prompts"),
        "anchors": (
            config.anchors is not None,
            "whether anchors are judged, an installation's judges are told by its own settings",
        ),
    }
    for name, part in config.benchmarks.items():
        for role in ("judge", "reader", "captioner"):
            spec = getattr(part, role) or ""
            message = f"name it as the installation's {role} names itself, not by {spec:.60}"
            is_foreign = spec.startswith(_OF_A_MACHINE)
            refusals[f"benchmarks.{name}.{role}"] = (is_foreign, message)
        for server in ("tagger", "embedder"):
            is_own = getattr(part, server) != BenchmarkConfig.model_fields[server].default
            refusals[f"benchmarks.{name}.{server}"] = (is_own, "it is that of the installation")
    for place, (is_refused, message) in refusals.items():
        if is_refused:
            raise InvalidInput(f"not with --server: {message}", field=place)


@dataclass(slots=True)
class GatewayEvaluator:
    """pipeline.suites.evaluation.CheckpointEvaluator: runs are those of the gateway's store, which
    `comparer` reads too. `warn` takes outages.

    Which run was begun for an entry is noted in the store, so whatever ends a loop, the next one
    follows that run. Should the note be missing, it begins the same run: its id follows from what
    is measured.
    """

    gateway: RemoteGateway
    store: ObjectStore
    comparer: Comparer
    captions: BucketCaptions
    clock: Clock
    warn: Callable[[str], None]
    spent: Spending = field(default_factory=Spending)

    async def evaluate(
        self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
    ) -> EntryResult:
        try:
            return await self._result(suite, claim, baseline)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            # Whatever somebody applies ends the evaluation of this one, not of all others.
            message = f"it cannot be evaluated: {error!r:.200}"
            raise InvalidInput(message, file=f"suite {suite.name}") from error

    async def _result(
        self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
    ) -> EntryResult:
        entry = claim.entry
        run = await self._begun(entry)
        if not run:
            check_installed(suite)
            requests = await self._requests(suite, entry.checkpoint)
            if requests is None:
                reason = f"there are no captions at {entry.checkpoint.source}"
                return EntryResult(EntryCause.LOSS, {"reason": reason})
            run = await self._begin(entry, *requests)
        await claim.note_run(run)
        ended = await self._end(run)
        if ended.state is RunState.FAILED:
            return EntryResult(EntryCause.FAILURE, {"run": run, "reason": ended.error})
        if ended.state is RunState.CANCELLED:
            return EntryResult(EntryCause.DOUBT, {"run": run, "reason": f"run {run} was cancelled"})
        evaluated = await self._evaluated(ended)
        cause, decided = await decide(suite, evaluated, baseline, self._compare)
        return EntryResult(cause, evaluated.fields | decided)

    async def abandon(self, entry: CheckpointEntry) -> None:
        """Cancel the run of an entry, so that it costs no more calls. Raises StoreUnavailable."""
        run = await self._noted(entry)
        if not run:
            return
        try:
            await self._patiently(lambda: self.gateway.cancel(run), _CANCELLATION_PATIENCE)
        except NotFound:
            return
        except BackendError as error:
            self.warn(f"run {run} goes on, it could not be cancelled: {error}")

    async def after(self, suite: Suite, entries: Sequence[CheckpointEntry]) -> None:
        """Do nothing: the gateway removes old runs."""

    async def _begun(self, entry: CheckpointEntry) -> str:
        """The run that an earlier loop began for this round of an entry; empty if none did."""
        run = await self._noted(entry)
        if not run:
            return ""
        try:
            await self._patiently(lambda: self.gateway.get(run))
        except NotFound:
            return ""
        return run

    async def _noted(self, entry: CheckpointEntry) -> str:
        note = await read_replaceable(self.store, _note_key(entry))
        return str(note.get("run", "")) if note.get("round") == entry.round else ""

    async def _begin(
        self, entry: CheckpointEntry, config: RunConfig, parts: Sequence[BenchmarkRequest]
    ) -> str:
        request = run_request(config, config.label, parts)
        started, is_new = await self._patiently(lambda: self.gateway.start(request))
        run = started.spec.run_id
        if foreign := _foreign_captioner(started, entry.checkpoint):
            if is_new:
                await self.gateway.cancel(run)
            raise InvalidInput(foreign, field="captioner")
        await write_json(self.store, _note_key(entry), run=run, round=entry.round)
        return run

    async def _requests(
        self, suite: Suite, checkpoint: CheckpointRevision
    ) -> tuple[RunConfig, list[BenchmarkRequest]] | None:
        """What is asked of the gateway, with the captions uploaded; None if there are none."""
        stored = check_config(suite.values["run"], file=f"suite {suite.name}")
        if all(part.captioner is not None for part in stored.benchmarks.values()):
            config = suite_run(suite, checkpoint)
            return config, [_request(suite, config, name) for name in config.benchmarks]
        async with self.captions.fetched(checkpoint) as here:
            if is_empty(Path(here.source)):
                return None
            config = suite_run(suite, here)
            parts = [await self._with_captions(suite, config, name) for name in config.benchmarks]
        return config, parts

    async def _with_captions(self, suite: Suite, config: RunConfig, name: str) -> BenchmarkRequest:
        request, part = _request(suite, config, name), config.benchmarks[name]
        if part.captions is None:
            return request
        texts = (await asyncio.to_thread(open_sources, name, part)).captions or {}
        digest = await self._patiently(lambda: self.gateway.upload(name, texts))
        return replace(request, captions=digest)

    async def _patiently(
        self, call: Callable[[], Awaitable[_Result]], patience: float = _PATIENCE
    ) -> _Result:
        """The result of a call that may be repeated, once the gateway answers."""
        deadline, told = self.clock.monotonic() + patience, False
        while True:
            try:
                return await call()
            except _AWAY as error:
                if self.clock.monotonic() >= deadline:
                    raise
                if not told:
                    self.warn(f"waiting for the gateway: {error}")
                told = True
            await self.clock.sleep(_PAUSE)

    async def _end(self, run: str) -> Evaluation:
        """The run once it has ended, however often the gateway goes away meanwhile."""
        told = False
        while True:
            try:
                async for update in self.gateway.watch(run, _INTERVAL):
                    told = False
                    if update.state in FINAL_STATES:
                        return update
            except _AWAY as error:
                if not told:
                    self.warn(f"run {run} goes on; waiting for the gateway: {error}")
                told = True
            await self.clock.sleep(_PAUSE)

    async def _evaluated(self, ended: Evaluation) -> EvaluatedRun:
        run = ended.spec.run_id
        data = await self._patiently(lambda: self.gateway.report(run, partial=True))
        # In a thread: it has all figures of all tasks.
        report = await asyncio.to_thread(read_report, data.decode(), f"run {run}")
        asked = sum(
            part.coverage.known - part.coverage.undrawn
            for part in report.benchmarks
            if _calls_a_model(ended, part.name)
        )
        calls = asked if ended.reuse is None else max(0, asked - ended.reuse.verdicts)
        self.spent = Spending(calls, await spent_tokens(run_store(self.store, run)))
        return EvaluatedRun(run, report, self.spent.calls, self.spent.tokens)

    async def _compare(self, base: str, run: str) -> Comparison:
        comparison, _ = await self.comparer.compare([base, run], GATE_REQUEST)
        return comparison


def _note_key(entry: CheckpointEntry) -> str:
    return f"suites/{entry.suite}/begun/{entry.version}/{entry.checkpoint.revision}.json"


def _request(suite: Suite, config: RunConfig, name: str) -> BenchmarkRequest:
    """The request of a benchmark whose files are named by digest. Raises InvalidInput."""
    part = config.benchmarks[name]
    try:
        digests = {field: check_digest(text, field) for field, text in _named_files(part)}
    except InvalidInput as error:
        message = "it was applied without its data: apply it again, with --server"
        raise InvalidInput(message, file=f"suite {suite.name}", field=error.field) from error
    answerers = {role: spec for role in ("judge", "reader") if (spec := getattr(part, role))}
    request = part_request(name, part, digests, part.captioner, answerers)
    nodes = suite.values.get("taxonomies", {}).get(name, {})
    return replace(request, taxonomy={domain: tuple(each) for domain, each in nodes.items()})


def _named_files(part: BenchmarkConfig) -> Iterator[tuple[str, str]]:
    files = {"data": part.data, "qa_data": part.qa, "qa_replies": part.qa_replies}
    return ((field, str(file)) for field, file in files.items() if isinstance(file, Path))


def _calls_a_model(ended: Evaluation, name: str) -> bool:
    identity = ended.spec.benchmark(name).models[benchmark(name).role]
    return identity.kind not in _WITHOUT_CALLS


def _foreign_captioner(started: Evaluation, checkpoint: CheckpointRevision) -> str:
    """Why a run's captioner is not the checkpoint; empty if it is, or there is none."""
    for part in started.spec.benchmarks:
        captioner = part.models.get("captioner")
        if captioner is not None and captioner.revision != checkpoint.revision:
            return f"the captioner serves {captioner.label}, not revision {checkpoint.revision}"
    return ""
