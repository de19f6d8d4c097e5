"""Real servers for the tests that need them, and what the session says about them."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from tests.fakes.certificates import Pair, certify
from tests.fakes.endless import comes_to_an_end
from tests.fakes.sources import LOOPBACK
from tests.loopback.sitecustomize import NOTES
from tests.servers import containers, fetch, order, tiers, triton_server
from tests.servers.absence import leave_out
from tests.servers.components import (
    COMPONENTS,
    KAFKA,
    KUBE_API,
    LLAMA,
    MINIO,
    PROMETHEUS,
    TRITON,
    VERSITY,
    Component,
)
from tests.servers.keeper import shared
from tests.servers.kube_api import KubeApi
from tests.servers.process import ServerProcess
from tests.servers.summary import NEEDS, told

from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from tests.fakes import kafka_streams

    from caliper.adapters.streams.kafka_access import KafkaAccess
else:
    kafka_streams = lazy_module("tests.fakes.kafka_streams")

# Tests in the background of a shell are told to ignore Ctrl-C, and would pass that on to the
# commands that they run.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# For tools that tests run as well.
os.environ[fetch.ONLY_CACHED] = "true"

# MinIO, etcd and the API server live for seconds: they collect their garbage less often.
os.environ.setdefault("GOGC", "400")

# Machines are noisy: no example fails for the time it took. In CI the examples are twice as
# many, and the same every time, so that a change is judged by what it changed.
settings.register_profile(
    "here", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("here"), max_examples=50, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "here")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("time_limit", "seconds that each of set-up, call and teardown of a test may take")
    parser.addoption("--backend", help="SPEC of a plug-in, for tests/contracts/test_backend.py")
    parser.addoption("--backend-down", help="SPEC of the same plug-in for a model that is away")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Note on its report what a test needs: reports reach the summary from every process."""
    needs = tiers.components(item)
    item.user_properties += [(NEEDS, name) for name in sorted(needs)]
    fetch.declare(needs)
    with limited(item):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with limited(item):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with limited(item):
        yield
    fetch.declare(None)


def limited(item: pytest.Item) -> AbstractContextManager[None]:
    """A test that hangs fails, and the others go on."""
    return comes_to_an_end(float(item.config.getini("time_limit")))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Collecting makes a million objects that all stay: the collector need never look at them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # Nor often at the rest, which takes 3% of the CPU time.
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Neither of `make test` and `make test-rest` imports files of which it takes nothing."""
    if not collection_path.match("test_*.py"):
        return None
    if config.option.markexpr == "not rest":
        return tiers.is_long(collection_path) or None
    if config.option.markexpr == "rest":
        return not tiers.may_be_in_rest(collection_path) or None
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test` leaves out, before `-m` chooses."""
    order.sort(items)
    for item in items:
        if tiers.in_rest(item):
            item.add_marker("rest")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was used and what was left out."""
    stats = terminalreporter.stats
    ran = [report for kind in ("passed", "failed", "error") for report in stats.get(kind, ())]
    skipped = stats.get("skipped", [])
    terminalreporter.section("components")
    for line in told(ran, skipped):
        terminalreporter.line(line)


def pytest_report_header() -> list[str]:
    return [*(component.describe() for component in COMPONENTS), containers.describe()]


def serve(
    component: Component, factory: pytest.TempPathFactory
) -> Iterator[tuple[ServerProcess, str]]:
    """A server of our own. Its folder, with the log, is kept like every folder of a test."""
    try:
        server, address = component.start(factory.mktemp(component.name.lower()))
    except fetch.Missing as reason:
        leave_out(component.name, reason)
    yield server, address
    server.stop()


def share(component: Component, folder: Path) -> Iterator[str]:
    """The server of the session, or the one that the environment names."""
    if component.given:
        yield component.given
        return
    try:
        with shared(component, folder / component.name.lower()) as address:
            yield address
    except fetch.Missing as reason:
        leave_out(component.name, reason)


@pytest.fixture(scope="session", autouse=True)
def calls_out(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file that notes calls beyond this machine, which are refused (tests/loopback)."""
    notes = tmp_path_factory.mktemp("calls") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(NOTES, str(notes))
        # For processes that are given no PYTHONPATH of their own.
        patch.setenv("PYTHONPATH", str(LOOPBACK), prepend=os.pathsep)
        yield notes


