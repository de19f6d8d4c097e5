"""Port to sinks of results: files of other tools, experiment trackers."""

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

    `report` is the content of report.json and `text` its text; `spec` has the digests of datasets
    and the identities of models. `read` returns another file of the run by name, such as
    report.html, and raises CaliperError; each call of `verdicts` iterates over all rows. `step`,
    `revision` and `tags` are the checkpoint's, where known, and `suite` is the suite that
    evaluated it. `ended` is the end of the run, in RFC 3339.

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
    """A place for results, created from the text after its name: FILE for `csv:FILE`."""

    def write(self, results: Results, /) -> str:
        """Write the results and return the place, for people. Earlier results of the same run are
        replaced. Raises a CaliperError whose message holds no secret.
        """
        ...
