"""Examining: asks all questions of a job and turns the answers into verdicts.

Judge and reader are both this stage, with different models.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, JobFate, error_policy
from caliper.core.fence import clip
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
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.failure_verdicts import unscored_items
from caliper.pipeline.asking.replies import ReplyBook, key_of_job
from caliper.pipeline.asking.reuse import VERDICTS, note_reuse
from caliper.pipeline.asking.token_budget import Allowance
from caliper.ports.models import Answerer, Embedder, NounTagger
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import SILENT, ReplyReceived, Telemetry


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a stage: `answerers` by benchmark and role (judge, reader, media), and the
    language ports.
    """

    answerers: Mapping[str, Answerer]
    tagger: NounTagger | None = None
    embedder: Embedder | None = None

    def within(self, allowance: Allowance | None) -> Models:
        """The same models, with chat models limited by an allowance if one is given."""
        if allowance is None:
            return self
        answerers = {
            role: answerer.within(allowance)
            if isinstance(answerer, PromptingAnswerer)
            else answerer
            for role, answerer in self.answerers.items()
        }
        return replace(self, answerers=answerers)


class Examiner:
    """Examines the jobs of one run. Caches replies in `store`, unless it is None."""

    def __init__(
        self,
        spec: RunSpec,
        models: Models,
        store: ObjectStore | None = None,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._telemetry = telemetry
        self.spec = spec
        self._models = models
        self._store = store

    async def examine(self, job: ExamineJob) -> Verdicts:
        """The verdicts of a job that can be retried.

        A retryable failure of a model or a language port is raised after the good replies are
        cached. Raises what `conclude` raises.
        """
        verdicts, trouble = await self.conclude(job)
        if trouble is not None:
            raise trouble
        return verdicts

    async def conclude(self, job: ExamineJob) -> tuple[Verdicts, Exception | None]:
        """The verdicts of a job that is not retried, and its first retryable error if any.

        Failures become Unscored: if a model fails, the question it was asked; if a language port
        fails, all questions of the item, since they depend on nouns and embeddings. Raises
        ModelChanged, StoreUnavailable, and InvalidInput if the benchmark needs a language port
        that is not configured.
        """
        from_media = job.items[0].source is Source.MEDIA
        role = "media" if from_media else benchmark(job.benchmark).role
        answerer = self._models.answerers[f"{job.benchmark}/{role}"]
        uses_language = benchmark(job.benchmark).needs_language and job.caption is not None
        language = (self._models.tagger, self._models.embedder) if uses_language else ()
        cached = any(port is not None and port.identity.cached for port in (answerer, *language))
        store = self._store if cached else None
        key, salt = key_of_job(self.spec, job) if store else ("", "")
        book = await ReplyBook.open(store, key, salt, job.run)
        identities = self.spec.benchmark(job.benchmark).models
        ports = _CachedPorts((role, answerer), self._models, identities, book, self._telemetry)
        try:
            verdicts = await self._items(job, ports)
        except BaseException:
            await book.save(store, whole=False)
            raise
        await book.save(store, whole=not ports.troubles)
        if store:
            await note_reuse(store, job, VERDICTS, len(ports.reused))
        message = Verdicts(job.run, job.benchmark, job.sample, verdicts)
        return message, next(iter(ports.troubles), None)

    async def _items(self, job: ExamineJob, ports: _CachedPorts) -> tuple[Verdict, ...]:
        """The verdicts of all items. Raises a fatal error only after every call has ended."""
        if len(job.items) == 1:
            return await self._item(job.items[0], job, ports)
        items = (self._item(item, job, ports) for item in job.items)
        verdicts: list[Verdict] = []
        for result in await asyncio.gather(*items, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
            verdicts.extend(result)
        return tuple(verdicts)

    async def _item(self, item: Item, job: ExamineJob, ports: _CachedPorts) -> tuple[Verdict, ...]:
        caption = clip(job.caption.text) if job.caption else None
        settings = self.spec.benchmark(job.benchmark).settings
        try:
            return await drive(benchmark(job.benchmark).examine(item, caption, settings), ports)
        except _LanguagePortFailed as error:
            return unscored_items([item], error.failure)


async def drive(examination: Examination, ports: _CachedPorts) -> tuple[Verdict, ...]:
    """Run an examination generator to its end, answering each batch through the ports."""
    try:
        batch = next(examination)
        while True:
            answers: Sequence[Any]
            match batch:
                case Nouns(texts):
                    answers = await ports.nouns(texts)
                case Embed(texts):
                    answers = await ports.embed(texts)
                case asks:
                    if len(asks) == 1:
                        answers = [await ports.answer(asks[0])]
                    else:
                        answers = await asyncio.gather(*map(ports.answer, asks))
                    ports.raise_fatal()
            batch = examination.send(answers)
    except StopIteration as stop:
        verdicts: tuple[Verdict, ...] = stop.value
        return verdicts


class _LanguagePortFailed(Exception):
    """A language port failed: the examination of an item cannot go on without its answer."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.detail)


class _CachedPorts:
    """The ports of one job behind its reply book.

    The answerer comes with its role. `identities` are the models by role in the run's spec; reply
    keys use these. `troubles` collects retryable errors. `reused` holds the (item, question,
    repeat) that reuse replies of other runs.
    """

    def __init__(
        self,
        answerer: tuple[str, Answerer],
        models: Models,
        identities: Mapping[str, Identity],
        book: ReplyBook,
        telemetry: Telemetry,
    ) -> None:
        self._telemetry = telemetry
        self._role, self._answerer = answerer
        self._models, self._identities = models, identities
        self._book = book
        self._fatal: Exception | None = None
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.troubles: list[Exception] = []
        self.reused: set[tuple[str, int, int]] = set()

    async def answer(self, ask: Ask) -> Answer:
        answerer = self._answerer
        try:
            if not (answerer.identity.cached and isinstance(answerer, PromptingAnswerer)):
                return await answerer.answer(ask)
            request = answerer.request(ask)
            identity = self._identities.get(self._role, answerer.identity)
            key = self._book.key_of_ask(identity, ask, request)
            # Single-flight: of equal concurrent asks, only one is sent to the model.
            async with self._locks[key]:
                reply = self._book.reply(key)
                self._telemetry.record(ReplyReceived(cached=reply is not None))
                if reply is None:
                    answer = await answerer.send(request)
                    self._book.add(key, answer)
                    return answer
                if self._book.is_reused(key):
                    self.reused.add((ask.item.key, ask.question.ordinal, ask.repeat))
                return reply
        except Exception as error:  # noqa: BLE001 - the table of failures knows every class
            return self._trouble(error)

    def _trouble(self, error: Exception) -> Failure:
        """Record a failed call and return it as a Failure for the examination.

        Errors that end the run are raised later by `raise_fatal`, when the other calls of the
        batch have ended.
        """
        row = error_policy(error)
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

        async def call(batch: Sequence[str]) -> list[tuple[str, ...]]:
            return tagger.nouns(batch)

        noun_lists = await self._texts((tagger, "tagger"), "nouns", texts, call)
        return [tuple(nouns) for nouns in noun_lists]

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
        model, role = port
        identity = self._identities.get(role, model.identity)
        try:
            if not model.identity.cached:
                return list(await call(texts))
            keys = [self._book.key_of_text(identity, kind, text) for text in texts]
            values = {key: self._book.values(key) for key in keys}
            pairs = zip(keys, texts, strict=True)
            absent = {key: text for key, text in pairs if values[key] is None}
            if absent:
                for key, value in zip(absent, await call(list(absent.values())), strict=True):
                    self._book.add(key, value)
                    values[key] = value
        except Exception as error:
            failure = self._trouble(error)
            self.raise_fatal()
            raise _LanguagePortFailed(failure) from error
        return [values[key] or () for key in keys]
