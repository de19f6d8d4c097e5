"""Whether the brokers let us in, found out before a client is made.

A client of kafka-python 3.0.12 connects when it is made. When nobody lets it in, it only says
that it could not bootstrap, and leaves a thread and its sockets behind: a service with a wrong
password would collect them.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from typing import Any

from kafka.errors import KafkaConnectionError, KafkaError
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector


def knock(options: Mapping[str, Any], patience: float) -> None:
    """Connect to one of the brokers after the other, with TLS and user, until one answers who is
    in the cluster; each may take `patience` seconds. `options` are kafka-python's.

    Blocks. Raises KafkaConnectionError with what each of them said.
    """
    how = options["security_protocol"]
    if user := options.get("sasl_plain_username"):
        how += f" as {user}"
    net = NetworkSelector(client_id=options["client_id"])
    manager = KafkaConnectionManager(net, **options)
    refusals = []
    try:
        for broker in manager.cluster.bootstrap_brokers():
            try:
                _reach(broker.host, broker.port, options.get("ssl_context"), patience)
                net.run(_enter, manager, broker.node_id, patience)
            except (KafkaError, OSError) as error:
                refusals.append(f"{broker.host}:{broker.port} by {how}: {error}")
            else:
                return
    finally:
        manager.close()
        net.close()
    raise KafkaConnectionError("; ".join(refusals))


def _reach(host: str, port: int, tls: ssl.SSLContext | None, patience: float) -> None:
    """Connect and shake hands. Raises OSError; a connection of kafka-python that fails here
    leaves its socket open.
    """
    with socket.create_connection((host, port), patience) as plain:
        if tls is not None:
            tls.wrap_socket(plain, server_hostname=host).close()


async def _enter(manager: Any, node: str, patience: float) -> None:
    await manager.get_connection(
        node, timeout_ms=patience * 1000, pop_on_close=False, refresh_metadata_on_err=False
    )
    # A broker that wants a user says so only when it is asked something.
    await manager.cluster.refresh_metadata(node)
