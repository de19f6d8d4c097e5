import hashlib
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from PIL import Image
from tests.fakes.loopback_server import calling, failure, refusal, stub_of
from tests.fakes.models import ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import InlineMedia, MediaFolder
from caliper.adapters.packs.files import shipped_pack
from caliper.adapters.wire.specs import decode_identity
from caliper.api.captioner.v1 import captioner_pb2
from caliper.api.types.v1 import outcome_pb2
from caliper.core.errors import BackendUnavailable
from caliper.core.preparation import Preparation
from caliper.core.question import Decoding
from caliper.ports.models import Completion
from caliper.serving.captioner import CaptionerServicer
from caliper.serving.grpc_server import Service

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "media"
CLIP = next((EXAMPLES / "videos").glob("*.mp4"))


def picture(colour: str = "red") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(out, "PNG")
    return out.getvalue()


def inline(data: bytes, name: str = "a.png") -> captioner_pb2.Media:
    return captioner_pb2.Media(inline=data, name=name)


def key_of(data: bytes) -> str:
    return f"media/{hashlib.sha256(data).hexdigest()}"


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(lambda text, before: " A red square. \n")


@pytest.fixture
async def captioner(model: ScriptedModel, store: MemoryStore) -> AsyncIterator[Any]:
    servicer = CaptionerServicer(
        model, shipped_pack(), store, InlineMedia(Decoders(), Preparation())
    )
    async with calling(Service(CaptionerServicer.contract, servicer)) as channel:
        yield stub_of("CaptionerService", channel)


def request(*media: captioner_pb2.Media, **given: Any) -> captioner_pb2.CaptionRequest:
    return captioner_pb2.CaptionRequest(**{"media": media, "benchmark": "comprecap", **given})


async def test_a_caption(captioner: Any, model: ScriptedModel) -> None:
    answer = await captioner.Caption(request(inline(picture())))
    assert (answer.text, answer.truncated) == ("A red square.", False)
    (call,) = model.calls
    (shown,) = call.images
    assert shown.mime == "image/jpeg"
    assert call.text == shipped_pack().template("comprecap/caption").user
    assert call.decoding == Decoding(max_tokens=8192)


async def test_a_caption_that_was_cut_off(captioner: Any, model: ScriptedModel) -> None:
    model.script = lambda text, before: Completion("A red", finish="length")
    answer = await captioner.Caption(request(inline(picture())))
    assert (answer.text, answer.truncated) == ("A red", True)


async def test_a_caption_of_so_many_tokens_at_most(captioner: Any, model: ScriptedModel) -> None:
    await captioner.Caption(request(inline(picture()), caption_tokens=512))
    assert model.calls[-1].decoding == Decoding(max_tokens=512)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await captioner.Caption(request(inline(picture()), caption_tokens=0))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_refusal_is_no_caption(captioner: Any, model: ScriptedModel) -> None:
    model.script = lambda text, before: Completion("I cannot help with that", finish="refusal")
    answer = await captioner.Caption(request(inline(picture())))
    assert (answer.text, answer.explanation) == ("", "I cannot help with that")
    assert answer.unscored == outcome_pb2.REASON_REFUSED


async def test_media_by_key(captioner: Any, model: ScriptedModel, store: MemoryStore) -> None:
    red, blue = picture("red"), picture("blue")
    store.objects[key_of(red)] = red
    await captioner.Caption(request(captioner_pb2.Media(key=key_of(red)), inline(blue)))
    await captioner.Caption(request(inline(red), inline(blue)))
    by_key, loose = (call.images for call in model.calls)
    assert by_key == loose
    assert len(by_key) == 2
    assert set(store.objects) == {key_of(red)}


async def test_media_that_were_changed(captioner: Any, store: MemoryStore) -> None:
    store.objects[key_of(picture("red"))] = picture("blue")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await captioner.Caption(request(captioner_pb2.Media(key=key_of(picture("red")))))
    assert caught.value.code() is grpc.StatusCode.DATA_LOSS
    assert key_of(picture("red")) in str(caught.value.details())


