"""An installation whose workers take so many jobs a second, by a clock of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from fractions import Fraction
from functools import partial

from tests.fakes import runs
from tests.fakes.evaluations import CODEC, House
from tests.fakes.runs import Planned

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Delivery, Message, Record
from caliper.core.keys import canonical_json
from caliper.core.messages import PlanMade, Verdicts, event_key
from caliper.core.outcome import Outcome, Scored, Verdict
from caliper.core.terms import Priority, Terms
from caliper.pipeline.aggregation.dispatcher import Dispatcher
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.job_queue import write_queue
from caliper.pipeline.planning.publication_order import read_shuffled
from caliper.pipeline.planning.publisher import QA_JOBS, RUNS, VERDICTS, RunJobs
from caliper.pipeline.store.runs import last_start, note_start, run_store
from caliper.ports.stream import JobStream

TICK = 0.25
Advance = Callable[[RunLedger], Awaitable[None]]
CORRECT = Scored(Fraction(1))


class Workshop(House):
    """The aggregator, its dispatcher, and a reader that takes `rate` jobs a second.

    `asked` counts how often each sample was, `most_waiting` is the most jobs that waited at once,
    and `ended` holds when each run was over, in seconds.
    """

    def __init__(
        self, rate: float, stream: JobStream | None = None, advance: Advance | None = None
    ) -> None:
        super().__init__(advance=advance)
        self.rate = rate
        self.stream = stream or MemoryStream(capacity=100_000)
        self.consumer = self.stream.consumer(QA_JOBS, QA_JOBS)
        self.asked: Counter[tuple[str, str]] = Counter()
        self.most_waiting, self._owed = 0, 0.0
        self._log: list[Record] = []
        self.ended: dict[str, float] = {}
        self.known = self.starting()
        self.dispatcher = self._dispatching()

    def _dispatching(self) -> Dispatcher:
        return Dispatcher(lambda: [self.known.table], self.stream, self.clock)

    async def restart(self) -> None:
        """Go on with another aggregator, from the last snapshot, or else from all records."""
        self.known = await self.aggregator()
        for record in self._log:
            read = self.known.places.offsets.get(record.message.topic, {})
            if record.offset >= read.get(0, 0):
                await self.known.apply([record])
        self.dispatcher = self._dispatching()

    async def start(
        self,
        name: str,
        samples: int,
        priority: Priority = Priority.NORMAL,
        *,
        captions: bool = True,
        judging: str = "",
    ) -> Planned:
        """Start a run with a job for each sample; a model writes the captions if there are none.
        With `judging` its jobs are drawn.
        """
        models = {"reader": runs.JUDGE} | ({} if captions else {"captioner": runs.JUDGE})
        own = runs.part(models=models, **({} if captions else {"captions": None}))
        spec = runs.spec(own, name=name, judging=judging)
        store = run_store(self.store, spec.run_id)
        await store.put("spec.json", canonical_json(spec.to_json()))
        found = {"captionqa": runs.sources(runs.choice_rows(samples, 1), {})}
        planned = await runs.planned(spec, found, store)
        await self.start_again(planned, priority)
        return planned

    async def start_again(self, planned: Planned, priority: Priority = Priority.NORMAL) -> None:
        """Start a planned run, as gateway and planner do."""
        spec, store = planned.spec, planned.store
        await note_start(store, Terms(priority=priority), self.clock.now())
        number = await last_start(store)
        order = partial(read_shuffled, store, planned.summary, spec.seed)
        checkpoint = {part.name: part.checkpoint_sources for part in spec.benchmarks}
        jobs = RunJobs(spec.run_id, CODEC, {}).of(order, checkpoint)
        shards = 0 if spec.judging else await write_queue(store, number, jobs)
        event = PlanMade(spec.run_id, planned.summary.questions, number, shards=shards)
        await self._apply(Message(RUNS, event_key(event), CODEC.write(event)))

    async def tick(self, outcome: Outcome = CORRECT) -> None:
        """Let a quarter of a second pass."""
        await self.dispatcher.refill()
        waiting = sum((await self.stream.untaken(QA_JOBS, QA_JOBS)).values())
        self.most_waiting = max(self.most_waiting, waiting)
        self._owed = min(self._owed + self.rate * TICK, waiting)
        while self._owed >= 1:
            self._owed -= 1
            delivery = await self.consumer.receive()
            assert delivery is not None
            await self.answer(delivery, outcome)
        self.clock.seconds += TICK
        for run in self.known.table:
            if run.ledger.finished:
                self.ended.setdefault(run.spec.name, self.clock.seconds)

    async def answer(self, delivery: Delivery, outcome: Outcome = CORRECT) -> None:
        """Answer one job."""
        job = CODEC.read_examine_job(delivery.message.value)
        self.asked[job.run, job.sample] += 1
        verdicts = tuple(Verdict(item.first, outcome) for item in job.items)
        found = Verdicts(job.run, job.benchmark, job.sample, verdicts)
        await self.consumer.acknowledge(delivery)
        await self._apply(Message(VERDICTS, delivery.message.key, CODEC.write(found)))

    async def _apply(self, message: Message) -> None:
        record = Record(0, len(self._log), len(self._log), message)
        self._log.append(record)
        await self.known.apply([record])

    async def work(self, *names: str) -> None:
        """Work until these runs are over."""
        while not set(names) <= self.ended.keys():
            await self.tick()

    async def seconds(self, others: Sequence[int], samples: int) -> float:
        """How long a run takes that is started while others have been running for ten seconds."""
        for place, size in enumerate(others):
            await self.start(f"other {place}", size)
        while self.clock.seconds < 10:
            await self.tick()
        begun = self.clock.seconds
        await self.start("ours", samples)
        await self.work("ours")
        return self.ended["ours"] - begun
