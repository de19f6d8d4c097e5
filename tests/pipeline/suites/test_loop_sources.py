"""The loop: what becomes of checkpoints whose sources are copied, change or vanish."""

from tests.fakes.suite_loops import Surroundings
from tests.fakes.suites import checkpoint

from caliper.core.checkpoints import SourceLoss
from caliper.core.entry_states import EntryState
from caliper.core.suites import SuiteCause


async def test_a_copy_under_another_name_is_told_and_not_evaluated(around: Surroundings) -> None:
    await around.applied()
    around.arriving = [checkpoint(1)]
    await around.once()
    around.arriving = [checkpoint(2, revision="rev1")]
    await around.once()
    assert around.events[-1] == ("step-1", "known")
    assert len(around.evaluator.evaluated) == 1


async def test_a_source_that_is_gone_ends_what_is_open_and_no_more(around: Surroundings) -> None:
    await around.applied()
    around.arriving = [checkpoint(1)]
    await around.once()
    await around.applied(version="b" * 16)
    around.arriving = [checkpoint(2)]
    await around.registry.change("nightly", SuiteCause.PAUSE)
    await around.once()
    # It moves to no later version of the suite, either.
    await around.applied(version="c" * 16)
    around.arriving = [SourceLoss(checkpoint(step).source) for step in (1, 2)]
    await around.registry.change("nightly", SuiteCause.RESUMPTION)
    await around.once()
    assert await around.states() == {
        "step-1": EntryState.EVALUATED,
        "step-2": EntryState.SOURCE_GONE,
    }
    (gone,) = [each for each in await around.entries() if each.checkpoint.step == 2]
    assert (gone.version, gone.reason) == ("b" * 16, "/checkpoints/step-2 was removed")
    assert ("step-2", "source-gone") in around.events
    # Delivered again, it is evaluated.
    around.arriving = [checkpoint(2)]
    await around.once()
    assert [name for _, name, _ in around.evaluator.evaluated] == ["step-1", "step-2"]


async def test_another_version_under_a_source_is_another_checkpoint(around: Surroundings) -> None:
    await around.applied()
    await around.registry.change("nightly", SuiteCause.PAUSE)
    first, second = checkpoint(1), checkpoint(1, revision="other")
    around.arriving = [first, SourceLoss(first.source, first.revision)]
    await around.once()
    around.arriving = [second, SourceLoss(second.source, second.revision)]
    await around.once()
    states = {each.checkpoint.revision: each.state for each in await around.entries()}
    assert states == {"rev1": EntryState.SOURCE_GONE, "other": EntryState.REGISTERED}
