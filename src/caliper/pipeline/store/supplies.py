"""The inputs of runs in the store: datasets, their media, and captions.

`datasets/<digest>/manifest.json`   the files of a dataset and their keys
`datasets/<digest>/media...`        the keys of its media by path: see dataset_pushes.py
`media/<sha256>`                    a picture or clip
`supplied/<digest>.jsonl.gz`        uploaded captions, one row per sample
`supplied/<digest>.lacking.json`    reasons for missing captions, by sample
`supplied/<digest>.owners.json`     the uploaders
`runs/<id>/captions/<benchmark>/..` captions that a model wrote for a run
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from caliper.core.caption import Caption
from caliper.core.errors import DataLoss, InvalidInput
from caliper.core.keys import canonical_json, digest, text_digest
from caliper.core.outcome import Reason
from caliper.core.question import Failure
from caliper.core.run import SCHEMA
from caliper.pipeline.store.caption_archive import UNREADABLE, read_archive, write_archive
from caliper.pipeline.store.disk_spill import SpilledTexts, temporary_folder
from caliper.pipeline.store.owners import Ownership, caption_owners
from caliper.pipeline.store.runs import read_json, read_replaceable, write_json
from caliper.ports.storage import ObjectStore

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NONE: Mapping[str, Failure] = MappingProxyType({})
Admit = Callable[[str, int], Awaitable[None]]
"""Admits content before it is stored, by its digest and size in bytes."""
_SAFE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Parcel:
    """A dataset to be pushed to an installation.

    `files` are the files that its digest covers, and `folder` says whether they have their own
    folder. `media` are by the path that the dataset names; `missing` lists named paths that are
    missing here. `replies` marks recorded replies.
    """

    benchmark: str
    digest: str
    files: tuple[Path, ...]
    folder: bool
    media: Mapping[str, Path]
    missing: tuple[str, ...] = ()
    replies: bool = False

    @property
    def size(self) -> int:
        """Total bytes of its files and media. Raises InvalidInput for a missing file."""
        return sum(map(_size, (*self.files, *self.media.values())))


def is_digest(text: str) -> bool:
    """Whether a text is a hexadecimal SHA-256."""
    return _DIGEST.fullmatch(text) is not None


def check_digest(text: str, field: str) -> str:
    """Return `text` if it is a hexadecimal SHA-256. Raises InvalidInput naming `field` if not."""
    if not is_digest(text):
        raise InvalidInput("expected a SHA-256 of 64 hexadecimal digits", field=field)
    return text


def file_key(name: str, file: str) -> str:
    """The key of a dataset's file."""
    return f"datasets/{name}/files/{_safe_name(file)}"


async def has_dataset(store: ObjectStore, name: str) -> bool:
    """Whether the store has the complete dataset. Raises NewerSchema, StoreUnavailable."""
    return bool(await read_replaceable(store, f"datasets/{name}/manifest.json"))


async def fetch_dataset(store: ObjectStore, digest: str, place: Path) -> Path:
    """Download a dataset's files into `place`, and return its path: its only file, or the folder.
    Its digest does not show whether a single file has its own folder; either may be opened.

    Raises DataLoss if the dataset is incomplete, StoreUnavailable.
    """
    manifest = await read_json(store, f"datasets/{digest}/manifest.json")
    if manifest is None:
        raise DataLoss("no such dataset in the store", file=f"datasets/{digest}")
    files, path = manifest.get("files"), place
    if not isinstance(files, dict):
        raise DataLoss("not files by name", file=f"datasets/{digest}/manifest.json")
    for name, key in files.items():
        path = place / PurePosixPath(name).name
        if path.name != name or not await store.get_file(str(key), path):
            raise DataLoss("the dataset lost a file", file=str(key))
    return place if len(files) > 1 else path


async def has_captions(store: ObjectStore, name: str) -> bool:
    """Whether captions with this digest were uploaded. Raises StoreUnavailable."""
    return await is_stored(store, _captions_key(name))


async def put_captions(
    store: ObjectStore,
    captions: Mapping[str, str],
    lacking: Mapping[str, Failure] = _NONE,
    ownership: Ownership | None = None,
    admit: Admit | None = None,
) -> str:
    """Store captions by sample, and why samples are `lacking` one. Returns the digest of both.
    With `ownership` they belong to the caller. Raises what `admit` raises, StoreUnavailable or
    StoreFull.
    """
    with temporary_folder("caliper-captions-") as folder:
        archive = folder / "captions"
        # Hundreds of megabytes take seconds: in a thread, they do not block the event loop.
        name = await asyncio.to_thread(write_archive, captions, archive)
        if admit is not None:
            await admit(name, (await asyncio.to_thread(archive.stat)).st_size)
        if lacking:
            name = _with_lacking(name, lacking)
            reasons = {sample: [each.reason, each.detail] for sample, each in lacking.items()}
            # First: stored captions must have the reasons for missing ones.
            await write_json(store, _lacking_key(name), samples=reasons)
        if ownership is not None:
            await ownership.claim(store, caption_owners(name), _captions_key(name))
        # Written even if it exists: this repairs a broken upload.
        await store.put(_captions_key(name), archive)
    return name


