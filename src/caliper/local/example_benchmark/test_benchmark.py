"""The benchmark on its own data, judged by its rules."""

from pathlib import Path

import caliper

FOLDER = Path(__file__).parent


def test_three_of_four_things_are_mentioned(tmp_path: Path) -> None:
    run = caliper.evaluate(
        FOLDER / "captions.json",
        {"mentions": FOLDER / "things.jsonl"},
        out=tmp_path / "run",
        progress=False,
    )
    assert run.complete
    assert run.headlines == {"mentions": 75.0}
