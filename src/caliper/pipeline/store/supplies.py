"""What runs are made of, in the store: datasets, their media, and uploaded captions.

`datasets/<digest>/manifest.json`   which files a dataset has, and where each lies
`datasets/<digest>/media.json`      where the media lie that it names, by path
`media/<sha256>`                    a picture or clip
`supplied/<digest>.jsonl.gz`        captions, one row a sample
`runs/<id>/captions/<benchmark>/..` captions that a model wrote for a run
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from cachetools import LRUCache

from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.pipeline.store.disk_spill import SpilledTexts
from caliper.pipeline.store.runs import read_json, write_json
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NOTED_EVERY = 500
"""New media until it is noted which are there: a push that is cut short begins no further back."""
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Parcel:
    """A dataset on its way to the store: the files that its digest stands for, whether they
    lie in a folder of their own, and its media by the paths that the dataset names. `lacking`
    are named by the dataset and are not here.
    """

    digest: str
    files: tuple[Path, ...]
    folder: bool
    media: Mapping[str, Path]
    lacking: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all its files and media. Raises InvalidInput for one that is not there."""
        return sum(map(_size, (*self.files, *self.media.values())))


def checked_digest(text: str, field: str) -> str:
    """`text`, when it is a SHA-256 in hexadecimal digits. Raises InvalidInput naming `field`."""
    if not _DIGEST.fullmatch(text):
        raise InvalidInput("expected a SHA-256 of 64 hexadecimal digits", field=field)
    return text


def nobody_watches(_: int) -> None:
    """Tell nobody how far a push is."""


async def push_dataset(
    store: ObjectStore, parcel: Parcel, told: Callable[[int], None] = nobody_watches
) -> None:
    """Put a dataset into the store, unless it is there. Media are kept once by content; the
    manifest comes last: where it is, the dataset is whole. What a push that was cut short
    has sent is not sent again. `told` hears the bytes of every file that is there by now.

    Raises InvalidInput for a file that cannot be read, StoreUnavailable or StoreFull.
    """
    before = f"datasets/{parcel.digest}"
    media = await read_json(store, f"{before}/media.json") or {"media": {}}
    known: dict[str, str] = dict(media["media"])
    kept = len(known)
    for path, file in parcel.media.items():
        if path not in known:
            data = await _bytes(file)
            known[path] = hashlib.sha256(data).hexdigest()
            await _put_once(store, f"media/{known[path]}", data)
        if len(known) >= kept + _NOTED_EVERY:
            await write_json(store, f"{before}/media.json", media=known)
            kept = len(known)
        told(_size(file))
    if len(known) > kept:
        await write_json(store, f"{before}/media.json", media=known)
    whole = await has_dataset(store, parcel.digest)
    files = {}
    for file in parcel.files:
        files[file.name] = f"{before}/files/{_plain(file.name)}"
        if not whole:
            await store.put(files[file.name], await _bytes(file))
        told(_size(file))
    if not whole:
        await write_json(store, f"{before}/manifest.json", files=files, folder=parcel.folder)


async def has_dataset(store: ObjectStore, name: str) -> bool:
    """Whether a dataset is there as a whole. Raises StoreUnavailable."""
    return await store.get(f"datasets/{name}/manifest.json") is not None


async def fetch_dataset(store: ObjectStore, name: str, place: Path) -> Path:
    """Write a dataset's files below `place`; returns where it lies: a file, or a folder.

    Raises InvalidInput for one that is not there as a whole, StoreUnavailable.
    """
    manifest = await read_json(store, f"datasets/{name}/manifest.json")
    if manifest is None:
        raise InvalidInput("no such dataset in the store", file=f"datasets/{name}")
    written = place
    for file, key in manifest["files"].items():
        written = place / PurePosixPath(file).name
        if written.name != file or not await store.get_file(key, written):
            raise InvalidInput("the dataset lost a file", file=key)
    return place if manifest["folder"] else written


class MediaIndex:
    """Where the media of datasets lie, with the last `capacity` datasets at hand: a job asks for
    nothing that the one before knew.

    Media may be pushed at any time, so for one that is missing it looks again, at most every
    `fresh` seconds.
    """

    def __init__(
        self, store: ObjectStore, clock: Clock, capacity: int = 2, fresh: float = 5.0
    ) -> None:
        self._store, self._clock, self._fresh = store, clock, fresh
        self._held: LRUCache[str, tuple[float, dict[str, str]]] = LRUCache(capacity)
        self._looking = asyncio.Lock()

    async def key(self, data: str, path: str) -> str | None:
        """The key of a medium that dataset `data` names `path`; None when it is not there.

        Raises StoreUnavailable.
        """
        async with self._looking:
            now = self._clock.monotonic()
            when, known = self._held.get(data, (now, None))
            if known is None or (path not in known and now - when >= self._fresh):
                found = await read_json(self._store, f"datasets/{data}/media.json")
                known = dict(found["media"]) if found else {}
                self._held[data] = (now, known)
            return f"media/{known[path]}" if path in known else None


