"""Checkpoints in a suite: their revisions, states and results.

An entry is one checkpoint revision in one version of a suite. It is evaluated once, however often
and in whatever order it is delivered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from caliper.core.entry_states import (
    COMPARED_STATES,
    ENTRY_AFTER,
    NEW_ROUND,
    NOTICE_KINDS,
    OPEN_STATES,
    UNDER_WAY,
    EntryCause,
    EntryState,
)
from caliper.core.errors import InvalidInput
from caliper.core.keys import fields_of
from caliper.core.notice_marks import NoticeKind, NoticeMark, with_mark
from caliper.core.report import Report
from caliper.core.run import check_name

_STEPS = 10**18
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/", re.ASCII)
_REVISION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CheckpointRevision:
    """A delivered checkpoint. `source` is an absolute path, or a URI.

    `revision` never changes its meaning: it is the digest of the files (`is_digest`), or a
    supplied commit. `step` is the training step, None if unknown. `appeared` is when its last
    file was written, in RFC 3339, empty if unknown.
    """

    source: str
    revision: str
    name: str
    step: int | None = None
    tags: tuple[str, ...] = ()
    is_digest: bool = False
    appeared: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not _REVISION.fullmatch(self.revision):
            message = f"expected letters, digits, dots and dashes, found {self.revision!r:.60}"
            raise InvalidInput(message, field="revision")
        if self.step is not None and (type(self.step) is not int or not 0 <= self.step < _STEPS):
            message = f"expected 0 or more, of at most 18 digits, found {self.step!r:.40}"
            raise InvalidInput(message, field="step")
        check_name(self.name)
        check_name(self.source, "source")
        for tag in self.tags:
            check_name(tag, "tags")

    @property
    def is_uri(self) -> bool:
        """Whether its source is a URI, not a path."""
        return is_uri(self.source)

    @property
    def label(self) -> str:
        """Its name and revision, for people."""
        return f"{self.name} ({self.revision[:12]})"


def is_uri(source: str) -> bool:
    """Whether a source is a URI, not a path."""
    return _URI.match(source) is not None


@dataclass(frozen=True, slots=True)
class SourceLoss:
    """A checkpoint is gone from its source; `present` is the revision there now, if any."""

    source: str
    present: str = ""

    def covers(self, checkpoint: CheckpointRevision) -> bool:
        """Whether the checkpoint was lost."""
        return checkpoint.source == self.source and checkpoint.revision != self.present

    @property
    def reason(self) -> str:
        """The reason, for people."""
        return f"{self.source} " + ("now holds another version" if self.present else "was removed")


@dataclass(frozen=True, slots=True)
class EntryFigure:
    """A figure of an entry's report with its 95% interval. `path` has dots. Where a check decided
    the run, it is the baseline's plus the difference over all questions, with the check's bounds.
    """

    benchmark: str
    path: str
    value: float
    low: float | None = None
    high: float | None = None
    is_headline: bool = False


def figures_of(report: Report) -> Iterator[EntryFigure]:
    """The figures of a report that have a value. Averages that lack tasks or domains are left out:
    a trend would join them to other averages.
    """
    for part in report.benchmarks:
        averages = part.headline[:-1] if part.lacking else ()
        for path, estimate in part.estimates.items():
            if estimate.value is not None and not (averages and path[:-1] == averages):
                bounds, name = (estimate.low, estimate.high), ".".join(path)
                is_headline = path == part.headline
                yield EntryFigure(part.name, name, estimate.value, *bounds, is_headline=is_headline)


@dataclass(frozen=True, slots=True)
class CheckpointEntry:
    """A checkpoint in a version of a suite. Times are UTC in RFC 3339.

    `attempts` counts attempts ended by an endpoint, `crashes` the loops that crashed. `reason`
    explains the state. `run` is the name of the run directory or the run id; `is_complete` says
    whether the run is complete, or was judged in full since. `figures` are the report's, `findings`
    the gate's, against the revision `baseline`; `is_improved` says that a run which ended early
    passed, and is surely better in one of them. `calls`, `tokens` and `money` are those of the
    process that finished it.
    `asked` questions were asked, `reused` got replies that other runs had to the same requests, and
    `saved` were not asked, because the answer was sure.
    `round` counts retries and returns; `notices` are the last transitions to notify people of.
    `claims` counts the loops that claimed it, the last one at `claimed`; its run began at
    `started`.
    """

    suite: str
    version: str
    checkpoint: CheckpointRevision
    registered: str
    since: str
    state: EntryState = EntryState.REGISTERED
    attempts: int = 0
    crashes: int = 0
    reason: str = ""
    run: str = ""
    is_complete: bool = False
    baseline: str = ""
    figures: tuple[EntryFigure, ...] = ()
    findings: tuple[Mapping[str, Any], ...] = ()
    calls: int = 0
    tokens: int = 0
    asked: int = 0
    saved: int = 0
    money: float = 0.0
    reused: int = 0
    round: int = 0
    notices: tuple[NoticeMark, ...] = ()
    claims: int = 0
    claimed: str = ""
    started: str = ""
    is_improved: bool = False

    @classmethod
    def new(
        cls, suite: str, version: str, checkpoint: CheckpointRevision, now: str
    ) -> CheckpointEntry:
        """The entry of a checkpoint that is registered now."""
        state = EntryState.REGISTERED
        mark = NoticeMark(NoticeKind.REGISTERED, 0, now, state)
        return cls(suite, version, checkpoint, now, now, state, notices=(mark,))

    def key(self, folder: str) -> str:
        """The key of its object in a folder of its suite."""
        return f"suites/{self.suite}/{folder}/{self.version}/{self.checkpoint.revision}.json"

    @property
    def is_open(self) -> bool:
        """Whether a loop still has to work on it."""
        return self.state in OPEN_STATES

    @property
    def is_decided(self) -> bool:
        """Whether its run ended early, and was not judged in full since."""
        return self.state in COMPARED_STATES and self.saved > 0 and not self.is_complete

    @property
    def extent(self) -> str:
        """How far its run was judged: complete, decided or incomplete. The figures of a decided one
        are estimates, as far as they have one. A run that its budget cut short has no findings.
        """
        end = "decided" if self.is_decided and self.findings else "incomplete"
        return "complete" if self.is_complete else end

    @property
    def judged_share(self) -> float:
        """The share of its questions that were asked or reused."""
        judged = self.asked + self.reused
        return judged / (judged + self.saved) if judged else 1.0

    @property
    def order(self) -> tuple[float, str, str]:
        """The sort key: by training step (without one: last), then by registration."""
        step = self.checkpoint.step
        place = float("inf") if step is None else step
        return place, self.registered, self.checkpoint.revision

    def after(self, cause: EntryCause, now: str, **update: Any) -> CheckpointEntry | None:
        """The entry after `cause`, with some fields set; None if the cause cannot change it."""
        state = ENTRY_AFTER.get((self.state, cause))
        if state is None:
            return None
        times: dict[str, Any] = {} if cause in UNDER_WAY else {"since": now}
        if cause is EntryCause.CLAIM:
            times |= {"claims": self.claims + 1, "claimed": now, "started": ""}
        if cause is EntryCause.START:
            times["started"] = now
        after = replace(self, **{"reason": "", **update, "state": state, **times})
        kind, turn = NOTICE_KINDS.get(cause), self.round + (cause in NEW_ROUND)
        if kind is None:
            return after
        claim = self.claims if cause is EntryCause.SERVING else 0
        mark = NoticeMark(kind, turn, now, state, after.reason, claim)
        return replace(after, round=turn, notices=with_mark(self.notices, mark))

    @property
    def headline(self) -> EntryFigure | None:
        """The headline of the first benchmark that has a value of it."""
        return next((figure for figure in self.figures if figure.is_headline), None)

    def figure(self, benchmark: str, path: str) -> EntryFigure | None:
        """A figure, if it has a value."""
        key = (benchmark, path)
        return next((one for one in self.figures if (one.benchmark, one.path) == key), None)

    def to_json(self) -> dict[str, Any]:
        parts = {
            "checkpoint": fields_of(self.checkpoint) | {"tags": list(self.checkpoint.tags)},
            "figures": [fields_of(figure) for figure in self.figures],
            "findings": [dict(finding) for finding in self.findings],
            "notices": [mark.to_json() for mark in self.notices],
        }
        return fields_of(self) | parts

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> CheckpointEntry:
        """Read an entry, ignoring fields of newer releases. Raises InvalidInput."""
        try:
            checkpoint = dict(values["checkpoint"])
            checkpoint["tags"] = tuple(checkpoint.get("tags", ()))
            parts: dict[str, Any] = _field_values(cls, values) | {
                "checkpoint": CheckpointRevision(**_field_values(CheckpointRevision, checkpoint)),
                "state": EntryState(values["state"]),
                "figures": tuple(
                    EntryFigure(**_field_values(EntryFigure, one))
                    for one in values.get("figures", ())
                ),
                "findings": tuple(map(dict, values.get("findings", ()))),
                "notices": tuple(map(NoticeMark.from_json, values.get("notices", ()))),
            }
            return cls(**parts)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(f"not a checkpoint entry: {error!r:.200}") from error


_TYPES: dict[Any, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "float": (int, float),
    "float | None": (int, float, type(None)),
}


def _field_values(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a dataclass's fields. Raises TypeError for a value of the wrong type."""
    by_name = {}
    for each in fields(kind):
        if each.name in values:
            value = values[each.name]
            if not isinstance(value, _TYPES.get(each.type, (object,))):
                raise TypeError(f"{each.name}: {value!r:.40}")
            by_name[each.name] = value
    return by_name


@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """An entry whose object is damaged; `key` names it."""

    key: str
    error: str = field(default="", compare=False)
