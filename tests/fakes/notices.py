"""Notices for tests of those who are told."""

from tests.fakes.suites import checkpoint

from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.entry_states import EntryCause
from caliper.core.notices import Notice


def notice(
    cause: EntryCause = EntryCause.REGRESSION,
    name: str = "step-7",
    step: int | None = 7,
    **more: object,
) -> Notice:
    """The last notice of an entry to which this happened."""
    entry = CheckpointEntry.new("nightly", "a" * 16, checkpoint(step, name=name), "2026-01-01")
    figures = (
        EntryFigure("capability", "average.f1", 41.25, 40.0, 42.5, is_headline=True),
        EntryFigure("capability", "tasks.a (b).f1", 30.5),
    )
    result = {"figures": figures, "reason": "capability average.f1 -2.00", **more}
    for each, fields in ((EntryCause.CLAIM, {}), (cause, result)):
        entry = entry.after(each, "2026-01-02", **fields) or entry
    return Notice.of(entry, entry.notices[-1])