async def has_captions(store: ObjectStore, name: str) -> bool:
    """Whether captions of that digest were uploaded. Raises StoreUnavailable."""
    return await _there(store, _captions_key(name))


async def put_captions(store: ObjectStore, captions: Mapping[str, str]) -> str:
    """Keep captions by sample, and return their digest. Raises StoreUnavailable or StoreFull."""
    # Of hundreds of megabytes all of it takes seconds, and others are waiting.
    name, packed = await asyncio.to_thread(_packed, captions)
    await _put_once(store, _captions_key(name), packed)
    return name


async def read_captions(store: ObjectStore, name: str) -> Mapping[str, str]:
    """Captions by sample, not in memory. Raises InvalidInput when they are not there or broken."""
    key = _captions_key(name)
    with TemporaryDirectory(prefix="caliper-captions-") as folder:
        packed = Path(folder, "captions")
        if not await store.get_file(key, packed):
            raise InvalidInput("no such captions in the store", file=key)
        try:
            return await asyncio.to_thread(_texts, packed)
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidInput(f"not captions: {error!r}", file=key) from error


async def keep_written(store: ObjectStore, run: str, name: str, caption: Caption) -> None:
    """Keep what a captioner wrote for a run. Raises StoreUnavailable or StoreFull."""
    key = _written_key(run, name, caption.sample)
    told = {"truncated": True} if caption.truncated else {}
    await write_json(store, key, sample=caption.sample, caption=caption.text, **told)


async def written_caption(store: ObjectStore, run: str, name: str, sample: str) -> str | None:
    """What a captioner wrote about one sample; None when it has not. Raises InvalidInput,
    StoreUnavailable.
    """
    found = await _read_caption(store, _written_key(run, name, sample))
    return None if found is None else found.text


async def read_written(store: ObjectStore, run: str, name: str) -> Mapping[str, str]:
    """What a captioner wrote for a run, by sample, not in memory. Raises InvalidInput,
    StoreUnavailable.
    """
    found = SpilledTexts()
    async for key in store.list(f"runs/{run}/captions/{name}/"):
        caption = await _read_caption(store, key)
        if caption is not None:
            found.add([(caption.sample, caption.plain)])
    return found


async def _read_caption(store: ObjectStore, key: str) -> Caption | None:
    row = await read_json(store, key)
    if row is None:
        return None
    sample, text = row.get("sample"), row.get("caption")
    if not isinstance(sample, str) or not isinstance(text, str):
        raise InvalidInput("no caption with the sample that it is about", file=key)
    return Caption(sample, text, row.get("truncated") is True)


def _packed(captions: Mapping[str, str]) -> tuple[str, bytes]:
    """Their digest, and what is kept of them."""
    rows = ({"sample": sample, "caption": text} for sample, text in captions.items())
    data = b"\n".join(canonical_json(row) for row in rows) + b"\n"
    return _digest(captions), gzip.compress(data, 6, mtime=0)


def _digest(captions: Mapping[str, str]) -> str:
    """`keys.digest` of the captions as one object, a caption at a time: no other thread goes on
    while one call writes all of it.
    """
    found = hashlib.sha256(b"{")
    for place, sample in enumerate(sorted(captions)):
        found.update(b"," if place else b"")
        found.update(canonical_json(sample) + b":" + canonical_json(captions[sample]))
    found.update(b"}")
    return found.hexdigest()


def _texts(packed: Path) -> SpilledTexts:
    with gzip.open(packed) as lines:
        rows: Iterable[dict[str, str]] = map(json.loads, lines)
        return SpilledTexts((row["sample"], row["caption"]) for row in rows)


def _written_key(run: str, name: str, sample: str) -> str:
    plain = hashlib.sha256(sample.encode("utf-8", "surrogatepass")).hexdigest()
    return f"runs/{run}/captions/{name}/{plain}.json"


def _captions_key(name: str) -> str:
    return f"supplied/{name}.jsonl.gz"


def _plain(name: str) -> str:
    """The name as a part of a key: itself, or its digest where no key could hold it."""
    if _PLAIN.fullmatch(name):
        return name
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


async def _put_once(store: ObjectStore, key: str, data: bytes) -> None:
    if not await _there(store, key):
        await store.put(key, data)


async def _there(store: ObjectStore, key: str) -> bool:
    # Asked by listing: reading it would fetch all of it.
    return any([found == key async for found in store.list(key)])


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError as error:
        raise InvalidInput(f"cannot read it: {error.strerror}", file=str(file)) from error


async def _bytes(file: Path) -> bytes:
    try:
        return await asyncio.to_thread(file.read_bytes)
    except OSError as error:
        raise InvalidInput(f"cannot read it: {error.strerror}", file=str(file)) from error
