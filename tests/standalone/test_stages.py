"""All stages of a run in one process: to the end, or to the failure that ends it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import pytest
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.models import OpenPack, Script, ScriptedModel
from tests.fakes.runs import Planned
from tests.fakes.stores import MemoryLog, MemoryStore

from caliper.adapters.streams.memory import DEAD_LETTERS, MemoryStream
from caliper.adapters.wire.json_codec import JsonCodec
from caliper.core.caption import Caption
from caliper.core.errors import (
    BackendOverloaded,
    BackendUnavailable,
    InvalidInput,
    MediaMissing,
    ModelChanged,
    StoreFull,
)
from caliper.core.outcome import Reason, Scored, Unscored, Verdict
from caliper.core.run import PlanSummary
from caliper.pipeline.answerer import PromptingAnswerer
from caliper.pipeline.caption import Captioner
from caliper.pipeline.examine import Examiner, Models
from caliper.pipeline.holding import HeldMedia
from caliper.pipeline.ledger import Ledger
from caliper.pipeline.publish import Publisher
from caliper.ports.codec import ExamineJob, Verdicts
from caliper.ports.models import Completion, Image
from caliper.runtime.worker import Limits
from caliper.standalone.stages import Stages

SAMPLES, QUESTIONS = 8, 3
SIZE = SAMPLES * QUESTIONS
PACK = OpenPack("caption", "question", "options")
ONE = Scored(Fraction(1))


def right(text: str, before: int = 0) -> str:
    found = re.search(r"([A-Z])\. green", text)
    assert found
    return found[1]


@dataclass
class Notes:
    """ports.telemetry.Watcher."""

    seen: dict[str, int] = field(default_factory=dict)

    def planned(self, summary: PlanSummary) -> None: ...

    def warned(self, text: str) -> None: ...

    def resumed(self, benchmark: str, known: int) -> None: ...

    def captioned(self, benchmark: str, sample: str) -> None:
        self.seen["captioned"] = self.seen.get("captioned", 0) + 1

    def examined(self, job: ExamineJob, verdicts: Verdicts) -> None:
        self.seen["examined"] = self.seen.get("examined", 0) + 1


class Pictures:
    """ports.media.Media."""

    async def images(self, paths: Sequence[str]) -> list[Image]:
        if "2.jpg" in paths:
            raise MediaMissing("2.jpg is not there")
        return [Image(path.encode(), "image/jpeg") for path in paths]


class FullLog(MemoryLog):
    """A disk with room for so many batches."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def append(self, verdicts: Sequence[Verdict]) -> list[int]:
        self.room -= 1
        if self.room < 0:
            raise StoreFull("no space left")
        return super().append(verdicts)


class Bench:
    """A planned run of CaptionQA, captions supplied or written."""

    def __init__(self, *, captioning: bool = False) -> None:
        models = {"reader": runs.JUDGE, **({"captioner": runs.JUDGE} if captioning else {})}
        captions = None if captioning else "c" * 64
        self.spec = runs.spec(runs.part(models=models, captions=captions))
        texts = None if captioning else {f"nat_{n:03}": "it is green" for n in range(SAMPLES)}
        self.captions = {} if texts is None else {"captionqa": texts}
        self.found = {"captionqa": runs.sources(runs.choice_rows(SAMPLES, QUESTIONS), texts)}
        self.store, self.clock, self.notes = MemoryStore(), FakeClock(), Notes()
        self.reader = ScriptedModel(right)
        self.captioner = ScriptedModel(lambda text, before: "it is green") if captioning else None
        self.ledger = Ledger(SIZE, MemoryLog())
        self.kept: list[tuple[str, Caption]] = []

    async def planned(self) -> Planned:
        return await runs.planned(self.spec, self.found, self.store)

    async def work(self, planned: Planned | None = None, *, budget: float = 60.0) -> MemoryStream:
        """One process: a stream of its own, too small for all messages at once."""
        planned = planned or await self.planned()
        stream, codec = MemoryStream(capacity=4), JsonCodec()
        captioners = {}
        if self.captioner is not None:
            captioners["captionqa"] = Captioner(
                self.spec,
                self.captioner,
                OpenPack(),
                HeldMedia({"captionqa": Pictures()}),
                self.store,
            )
        answerers = {"captionqa/reader": PromptingAnswerer(self.reader, PACK)}
        stages = Stages(
            publisher=Publisher(self.spec.run_id, stream, codec, self.captions),
            examiner=Examiner(self.spec, Models(answerers), self.store),
            captioners=captioners,
            asked={part.name: part.asked_of_checkpoint for part in self.spec.benchmarks},
            ledger=self.ledger,
            stream=stream,
            codec=codec,
            watcher=self.notes,
            clock=self.clock,
            limits=Limits(in_flight=3, budget=budget),
            keep_caption=lambda benchmark, caption: self.kept.append((benchmark, caption)),
        )
        await stages.run(planned.reader)
        return stream

    @property
    def outcomes(self) -> list[object]:
        return [self.ledger.outcome(index) for index in range(SIZE)]

    def script(self, script: Script) -> None:
        self.reader.script = script


async def dead(stream: MemoryStream) -> int:
    await stream.close_topic(DEAD_LETTERS)
    consumer, count = stream.consumer(DEAD_LETTERS, "test"), 0
    while (delivery := await consumer.receive()) is not None:
        await consumer.acknowledge(delivery)
        count += 1
    return count


async def test_a_run_goes_to_its_end() -> None:
    bench = Bench()
    stream = await bench.work()
    assert bench.outcomes == [ONE] * SIZE
    assert bench.notes.seen == {"examined": SAMPLES}
    assert await dead(stream) == 0


