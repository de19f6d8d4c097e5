from pathlib import Path

from tests.fakes.command import Command


def test_an_incomplete_run_says_what_it_lacks(caliper: Command, config: Path) -> None:
    flags = ("--config", config, "--coverage-floor", "1", "--out", "run", "--quiet")
    for words in (("evaluate", *flags), ("evaluate", *flags), ("report", "run", "--quiet")):
        ended = caliper(*words, code=1)
        assert ended.out == ""
        # Warnings come before it.
        reason = ended.err.splitlines()[-1]
        assert reason.startswith("Incomplete: CAPability: 10 of 11 questions scored"), ended.err


def test_files_with_unusable_rows_are_named(caliper: Command, config: Path) -> None:
    ended = caliper("validate", "captionqa.json", "--quiet", code=1)
    problem = "doc_1: captionqa.json:1: entry 2: questions[1].answer: '3' is none of the choices"
    assert (ended.out, ended.err) == ("", f"1 problem. The first: {problem}\n")


def test_doctor_names_problems(caliper: Command) -> None:
    ended = caliper("doctor", "--out", "/proc/caliper", "--quiet", code=1)
    assert ended.out == ""
    assert ended.err.startswith("disk: ")
    assert len(ended.err.splitlines()) == 1
