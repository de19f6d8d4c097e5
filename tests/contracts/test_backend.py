"""Every backend runs the suite, and so does that of a package which --backend names."""

import runpy
from collections.abc import AsyncIterator

import pytest
from tests.contracts.backend_contract import BackendContract
from tests.fakes.chat_server import ChatServer
from tests.fakes.endpoints import FakeEndpoint
from tests.fakes.sources import ROOT
from tests.fakes.triton_calls import VLLM, address_of

from caliper.adapters.models.endpoint import parse_endpoints
from caliper.adapters.models.plugin_endpoint import PluginEndpoint
from caliper.adapters.models.pool import Pool
from caliper.adapters.models.replica import BackendAccess, ChatEndpoint
from caliper.adapters.models.retries import Budget
from caliper.adapters.models.tgi import TgiModel
from caliper.adapters.models.triton import TritonModel
from caliper.core.errors import BackendUnavailable
from caliper.wiring.clock import SystemClock
from caliper.wiring.specs import BACKENDS, split_spec

NOBODY = "127.0.0.1:9"
PROGRAM = "sh -c 'cat > /dev/null; echo hello'#parrot@1"
PROGRAM_AWAY = "no-such-program-anywhere#parrot@1"


def declared(spec: str | None, example: str) -> PluginEndpoint:
    """The endpoint of a SPEC, else that of the example in docs/add-a-backend.md."""
    if spec is None:
        module = runpy.run_path(str(ROOT / "examples" / "extending" / "program_model.py"))
        backend, rest = module["open_program"], example
    else:
        kind, rest = split_spec(spec)
        backend = BACKENDS.load(kind)
    return PluginEndpoint.open(backend, rest, BackendAccess(), "program of a-package 1.0")


class TestDeclared(BackendContract):
    kind = PluginEndpoint

    @pytest.fixture
    async def endpoint(self, request: pytest.FixtureRequest) -> AsyncIterator[ChatEndpoint]:
        endpoint = declared(request.config.getoption("--backend"), PROGRAM)
        yield endpoint
        await endpoint.close()

    @pytest.fixture
    async def down(self, request: pytest.FixtureRequest) -> AsyncIterator[ChatEndpoint]:
        endpoint = declared(request.config.getoption("--backend-down"), PROGRAM_AWAY)
        yield endpoint
        await endpoint.close()


class TestTgi(BackendContract):
    kind = TgiModel

    @pytest.fixture
    async def endpoint(self) -> AsyncIterator[ChatEndpoint]:
        async with ChatServer() as server:
            endpoint = TgiModel(*parse_endpoints(server.url))
            yield endpoint
            await endpoint.close()

    @pytest.fixture
    async def down(self) -> AsyncIterator[ChatEndpoint]:
        endpoint = TgiModel(*parse_endpoints(f"http://{NOBODY}"))
        yield endpoint
        await endpoint.close()


class TestTriton(BackendContract):
    kind = TritonModel

    @pytest.fixture
    async def endpoint(self, triton: str) -> AsyncIterator[ChatEndpoint]:
        endpoint = TritonModel(address_of(f"{triton}/{VLLM}"), None, 60)
        yield endpoint
        await endpoint.close()

    @pytest.fixture
    async def down(self) -> AsyncIterator[ChatEndpoint]:
        endpoint = TritonModel(address_of(f"{NOBODY}/{VLLM}"), None, 1)
        yield endpoint
        await endpoint.close()


class TestPool(BackendContract):
    kind = Pool

    @pytest.fixture
    async def endpoint(self) -> AsyncIterator[ChatEndpoint]:
        pool = Pool([("host", FakeEndpoint())], SystemClock())
        yield pool
        await pool.close()

    @pytest.fixture
    async def down(self) -> AsyncIterator[ChatEndpoint]:
        pool = Pool([("host", away())], SystemClock(), budget=Budget(1, 0.01))
        yield pool
        await pool.close()


class TestFake(BackendContract):
    kind = FakeEndpoint

    @pytest.fixture
    def endpoint(self) -> ChatEndpoint:
        return FakeEndpoint()

    @pytest.fixture
    def down(self) -> ChatEndpoint:
        return away()


def away() -> FakeEndpoint:
    endpoint = FakeEndpoint()
    endpoint.resolving = [BackendUnavailable("nobody answers")] * 9
    return endpoint
