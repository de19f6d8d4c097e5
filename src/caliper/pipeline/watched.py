"""What the gauges hold of a model and of what they heard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from caliper.core.outcome import Outcome
from caliper.core.tally import Tally
from caliper.pipeline.tracked import TrackedRun
from caliper.pipeline.windows import Place, RollingWindow
from caliper.ports.telemetry import Window


@dataclass(slots=True)
class Heard:
    """What was heard about a sample since the last look. `index` is one of its own, `before` are
    the outcomes that it had then, of the indices that were told since.
    """

    run: TrackedRun
    place: Place
    index: int
    before: dict[int, Outcome | None] = field(default_factory=dict)
    timestamps: list[int] = field(default_factory=list)


class Known(Enum):
    """What is known of a model's latest run: all that its ledger holds; less, so that it has to
    be counted anew; or its scores alone, until an outcome changes.
    """

    WHOLE = auto()
    BEHIND = auto()
    SCORES = auto()


@dataclass(slots=True)
class Watched:
    """A model: its latest run, which started at `started`, with the tally of each benchmark, and
    its windows.
    """

    run: TrackedRun
    started: int
    known: Known
    tallies: dict[str, Tally] = field(default_factory=dict)
    windows: dict[tuple[str, Window], RollingWindow] = field(default_factory=dict)
    settings: dict[str, Mapping[str, str]] = field(default_factory=dict)
    changed: set[tuple[str, Window]] = field(default_factory=set)

    def rest(self) -> None:
        """Nothing is heard of its run: if that has ended, let go what its report needs room for."""
        if self.known is Known.WHOLE and self.run.ending is not None:
            self.shed()

    def shed(self) -> None:
        """Its scores stay; what they were made of goes."""
        self.known = Known.SCORES
        self.tallies.clear()
        self.changed = {place for place in self.changed if place[1] is not Window.RUN}

    def exchange(self, name: str, was: Tally, now: Tally) -> None:
        """What a sample adds to the run has changed."""
        if self.known is Known.SCORES:
            self.known = Known.BEHIND
        elif self.known is Known.WHOLE:
            tally = self.tallies.setdefault(name, Tally())
            tally.absorb(now)
            tally.withdraw(was.entries())
            self.changed.add((name, Window.RUN))
