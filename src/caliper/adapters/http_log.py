"""The log shared by our plain HTTP servers."""

from __future__ import annotations

import logging

from aiohttp.http_exceptions import HttpProcessingError

LOG = logging.getLogger(__name__)
"""The servers' own log. A malformed request, or one whose first line is too long, is answered with
400 and not logged: operators can do nothing about it.
"""


def _is_ours(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


LOG.addFilter(_is_ours)
