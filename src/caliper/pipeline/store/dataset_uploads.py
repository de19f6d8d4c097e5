"""Datasets that arrive in the store in parts, compared with their digests."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from caliper.core.errors import AlreadyExists, InvalidInput
from caliper.core.keys import canonical_json, digest, files_digest, text_digest
from caliper.pipeline.store.changes import Fields, change_json
from caliper.pipeline.store.dataset_names import (
    NamedDataset,
    check_dataset_name,
    check_free,
    name_dataset,
)
from caliper.pipeline.store.dataset_pushes import push_key, unproven
from caliper.pipeline.store.owners import Ownership, dataset_owners, read_owners
from caliper.pipeline.store.runs import read_replaceable, write_json
from caliper.pipeline.store.supplies import (
    Admit,
    check_digest,
    file_key,
    has_dataset,
    is_stored,
)
from caliper.ports.storage import ObjectStore

_MOST_FILES, _MOST_MEDIA, _LONGEST_PATH, _LONGEST_NAME = 1_000, 100_000, 1_000, 200
_ALL_PATHS = 16 << 20
"""The most characters of all paths, which are in memory, and in one object for readers."""
_FEW = 20
"""Up to so many objects are looked up one by one; for more, all media are listed once."""


@dataclass(frozen=True, slots=True)
class DatasetManifest:
    """The manifest of a dataset: the SHA-256 of its `files` by name. `name` is its new name, empty
    for none; `folder` and `replies` are as in Parcel.
    """

    benchmark: str
    files: Mapping[str, str]
    folder: bool
    replies: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        """Raises InvalidInput naming the field."""
        if not 1 <= len(self.files) <= _MOST_FILES:
            raise InvalidInput(f"expected 1 to {_MOST_FILES:,} files", field="files")
        if len(self.files) > 1 and not self.folder:
            raise InvalidInput("several files need a folder", field="folder")
        for name, sha256 in self.files.items():
            _check_file_name(name)
            check_digest(sha256, "files.sha256")
        if self.name:
            check_dataset_name(self.name, "name")

    @property
    def digest(self) -> str:
        """The digest of the dataset."""
        whole = files_digest({name: bytes.fromhex(each) for name, each in self.files.items()})
        # Like the revision of the model that replied.
        return digest({self.benchmark: whole}) if self.replies else whole


class DatasetUpload:
    """One upload of a dataset, or of a part of it: `begin`, `announce`, `put`, then `finish`.

    Content sent by others counts as missing: only those who have content may get it.
    """

    def __init__(
        self,
        store: ObjectStore,
        manifest: DatasetManifest,
        ownership: Ownership | None = None,
        admit: Admit | None = None,
    ) -> None:
        self._store, self._manifest = store, manifest
        self._ownership, self._admit = ownership or Ownership(), admit
        self.digest = manifest.digest
        self._key_of_push = push_key(self.digest, self._ownership.caller)
        self._media: dict[str, str] = {}
        self._characters = 0
        self._named, self._put = set[str](), set[str]()

    async def begin(self) -> None:
        """Raise AlreadyExists if the name stands for another dataset; StoreUnavailable."""
        if self._manifest.name:
            await check_free(self._store, self._manifest.name, self.digest, self._ownership)

    def announce(self, path: str, sha256: str) -> None:
        """Name a medium. Raises InvalidInput naming the field."""
        if not 1 <= len(path) <= _LONGEST_PATH:
            raise InvalidInput(f"expected 1 to {_LONGEST_PATH:,} characters", field="name")
        if path not in self._media:
            self._characters += len(path)
            _check_media(len(self._media) + 1, self._characters, "name")
        if self._media.setdefault(path, check_digest(sha256, "sha256")) != sha256:
            raise InvalidInput(f"two media with the path {path!r:.100}", field="name")
        self._named.add(sha256)

    def keys(self, sha256: str) -> list[str]:
        """The keys of the files and the medium with this digest. Raises InvalidInput if none with
        it was named.
        """
        keys = [self._key(name) for name, each in self._manifest.files.items() if each == sha256]
        if sha256 in self._named:
            keys.append(f"media/{sha256}")
        if not keys:
            raise InvalidInput("no file or medium with this digest was named", field="sha256")
        return keys

    async def put(self, sha256: str, file: Path) -> None:
        """Store the content with this digest. Raises as `keys` and `admit`, StoreUnavailable or
        StoreFull.
        """
        size = (await asyncio.to_thread(file.stat)).st_size
        for key in self.keys(sha256):
            if self._admit is not None:
                await self._admit(text_digest(key), size)
            await self._store.put(key, file)
        self._put.add(sha256)

    async def _count_listing(self, key: str, listing: Mapping[str, str]) -> None:
        """Count an object's listing as stored by the caller. Raises what `admit` raises."""
        if self._admit is not None:
            # In a thread: a hundred thousand paths.
            text = await asyncio.to_thread(canonical_json, {key: listing})
            await self._admit(hashlib.sha256(text).hexdigest(), len(text))

    async def finish(self) -> list[str]:
        """Make the stored content usable. Returns the digests that the caller named and has to
        send.

        Raises AlreadyExists if the name, or the path of a medium, stands for other content;
        InvalidInput for too many media; what `admit` raises; StoreUnavailable or StoreFull.
        """
        missing = await self._add_media()
        missing += await self._complete()
        return list(dict.fromkeys(missing))

    async def _add_media(self) -> list[str]:
        if not self._media:
            return []
        key = self._key_of_push
        before = (await read_replaceable(self._store, key)).get("media", {})
        self._check_paths(before)
        new = {path: each for path, each in self._media.items() if path not in before}
        named = {*new.values()} - self._put
        named -= await unproven(self._store, self.digest, self._ownership, named)
        there = self._put | await _stored_media(self._store, named)
        present = {path: each for path, each in new.items() if each in there}

        def with_present(fields: Fields) -> Fields:
            stored = fields.get("media", {})
            self._check_paths(stored)
            media = {**stored, **present}
            _check_media(len(media), sum(map(len, media)), "medium")
            return {**fields, "media": media}

        if present:
            await self._count_listing(key, present)
            await change_json(self._store, key, with_present)
        return [each for path, each in new.items() if path not in present]

    def _check_paths(self, stored: Mapping[str, str]) -> None:
        for path, sha256 in self._media.items():
            if stored.get(path, sha256) != sha256:
                raise AlreadyExists(
                    f"dataset {self.digest} has other bytes as its medium {path!r:.200}"
                )

    async def _complete(self) -> list[str]:
        """Write the manifest and the name once all files exist; returns those missing."""
        manifest, store = self._manifest, self._store
        place = f"datasets/{self.digest}/manifest.json"
        if not await self._is_known():
            keys = {name: self._key(name) for name in manifest.files}
            if missing := await self._missing(keys):
                return missing
            # Before the dataset exists, so that it never belongs to everybody meanwhile.
            await self._ownership.claim(store, dataset_owners(self.digest), place)
            await self._count_listing(place, keys)
            await write_json(store, place, files=keys, folder=manifest.folder)
        if manifest.name:
            named = NamedDataset(manifest.name, self.digest, manifest.benchmark)
            await name_dataset(store, named, self._ownership)
        return []

    async def _is_known(self) -> bool:
        """Whether the dataset exists, and is the caller's or everybody's."""
        # In this order: owners are stored before the dataset is there.
        if not await has_dataset(self._store, self.digest):
            return False
        owners = await read_owners(self._store, dataset_owners(self.digest))
        return not owners or self._ownership.caller in (None, *owners)

    async def _missing(self, keys: Mapping[str, str]) -> list[str]:
        """The files still to be sent; those sent are noted as the caller's."""
        files = self._manifest.files
        sent = self._put.intersection(files.values())
        if sent and self._ownership.caller is not None:

            def with_sent(fields: Fields) -> Fields:
                before = {*fields.get("files", ())}
                return fields if sent <= before else {**fields, "files": sorted(before | sent)}

            await change_json(self._store, self._key_of_push, with_sent)
        named = {*files.values()} - sent
        unsent = await unproven(self._store, self.digest, self._ownership, named)
        return [
            sha256
            for name, sha256 in files.items()
            if sha256 in unsent
            or (sha256 not in sent and not await is_stored(self._store, keys[name]))
        ]

    def _key(self, name: str) -> str:
        return file_key(self.digest, name)


def _check_file_name(name: str) -> None:
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        size = 0
    # Hidden files are in no dataset.
    is_plain = PurePosixPath(name).name == name and not name.startswith(".") and "\0" not in name
    if not (is_plain and 0 < size <= _LONGEST_NAME):
        raise InvalidInput(f"not the plain name of a file: {name!r:.100}", field="files.name")


def _check_media(count: int, characters: int, field: str) -> None:
    if count > _MOST_MEDIA:
        raise InvalidInput(f"more than {_MOST_MEDIA:,} media", field=field)
    if characters > _ALL_PATHS:
        raise InvalidInput(f"paths of more than {_ALL_PATHS:,} characters in all", field=field)


async def _stored_media(store: ObjectStore, digests: Collection[str]) -> set[str]:
    """The digests among these whose media are in the store."""
    if len(digests) <= _FEW:
        return {each for each in digests if await is_stored(store, f"media/{each}")}
    stored = store.list("media/")
    return {name async for key in stored if (name := key.removeprefix("media/")) in digests}
