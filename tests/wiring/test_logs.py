import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from tests.fakes.sources import python_path

from caliper.pipeline.work.log_subject import log_subject
from caliper.wiring.logs import JsonFormatter
from caliper.wiring.service_settings import JudgeSettings

RUN = "0123456789abcdef"
SECRET = "not for everybody"
ANY_TEXT = st.text(st.characters())  # with lone surrogates


def told(message: str, **fields: Any) -> dict[str, str]:
    record = logging.makeLogRecord(
        {"name": "caliper.x", "levelname": "WARNING", "created": 1.5, "msg": message, **fields}
    )
    line = JsonFormatter().format(record)
    # ASCII without control characters: no reader of lines finds an end in it.
    assert line.isascii()
    assert line.isprintable()
    found: dict[str, str] = json.loads(line)
    return found


def test_a_record() -> None:
    assert told("%s is %d", args=("x", 1)) == {
        "time": "1970-01-01T00:00:01.500+00:00",
        "level": "WARNING",
        "logger": "caliper.x",
        "message": "x is 1",
    }


@given(text=ANY_TEXT, sample=ANY_TEXT)
def test_text_of_others_stays_in_its_field(text: str, sample: str) -> None:
    with log_subject(f"{RUN}/captionqa/{sample}"):
        found = told("%s", args=(text,))
    valid = {"message": text, "run": RUN, "benchmark": "captionqa", "sample": sample}
    for name, value in valid.items():
        # A lone surrogate is no UTF-8, and strict readers of JSON refuse the line.
        assert found[name] == value.encode("utf-8", "replace").decode("utf-8")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (f"{RUN}/captionqa/a/b", {"run": RUN, "benchmark": "captionqa", "sample": "a/b"}),
        (f"{RUN}/plan", {"run": RUN}),
        (RUN, {"run": RUN}),
        ("nobody's/captionqa/a", {}),
        ("", {}),
    ],
)
def test_the_job_and_its_run(key: str, expected: dict[str, str]) -> None:
    with log_subject(key):
        found = told("x")
    assert {
        name: found[name] for name in found if name in ("run", "benchmark", "sample")
    } == expected
    assert "run" not in told("x")


def test_a_traceback_is_one_field() -> None:
    def fail(token: str) -> None:
        raise ValueError(f"no\nlevel: INFO {SecretStr(token)}")

    try:
        fail(SECRET)
    except ValueError:
        found = told("failed", exc_info=sys.exc_info())
    assert found["traceback"].startswith("Traceback (most recent call last):\n")
    assert found["traceback"].endswith("no\nlevel: INFO **********")
    assert SECRET not in str(found)


def test_what_a_record_carries_beside_its_message_stays_out() -> None:
    settings = JudgeSettings(model_token=SecretStr(SECRET))
    found = told("%s", args=(settings,), token=SECRET, request={"authorization": SECRET})
    assert "model_token=SecretStr('**********')" in found["message"]
    assert SECRET not in str(found)


def judge(folder: Path, **settings: str) -> str:
    """The log of a judge that does not start."""
    given = {f"CALIPER_JUDGE_{name}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "services.judge"]
    environment = os.environ | {"PYTHONPATH": python_path()} | given
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    return ended.stderr


REMOTE = {"LISTEN": "0.0.0.0:0", "STORE_SECRET_KEY": SECRET}


def test_a_service_says_in_json_why_it_ended(tmp_path: Path) -> None:
    (line,) = judge(tmp_path, LOG_FORMAT="json", **REMOTE).splitlines()
    found = json.loads(line)
    assert (found["level"], found["logger"]) == ("CRITICAL", "caliper.wiring.startup")
    assert "CALIPER_JUDGE_TLS_CERTIFICATE" in found["message"]
    assert SECRET not in line


def test_a_service_logs_text_unless_told_otherwise(tmp_path: Path) -> None:
    log = judge(tmp_path, **REMOTE)
    assert re.search(r"^[-\d]+ [\d:,]+ CRITICAL caliper\S+ .*CALIPER_JUDGE_TLS_CERTIFICATE", log)
    assert SECRET not in log


def test_a_defect_that_ends_a_service_is_one_line() -> None:
    program = """
from caliper.wiring.service_settings import JudgeSettings
from caliper.wiring.startup import start
async def build(settings):
    raise RuntimeError("a\\nb")
raise SystemExit(start(JudgeSettings, build))
"""
    environment = os.environ | {"PYTHONPATH": python_path(), "CALIPER_JUDGE_LOG_FORMAT": "json"}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    (line,) = ended.stderr.splitlines()
    assert json.loads(line)["traceback"].endswith("RuntimeError: a\nb")
    assert ended.returncode == 1


def test_a_format_that_does_not_exist(tmp_path: Path) -> None:
    assert "CALIPER_JUDGE_LOG_FORMAT: expected" in judge(tmp_path, LOG_FORMAT="xml")
