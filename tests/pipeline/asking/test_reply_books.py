"""The replies of one job, which several runs may ask for at once."""

import asyncio
from dataclasses import replace
from typing import Any

from tests.fakes import runs
from tests.fakes.examiner_jobs import PACK, a_job, right
from tests.fakes.models import ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.core.question import Reply
from caliper.core.run import RunSpec
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.asking.replies import ReplyBook
from caliper.ports.models import Completion


async def test_a_book_keeps_what_others_stored_meanwhile() -> None:
    store = MemoryStore()
    early = await ReplyBook.open(store, "job", "", "a")
    late = await ReplyBook.open(store, "job", "", "b")
    early.add("one", Reply("1"))
    for key in ("one", "two", "three"):
        late.add(key, Reply(key))
    await late.save(store)
    early.add("four", Reply("4"))
    await early.save(store, whole=False)
    book = await ReplyBook.open(store, "job", "", "c")
    found = {key: book.reply(key) for key in ("one", "two", "three", "four")}
    assert found == {
        "one": Reply("1"),
        "two": Reply("two"),
        "three": Reply("three"),
        "four": Reply("4"),
    }
    assert book.askers == {"b": 3, "a": 1}


async def test_who_asked_first_stays_known() -> None:
    store = MemoryStore()
    late = await ReplyBook.open(store, "job", "", "late")
    first = await ReplyBook.open(store, "job", "", "first")
    first.add("one", Reply("1"))
    await first.save(store)
    for key in ("one", "two"):
        late.add(key, Reply("1"))
    await late.save(store, whole=False)
    book = await ReplyBook.open(store, "job", "", "other")
    assert book.askers == {"first": 1, "late": 1}


async def test_a_job_that_is_left_loses_no_replies_of_another_run() -> None:
    spec, store = runs.spec(), MemoryStore()
    asked, other = await a_job(spec), replace(spec, name="other")
    waiting, never = asyncio.Event(), asyncio.Event()

    class Stuck(ScriptedModel):
        """Answers the first question only."""

        async def complete(self, *arguments: Any, **options: Any) -> Completion:
            if self.calls:
                waiting.set()
                await never.wait()
            return await super().complete(*arguments, **options)

    def examiner(model: ScriptedModel, of_run: RunSpec) -> Examiner:
        answerer = PromptingAnswerer(model, PACK, spec.seed)
        return Examiner(of_run, Models({"captionqa/reader": answerer}), store)

    leaving = asyncio.create_task(examiner(Stuck(right), spec).conclude(asked))
    await waiting.wait()
    await examiner(ScriptedModel(right), other).conclude(replace(asked, run=other.run_id))
    leaving.cancel()
    await asyncio.wait([leaving])
    again = ScriptedModel(right)
    await examiner(again, spec).conclude(asked)
    assert again.calls == []
