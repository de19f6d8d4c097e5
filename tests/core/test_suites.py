from dataclasses import replace

import pytest
from tests.fakes.suites import checkpoint, suite

from caliper.core.checkpoints import CheckpointRevision, SourceLoss
from caliper.core.errors import InvalidInput
from caliper.core.suites import Suite


@pytest.mark.parametrize(
    ("pattern", "name", "step"),
    [
        ("", "checkpoint-1500", 1500),
        ("", "step_7", 7),
        ("", "42", 42),
        ("", "qwen2-7b", None),
        ("", "last", None),
        ("", "9" * 19, None),
        ("step={step}", "epoch=0-step=500.ckpt", 500),
        ("step-{step}-", "step-1000-of-5000", 1000),
        # The last of several, and the source where the name holds none.
        ("step-{step}", "step-1/step-2", 2),
        ("run/{step}/", "adapter", 30),
        ("(.*{step}", "step-1", None),
    ],
)
def test_the_step_is_read_by_the_pattern_of_the_suite(
    pattern: str, name: str, step: int | None
) -> None:
    source = "s3://models/run/30/adapter"
    delivered = CheckpointRevision(source, "a", name)
    assert replace(suite(), step=pattern).numbered(delivered).step == step
    assert suite().numbered(replace(delivered, step=3)).step == 3


@pytest.mark.parametrize("pattern", ["step-", "{step}{step}", "{steps}"])
def test_a_pattern_has_one_step(pattern: str) -> None:
    with pytest.raises(InvalidInput, match="step"):
        Suite.from_json({**suite().to_json(), "step": pattern})


def test_a_suite_of_an_earlier_release_has_no_pattern() -> None:
    fields = suite().to_json()
    del fields["step"]
    assert Suite.from_json(fields) == suite()


def test_a_loss_covers_what_is_not_there_any_more() -> None:
    first = checkpoint(1)
    assert SourceLoss(first.source).covers(first)
    assert not SourceLoss(first.source, first.revision).covers(first)
    assert SourceLoss(first.source, "other").covers(first)
    assert not SourceLoss("elsewhere").covers(first)
