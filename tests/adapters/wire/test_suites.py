from dataclasses import fields, replace

from tests.fakes.suites import checkpoint

from caliper.adapters.wire.suites import decode_entry, encode_entry
from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.entry_states import EntryState
from caliper.core.notice_marks import NoticeKind, NoticeMark

NEW = CheckpointEntry.new("nightly", "a" * 16, checkpoint(1), "2026-01-01T00:00:00Z")


def test_an_entry_comes_back_with_every_field() -> None:
    texts = ("reason", "run", "baseline", "since", "claimed", "started")
    counts = [
        "attempts",
        "crashes",
        "calls",
        "tokens",
        "asked",
        "saved",
        "reused",
        "round",
        "claims",
    ]
    entry = replace(
        NEW,
        **{name: f"the {name}" for name in texts},
        **{name: number for number, name in enumerate(counts, 1)},
        state=EntryState.REGRESSED,
        is_complete=True,
        is_improved=True,
        money=3.5,
        figures=(EntryFigure("capability", "average.f1", 50.0, 49.0, 51.0, is_headline=True),),
        findings=({"decision": "regression"},),
        notices=(NoticeMark(NoticeKind.REGRESSED, 2, "2026-01-02T00:00:00Z", "regressed"),),
    )
    same = [each.name for each in fields(entry) if getattr(entry, each.name) == each.default]
    assert not same, "every field has another value than a new entry"
    assert decode_entry(encode_entry(entry, whole=True)) == entry
