"""Whom the suites of an installation may have serve their checkpoints."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import BackendUnavailable, InvalidInput
from caliper.ports.serving import Trace
from caliper.wiring.endpoint_tokens import Audience, EndpointTokens, NamedToken
from caliper.wiring.hosts import HostRoom, PermittedHosts
from caliper.wiring.models import Access

LIMITS = {"start": 1, "silence": 1}
EMPTY = dict.fromkeys(("triton", "config", "endpoint", "lora", "pod", "command", "url"))
PLAN = {**EMPTY, **LIMITS, "model": "{revision}", "health": "/", "port": 1}


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"endpoint": "http://169.254.169.254/"}, "169.254.169.254 is not one of the servers"),
        ({"endpoint": "http://vllm.test:8000@evil.test"}, "evil.test is not one of the servers"),
        ({"endpoint": "http://vllm.test:8000"}, "vllm.test:8000 is not one of the servers"),
        # A SPEC would name two servers by it, and the URL only the first.
        ({"endpoint": "https://vllm.test:8000/,https://evil.test/../.."}, "expected one server"),
        ({"endpoint": "http://127.0.0.1:1", "lora": "{path}"}, "127.0.0.1:1 is not one of the"),
        ({"triton": "127.0.0.1:1/model"}, "127.0.0.1:1 is not one of the servers"),
        ({"pod": {"spec": {}}}, "serve.pod: CALIPER_SUITES_PODS names no namespace"),
        ({"command": ["sh"]}, "serve.command: an installation runs no commands"),
    ],
)
async def test_suites_have_only_those_called_whom_the_settings_permit(
    plan: dict[str, Any], told: str
) -> None:
    traces = list[Trace]()

    async def note(trace: Trace) -> None:
        traces.append(trace)

    async def start() -> None:
        server = room.server({**PLAN, **kept, **plan}, Path("/dev/null"))
        await server.start(CheckpointRevision("s3://m/1", "one", "step-1", 1), note)

    permitted = PermittedHosts(("https://vllm.test:8000", "triton:8001"), "", "", "")
    room = HostRoom(Access(), permitted)
    kept = {"namespace": "kube-system", "api": "https://evil.test", "account": "/"}
    with pytest.raises(InvalidInput, match=told):
        await start()
    # Nobody could remove it: the next suite in the slot would fail for it.
    assert traces == []


@pytest.mark.parametrize(
    "trace",
    [
        {"kind": "triton", "target": "former.test:1", "model": "m"},
        {"kind": "lora", "url": "http://former.test", "model": "m"},
        {"kind": "pod", "url": "https://api.test/pod", "account": "/nowhere"},
    ],
)
async def test_what_is_left_where_nobody_may_call_any_more_is_no_fault_of_a_suite(
    trace: dict[str, Any],
) -> None:
    room = HostRoom(Access(), PermittedHosts((), "", "", ""))
    with pytest.raises(BackendUnavailable, match=r"^the previous server there cannot be rem"):
        await room.clear(trace)


def test_pods_are_made_where_the_settings_say() -> None:
    where = {"namespace": "ours", "api": "https://api.test", "account": "/account"}
    permitted = PermittedHosts((), *where.values())
    others = {"namespace": "kube-system", "api": "https://evil.test", "account": "/"}
    server: Any = HostRoom(Access(), permitted).server(
        {**PLAN, **others, "pod": {"spec": {}}}, Path("/")
    )
    plan = server._plan
    assert {name: getattr(plan, name) for name in where} == where


def test_each_server_gets_its_own_token() -> None:
    mine = NamedToken(SecretStr("mine"), "F line 1")
    tokens = EndpointTokens(lines=((Audience.parse("vllm.test:8000"), mine),))
    headers = HostRoom(Access(tokens))._hosts.headers
    assert headers("https://vllm.test:8000/v1/models") == {"authorization": "Bearer mine"}
    assert headers("https://vllm.test:8001") == headers("triton:8001") == {}
    with pytest.raises(InvalidInput, match=r"would go to vllm\.test:8000 in plaintext"):
        headers("http://vllm.test:8000")


@pytest.mark.parametrize("url", ["https://vllm.test:99999", "http://vllm.test:x", "http://[vllm"])
def test_a_server_that_cannot_be_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="serve: the address cannot be read"):
        HostRoom(Access())._hosts.headers(url)
    with pytest.raises(InvalidInput, match="serve: the address cannot be read"):
        PermittedHosts(("https://vllm.test",), "", "", "").check(url)
