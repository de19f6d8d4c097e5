from pathlib import Path

import pytest
from tests.fakes.command import Command

COMPRECAP = (
    *("evaluate", "comprecap", "--data", "anno.json"),
    *("--captions", "captions/comprecap.json", "--out", "run"),
)


@pytest.mark.parametrize(
    "flags", [("--name", "a\nb"), ("--name", "\x1b[31mred", "--server", "x:1")]
)
def test_a_name_that_is_no_line_of_text(
    caliper: Command, config: Path, flags: tuple[str, ...]
) -> None:
    ended = caliper(*COMPRECAP, *flags, code=2)
    assert "Error: name: expected printable characters only, found" in ended.err
    assert not (caliper.folder / "run").exists()


def test_a_name_that_no_installation_would_take(caliper: Command, config: Path) -> None:
    ended = caliper(*COMPRECAP, "--name", 201 * "x", code=2)
    assert "Error: name: expected 1 to 200 characters" in ended.err
    assert not (caliper.folder / "run").exists()


def test_captions_whose_file_has_no_name_for_a_checkpoint(caliper: Command, config: Path) -> None:
    odd = caliper.folder / "captions" / "two\nlines.json"
    odd.write_bytes((caliper.folder / "captions" / "comprecap.json").read_bytes())
    command = [str(odd) if part == "captions/comprecap.json" else part for part in COMPRECAP]
    assert "Error: name: " in caliper(*command, code=2).err
    caliper(*command, "--name", "ours", "--quiet", code=0)
