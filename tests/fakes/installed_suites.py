"""An installation in this process, and what evaluates its suites."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import SecretStr
from tests.fakes import tiny
from tests.fakes.caption_buckets import MemoryBucket
from tests.fakes.datasets import push_dataset
from tests.fakes.installation import installation
from tests.fakes.suite_folders import suite as written

from caliper.adapters.media.bounds import DecoderOptions
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.packs.files import shipped_pack
from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.errors import BackendRejected
from caliper.core.suites import Suite
from caliper.local.bucket_captions import BucketCaptions
from caliper.local.checkpoint_captioner import CheckpointCaptioner
from caliper.local.checkpoint_requests import CheckpointRequests, SlotCaptioner
from caliper.local.gateway_evaluator import GatewayEvaluator
from caliper.local.patient_gateway import PatientGateway
from caliper.local.run_costs import RunCosts
from caliper.local.submission import push_suite
from caliper.local.suite_config import read_suite
from caliper.pipeline.aggregation.lease import Lease
from caliper.pipeline.asking.memory_limit import MemoryLimit
from caliper.pipeline.comparing.comparer import Comparer
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.evaluation import EntryResult
from caliper.pipeline.suites.loop import SuiteLoop
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import Ground, memory_ground
from caliper.wiring.hosts import HostRoom, PermittedHosts
from caliper.wiring.models import Access
from caliper.wiring.prices import Prices
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings

ACCESS = Access(in_flight=2, retry_budget=0)
SCENES = 100
_FREE: Prices = MappingProxyType({})


@dataclass
class SuiteInstallation:
    """An installation in this process, and what evaluates its suites."""

    ground: Ground
    evaluator: GatewayEvaluator
    bucket: MemoryBucket
    events: list[tuple[str, str]] = field(default_factory=list)
    note: Callable[[], dict[str, Any]] = dict

    async def applied(self, folder: Path, **more: Any) -> Suite:
        push = partial(push_dataset, self.ground.store)
        suite = await push_suite(read_suite(written(folder, **more), installed=True), push)
        await SuiteRegistry(self.ground.store, self.ground.clock).apply(suite)
        return suite

    async def one(
        self,
        suite: Suite,
        checkpoint: CheckpointRevision,
        number: int = 0,
        choice: BaselineChoice | None = None,
    ) -> EntryResult:
        new = CheckpointEntry.new(suite.name, suite.version, checkpoint, "now")
        entry = replace(new, round=number)
        store, clock = self.ground.store, self.ground.clock
        registry, lease = SuiteRegistry(store, clock), Lease(store, clock, "lease")
        claim = EntryClaim(registry, StoredEntry(entry, None), lease)
        self.note = lease.note
        return await self.evaluator.evaluate(suite, claim, choice or BaselineChoice())

    async def decided(self) -> list[CheckpointEntry]:
        """All entries, once a loop has evaluated them."""

        def note(event: Any) -> None:
            self.events.append((event.entry.checkpoint.name, event.event))

        store, clock = self.ground.store, self.ground.clock
        await SuiteLoop(store, clock, self.evaluator, note).run((), once=True)
        stored, _ = await SuiteRegistry(store, clock).entries("nightly")
        return [each.entry for each in stored]


@asynccontextmanager
async def installed(
    folder: Path,
    captioner: CaptionerSettings | None = None,
    examiner: JudgeSettings | None = None,
    served: tuple[str, ...] = (),
    prices: Prices = _FREE,
    caller: tuple[Path, SecretStr] | None = None,
) -> AsyncIterator[SuiteInstallation]:
    ground, bucket = memory_ground(DirectoryStore(folder / "installed")), MemoryBucket()
    comparer = Comparer(ground.store, ground.runs, lambda _: lambda _, __: None)
    captions = BucketCaptions(lambda _: bucket)
    async with installation(ground, examiner, None, captioner, caller) as gateway:
        clock, decoders = SystemClock(), Decoders(DecoderOptions(workers=1))
        assert ground.whole is not None
        serving = SlotCaptioner(
            ground.whole,
            clock,
            HostRoom(ACCESS, PermittedHosts(served, "", "", "")),
            CheckpointCaptioner(ground, ACCESS, shipped_pack(), decoders, MemoryLimit(), prices),
            print,
        )
        requests = CheckpointRequests(PatientGateway(gateway, clock, print), captions, serving)
        costs = RunCosts(ground.store, prices)
        evaluator = GatewayEvaluator(gateway, ground.store, comparer, requests, clock, print, costs)
        yield SuiteInstallation(ground, evaluator, bucket)
        await decoders.close()
    await comparer.close()


class RefusingGateway:
    """A gateway that begins no run that is judged in sequence."""

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gateway, name)

    async def start(self, request: Any) -> Any:
        if request.judging is not None:
            raise BackendRejected("no")
        return await self._gateway.start(request)


def write_scene_captions(folder: Path, step: int, mistakes: int) -> None:
    """The captions of a checkpoint, of which the first so many are mistakes."""
    rows = (
        {
            "file_id": f"s{number:05}",
            "caption": f"a {'mistake' if is_wrong else 'park'} {step} {number}",
        }
        for number in range(SCENES)
        for is_wrong in (number < mistakes,)
    )
    tiny.lines(folder / "scene.jsonl", rows)
