"""The outcomes of a run by dense index, in compact columns.

Evidence stays in the log; the ledger holds where. Duplicates and order change nothing:
of several verdicts about an index the better one stands (`core.outcome.better`).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from caliper.benchmarks.base import Outcomes
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Outcome, Reason, Scored, Unscored, Verdict, better
from caliper.core.question import Item
from caliper.ports.storage import VerdictLog

_NOTHING, _SCORED, _SILENT = 0, 1, 2
_LARGEST = 2**63 - 1
_REASONS = tuple(Reason)
_CODES = {reason: code for code, reason in enumerate(_REASONS, start=_SILENT + 1)}
# What may come out otherwise when the same job is tried again at another time: an endpoint
# comes back, a picture is put where it was missing.
_PASSING = frozenset(
    {Reason.BACKEND, Reason.TIMEOUT, Reason.INTERNAL, Reason.BUDGET, Reason.MEDIA_MISSING}
)


class Ledger:
    """`size` outcomes, none known at first. `log` holds the evidence.

    Memory: 25 bytes an index.
    """

    def __init__(self, size: int, log: VerdictLog) -> None:
        self._states = bytearray(size)
        self._numerators = array("q", bytes(8 * size))
        self._denominators = array("q", bytes(8 * size))
        self._places = array("q", bytes(8 * size))
        self._log = log
        self.known = 0

    @classmethod
    def resume(cls, size: int, log: VerdictLog) -> Ledger:
        """The ledger of what the log holds. Raises InvalidInput for a foreign log."""
        ledger = cls(size, log)
        for place, verdict in log:
            ledger._enter(verdict, place)
        return ledger

    def merge(self, verdicts: Sequence[Verdict]) -> int:
        """Enter verdicts, keeping the better one where there was one already.

        Returns how many changed something. Raises StoreUnavailable or StoreFull.
        """
        best: dict[int, Verdict] = {}
        for verdict in verdicts:
            rival = best.get(verdict.index)
            best[verdict.index] = verdict if rival is None else better(rival, verdict)
        changed = [verdict for verdict in best.values() if self._improves(verdict)]
        if changed:
            for verdict, place in zip(changed, self._log.append(changed), strict=True):
                self._set(verdict, place)
        return len(changed)

    def _enter(self, verdict: Verdict, place: int) -> None:
        if self._improves(verdict):
            self._set(verdict, place)

    def _improves(self, verdict: Verdict) -> bool:
        if not 0 <= verdict.index < len(self._states):
            raise InvalidInput(f"index {verdict.index} is not of this plan", field="index")
        if self._states[verdict.index] == _NOTHING:
            return True
        standing = self.verdict(verdict.index)
        return standing != verdict and better(standing, verdict) is verdict

    def _set(self, verdict: Verdict, place: int) -> None:
        index = verdict.index
        if self._states[index] == _NOTHING:
            self.known += 1
        self._places[index] = place
        if isinstance(verdict.outcome, Scored):
            score = verdict.outcome.score
            fits = abs(score.numerator) <= _LARGEST and score.denominator <= _LARGEST
            # A denominator of 0 says that the score is too long for a column: the log has it.
            parts = (score.numerator, score.denominator) if fits else (0, 0)
            self._numerators[index], self._denominators[index] = parts
            self._states[index] = _SCORED if verdict.outcome.mentioned else _SILENT
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
        if state in (_SCORED, _SILENT):
            if self._denominators[index] == 0:
                return self.verdict(index).outcome
            score = Fraction(self._numerators[index], self._denominators[index])
            return Scored(score, mentioned=state == _SCORED)
        return Unscored(_REASONS[state - _SILENT - 1])

    def verdict(self, index: int) -> Verdict:
        """The verdict of an index with its evidence. Raises KeyError when it has none."""
        if self._states[index] == _NOTHING:
            raise KeyError(index)
        return self._log.read(self._places[index])

    def outcomes(self, item: Item) -> Outcomes:
        """What is known of an item, by (ordinal, repeat)."""
        return {
            (question.ordinal, repeat): outcome
            for index, question, repeat in item.positions()
            if (outcome := self.outcome(index)) is not None
        }

    def lacks(self, item: Item) -> bool:
        """Whether the item is worth asking (again): an outcome is missing, or what stood
        in its way may have passed.
        """
        return any(
            outcome is None
            or (
                isinstance(outcome, Unscored)
                and outcome.reason in _PASSING
                and question.unscored is None
            )
            for index, question, _ in item.positions()
            for outcome in (self.outcome(index),)
        )

    def count(self, first: int, size: int) -> tuple[int, Mapping[str, int]]:
        """How many of `size` indices from `first` are scored, and the others by reason."""
        codes = Counter(self._states[first : first + size])
        reasons = {str(reason): codes[code] for reason, code in _CODES.items() if codes[code]}
        return codes[_SCORED] + codes[_SILENT], reasons

    def verdicts(self, item: Item) -> Iterator[Verdict | None]:
        """The verdict of every position of an item; None where there is none yet."""
        for index, _, _ in item.positions():
            yield self.verdict(index) if self._states[index] else None
