"""Checks the environment of runs: disk, libraries, Kafka, store, gateway."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from caliper.cli.doctor.findings import ComponentState, Diagnosis
from caliper.lazy import lazy_module, missing_extra
from caliper.ports.storage import ObjectStore
from caliper.wiring.models import ModelRoom

if TYPE_CHECKING:
    from caliper.adapters.remote import gateway as remote
    from caliper.adapters.remote.channel import Target
    from caliper.adapters.streams import kafka_topics
    from caliper.adapters.streams.kafka_access import KafkaAccess
else:
    remote = lazy_module("caliper.adapters.remote.gateway")
    kafka_topics = lazy_module("caliper.adapters.streams.kafka_topics")

_GIB = 1024**3
ROOM = {ComponentState.PROBLEM: _GIB // 10, ComponentState.NOTE: 2 * _GIB}
"""Free bytes below which a disk is a problem, or deserves a note: a run over a whole benchmark,
with replies and report, takes some hundred megabytes."""
_DECODERS = ("h264", "hevc", "vp9", "av1", "mpeg4")
_PICTURES: Mapping[str, str] = {"jpeg": "jpg", "png": "zlib", "webp": "webp"}
PROBE = "health/doctor"
"""The key that is written to check a store."""


def check_disk(name: str, folder: Path) -> Diagnosis:
    """Check free space in a folder, or its nearest existing parent, and that it is writable.

    Raises OSError if it is not.
    """
    existing = next(
        each for each in (folder.absolute(), *folder.absolute().parents) if each.is_dir()
    )
    with tempfile.TemporaryFile(dir=existing) as file:
        file.write(b"caliper")
        file.flush()
    free = shutil.disk_usage(existing).free
    state = next((state for state, least in ROOM.items() if free < least), ComponentState.OK)
    ok = state is ComponentState.OK
    advice = "" if ok else "free some space, or choose another folder (--out, --store)"
    message = f"{free / _GIB:,.1f} GiB free in {existing}, which is writable"
    return Diagnosis(name, state, message, advice, {"free_bytes": free})


def check_media(name: str) -> Diagnosis:
    """Check that pictures can be written and read, and which formats can be decoded."""
    try:
        import av  # noqa: PLC0415 - whether it can be imported is the question
        import PIL  # noqa: PLC0415
        from PIL import Image, features  # noqa: PLC0415
    except ModuleNotFoundError as error:
        message = "no pictures or clips can be read"
        return Diagnosis(name, ComponentState.NOTE, message, str(missing_extra(error) or error))
    except ImportError as error:
        advice = "reinstall Caliper with its dependencies"
        return Diagnosis(name, ComponentState.PROBLEM, str(error), advice)
    buffer = io.BytesIO()
    Image.new("RGB", (16, 16), (200, 0, 0)).save(buffer, "JPEG")
    Image.open(io.BytesIO(buffer.getvalue())).load()
    pictures = {each: features.check(feature) for each, feature in _PICTURES.items()}
    clips = {each: each in av.codecs_available for each in _DECODERS}
    missing = [each for each, available in (pictures | clips).items() if not available]
    formats = [each for each, available in (pictures | clips).items() if available]
    message = f"Pillow {PIL.__version__}, PyAV {av.__version__}: {', '.join(formats)}"
    if not missing:
        return Diagnosis(name, ComponentState.OK, message, facts={"formats": formats})
    message += f"; cannot read {', '.join(missing)}"
    advice = "media of these kinds will be Unscored: use the wheels of Pillow and PyAV"
    return Diagnosis(name, ComponentState.NOTE, message, advice, {"formats": formats})


def check_tokens(name: str, receivers: Mapping[str, Sequence[str]]) -> Diagnosis:
    """Say which token each endpoint gets, by the token's source."""
    message = ", ".join(
        f"{place} gets {' or '.join(sources) or 'none'}" for place, sources in receivers.items()
    )
    return Diagnosis(name, ComponentState.OK, message, facts={"sources": dict(receivers)})


def check_tagger(name: str, room: ModelRoom, spec: str) -> Diagnosis:
    """Check that a noun tagger can be loaded. Raises UnknownName, InvalidInput."""
    return Diagnosis(name, ComponentState.OK, room.tagger(spec).identity.label)


async def check_embedder(name: str, room: ModelRoom, spec: str) -> Diagnosis:
    """Check that an embedder can be loaded and embeds.

    Raises UnknownName, InvalidInput, BackendError.
    """
    embedder = await room.embedder(spec)
    (vector,) = await embedder.embed(["lighthouse"])
    message = f"{embedder.identity.label}, {len(vector)} dimensions"
    return Diagnosis(name, ComponentState.OK, message, facts={"dimensions": len(vector)})


def check_kafka(name: str, access: KafkaAccess) -> Diagnosis:
    """Check that the brokers answer and have all topics. Raises StreamUnavailable."""
    cluster = kafka_topics.describe(access)
    facts = {"brokers": cluster.brokers, "topics": dict(cluster.partitions)}
    brokers = "1 broker" if cluster.brokers == 1 else f"{cluster.brokers} brokers"
    message = f"{brokers} at {access.servers}"
    if cluster.missing:
        message += f", without the topics {', '.join(cluster.missing)}"
        advice = f"caliper topics apply --kafka {access.servers}"
        return Diagnosis(name, ComponentState.PROBLEM, message, advice, facts)
    return Diagnosis(
        name, ComponentState.OK, f"{message}, all {len(cluster.partitions)} topics", facts=facts
    )


async def check_store(name: str, store: ObjectStore, place: str) -> Diagnosis:
    """Check that the store returns what is written to it. Raises StoreUnavailable."""
    await store.put(PROBE, b"caliper")
    if await store.get(PROBE) != b"caliper":
        return Diagnosis(
            name,
            ComponentState.PROBLEM,
            f"{place} returned other data than was written",
            "look for a caching proxy between here and the store",
        )
    return Diagnosis(name, ComponentState.OK, f"{place}: written, and read again")


async def check_gateway(name: str, target: Target) -> Diagnosis:
    """Check that the gateway answers this caller. Raises BackendError."""
    async with remote.RemoteGateway(target) as gateway:
        page = await gateway.list(size=1)
    runs = "has runs" if page.evaluations else "has no runs yet"
    return Diagnosis(name, ComponentState.OK, f"{target.address} answers, and {runs}")
