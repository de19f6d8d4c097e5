"""The services in containers of the image: hardened, with TLS and tokens, on the loopback of this
machine, with secrets made by the image's own program.
"""

from __future__ import annotations

import os
import secrets
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tests.fakes.sources import ROOT
from tests.servers import containers
from tests.servers.access import access_to
from tests.servers.process import ServerProcess, answers, free_ports

from caliper.adapters.stores.bucket import apply_storage
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics

USER = 10001
SECRETS, DATA = "/secrets", "/data"
SERVICES = ("aggregator", "judge", "qa_reader", "captioner", "gateway")
_CA = f"{SECRETS}/caliper-ca-certificate/ca.crt"


@dataclass
class Contained:
    """An installation in containers, in `folder`, with a part of a broker and an S3 endpoint.
    `stack` removes the started containers.
    """

    image: str
    kafka: KafkaAccess
    minio: str
    bucket: str
    folder: Path
    stack: ExitStack
    ports: dict[str, int] = field(default_factory=dict)
    health: dict[str, int] = field(default_factory=dict)
    services: dict[str, ServerProcess] = field(default_factory=dict)

    def prepare(self) -> None:
        """Create secrets, by a container of the image, topics and bucket."""
        for name in ("secrets", "data"):
            (self.folder / name).mkdir(mode=0o700)
            os.chown(self.folder / name, USER, USER)
        variables = {"CALIPER_BOOTSTRAP_DIRECTORY": SECRETS}
        volume = (f"--volume={self.folder / 'secrets'}:{SECRETS}",)
        self._well(containers.run(self.image, "bootstrap", environment=variables, options=volume))
        apply_topics(self.kafka, partitions=4)
        apply_storage(access_to(self.minio, self.bucket))

    def start(self, model: str) -> None:
        """Start every service, with this model for the captioner. On return, all are ready."""
        ports = free_ports(2 * len(SERVICES))
        self.ports = dict(zip(SERVICES, ports, strict=False))
        self.health = dict(zip(SERVICES, reversed(ports), strict=False))
        more = {"captioner": {"MODEL": model}, "gateway": self._peers()}
        with ThreadPoolExecutor(3) as some:
            list(some.map(lambda kind: self._start(kind, more.get(kind, {})), SERVICES))

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command line, in a container with the examples and a token that may evaluate."""
        settings = {
            f"CALIPER_{key}": value
            for key, value in {
                **self._store(),
                "STORE": self._endpoint(),
                "SERVER_CA": _CA,
                "SERVER_TOKEN_FILE": f"{SECRETS}/caliper-token-evaluate/token",
            }.items()
        }
        volumes = [f"--volume={self.folder / 'secrets'}:{SECRETS}:ro"]
        volumes += [f"--volume={self.folder / 'data'}:{DATA}"]
        volumes += [f"--volume={ROOT / 'examples'}:{DATA}/examples:ro"]
        return self._well(
            containers.run(self.image, "caliper", *arguments, environment=settings, options=volumes)
        )

    def _start(self, kind: str, more: dict[str, str]) -> None:
        tls = f"{SECRETS}/caliper-tls-{kind.replace('_', '-')}"
        settings = {
            **self._store(),
            "STORE": self._endpoint(),
            "KAFKA": self.kafka.servers,
            "KAFKA_PREFIX": self.kafka.prefix,
            "LISTEN": f"127.0.0.1:{self.ports[kind]}",
            "HEALTH_LISTEN": f"127.0.0.1:{self.health[kind]}",
            "TLS_CERTIFICATE": f"{tls}/tls.crt",
            "TLS_KEY": f"{tls}/tls.key",
            "TOKENS": f"{SECRETS}/caliper-tokens/tokens",
            "GRACE": "10",
            "CHECK_EVERY": "1",
            **more,
        }
        environment = {f"CALIPER_{kind.upper()}_{key}": value for key, value in settings.items()}
        name = f"caliper-{kind}-{secrets.token_hex(4)}"
        options = [f"--name={name}", f"--volume={self.folder / 'secrets'}:{SECRETS}:ro"]
        port = self.ports[kind]
        service = ServerProcess(
            kind,
            containers.run_command(self.image, [kind], environment, options),
            self.folder / f"{kind}.log",
            lambda: answers(port),
        )
        # The container is not our child process, so remove it even if podman fails.
        self.stack.callback(containers.podman, "rm", "--force", "--ignore", "--time", "0", name)
        service.start()
        self.stack.callback(service.stop)
        self.services[kind] = service

    def _peers(self) -> dict[str, str]:
        peers = {
            kind.upper(): f"https://localhost:{port}"
            for kind, port in self.ports.items()
            if kind != "gateway"
        }
        token = f"{SECRETS}/caliper-token-gateway/token"
        return {**peers, "PEER_CA": _CA, "PEER_TOKEN_FILE": token}

    def _store(self) -> dict[str, str]:
        parts = urlsplit(self.minio)
        return {
            "STORE_BUCKET": self.bucket,
            "STORE_ACCESS_KEY": parts.username or "",
            "STORE_SECRET_KEY": parts.password or "",
        }

    def _endpoint(self) -> str:
        parts = urlsplit(self.minio)
        return f"{parts.scheme}://{parts.hostname}:{parts.port}"

    def _well(self, ended: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended
