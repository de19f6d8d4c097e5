"""Whatever can stand in for a port runs the one suite of that port, fakes included."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest
import tests.contracts
import tests.contracts.test_backend
import tests.contracts.test_store
import tests.fakes
from tests.contracts.backend_contract import BackendContract
from tests.contracts.store_contract import StoreContract
from tests.contracts.test_codec import CODECS
from tests.contracts.test_log_reader import LogReaderContract
from tests.contracts.test_stream import StreamContract

import caliper.adapters
import caliper.lexical
import caliper.pipeline
from caliper.adapters.models.replica import ChatEndpoint
from caliper.ports.codec import Codec
from caliper.ports.storage import ObjectStore
from caliper.ports.stream import JobStream, LogReader

Contract = (
    type[StoreContract] | type[StreamContract] | type[LogReaderContract] | type[BackendContract]
)
SUITES: dict[type, Contract] = {
    ObjectStore: StoreContract,
    JobStream: StreamContract,
    LogReader: LogReaderContract,
    ChatEndpoint: BackendContract,
}


def modules(*packages: ModuleType) -> Iterator[ModuleType]:
    for package in packages:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def standing_in(port: type) -> set[type]:
    """The classes with every method of a port, of which one at least is their own, in the product
    and among the fakes.
    """
    methods = [
        name
        for each in port.__mro__
        for name, found in vars(each).items()
        if not name.startswith("_") and inspect.isfunction(found)
    ]
    assert methods
    return {
        found
        for module in modules(caliper.adapters, caliper.pipeline, caliper.lexical, tests.fakes)
        for found in vars(module).values()
        if isinstance(found, type)
        and found.__module__ == module.__name__
        and not inspect.isabstract(found)
        and not getattr(found, "_is_protocol", False)
        and all(callable(getattr(found, name, None)) for name in methods)
        and vars(found).keys() & set(methods)
    }


def joined(contract: Contract) -> list[type]:
    suites = contract.__subclasses__()
    kinds = [suite.kind for suite in suites if "kind" in vars(suite)]
    return kinds + [kind for suite in suites for kind in joined(suite)]


@pytest.mark.parametrize("port", SUITES, ids=lambda port: port.__name__)
def test_every_implementation_runs_the_suite_once(port: type) -> None:
    found = standing_in(port)
    kinds = joined(SUITES[port])
    assert len(kinds) == len(set(kinds))
    assert set(kinds) >= found
    assert len(found) > 1


def test_every_codec_runs_the_suite_once() -> None:
    kinds = [type(codec) for codec in CODECS]
    assert len(kinds) == len(set(kinds))
    assert set(kinds) == standing_in(Codec)
