"""Services do nothing that their users may not do in the store and on the brokers."""

import hashlib
from datetime import timedelta
from pathlib import Path

from pydantic import SecretStr
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.decided_runs import CHECKS, checkpoint, judge
from tests.fakes.granted_services import GrantedServices
from tests.fakes.installation import listening, over
from tests.fakes.small_runs import example, rows_of

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.analysis.gate import Policy
from caliper.core.quotas import QuotaTable, TeamLimits
from caliper.core.run import RunState
from caliper.local.submission import send
from caliper.pipeline.gateway.purge import Retention, delete_run, old_runs
from caliper.pipeline.ledger.stop_criterion import StopCriterion
from caliper.wiring.clock import SystemClock
from caliper.wiring.gateway_options import GatewayOptions


async def test_a_run_with_owners_until_it_is_purged(tmp_path: Path) -> None:
    limits = TeamLimits(runs_at_once=1, calls_a_day=1_000, bytes_stored=1 << 30)
    options = GatewayOptions(quotas=lambda: QuotaTable(default=limits))
    there, tokens = GrantedServices(options=options), tmp_path / "tokens"
    tokens.write_text(f"ours evaluate {hashlib.sha256(b'a token').hexdigest()}\n", "ascii")
    async with ChatServer(otherwise=answer("A")) as chat:
        parts = await there.parts(f"tgi:{chat.url}")
        async with (
            listening(parts, tokens) as address,
            RemoteGateway(Target(address, SecretStr("a token"))) as gateway,
        ):
            for name, cap in (("first", 1_000_000), ("second", None)):
                config = example(name=name).model_copy(update={"max_tokens": cap})
                run = (await send(config, gateway)).spec.run_id
                assert (await over(gateway, run)).state is RunState.FINISHED
                assert await rows_of(gateway, run)
            used = {each.name: each.used for each in await gateway.quotas()}
            assert used["runs_at_once"] == 0
            assert used["calls_a_day"] > 0 < used["bytes_stored"]
    assert f"runs/{run}/owners.json" in there.store.objects
    assert any("/spent/" in key for key in there.store.objects)
    whole, later = there.whole("gateway"), SystemClock().now() + timedelta(hours=3)
    async for old in old_runs(whole, Retention(), later):
        assert await delete_run(whole, old)
    assert not any(key.startswith("runs/") for key in there.store.objects)
    assert there.denied == set()


async def test_a_run_that_is_decided_early(tmp_path: Path) -> None:
    there = GrantedServices()
    base, worse = (checkpoint(tmp_path, name, count) for name, count in (("a", 10), ("b", 60)))
    async with ChatServer(otherwise=judge) as chat:
        parts = await there.parts(f"tgi:{chat.url}")
        async with listening(parts) as address, RemoteGateway(Target(address)) as gateway:
            first = (await send(base, gateway)).spec.run_id
            await over(gateway, first)
            criterion = StopCriterion(first, Policy(CHECKS[:1]), None, 0.05)
            run = (await send(worse, gateway, criterion)).spec.run_id
            assert (await over(gateway, run)).state is RunState.DECIDED
    assert there.denied == set()
