"""The audit lines of commands that change an installation, on standard error."""

from __future__ import annotations

import getpass
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from caliper.core.errors import handling
from caliper.serving.audit import LOGGER, AuditRecord
from caliper.serving.tokens import Caller, Role
from caliper.wiring.logs import log_audit_lines


@contextmanager
def audit_line(command: str, changed: str = "") -> Iterator[AuditRecord]:
    """Change an installation inside; the line names the account and the machine of who does.

    Without the name of an object nothing was changed, and there is no line.
    """
    record = AuditRecord(f"caliper {command}", Caller(_account(), Role.ADMIN), changed)
    try:
        yield record
    except BaseException as error:
        status = handling(error).grpc_status if isinstance(error, Exception) else "CANCELLED"
        record.outcome = status or "INTERNAL"
        raise
    finally:
        if record.object:
            log_audit_lines()
            logging.getLogger(LOGGER).info(record.line(socket.gethostname()))


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # Its number has no name here, as in many containers.
        return ""
