"""Lossless conversion of verdicts to and from messages."""

from __future__ import annotations

import re
from fractions import Fraction

from caliper.adapters.wire.enums import decode_reason, encode_reason
from caliper.adapters.wire.text import from_wire, to_wire
from caliper.api.types.v1 import outcome_pb2
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Evidence, Outcome, Reason, Scored, Unscored, Verdict
from caliper.core.report import VerdictRow

_LARGEST_NUMERATOR = 2**63 - 1
_LARGEST_DENOMINATOR = 2**64 - 1
_EXACT = re.compile("(-?[0-9]+)/([0-9]+)")


def encode_verdict(verdict: Verdict) -> outcome_pb2.Verdict:
    """A message that `decode_verdict` reads back to an equal verdict.

    Raises ValueError for an index outside 0 to 2**32 - 1, which no plan has.
    """
    message = outcome_pb2.Verdict(index=verdict.index)
    if isinstance(verdict.outcome, Scored):
        _encode_score(verdict.outcome, message.score)
    else:
        message.unscored = encode_reason(verdict.outcome.reason)
    evidence = verdict.evidence
    if evidence.reply:
        message.evidence.reply = to_wire(evidence.reply)
    if evidence.explanation:
        message.evidence.explanation = to_wire(evidence.explanation)
    if evidence.repaired:
        message.evidence.repaired = True
    return message


def _encode_score(outcome: Scored, message: outcome_pb2.Score) -> None:
    numerator, denominator = outcome.score.as_integer_ratio()
    if abs(numerator) <= _LARGEST_NUMERATOR and denominator <= _LARGEST_DENOMINATOR:
        message.numerator, message.denominator = numerator, denominator
    else:
        message.exact = f"{numerator}/{denominator}"
    message.unmentioned = not outcome.mentioned
    message.labels = outcome.labels


def decode_verdict(message: outcome_pb2.Verdict) -> Verdict:
    """The verdict that `encode_verdict` wrote. Raises InvalidInput for anything else."""
    evidence = Evidence()
    if message.HasField("evidence"):
        part = message.evidence
        reply, explanation = from_wire(part.reply), from_wire(part.explanation)
        evidence = Evidence(reply, explanation, part.repaired)
    return Verdict(message.index, _decode_outcome(message), evidence)


def _decode_outcome(message: outcome_pb2.Verdict) -> Outcome:
    match message.WhichOneof("outcome"):
        case "score":
            score = message.score
            return Scored(_decode_score(score), not score.unmentioned, score.labels)
        case "unscored":
            return Unscored(decode_reason(message.unscored))
        case _:
            raise InvalidInput("a verdict lacks its outcome")


def _decode_score(message: outcome_pb2.Score) -> Fraction:
    numerator, denominator = message.numerator, message.denominator
    if message.exact:
        match = _EXACT.fullmatch(message.exact)
        if match is None:
            raise InvalidInput("a score is no fraction")
        try:
            numerator, denominator = int(match[1]), int(match[2])
        except ValueError as error:  # Longer than Python's limit for int().
            raise InvalidInput(f"a score is too long: {error}") from error
    if denominator == 0:
        raise InvalidInput("a score lacks its denominator")
    return Fraction(numerator, denominator)


def encode_row(row: VerdictRow) -> outcome_pb2.VerdictRow:
    """A message that `decode_row` reads back to an equal row."""
    return outcome_pb2.VerdictRow(
        index=row.index,
        benchmark=row.benchmark,
        dimension=to_wire(row.dimension),
        item=to_wire(row.item),
        sample=to_wire(row.sample),
        cluster=to_wire(row.cluster),
        media=[to_wire(path) for path in row.media],
        question_id=row.question_id,
        question=to_wire(row.question),
        expected=to_wire(row.expected),
        repeat=row.repeat,
        outcome=to_wire(row.outcome),
        score=row.score,
        reason=encode_reason(Reason(row.reason)) if row.reason else None,
        explanation=to_wire(row.explanation),
        reply=to_wire(row.reply),
        repaired=row.repaired,
        judge=to_wire(row.judge),
    )


def decode_row(message: outcome_pb2.VerdictRow) -> VerdictRow:
    """The row that `encode_row` wrote. Raises InvalidInput for anything else."""
    return VerdictRow(
        index=message.index,
        benchmark=message.benchmark,
        dimension=from_wire(message.dimension),
        item=from_wire(message.item),
        sample=from_wire(message.sample),
        cluster=from_wire(message.cluster),
        media=tuple(from_wire(path) for path in message.media),
        question_id=message.question_id,
        question=from_wire(message.question),
        expected=from_wire(message.expected),
        repeat=message.repeat,
        outcome=from_wire(message.outcome),
        score=message.score if message.HasField("score") else None,
        reason=str(decode_reason(message.reason)) if message.reason else "",
        explanation=from_wire(message.explanation),
        reply=from_wire(message.reply),
        repaired=message.repaired,
        judge=from_wire(message.judge),
    )
