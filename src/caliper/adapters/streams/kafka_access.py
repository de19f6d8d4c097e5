"""Access to a Kafka cluster: clients with their timeouts and limits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.errors import KafkaConnectionError
from kafka.net.compat import KafkaNetClient

from caliper.adapters.streams.kafka_messages import SamplePartitioner
from caliper.adapters.streams.kafka_probe import probe
from caliper.adapters.streams.kafka_responses import make_response_classes
from caliper.adapters.streams.kafka_security import KafkaSecurity
from caliper.core.errors import InvalidInput, StreamUnavailable

# Every client of this process is opened with what this module has.
make_response_classes()

# Seconds between two looks of a producer that waits for new metadata.
_REST = 0.01

# Bytes of value, key and headers together: a job with the longest caption and its questions.
LARGEST_MESSAGE = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class KafkaAccess:
    """The address and timeouts of a cluster; times in seconds.

    `servers` is one `host:port` or several, separated by commas. `patience`: until an unreachable
    cluster raises StreamUnavailable. `session`: until a member without heartbeats loses its
    partitions. `longest_pause`: until a member that does not poll loses them; it polls while jobs
    run, however long they take. `prefix` begins the names of all topics and groups in the cluster.
    """

    servers: str
    security: KafkaSecurity = field(default_factory=KafkaSecurity)
    patience: float = 10.0
    session: float = 15.0
    longest_pause: float = 60.0
    prefix: str = ""

    def full_name(self, name: str) -> str:
        """The name of a topic or group in the cluster, which other installations may share."""
        return f"{self.prefix}{name}"

    def producer(self) -> Any:
        """A producer. Blocks; raises KafkaError."""
        return KafkaProducer(
            **self._client_options(),
            enable_idempotence=True,
            acks="all",
            delivery_timeout_ms=_ms(self.patience),
            max_block_ms=_ms(self.patience),
            max_request_size=LARGEST_MESSAGE,
            linger_ms=10,
            # Jobs and verdicts shrink to 45 to 75%, for a quarter of the CPU time of gzip.
            compression_type="lz4",
            partitioner=SamplePartitioner(),
        )

    def consumer(self, group: str, fetch: int = 256 * 1024) -> Any:
        """A consumer in a group, without automatic commits. Blocks; raises KafkaError.

        A fetched batch is held in memory: `fetch` bytes of a partition, or one longer message.
        """
        return KafkaConsumer(
            **self._client_options(),
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=fetch,
            fetch_max_bytes=4 * 1024 * 1024,
            # Members keep their partitions while others join and leave.
            partition_assignment_strategy=(CooperativeStickyAssignor,),
            session_timeout_ms=_ms(self.session),
            heartbeat_interval_ms=_ms(min(3.0, self.session / 5)),
            max_poll_interval_ms=_ms(self.longest_pause),
        )

    def reader(self) -> Any:
        """A consumer without a group, which commits nothing. Blocks; raises KafkaError."""
        return KafkaConsumer(
            **self._client_options()
            # Without a group only metadata shows added partitions, so it is refreshed often.
            | {"metadata_max_age_ms": 3_000}
            # No partition is ever paused, so that the broker may take longer to say "nothing".
            | {"fetch_max_wait_ms": min(1_000, _ms(self.patience / 4))},
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )

    def admin(self) -> Any:
        """An administration client. Blocks; raises KafkaError."""
        common = self._client_options()
        del common["allow_auto_create_topics"], common["metrics_enabled"]
        return KafkaAdminClient(**common)

    def _client_options(self) -> dict[str, Any]:
        """The options of all clients, after a broker has accepted a connection."""
        try:
            security = self.security.options()
        except InvalidInput as error:
            # The files existed when the service started, and may be restored.
            raise KafkaConnectionError(str(error)) from error
        common = {
            "bootstrap_servers": self.servers.split(","),
            "client_id": "caliper",
            "bootstrap_timeout_ms": _ms(self.patience),
            "request_timeout_ms": _ms(self.patience / 2),
            # By default the client retries an unreachable broker only every 30 s.
            "reconnect_backoff_max_ms": 1000,
            # Partitions that are added to a topic are noticed within a minute.
            "metadata_max_age_ms": 60_000,
            "allow_auto_create_topics": False,
            "metrics_enabled": False,
            "kafka_client": _Connections,
            **security,
        }
        probe(common, self.patience)
        return common


class _Connections(KafkaNetClient):  # type: ignore[misc]  # the library has no types
    """The connections of a client. kafka-python 3.0.12 leaves the socket of one open that is closed
    while it writes. Its producer asks for new metadata in each look at a partition without a known
    leader, which ends the wait for that metadata: it would look without a rest.
    """

    def poll(self, timeout_ms: float | None = None, future: Any = None) -> None:
        if self.cluster.need_update:
            time.sleep(_REST)
        super().poll(timeout_ms=timeout_ms, future=future)

    def close(self, node_id: Any = None) -> None:
        connections = list(self._manager._conns.values())  # noqa: SLF001 - there is no public way
        super().close(node_id)
        if node_id is None:
            for transport in (each.transport for each in connections):
                if transport is not None and transport._sock is not None:  # noqa: SLF001
                    transport._sock.close()  # noqa: SLF001


def unavailable(what: str, error: Exception) -> StreamUnavailable:
    """The StreamUnavailable for an error of the client."""
    name, text = type(error).__name__, str(error)
    detail = text if text.startswith(name) else f"{name}: {text}"
    return StreamUnavailable(f"Kafka: {what}: {detail}".rstrip(": "))


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
