"""Datasets pushed into a store without a gateway."""

import hashlib

from caliper.pipeline.store.dataset_uploads import DatasetManifest, DatasetUpload
from caliper.pipeline.store.supplies import Parcel
from caliper.ports.storage import ObjectStore


async def push_dataset(store: ObjectStore, parcel: Parcel) -> None:
    digests = {
        file: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in (*parcel.files, *parcel.media.values())
    }
    files = {file.name: digests[file] for file in parcel.files}
    upload = DatasetUpload(
        store, DatasetManifest(parcel.benchmark, files, parcel.folder, parcel.replies)
    )
    assert upload.digest == parcel.digest
    for path, file in parcel.media.items():
        upload.announce(path, digests[file])
    for file, sha256 in digests.items():
        await upload.put(sha256, file)
    assert await upload.finish() == []
