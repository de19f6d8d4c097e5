"""Chat models on the real Triton server: the vLLM backend's contract, and request/response."""

import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from PIL import Image as Picture

from caliper.adapters.models.triton import TritonModel, parse_chat_addresses
from caliper.core.errors import BackendUnavailable, InvalidInput, UnknownName
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage, Image

pytestmark = pytest.mark.usefixtures("no_other_calls")

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}
Opening = Callable[[str], Awaitable[TritonModel]]


def picture(colour: str = "red") -> Image:
    file = io.BytesIO()
    Picture.new("RGB", (4, 4), colour).save(file, "PNG")
    return Image(file.getvalue(), "image/png")


def asked(*content: str | Image) -> list[ChatMessage]:
    return [ChatMessage("user", content)]


@pytest.fixture
async def opened(triton: str) -> AsyncIterator[Opening]:
    """Opens models of the session's server, and closes them after the test."""
    async with AsyncExitStack() as stack:

        async def opening(rest: str) -> TritonModel:
            (address,) = parse_chat_addresses(f"{triton}/{rest}")
            model = TritonModel(address, seconds=10)
            stack.push_async_callback(model.close)
            await model.resolve()
            return model

        yield opening


async def test_the_prompt_does_not_come_back_in_front_of_the_caption(opened: Opening) -> None:
    model = await opened("vllm_like#template=chatml")
    completion = await model.complete(asked(picture(), "Describe it."), Decoding())
    assert completion.text
    assert "Describe" not in completion.text
    assert "<|im_start|>" not in completion.text
    assert completion.finish == "stop"
    assert completion.usage.completion == len(completion.text.split())


async def test_the_model_reads_the_template_the_pictures_and_the_decoding(opened: Opening) -> None:
    model = await opened("vllm_like#template=vicuna")
    decoding = Decoding(temperature=0.6, top_p=0.9, max_tokens=7, seed=11, stop=("\n", "END"))
    pictures = [picture(colour) for colour in ("red", "green", "blue")]
    completion = await model.complete(asked(*pictures, "[prompt] Ça?"), decoding)
    told = json.loads(completion.text)
    assert told["prompt"] == "USER: <image>\n<image>\n<image>\n[prompt] Ça? ASSISTANT:"
    assert told["images"] == 3
    assert (told["temperature"], told["top_p"]) == (0.6, 0.9)
    assert (told["max_tokens"], told["seed"], told["stop"]) == (7, 11, ["\n", "END"])
    assert completion.usage.prompt == len(told["prompt"].split())


async def test_the_same_request_gets_the_same_caption(opened: Opening) -> None:
    model = await opened("vllm_like#template=chatml")
    first = await model.complete(asked(picture("red"), "What is it?"), Decoding())
    again = await model.complete(asked(picture("red"), "What is it?"), Decoding())
    other = await model.complete(asked(picture("blue"), "What is it?"), Decoding())
    assert first == again
    assert other.text != first.text


async def test_a_caption_at_the_limit_of_its_tokens_is_truncated(opened: Opening) -> None:
    model = await opened("vllm_like#template=chatml")
    completion = await model.complete(asked("What is it?"), Decoding(max_tokens=3))
    assert completion.finish == "length"
    assert completion.usage.completion == 3


async def test_a_schema_guides_the_decoding(opened: Opening) -> None:
    model = await opened("vllm_like#template=chatml")
    guided = await model.complete(asked("Judge."), Decoding(), SCHEMA)
    free = await model.complete(asked("Judge."), Decoding())
    assert json.loads(guided.text) == {"score": 1}
    assert free.text != guided.text


async def test_a_failure_is_no_reason_to_leave_the_schema_out(opened: Opening) -> None:
    model = await opened("vllm_like#template=chatml")
    with pytest.raises(BackendUnavailable):
        await model.complete(asked("[fail] Judge."), Decoding(), SCHEMA)
    guided = await model.complete(asked("Judge."), Decoding(), SCHEMA)
    assert json.loads(guided.text) == {"score": 1}


async def test_the_identity_tells_version_configuration_and_template(opened: Opening) -> None:
    chatml = (await opened("vllm_like#template=chatml")).identity
    again = (await opened("vllm_like@1#template=chatml")).identity
    plain = (await opened("vllm_like#template=plain")).identity
    named = (await opened("vllm_like#template=chatml&revision=step-7")).identity
    assert named == replace(chatml, revision="step-7")
    assert (chatml.kind, chatml.name, chatml.cached) == ("triton", "vllm_like", True)
    assert (chatml.revision, chatml.origin[:2]) == ("", "1-")
    assert again == chatml
    assert plain != chatml


