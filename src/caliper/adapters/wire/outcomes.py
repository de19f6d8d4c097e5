"""Lossless conversion of verdicts to and from messages."""

from __future__ import annotations

import re
from fractions import Fraction

from caliper.adapters.wire.enums import decode_reason, encode_reason
from caliper.adapters.wire.fields import decode_fields, encode_fields
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
            raise InvalidInput("a score is not a fraction")
        try:
            numerator, denominator = int(match[1]), int(match[2])
        except ValueError as error:  # Longer than Python's limit for int().
            raise InvalidInput(f"a score is too long: {error}") from error
    if denominator == 0:
        raise InvalidInput("a score lacks its denominator")
    return Fraction(numerator, denominator)


def encode_row(row: VerdictRow) -> outcome_pb2.VerdictRow:
    """A message that `decode_row` reads back to an equal row."""
    reason = encode_reason(Reason(row.reason)) if row.reason else None
    return encode_fields(outcome_pb2.VerdictRow, row, reason=reason)


def decode_row(message: outcome_pb2.VerdictRow) -> VerdictRow:
    """The row that `encode_row` wrote. Raises InvalidInput for anything else."""
    reason = str(decode_reason(message.reason)) if message.reason else ""
    return decode_fields(VerdictRow, message, reason=reason)
