"""How a Kafka cluster is reached, and the limits of everything that talks to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.errors import KafkaConnectionError

from caliper.adapters.streams.kafka_probe import knock
from caliper.adapters.streams.kafka_security import KafkaSecurity
from caliper.core.errors import InvalidInput, StreamUnavailable

# Of value, key and headers together: a job with the longest caption and its questions.
LARGEST_MESSAGE = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class KafkaAccess:
    """Where the cluster is and how long to wait for it; times in seconds.

    `servers` is one `host:port` or several with commas. `patience`: until a cluster that does
    not answer raises StreamUnavailable. `session`: until a member that is not heard of loses
    its partitions. `longest_pause`: until a member that does not poll loses them; it polls
    while jobs run, however long they take. `prefetch`: no more is fetched while so many
    messages wait in a consumer.
    """

    servers: str
    security: KafkaSecurity = field(default_factory=KafkaSecurity)
    patience: float = 10.0
    session: float = 15.0
    longest_pause: float = 60.0
    prefetch: int = 64

    def producer(self) -> Any:
        """A producer. Blocks; raises KafkaError."""
        return KafkaProducer(
            **self._let_in(),
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
        return KafkaConsumer(
            **self._let_in(),
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
            **self._let_in()
            # No group tells it of partitions that are added to a topic: it looks for them often.
            | {"metadata_max_age_ms": 3_000},
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )

    def admin(self) -> Any:
        """An administration client. Blocks; raises KafkaError."""
        common = self._let_in()
        del common["allow_auto_create_topics"], common["metrics_enabled"]
        return KafkaAdminClient(**common)

    def _let_in(self) -> dict[str, Any]:
        """What all clients have in common, once somebody has let us in."""
        try:
            security = self.security.options()
        except InvalidInput as error:
            # Files that were there when the service started: somebody may put them back.
            raise KafkaConnectionError(str(error)) from error
        common = {
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
            **security,
        }
        knock(common, self.patience)
        return common


def unavailable(what: str, error: Exception) -> StreamUnavailable:
    """What an error of the client means to us."""
    name, said = type(error).__name__, str(error)
    told = said if said.startswith(name) else f"{name}: {said}"
    return StreamUnavailable(f"Kafka: {what}: {told}".rstrip(": "))


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
