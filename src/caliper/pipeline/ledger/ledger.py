"""The outcomes of a run by dense index, in compact columns.

Evidence stays in the log; the ledger stores its place there. Duplicates and order change
nothing: of several verdicts about an index, the better one stands (`core.outcome.better`).
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from caliper.benchmarks.base import Outcomes
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.outcome import RETRYABLE, Outcome, Reason, Scored, Unscored, Verdict, better
from caliper.core.question import Item
from caliper.ports.storage import VerdictLog

_UNKNOWN, _SCORED, _SILENT = 0, 1, 2
# States above this are scores with labels; the excess is the number of labels, saturating at 155.
_LABELS = 100
_MAX_LABELS = 255 - _LABELS
_INT64_MAX = 2**63 - 1
_REASONS = tuple(Reason)
_CODES = {reason: code for code, reason in enumerate(_REASONS, start=_SILENT + 1)}
_UNDRAWN = _CODES[Reason.NOT_DRAWN]
_PASSING = frozenset(_CODES[reason] for reason in RETRYABLE)


@dataclass(frozen=True, slots=True)
class OutcomeChange:
    """A verdict was entered: the outcome of its index before (None if unknown) and now.

    Both are equal if only the evidence changed.
    """

    index: int
    before: Outcome | None
    now: Outcome


Standing = Mapping[int, Verdict]
"""Standing verdicts by place, read beforehand from a log that cannot be read synchronously."""


def _int64_array() -> array[int]:
    return array("q")


@dataclass(slots=True)
class Columns:
    """One entry per index: its state, its exact score as numerator and denominator, the place of
    its evidence, and an 8-byte digest of the standing verdict, which identifies redeliveries.

    A denominator of 0 means that the score does not fit in 64 bits: `long` has it by index.
    """

    states: bytearray = field(default_factory=bytearray)
    numerators: array[int] = field(default_factory=_int64_array)
    denominators: array[int] = field(default_factory=_int64_array)
    places: array[int] = field(default_factory=_int64_array)
    digests: array[int] = field(default_factory=_int64_array)
    long: dict[int, Fraction] = field(default_factory=dict)

    @classmethod
    def empty(cls, size: int) -> Columns:
        """Columns of `size` indices, all unknown."""
        numerators, denominators, places, digests = (array("q", bytes(8 * size)) for _ in range(4))
        return cls(bytearray(size), numerators, denominators, places, digests)


class Ledger:
    """The outcomes of `size` indices, all unknown unless `columns` are given.

    `log` holds the evidence. `changes` counts entered and replaced verdicts. Memory: 33 bytes
    per index.
    """

    def __init__(self, size: int, log: VerdictLog, columns: Columns | None = None) -> None:
        self.columns = Columns.empty(size) if columns is None else columns
        self._states = self.columns.states
        self._log = log
        self.known = size - self._states.count(_UNKNOWN)
        self.changes = 0

    def merge(
        self, verdicts: Sequence[Verdict], standing: Standing | None = None
    ) -> list[OutcomeChange]:
        """Append verdicts to the log and enter them; the better of two about an index stands.

        `standing` holds the verdicts at the `contested` places, for a log that cannot read them
        synchronously. Returns the changes. Raises InvalidInput, with nothing entered, for an
        index outside the plan; StoreUnavailable or StoreFull.
        """
        best: dict[int, Verdict] = {}
        for verdict in verdicts:
            rival = best.get(verdict.index)
            best[verdict.index] = verdict if rival is None else better(rival, verdict)
        digests = {index: _digest(verdict) for index, verdict in best.items()}
        accepted = [
            verdict
            for index, verdict in best.items()
            if self._improves(verdict, digests[index], standing)
        ]
        if not accepted:
            return []
        places = self._log.append(accepted)
        changes = [
            OutcomeChange(verdict.index, self.outcome(verdict.index), verdict.outcome)
            for verdict in accepted
        ]
        for verdict, place in zip(accepted, places, strict=True):
            self._set(verdict, digests[verdict.index], place)
        return changes

    def enter(
        self, placed: Iterable[tuple[int, Verdict]], standing: Standing | None = None
    ) -> None:
        """Enter verdicts that the log already holds, each with its place there.

        Raises InvalidInput for an index outside the plan.
        """
        by_place = dict(standing or {})
        for place, verdict in placed:
            digest = _digest(verdict)
            if self._improves(verdict, digest, by_place):
                self._set(verdict, digest, place)
                by_place[place] = verdict

    def contested(self, verdicts: Iterable[Verdict]) -> list[int]:
        """The places of standing verdicts that must be read to compare them with `verdicts`."""
        return [
            self.columns.places[verdict.index]
            for verdict in verdicts
            if 0 <= verdict.index < len(self._states)
            and self._rivals(verdict)
            and self.columns.digests[verdict.index] != _digest(verdict)
        ]

    def _rivals(self, verdict: Verdict) -> bool:
        """Whether the standing verdict and this one are both scored, or both unscored."""
        state = self._states[verdict.index]
        scored = isinstance(verdict.outcome, Scored)
        return state != _UNKNOWN and scored == _is_score(state)

    def _improves(self, verdict: Verdict, digest: int, standing: Standing | None) -> bool:
        index = verdict.index
        if not 0 <= index < len(self._states):
            raise InvalidInput(f"index {index} is not of this plan", field="index")
        if self._states[index] == _UNKNOWN:
            return True
        if self.columns.digests[index] == digest:
            return False
        if not self._rivals(verdict):
            return isinstance(verdict.outcome, Scored)
        place = self.columns.places[index]
        rival = None if standing is None else standing.get(place)
        return better(rival or self._log.read(place), verdict) is verdict

    def _set(self, verdict: Verdict, digest: int, place: int) -> None:
        index, columns = verdict.index, self.columns
        self.known += self._states[index] == _UNKNOWN
        self.changes += 1
        columns.places[index] = place
        columns.digests[index] = digest
        columns.long.pop(index, None)
        if isinstance(verdict.outcome, Scored):
            score = verdict.outcome.score
            fits = abs(score.numerator) <= _INT64_MAX and score.denominator <= _INT64_MAX
            if not fits:
                columns.long[index] = score
            parts = (score.numerator, score.denominator) if fits else (0, 0)
            columns.numerators[index], columns.denominators[index] = parts
            self._states[index] = _state_of(verdict.outcome)
        else:
            self._states[index] = _CODES[verdict.outcome.reason]

    @property
    def finished(self) -> bool:
        """Whether every index has an outcome."""
        return self.known == len(self._states)

    def outcome(self, index: int) -> Outcome | None:
        """The outcome of an index; None if it is unknown, or its question was not drawn."""
        state = self._states[index]
        if state in (_UNKNOWN, _UNDRAWN):
            return None
        if _is_score(state):
            columns = self.columns
            if columns.denominators[index] == 0:
                score = columns.long[index]
            else:
                score = Fraction(columns.numerators[index], columns.denominators[index])
            return Scored(score, state != _SILENT, self.labels(index))
        return Unscored(_REASONS[state - _SILENT - 1])

    def labels(self, index: int) -> int:
        """The number of labels that the verdict of an index lists, at most 155."""
        return max(0, self._states[index] - _LABELS)

    def has_labels(self, least: int) -> bool:
        """Whether any verdict lists at least this many labels."""
        return max(self._states, default=0) >= _LABELS + least

    def verdict(self, index: int) -> Verdict:
        """The verdict of an index with its evidence. Raises KeyError if the index has none."""
        if self._states[index] == _UNKNOWN:
            raise KeyError(index)
        return self._log.read(self.columns.places[index])

    def digest(self) -> str:
        """A digest of the verdicts in the ledger, independent of where their evidence is."""
        state = hashlib.sha256(self._states)
        state.update(self.columns.digests)
        return state.hexdigest()

    def outcomes(self, item: Item) -> Outcomes:
        """The known outcomes of an item, by (ordinal, repeat)."""
        return {
            (question.ordinal, repeat): outcome
            for index, question, repeat in item.positions()
            if (outcome := self.outcome(index)) is not None
        }

    def without(self, indices: Iterable[int]) -> Ledger:
        """A ledger to read, in which the outcomes of some indices are unknown."""
        states = bytearray(self._states)
        for index in indices:
            states[index] = _UNKNOWN
        return Ledger(len(states), self._log, replace(self.columns, states=states))

    def retryable(self) -> set[int]:
        """The indices that are unscored for a retryable reason."""
        return {index for index, state in enumerate(self._states) if state in _PASSING}

    def undrawn(self) -> set[int]:
        """The indices of questions that were not drawn."""
        return {index for index, state in enumerate(self._states) if state == _UNDRAWN}

    def lacks(self, indices: range) -> bool:
        """Whether an index has no outcome yet."""
        return _UNKNOWN in self._states[indices.start : indices.stop]

    def needs_outcome(self, item: Item) -> bool:
        """Whether the item is worth asking (again): an outcome is missing, or unscored for a
        retryable reason.
        """
        states = self._states[item.first : item.first + item.size]
        return any(state == _UNKNOWN or state in _PASSING for state in states)

    def count(self, first: int, size: int) -> tuple[int, Mapping[str, int]]:
        """The number of scored ones among `size` indices from `first`, and of others by reason."""
        codes = Counter(self._states[first : first + size])
        reasons = {str(reason): codes[code] for reason, code in _CODES.items() if codes[code]}
        scored = sum(number for code, number in codes.items() if _is_score(code))
        return scored, reasons

    async def evidence(self, items: Iterable[Item]) -> dict[int, Verdict]:
        """The known verdicts of items on drawn questions, by index. Raises StoreUnavailable."""
        places = {
            index: self.columns.places[index]
            for item in items
            for index, _, _ in item.positions()
            if self._states[index] not in (_UNKNOWN, _UNDRAWN)
        }
        verdicts = await self._log.read_many(places.values())
        return {index: verdicts[place] for index, place in places.items()}


def _state_of(outcome: Scored) -> int:
    if outcome.labels:
        return _LABELS + min(outcome.labels, _MAX_LABELS)
    return _SCORED if outcome.mentioned else _SILENT


def _is_score(state: int) -> bool:
    return state in (_SCORED, _SILENT) or state > _LABELS


def _digest(verdict: Verdict) -> int:
    """An 8-byte digest of the canonical verdict, as a signed integer."""
    data = hashlib.blake2b(canonical_json(verdict.to_json()), digest_size=8).digest()
    return int.from_bytes(data, "big", signed=True)
