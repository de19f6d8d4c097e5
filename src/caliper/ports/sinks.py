"""Port to where people keep results: files of other tools, trackers of experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from caliper.core.checkpoints import EntryFigure, figures_of
from caliper.core.report import Report, VerdictRow
from caliper.core.run import RunSpec


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a run that has a report.

    `report` is what report.json says, whose text is `text`; `spec` has the digests of datasets and
    the identities of models. `read` returns another file of the run by its name, such as
    report.html, and raises CaliperError; `verdicts` iterates over the rows, from the first at each
    call. `step`, `revision` and `tags` are those of the checkpoint, as far as they are known, and
    `suite` is the one that evaluated it. `ended` is when the run did, in RFC 3339.

    `with_verdicts` says that captions, verdicts and pictures may leave this machine; else only
    figures, names and settings may.
    """

    run: str
    spec: RunSpec
    report: Report
    text: str = field(repr=False)
    read: Callable[[str], bytes] = field(repr=False, compare=False)
    verdicts: Callable[[], Iterator[VerdictRow]] = field(repr=False, compare=False)
    step: int | None = None
    revision: str = ""
    tags: tuple[str, ...] = ()
    suite: str = ""
    ended: str = ""
    with_verdicts: bool = False

    @property
    def figures(self) -> tuple[EntryFigure, ...]:
        """The figures that have a value, with their intervals."""
        return tuple(figures_of(self.report))


class Sink(Protocol):
    """A place for results, made of the text after its name: `csv:FILE` is made of FILE."""

    def write(self, results: Results, /) -> str:
        """Put the results there and return the place, for people. Results that are written again
        replace those of the same run. Raises a CaliperError, whose message holds no secret.
        """
        ...
