"""Names that UTF-8 cannot write, in a dataset whose JSON spells them, on real Kafka and MinIO."""

import json
from pathlib import Path

from tests.fakes.separate import Installation
from tests.fakes.small_runs import example
from tests.fakes.sources import EXAMPLES

# Half of a surrogate pair: JSON may spell it, and no file of this name can be there.
HALF = "\ud800"


async def test_a_lone_surrogate_costs_nobody_the_run(there: Installation, tmp_path: Path) -> None:
    rows = json.loads((EXAMPLES / "captionqa" / "questions.json").read_text("utf-8"))[:4]
    rows[0]["id"] = f"nat_{HALF}"
    rows[1].pop("image_paths", None)
    rows[1]["images"] = [f"images/img{HALF}.jpg"]
    data = tmp_path / "questions.json"
    data.write_text(json.dumps(rows), "ascii")
    config = example()
    part = config.benchmarks["captionqa"].model_copy(update={"data": data})
    config = config.model_copy(update={"benchmarks": {**config.benchmarks, "captionqa": part}})
    run = await there.begin(config)
    await there.over(run)
    (letter,) = await there.letters(run)
    assert letter.error_class == "MediaMissing"
    assert f"img{HALF}.jpg" in letter.error
    await there.same_as_alone(run, config, [letter])
    service = there.services["captioner"]
    assert "UnicodeEncodeError" not in service.log.read_text("utf-8", "replace")
