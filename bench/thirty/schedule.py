"""The thirty checkpoints, and how they are delivered."""

from __future__ import annotations

import random
from dataclasses import dataclass

from bench.thirty.captioner import RATES, Quality

SEED = 0
HANG_SECONDS = 45.0
_KINDS = {0.0: 8, -1.0: 4, -3.0: 5, -6.0: 4, 1.0: 3, 2.0: 3}
"""How many checkpoints there are by what they gain, in points, beside the first and those in
trouble.
"""


@dataclass(frozen=True, slots=True)
class ScheduledDelivery:
    """A checkpoint that is put into the bucket `pause` seconds after the one before."""

    quality: Quality
    pause: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """The deliveries in their order, some checkpoints twice, some late. `vanishes` is removed
    while it waits, `hangs` hangs its server, `last` is delivered when all others have ended.
    """

    deliveries: tuple[ScheduledDelivery, ...]
    vanishes: Quality
    hangs: Quality
    last: Quality

    @property
    def qualities(self) -> list[Quality]:
        """Every checkpoint once, by its step."""
        every = {each.quality.name: each.quality for each in self.deliveries}
        return sorted([*every.values(), self.last], key=lambda each: each.seed)

    @property
    def again(self) -> int:
        """How many deliveries were of a checkpoint that had been delivered."""
        return len(self.deliveries) + 1 - len(self.qualities)


def schedule(pause: float, seed: int = SEED) -> Schedule:
    """The schedule, with a mean pause between deliveries."""
    draw = random.Random(seed)
    gains = [gain for gain, count in _KINDS.items() for _ in range(count)]
    draw.shuffle(gains)
    last = gains.index(0.0)
    gains.append(gains.pop(last))
    # Where the two in trouble are among the steps.
    places = sorted(draw.sample(range(8, 24), 2))
    qualities = [_quality(0, 0.0)]
    for place in range(1, 30):
        gain = 0.0 if place in places else gains.pop(0)
        qualities.append(_quality(place, gain, HANG_SECONDS if place == places[0] else 0.0))
    order = [each.seed for each in qualities[:-1]]
    for place in draw.sample(range(2, len(order) - 1), 5):
        # Late: the next one comes before it.
        order[place], order[place + 1] = order[place + 1], order[place]
    for place in draw.sample(range(len(order)), 6):
        order.insert(draw.randrange(order.index(place) + 1, len(order) + 1), place)
    deliveries = (
        ScheduledDelivery(qualities[place], draw.expovariate(1 / pause)) for place in order
    )
    return Schedule(tuple(deliveries), qualities[places[1]], qualities[places[0]], qualities[-1])


def _quality(place: int, gain: float, hang: float = 0.0) -> Quality:
    losses = dict.fromkeys(RATES, -gain / 100)
    return Quality(f"step={1000 * (place + 1)}", place, losses, hang=hang)
