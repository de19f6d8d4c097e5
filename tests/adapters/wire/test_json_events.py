"""What becomes of runs, as JSON."""

import pytest

from caliper.adapters.wire.json_codec import JsonCodec
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.ports.codec import EventKind, RunEvent

EVENT = RunEvent("a" * 16, EventKind.END, "failed", "the model changed", "f" * 64)


@pytest.mark.parametrize("kind", EventKind)
def test_events_come_back_as_they_were(kind: EventKind) -> None:
    event = RunEvent("a" * 16, kind, "failed", "why", "f" * 64)
    assert JsonCodec().read_event(kind, JsonCodec().write(event)) == event
    assert event.key == f"{'a' * 16}/{kind}"


@pytest.mark.parametrize("data", [b"", b"[]", b'{"schema":1}', b'{"run":"a","kind":"end"}'])
def test_what_is_no_event_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        JsonCodec().read_event(EventKind.END, data)


def test_an_event_under_the_key_of_another_is_refused() -> None:
    with pytest.raises(InvalidInput, match="under the key of cancel"):
        JsonCodec().read_event(EventKind.CANCEL, JsonCodec().write(EVENT))


def test_an_event_of_a_newer_release_is_refused() -> None:
    newer = JsonCodec().write(EVENT).replace(b'"schema":1', b'"schema":99')
    with pytest.raises(NewerSchema):
        JsonCodec().read_event(EventKind.END, newer)
