"""How a Kafka cluster is reached, and the limits of everything that talks to it."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.errors import KafkaConnectionError

from caliper.core.errors import StreamUnavailable

# Of value, key and headers together: a job with the longest caption and its questions.
LARGEST_MESSAGE = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class KafkaAccess:
    """Where the cluster is and how long to wait for it; times in seconds.

    `servers` is one `host:port` or several with commas. `security` holds options of
    kafka-python by its names (security_protocol, sasl_mechanism, ssl_cafile, ...).
    `patience`: until a cluster that does not answer raises StreamUnavailable. `session`: until
    a member that is not heard of loses its partitions. `longest_pause`: until a member that
    does not poll loses them; it polls while jobs run, however long they take. `prefetch`:
    no more is fetched while so many messages wait in a consumer.
    """

    servers: str
    security: Mapping[str, Any] = field(default_factory=dict)
    patience: float = 10.0
    session: float = 15.0
    longest_pause: float = 60.0
    prefetch: int = 64

    def producer(self) -> Any:
        """A producer. Blocks; raises KafkaError."""
        self._knock()
        return KafkaProducer(
            **self._common(),
            enable_idempotence=True,
            acks="all",
            delivery_timeout_ms=_ms(self.patience),
            max_block_ms=_ms(self.patience),
            max_request_size=LARGEST_MESSAGE,
        )

    def consumer(self, group: str) -> Any:
        """A consumer in a group, which commits only what it is told. Blocks; raises
        KafkaError.
        """
        self._knock()
        return KafkaConsumer(
            **self._common(),
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            # What comes at once is kept in memory; a larger message still comes whole.
            max_partition_fetch_bytes=256 * 1024,
            fetch_max_bytes=4 * 1024 * 1024,
            # Members that stay keep their partitions while others come and go.
            partition_assignment_strategy=(CooperativeStickyAssignor,),
            session_timeout_ms=_ms(self.session),
            heartbeat_interval_ms=_ms(min(3.0, self.session / 5)),
            max_poll_interval_ms=_ms(self.longest_pause),
        )

    def reader(self) -> Any:
        """A consumer in no group, which commits nothing. Blocks; raises KafkaError."""
        return KafkaConsumer(
            **self._common(),
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )

    def admin(self) -> Any:
        """An administration client. Blocks; raises KafkaError."""
        self._knock()
        common = self._common()
        del common["allow_auto_create_topics"], common["metrics_enabled"]
        return KafkaAdminClient(**common)

    def _knock(self) -> None:
        """Raise KafkaConnectionError when no server accepts connections.

        Clients of kafka-python connect when they are made, and leave a thread behind when
        that fails; so none is made before somebody is there.
        """
        refusals = []
        for server in self.servers.split(","):
            host, _, port = server.rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), self.patience).close()
            except (OSError, ValueError) as error:
                refusals.append(f"{server}: {error}")
            else:
                return
        raise KafkaConnectionError("; ".join(refusals))

    def _common(self) -> dict[str, Any]:
        return {
            "bootstrap_servers": self.servers.split(","),
            "client_id": "caliper",
            "bootstrap_timeout_ms": _ms(self.patience),
            "request_timeout_ms": _ms(self.patience / 2),
            # By default a broker that was away is tried every 30 s only.
            "reconnect_backoff_max_ms": 1000,
            # Partitions that are added to a topic are noticed within a minute.
            "metadata_max_age_ms": 60_000,
            "allow_auto_create_topics": False,
            "metrics_enabled": False,
            **self.security,
        }


def unavailable(what: str, error: Exception) -> StreamUnavailable:
    """What an error of the client means to us."""
    return StreamUnavailable(f"Kafka: {what}: {type(error).__name__}: {error}".rstrip(": "))


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
