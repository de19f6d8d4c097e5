"""Where a suite has its checkpoints served."""

import socket
from typing import Any

import pytest
from tests.fakes.suites import checkpoint

from caliper.core.errors import InvalidInput
from caliper.local.serving_config import ServeConfig, suite_serving


def server_of(step: int = 1, **serve: Any) -> str:
    plan = suite_serving({"serve": serve})
    assert isinstance(plan, ServeConfig)
    return plan.server_of(checkpoint(step))


def test_one_server_has_one_slot_however_suites_write_its_address() -> None:
    written = ("http://gpu1:8000", "HTTP://GPU1:8000/", "http://gpu1:8000/v1", "http://gpu1.:8000")
    assert {server_of(endpoint=each, slot=f"s{n}") for n, each in enumerate(written)} == {
        "server.gpu1-8000"
    }
    # The model, an adapter and who calls make no other server of it.
    assert server_of(endpoint="http://key@gpu1:8000", lora="{path}") == "server.gpu1-8000"
    triton = {server_of(triton=each) for each in ("gpu1:8001/a", "https://gpu1:8001/{name}")}
    assert triton == {"server.gpu1-8001"}
    assert server_of(endpoint="http://gpu1") == server_of(endpoint="http://gpu1:80/v1/")
    assert server_of(endpoint="https://gpu1") == "server.gpu1-443"
    # Behind one proxy are several.
    assert server_of(endpoint="https://gpu1/a/v1") == "server.gpu1-443-a"


def test_the_server_of_a_template_is_that_of_the_checkpoint() -> None:
    assert [server_of(step, endpoint="http://{name}:80") for step in (1, 2)] == [
        "server.step-1-80",
        "server.step-2-80",
    ]


def test_a_server_of_this_machine_is_named_by_it() -> None:
    here = socket.gethostname().lower()
    for host in ("localhost", "127.0.0.1", "[::1]", here):
        assert server_of(triton=f"{host}:8001/m") == f"server.{here}-8001"


def test_what_is_made_for_a_checkpoint_has_no_server_of_others() -> None:
    assert server_of(command=["serve"]) == server_of(pod={"spec": {}}) == ""


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no server is at 'http://gpu1:port'"):
        server_of(endpoint="http://gpu1:port")
