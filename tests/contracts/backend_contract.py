"""What every backend of models does. One joins by a subclass with `endpoint` and `down` fixtures:
an endpoint that is not resolved yet, and one whose model cannot be reached.
"""

import asyncio
from collections.abc import Sequence
from io import BytesIO
from typing import ClassVar

import pytest
from PIL import Image as Pictures

from caliper.adapters.models.replica import ChatEndpoint
from caliper.core.errors import BackendError, BackendRejected
from caliper.core.question import Decoding
from caliper.core.run import check_name
from caliper.ports.models import ChatMessage, Completion, Image

HELLO = (ChatMessage("user", ("Say hello.",)),)
SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


def picture() -> Image:
    written = BytesIO()
    Pictures.new("RGB", (64, 48), (220, 20, 20)).save(written, "PNG")
    return Image(written.getvalue(), "image/png")


async def completed(endpoint: ChatEndpoint, messages: Sequence[ChatMessage] = HELLO) -> Completion:
    completion = await endpoint.complete(messages, Decoding(max_tokens=16), affinity="captionqa/1")
    assert isinstance(completion, Completion)
    assert isinstance(completion.text, str)
    assert completion.finish
    assert min(completion.usage.prompt, completion.usage.completion, completion.usage.cached) >= 0
    return completion


class BackendContract:
    kind: ClassVar[type]

    async def test_the_endpoint_is_of_its_kind(self, endpoint: ChatEndpoint) -> None:
        assert type(endpoint) is self.kind

    async def test_it_says_which_model_it_is(self, endpoint: ChatEndpoint) -> None:
        identity = await endpoint.resolve()
        assert endpoint.identity == await endpoint.resolve() == identity
        assert identity.kind
        assert identity.name.strip()
        check_name(identity.name)
        assert "://" not in identity.name, "a URL may hold a secret, and changes with the machine"
        assert not identity.name.startswith("/"), "a path changes with the machine"

    async def test_many_calls_at_once(self, endpoint: ChatEndpoint) -> None:
        await endpoint.resolve()
        await asyncio.gather(*(completed(endpoint) for _ in range(8)))

    async def test_a_call_that_is_cancelled_disturbs_no_other(self, endpoint: ChatEndpoint) -> None:
        await endpoint.resolve()
        first, second = (asyncio.create_task(completed(endpoint)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait([first])
        await second
        await completed(endpoint)

    async def test_decoding_and_schemas_are_followed_or_ignored(
        self, endpoint: ChatEndpoint
    ) -> None:
        await endpoint.resolve()
        for schema in (None, SCHEMA):
            decoding = Decoding(temperature=0.6, top_p=0.9, max_tokens=16, seed=2**31)
            assert isinstance(await endpoint.complete(HELLO, decoding, schema), Completion)

    @pytest.mark.parametrize(
        "messages",
        [
            pytest.param((ChatMessage("system", ("Be brief.",)), *HELLO), id="system"),
            pytest.param((ChatMessage("user", ("a \ud800 b \x00 \U0001f415",)),), id="odd text"),
            pytest.param((ChatMessage("user", (picture(), "Describe it.")),), id="picture"),
        ],
    )
    async def test_a_request_is_completed_or_rejected(
        self, endpoint: ChatEndpoint, messages: Sequence[ChatMessage]
    ) -> None:
        await endpoint.resolve()
        try:
            await completed(endpoint, messages)
        except BackendRejected:
            await completed(endpoint)

    async def test_a_model_that_is_away_is_an_error(self, down: ChatEndpoint) -> None:
        async def reach() -> None:
            await down.resolve()
            await down.complete(HELLO, Decoding())

        with pytest.raises(BackendError) as caught:
            await reach()
        assert str(caught.value)

    async def test_it_may_be_closed_again(self, endpoint: ChatEndpoint) -> None:
        await endpoint.resolve()
        await completed(endpoint)
        for _ in range(2):
            await endpoint.close()
