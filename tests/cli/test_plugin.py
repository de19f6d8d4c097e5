"""A benchmark that a package of its own adds: that of examples/extending, installed."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.command import Command, end, wait_for
from tests.fakes.plugin import SOURCE, installed

FILES = ("--data", "things.jsonl", "--captions", "captions.json")


@pytest.fixture
def mentions(tmp_path: Path) -> Command:
    """The command, with the package beside Caliper and its data in the test's folder."""
    for name in ("things.jsonl", "captions.json"):
        (tmp_path / name).write_bytes((SOURCE / name).read_bytes())
    return Command(tmp_path, {**installed(tmp_path / "site"), "CALIPER_STORE": "there"})


@pytest.fixture
def server(mentions: Command) -> Iterator[str]:
    process = mentions.start("serve", "--listen", "127.0.0.1:0", "--store", "there")
    yield wait_for(process, r"Serving on (\S+)")[1]
    assert end(process, signal.SIGTERM).code == 0


def test_it_is_evaluated_compared_and_reported(mentions: Command) -> None:
    first = mentions("evaluate", "mentions", *FILES, "--out", "one", "--json", code=0).told
    (part,) = first["benchmarks"].values()
    assert (part["mentioned"], part["n_scored"]) == (75.0, 8)
    assert part["settings"]["package"] == "caliper-mentions 1.0"
    captions = json.loads((mentions.folder / "captions.json").read_text("utf-8"))
    captions["hall.jpg"] = "A dog sleeps on a rug below a lamp."
    (mentions.folder / "captions.json").write_text(json.dumps(captions), "utf-8")
    mentions("evaluate", "mentions", *FILES, "--out", "two", code=0)
    compared = mentions("compare", "one", "two", code=0).out
    assert "1 better, 0 worse, 7 unchanged" in compared
    assert "Mentions" in mentions("report", "two", code=0).out
    assert "mentions data: 3 items, 8 questions" in (
        mentions("validate", "things.jsonl", "--as", "mentions", code=0).out
    )


def test_the_services_make_the_same_report(server: str, mentions: Command) -> None:
    evaluate = ("evaluate", "mentions", *FILES, "--json")
    here = mentions(*evaluate, "--out", "here", code=0)
    there = mentions(*evaluate, "--server", server, "--out", "elsewhere", code=0)
    assert there.out == here.out
    written = (mentions.folder / "elsewhere" / "report.json").read_text("utf-8")
    assert written == here.out


def test_other_benchmarks_have_the_same_runs_beside_it(
    mentions: Command, caliper: Command, config: Path
) -> None:
    """No digest of theirs depends on what else is installed."""
    alone = caliper("evaluate", "--config", config, "--out", "alone", "--json")
    beside = mentions("evaluate", "--config", config, "--out", "beside", "--json")
    assert beside.out == alone.out


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ("import caliper_nothing\n", "cannot be imported: ModuleNotFoundError"),
        ("BENCHMARK = 1\n", "caliper_mentions.benchmark:BENCHMARK is no Benchmark of that name"),
    ],
)
def test_one_that_is_broken_is_named(mentions: Command, broken: str, problem: str) -> None:
    module = mentions.folder / "site" / "caliper_mentions" / "benchmark.py"
    module.write_text(broken, "utf-8")
    ended = mentions("evaluate", "mentions", *FILES, "--out", "one", code=2)
    assert "the package caliper-mentions 1.0" in ended.err
    assert problem in ended.err
    assert "Traceback" not in ended.err


def test_a_name_that_is_taken_is_refused(mentions: Command) -> None:
    (points,) = (mentions.folder / "site").glob("*.dist-info/entry_points.txt")
    points.write_text(points.read_text("utf-8").replace("mentions =", "captionqa ="), "utf-8")
    ended = mentions("evaluate", "captionqa", *FILES, "--out", "one", code=2)
    assert "Caliper has one of the same name" in " ".join(ended.err.split())
