"""The timeline of a checkpoint: all that has a time, in order."""

from tests.fakes.suites import checkpoint

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryCause
from caliper.core.notices import Notice, NoticeDelivery, NoticeRecord
from caliper.pipeline.suites.time_line import time_line


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}.000+00:00"


def test_it_goes_from_the_object_to_who_was_told() -> None:
    appeared = "2026-01-01T00:00:01.500Z"
    entry = CheckpointEntry.new("nightly", "v", checkpoint(1, appeared=appeared), at(2))
    causes = [
        *((EntryCause.CLAIM, 3), (EntryCause.SERVING, 4)),
        # A loop crashed, and another one took over.
        *((EntryCause.CLAIM, 10), (EntryCause.SERVING, 11), (EntryCause.START, 12)),
        (EntryCause.REGRESSION, 20),
    ]
    for cause, second in causes:
        after = entry.after(cause, at(second), **({"run": "r"} if second == 12 else {}))
        assert after is not None
        entry = after
    deliveries = {"team": NoticeDelivery(1, delivered=at(21)), "mail": NoticeDelivery(3)}
    last = Notice.of(entry, entry.notices[-1])
    other = CheckpointEntry.new("nightly", "v", checkpoint(2), at(5))
    records = [
        NoticeRecord(last, deliveries),
        NoticeRecord(Notice.of(other, other.notices[0]), deliveries),
    ]
    told = [(each.time[17:19], each.event, each.detail) for each in time_line(entry, records)]
    assert told == [
        ("01", "appeared", "/checkpoints/step-1"),
        ("02", "registered", ""),
        ("03", "claimed", ""),
        ("04", "serving", ""),
        ("10", "claimed", ""),
        ("11", "serving", ""),
        ("12", "run started", "r"),
        ("20", "regressed", ""),
        ("21", "notified", "team: regressed"),
    ]
    skipped = other.after(EntryCause.SKIP, at(6))
    assert skipped is not None
    assert [each.event for each in time_line(skipped)] == ["registered", "skipped"]
