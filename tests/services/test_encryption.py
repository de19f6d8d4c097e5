"""An installation in which nothing is said in plaintext: Kafka, S3 and services by TLS, with the
certificates, tokens and users that services.bootstrap makes, and each service as its own user.
"""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.fakes.command import Command, end, wait_for
from tests.fakes.process_forks import ForkedServer
from tests.fakes.processes import until
from tests.fakes.sources import ROOT, python_path
from tests.servers import guarded_broker
from tests.servers.guarded_servers import guarded_servers
from tests.servers.process import ServerProcess, answers, free_ports

from caliper.adapters.cluster.grants import STORE_GRANTS, STREAM_GRANTS
from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.envelopes import Message
from caliper.core.messages import Verdicts
from caliper.core.outcome import Scored, Verdict
from caliper.pipeline.planning.publisher import VERDICTS
from caliper.pipeline.work.authentic_stream import AuthenticStream
from caliper.wiring.grounds import kafka_access
from caliper.wiring.service_settings import CaptionerSettings

pytestmark = pytest.mark.components("Kafka", "MinIO")

EVALUATE = ("evaluate", "--quiet", "--config", ROOT / "examples" / "careful.yaml")
# They judge known captions once a run, and log the result; the last names a forged message.
_NAMING = ("judge", "qa_reader", "aggregator")
_OF_USERS = {"KAFKA_USER", "KAFKA_PASSWORD_FILE", "STORE_ACCESS_KEY", "STORE_SECRET_KEY_FILE"}
CORE = re.compile(r"[IWE]\d{4} \d\d:")
"""The lines of gRPC's C core, which tells of connections that broke without the log's format."""
# Whose token has which role.
CALLERS = {"read": "gateway", "evaluate": "evaluate", "admin": "admin"}


@dataclass(frozen=True)
class EncryptedServers:
    """The servers, and what a process needs to be let in by them, without a prefix."""

    folder: Path
    kafka: str
    keys: dict[str, str]

    @property
    def secrets(self) -> list[str]:
        files = ("*/token", "*/*password", "*/secret-key")
        found = [file for pattern in files for file in (self.folder / "made").glob(pattern)]
        assert len(found) == 8 + len(STORE_GRANTS) + len(STREAM_GRANTS)
        return [file.read_text("ascii") for file in found]

    def made(self, secret: str, file: str) -> str:
        return str(self.folder / "made" / f"caliper-{secret}" / file)

    def user(self, name: str) -> dict[str, str]:
        """What a service needs to be let in as its own user, beside the servers' addresses."""
        found = {key: text for key, text in self.keys.items() if key not in _OF_USERS}
        for key in ("access-key", "secret-key"):
            variable = f"STORE_{key.upper().replace('-', '_')}_FILE"
            found[variable] = self.made(f"store-{name}", key)
        if name in STREAM_GRANTS:
            for key in ("user", "password"):
                found[f"KAFKA_{key.upper()}_FILE"] = self.made(f"kafka-{name}", key)
        return found

    def sender(self, name: str) -> dict[str, str]:
        """What a service signs its messages with."""
        if name == "aggregator":
            return {"SENDERS_KEY_FILE": self.made("senders", "key")}
        return {"SENDER_KEY_FILE": self.made(f"sender-{name}", "key")}

    async def forge(self, run: str, key: bytes) -> None:
        """Send a verdict of the judge about a run as the captioner, whose key this is."""
        mine = {name.lower(): value for name, value in self.user("captioner").items()}
        settings = CaptionerSettings(model="lexical", **mine)  # type: ignore[arg-type]
        stream = KafkaStream(kafka_access(self.kafka, settings, "--kafka"))
        verdicts = Verdicts(run, "captionqa", "nat", (Verdict(0, Scored(Fraction(1))),))
        message = Message(VERDICTS, f"{run}/captionqa/nat", ProtobufCodec().write(verdicts))
        try:
            await AuthenticStream(stream, "judge", key).publish(message)
        finally:
            await stream.close()

    def command(self, role: str) -> Command:
        ours = {
            **(self.keys if role == "admin" else self.user("client")),
            "SERVER_CA": self.made("ca-certificate", "ca.crt"),
            "SERVER_TOKEN_FILE": self.made(f"token-{CALLERS[role]}", "token"),
        }
        given = {f"CALIPER_{name}": value for name, value in ours.items()}
        return Command(self.folder, given)

    def service(self, kind: str, port: int, **settings: str) -> ServerProcess:
        """A service that other machines could call, not started yet."""
        name = kind.replace("_", "-")
        tls = f"tls-{name}"
        chosen = {
            **self.user(name),
            "KAFKA": self.kafka,
            "LISTEN": f"0.0.0.0:{port}",
            "TLS_CERTIFICATE": self.made(tls, "tls.crt"),
            "TLS_KEY": self.made(tls, "tls.key"),
            "TOKENS": self.made("tokens", "tokens"),
            "LOG_FORMAT": "json",
            "REPLIES_KEY_FILE": self.made("replies", "key"),
            **self.sender(name),
            **settings,
        }
        prefix = f"CALIPER_{kind.upper()}_"
        return ForkedServer(
            kind,
            [f"services.{kind}"],
            self.folder / f"{kind}.log",
            lambda: answers(port),
            {prefix + name: value for name, value in chosen.items()}
            | {"PYTHONPATH": python_path()},
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EncryptedServers]:
    folder = tmp_path_factory.mktemp("secured")
    made = folder / "made"
    given = {"CALIPER_BOOTSTRAP_DIRECTORY": str(made), "PYTHONPATH": python_path()}
    bootstrap = [sys.executable, "-m", "services.bootstrap"]
    subprocess.run(bootstrap, env=os.environ | given, check=True)
    password, secret = made / "caliper-kafka" / "password", made / "caliper-minio" / "secret-key"
    with guarded_servers(made, folder) as (broker, store):
        parts = urlsplit(store)
        keys = {
            "KAFKA_SECURITY": "SASL_SSL",
            "KAFKA_CA": str(made / "caliper-tls-kafka" / "ca.crt"),
            "KAFKA_USER": guarded_broker.USER,
            "KAFKA_PASSWORD_FILE": str(password),
            "STORE": f"https://{parts.hostname}:{parts.port}",
            "STORE_CA": str(made / "caliper-ca-certificate" / "ca.crt"),
            "STORE_ACCESS_KEY": parts.username or "",
            "STORE_SECRET_KEY_FILE": str(secret),
        }
        yield EncryptedServers(folder, broker, keys)


