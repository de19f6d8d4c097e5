"""Kafka and MinIO that speak TLS, with what `services.bootstrap` makes for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.servers import fetch, guarded_broker, object_server
from tests.servers.absence import leave_out


@contextmanager
def guarded_servers(made: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """The address of a broker, by SASL_SSL, and the URL of a store, with its user. `made` has the
    Secrets of the installation as folders; the servers write to `folder`.
    """
    brokers, objects = made / "caliper-tls-kafka", made / "caliper-tls-minio"
    password = (made / "caliper-kafka" / "password").read_text("ascii")
    secret = (made / "caliper-minio" / "secret-key").read_text("ascii")
    with ExitStack() as stack:
        for name in ("kafka", "minio"):
            (folder / name).mkdir()
        try:
            broker, addresses = guarded_broker.start(
                folder / "kafka",
                brokers / "tls.crt",
                brokers / "tls.key",
                brokers / "ca.crt",
                password,
                guarded_broker.AUTHORIZED,
            )
            stack.callback(broker.stop)
            pair = (objects / "tls.crt", objects / "tls.key")
            store, url = object_server.start(folder / "minio", pair, secret)
            stack.callback(store.stop)
        except fetch.Missing as reason:
            leave_out("Kafka and MinIO", reason)
        yield addresses["SASL_SSL"], url
