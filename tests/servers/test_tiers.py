"""`make test` and `make test-rest` are together all tests, which `make test-all` runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest
from tests.fakes.sources import ROOT
from tests.servers import tiers
from tests.servers.tiers import LONG

# Tests of both kinds, on memory and on Kafka, simulated and not.
SOME = (
    "tests/adapters/streams/test_kafka_log.py",
    "tests/analysis/test_gate.py",
    "tests/analysis/test_simulated_gate.py",
    "tests/services/test_blank_captions.py",
    "tests/services/test_faults_full.py",
    # A folder: `make test` does not read the file in it.
    "tests/model_servers",
)


def of_make(target: str) -> list[str]:
    """What pytest is given by a target of the Makefile beside the folders to test."""
    told = subprocess.run(
        ["make", "--dry-run", "--always-make", target, "PYTEST_ARGS="],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = (line for line in told.stdout.splitlines() if "-m pytest" in line)
    return shlex.split(line.partition("-m pytest")[2])


def collected(*options: str) -> list[str]:
    """The ids of the tests that pytest would run."""
    plain = ("--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *plain, *SOME, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in ended.stdout.splitlines() if "::" in line]


def test_two_parts_are_all() -> None:
    first, rest, everything = (
        collected(*of_make(target)) for target in ("test", "test-rest", "test-all")
    )
    assert sorted(first + rest) == sorted(everything)
    assert len(set(everything)) == len(everything)
    assert {test.partition("::")[0] for test in rest} >= {SOME[2], SOME[4]}
    assert {test.partition("::")[0] for test in first} >= {SOME[1], SOME[3]}
    kafka = {test for test in everything if "streams/test_kafka_log.py" in test}
    assert kafka <= set(rest)


def test_a_test_whose_file_does_not_show_what_it_needs(request: pytest.FixtureRequest) -> None:
    item = request.node
    item.fixturenames.append("kafka")
    item.path = ROOT / "tests/adapters/streams/test_kafka_log.py"
    assert tiers.in_rest(item)
    item.path = ROOT / "tests/core/test_tally.py"
    with pytest.raises(pytest.UsageError, match="what_it_needs: its file names no fixture"):
        tiers.in_rest(item)


@pytest.mark.parametrize("pattern", LONG)
def test_a_pattern_of_long_files_names_some(pattern: str) -> None:
    assert list((ROOT / "tests").rglob(pattern))


def test_what_reasons_name_exists() -> None:
    names = re.findall(r"\w+(?:/[\w.]+)+|test_\w+", " ".join(LONG.values()))
    assert {"pipeline/comparing", "test_lazy", "docs/python.md"} <= set(names)
    for name in names:
        places = (f"tests/{name}", f"tests/{name}.py", name)
        assert any((ROOT / place).exists() for place in places), name


def test_what_a_change_must_pass_are_both_parts() -> None:
    ran = re.findall(r"^ *make (.+)$", (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE)
    words = " ".join(ran).replace("${history:+release}", "release").split()
    targets = [word for word in words if word.isalpha() or "test-" in word]
    assert targets == ["lint", "wheel", "servers", "release", "test", "test-rest"]