async def test_a_request_response_captioner_sees_picture_and_prompt(opened: Opening) -> None:
    model = await opened("captioner")
    red = await model.complete(asked(picture("red"), "Describe it."), Decoding())
    blue = await model.complete(asked(picture("blue"), "Describe it."), Decoding())
    short = await model.complete(asked(picture("red"), "Describe it."), Decoding(max_tokens=2))
    assert red.text.startswith("A ")
    assert red.finish == "stop"
    assert red.text != blue.text
    assert red.text.split()[:2] == short.text.split()


async def test_no_picture_is_an_empty_one(opened: Opening) -> None:
    model = await opened("captioner")
    completion = await model.complete(asked("Two words"), Decoding())
    assert completion.text == "There is no picture, and 2 words were asked."


async def test_several_pictures_and_messages_in_one_request(opened: Opening) -> None:
    model = await opened("trouble")
    pictures = [picture(colour) for colour in ("red", "green")]
    messages = [ChatMessage("system", ("Be brief.",)), *asked(*pictures, "Describe them.")]
    decoding = Decoding(temperature=0.5, top_p=0.25, max_tokens=9, seed=2**40)
    told = json.loads((await model.complete(messages, decoding)).text)
    assert told["prompt"] == "Be brief.\n\nDescribe them."
    assert told["bytes"] == [len(each.data) for each in pictures]
    assert told["asked"] == {"max_tokens": 9, "temperature": 0.5, "top_p": 0.25, "seed": 2**40}
    stopped = json.loads((await model.complete(messages, Decoding(stop=("END",)))).text)
    assert stopped["asked"]["stop"] == '["END"]'


@pytest.mark.parametrize(("word", "finish"), [("long", "length"), ("blocked", "content_filter")])
async def test_a_request_response_model_may_tell_why_it_ended(
    opened: Opening, word: str, finish: str
) -> None:
    model = await opened("trouble")
    assert (await model.complete(asked(word), Decoding())).finish == finish


async def test_the_frames_of_a_clip_keep_their_order(opened: Opening) -> None:
    model = await opened("captioner")
    red, blue = picture("red"), picture("blue")
    forwards = await model.complete(asked(red, red, blue, "Describe it."), Decoding())
    backwards = await model.complete(asked(blue, red, red, "Describe it."), Decoding())
    assert forwards.text != backwards.text


async def test_a_picture_larger_than_grpc_lets_in_by_default(opened: Opening) -> None:
    model = await opened("trouble")
    large = Image(b"x" * 12_000_000, "image/png")
    told = json.loads((await model.complete(asked(large), Decoding())).text)
    assert told["bytes"] == [12_000_000]
    # The answer repeats the prompt.
    told = json.loads((await model.complete(asked("y" * 6_000_000), Decoding())).text)
    assert len(told["prompt"]) == 6_000_000


async def test_a_lone_surrogate_does_not_break_a_request(opened: Opening) -> None:
    for rest in ("trouble", "vllm_like#template=chatml"):
        assert (await (await opened(rest)).complete(asked("a\ud800b"), Decoding())).text


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ("sentences", r"sentences, version 1, has another input image: expected BYTES \[-1\]"),
        ("captioner#prompt=question", "input question: .*no such tensor among image, prompt"),
        ("captioner#caption=image", "output image: .*no such tensor among caption"),
        ("token_ids#image=input_ids", r"expected BYTES \[-1\], found INT64 \[-1\]"),
        ("vllm_like", "say which chat template"),
        ("vllm_like#prompt=text_input", "is decoupled: the option prompt is not for it"),
        ("captioner#template=chatml", "not decoupled: the option template is not for it"),
    ],
)
async def test_what_does_not_fit_is_told_at_start_up(opened: Opening, rest: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        await opened(rest)


@pytest.mark.parametrize(
    ("rest", "known"), [("nobody", "captioner, clip_like"), ("captioner@7", "known: 1")]
)
async def test_an_unknown_model_or_version_is_answered_with_those_that_are_known(
    opened: Opening, rest: str, known: str
) -> None:
    with pytest.raises(UnknownName, match=known):
        await opened(rest)
