import pytest
from tests.fakes.captionqa_stages import ONE, SIZE, Bench
from tests.fakes.examiner_jobs import right

from caliper.core.errors import ModelChanged, StoreFull


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
    bench.store.refused = f"runs/{bench.spec.run_id}/verdicts/"
    with pytest.raises(StoreFull):
        await bench.work()
    bench.store.refused = None
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


async def test_a_plan_that_lost_a_shard_is_planned_again() -> None:
    bench = Bench()
    planned = await bench.planned()
    key = f"runs/{bench.spec.run_id}/plan/000000.jsonl.gz"
    lost = bench.store.objects.pop(key)
    await bench.work(planned)
    assert bench.store.objects[key] == lost
    assert bench.outcomes == [ONE] * SIZE
