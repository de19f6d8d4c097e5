"""Notices about checkpoints in suites, and their deliveries.

A notice holds names, figures and the gate's reasons, never captions. The error of a failed
evaluation may quote captions, so it stays with the entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.errors import InvalidInput
from caliper.core.keys import digest, fields_of
from caliper.core.notice_marks import NoticeKind, NoticeMark

MOST_ATTEMPTS = 60
"""The maximum number of delivery attempts per target: about two days."""
_LONGEST_NAME, _LONGEST_REASON, _MOST_FIGURES, _MOST_TAGS = 200, 1_000, 500, 32
_WITH_FIGURES = {NoticeKind.DECIDED, NoticeKind.PASSED, NoticeKind.REGRESSED}


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice. `id` is derived from entry, round, kind and, for some kinds, the claim, so that
    recipients can drop duplicates. `state` is the one after the transition; `time` is UTC in
    RFC 3339.

    `figures` are the report's (headlines first, 500 at most); `baseline` is a revision.
    """

    id: str
    kind: NoticeKind
    time: str
    suite: str
    version: str
    checkpoint: str
    revision: str
    state: str
    step: int | None = None
    tags: tuple[str, ...] = ()
    reason: str = ""
    run: str = ""
    baseline: str = ""
    figures: tuple[EntryFigure, ...] = ()

    @classmethod
    def of(cls, entry: CheckpointEntry, mark: NoticeMark) -> Notice:
        """The notice for a mark, with the entry's figures unless it was retried since."""
        one = entry.checkpoint
        key = [entry.suite, entry.version, one.revision, mark.round, mark.kind]
        notice = cls(
            digest([*key, mark.claim] if mark.claim else key)[:16],
            mark.kind,
            mark.time,
            entry.suite,
            entry.version,
            one.name[:_LONGEST_NAME],
            one.revision,
            mark.state,
            one.step,
            tuple(tag[:_LONGEST_NAME] for tag in one.tags[:_MOST_TAGS]),
        )
        if mark.kind is NoticeKind.FAILED:
            return replace(notice, reason="see `caliper checkpoint show`")
        notice = replace(notice, reason=mark.reason[:_LONGEST_REASON])
        if mark.kind not in _WITH_FIGURES or mark.round != entry.round:
            return notice
        figures = sorted(entry.figures, key=lambda each: not each.is_headline)[:_MOST_FIGURES]
        return replace(notice, run=entry.run, baseline=entry.baseline, figures=tuple(figures))

    @property
    def headline(self) -> str:
        """One line for people."""
        step = "" if self.step is None else f" (step {self.step:,})"
        scores = ", ".join(
            f"{each.benchmark} {each.value:.1f}" for each in self.figures if each.is_headline
        )
        end = f": {scores}" if scores else ""
        state = self.state if self.kind is NoticeKind.DECIDED else self.kind
        return f"{self.suite}: {self.checkpoint}{step} {state}{end}"

    def to_json(self) -> dict[str, Any]:
        figures = [fields_of(figure) for figure in self.figures]
        return fields_of(self) | {"tags": list(self.tags), "figures": figures}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Notice:
        """Read a notice. Raises TypeError, KeyError or ValueError."""
        names = cls.__dataclass_fields__
        plain = {name: value for name, value in values.items() if name in names}
        figures = tuple(EntryFigure(**each) for each in values["figures"])
        parts = {"kind": NoticeKind(values["kind"]), "tags": tuple(values["tags"])}
        return cls(**{**plain, **parts, "figures": figures})


@dataclass(frozen=True, slots=True)
class NoticeDelivery:
    """The delivery of a notice to one target. `due` is the time of the next attempt, in seconds
    since 1970; `delivered` the time of success, in RFC 3339; `error` is that of the last attempt.
    The target asked to receive no notices until `held`, in seconds since 1970.
    """

    attempts: int = 0
    due: float = 0.0
    delivered: str = ""
    error: str = ""
    held: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether there will be another attempt."""
        return not self.delivered and self.attempts < MOST_ATTEMPTS


@dataclass(frozen=True, slots=True)
class NoticeRecord:
    """A notice and its deliveries, by the target's name."""

    notice: Notice
    deliveries: Mapping[str, NoticeDelivery] = field(default_factory=dict)

    def undelivered(self, names: Iterable[str]) -> list[str]:
        """Those of the named targets to which it was not delivered yet."""
        return [
            name
            for name in names
            if name in self.deliveries and not self.deliveries[name].delivered
        ]

    def to_json(self) -> dict[str, Any]:
        deliveries = {name: fields_of(each) for name, each in self.deliveries.items()}
        return {"notice": self.notice.to_json(), "deliveries": deliveries}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> NoticeRecord:
        """Read a record. Raises InvalidInput."""
        try:
            deliveries = {
                name: NoticeDelivery(**each) for name, each in values["deliveries"].items()
            }
            return cls(Notice.from_json(values["notice"]), deliveries)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(f"not a notice record: {error!r:.200}") from error
