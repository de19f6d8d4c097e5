"""Runs compared by an installation: to the last bit what is told of them in directories."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.fakes.installation import alone, installation, over

from caliper.adapters.exports.comparison import comparison_json
from caliper.adapters.pages.compare import render_comparison
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.cli.progress import WarningWatcher
from caliper.core.errors import InvalidInput, NotComparable, NotFound
from caliper.pipeline.comparing import Wished, compare_runs
from caliper.pipeline.supplies import push_dataset
from caliper.runtime.sinks import thumbnails_below
from caliper.servicers.building import Ground
from caliper.servicers.grounds import memory_ground
from caliper.standalone.config import RunConfig, read_config
from caliper.standalone.directory import RunDirectory
from caliper.standalone.kept import media_of, opening
from caliper.standalone.remote import parcel_at, send

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = ("careless", "careful", "strict")


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return memory_ground(DirectoryStore(tmp_path / "store"))


@pytest_asyncio.fixture
async def there(ground: Ground) -> AsyncIterator[RemoteGateway]:
    async with installation(ground) as gateway:
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
        begun = await send(config(name), there, ground.store)
        ids.append(begun.spec.run_id)
        await over(there, ids[-1])
        await alone(config(name), WarningWatcher(), folder / name)
        directories.append(RunDirectory(folder / name / "alone"))
    return ids, directories


async def test_it_is_told_to_the_last_bit_what_directories_tell(
    ground: Ground, there: RemoteGateway, tmp_path: Path
) -> None:
    ids, directories = await both(ground, there, tmp_path, *NAMES)
    wished = Wished(anyway=True, flips=30)
    found, sent = await there.compare(ids, wished, pictures=True)
    here = await compare_runs([*map(opening, directories)], wished)
    assert comparison_json(found) == comparison_json(here)
    assert found == here
    flips = [flip for candidate in found.candidates for flip in candidate.flips.listed]
    assert len(flips) > 30
    figures = [each for one in found.candidates for part in one.parts for each in part.figures]
    assert len(figures) > 200
    page = render_comparison(found, lambda *name: sent.get(name))
    assert page == render_comparison(here, thumbnails_below(media_of(directories[1])))
    assert page.count("data:image/jpeg;base64,") > 10


async def test_what_differs_is_told_in_a_refusal(
    ground: Ground, there: RemoteGateway, tmp_path: Path
) -> None:
    ids, directories = await both(ground, there, tmp_path, "careful", "strict")
    with pytest.raises(NotComparable) as refused:
        await there.compare(ids, Wished())
    with pytest.raises(NotComparable) as here:
        await compare_runs([*map(opening, directories)], Wished())
    assert refused.value.reasons == here.value.reasons
    assert refused.value.reasons == (
        ("setting", "capability setting reply_reading", "lenient / strict"),
    )
    assert str(refused.value) == str(here.value)
    found, _ = await there.compare(ids, Wished(anyway=True))
    assert [each.name for each in found.candidates[0].differing] == ["reply_reading"]


async def test_what_cannot_be_asked_for(there: RemoteGateway) -> None:
    with pytest.raises(InvalidInput) as refused:
        await there.compare([], Wished())
    assert refused.value.field == "runs"
    for ids in (["0" * 16] * 2, ["no id", "../x"]):
        with pytest.raises(NotFound):
            await there.compare(ids, Wished())
