"""A tgi model that is connected to a fake server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.fakes.chat_server import ChatServer

from caliper.adapters.models.endpoint import parse_endpoints
from caliper.adapters.models.tgi import TgiModel
from caliper.ports.models import ChatMessage

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}
HELLO = (ChatMessage("user", ("hello",)),)


@asynccontextmanager
async def connected(server: ChatServer, **options: Any) -> AsyncIterator[TgiModel]:
    model = TgiModel(*parse_endpoints(server.url), **options)
    try:
        await model.resolve()
        yield model
    finally:
        await model.close()
