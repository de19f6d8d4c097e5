from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.adapters.streams.kafka_messages import encode_headers, encode_text, message_of
from caliper.core.envelopes import Message

# Lone surrogates included, and the mark by which they are written.
TEXTS = st.text(st.characters(exclude_categories=()) | st.just("\ufdd0"), max_size=8)


@given(TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=3), st.binary(max_size=4))
def test_what_is_kept_is_read_as_it_was(key: str, headers: dict[str, str], value: bytes) -> None:
    kept = SimpleNamespace(
        topic="ours.jobs", key=encode_text(key), value=value, headers=encode_headers(headers)
    )
    assert message_of(kept, "ours.") == Message("jobs", key, value, headers)


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        (None, ""),
        (b"run/scene/1", "run/scene/1"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        ("\ufdd0 is no escape".encode(), "\ufdd0 is no escape"),
    ],
)
def test_a_record_of_somebody_else_is_read_all_the_same(kept: bytes | None, text: str) -> None:
    record = SimpleNamespace(topic="jobs", key=kept, value=None, headers=[("name", kept)])
    assert message_of(record, "") == Message("jobs", text, b"", {"name": text})
