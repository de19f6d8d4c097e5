"""Event files are read back by TensorBoard's own reader."""

from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tests.fakes.results import results

from caliper.adapters.exports.sinks.tensorboard import TensorboardSink
from caliper.core.errors import InvalidInput


def test_runs_are_one_line_over_their_steps_however_late(tmp_path: Path) -> None:
    sink = TensorboardSink(str(tmp_path))
    late, first = results(run="a" * 16, step=300), results(run="b" * 16, step=70_000)
    for each in (first, late, late):
        sink.write(each)
    assert steps(tmp_path) == [300, 70_000]
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    sink.write(late)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == written
    # A step that was wrong leaves nothing behind.
    sink.write(results(run="a" * 16, step=20))
    assert steps(tmp_path) == [20, 70_000]


def steps(folder: Path) -> list[int]:
    read = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    events = read.Scalars("capability/average.f1")
    assert {event.value for event in events} == {61.5}
    assert {event.wall_time for event in events} == {1_795_687_200.0}
    assert "captionqa/domains.natural.score" in read.Tags()["scalars"]
    return [event.step for event in events]


def test_there_is_no_place_without_a_step(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="--step: the training step is unknown"):
        TensorboardSink(str(tmp_path)).write(results(step=None))
