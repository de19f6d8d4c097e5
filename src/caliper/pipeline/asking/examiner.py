"""Examining: all questions of one job are asked, and their verdicts come out.

judge and reader are this one stage with another model.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, JobFate, handling
from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.outcome import Reason, Verdict
from caliper.core.question import (
    Answer,
    Ask,
    Embed,
    Examination,
    Failure,
    Item,
    Nouns,
    Source,
    Vector,
)
from caliper.core.run import Identity, RunSpec
from caliper.core.untrusted import bounded
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.replies import ReplyBook, key_of_job
from caliper.pipeline.asking.reuse import VERDICTS, note_reuse
from caliper.pipeline.asking.token_budget import Allowance
from caliper.pipeline.asking.unscored import left_unscored
from caliper.ports.models import Answerer, Embedder, NounTagger
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import SILENT, ReplyReceived, Telemetry


@dataclass(frozen=True, slots=True)
class Models:
    """Who answers: `answerers` by role (judge, reader, media), and the language ports."""

    answerers: Mapping[str, Answerer]
    tagger: NounTagger | None = None
    embedder: Embedder | None = None

    def within(self, allowance: Allowance | None) -> Models:
        """The same models, of which chat models are asked as long as there is an allowance."""
        answerers = {
            role: one.within(allowance) if isinstance(one, PromptingAnswerer) else one
            for role, one in self.answerers.items()
        }
        return self if allowance is None else replace(self, answerers=answerers)


class Examiner:
    """Examines the jobs of one run. `store` keeps replies; None keeps nothing."""

    def __init__(
        self,
        spec: RunSpec,
        models: Models,
        store: ObjectStore | None = None,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._telemetry = telemetry
        self._spec = spec
        self._models = models
        self._store = store

    async def examine(self, job: ExamineJob) -> Verdicts:
        """The verdicts of a job.

        A failure that may pass, of a model or a language port, is raised once the good
        replies are kept, so that the job can be tried again. Raises what `conclude` raises.
        """
        verdicts, trouble = await self.conclude(job)
        if trouble is not None:
            raise trouble
        return verdicts

    async def conclude(self, job: ExamineJob) -> tuple[Verdicts, Exception | None]:
        """The verdicts of a job that is not tried again, and what went wrong first.

        What failed became Unscored: with a model the question that it was asked, with a
        language port all questions of its item, since what is asked rests on nouns and
        embeddings. Raises ModelChanged, StoreUnavailable, and InvalidInput for a language port
        that the benchmark needs and nobody gave.
        """
        role = _role(job)
        answerer = self._models.answerers[f"{job.benchmark}/{role}"]
        uses_language = benchmark(job.benchmark).needs_language and job.caption is not None
        kept = answerer.identity.cached or (uses_language and self._language_cached)
        store = self._store if kept else None
        key, salt = key_of_job(self._spec, job) if store else ("", "")
        book = await ReplyBook.open(store, key, salt, job.run)
        named = self._spec.benchmark(job.benchmark).models
        outside = _Outside((role, answerer), self._models, named, book, self._telemetry)
        try:
            verdicts = await self._items(job, outside)
        finally:
            await book.save(store)
        if store:
            await note_reuse(store, job, VERDICTS, len(outside.reused))
        found = Verdicts(job.run, job.benchmark, job.sample, verdicts)
        return found, next(iter(outside.troubles), None)

    async def _items(self, job: ExamineJob, outside: _Outside) -> tuple[Verdict, ...]:
        """The verdicts of all items. What fails as a whole is raised when no call is open."""
        items = (self._item(item, job, outside) for item in job.items)
        verdicts: list[Verdict] = []
        for found in await asyncio.gather(*items, return_exceptions=True):
            if isinstance(found, BaseException):
                raise found
            verdicts.extend(found)
        return tuple(verdicts)

    async def _item(self, item: Item, job: ExamineJob, outside: _Outside) -> tuple[Verdict, ...]:
        caption = bounded(job.caption.text) if job.caption else None
        settings = self._spec.benchmark(job.benchmark).settings
        try:
            return await drive(benchmark(job.benchmark).examine(item, caption, settings), outside)
        except _Unanswered as without:
            return left_unscored([item], without.why)

    @property
    def _language_cached(self) -> bool:
        language = (self._models.tagger, self._models.embedder)
        return any(port is not None and port.identity.cached for port in language)


def _role(job: ExamineJob) -> str:
    return "media" if job.items[0].source is Source.MEDIA else benchmark(job.benchmark).role


async def drive(examination: Examination, outside: _Outside) -> tuple[Verdict, ...]:
    """Run an examination to its end, answering each batch through the ports."""
    try:
        batch = next(examination)
        while True:
            answers: Sequence[Any]
            match batch:
                case Nouns(texts):
                    answers = await outside.nouns(texts)
                case Embed(texts):
                    answers = await outside.embed(texts)
                case asks:
                    if len(asks) == 1:
                        answers = [await outside.answer(asks[0])]
                    else:
                        answers = await asyncio.gather(*map(outside.answer, asks))
                    outside.raise_fatal()
            batch = examination.send(answers)
    except StopIteration as stop:
        verdicts: tuple[Verdict, ...] = stop.value
        return verdicts


class _Unanswered(Exception):
    """A language port failed: an examination cannot go on without its answer."""

    def __init__(self, why: Failure) -> None:
        self.why = why
        super().__init__(why.detail)


class _Outside:
    """The ports of one job, with its book of replies between them and the examination.

    The answerer comes with its role. `named` are the models by role as the run's spec has them:
    replies are kept under these. `reused` are the (item, question, repeat) that rest on replies
    of other runs.
    """

    def __init__(
        self,
        answerer: tuple[str, Answerer],
        models: Models,
        named: Mapping[str, Identity],
        book: ReplyBook,
        telemetry: Telemetry,
    ) -> None:
        self._telemetry = telemetry
        self._role, self._answerer = answerer
        self._models, self._named = models, named
        self._book = book
        self._fatal: Exception | None = None
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.troubles: list[Exception] = []
        self.reused: set[tuple[str, int, int]] = set()

    async def answer(self, ask: Ask) -> Answer:
        try:
            return await self._kept_or_asked(ask)
        except Exception as error:  # noqa: BLE001 - the table of failures knows every class
            return self._trouble(error)

    async def _kept_or_asked(self, ask: Ask) -> Answer:
        answerer = self._answerer
        if not (answerer.identity.cached and isinstance(answerer, PromptingAnswerer)):
            return await answerer.answer(ask)
        request = answerer.request(ask)
        identity = self._named.get(self._role, answerer.identity)
        key = self._book.key_of_ask(identity, ask, request)
        # Of two equal asks one waits: the model is sent a request once.
        async with self._turns[key]:
            kept = self._book.reply(key)
            self._telemetry.record(ReplyReceived(cached=kept is not None))
            if kept is not None:
                if self._book.reused(key):
                    self.reused.add((ask.item.key, ask.question.ordinal, ask.repeat))
                return kept
            answer = await answerer.send(request)
            self._book.keep(key, answer)
            return answer

    def _trouble(self, error: Exception) -> Failure:
        """What a failed call is to the examination; errors of the whole run wait for the
        other calls of the batch, so that none is left running.
        """
        row = handling(error)
        if row.fate in (JobFate.FAIL_RUN, JobFate.PAUSE):
            self._fatal = error
        elif row.fate in (JobFate.RETRY, JobFate.RETRY_ONCE):
            self.troubles.append(error)
        return Failure(row.reason or Reason.INTERNAL, str(error))

    def raise_fatal(self) -> None:
        if self._fatal is not None:
            raise self._fatal

    async def nouns(self, texts: tuple[str, ...]) -> list[tuple[str, ...]]:
        tagger = self._models.tagger
        if tagger is None:
            raise InvalidInput("this benchmark needs a noun tagger")

        async def call(some: Sequence[str]) -> list[tuple[str, ...]]:
            return tagger.nouns(some)

        found = await self._texts((tagger, "tagger"), "nouns", texts, call)
        return [tuple(nouns) for nouns in found]

    async def embed(self, texts: tuple[str, ...]) -> list[Vector]:
        embedder = self._models.embedder
        if embedder is None:
            raise InvalidInput("this benchmark needs an embedder")
        vectors = await self._texts((embedder, "embedder"), "embed", texts, embedder.embed)
        return [tuple(vector) for vector in vectors]

    async def _texts(
        self,
        port: tuple[NounTagger | Embedder, str],
        kind: str,
        texts: tuple[str, ...],
        call: Callable[[Sequence[str]], Awaitable[Sequence[Sequence[Any]]]],
    ) -> list[Sequence[Any]]:
        try:
            return await self._kept_or_told(port, kind, texts, call)
        except Exception as error:
            failure = self._trouble(error)
            self.raise_fatal()
            raise _Unanswered(failure) from error

    async def _kept_or_told(
        self,
        port: tuple[NounTagger | Embedder, str],
        kind: str,
        texts: tuple[str, ...],
        call: Callable[[Sequence[str]], Awaitable[Sequence[Sequence[Any]]]],
    ) -> list[Sequence[Any]]:
        model, role = port
        if not model.identity.cached:
            return list(await call(texts))
        identity = self._named.get(role, model.identity)
        keys = [self._book.key_of_text(identity, kind, text) for text in texts]
        values = {key: self._book.values(key) for key in keys}
        absent = {key: text for key, text in zip(keys, texts, strict=True) if values[key] is None}
        if absent:
            for key, found in zip(absent, await call(list(absent.values())), strict=True):
                self._book.keep(key, found)
                values[key] = found
        return [values[key] or () for key in keys]
