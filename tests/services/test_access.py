"""Who is let in: an installation with TLS and tokens, called by clients and the command line."""

import re
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from aiohttp import ClientSession
from cryptography import x509
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from pydantic import SecretStr
from tests.fakes.certificates import certify
from tests.fakes.command import Command, end, wait_for
from tests.fakes.loopback_server import OPTIONS, TOKENS, serving, token_file
from tests.fakes.methods import PERMITTED, called, methods, path_of
from tests.fakes.sources import ROOT
from tests.servers.process import free_ports

from caliper.adapters.metrics.catalogue import CERTIFICATE
from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.remote.stages import RemoteScores, RemoteStages
from caliper.api.evaluate.v1 import evaluate_pb2
from caliper.core.errors import BackendRejected, BackendUnavailable, InvalidInput, NotFound
from caliper.local.submission import parcel_at
from caliper.pipeline.comparing.comparison import ComparisonRequest
from caliper.pipeline.planning.resolution import EvaluationRequest
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.serving.tokens import Role

EVALUATE = ("evaluate", "--config", ROOT / "examples" / "careful.yaml", "--limit", 1)
QUESTIONS = ROOT / "examples" / "captionqa" / "questions.json"


NOBODY = "0" * 16


_ANSWERS_WITHIN = 60.0


Call = Callable[[RemoteGateway], Awaitable[object]]


@dataclass(frozen=True)
class SecuredInstallation:
    """An installation: where it is called, and where it answers health and metrics in plaintext."""

    folder: Path
    ca: Path
    address: str
    health: str
    metrics: str

    def target(self, role: str | None) -> Target:
        token = None if role is None else SecretStr(TOKENS.get(role, role))
        return Target(self.address, token, self.ca)

    def command(self, role: str | None, **environment: str) -> Command:
        found = {"CALIPER_SERVER_CA": str(self.ca)}
        if role is not None:
            file = self.folder / f"token-{role}"
            file.write_text(TOKENS.get(role, role) + "\n", "utf-8")
            found["CALIPER_SERVER_TOKEN_FILE"] = str(file)
        return Command(self.folder, found | environment)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredInstallation]:
    folder = tmp_path_factory.mktemp("installation")
    made = certify(folder / "tls")
    probed, scraped = free_ports(2)
    given = {
        "TLS_CERTIFICATE": str(made.certificate),
        "TLS_KEY": str(made.key),
        "TOKENS": str(token_file(folder)),
        "HEALTH_LISTEN": f"127.0.0.1:{probed}",
        "METRICS_ADDRESS": f"127.0.0.1:{scraped}",
    }
    serving = Command(folder, {f"CALIPER_GATEWAY_{name}": value for name, value in given.items()})
    process = serving.start("serve", "--listen", "0.0.0.0:0", "--store", "store")
    _, port = wait_for(process, r"Serving on 0\.0\.0\.0:(\d+)")
    health, metrics = (f"127.0.0.1:{each}" for each in (probed, scraped))
    yield SecuredInstallation(folder, made.certificate, f"localhost:{port}", health, metrics)
    assert end(process, signal.SIGTERM).code == 0


async def watched(gateway: RemoteGateway) -> None:
    async for _ in gateway.watch(NOBODY, 1.0):
        pass


CALLS: dict[str, tuple[Role, Call]] = {
    "ListEvaluations": (Role.READ, lambda there: there.list()),
    "GetEvaluation": (Role.READ, lambda there: there.get(NOBODY)),
    "WatchEvaluation": (Role.READ, watched),
    "GetReport": (Role.READ, lambda there: there.report(NOBODY)),
    "ListVerdicts": (Role.READ, lambda there: there.verdicts(NOBODY, VerdictQuery())),
    "CompareEvaluations": (
        Role.READ,
        lambda there: there.compare([NOBODY, NOBODY], ComparisonRequest()),
    ),
    "GetLook": (Role.READ, lambda there: there.look(NOBODY, NOBODY)),
    "ListDatasets": (Role.READ, lambda there: there.datasets()),
    "ListQuotas": (Role.READ, lambda there: there.quotas()),
    "UploadDataset": (
        Role.EVALUATE,
        lambda there: there.push(parcel_at("captionqa", QUESTIONS, None)),
    ),
    "StartEvaluation": (Role.EVALUATE, lambda there: there.start(EvaluationRequest("ours", ()))),
    "UploadCaptions": (Role.EVALUATE, lambda there: there.upload("captionqa", {"1": "A dog."})),
    "CancelEvaluation": (Role.EVALUATE, lambda there: there.cancel(NOBODY)),
}


