"""The log of a process: lines of text, or of JSON for collectors, on standard error."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from caliper.pipeline.work import worker
from caliper.pipeline.work.log_subject import subject_ids
from caliper.serving.audit import LOGGER, AuditLine
from caliper.wiring.settings import Settings

_TEXT = "%(asctime)s %(levelname)s %(name)s %(message)s"
_MINUTE = 60.0


class LogSettings(Settings):
    """`log_format` is `text`, or `json` for one line of JSON per record."""

    log_format: Literal["text", "json"] = "text"

    def configure_log(self) -> None:
        """Log to standard error: all messages of services, only warnings of chatty libraries.

        While a broker or store is away, its clients repeat themselves many times a second, and so
        does each job that waits for it.
        """
        handler = logging.StreamHandler()
        handler.addFilter(LineLimit(("kafka", "urllib3", worker.__name__)))
        handler.setFormatter(
            JsonFormatter() if self.log_format == "json" else logging.Formatter(_TEXT)
        )
        logging.basicConfig(level=logging.INFO, handlers=[handler])
        logging.captureWarnings(capture=True)
        for chatty in ("kafka", "httpx", "httpx2"):
            logging.getLogger(chatty).setLevel(logging.WARNING)
        # It warns of every step longer than 0.1 s: frequent on a busy machine.
        logging.getLogger("kafka.net.selector").setLevel(logging.ERROR)
        # kafka.net.connection already logs lost connections; this one adds a traceback for
        # connections that were closed here while being read.
        logging.getLogger("kafka.net.transport").setLevel(logging.CRITICAL)
        # Requests cancelled because the service is stopping are not errors.
        logging.getLogger("kafka.cluster").addFilter(
            lambda entry: "Cancelled" not in entry.getMessage()
        )


def log_audit_lines() -> None:
    """Log the audit lines of a command to standard error, as JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    log = logging.getLogger(LOGGER)
    log.setLevel(logging.INFO)
    log.handlers = [handler]


class JsonFormatter(logging.Formatter):
    """One line of ASCII per record: other characters are escaped.

    An audit line has fields of its own. Other attributes that libraries attach to a record are not
    written: they may hold secrets.
    """

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
        }
        if isinstance(record.msg, AuditLine):
            return json.dumps(fields | {"message": "audit"} | record.msg.fields())
        fields |= {"message": record.getMessage(), **subject_ids()}
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        # A lone surrogate is not UTF-8, and strict readers refuse its escape.
        valid = {key: text.encode("utf-8", "replace").decode() for key, text in fields.items()}
        return json.dumps(valid)


class LineLimit(logging.Filter):
    """Passes one line per minute of each group of loggers, with the number of lines left out.

    A group is named by the common parent of its loggers.
    """

    def __init__(self, groups: Sequence[str]) -> None:
        super().__init__()
        self._groups = groups
        # By group: the time of the last line, and the number of lines left out since.
        self._lines: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is logged."""
        for group in self._groups:
            if f"{record.name}.".startswith(f"{group}."):
                return self._is_due(record, group)
        return True

    def _is_due(self, record: logging.LogRecord, group: str) -> bool:
        last, left_out = self._lines.get(group, (-_MINUTE, 0))
        if 0 <= record.created - last < _MINUTE:
            self._lines[group] = last, left_out + 1
            return False
        self._lines[group] = record.created, 0
        if left_out:
            record.msg, record.args = f"{record.getMessage()} ({left_out} more lines since)", None
        return True
