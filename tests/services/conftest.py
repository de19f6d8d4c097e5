"""What services stand on: one process on memory and a directory, or Kafka and MinIO."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.fakes.chat_server import ChatServer
from tests.fakes.installation import installation as in_one_process
from tests.fakes.opinions import steadfast
from tests.fakes.separate import STAGES, Ground, Installation, grounded
from tests.fakes.separate import installation as installed

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.wiring.grounds import memory_ground


@pytest.fixture
def ground(kafka: KafkaAccess, minio: str, tmp_path: Path) -> Ground:
    """On the servers of the session, with topics and a bucket of the test's own."""
    return grounded(kafka, minio, tmp_path)


@pytest_asyncio.fixture
async def there(ground: Ground) -> AsyncIterator[Installation]:
    """Services whose models have opinions, of which no two need be alike, and take a tenth of a
    second, so that a run has a middle.
    """
    chats = {kind: ChatServer(delay=0.1, otherwise=steadfast) for kind in STAGES}
    async with installed(ground, chats) as found:
        yield found


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path / "store")


@pytest_asyncio.fixture
async def gateway(store: DirectoryStore) -> AsyncIterator[RemoteGateway]:
    async with in_one_process(memory_ground(store)) as found:
        yield found
