from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from tests.fakes.hub_server import COMMIT, TOKEN, HubRepository, HubServer

from caliper.adapters.datasets.hub import HubDatasets
from caliper.core.errors import CaliperError, InvalidInput, StoreUnavailable

FILES = {
    "README.md": b"# ours\n",
    "data/one.json": b"[1]",
    "data/two.json": b"[2]",
    "images/a.JPG": b"a picture",
    "videos.zip": b"clips",
}
# As the cache marks what is whole.
MARKED = {f".cache/all-{sha256(b'').hexdigest()[:16]}": b"", "data.json": b"[1]"}
_ROOM = 100_000_000


pytestmark = pytest.mark.usefixtures("nobody_is_logged_in")


@pytest.fixture
def hub() -> Iterator[HubServer]:
    repositories = {
        "owner/name": HubRepository(FILES, branches=("main", "v1", "refs/pr/3")),
        "owner/hidden": HubRepository(FILES, private=True),
        "owner/gated": HubRepository(FILES, gated=True),
        "owner/marked": HubRepository(MARKED),
        "owner/large": HubRepository({"data.json": bytes(25_000_000)}),
    }
    with HubServer(repositories) as server:
        yield server


def opened(hub: HubServer, folder: Path, **options: bool) -> HubDatasets:
    return HubDatasets(folder, _ROOM, hub.url, **options)


def unwatched(done: int, total: int) -> None:
    pass


def files_in(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in found}
    return {name: path.read_bytes() for name, path in names.items() if name[0] != "."}


@pytest.mark.parametrize("revision", ["", "@v1", "@refs/pr/3", f"@{COMMIT}"])
def test_a_name_is_pinned_to_a_commit(hub: HubServer, tmp_path: Path, revision: str) -> None:
    source = opened(hub, tmp_path)
    assert source.pinned(f"owner/name{revision}/data") == f"owner/name@{COMMIT}/data"
    assert len(hub.requests) == (COMMIT not in revision)
    # Later the cache knows it.
    offline = opened(hub, tmp_path, offline=True)
    assert offline.pinned(f"owner/name{revision}") == f"owner/name@{COMMIT}"


def test_pictures_are_fetched_when_somebody_looks_at_them(hub: HubServer, tmp_path: Path) -> None:
    source, seen = opened(hub, tmp_path), list[tuple[int, int]]()
    name = f"owner/name@{COMMIT}"
    folder = source.fetch(name, lambda *counts: seen.append(counts), media=False)
    data = {path: text for path, text in FILES.items() if "." in path and path[0] in "Rd"}
    assert files_in(folder) == data
    whole = sum(map(len, data.values()))
    assert seen[-1] == (whole, whole)
    assert source.fetch(name, unwatched, media=True) == folder
    assert files_in(folder) == FILES
    # What is whole needs nobody: neither a network nor the Hub.
    hub.requests.clear()
    for offline in (False, True):
        for path, media in (("", True), ("", False), ("/data", True)):
            again = opened(hub, tmp_path, offline=offline)
            assert again.fetch(name + path, unwatched, media=media).is_dir()
    assert not hub.requests


def test_a_part_of_a_dataset_is_fetched_alone(hub: HubServer, tmp_path: Path) -> None:
    source = opened(hub, tmp_path)
    file = source.fetch(f"owner/name@{COMMIT}/data/two.json", unwatched, media=True)
    assert file.read_bytes() == b"[2]"
    assert [each[1] for each in hub.asked("GET", "resolve")] == [
        f"/datasets/owner/name/resolve/{COMMIT}/data/two.json"
    ]
    with pytest.raises(InvalidInput, match=r"owner/name@.*/nothing: it has no such files"):
        source.fetch(f"owner/name@{COMMIT}/nothing", unwatched, media=True)


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("name", InvalidInput, r"hf:name: not a dataset .* expected hf:owner/name\[@revision\]"),
        ("owner/name/../..", InvalidInput, "not a dataset on the Hub"),
        ("owner/none", InvalidInput, "no such dataset .* log in with `hf auth login`, or set HF_T"),
        ("owner/hidden", InvalidInput, "or it is private: check the name"),
        ("owner/gated", InvalidInput, r"accept its terms at http://.*/datasets/owner/gated"),
        ("owner/name@v2", InvalidInput, "it has no branch, tag or commit 'v2'"),
    ],
)
def test_an_error_says_what_to_do(
    hub: HubServer, tmp_path: Path, name: str, error: type[CaliperError], told: str
) -> None:
    source = opened(hub, tmp_path)
    with pytest.raises(error, match=told):
        source.fetch(source.pinned(name), unwatched, media=True)


