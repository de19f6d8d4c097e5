from tests.fakes.captionqa_stages import ONE, QUESTIONS, SAMPLES, SIZE, Bench, dead
from tests.fakes.examiner_jobs import right

from caliper.core.errors import BackendOverloaded, BackendUnavailable
from caliper.core.outcome import Reason, Unscored
from caliper.ports.models import Completion


async def test_a_run_goes_to_its_end() -> None:
    bench = Bench()
    stream = await bench.work()
    assert bench.outcomes == [ONE] * SIZE
    assert bench.notes.seen == {"examined": SAMPLES}
    assert bench.published == [SAMPLES]
    assert await dead(stream) == 0


async def test_an_unchanged_run_asks_nothing() -> None:
    bench = Bench()
    await bench.work()
    bench.reader.calls.clear()
    await bench.work()
    assert bench.reader.calls == []
    assert bench.published == [SAMPLES, 0]
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
        return Completion("I cannot", "content_filter") if len(first) == 1 else "it is green"

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
    assert bench.run is not None
    assert bench.run.ledger.finished
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


async def test_a_defect_costs_one_sample_and_is_seen() -> None:
    bench = Bench()
    bench.captions["nat_004"] = "it breaks"
    bench.script(lambda text, before: KeyError("x") if "breaks" in text else right(text))
    stream = await bench.work()
    internal = Unscored(Reason.INTERNAL)
    expected = [internal if index // QUESTIONS == 4 else ONE for index in range(SIZE)]
    assert bench.outcomes == expected
    assert await dead(stream) == 1
