"""A handful of checkpoints by the bench of thirty: each is evaluated once, whatever happens."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.thirty.captioner import Quality
from bench.thirty.evaluation import (
    ENDED,
    RealServers,
    command,
    evaluation,
    install_model,
    left_behind,
    open_to_all,
    revision_of,
)
from bench.thirty.questions import ColourQuestions, Judge
from tests.fakes.announcing_bucket import announcing_bucket
from tests.servers import fetch, triton_server
from tests.servers.absence import leave_out
from tests.servers.triton_server import models_of

from caliper.adapters.streams.kafka_access import KafkaAccess

pytestmark = pytest.mark.components("MinIO", "Triton")
SMALL = ColourQuestions(pictures=8, questions=8)
BEFORE_THE_KILL = 150


@pytest.fixture
def servers(kafka: KafkaAccess, tmp_path: Path) -> Iterator[RealServers]:
    place = tmp_path / "triton"
    place.mkdir()
    # Other models would take longer to load than all of this.
    try:
        server, address = triton_server.start(place, sources=())
    except fetch.Missing as reason:
        leave_out("Triton", reason)
    try:
        install_model(models_of(server), SMALL, tmp_path)
        with announcing_bucket(kafka, tmp_path / "minio") as bucket:
            open_to_all(bucket)
            yield RealServers(bucket, address, models_of(server))
    finally:
        server.stop()


def quality(step: int, loss: float = 0.0, hang: float = 0.0) -> Quality:
    losses = dict.fromkeys(("nat", "doc", "ecom", "emb"), loss)
    return Quality(f"step={step}", step - 1, losses, churn=0.1, hang=hang)


async def test_checkpoints_are_evaluated_once_whatever_happens(
    servers: RealServers, tmp_path: Path
) -> None:
    first, worse, hangs, gone = quality(1), quality(2, loss=0.4), quality(3, hang=4), quality(4)
    judge = Judge()
    suite = {"margin": 20.0}
    async with evaluation(servers, tmp_path, judge, suite) as there:
        there.begin()
        await there.deliver(first)
        await there.until(first.name, frozenset({"started"}))
        # Twice, and out of order.
        for each in (gone, worse, first, worse):
            await there.deliver(each)
        await judge.until_asked(first.name, BEFORE_THE_KILL)
        there.loop.kill()
        assert await there.is_loaded()
        await there.until(gone.name, frozenset({"registered"}))
        await there.remove(gone)
        for each in (first, worse, gone):
            await there.until(each.name)
        # Limits of time make no other version.
        await there.apply(start=1)
        await there.deliver(hangs)
        await there.until(hangs.name)
        await there.end()
        entries = await command(tmp_path, "checkpoint", "list")
        (base,) = {each["baseline"] for each in entries} - {""}
        assert base == revision_of(first)
        states = {each["checkpoint"]["name"]: each["state"] for each in entries}
        assert states == {
            first.name: "evaluated",
            worse.name: "regressed",
            hangs.name: "failed",
            gone.name: "source-gone",
        }
        ended = Counter(name for name, kind in there.told if kind in ENDED)
        assert ended == dict.fromkeys(states, 1)
        assert there.loop.failures == []
        assert there.loop.kills == 1
        # What was in flight when it was killed is asked again, and nothing else.
        again = judge.again
        assert again.pop(first.name) < BEFORE_THE_KILL
        assert not any(again.values())
        assert left_behind(tmp_path) == []
        assert not await there.is_loaded()
