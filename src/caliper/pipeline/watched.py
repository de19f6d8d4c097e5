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
    its windows. `run` is None once it is held no longer, and was counted.
    """

    run: TrackedRun | None
    spec: RunSpec
    started: int
    known: Known
    tallies: dict[str, Tally] = field(default_factory=dict)
    windows: dict[tuple[str, Window], RollingWindow] = field(default_factory=dict)
    settings: dict[str, Mapping[str, str]] = field(default_factory=dict)
    changed: set[tuple[str, Window]] = field(default_factory=set)
    doubts: int = 0
    _held: bool = True
    _late: bool = False

    @classmethod
    def of(cls, run: TrackedRun, started: int) -> Watched:
        """A model of which nothing but its latest run is known."""
        return cls(run, run.spec, started, Known.BEHIND if run.ledger.known else Known.WHOLE)

    def rest(self) -> None:
        """Its scores are shown, and nothing more is heard of its run. If that is over, what they
        were made of goes: its report needs the room.
        """
        if self.known is not Known.WHOLE or self.run is None:
            return
        # One that changes after its end is likely to do so again.
        if not self._held or (self.run.ending is not None and not self._late):
            self._let_go()

    def forget(self) -> None:
        """Its run is held no longer. Its scores stay, and are counted first if they are behind."""
        self._held = False
        if self.known is not Known.BEHIND:
            self._let_go()

    def _let_go(self) -> None:
        self.known = Known.SCORES
        self.tallies.clear()
        self.changed = {place for place in self.changed if place[1] is not Window.RUN}
        if not self._held:
            self.run = None

    def doubt(self) -> None:
        """Something was missed: its run has to be counted anew, if it is held."""
        if self.run is not None:
            self.known, self.doubts = Known.BEHIND, self.doubts + 1

    def counted(self, tallies: dict[str, Tally], doubts: int) -> None:
        """This is what the ledger held, and all of it if there was no doubt meanwhile."""
        self.tallies = tallies
        self.changed |= {(name, Window.RUN) for name in tallies}
        if self.doubts == doubts:
            self.known = Known.WHOLE

    def figures(self, name: str, kind: Window) -> tuple[Tally | None, Mapping[str, str]]:
        """The tally of a benchmark in a window, if there is one, and the settings to it."""
        if kind is Window.RUN:
            return self.tallies.get(name), self.spec.benchmark(name).settings
        return self.windows[name, kind].tally, self.settings[name]

    def exchange(self, name: str, was: Tally, now: Tally) -> None:
        """What a sample adds to the run has changed."""
        if self.known is Known.SCORES:
            self.known, self._late = Known.BEHIND, True
        elif self.known is Known.WHOLE:
            tally = self.tallies.setdefault(name, Tally())
            tally.absorb(now)
            tally.withdraw(was.entries())
            self.changed.add((name, Window.RUN))