async def test_a_clip_gives_its_frames(captioner: Any, model: ScriptedModel) -> None:
    await captioner.Caption(
        request(inline(CLIP.read_bytes(), "../x.MP4"), benchmark="capability", group="event")
    )
    (call,) = model.calls
    assert list(call.images) == await MediaFolder(CLIP.parent, Decoders(), Preparation()).images(
        [CLIP.name]
    )
    assert "video" in call.text


@pytest.mark.parametrize(
    "key",
    [
        "",
        "../secret",
        "media/../runs/1/spec.json",
        "media/" + "0" * 63 + "/",
        "media/" + "0" * 65,
        "media/" + "0" * 64 + "\n",
        "media/" + "A" * 64,
        "/media/" + "0" * 64,
        "/etc/passwd",
        "media//" + "0" * 64,
        "runs/" + "0" * 64,
        "client-keys/" + "0" * 64,
        "http://example.com/a.png",
        "file:///etc/passwd",
        "s3://bucket/a.png",
        "media/" + "0" * 63 + "\0",
        "media\\" + "0" * 64,
        "media/" + "٣" * 64,
    ],
)
async def test_a_hostile_key(
    captioner: Any, store: MemoryStore, model: ScriptedModel, key: str
) -> None:
    store.objects[key] = picture()
    await refused(captioner, request(captioner_pb2.Media(key=key)), "media[0].key")
    assert model.calls == []


async def refused(captioner: Any, asked: Any, field: str) -> str:
    fields, message = await refusal(captioner.Caption(asked))
    assert fields == [field]
    return message


async def test_media_that_are_not_there(captioner: Any) -> None:
    key = key_of(picture())
    error = await failure(captioner.Caption(request(captioner_pb2.Media(key=key))))
    assert (error.code(), error.details()) == (
        grpc.StatusCode.NOT_FOUND, f"no {key} in the store"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (request(), "media"),
        (request(*[inline(b"x")] * 33), "media"),
        (request(inline(b"x" * (4 * 1024 * 1024 + 1))), "media"),
        (request(*[inline(b"x" * (1024 * 1024 + 1))] * 4), "media"),
        (request(inline(picture()), inline(b"not a picture")), "media[1]"),
        (request(inline(picture(), "a.mp4")), "media[0]"),
        (request(inline(picture()), benchmark="other"), "benchmark"),
        (request(inline(picture()), prompt="taxonomy"), "prompt"),
        (request(inline(picture()), benchmark="capability"), "prompt"),
    ],
)
async def test_what_is_refused_is_named(captioner: Any, asked: Any, field: str) -> None:
    message = await refused(captioner, asked, field)
    assert "/" not in message.removeprefix(field)


@pytest.mark.parametrize("medium", [captioner_pb2.Media(name="a.png"), inline(b"")])
async def test_a_medium_without_a_place_is_told_so(captioner: Any, medium: Any) -> None:
    message = await refused(captioner, request(medium), "media[0]")
    assert message == "media[0]: expected a key or inline bytes, found neither"


async def test_no_python_object_is_named(captioner: Any) -> None:
    message = await refused(captioner, request(inline(b"not a picture")), "media[0]")
    assert message == (
        "media[0]: not a readable picture: none of AVIF, BMP, GIF, JPEG, PNG, TIFF, WEBP"
    )


async def test_a_picture_of_too_many_pixels(captioner: Any) -> None:
    out = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(out, "PNG")
    await refused(captioner, request(inline(out.getvalue())), "media[0]")


async def test_a_model_in_trouble(captioner: Any, model: ScriptedModel) -> None:
    model.script = lambda text, before: BackendUnavailable("connection refused")
    error = await failure(captioner.Caption(request(inline(picture()))))
    assert error.code() is grpc.StatusCode.UNAVAILABLE


async def test_who_captions(captioner: Any, model: ScriptedModel) -> None:
    found = await captioner.Describe(captioner_pb2.DescribeRequest())
    assert decode_identity(found.identity) == model.identity
    assert found.pack == shipped_pack().digest
