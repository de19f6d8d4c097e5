"""A function of this process as a chat model: it takes pictures or prompts and returns texts."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from caliper.adapters.models.pictures import pictures_of
from caliper.core.errors import FunctionFailed
from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.lazy import lazy_module
from caliper.ports.models import ChatMessage, Completion, Image

if TYPE_CHECKING:
    from PIL import Image as pillow  # noqa: N813 - a module
else:
    pillow = lazy_module("PIL.Image")

KIND = "function"


@dataclass(frozen=True, slots=True)
class _Input:
    """The input of one call, and the future of its reply."""

    images: tuple[Image, ...]
    prompt: str
    reply: asyncio.Future[str]


class FunctionModel:
    """A ChatModel. `function` takes a list of prompts; if calls come with pictures, a list of
    lists of PIL images, and the prompts if it has a second parameter. It returns one text for each.

    A plain function is called in a thread, one call at a time with at most `batch` inputs. An
    `async` function is called with one input, as often at once as the run allows. Decoding and
    schemas are not passed on.
    """

    def __init__(self, function: Callable[..., Any], identity: Identity, batch: int = 1) -> None:
        self._function, self._identity, self._batch = function, identity, batch
        self._is_async = any(
            map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None)))  # noqa: B004 - its __call__ may be async
        )
        self._waiting: deque[_Input] = deque()
        self._serving: asyncio.Task[None] | None = None

    @property
    def identity(self) -> Identity:
        """The identity that the caller declared."""
        return self._identity

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,  # noqa: ARG002 - the port's
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002 - the port's
        affinity: str = "",  # noqa: ARG002 - the port's
    ) -> Completion:
        """One completion. Raises FunctionFailed, and BackendRejected for a whole clip."""
        parts = [part for message in messages for part in message.content]
        images = tuple(pictures_of(messages))
        prompt = "\n\n".join(part for part in parts if isinstance(part, str))
        taken = _Input(images, prompt, asyncio.get_running_loop().create_future())
        if self._is_async:
            await self._answer([taken])
        else:
            self._waiting.append(taken)
            if self._serving is None:
                self._serving = asyncio.create_task(self._serve())
        return Completion(await taken.reply)

    async def _serve(self) -> None:
        try:
            while self._waiting:
                # Calls that are about to come join this batch.
                await asyncio.sleep(0)
                batch = [self._waiting.popleft()]
                sees = bool(batch[0].images)
                while (
                    self._waiting
                    and len(batch) < self._batch
                    and bool(self._waiting[0].images) == sees
                ):
                    batch.append(self._waiting.popleft())
                await self._answer([each for each in batch if not each.reply.done()])
        finally:
            self._serving = None

    async def _answer(self, batch: Sequence[_Input]) -> None:
        if not batch:
            return
        try:
            if self._is_async:
                texts = await self._function(*self._arguments(batch))
            else:
                texts = await asyncio.to_thread(self._call, batch)
            self._check(texts, len(batch))
        except Exception as error:  # noqa: BLE001 - whatever the function raises
            failed = error if isinstance(error, FunctionFailed) else self._raised(error)
            for each in batch:
                if not each.reply.done():
                    each.reply.set_exception(failed)
            return
        for each, text in zip(batch, texts, strict=True):
            if not each.reply.done():
                each.reply.set_result(text)

    def _call(self, batch: Sequence[_Input]) -> Any:
        try:
            return self._function(*self._arguments(batch))
        except BaseException as error:
            # Here: an event loop takes no StopIteration, and ends by a SystemExit.
            raise self._raised(error) from error

    def _arguments(self, batch: Sequence[_Input]) -> list[list[Any]]:
        prompts = [each.prompt for each in batch]
        if not batch[0].images:
            return [prompts]
        pictures = [[pillow.open(BytesIO(image.data)) for image in each.images] for each in batch]
        return [pictures, prompts] if _takes_prompts(self._function) else [pictures]

    def _check(self, texts: object, count: int) -> None:
        no_texts = f"{self._identity.name} returned no texts: expected"
        if not isinstance(texts, list | tuple) or len(texts) != count:
            actual = f"{len(texts)}" if isinstance(texts, list | tuple) else type(texts).__name__
            raise FunctionFailed(f"{no_texts} a list of {count}, found {actual}")
        for text in texts:
            if not isinstance(text, str):
                raise FunctionFailed(f"{no_texts} texts, found {text!r:.60}")

    def _raised(self, error: BaseException) -> FunctionFailed:
        name = self._identity.name
        return FunctionFailed(f"{name} raised {type(error).__name__}: {error}", error)

    async def close(self) -> None:
        """Take no more calls. A function that still runs ends by itself."""
        if self._serving is not None:
            self._serving.cancel()


def _takes_prompts(function: Callable[..., Any]) -> bool:
    """Whether a function has a second parameter by position, for prompts."""
    try:
        _, second, *_ = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    if second.kind not in (second.POSITIONAL_ONLY, second.POSITIONAL_OR_KEYWORD):
        return False
    return second.default is second.empty or second.name == "prompts"
