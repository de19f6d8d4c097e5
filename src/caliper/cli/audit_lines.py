"""The audit lines of commands that change an installation, on standard error."""

from __future__ import annotations

import getpass
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from caliper.core.errors import error_policy
from caliper.serving.audit import LOGGER, AuditRecord
from caliper.serving.tokens import Caller, Role
from caliper.wiring.logs import log_audit_lines


@contextmanager
def audit_line(command: str, changed: str = "") -> Iterator[AuditRecord]:
    """Write an audit line about the change inside, with the caller's account and machine.

    If no object was named, nothing was changed and no line is written.
    """
    record = AuditRecord(f"caliper {command}", Caller(_account(), Role.ADMIN), changed)
    try:
        yield record
    except BaseException as error:
        status = error_policy(error).grpc_status if isinstance(error, Exception) else "CANCELLED"
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
        # The account's number has no name, as in many containers.
        return ""
