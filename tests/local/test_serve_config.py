"""Where a suite has its checkpoints served."""

import socket
from typing import Any

from caliper.local.serve_config import ServeConfig, suite_serving


def server_of(**serve: Any) -> str:
    plan = suite_serving({"serve": serve})
    assert isinstance(plan, ServeConfig)
    return plan.server_place


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


def test_servers_of_one_template_have_one_slot() -> None:
    assert server_of(endpoint="http://{name}:80") == "server.-name--80"
    assert server_of(endpoint="http://gpu:80{step}") == "server.http---gpu-80-step-"


def test_a_server_of_this_machine_is_named_by_it() -> None:
    here = socket.gethostname().lower()
    for host in ("localhost", "127.0.0.1", "[::1]", here):
        assert server_of(triton=f"{host}:8001/m") == f"server.{here}-8001"


def test_what_is_made_for_a_checkpoint_has_no_server_of_others() -> None:
    assert server_of(command=["serve"]) == server_of(pod={"spec": {}}) == ""
