"""Runs compared by an installation: to the last bit what is told of them in directories."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from tests.fakes.clock import PATIENCE
from tests.fakes.datasets import push_dataset
from tests.fakes.installation import alone, listening, over
from tests.fakes.loopback_server import failure, stub_of
from tests.fakes.sources import EXAMPLES
from tests.fakes.stuffed_captions import stuff
from tests.fakes.stuffed_captions import stuffed as everything_stated

from caliper.adapters.exports.comparison import comparison_json
from caliper.adapters.pages.compare import render_comparison
from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.errors import InvalidInput, NotComparable, NotFound
from caliper.local.config import RunConfig, read_config
from caliper.local.directory import RunDirectory
from caliper.local.reports import media_of
from caliper.local.submission import parcel_at, send
from caliper.pipeline.comparing.comparison import ComparisonRequest, compare_runs
from caliper.wiring.grounds import Ground, memory_ground
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.sinks import folder_thumbnails
from caliper.wiring.startup import all_services

NAMES = ("careless", "careful", "strict")


class BlockableStore(DirectoryStore):
    """A store that keeps verdicts to itself while it is `held`."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.held = False
        self.reached = asyncio.Event()

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        if self.held and "/verdicts/" in key:
            self.reached.set()
            await asyncio.Event().wait()
        return await super().get(key, max_bytes)


@pytest.fixture
def held(tmp_path: Path) -> BlockableStore:
    return BlockableStore(tmp_path / "store")


@pytest.fixture
def ground(held: BlockableStore) -> Ground:
    return memory_ground(held)


@pytest_asyncio.fixture
async def address(ground: Ground) -> AsyncIterator[str]:
    parts = await all_services(ground, JudgeSettings(), QaReaderSettings(), None)
    async with listening(parts) as found:
        yield found


@pytest_asyncio.fixture
async def there(address: str) -> AsyncIterator[RemoteGateway]:
    async with RemoteGateway(Target(address)) as gateway:
        yield gateway


def config(name: str) -> RunConfig:
    """A few questions of all three benchmarks; `strict` is careful, read otherwise."""
    found = read_config(EXAMPLES / f"{'careful' if name == 'strict' else name}.yaml")
    parts = dict(found.benchmarks)
    if name == "strict":
        chosen = {"set": {"reply_reading": "strict"}}
        parts["capability"] = parts["capability"].model_copy(update=chosen)
    return found.model_copy(update={"limit": 4, "benchmarks": parts})


async def both(
    ground: Ground, there: RemoteGateway, folder: Path, *names: str
) -> tuple[list[str], list[RunDirectory]]:
    """The runs of an installation, with their media, and the same runs in directories."""
    ids, directories = [], []
    for name in names:
        for benchmark, part in config(name).benchmarks.items():
            await push_dataset(ground.store, parcel_at(benchmark, part.data, part.media_root))
        begun = await send(config(name), there)
        ids.append(begun.spec.run_id)
        await over(there, ids[-1])
        await alone(config(name), WarningWatcher(), folder / name)
        directories.append(RunDirectory(folder / name / "alone"))
    return ids, directories


async def test_it_is_told_to_the_last_bit_what_directories_tell(
    ground: Ground, there: RemoteGateway, tmp_path: Path
) -> None:
    ids, directories = await both(ground, there, tmp_path, *NAMES)
    wished = ComparisonRequest(anyway=True, flips=30)
    found, sent = await there.compare(ids, wished, pictures=True)
    stored = [each.stored_run for each in directories]
    here = await compare_runs(stored, wished)
    assert comparison_json(found) == comparison_json(here)
    assert found == here
    flips = [flip for candidate in found.candidates for flip in candidate.flips.listed]
    assert len(flips) > 30
    figures = [each for one in found.candidates for part in one.parts for each in part.figures]
    assert len(figures) > 200
    page = render_comparison(found, lambda *name: sent.get(name))
    assert page == render_comparison(here, folder_thumbnails(media_of(directories[1])))
    assert page.count("data:image/jpeg;base64,") > 10
    # Runs that differ in a setting are refused.
    with pytest.raises(NotComparable) as refused:
        await there.compare(ids[1:], ComparisonRequest())
    with pytest.raises(NotComparable) as refused_here:
        await compare_runs(stored[1:], ComparisonRequest())
    assert str(refused.value) == str(refused_here.value)
    differences = (("setting", "capability setting reply_reading", "lenient / strict"),)
    assert refused.value.reasons == refused_here.value.reasons == differences
    found, _ = await there.compare(ids[1:], ComparisonRequest(anyway=True))
    assert [each.name for each in found.candidates[0].setup_differences] == ["reply_reading"]


async def test_signs_of_stuffing_are_told(
    ground: Ground, there: RemoteGateway, tmp_path: Path
) -> None:
    stuffed = read_config(stuff(tmp_path, everything_stated())).model_copy(update={"limit": 4})
    ids = [(await send(each, there)).spec.run_id for each in (config("careless"), stuffed)]
    for run in ids:
        await over(there, run)
    found, _ = await there.compare(ids, ComparisonRequest(flips=0))
    shares = dict.fromkeys(("capability", "captionqa", "comprecap"), 1.0)
    assert [side.stuffed for side in found.sides] == [{}, shares]


async def test_what_cannot_be_asked_for(there: RemoteGateway) -> None:
    with pytest.raises(InvalidInput) as refused:
        await there.compare([], ComparisonRequest())
    assert refused.value.field == "runs"
    for ids in (["0" * 16] * 2, ["no id", "../x"]):
        with pytest.raises(NotFound):
            await there.compare(ids, ComparisonRequest())


async def test_the_gateway_goes_on_meanwhile_and_a_deadline_ends_it(
    ground: Ground, held: BlockableStore, there: RemoteGateway, address: str, tmp_path: Path
) -> None:
    ids, _ = await both(ground, there, tmp_path, "careless", "careful")
    held.held = True
    async with asyncio.timeout(PATIENCE), grpc.aio.insecure_channel(address) as channel:
        stub = stub_of("EvaluateService", channel)
        asked = pb.CompareEvaluationsRequest(runs=ids)
        slow = stub.CompareEvaluations(asked)
        reading = asyncio.ensure_future(failure(slow.read()))
        await held.reached.wait()
        assert (await there.get(ids[0])).spec.run_id == ids[0]
        short = await failure(stub.CompareEvaluations(asked, timeout=1).read())
        assert short.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        slow.cancel()
        await asyncio.wait([reading])
        held.held = False
        found, _ = await there.compare(ids, ComparisonRequest(flips=0))
    assert len(found.candidates) == 1
