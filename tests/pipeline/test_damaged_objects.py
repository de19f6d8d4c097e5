"""Whatever happens to one object of a run, other runs go on, and it is told or healed."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.fakes.damage import DAMAGES, EDITS, LEFT, QUESTIONS, SAMPLES, Installation

from caliper.core.errors import DataLoss
from caliper.core.keys import canonical_json
from caliper.pipeline.ledger.runs import Runs
from caliper.pipeline.planning.publisher import RUNS
from caliper.pipeline.reports.report_files import headlines
from caliper.pipeline.reports.verdict_query import VerdictQuery

MOMENTS = ("live", "restarted", "without snapshots", "without topics")


async def objects(when: str) -> list[tuple[str, str]]:
    """The objects of a run and of the aggregator, `ID` standing for the run, with `when`."""
    site = await Installation.left(when)
    keys = [key.replace(site.specs[0].run_id, "ID") for key in site.store.objects]
    own = [key for key in keys if "ID" in key or key.startswith("aggregator/")]
    # One caption is like another.
    alike = [key for key in own if "/captions/" in key][1:]
    return [(key, when) for key in own if key not in alike]


async def whole_files() -> list[tuple[bytes, ...] | None]:
    """The files of both runs."""
    site = await Installation.left("ended")
    return [await site.files(spec) for spec in site.specs]


OBJECTS = [each for when in LEFT for each in asyncio.run(objects(when))]
EDITED = [
    (key, when, "edited")
    for key, when in OBJECTS
    # The digests of segments are stored when a run ends.
    if key.removeprefix("runs/ID/") in EDITS and (when == "ended" or "/verdicts/" not in key)
]
NESTED = [
    (key, when, "nested")
    for key, when in OBJECTS
    if key.endswith((".json", ".gz")) and (when == "running" or key.endswith("end.json"))
]
DAMAGED = [(*each, how) for how in DAMAGES for each in OBJECTS] + EDITED + NESTED
FILES = asyncio.run(whole_files())


@pytest.mark.parametrize(
    ("key", "when", "how", "moment"),
    # Who reads an object at some moment is shown by garbage.
    [(*each, at) for each in DAMAGED for at in MOMENTS if each[2] != "empty" or at == "restarted"],
)
async def test_one_object_harms_one_run(key: str, when: str, how: str, moment: str) -> None:
    # Only what goes on live needs services that did the first jobs themselves.
    site = await (Installation.left if moment == "live" else Installation.crashed)(when)
    ours, theirs = site.specs
    site.damage(key.replace("ID", ours.run_id), how)
    await site.go_on(moment)
    assert await site.files(theirs) == FILES[1]
    files = await site.files(ours)
    if files is None:
        # An object that was deleted may never have been; any other is named.
        assert how == "deleted" or key.removeprefix("runs/ID/") in await site.error(ours)
        await site.start(ours)
        assert await site.error(ours) == ""
        await site.work()
        assert len((await site.gateway.list()).evaluations) == 2
        files = await site.files(ours)
    assert files == FILES[0]


async def test_a_new_start_waits_for_the_captions_that_it_writes_again() -> None:
    site = await Installation.left("running")
    ours = site.specs[0]
    key = next(key for key, _ in OBJECTS if "/captions/" in key)
    site.damage(key.replace("ID", ours.run_id), "garbage")
    await site.work()
    assert key.removeprefix("runs/ID/") in await site.error(ours)
    await site.start(ours)
    await site.plan()
    assert await site.error(ours) == ""
    await site.work()
    assert await site.files(ours) == FILES[0]


async def test_events_that_come_twice_make_no_failed_run_whole() -> None:
    site = await Installation.left("running")
    ours = site.specs[0]
    key = next(key for key, _ in OBJECTS if "/captions/" in key)
    site.damage(key.replace("ID", ours.run_id), "garbage")
    await site.work()
    for event in [record.message for record in site.log if record.message.topic == RUNS]:
        await site.stream.publish(event)
    await site.start(ours)
    await site.work()
    assert await site.files(ours) == FILES[0]


@pytest.mark.parametrize("how", DAMAGES)
async def test_a_complete_run_that_is_held_gets_its_verdicts_back(how: str) -> None:
    site = await Installation.left("ended")
    ours = site.specs[0]
    key = next(key for key, when in OBJECTS if "/verdicts/" in key and when == "ended")
    site.damage(key.replace("ID", ours.run_id), how)
    await site.start(ours)
    await site.work()
    assert await site.files(ours) == FILES[0]
    stored = await Runs(site.store).open(ours.run_id, 0.0)
    assert stored is not None
    assert stored.ledger.finished


async def test_a_complete_run_that_is_held_gets_its_last_verdicts_back() -> None:
    site = await Installation.left("ended")
    ours = site.specs[0]
    key = max(key for key, when in OBJECTS if "/verdicts/" in key and when == "ended")
    del site.store.objects[key.replace("ID", ours.run_id)]
    await site.start(ours)
    await site.work()
    stored = await Runs(site.store).open(ours.run_id, 0.0)
    assert stored is not None
    assert stored.ledger.finished


def test_every_kind_of_object_is_damaged() -> None:
    kinds = {key.removeprefix("runs/ID/").split("/")[0] for key, _ in OBJECTS if "ID/" in key}
    assert None not in FILES
    assert kinds == {
        "spec.json", "started.json", "cancelled.json", "plan", "queue", "captions", "verdicts",
        "end.json", "report", "report-attempts.json"
    }  # fmt: skip
    segments = [when for key, when in OBJECTS if "/verdicts/" in key]
    assert segments == ["ended"] * 3 + ["running"] * 2
    assert {key.removeprefix("runs/ID/") for key, _, _ in EDITED} == EDITS.keys()


@pytest.mark.parametrize("key", [key for key in EDITS if not key.startswith("report/")])
async def test_readers_name_an_object_that_was_changed(key: str) -> None:
    site = await Installation.crashed("ended")
    run = site.specs[0].run_id
    site.damage(f"runs/{run}/{key}", "edited")
    # Another process, which keeps nothing in memory.
    await site.begin()
    with pytest.raises(DataLoss, match=key):
        await site.reader.verdicts(run, VerdictQuery())


@pytest.mark.parametrize("moment", MOMENTS)
async def test_an_end_knows_the_segments_of_those_who_died(moment: str) -> None:
    site = await Installation.left("running")
    await site.go_on(moment)
    run = site.specs[0].run_id
    site.damage(f"runs/{run}/verdicts/00000000.jsonl.gz", "edited")
    await site.begin()
    with pytest.raises(DataLoss, match=r"verdicts/00000000\.jsonl\.gz"):
        await site.reader.verdicts(run, VerdictQuery())


@pytest.mark.parametrize("release", ["this", "earlier"])
async def test_a_report_that_was_changed_is_not_shown(release: str) -> None:
    site = await Installation.left("ended")
    run = site.specs[0].run_id
    if release == "earlier":
        end = json.loads(site.store.objects[f"runs/{run}/end.json"])
        site.store.objects[f"runs/{run}/end.json"] = canonical_json({**end, "files": {}})
    assert await headlines(site.store, run)
    site.damage(f"runs/{run}/report/report.json", "edited")
    with pytest.raises(DataLoss, match=r"report/report\.json"):
        await headlines(site.store, run)
    data, _ = await site.reader.report(run, "report.json", partial=False)
    assert FILES[0] is not None
    assert data == FILES[0][0]


@pytest.mark.parametrize(
    ("file", "other"),
    [
        ("end.json", {"files": []}), ("end.json", {"segment_digests": [1]}),
        ("end.json", {"state": "gone"}), ("end.json", {"start": "x"}),
        ("end.json", {"ended_at": 5}), ("end.json", {"reuse": {"all": 1}}),
        ("cancelled.json", {"cancelled": True, "start": "x"}),
    ],
)  # fmt: skip
async def test_an_end_that_holds_something_else(file: str, other: Mapping[str, Any]) -> None:
    site = await Installation.left("ended")
    ours = site.specs[0]
    key = f"runs/{ours.run_id}/{file}"
    fields = json.loads(site.store.objects[key])
    site.store.objects[key] = canonical_json({**fields, **other})
    assert len((await site.gateway.list()).evaluations) == 2
    assert f"{file}: not the end of a run" in await site.error(ours)
    assert await headlines(site.store, ours.run_id)
    await site.start(ours)
    await site.work()
    assert await site.files(ours) == FILES[0]


async def test_verdicts_that_come_again_can_be_read_meanwhile() -> None:
    site = await Installation.left("ended")
    ours = site.specs[0]
    site.damage(f"runs/{ours.run_id}/verdicts/00000000.jsonl.gz", "edited")
    await site.go_on("without snapshots")
    assert "verdicts/00000000.jsonl.gz" in await site.error(ours)
    await site.start(ours)
    await site.plan()
    stored = await Runs(site.store).open(ours.run_id, 0.0)
    assert stored is not None
    assert 0 < stored.ledger.known < SAMPLES * QUESTIONS
    await site.work()
    assert await site.files(ours) == FILES[0]


async def test_segments_of_an_earlier_release_are_read() -> None:
    site = await Installation.left("ended")
    run = site.specs[0].run_id
    end = json.loads(site.store.objects[f"runs/{run}/end.json"])
    assert end.pop("segment_digests").keys() == {"0", "1", "2"}
    site.store.objects[f"runs/{run}/end.json"] = canonical_json(end)
    await site.go_on("without snapshots")
    assert await site.files(site.specs[0]) == FILES[0]
