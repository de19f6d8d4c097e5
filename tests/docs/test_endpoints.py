"""The tests that docs/endpoints.md names for each fault are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "endpoints.md").read_text("utf-8")
NAMED = re.compile(r"`(?:(tests/[\w/]+\.py)::(\w+))?(?:\[([^\]`]+)\])?`")


def test_every_named_test_and_case_exists() -> None:
    source, cases = "", 0
    for path, test, case in NAMED.findall(PAGE.partition("## Faults")[2]):
        if path:
            source = (ROOT / path).read_text("utf-8")
            assert re.search(rf"^(?:async )?def {test}\(", source, re.MULTILINE), test
        if case:
            cases += 1
            assert f'"{case}": ' in source, case
    assert cases > 25


def test_every_case_of_the_faults_is_named() -> None:
    faults = (ROOT / "tests" / "standalone" / "test_endpoint_faults.py").read_text("utf-8")
    for case in re.findall(r'^    "([^"]+)": [(\[]', faults, re.MULTILINE):
        assert f"[{case}]" in PAGE, case
