"""Log lines of services, of which some are left out."""

import logging
from logging import LogRecord

import pytest

from caliper.wiring.logs import LineLimit, LogSettings

WORKER = "caliper.pipeline.work.worker"


def record(name: str, when: float, text: str = "lost") -> LogRecord:
    line = LogRecord(name, logging.ERROR, "file", 1, text, None, None)
    line.created = when
    return line


def passed(*records: LogRecord) -> list[str]:
    limit = LineLimit(("kafka", WORKER))
    return [f"{line.created:g} {line.getMessage()}" for line in records if limit.filter(line)]


def test_a_noisy_library_logs_one_line_per_minute() -> None:
    minutes = [record(f"kafka.net.{number % 3}", 100 + number / 9) for number in range(9 * 150)]
    assert passed(*minutes) == [
        "100 lost",
        "160 lost (539 more lines since)",
        "220 lost (539 more lines since)",
    ]


def test_lines_of_others_are_not_left_out() -> None:
    others = [record(name, 100) for name in ("kafkaesque", "caliper.serving.guard", "root")] * 2
    assert len(passed(*others)) == 6
    assert passed(record("kafka", 100, "one"), record(WORKER, 100, "two")) == ["100 one", "100 two"]


def test_a_clock_that_is_set_back_silences_nobody() -> None:
    assert passed(record("kafka.a", 100), record("kafka.b", 20)) == ["100 lost", "20 lost"]


def test_services_leave_lines_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Without the handlers of pytest.
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    LogSettings().configure_log()
    for number in range(3):
        logging.getLogger("kafka.net.connection").error("Connection lost: %d", number)
        logging.getLogger(WORKER).warning("work is paused: %d", number)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ", 2)[2] for line in lines] == [
        "ERROR kafka.net.connection Connection lost: 0",
        f"WARNING {WORKER} work is paused: 0",
    ]