def test_a_token_opens_what_is_private(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = opened(hub, tmp_path)
    monkeypatch.setenv("HF_TOKEN", "hf_of_somebody_else")
    with pytest.raises(InvalidInput, match="the Hub rejects the token") as caught:
        source.pinned("owner/hidden")
    assert "hf_of_somebody_else" not in str(caught.value)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    for name in ("owner/hidden", "owner/gated"):
        folder = source.fetch(source.pinned(name), unwatched, media=True)
        assert files_in(folder) == FILES


def test_a_hub_that_is_away_is_told_from_a_wrong_name(hub: HubServer, tmp_path: Path) -> None:
    hub.status = 500
    with pytest.raises(StoreUnavailable, match="answers with status 500"):
        opened(hub, tmp_path).pinned("owner/name")
    nobody = HubDatasets(tmp_path, _ROOM, "http://127.0.0.1:9")
    with pytest.raises(StoreUnavailable, match="cannot be reached; with HF_HUB_OFFLINE=1"):
        nobody.pinned("owner/name")
    secret = HubDatasets(tmp_path, _ROOM, hub.url.replace("//", "//user:secret@"))
    with pytest.raises(StoreUnavailable, match=r"http://127.0.0.1:\d+ answers with") as caught:
        secret.pinned("owner/name")
    assert "secret" not in str(caught.value)
    offline = opened(hub, tmp_path, offline=True)
    for ask in (offline.pinned, lambda name: offline.fetch(name, unwatched, media=True)):
        with pytest.raises(InvalidInput, match=r"not in the cache .* fetch it once without"):
            ask("owner/name")


def test_what_is_whole_is_not_fetched_again(hub: HubServer, tmp_path: Path) -> None:
    source, name = opened(hub, tmp_path), f"owner/name@{COMMIT}"

    def cut(done: int, total: int) -> None:
        if done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        source.fetch(name, cut, media=True)
    folder = tmp_path / "owner--name" / COMMIT
    whole = files_in(folder)
    assert whole.items() < FILES.items()
    hub.requests.clear()
    assert source.fetch(name, unwatched, media=True) == folder
    assert files_in(folder) == FILES
    fetched = {each[1].partition(f"{COMMIT}/")[2] for each in hub.asked("GET", "resolve")}
    assert fetched == FILES.keys() - whole.keys()


def test_a_dataset_does_not_say_itself_that_it_is_whole(hub: HubServer, tmp_path: Path) -> None:
    name = f"owner/marked@{COMMIT}"
    assert files_in(opened(hub, tmp_path).fetch(name, unwatched, media=True)) == {
        "data.json": b"[1]"
    }
    assert not hub.asked("GET", "all-")


def test_a_broken_connection_goes_on_where_it_broke(hub: HubServer, tmp_path: Path) -> None:
    hub.breaks = 1
    folder = opened(hub, tmp_path).fetch(f"owner/large@{COMMIT}", unwatched, media=True)
    assert files_in(folder) == {"data.json": bytes(25_000_000)}
    ranges = [each[2] for each in hub.asked("GET", "resolve")]
    assert ranges == ["", "bytes=20971520-"]


def test_more_than_is_allowed_is_never_begun(hub: HubServer, tmp_path: Path) -> None:
    small = HubDatasets(tmp_path, 10, hub.url)
    with pytest.raises(InvalidInput, match="more than CALIPER_DATA_BYTES, 10"):
        small.fetch(f"owner/name@{COMMIT}", unwatched, media=True)
    assert not hub.asked("GET", "resolve")
