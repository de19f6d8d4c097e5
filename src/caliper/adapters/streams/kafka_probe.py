"""A connection test before a Kafka client is created.

A client of kafka-python 3.0.12 connects in its constructor. If every broker rejects it, it only
reports that it could not bootstrap, and leaks a thread and its sockets: a service with a wrong
password would accumulate them.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from kafka.errors import KafkaConnectionError, KafkaError
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector


def probe(options: Mapping[str, Any], patience: float) -> None:
    """Connect to the brokers in turn, with TLS and user, until one returns the cluster's metadata.

    Each may take `patience` seconds. `options` are kafka-python's. Blocks. Raises
    KafkaConnectionError with the error of each broker.
    """
    label = options["security_protocol"]
    if user := options.get("sasl_plain_username"):
        label += f" as {user}"
    refusals = []
    with (
        closing(NetworkSelector(client_id=options["client_id"])) as net,
        closing(KafkaConnectionManager(net, **options)) as manager,
    ):
        for broker in manager.cluster.bootstrap_brokers():
            try:
                _reach(broker.host, broker.port, options.get("ssl_context"), patience)
                net.run(_authenticate, manager, broker.node_id, patience)
            except (KafkaError, OSError) as error:
                refusals.append(f"{broker.host}:{broker.port} by {label}: {error}")
            else:
                return
    raise KafkaConnectionError("; ".join(refusals))


def _reach(host: str, port: int, tls: ssl.SSLContext | None, patience: float) -> None:
    """Connect and complete the TLS handshake. Raises OSError. kafka-python itself would leak the
    socket of a connection that fails here.
    """
    with socket.create_connection((host, port), patience) as plain:
        if tls is not None:
            tls.wrap_socket(plain, server_hostname=host).close()


async def _authenticate(manager: Any, node: str, patience: float) -> None:
    await manager.get_connection(
        node, timeout_ms=patience * 1000, pop_on_close=False, refresh_metadata_on_err=False
    )
    # A broker that requires a user reports that only in response to a request.
    await manager.cluster.refresh_metadata(node)
