"""Webhooks of MLflow, Hugging Face and W&B: payloads and headers as documented by each."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.fakes.clock import PATIENCE
from tests.fakes.suites import suite

from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.errors import InvalidInput
from caliper.core.suites import SuiteCause
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.serving.addresses import Address
from caliper.serving.webhooks import WebhookReceiver
from caliper.wiring.clock import SystemClock

SECRETS = {"mlflow": "of-mlflow", "huggingface": "of-hugging-face", "wandb": "of-wandb"}
MLFLOW = {
    "entity": "model_version",
    "action": "created",
    "timestamp": "2026-11-25T21:00:00+00:00",
    "data": {
        "name": "captioner large",
        "version": "3",
        "source": "models:/m-0123",
        "run_id": "abcd1234abcd5678",
        "tags": {"step": "1500", "team": "vision"},
        "description": None,
    },
}
SHA, TAGGED = "c0ffee" * 6 + "1234", "d00d" * 10
HUGGING_FACE = {
    "event": {"action": "update", "scope": "repo.content"},
    "repo": {"type": "model", "name": "org/gpt2", "id": "62", "private": False, "headSha": SHA},
    "updatedRefs": [
        {"ref": "refs/heads/main", "oldSha": "0" * 40, "newSha": SHA},
        {"ref": "refs/tags/step-2000", "oldSha": None, "newSha": TAGGED},
        {"ref": "refs/heads/gone", "oldSha": SHA, "newSha": None},
    ],
    "webhook": {"id": "6390e855e30d9209411de93b", "version": 3},
}
WANDB = {
    "event_type": "LINK_ARTIFACT",
    "client_payload": {
        "event_author": "somebody",
        "artifact_version": "wandb-artifact://_id/QXJ0aWZhY3Q6NTE3ODg5ODg3",
        "artifact_version_string": "team/model-registry/captioner:v12",
        "artifact_collection_name": "captioner",
        "project_name": "model-registry",
        "entity_name": "team",
        "step": "700",
    },
}
PAYLOADS = {"mlflow": MLFLOW, "huggingface": HUGGING_FACE, "wandb": WANDB}


def headers_of(sender: str, body: bytes, secret: str | None = None) -> dict[str, str]:
    """As the sender signs a body."""
    key = (SECRETS[sender] if secret is None else secret).encode()
    if sender == "huggingface":
        return {"X-Webhook-Secret": key.decode()}
    if sender == "wandb":
        return {"X-Wandb-Signature": hmac.new(key, body, hashlib.sha256).hexdigest()}
    signed = b"3e1f.1764100000." + body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "X-MLflow-Delivery-Id": "3e1f",
        "X-MLflow-Timestamp": "1764100000",
        "X-MLflow-Signature": f"v1,{signature}",
    }


class Receiver:
    """A receiver with a suite, and what senders get to hear."""

    def __init__(self, registry: SuiteRegistry, address: Address) -> None:
        self.registry, self.url = registry, f"http://{address}/webhooks/"

    async def send(self, sender: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url + sender, data=body, headers=headers) as answer,
        ):
            return answer.status, await answer.text()

    async def deliver(self, sender: str, payload: Any) -> tuple[int, Any]:
        body = json.dumps(payload).encode()
        status, text = await self.send(sender, body, headers_of(sender, body))
        return status, json.loads(text)

    async def entries(self) -> list[CheckpointEntry]:
        return [each.entry for each in (await self.registry.entries("nightly"))[0]]


@pytest.fixture
async def receiver(tmp_path: Path) -> AsyncIterator[Receiver]:
    registry = SuiteRegistry(DirectoryStore(tmp_path), SystemClock())
    await registry.apply(suite())
    serving = WebhookReceiver(Administration(registry), ["nightly"], SECRETS.get)
    async with serving.listening(Address("127.0.0.1", 0), "--listen") as address:
        yield Receiver(registry, address)


@pytest.mark.parametrize(
    ("sender", "expected"),
    [
        ("mlflow", [("models:/m-0123", 1500, ())]),
        ("wandb", [("wandb-artifact://_id/QXJ0aWZhY3Q6NTE3ODg5ODg3", 700, ())]),
        ("huggingface", [("hf://org/gpt2", 2000, ("step-2000",)), ("hf://org/gpt2", None, ())]),
    ],
)
async def test_a_delivery_registers_once_however_often_it_comes(
    receiver: Receiver, sender: str, expected: list[Any]
) -> None:
    payload = PAYLOADS[sender]
    wanted = {"checkpoints": len(expected), "states": ["registered"] * len(expected)}
    for _ in range(3):
        assert await receiver.deliver(sender, payload) == (200, wanted)
    found = [
        (each.checkpoint.source, each.checkpoint.step, each.checkpoint.tags)
        for each in await receiver.entries()
    ]
    assert found == expected


async def test_what_a_sender_that_gives_up_announced_is_registered(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, register = asyncio.Event(), asyncio.Event(), receiver.registry.register

    async def slow(*arguments: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await register(*arguments)

    monkeypatch.setattr(receiver.registry, "register", slow)
    sending = asyncio.create_task(receiver.deliver("mlflow", MLFLOW))
    await begun.wait()
    sending.cancel()
    await asyncio.wait([sending])
    # Whoever is answered now came after the end of that connection.
    assert (await receiver.send("nobody", b"", {}))[0] == 404
    go_on.set()
    async with asyncio.timeout(PATIENCE):
        while not await receiver.entries():
            pass


async def test_revisions_never_change_their_meaning(receiver: Receiver) -> None:
    await receiver.deliver("huggingface", HUGGING_FACE)
    assert {each.checkpoint.revision for each in await receiver.entries()} == {SHA, TAGGED}
    # The same version number again, after its model was deleted: of another run.
    await receiver.deliver("mlflow", MLFLOW)
    await receiver.deliver("mlflow", {**MLFLOW, "data": {**MLFLOW["data"], "run_id": "other"}})  # type: ignore[dict-item]
    assert len(await receiver.entries()) == 4


@pytest.mark.parametrize("sender", SECRETS)
async def test_a_bad_signature_is_refused_and_nothing_else_happens(
    receiver: Receiver, sender: str
) -> None:
    body = json.dumps(PAYLOADS[sender]).encode()
    good = headers_of(sender, body)
    bad = [{}, headers_of(sender, body, "guessed"), headers_of(sender, body, "")]
    bad += [{**good, name: value[:-2] + "é"} for name, value in good.items()]
    if sender != "huggingface":
        bad.append(headers_of(sender, body + b" "))
    for headers in bad:
        assert await receiver.send(sender, body, headers) == (401, "")
    # Also before it is read.
    assert await receiver.send(sender, b"{", {}) == (401, "")
    assert await receiver.entries() == []


async def test_a_signature_of_wandb_may_be_base64(receiver: Receiver) -> None:
    body = json.dumps(WANDB).encode()
    signature = base64.b64encode(hmac.digest(b"of-wandb", body, "sha256")).decode()
    status, _ = await receiver.send("wandb", body, {"X-Wandb-Signature": signature})
    assert status == 200


@pytest.mark.parametrize(
    ("sender", "payload"),
    [
        ("mlflow", {**MLFLOW, "entity": "prompt_version"}),
        ("mlflow", {**MLFLOW, "action": "deleted"}),
        ("huggingface", {**HUGGING_FACE, "event": {"action": "create", "scope": "discussion"}}),
        ("huggingface", {**HUGGING_FACE, "repo": {"type": "dataset", "name": "org/data"}}),
        ("wandb", {"event_type": "RUN_METRIC"}),
    ],
)
async def test_what_is_about_something_else_is_accepted_and_ignored(
    receiver: Receiver, sender: str, payload: Any
) -> None:
    assert await receiver.deliver(sender, payload) == (200, {"checkpoints": 0, "states": []})


@pytest.mark.parametrize(
    ("sender", "payload"),
    [
        ("mlflow", []),
        ("mlflow", {**MLFLOW, "data": {"name": "x"}}),
        ("mlflow", {**MLFLOW, "data": {"name": "a\nb", "version": "1"}}),
        ("mlflow", {**MLFLOW, "data": {"name": "x" * 3000, "version": "1"}}),
        ("mlflow", {**MLFLOW, "data": {"name": "x", "version": "1", "tags": 7}}),
        ("huggingface", {}),
        ("huggingface", {**HUGGING_FACE, "updatedRefs": [{"ref": "main", "newSha": SHA}]}),
        ("huggingface", {**HUGGING_FACE, "updatedRefs": [{"ref": "refs/tags/x", "newSha": "/"}]}),
        ("wandb", "text"),
        ("wandb", {"artifact_version": 7}),
    ],
)
async def test_what_cannot_be_read_is_bad_input(
    receiver: Receiver, sender: str, payload: Any
) -> None:
    status, answer = await receiver.deliver(sender, payload)
    assert (status, list(answer)) == (400, ["error"])
    assert await receiver.entries() == []


async def test_what_is_no_delivery_is_refused(receiver: Receiver) -> None:
    assert (await receiver.send("github", b"{}", {}))[0] == 404
    large = b" " * 300_000
    assert (await receiver.send("wandb", large, headers_of("wandb", large)))[0] == 413
    async with aiohttp.ClientSession() as session, session.get(receiver.url + "wandb") as answer:
        assert answer.status == 405
    await receiver.registry.change("nightly", SuiteCause.RETIREMENT)
    status, answered = await receiver.deliver("wandb", WANDB)
    assert (status, answered["error"]) == (
        409,
        "no suite takes checkpoints: apply one, or resume it",
    )


async def test_a_sender_without_a_secret_and_other_machines_are_refused(tmp_path: Path) -> None:
    registry = SuiteRegistry(DirectoryStore(tmp_path), SystemClock())
    serving = WebhookReceiver(Administration(registry), ["nightly"], {"wandb": ""}.get)
    async with serving.listening(Address("127.0.0.1", 0), "--listen") as address:
        client = Receiver(registry, address)
        for sender in SECRETS:
            body = b"{}"
            assert (await client.send(sender, body, headers_of(sender, body, "")))[0] == 404
    with pytest.raises(InvalidInput, match="--listen"):
        serving.listening(Address("0.0.0.0", 0), "--listen")  # noqa: S104 - refused
