"""Runs that begin while a stage is scaled to zero, on real Kafka and MinIO."""

import asyncio
from pathlib import Path

from tests.fakes.installation import alone, over
from tests.fakes.separate import Installation
from tests.fakes.sources import EXAMPLES

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.run import RunState
from caliper.local.config import read_config
from caliper.local.submission import send


async def test_a_run_begins_while_the_judge_is_asleep(there: Installation, tmp_path: Path) -> None:
    config = read_config(EXAMPLES / "careful.yaml")
    part = config.benchmarks["capability"]
    config = config.model_copy(update={"benchmarks": {"capability": part}})
    kinds = ("judge", "qa_reader", "aggregator")
    rules = {"model": "lexical", "anchors": "true"}
    for kind in ("judge", "qa_reader"):
        await there.stop(kind)
        await there.another(kind, kind, **rules)
    places = {kind: f"127.0.0.1:{there.ports[kind]}" for kind in kinds}
    await there.another("gateway", "dozing", stages_sleep="true", **places)
    async with RemoteGateway(Target(f"127.0.0.1:{there.ports['dozing']}")) as gateway:
        first = await send(config, gateway)
        await over(gateway, first.spec.run_id)
        await there.stop("judge")
        later = config.model_copy(update={"name": "later"})
        begun = await send(later, gateway)
        # As where it is scaled: its jobs are what wakes it.
        await there.another("judge", "judge-2", **rules)
        ended = await over(gateway, begun.spec.run_id)
        report, page = await asyncio.gather(
            *(gateway.report(begun.spec.run_id, file) for file in ("report.json", "report.md"))
        )
    assert ended.state is RunState.COMPLETE
    assert report == await alone(later, WarningWatcher(), tmp_path)
    assert b"known answers judged correctly" in page
    assert page == (tmp_path / "alone" / "report.md").read_bytes()
