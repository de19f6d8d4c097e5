"""The log of a process: lines of text, or of JSON for collectors, on standard error."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Literal

from caliper.pipeline.work.log_subject import subject_ids
from caliper.wiring.settings import Settings

_TEXT = "%(asctime)s %(levelname)s %(name)s %(message)s"


class LogSettings(Settings):
    """`log_format` is `text`, or `json` for one line of JSON per record."""

    log_format: Literal["text", "json"] = "text"

    def configure_log(self) -> None:
        """Log to standard error: all messages of services, only warnings of chatty libraries."""
        handler = logging.StreamHandler()
        handler.setFormatter(
            JsonFormatter() if self.log_format == "json" else logging.Formatter(_TEXT)
        )
        logging.basicConfig(level=logging.INFO, handlers=[handler])
        logging.captureWarnings(capture=True)
        for chatty in ("kafka", "httpx", "httpx2"):
            logging.getLogger(chatty).setLevel(logging.WARNING)
        # It warns of every step longer than 0.1 s, and a busy machine has many.
        logging.getLogger("kafka.net.selector").setLevel(logging.ERROR)
        # kafka.net.connection already logs lost connections; this one adds a traceback for
        # connections that were closed here while being read.
        logging.getLogger("kafka.net.transport").setLevel(logging.CRITICAL)
        # Requests that were cancelled because the service is stopping are no errors.
        logging.getLogger("kafka.cluster").addFilter(
            lambda entry: "Cancelled" not in entry.getMessage()
        )


class JsonFormatter(logging.Formatter):
    """One line of ASCII per record, whatever text it holds: the rest is escaped.

    Nothing else that libraries attach to a record is written: it may hold secrets.
    """

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **subject_ids(),
        }
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        # A lone surrogate is no UTF-8, and strict readers refuse its escape.
        valid = {key: text.encode("utf-8", "replace").decode() for key, text in fields.items()}
        return json.dumps(valid)