def test_the_report_is_that_of_a_run_without_services(place: EncryptedServers) -> None:
    admin, team = place.command("admin"), place.command("evaluate")
    users = ("--users", place.folder / "made")
    made = admin("topics", "apply", "--kafka", place.kafka, *users, "--json", code=0)
    assert made.told["changes"]
    admin("storage", "apply", "--store", place.keys["STORE"], *users, code=0)
    ports = dict(zip(("aggregator", "judge", "qa_reader"), free_ports(3), strict=True))
    (front,) = free_ports(1)
    peers = {kind.upper(): f"https://localhost:{port}" for kind, port in ports.items()}
    peers |= {
        "PEER_CA": place.made("ca-certificate", "ca.crt"),
        "PEER_TOKEN_FILE": place.made("token-gateway", "token"),
    }
    callers = {"TLS_CLIENTS": place.made("ca-certificate", "ca.crt")}
    with ExitStack() as stack:
        services = [place.service(kind, port, **callers) for kind, port in ports.items()]
        for service in (*services, place.service("gateway", front, **peers)):
            service.start()
            stack.callback(service.stop)
        server = f"localhost:{front}"
        here = team(*EVALUATE, "--out", "here")
        there = team(*EVALUATE, "--out", "there", "--server", server)
        assert (there.code, there.err) == (here.code, here.err)
        (listed,) = place.command("read")("runs", "--server", server, "--json", code=0).told
        key = Path(place.made("sender-captioner", "key")).read_bytes()
        asyncio.run(place.forge(listed["run"], key))
        log = place.folder / "aggregator.log"
        asyncio.run(
            until(
                lambda: "of 'judge': the signature is not by its sender 'judge'" in log.read_text()
            )
        )
    reports = [(place.folder / run / "report.json").read_bytes() for run in ("here", "there")]
    assert reports[0] == reports[1]
    assert listed["state"] == "complete"
    said = {kind: (place.folder / f"{kind}.log").read_text() for kind in (*ports, "gateway")}
    for kind, log in said.items():
        records = [json.loads(line) for line in log.splitlines() if not CORE.match(line)]
        assert any(each["message"].startswith("serving on 0.0.0.0:") for each in records), kind
        assert not [
            each
            for each in records
            if each["level"] == "INFO" and each["logger"].startswith("kafka")
        ], kind
        assert (listed["run"] in [each.get("run") for each in records]) == (kind in _NAMING), kind
        assert not any(secret in log for secret in place.secrets), kind
        assert not re.search("AccessDenied|Authorization", log), kind


def test_serving_everything_speaks_of_itself_and_of_no_library(place: EncryptedServers) -> None:
    admin = place.command("admin")
    bucket = {**admin.environment, "CALIPER_STORE_BUCKET": "in-one-process"}
    caliper = Command(place.folder, bucket)
    caliper("storage", "apply", "--store", place.keys["STORE"], code=0)
    caliper("topics", "apply", "--kafka", place.kafka, "--quiet", code=0)
    there = ("--kafka", place.kafka, "--store", place.keys["STORE"])
    process = caliper.start("serve", *there, "--listen", "127.0.0.1:0")
    said, address = wait_for(process, r"Serving on (\S+)")
    plain = {name: text for name, text in bucket.items() if "SERVER" not in name}
    Command(place.folder, plain)("runs", "--server", address, "--json", code=0)
    ended = end(process, signal.SIGTERM)
    assert ended.code == 0
    said += ended.err
    assert " kafka." not in said
    assert not any(secret in said for secret in place.secrets)


def test_a_store_and_a_broker_that_nobody_vouches_for(place: EncryptedServers) -> None:
    for name, command in (
        ("STORE_CA", ("storage", "apply", "--store", place.keys["STORE"])),
        ("KAFKA_CA", ("topics", "apply", "--kafka", place.kafka)),
    ):
        given = dict(place.command("admin").environment)
        del given[f"CALIPER_{name}"]
        refused = Command(place.folder, given)(*command, code=4)
        assert "certificate verify failed" in refused.err.lower()
        assert not any(secret in refused.err for secret in place.secrets)
