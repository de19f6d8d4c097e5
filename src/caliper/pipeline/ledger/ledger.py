"""The outcomes of a run by dense index, in compact columns.

Evidence stays in the log; the ledger holds where. Duplicates and order change nothing:
of several verdicts about an index the better one stands (`core.outcome.better`).
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from caliper.benchmarks.base import Outcomes
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.outcome import PASSING, Outcome, Reason, Scored, Unscored, Verdict, better
from caliper.core.question import Item
from caliper.ports.storage import VerdictLog

_NOTHING, _SCORED, _SILENT = 0, 1, 2
# Scored, with as many labels as the state is above this; more than fit are as many as do.
_LABELS = 100
_MOST_LABELS = 255 - _LABELS
_LARGEST = 2**63 - 1
_REASONS = tuple(Reason)
_CODES = {reason: code for code, reason in enumerate(_REASONS, start=_SILENT + 1)}
_PASSING = frozenset(_CODES[reason] for reason in PASSING)


@dataclass(frozen=True, slots=True)
class OutcomeChange:
    """A verdict was entered: the outcome of its index before, None where there was none, and now.

    They are equal where only the evidence is another.
    """

    index: int
    before: Outcome | None
    now: Outcome


Standing = Mapping[int, Verdict]
"""Verdicts by place that a log had to be asked for beforehand."""


def _whole_numbers() -> array[int]:
    return array("q")


@dataclass(slots=True)
class Columns:
    """The state of every index; its score as numerator and denominator, exact; the place of
    its evidence; a digest of the standing verdict, 8 bytes, that tells a redelivered one.

    A denominator of 0 says that the score does not fit: `long` has it by index.
    """

    states: bytearray = field(default_factory=bytearray)
    numerators: array[int] = field(default_factory=_whole_numbers)
    denominators: array[int] = field(default_factory=_whole_numbers)
    places: array[int] = field(default_factory=_whole_numbers)
    digests: array[int] = field(default_factory=_whole_numbers)
    long: dict[int, Fraction] = field(default_factory=dict)

    @classmethod
    def empty(cls, size: int) -> Columns:
        """Columns of `size` indices of which nothing is known."""
        numerators, denominators, places, digests = (array("q", bytes(8 * size)) for _ in range(4))
        return cls(bytearray(size), numerators, denominators, places, digests)


class Ledger:
    """`size` outcomes, none known at first. `log` holds the evidence.

    `changes` counts what was entered or replaced. Memory: 33 bytes an index.
    """

    def __init__(self, size: int, log: VerdictLog, columns: Columns | None = None) -> None:
        self.columns = Columns.empty(size) if columns is None else columns
        self._states = self.columns.states
        self._log = log
        self.known = size - self._states.count(_NOTHING)
        self.changes = 0

    def merge(
        self, verdicts: Sequence[Verdict], standing: Standing | None = None
    ) -> list[OutcomeChange]:
        """Enter verdicts, keeping the better one where there was one already.

        `standing` are the verdicts at the `contested` places, for a log that cannot read
        them at once. Returns what changed. Raises InvalidInput, with nothing entered, for an
        index that is not of this plan; StoreUnavailable or StoreFull.
        """
        best: dict[int, Verdict] = {}
        for verdict in verdicts:
            rival = best.get(verdict.index)
            best[verdict.index] = verdict if rival is None else better(rival, verdict)
        digests = {index: _digest(verdict) for index, verdict in best.items()}
        changed = [
            verdict
            for index, verdict in best.items()
            if self._improves(verdict, digests[index], standing)
        ]
        if not changed:
            return []
        places = self._log.append(changed)
        found = [OutcomeChange(one.index, self.outcome(one.index), one.outcome) for one in changed]
        for verdict, place in zip(changed, places, strict=True):
            self._set(verdict, digests[verdict.index], place)
        return found

    def enter(
        self, placed: Iterable[tuple[int, Verdict]], standing: Standing | None = None
    ) -> None:
        """Enter verdicts that the log holds already, each with its place there.

        Raises InvalidInput for an index that is not of this plan.
        """
        held = dict(standing or {})
        for place, verdict in placed:
            digest = _digest(verdict)
            if self._improves(verdict, digest, held):
                self._set(verdict, digest, place)
                held[place] = verdict

    def contested(self, verdicts: Iterable[Verdict]) -> list[int]:
        """The places of what stands and can only be compared with `verdicts` word by word."""
        return [
            self.columns.places[verdict.index]
            for verdict in verdicts
            if 0 <= verdict.index < len(self._states)
            and self._rivals(verdict)
            and self.columns.digests[verdict.index] != _digest(verdict)
        ]

    def _rivals(self, verdict: Verdict) -> bool:
        """Whether what stands is a score as well, or none as well."""
        state = self._states[verdict.index]
        scored = isinstance(verdict.outcome, Scored)
        return state != _NOTHING and scored == _is_score(state)

    def _improves(self, verdict: Verdict, digest: int, standing: Standing | None) -> bool:
        index = verdict.index
        if not 0 <= index < len(self._states):
            raise InvalidInput(f"index {index} is not of this plan", field="index")
        if self._states[index] == _NOTHING:
            return True
        if self.columns.digests[index] == digest:
            return False
        if not self._rivals(verdict):
            return isinstance(verdict.outcome, Scored)
        place = self.columns.places[index]
        known = None if standing is None else standing.get(place)
        return better(known or self._log.read(place), verdict) is verdict

    def _set(self, verdict: Verdict, digest: int, place: int) -> None:
        index, columns = verdict.index, self.columns
        self.known += self._states[index] == _NOTHING
        self.changes += 1
        columns.places[index] = place
        columns.digests[index] = digest
        columns.long.pop(index, None)
        if isinstance(verdict.outcome, Scored):
            score = verdict.outcome.score
            fits = abs(score.numerator) <= _LARGEST and score.denominator <= _LARGEST
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
        """The outcome of an index, None when it has none yet."""
        state = self._states[index]
        if state == _NOTHING:
            return None
        if _is_score(state):
            columns = self.columns
            if columns.denominators[index] == 0:
                score = columns.long[index]
            else:
                score = Fraction(columns.numerators[index], columns.denominators[index])
            return Scored(score, state != _SILENT, max(0, state - _LABELS))
        return Unscored(_REASONS[state - _SILENT - 1])

    def verdict(self, index: int) -> Verdict:
        """The verdict of an index with its evidence. Raises KeyError when it has none."""
        if self._states[index] == _NOTHING:
            raise KeyError(index)
        return self._log.read(self.columns.places[index])

    def digest(self) -> str:
        """Tells ledgers apart that hold other verdicts, wherever their evidence is."""
        held = hashlib.sha256(self._states)
        held.update(self.columns.digests)
        return held.hexdigest()

    def outcomes(self, item: Item) -> Outcomes:
        """What is known of an item, by (ordinal, repeat)."""
        return {
            (question.ordinal, repeat): outcome
            for index, question, repeat in item.positions()
            if (outcome := self.outcome(index)) is not None
        }

    def passing(self) -> set[int]:
        """The indices without a score for a reason that may have passed."""
        return {index for index, state in enumerate(self._states) if state in _PASSING}

    def lacks(self, item: Item) -> bool:
        """Whether the item is worth asking (again): an outcome is missing, or what stood
        in its way may have passed.
        """
        states = self._states[item.first : item.first + item.size]
        return any(state == _NOTHING or state in _PASSING for state in states)

    def count(self, first: int, size: int) -> tuple[int, Mapping[str, int]]:
        """How many of `size` indices from `first` are scored, and the others by reason."""
        codes = Counter(self._states[first : first + size])
        reasons = {str(reason): codes[code] for reason, code in _CODES.items() if codes[code]}
        scored = sum(number for code, number in codes.items() if _is_score(code))
        return scored, reasons

    async def evidence(self, items: Iterable[Item]) -> dict[int, Verdict]:
        """The verdicts of items by index, of those that have one. Raises StoreUnavailable."""
        places = {
            index: self.columns.places[index]
            for item in items
            for index, _, _ in item.positions()
            if self._states[index] != _NOTHING
        }
        found = await self._log.read_many(places.values())
        return {index: found[place] for index, place in places.items()}


def _state_of(outcome: Scored) -> int:
    if outcome.labels:
        return _LABELS + min(outcome.labels, _MOST_LABELS)
    return _SCORED if outcome.mentioned else _SILENT


def _is_score(state: int) -> bool:
    return state in (_SCORED, _SILENT) or state > _LABELS


def _digest(verdict: Verdict) -> int:
    """8 bytes of the canonical verdict, as a signed number."""
    written = hashlib.blake2b(canonical_json(verdict.to_json()), digest_size=8).digest()
    return int.from_bytes(written, "big", signed=True)
