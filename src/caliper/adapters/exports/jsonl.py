"""verdicts.jsonl: one line per (question, repeat)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from caliper.adapters.exports.rows import record
from caliper.adapters.files import encoded, replacing
from caliper.core.report import Report, VerdictRow


class JsonLinesExport:
    """Writes verdicts.jsonl line by line; columns as in `rows.record`."""

    def write(
        self,
        report: Report,  # noqa: ARG002 - the port hands every sink the same
        verdicts: Iterator[VerdictRow],
        directory: Path,
    ) -> Path:
        """Write the rows in the order given and return the file. Raises StoreFull."""
        path = directory / "verdicts.jsonl"
        with replacing(path) as file:
            for row in verdicts:
                line = json.dumps(record(row), ensure_ascii=False, allow_nan=False)
                file.write(encoded(line + "\n"))
        return path
