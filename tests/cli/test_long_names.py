"""Names that no file can have are told like any other wrong path."""

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command

LONG = "x" * 300
DATA = ("evaluate", "captionqa", "--data", "captionqa.json")
CAPTIONQA = (*DATA, "--captions", "captions/captionqa.json", "--quiet")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A folder with a run, which commands that are refused leave as it is."""
    folder = tmp_path_factory.mktemp("ran")
    tiny.write_all(folder)
    caliper = Command(folder)
    caliper(*CAPTIONQA, "--coverage-floor", "0", "--out", "run", code=0)
    return caliper


@pytest.mark.parametrize(
    "words",
    [
        ("validate", LONG),
        ("report", LONG),
        ("compare", LONG, LONG),
        ("checkpoint", "add", LONG, "--suite", "nightly"),
        ("evaluate", "captionqa", "--data", LONG, "--captions", LONG),
        (*DATA, "--captions", LONG),
        (*CAPTIONQA, "--out", LONG),
        (*CAPTIONQA, "--store", LONG),
        (*CAPTIONQA, "--media", LONG),
        (*CAPTIONQA, "--reader", f"replay:{LONG}"),
        ("compare", "run", "run", "--html", LONG),
    ],
    ids=lambda words: " ".join(words[:3] + words[-2:]).replace(LONG, "LONG"),
)
def test_a_name_too_long_is_told_in_one_line(ran: Command, words: tuple[str, ...]) -> None:
    said = ran(*words, code=2).err
    told = [line for line in said.splitlines() if not line.startswith("Warning: ")]
    assert len(told) == 1
    assert told[0].startswith("Error: ")
    assert told[0].endswith(": File name too long")
