"""A captioner, and a judge with its embedder, as services whose models are on a real Triton."""

from pathlib import Path

from tests.fakes.installation import alone, installation, over
from tests.fakes.sources import EXAMPLES

from caliper.adapters.stores.directory import DirectoryStore
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.run import RunState
from caliper.local.config import RunConfig, check_config
from caliper.local.submission import send
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings


def configuration(captioner: str, embedder: str) -> RunConfig:
    part = {
        "data": str(EXAMPLES / "comprecap" / "anno.json"),
        "media": str(EXAMPLES / "media" / "images"),
        "captioner": captioner,
        "embedder": embedder,
    }
    return check_config({"name": "ours", "benchmarks": {"comprecap": part}})


async def test_the_report_is_that_of_one_process(triton: str, tmp_path: Path) -> None:
    captioner, embedder = f"triton:{triton}/captioner", f"triton:{triton}/sentences"
    ground = memory_ground(DirectoryStore(tmp_path / "store"))
    judging, captioning = JudgeSettings(embedder=embedder), CaptionerSettings(model=captioner)
    async with installation(ground, judging, captioner=captioning) as gateway:
        # An installation knows its captioner by the model's name.
        begun = await send(configuration("captioner", "ngram"), gateway)
        ended = await over(gateway, begun.spec.run_id)
        report = await gateway.report(begun.spec.run_id)
    assert (ended.state, ended.error) == (RunState.COMPLETE, "")
    here = await alone(configuration(captioner, embedder), WarningWatcher(), tmp_path)
    assert report == here
