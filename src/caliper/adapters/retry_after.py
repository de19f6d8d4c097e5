"""The header Retry-After of HTTP responses."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after(value: str | None, date: str | None) -> float | None:
    """Seconds to wait according to a Retry-After header: a number, or a date (RFC 9110 10.2.3).

    A date is compared with the response's own Date header, so that clocks need not agree, or
    with this machine's clock if there is none. None if the header is missing or malformed.
    """
    if value is None:
        return None
    if re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", value):
        return float(value)
    until = _http_date(value)
    if until is None:
        return None
    now = _http_date(date or "") or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _http_date(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
