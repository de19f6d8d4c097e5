"""Datasets in a real bucket."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest
from tests.servers.access import access_to

from caliper.adapters.stores.dataset_bucket import DatasetBuckets, _entries
from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.wiring.data_sources import data_name, open_source

FILES = {"set/q.json": b"[1]", "set/images/a.jpg": b"picture", "set2/q.json": b"[2]"}


def unwatched(done: int, total: int) -> None:
    pass


class Listing:
    """A client of a bucket with an object of one name."""

    def __init__(self, key: str) -> None:
        self.key = key

    def list_objects(self, *_: object, **__: object) -> list[SimpleNamespace]:
        return [SimpleNamespace(object_name=self.key, size=1, etag="x")]


@pytest.mark.parametrize("key", ["set//a.json", "set/./a.json", "set/../a.json", "set/x//a.json"])
def test_no_object_takes_the_place_of_another(key: str) -> None:
    with pytest.raises(InvalidInput, match="s3://bucket/set: not a path below it"):
        _entries(cast("Any", Listing(key)), "bucket", "set", "s3://bucket/set")


def test_a_dataset_in_a_bucket_is_copied_once(
    minio: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = access_to(minio, f"tests-{uuid4().hex[:12]}")
    with access.connections() as pool:
        client = access.client(pool)
        client.make_bucket(access.bucket)
        for key, data in FILES.items():
            client.put_object(access.bucket, key, io.BytesIO(data), len(data))
        source, name = DatasetBuckets(tmp_path, 1000, access), f"{access.bucket}/set"
        seen = list[tuple[int, int]]()

        def watched(done: int, total: int) -> None:
            seen.append((done, total))

        folder = source.fetch(source.pinned(name), watched, media=False)
        assert {file.name for file in folder.rglob("*") if file.is_file()} == {"q.json"}
        # The rest comes when somebody looks at media; nothing comes twice.
        assert source.fetch(f"{name}/", watched, media=True) == folder
        assert (folder / "images" / "a.jpg").read_bytes() == b"picture"
        source.fetch(name, watched, media=True)
        assert seen == [(3, 3), (10, 10)]
        file = source.fetch(f"{name}/q.json", unwatched, media=False)
        assert (file.name, file.read_bytes()) == ("q.json", b"[1]")
        client.put_object(access.bucket, "set/q.json", io.BytesIO(b"[3]"), 3)
        changed = source.fetch(name, unwatched, media=False)
        assert (changed / "q.json").read_bytes() == b"[3]"
        assert (folder / "q.json").read_bytes() == b"[1]"
        # By the settings of the store, whatever its bucket.
        monkeypatch.setenv("CALIPER_STORE", access.url)
        monkeypatch.setenv("CALIPER_STORE_ACCESS_KEY", access.access_key)
        monkeypatch.setenv("CALIPER_STORE_SECRET_KEY", access.secret_key)
        monkeypatch.setenv("CALIPER_DATA_CACHE", str(tmp_path / "cache"))
        named = data_name(Path(f"s3://{name}"))
        assert named is not None
        by_name = open_source(named.scheme).fetch(named.name, unwatched, media=False)
        assert by_name.parents[1] == tmp_path / "cache" / "s3"
        assert (by_name / "q.json").read_bytes() == b"[3]"
        with pytest.raises(InvalidInput, match="there are no such objects"):
            source.fetch(f"{access.bucket}/nothing", unwatched, media=True)
        with pytest.raises(InvalidInput, match="more than CALIPER_DATA_BYTES"):
            DatasetBuckets(tmp_path, 5, access).fetch(name, unwatched, media=True)
        with pytest.raises(InvalidInput, match="expected a bucket's name") as caught:
            source.pinned("user:secret@bucket/set")
        assert "secret" not in str(caught.value)
        with pytest.raises(StoreUnavailable, match="NoSuchBucket"):
            source.fetch("tests-of-nobody/set", unwatched, media=True)
