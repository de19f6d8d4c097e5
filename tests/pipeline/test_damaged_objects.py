"""Whatever happens to one object of a run, other runs go on, and it is told or healed."""

import asyncio

import pytest
from tests.fakes.damage import DAMAGES, QUESTIONS, SAMPLES, Installation

from caliper.core.run import RunSpec

MOMENTS = ("live", "restarted", "without snapshots", "without topics")
LEFT = 6
"""Of two runs with four jobs each: both are running then."""


async def finished() -> tuple[Installation, tuple[RunSpec, RunSpec]]:
    """An installation with two runs at their end."""
    site = Installation()
    await site.begin()
    specs = site.spec("ours"), site.spec("theirs")
    for spec in specs:
        await site.start(spec)
    await site.work()
    return site, specs


async def reference() -> tuple[tuple[str, ...], dict[str, tuple[bytes, ...] | None]]:
    """The objects of a finished run and of the aggregator, `ID` standing for the run, and the
    files of both runs.
    """
    site, (ours, theirs) = await finished()
    await site.aggregator.snapshot()
    keys = [key.replace(ours.run_id, "ID") for key in site.store.objects]
    own = tuple(key for key in keys if "ID" in key or key.startswith("aggregator/"))
    return own, {spec.name: await site.files(spec) for spec in (ours, theirs)}


OBJECTS, FILES = asyncio.run(reference())


async def damaged(key: str, how: str, moment: str, *, ended: bool) -> Installation | None:
    """Two runs of which one loses an object, at their end or before it; None if it has none."""
    site = Installation()
    await site.begin()
    ours = site.spec("ours")
    for spec in (ours, site.spec("theirs")):
        await site.start(spec)
    await site.work(leave=0 if ended else LEFT)
    await site.aggregator.snapshot()
    name = key.replace("ID", ours.run_id)
    if name not in site.store.objects:
        return None
    site.damage(name, how)
    if moment.startswith("without"):
        for snapshot in [each for each in site.store.objects if each.startswith("aggregator/")]:
            del site.store.objects[snapshot]
    if moment == "without topics":
        site.log.clear()
    if moment != "live":
        await site.begin()
    await site.work()
    return site


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "running"])
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("key", OBJECTS)
async def test_one_object_harms_one_run(key: str, how: str, moment: str, *, ended: bool) -> None:
    site = await damaged(key, how, moment, ended=ended)
    if site is None:
        pytest.skip("there is none yet")
    ours, theirs = site.spec("ours"), site.spec("theirs")
    assert await site.files(theirs) == FILES["theirs"]
    files = await site.files(ours)
    if files is None:
        # An object that was deleted may never have been; any other is named.
        assert how == "deleted" or key.removeprefix("runs/ID/") in await site.error(ours)
        await site.start(ours)
        assert await site.error(ours) == ""
        await site.work()
        assert len((await site.gateway.list()).evaluations) == 2
        files = await site.files(ours)
    assert files == FILES["ours"]


def test_every_kind_of_object_is_damaged() -> None:
    kinds = {key.removeprefix("runs/ID/").split("/")[0] for key in OBJECTS if "ID/" in key}
    assert None not in FILES.values()
    assert kinds == {
        "spec.json", "started.json", "cancelled.json", "plan", "verdicts", "end.json", "report"
    }  # fmt: skip
    assert len([key for key in OBJECTS if "/verdicts/" in key]) == SAMPLES * QUESTIONS // 2