@pytest.fixture(autouse=True)
def _no_call_out(calls_out: Path) -> Iterator[None]:
    """Fail a test in whose time anything called beyond this machine."""
    yield
    if calls_out.exists():
        noted = calls_out.read_text("utf-8")
        calls_out.unlink()
        pytest.fail(f"called beyond this machine:\n{noted}", pytrace=False)


@pytest.fixture(scope="session")
def session_folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder that all processes of the session have."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if hasattr(request.config, "workerinput") else own


@pytest.fixture(scope="session")
def kafka_server(session_folder: Path) -> Iterator[str]:
    """The address of a broker that all processes of the session share: use it through `kafka`."""
    yield from share(KAFKA, session_folder)


@pytest.fixture
def kafka(kafka_server: str) -> Iterator[KafkaAccess]:
    """An installation's part of that broker, which is empty."""
    with kafka_streams.part_of(kafka_server) as access:
        yield access


@pytest.fixture(scope="session")
def minio(session_folder: Path) -> Iterator[str]:
    """The URL, with user and password, of a MinIO server that all processes of the session share:
    use buckets of your own.
    """
    yield from share(MINIO, session_folder)


@pytest.fixture(scope="session")
def versity(session_folder: Path) -> Iterator[str]:
    """The same of a Versity S3 gateway, an S3 server that is not MinIO."""
    yield from share(VERSITY, session_folder)


@pytest.fixture(scope="session")
def triton(session_folder: Path) -> Iterator[str]:
    """The address of a Triton server that all processes of the session share: leave its models
    loaded.
    """
    yield from share(TRITON, session_folder)


@pytest.fixture(scope="session")
def llama(session_folder: Path) -> Iterator[str]:
    """The URL of an OpenAI-style server that is not ours, with a model that talks nonsense."""
    yield from share(LLAMA, session_folder)


@pytest.fixture(scope="session")
def kube_api(session_folder: Path) -> Iterator[KubeApi]:
    """An API server of Kubernetes that all processes of the session share: use namespaces of your
    own.
    """
    for kubeconfig in share(KUBE_API, session_folder):
        yield KubeApi(Path(kubeconfig))


@pytest.fixture(scope="module")
def own_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProcess, str]]:
    """A broker that the module's tests may stop, and start again: use a prefix of your own."""
    yield from serve(KAFKA, tmp_path_factory)


@pytest.fixture(scope="module")
def own_minio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProcess, str]]:
    """The same of MinIO: use buckets of your own."""
    yield from serve(MINIO, tmp_path_factory)


@pytest.fixture(scope="module")
def own_prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProcess, str]]:
    """A Prometheus that the tests of a file tell what to scrape (`metrics_server.scrape`)."""
    yield from serve(PROMETHEUS, tmp_path_factory)


@pytest.fixture(scope="module")
def own_kube_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeApi]:
    """An API server in which the module's tests may do as they like."""
    for _, kubeconfig in serve(KUBE_API, tmp_path_factory):
        yield KubeApi(Path(kubeconfig))


@pytest.fixture(scope="module")
def own_triton(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ServerProcess, str]]:
    """A Triton server that the module's tests may stop, with models that they may unload and
    change, and put back: those that the module lists as `TRITON_MODELS`, or all.
    """
    only = getattr(request.module, "TRITON_MODELS", None)
    some = replace(TRITON, native=partial(triton_server.start, only=only))
    yield from serve(some, tmp_path_factory)


@pytest.fixture
def ours(tmp_path: Path) -> Pair:
    """A certificate for this machine, of the authority in tls/ca.pem."""
    return certify(tmp_path / "tls", "here", certify(tmp_path / "tls", "ca"))


@pytest.fixture
def nobody_is_logged_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This machine has no token of the Hub."""
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "none"))