def code(error: BaseException) -> grpc.StatusCode:
    assert isinstance(error.__cause__, grpc.aio.AioRpcError)
    return error.__cause__.code()


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("method", CALLS)
async def test_a_role_may_what_it_may(place: SecuredInstallation, method: str, role: Role) -> None:
    needed, call = CALLS[method]
    async with RemoteGateway(place.target(role)) as gateway:
        if role.includes(needed):
            # Let in, it may still hear that there is no such run, and no such request.
            with suppress(NotFound, InvalidInput):
                await call(gateway)
        else:
            with pytest.raises(BackendRejected, match=f"a-{role} has the role {role}") as refused:
                await call(gateway)
            assert code(refused.value) is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize("token", [None, "token-of-nobody"])
@pytest.mark.parametrize("method", CALLS)
async def test_nobody_may_anything(
    place: SecuredInstallation, method: str, token: str | None
) -> None:
    async with RemoteGateway(place.target(token)) as gateway:
        with pytest.raises(BackendRejected, match="a valid bearer token is needed") as refused:
            await CALLS[method][1](gateway)
    assert code(refused.value) is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize("role", [None, "token-of-nobody", *Role])
async def test_every_method_of_every_service_is_guarded_here_too(
    place: SecuredInstallation, role: str | None
) -> None:
    target = place.target(role)
    async with target.channel() as channel:
        for method in methods():
            code = await called(channel, method, target.metadata)
            if role not in TOKENS:
                assert code is grpc.StatusCode.UNAUTHENTICATED, path_of(method)
            else:
                denied = code is grpc.StatusCode.PERMISSION_DENIED
                assert denied == (role not in PERMITTED[path_of(method)]), path_of(method)


async def test_stages_and_scores_are_guarded_as_well(place: SecuredInstallation) -> None:
    stages = RemoteStages({"judge": place.target("read"), "reader": place.target(None)})
    scores, strangers = RemoteScores(place.target("read")), RemoteScores(place.target(None))
    assert (await stages.describe("judge")).models["judge"].kind == "lexical"
    with pytest.raises(BackendRejected):
        await stages.describe("reader")
    assert await scores.scores(NOBODY) is None
    with pytest.raises(BackendRejected):
        await strangers.scores(NOBODY)
    for each in (stages, scores, strangers):
        await each.close()


@pytest.mark.parametrize(
    ("role", "expected"),
    [(None, "UNAUTHENTICATED"), ("evaluate", "PERMISSION_DENIED"), ("admin", "OK")],
)
async def test_services_are_listed_for_admins(
    place: SecuredInstallation, role: str | None, expected: str
) -> None:
    target = place.target(role)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    async with target.channel() as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        call = stub.ServerReflectionInfo(metadata=target.metadata)
        # Who is refused hears of it without a word: writing to a call that is over is an error.
        if expected == "OK":
            await call.write(request)
            assert (await call.read()).list_services_response.service
            await call.done_writing()
        assert (await call.code()).name == expected


async def test_the_health_port_tells_strangers_health_and_no_more(
    place: SecuredInstallation,
) -> None:
    async with grpc.aio.insecure_channel(place.health) as channel:
        found = await health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(), wait_for_ready=True, timeout=_ANSWERS_WITHIN
        )
    assert found.status == health_pb2.HealthCheckResponse.SERVING
    async with RemoteGateway(Target(place.health)) as gateway:
        with pytest.raises(Exception, match="Method not found"):
            await gateway.list()


