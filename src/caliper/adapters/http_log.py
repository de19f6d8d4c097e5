"""What our servers of plain HTTP have in common."""

from __future__ import annotations

import logging

from aiohttp.http_exceptions import HttpProcessingError

LOG = logging.getLogger(__name__)
"""What such a server says of itself. That a request was no HTTP, or its first line too long, is
told to who sent it (400), and is no line in the log of people who can do nothing about it.
"""


def _is_ours(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


LOG.addFilter(_is_ours)
