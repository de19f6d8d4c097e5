"""A value of the command line that is empty, such as a variable that the shell does not know."""

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command

CAPTIONQA = (
    *("evaluate", "captionqa", "--data", "captionqa.json"),
    *("--captions", "captions/captionqa.json"),
)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        *(((*CAPTIONQA, flag, ""), flag) for flag in ("--reader", "--media", "--store", "--out")),
        ((*CAPTIONQA, "--captioner="), "--captioner"),
        ((*CAPTIONQA, "--set", "protocol=released", "--set", ""), "--set"),
        (("evaluate", "--config", ""), "--config"),
        (("evaluate", "comprecap", "--judge", ""), "--judge"),
        (("compare", "one", "two", "--html", ""), "--html"),
        (("compare", "one", ""), "RUN..."),
        (("gate", "one", "two", "--policy", "policy.yaml", "--junit", ""), "--junit"),
        (("labels", "export", "one", "--out", ""), "--out"),
        (("checkpoint", "add", "", "--suite", "nightly"), "SOURCE"),
        (("checkpoint", "add", "here", "--suite", ""), "--suite"),
    ],
    ids=str,
)
def test_an_empty_value_is_refused(caliper: Command, words: tuple[str, ...], field: str) -> None:
    tiny.write_all(caliper.folder)
    before = set(caliper.folder.iterdir())
    ended = caliper(*words, code=2)
    assert ended.err == f"Error: {field}: the value is empty\n"
    assert set(caliper.folder.iterdir()) == before


def test_an_empty_value_is_one_that_was_not_given_where_that_is_the_default(
    caliper: Command,
) -> None:
    said = caliper("checkpoint", "add", "here", "--revision", "", "--name", "", code=2).err
    assert "is empty" not in said
    assert said == caliper("checkpoint", "add", "here", code=2).err


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "one", "two", "--html"),
        ("leaderboard", "--csv"),
        ("gate", "one", "two", "--policy", "policy.yaml", "--markdown"),
        ("view", "one", "--out"),
        ("trend", "nightly", "--html"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("folder", [".", "/"], ids=["here", "root"])
def test_a_folder_is_no_file_to_write(
    caliper: Command, words: tuple[str, ...], folder: str
) -> None:
    said = caliper(*words, folder, code=2).err
    assert f"Invalid value for '{words[-1]}': file '{folder}' is a directory." in said
