"""A checkpoint of an installation whose run was begun before its loop ended."""

from dataclasses import replace
from pathlib import Path

from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.decided_runs import judge
from tests.fakes.installed_suites import SCENES, installed, write_scene_captions

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryCause, EntryState
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.wiring.service_settings import JudgeSettings


async def test_a_run_against_another_baseline_is_begun_anew(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SCENES)
    for step, mistakes in {100: 10, 150: 20, 200: 10}.items():
        write_scene_captions(tmp_path / "checkpoints" / f"step-{step}", step, mistakes)
    async with ChatServer(otherwise=judge) as chat:
        settings = JudgeSettings(model=f"tgi:{chat.url}", in_flight=16, anchors=False)
        async with installed(tmp_path, examiner=settings) as there:
            part, more = {"data": str(tmp_path / "data")}, {"judging": "sequential", "margin": 20.0}
            suite = await there.applied(tmp_path, benchmarks={"capability": part}, **more)
            first, late, last = (
                there.bucket.deliver(step, tmp_path / "checkpoints" / f"step-{step}")
                for step in (100, 150, 200)
            )
            choices = []
            for checkpoint in (first, late):
                fields = dict((await there.one(suite, checkpoint)).fields)
                new = CheckpointEntry.new(suite.name, suite.version, checkpoint, "now")
                fields = {key: value for key, value in fields.items() if key != "reason"}
                choices.append(BaselineChoice(replace(new, state=EntryState.EVALUATED, **fields)))
            begun = await there.one(suite, last, choice=choices[0])
            # Its loop died before it stored the result, and the late checkpoint came meanwhile.
            anew = await there.one(suite, last, choice=choices[1])
            assert anew.cause is EntryCause.SUCCESS
            assert (begun.fields["baseline"], anew.fields["baseline"]) == ("rev100", "rev150")
            assert anew.fields["run"] != begun.fields["run"]
            # From now on that is the run to go on with.
            again = await there.one(suite, last, choice=choices[1])
            assert again.fields["run"] == anew.fields["run"]