async def test_plaintext_and_strangers_certificates_do_not_connect(
    place: SecuredInstallation, tmp_path: Path
) -> None:
    other = certify(tmp_path / "other").certificate
    token = SecretStr(TOKENS["admin"])
    for target in (Target(place.address, token), Target(place.address, token, other)):
        async with RemoteGateway(target) as gateway:
            with pytest.raises(BackendUnavailable):
                await gateway.list()


def test_the_command_line_with_the_right_role(place: SecuredInstallation) -> None:
    started = place.command("evaluate")(*EVALUATE, "--server", place.address, "--quiet")
    assert started.code == 0, started.err
    (listed,) = place.command("read")("runs", "--server", place.address, "--json", code=0).told
    assert (listed["name"], listed["state"]) == ("careful", "complete")
    watched = place.command("read")("watch", listed["run"], "--server", place.address, code=0)
    assert listed["run"] in watched.out
    place.command("admin")("cancel", listed["run"], "--server", place.address, code=0)


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (None, "a valid bearer token is needed"),
        ("token-of-nobody", "a valid bearer token is needed"),
        ("read", "a-read has the role read; this needs evaluate"),
    ],
)
@pytest.mark.parametrize("arguments", [EVALUATE, ("cancel", NOBODY)], ids=["evaluate", "cancel"])
def test_the_command_line_without_it(
    place: SecuredInstallation, arguments: tuple[object, ...], role: str | None, expected: str
) -> None:
    ended = place.command(role)(*arguments, "--server", place.address, code=4)
    assert f"Error: {place.address}: {expected}" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("name", ["CALIPER_SERVER_CA", "CALIPER_SERVER_TOKEN_FILE"])
def test_a_file_that_is_not_there(place: SecuredInstallation, name: str) -> None:
    command = place.command("read", **{name: "missing.pem"})
    ended = command("runs", "--server", place.address, code=2)
    assert "missing.pem" in ended.err
    assert "Traceback" not in ended.err


def test_tls_on_the_certificates_that_this_machine_trusts(place: SecuredInstallation) -> None:
    token = str(place.folder / "token")
    Path(token).write_text(TOKENS["read"], "utf-8")
    given = {"CALIPER_SERVER_TOKEN_FILE": token}
    there = ("runs", "--server", f"https://{place.address}", "--json")
    assert "ssl" in Command(place.folder, given)(*there, code=4).err.lower()
    # Where OpenSSL looks, in the place of what the system keeps.
    trusting = Command(place.folder, {**given, "SSL_CERT_FILE": str(place.ca)})
    assert isinstance(trusting(*there, code=0).told, list)


async def test_plaintext_passes_no_proxy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (nobody,) = free_ports(1)
    for name in ("http_proxy", "grpc_proxy", "https_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{nobody}")
    monkeypatch.delenv("no_proxy", raising=False)
    async with serving(options=OPTIONS) as server:
        target = Target(str(server.address), SecretStr("a-secret"))
        async with target.channel() as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            found = await stub.Check(health_pb2.HealthCheckRequest(), metadata=target.metadata)
    assert found.status == health_pb2.HealthCheckResponse.SERVING


def test_every_method_of_the_gateway_is_called_here() -> None:
    assert set(CALLS) == {
        method.name
        for method in evaluate_pb2.DESCRIPTOR.services_by_name["EvaluateService"].methods
    }


async def test_metrics_tell_when_the_certificate_ends(place: SecuredInstallation) -> None:
    async with ClientSession() as session, session.get(f"http://{place.metrics}/metrics") as page:
        told = re.search(rf"^{CERTIFICATE.name} (.*)$", await page.text(), re.MULTILINE)
    assert told is not None
    ends = x509.load_pem_x509_certificate(place.ca.read_bytes()).not_valid_after_utc
    assert float(told[1]) == ends.timestamp()
