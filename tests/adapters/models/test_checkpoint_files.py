from collections.abc import Iterator

import pytest
from tests.fakes.hub_server import COMMIT, HubRepository, HubServer
from tests.fakes.safetensors import FILES, SIZES

from caliper.adapters.models.checkpoint_files import read_published
from caliper.core.errors import InvalidInput, StoreUnavailable

pytestmark = pytest.mark.usefixtures("nobody_is_logged_in")


@pytest.fixture
def hub() -> Iterator[HubServer]:
    repositories = {
        "owner/name": HubRepository(FILES, branches=("main", "v1")),
        "owner/broken": HubRepository(FILES | {"model.safetensors": b"\x10"}),
        "owner/data": HubRepository({"rows.json": b"[]"}),
        "owner/gated": HubRepository(FILES, gated=True),
    }
    with HubServer(repositories) as server:
        yield server


@pytest.mark.parametrize("revision", ["", "@v1", f"@{COMMIT}"])
def test_headers_are_read_and_no_weights(hub: HubServer, revision: str) -> None:
    found = read_published(f"owner/name{revision}", hub.url)
    assert (found.name, found.tensors) == (f"owner/name@{COMMIT}", SIZES)
    assert found.config["model_type"] == "unheard-of"
    weights = [request for request in hub.requests if "safetensors" in request[1]]
    assert [part for _, _, part in weights] == ["bytes=0-100000"] * 2
    assert not any("consolidated" in path for _, path, _ in weights)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nobody", "expected owner/name"),
        ("owner/nobody", "no such model"),
        ("owner/name@v9", "no branch, tag or commit 'v9'"),
        ("owner/data", "holds no config.json"),
        ("owner/gated", "it is gated"),
        ("owner/broken", "no readable header"),
    ],
)
def test_what_is_wrong_with_a_repository(hub: HubServer, name: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_published(name, hub.url)


def test_a_hub_out_of_reach() -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        read_published("owner/name", "http://127.0.0.1:1")
