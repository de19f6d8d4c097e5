"""Workers that are killed, by a job or from outside: which jobs are put aside for it.

Simulated in steps of half a second, the interval of commits, without a broker.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from math import exp
from random import Random

import pytest
from tests.fakes.handouts import Log, Member

from caliper.core.envelopes import Delivery, position_of
from caliper.pipeline.work.worker import WorkerLimits

STEP, RESTART = 0.5, 3.0
IN_FLIGHT = 4
LIMIT = WorkerLimits().crashes


@dataclass
class Simulation:
    """Jobs, by position, with the seconds that each takes, or after which `killer` kills its
    worker. `kills` are the ages at which workers are killed from outside.
    """

    seconds: dict[int, float]
    kills: Iterator[float]
    killer: int | None = None
    name: str = ""
    room: int = 16
    charged: set[int] = field(default_factory=set)
    put_aside: set[int] = field(default_factory=set)
    # Deaths by the killer, and all.
    murders: int = 0
    deaths: int = 0

    def run(self) -> None:
        """Work until every job is done or put aside."""
        partitions = [position // position_of(1, 0) for position in self.seconds]
        self.log = Log(*(partitions.count(each) for each in sorted(set(partitions))))
        self.left = set(self.seconds)
        while self.left:
            assert self.deaths < 300
            member = self.log.member(f"{self.name}/{self.deaths}", self.room)
            self._live(member, next(self.kills))

    def _live(self, member: Member, age: float) -> None:
        end = self.log.seconds + age
        running: dict[int, tuple[float, Delivery]] = {}
        while self.left:
            self._receive(member, running)
            self.log.seconds += STEP
            done = [each for each, (when, _) in running.items() if when <= self.log.seconds]
            if self.killer in done or self.log.seconds >= end:
                self.murders += self.killer in done
                self.deaths += 1
                self.log.seconds += RESTART
                return
            for position in done:
                member.handout.settle(running.pop(position)[1])
                # A job that ended just before a death may come again.
                self.left.discard(position)

    def _receive(self, member: Member, running: dict[int, tuple[float, Delivery]]) -> None:
        member.turn()
        member.commit()
        while len(running) < IN_FLIGHT and (delivery := member.handout.take()) is not None:
            position = delivery.position
            if delivery.crashes:
                self.charged.add(position)
            if delivery.crashes >= LIMIT:
                member.handout.settle(delivery)
                self.left.discard(position)
                self.put_aside.add(position)
            else:
                running[position] = self.log.seconds + self.seconds[position], delivery


def jobs(chance: Random, count: int, low: float, high: float) -> dict[int, float]:
    """Jobs of `low` to `high` seconds on two partitions."""
    return {
        position_of(number % 2, number // 2): chance.uniform(low, high) for number in range(count)
    }


def at_random(chance: Random, mean: float, count: int) -> Iterator[float]:
    return chain((chance.expovariate(1 / mean) for _ in range(count)), repeat(float("inf")))


SHORT, LONG, MIXED = (1.0, 2.0), (25.0, 30.0), (0.0, 30.0)
SEEDS = range(5)
KILLS = 30


def test_a_job_as_long_as_the_life_of_workers_is_rarely_alone_at_so_many_deaths() -> None:
    """Kills at a constant rate end an attempt at it with probability 1 - 1/e."""
    assert (1 - exp(-1)) ** LIMIT == pytest.approx(1 / 250, rel=0.02)


@pytest.mark.parametrize("count", [1, 2, 5, 30])
@pytest.mark.parametrize(
    ("length", "mean"),
    [(SHORT, 1.0), (SHORT, 5.0), (SHORT, 20.0), (SHORT, 60.0), (LONG, 60.0), (MIXED, 60.0)],
)
def test_kills_from_outside_put_no_job_aside(
    length: tuple[float, float], mean: float, count: int
) -> None:
    for seed in SEEDS:
        chance = Random(f"{seed} {length} {mean} {count}")
        kills = at_random(chance, mean, KILLS)
        run = Simulation(jobs(chance, count, *length), kills, name=str(seed))
        run.run()
        assert run.put_aside == set(), seed


@pytest.mark.parametrize("age", [2.0, 6.0, 12.0])
def test_workers_that_are_always_killed_at_one_age_put_no_job_aside(age: float) -> None:
    for seed in SEEDS:
        kills = chain(repeat(age, KILLS), repeat(float("inf")))
        run = Simulation(jobs(Random(seed), 12, *SHORT), kills, name=str(seed))
        run.run()
        assert run.put_aside == set(), seed


@pytest.mark.parametrize("count", [1, 2, 5, 30])
@pytest.mark.parametrize("length", [SHORT, LONG, MIXED], ids=["short", "long", "mixed"])
@pytest.mark.parametrize(("deadly", "room"), [(0.1, 16), (2.0, 1), (20.0, 5)])
def test_a_job_that_kills_its_workers_is_put_aside_and_no_other(
    deadly: float, room: int, length: tuple[float, float], count: int
) -> None:
    for seed in SEEDS:
        chance = Random(f"{seed} {deadly} {length} {count}")
        seconds = jobs(chance, count, *length)
        killer = chance.choice(sorted(seconds))
        seconds[killer] = deadly
        run = Simulation(seconds, repeat(float("inf")), killer, str(seed), room)
        run.run()
        assert run.put_aside == run.charged == {killer}, seed
        # One before it is alone.
        assert run.murders == 1 + LIMIT, seed


@pytest.mark.parametrize("mean", [10.0, 60.0])
def test_it_is_found_among_kills_from_outside(mean: float) -> None:
    for seed in SEEDS:
        chance = Random(f"{seed} {mean}")
        seconds = jobs(chance, 30, *SHORT)
        killer = chance.choice(sorted(seconds))
        run = Simulation(seconds, at_random(chance, mean, 10), killer, str(seed))
        run.run()
        assert run.put_aside == {killer}, seed


def test_after_a_crash_other_jobs_go_first() -> None:
    log = Log(3)
    log.member("first").take_up_to(2, [])
    for name, expected in (("second", b"0/0"), ("third", b"0/1")):
        [alone] = log.member(name).all_ready()
        assert (alone.message.value, alone.crashes) == (expected, 0)
    last = log.member("last")
    [alone] = last.all_ready()
    assert (alone.message.value, alone.crashes) == (b"0/2", 0)
    last.handout.settle(alone)
    assert last.all_ready() == []
    log.seconds = 10.0
    for expected in (b"0/0", b"0/1"):
        [alone] = last.all_ready()
        assert (alone.message.value, alone.crashes) == (expected, 1)
        last.handout.settle(alone)


def test_a_worker_that_dies_while_it_drains_accuses_nobody() -> None:
    log = Log(2)
    log.member("first").all_ready()
    second = log.member("second")
    [alone] = second.all_ready()
    second.handout.drain()
    assert second.all_ready() == []
    third = log.member("third")
    [again] = third.all_ready()
    assert (again.message, again.crashes) == (alone.message, 0)
