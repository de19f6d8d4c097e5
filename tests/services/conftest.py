"""What services stand on: one process on memory and a directory, and for faults servers of a
module's own, which it may stop.
"""

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import serve
from tests.fakes.chat_server import ChatServer
from tests.fakes.installation import installation as in_one_process
from tests.fakes.opinions import steadfast
from tests.fakes.separate import STAGES, Ground, Installation
from tests.fakes.separate import installation as installed
from tests.servers.choosing import KAFKA, MINIO
from tests.servers.process import ServerProcess

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics
from caliper.servicers.grounds import memory_ground

Server = tuple[ServerProcess, str]


# What the fixtures below give, by name; the summary of a session counts by it.
GIVES = {"broker": KAFKA.name, "objects": MINIO.name}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note which components a test has by these fixtures."""
    given = [GIVES[name] for name in getattr(item, "fixturenames", ()) if name in GIVES]
    item.add_marker(pytest.mark.components(*given))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    for server, address in serve(KAFKA, tmp_path_factory):
        apply_topics(KafkaAccess(address), partitions=4)
        yield server, address


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from serve(MINIO, tmp_path_factory)


@pytest.fixture
def ground(broker: Server, objects: Server, tmp_path: Path) -> Ground:
    return Ground(broker[1], objects[1], f"caliper-{uuid.uuid4().hex[:8]}", tmp_path)


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