def _with_lacking(name: str, lacking: Mapping[str, Failure]) -> str:
    return digest([name, {sample: each.reason for sample, each in lacking.items()}])


async def read_captions(store: ObjectStore, name: str) -> Mapping[str, str]:
    """Uploaded captions by sample. Raises as `read_supplied`."""
    return (await read_supplied(store, name))[0]


async def read_supplied(
    store: ObjectStore, name: str
) -> tuple[Mapping[str, str], Mapping[str, Failure]]:
    """Read uploaded captions by sample, spilled to disk, and the known reasons of samples without
    one.

    Raises DataLoss if they are missing, broken, or not those of this digest, StoreUnavailable.
    """
    key = _captions_key(name)
    with temporary_folder("caliper-captions-") as folder:
        archive = folder / "captions"
        if not await store.get_file(key, archive):
            raise DataLoss("no such captions in the store", file=key)
        try:
            captions, archived = await asyncio.to_thread(read_archive, archive)
        except UNREADABLE as error:
            raise DataLoss(f"not captions: {error!r}", file=key) from error
    if archived == name:
        return captions, _NONE
    lacking = await _read_lacking(store, name)
    if _with_lacking(archived, lacking) != name:
        raise DataLoss("not the captions that were supplied", file=key)
    return captions, lacking


async def _read_lacking(store: ObjectStore, name: str) -> Mapping[str, Failure]:
    key = _lacking_key(name)
    reasons = (await read_json(store, key) or {}).get("samples", {})
    try:
        return {
            sample: Failure(Reason(why), str(detail)) for sample, (why, detail) in reasons.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise DataLoss(f"not reasons by sample: {error!r}", file=key) from error


async def save_caption(store: ObjectStore, run: str, name: str, caption: Caption) -> Caption:
    """Store a caption that a captioner wrote for a run, unless the run has one of the sample. All
    verdicts on a sample are about one caption, so the first stays: returns that of the run.

    Raises StoreUnavailable or StoreFull.
    """
    key = caption_key(run, name, caption.sample)
    flags = {"truncated": True} if caption.truncated else {}
    fields = {"schema": SCHEMA, "sample": caption.sample, "caption": caption.text, **flags}
    data = canonical_json(fields)
    if await store.replace(key, data, None) is not None:
        return caption
    with suppress(DataLoss):
        if (first := await _read_caption(store, key)) is not None:
            return first
    # What is there cannot be read.
    await store.put(key, data)
    return caption


async def read_caption(store: ObjectStore, run: str, name: str, sample: str) -> str | None:
    """The caption that a captioner wrote about one sample, a `CutShort` if it was truncated; None
    if there is none.

    Raises DataLoss, StoreUnavailable.
    """
    caption = await _read_caption(store, caption_key(run, name, sample))
    return None if caption is None else caption.plain


async def read_own_captions(store: ObjectStore, run: str, name: str) -> Mapping[str, str]:
    """All captions that a captioner wrote for a run, by sample, spilled to disk.

    Raises DataLoss, StoreUnavailable.
    """
    captions = SpilledTexts()
    async for key in store.list(f"runs/{run}/captions/{name}/"):
        caption = await _read_caption(store, key)
        if caption is not None:
            captions.update([(caption.sample, caption.plain)])
    return captions


async def _read_caption(store: ObjectStore, key: str) -> Caption | None:
    row = await read_json(store, key)
    if row is None:
        return None
    sample, text = row.get("sample"), row.get("caption")
    if not isinstance(sample, str) or not isinstance(text, str):
        raise DataLoss("not a caption with its sample", file=key)
    if not key.endswith(f"/{_sample_name(sample)}"):
        raise DataLoss("the caption of another sample", file=key)
    return Caption(sample, text, row.get("truncated") is True)


def caption_key(run: str, name: str, sample: str) -> str:
    """The key of the caption that a captioner wrote about one sample."""
    return f"runs/{run}/captions/{name}/{_sample_name(sample)}"


def _sample_name(sample: str) -> str:
    return f"{text_digest(sample)}.json"


def _captions_key(name: str) -> str:
    return f"supplied/{name}.jsonl.gz"


def _lacking_key(name: str) -> str:
    return f"supplied/{name}.lacking.json"


def _safe_name(name: str) -> str:
    """The name as a part of a key: the name itself, or its digest if no key could hold it."""
    if _SAFE_NAME.fullmatch(name):
        return name
    return text_digest(name)


async def is_stored(store: ObjectStore, key: str) -> bool:
    """Whether the store has an object. Raises StoreUnavailable."""
    # By listing, since reading would download the whole object.
    return any([listed == key async for listed in store.list(key)])


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError as error:
        raise InvalidInput(f"cannot read it: {error.strerror}", file=str(file)) from error
