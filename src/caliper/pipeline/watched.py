"""What the gauges hold of a model and of what they heard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from caliper.core.outcome import Outcome
from caliper.core.run import RunSpec
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
    its windows. `run` is None once it is held no longer.
    """

    run: TrackedRun | None
    spec: RunSpec
    started: int
    known: Known
    tallies: dict[str, Tally] = field(default_factory=dict)
    windows: dict[tuple[str, Window], RollingWindow] = field(default_factory=dict)
    settings: dict[str, Mapping[str, str]] = field(default_factory=dict)
    changed: set[tuple[str, Window]] = field(default_factory=set)

    @classmethod
    def of(cls, run: TrackedRun, started: int) -> Watched:
        """A model of which nothing but its latest run is known."""
        return cls(run, run.spec, started, Known.BEHIND if run.ledger.known else Known.WHOLE)

    def rest(self) -> None:
        """Nothing is heard of its run: if that has ended, let go what its report needs room for."""
        if self.known is Known.WHOLE and self.run is not None and self.run.ending is not None:
            self._shed()

    def forget(self) -> None:
        """Its run is held no longer."""
        self.run = None
        self._shed()

    def _shed(self) -> None:
        """The scores stay; what they were made of goes."""
        self.known = Known.SCORES
        self.tallies.clear()
        self.changed = {place for place in self.changed if place[1] is not Window.RUN}

    def doubt(self) -> None:
        """Something was missed: its run has to be counted anew, if it is held."""
        if self.run is not None:
            self.known = Known.BEHIND

    def counted(self, run: TrackedRun, tallies: dict[str, Tally]) -> None:
        """This is all that the ledger of a run holds."""
        if self.run is run:
            self.known, self.tallies = Known.WHOLE, tallies
            self.changed |= {(name, Window.RUN) for name in tallies}

    def figures(self, name: str, kind: Window) -> tuple[Tally | None, Mapping[str, str]]:
        """The tally of a benchmark in a window, if there is one, and the settings to it."""
        if kind is Window.RUN:
            return self.tallies.get(name), self.spec.benchmark(name).settings
        return self.windows[name, kind].tally, self.settings[name]

    def exchange(self, name: str, was: Tally, now: Tally) -> None:
        """What a sample adds to the run has changed."""
        if self.known is Known.SCORES:
            self.known = Known.BEHIND
        elif self.known is Known.WHOLE:
            tally = self.tallies.setdefault(name, Tally())
            tally.absorb(now)
            tally.withdraw(was.entries())
            self.changed.add((name, Window.RUN))
