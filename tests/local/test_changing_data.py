"""Data that change between the digest and the reading of their rows: a run would get the score of
one version under the run id of another.
"""

from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.clock import FakeClock

from caliper.core.errors import InvalidInput
from caliper.local.config import read_config
from caliper.local.run import evaluate
from caliper.local.setup import prepare
from caliper.local.watchers import SilentWatcher
from caliper.wiring.models import Access


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        ("capability/object_color.jsonl", "green", "white", "capability"),
        ("captionqa.json", "Attribute - Color", "Attribute - Shape", "captionqa.json"),
        ("capability_qa/object_color.jsonl", "colour", "shade", "capability_qa"),
        ("compreqa/compreqa_p.json", "A dog?", "A cat?", "compreqa"),
    ],
)
async def test_data_that_change_while_the_run_begins_refuse_it(
    tmp_path: Path, file: str, old: str, new: str, named: str
) -> None:
    out, clock = tmp_path / "out", FakeClock()
    config = read_config(tiny.write_all(tmp_path)).model_copy(update={"out": out})
    async with prepare(config, Access(), clock) as prepared:
        text = (tmp_path / file).read_text()
        assert old in text
        (tmp_path / file).write_text(text.replace(old, new))
        with pytest.raises(InvalidInput, match="changed while the run began") as caught:
            await evaluate(prepared, SilentWatcher(), clock)
    assert caught.value.file == str(tmp_path / named)
    assert not out.exists()
    async with prepare(config, Access(), clock) as again:
        await evaluate(again, SilentWatcher(), clock)
    assert again.spec.run_id != prepared.spec.run_id
