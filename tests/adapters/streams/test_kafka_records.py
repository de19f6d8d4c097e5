"""What a record of Kafka says."""

from types import SimpleNamespace

from caliper.adapters.streams.kafka_records import message_of

from caliper.ports.stream import Message


def test_what_others_wrote_is_read_as_far_as_it_goes() -> None:
    record = SimpleNamespace(
        topic="jobs", key=b"k\xff", value=b"\xff", headers=[("one", b"1"), ("two", b"\xfe")]
    )
    assert message_of(record) == Message("jobs", "k\ufffd", b"\xff", {"one": "1", "two": "\ufffd"})


def test_a_record_need_not_have_anything() -> None:
    record = SimpleNamespace(topic="jobs", key=None, value=None, headers=[])
    assert message_of(record) == Message("jobs", "", b"", {})
