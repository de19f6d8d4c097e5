"""The service that evaluates suites receives webhooks that announce checkpoints, by TLS."""

import asyncio
import json
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.fakes.separate import Ground, grounded
from tests.fakes.suites import suite
from tests.servers.process import free_ports
from tests.serving.test_webhooks import PAYLOADS, SECRETS, headers_of

from caliper.adapters.cluster.certificates import Authority
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.core.suites import SuiteCause
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.wiring.clock import SystemClock


@pytest.fixture
def ground(kafka: KafkaAccess, tmp_path: Path) -> Ground:
    return grounded(kafka, "", tmp_path)


async def test_a_signed_delivery_registers_once_in_each_suite(
    ground: Ground, tmp_path: Path
) -> None:
    registry = SuiteRegistry(DirectoryStore(tmp_path / "store"), SystemClock())
    for name in ("daily", "nightly"):
        await registry.apply(suite(name))
        await registry.change(name, SuiteCause.PAUSE)
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "mlflow").write_text(f"{SECRETS['mlflow']}\n", "utf-8")
    authority = Authority.make("ours", datetime.now(UTC), timedelta(days=1))
    made = authority.certify(["127.0.0.1"], datetime.now(UTC), timedelta(days=1))
    for file, content in (("tls.crt", made.chain), ("tls.key", made.key)):
        (tmp_path / file).write_bytes(content)
    port, received = free_ports(2)
    service = ground.service(
        "suites",
        port,
        "suites",
        webhooks_address=f"127.0.0.1:{received}",
        webhooks_secrets=str(secrets),
        tls_certificate=str(tmp_path / "tls.crt"),
        tls_key=str(tmp_path / "tls.key"),
    )
    trust = ssl.create_default_context(cadata=authority.text.decode())

    async def status(sender: str, headers: dict[str, str]) -> int:
        url = f"https://127.0.0.1:{received}/webhooks/{sender}"
        body = json.dumps(PAYLOADS[sender]).encode()
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=body, headers=headers, ssl=trust) as answer,
        ):
            return answer.status

    def signed(sender: str, secret: str | None = None) -> dict[str, str]:
        return headers_of(sender, json.dumps(PAYLOADS[sender]).encode(), secret)

    async def sources() -> list[Any]:
        found = [await registry.entries(name) for name in ("daily", "nightly")]
        return [[each.entry.checkpoint.source for each in entries] for entries, _ in found]

    await asyncio.to_thread(service.start)
    try:
        assert await status("mlflow", {}) == 401
        assert await status("mlflow", signed("mlflow", "guessed")) == 401
        # It has no secret here.
        assert await status("wandb", signed("wandb")) == 404
        assert await sources() == [[], []]
        for _ in range(2):
            assert await status("mlflow", signed("mlflow")) == 200
        assert await sources() == [["models:/m-0123"]] * 2
        # A secret may change while the service runs.
        (secrets / "mlflow").write_text("another", "utf-8")
        assert await status("mlflow", signed("mlflow")) == 401
        service.terminate()
        assert await asyncio.to_thread(service.ended) == 0
    finally:
        await asyncio.to_thread(service.stop)
