"""What clients of kafka-python need beyond their settings."""

import time
from collections.abc import Callable
from contextlib import closing
from threading import Semaphore
from typing import Any

from tests.fakes.kafka_streams import PATIENCE, new_topic

from caliper.adapters.streams.kafka_access import KafkaAccess

LOOKS, REST = 50, 0.01


def test_a_producer_rests_while_a_partition_has_no_known_leader(kafka: KafkaAccess) -> None:
    topic, looks = kafka.full_name(new_topic(kafka)), Semaphore(0)
    with closing(kafka.producer()) as producer, closing(kafka.admin()) as admin:
        producer.send(topic, b"", b"key").get(PATIENCE)
        admin.delete_topics([topic])
        # A producer tells nobody what it hears.
        while producer._metadata.partitions_for_topic(topic):
            producer._metadata.request_update()
            time.sleep(0.05)
        client = producer._sender._client
        client.poll = counting(client.poll, looks)
        begun = time.monotonic()
        for _ in range(LOOKS):
            assert looks.acquire(timeout=PATIENCE)
        assert time.monotonic() - begun > REST * LOOKS / 2


def counting(poll: Callable[..., None], looks: Semaphore) -> Callable[..., None]:
    def counted(*arguments: Any, **named: Any) -> None:
        looks.release()
        poll(*arguments, **named)

    return counted
