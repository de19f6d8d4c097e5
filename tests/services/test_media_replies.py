"""Questions from the media, answered by recorded replies: in services as in one process."""

import json
from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.installation import alone, over

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.errors import InvalidInput
from caliper.core.run import RunSpec, RunState
from caliper.local.config import RunConfig, read_config
from caliper.local.submission import parcels_from_media, send
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.wiring.recordings import Recordings


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    """All three benchmarks with recorded replies from the media; rules look at captions."""
    found = read_config(tiny.write_all(tmp_path / "data"))
    rules = {"judge": None, "reader": None}
    parts = {name: part.model_copy(update=rules) for name, part in found.benchmarks.items()}
    return found.model_copy(update={"benchmarks": parts, "coverage_floor": 0.1})


async def test_the_report_is_that_of_one_process(
    gateway: RemoteGateway, store: DirectoryStore, config: RunConfig, tmp_path: Path
) -> None:
    begun = await send(config, gateway)
    ended = await over(gateway, begun.spec.run_id)
    assert (ended.state, ended.error) == (RunState.COMPLETE, "")
    report = await gateway.report(begun.spec.run_id)
    assert report == await alone(config, WarningWatcher(), tmp_path)
    rows, _ = await gateway.verdicts(begun.spec.run_id, VerdictQuery(size=1000))
    asked = [row for row in rows if row.judge.startswith("replay")]
    assert {row.benchmark for row in asked} == set(config.benchmarks)
    assert {row.reason for row in asked} <= {"", "no_reply", "bad_ground_truth"}
    figures = json.loads(report)["benchmarks"]
    assert "qa_accuracy" in figures["capability"]["average"]
    assert "utility_gap" in figures["captionqa"]
    assert "compreqa" in figures["comprecap"]


async def test_questions_of_another_form_are_refused(
    gateway: RemoteGateway, store: DirectoryStore, config: RunConfig
) -> None:
    for name, qa, message in (
        ("capability", None, "need their own data"),
        ("capability", True, "need their own data"),
        ("captionqa", config.benchmarks["captionqa"].data, "asks its own questions"),
    ):
        part = config.benchmarks[name].model_copy(update={"qa": qa})
        other = config.model_copy(update={"benchmarks": {name: part}})
        with pytest.raises(InvalidInput, match=message):
            await send(other, gateway)
    assert [key async for key in store.list("datasets/")] == []


async def test_other_recordings_than_the_runs_answer_nothing(
    gateway: RemoteGateway, store: DirectoryStore, config: RunConfig
) -> None:
    begun = await send(config, gateway)
    await over(gateway, begun.spec.run_id)
    spec: RunSpec = begun.spec
    found = await Recordings(store).answerer(spec, "capability")
    assert found.identity == spec.benchmark("capability").models["media"]
    parcel = parcels_from_media("capability", config.benchmarks["capability"])["qa_replies"]
    (file,) = parcel.files
    key = f"datasets/{parcel.digest}/files/{file.name}"
    kept = await store.get(key)
    assert kept is not None
    await store.put(key, kept.replace(b"\n", b" \n"))
    with pytest.raises(InvalidInput, match="not the recorded replies"):
        await Recordings(store).answerer(spec, "capability")


async def test_the_last_recordings_are_read_once(
    gateway: RemoteGateway, store: DirectoryStore, config: RunConfig
) -> None:
    begun = await send(config, gateway)
    await over(gateway, begun.spec.run_id)
    recordings = Recordings(store, capacity=2)
    names = list(config.benchmarks)
    first = [await recordings.answerer(begun.spec, name) for name in names]
    again = [await recordings.answerer(begun.spec, name) for name in reversed(names)]
    assert again[0] is first[2]
    assert again[1] is first[1]
    assert again[2] is not first[0]