async def test_an_unchanged_run_asks_nothing() -> None:
    bench = Bench()
    await bench.work()
    bench.reader.calls.clear()
    await bench.work()
    assert bench.reader.calls == []
    assert bench.notes.seen == {"examined": SAMPLES}


async def test_captions_are_written_and_then_examined() -> None:
    bench = Bench(captioning=True)
    stream = await bench.work()
    missing = Unscored(Reason.MEDIA_MISSING)
    expected = [missing if index // QUESTIONS == 2 else ONE for index in range(SIZE)]
    assert bench.outcomes == expected
    assert bench.notes.seen == {"captioned": SAMPLES - 1, "examined": SAMPLES}
    assert await dead(stream) == 1
    assert sorted(caption.sample for _, caption in bench.kept) == [
        f"nat_{number:03}" for number in range(SAMPLES) if number != 2
    ]


async def test_a_refusal_to_caption_costs_its_sample_only() -> None:
    bench = Bench(captioning=True)
    assert bench.captioner is not None
    first: list[str] = []

    def refusing(text: str, before: int) -> str | Completion:
        first.append(text)
        return Completion("I cannot", "refusal") if len(first) == 1 else "it is green"

    bench.captioner.script = refusing
    stream = await bench.work()
    assert bench.outcomes.count(Unscored(Reason.REFUSED)) == QUESTIONS
    assert bench.outcomes.count(ONE) == SIZE - 2 * QUESTIONS
    assert bench.notes.seen == {"captioned": SAMPLES - 2, "examined": SAMPLES}
    # Only the sample whose picture is missing: a refusal is an outcome, and no failed job.
    assert await dead(stream) == 1
    assert {caption.text for _, caption in bench.kept} == {"it is green"}


async def test_a_captioner_that_stays_away_costs_its_samples_only() -> None:
    bench = Bench(captioning=True)
    assert bench.captioner is not None
    bench.captioner.script = lambda text, before: BackendUnavailable("down")
    stream = await bench.work()
    reasons = {Reason.MEDIA_MISSING, Reason.BACKEND}
    assert {
        outcome.reason for outcome in bench.outcomes if isinstance(outcome, Unscored)
    } == reasons
    assert bench.ledger.finished
    assert await dead(stream) == SAMPLES
    # What stood in the way has passed: the same call heals the run.
    bench.captioner.script = lambda text, before: "it is green"
    await bench.work()
    assert bench.outcomes.count(ONE) == SIZE - QUESTIONS


async def test_a_backend_in_trouble_is_waited_for() -> None:
    bench = Bench()
    bench.script(
        lambda text, before: right(text) if before else BackendOverloaded("later", retry_after=2)
    )
    await bench.work(budget=1000.0)
    assert bench.outcomes == [ONE] * SIZE


async def test_a_backend_that_stays_away_gives_no_scores_and_the_run_heals_later() -> None:
    bench = Bench()
    bench.script(lambda text, before: BackendUnavailable("down"))
    stream = await bench.work()
    assert bench.outcomes == [Unscored(Reason.BACKEND)] * SIZE
    assert await dead(stream) == SAMPLES
    bench.script(right)
    await bench.work()
    assert bench.outcomes == [ONE] * SIZE


async def test_another_model_ends_the_run_and_what_was_done_is_kept() -> None:
    bench = Bench()
    answered = 0

    def changing(text: str, before: int) -> str | Exception:
        nonlocal answered
        answered += 1
        return right(text) if answered <= SIZE // 2 else ModelChanged("another revision")

    bench.script(changing)
    with pytest.raises(ModelChanged, match="another revision"):
        await bench.work()
    asked = len(bench.reader.calls)
    bench.script(right)
    await bench.work()
    assert bench.outcomes == [ONE] * SIZE
    assert len(bench.reader.calls) - asked == SIZE - SIZE // 2


async def test_a_captioner_that_changed_ends_the_run() -> None:
    bench = Bench(captioning=True)
    assert bench.captioner is not None
    bench.captioner.script = lambda text, before: ModelChanged("another revision")
    with pytest.raises(ModelChanged):
        await bench.work()


async def test_a_full_disk_ends_the_run_and_it_goes_on_from_there() -> None:
    bench = Bench()
    log = FullLog(room=3)
    bench.ledger = Ledger(SIZE, log)
    with pytest.raises(StoreFull):
        await bench.work()
    assert bench.ledger.known == 3 * QUESTIONS
    log.room = 100
    bench.ledger = Ledger.resume(SIZE, log)
    await bench.work()
    assert bench.outcomes == [ONE] * SIZE
    assert len(bench.reader.calls) == SIZE


async def test_a_full_store_ends_the_run() -> None:
    bench = Bench()
    planned = await bench.planned()
    assert planned.summary.questions == SIZE
    bench.store.full = True
    with pytest.raises(StoreFull):
        await bench.work()


async def test_a_defect_costs_one_sample_and_is_seen() -> None:
    bench = Bench()
    texts = dict(bench.captions["captionqa"], nat_004="it breaks")
    bench.captions = {"captionqa": texts}
    bench.script(lambda text, before: KeyError("x") if "breaks" in text else right(text))
    stream = await bench.work()
    internal = Unscored(Reason.INTERNAL)
    expected = [internal if index // QUESTIONS == 4 else ONE for index in range(SIZE)]
    assert bench.outcomes == expected
    assert await dead(stream) == 1


async def test_a_plan_that_lost_a_shard_ends_the_run() -> None:
    bench = Bench()
    planned = await bench.planned()
    del bench.store.objects["plan/000000.jsonl.gz"]
    with pytest.raises(InvalidInput, match="lost a shard"):
        await bench.work(planned)
