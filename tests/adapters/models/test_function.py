"""Functions as models: what they get, what they return, and what happens when they fail."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

import pytest
from PIL import Image as Pillow

from caliper.adapters.models.function import KIND, FunctionModel
from caliper.core.errors import BackendRejected, FunctionFailed
from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.ports.models import ChatMessage, Image, WholeClip

TOY = Identity(KIND, "toy", "1")


def picture(width: int) -> Image:
    file = BytesIO()
    Pillow.new("RGB", (width, 2)).save(file, "PNG")
    return Image(file.getvalue(), "image/png")


async def asked(
    function: Callable[..., Any], *contents: Sequence[str | Image], batch: int = 1
) -> list[str]:
    model = FunctionModel(function, TOY, batch)
    system = ChatMessage("system", ("Be brief.",))
    calls = (
        model.complete((system, ChatMessage("user", tuple(content))), Decoding())
        for content in contents
    )
    try:
        return [each.text for each in await asyncio.gather(*calls)]
    finally:
        await model.close()


async def test_a_function_gets_no_whole_clip() -> None:
    with pytest.raises(BackendRejected, match="clips=frames"):
        await asked(lambda _: [""], [WholeClip(b"", "video/mp4", 8, None)])


async def test_a_judge_gets_prompts() -> None:
    def judge(prompts: list[str]) -> list[str]:
        return [prompt.upper() for prompt in prompts]

    assert await asked(judge, ["one"], ["two"]) == ["BE BRIEF.\n\nONE", "BE BRIEF.\n\nTWO"]


async def test_a_captioner_gets_pictures_and_prompts_if_it_takes_them() -> None:
    def widths(images: list[Any]) -> list[str]:
        return [str(image.width) for (image,) in images]

    def both(images: list[Any], prompts: list[str]) -> list[str]:
        return [f"{len(image)}: {prompt}" for image, prompt in zip(images, prompts, strict=True)]

    def tuned(images: list[Any], beams: int = 4) -> list[str]:
        return [str(beams)] * len(images)

    assert await asked(widths, [picture(3), "Describe."]) == ["3"]
    frames = [picture(3), picture(3), "Describe."]
    assert await asked(both, frames) == ["2: Be brief.\n\nDescribe."]
    assert await asked(tuned, [picture(3), "Describe."]) == ["4"]


async def test_a_plain_function_is_called_once_at_a_time_off_the_loop() -> None:
    calls: list[int] = []
    free = threading.Lock()

    def judge(prompts: list[str]) -> list[str]:
        assert threading.current_thread() is not threading.main_thread()
        assert free.acquire(blocking=False)
        calls.append(len(prompts))
        free.release()
        return prompts

    assert len(await asked(judge, *[[str(number)] for number in range(5)], batch=2)) == 5
    assert calls == [2, 2, 1]


async def test_an_async_function_is_called_at_once() -> None:
    together = asyncio.Barrier(3)

    async def judge(prompts: list[str]) -> list[str]:
        await together.wait()
        return prompts

    assert len(await asked(judge, ["1"], ["2"], ["3"])) == 3


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda _: "A dog.", "toy returned no texts: expected a list of 1, found str"),
        (lambda _: ["A", "B"], "toy returned no texts: expected a list of 1, found 2"),
        (lambda _: [None], "toy returned no texts: expected texts, found None"),
        (lambda _: 1 / 0, "toy raised ZeroDivisionError: division by zero"),
        # Futures take neither of these two.
        (lambda _: next(iter([])), "toy raised StopIteration: "),
        (lambda _: sys.exit(3), "toy raised SystemExit: 3"),
    ],
)
async def test_what_is_no_reply(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(FunctionFailed) as failed:
        await asyncio.wait_for(asked(function, ["one"]), 60)
    assert str(failed.value) == message
    assert (failed.value.cause is not None) == ("raised" in message)


async def test_a_call_that_is_cancelled_is_left_out() -> None:
    entered, leave = threading.Event(), threading.Event()
    seen: list[str] = []

    def judge(prompts: list[str]) -> list[str]:
        seen.extend(prompts)
        entered.set()
        assert leave.wait(60)
        return prompts

    model = FunctionModel(judge, TOY)
    first, second, third = (
        asyncio.create_task(model.complete((ChatMessage("user", (text,)),), Decoding()))
        for text in ("1", "2", "3")
    )
    await asyncio.to_thread(entered.wait, 60)
    second.cancel()
    await asyncio.wait([second])
    leave.set()
    assert [each.text for each in await asyncio.gather(first, third)] == ["1", "3"]
    assert seen == ["1", "3"]
