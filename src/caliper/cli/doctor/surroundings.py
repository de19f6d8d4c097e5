"""Looking at what runs stand on: disk, libraries, Kafka, store, gateway."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.cli.doctor.findings import ComponentState, Diagnosis
from caliper.deferred import deferred
from caliper.ports.storage import ObjectStore
from caliper.wiring.models import ModelRoom

if TYPE_CHECKING:
    from caliper.adapters.streams import kafka_cluster
    from caliper.adapters.streams.kafka_access import KafkaAccess
else:
    kafka_cluster = deferred("caliper.adapters.streams.kafka_cluster")

_GIB = 1024**3
ROOM = {ComponentState.ILL: _GIB // 10, ComponentState.NOTE: 2 * _GIB}
"""Bytes free below which a disk is not well, or has to be told of: a run over a whole benchmark
with replies and report takes some hundred megabytes."""
_DECODERS = ("h264", "hevc", "vp9", "av1", "mpeg4")
_PICTURES: Mapping[str, str] = {"jpeg": "jpg", "png": "zlib", "webp": "webp"}
PROBE = "health/doctor"
"""The key that is written to a store to see whether that works."""


def check_disk(name: str, folder: Path) -> Diagnosis:
    """Whether a folder, or the nearest above it that is there, has room and may be written to.

    Raises OSError when it may not.
    """
    there = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.is_dir())
    with tempfile.TemporaryFile(dir=there) as file:
        file.write(b"caliper")
        file.flush()
    free = shutil.disk_usage(there).free
    state = next((state for state, least in ROOM.items() if free < least), ComponentState.WELL)
    advice = (
        ""
        if state is ComponentState.WELL
        else "free some space, or choose another folder (--out, --store)"
    )
    said = f"{free / _GIB:,.1f} GiB free in {there}, which can be written to"
    return Diagnosis(name, state, said, advice, {"free_bytes": free})


def check_media(name: str) -> Diagnosis:
    """Whether pictures can be written and read, and which clips can be decoded."""
    try:
        import av  # noqa: PLC0415 - whether it can be imported is the question
        import PIL  # noqa: PLC0415
        from PIL import Image, features  # noqa: PLC0415
    except ImportError as error:
        return Diagnosis(
            name, ComponentState.ILL, str(error), "reinstall Caliper with its dependencies"
        )
    written = io.BytesIO()
    Image.new("RGB", (16, 16), (200, 0, 0)).save(written, "JPEG")
    Image.open(io.BytesIO(written.getvalue())).load()
    pictures = {each: features.check(feature) for each, feature in _PICTURES.items()}
    clips = {each: each in av.codecs_available for each in _DECODERS}
    missing = [each for each, there in (pictures | clips).items() if not there]
    found = [each for each, there in (pictures | clips).items() if there]
    said = f"Pillow {PIL.__version__}, PyAV {av.__version__}: {', '.join(found)}"
    if not missing:
        return Diagnosis(name, ComponentState.WELL, said, facts={"formats": found})
    said += f"; cannot read {', '.join(missing)}"
    advice = "media of these kinds will be Unscored: use the wheels of Pillow and PyAV"
    return Diagnosis(name, ComponentState.NOTE, said, advice, {"formats": found})


def check_tagger(name: str, room: ModelRoom, spec: str) -> Diagnosis:
    """Whether a noun tagger can be loaded. Raises UnknownName, InvalidInput."""
    return Diagnosis(name, ComponentState.WELL, room.tagger(spec).identity.label)


async def check_embedder(name: str, room: ModelRoom, spec: str) -> Diagnosis:
    """Whether an embedder can be loaded, and embeds. Raises UnknownName, InvalidInput,
    BackendError.
    """
    embedder = await room.embedder(spec)
    (vector,) = await embedder.embed(["lighthouse"])
    said = f"{embedder.identity.label}, {len(vector)} dimensions"
    return Diagnosis(name, ComponentState.WELL, said, facts={"dimensions": len(vector)})


def check_kafka(name: str, access: KafkaAccess) -> Diagnosis:
    """Whether the brokers answer and have all topics. Raises StreamUnavailable."""
    found = kafka_cluster.describe(access)
    facts = {"brokers": found.brokers, "topics": dict(found.partitions)}
    said = f"{found.brokers} brokers at {access.servers}"
    if found.missing:
        said += f", without the topics {', '.join(found.missing)}"
        advice = f"caliper topics apply --kafka {access.servers}"
        return Diagnosis(name, ComponentState.ILL, said, advice, facts)
    return Diagnosis(
        name, ComponentState.WELL, f"{said}, all {len(found.partitions)} topics", facts=facts
    )


async def check_store(name: str, store: ObjectStore, place: str) -> Diagnosis:
    """Whether what is written to the store can be read again. Raises StoreUnavailable."""
    await store.put(PROBE, b"caliper")
    if await store.get(PROBE) != b"caliper":
        return Diagnosis(
            name,
            ComponentState.ILL,
            f"{place} returned something else than was written",
            "look for a caching proxy between here and the store",
        )
    return Diagnosis(name, ComponentState.WELL, f"{place}: written, and read again")


async def check_gateway(name: str, target: Target) -> Diagnosis:
    """Whether the gateway answers this caller. Raises BackendError."""
    async with RemoteGateway(target) as gateway:
        page = await gateway.list(size=1)
    runs = "has runs" if page.evaluations else "has no runs yet"
    return Diagnosis(name, ComponentState.WELL, f"{target.address} answers, and {runs}")
