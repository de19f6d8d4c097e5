"""What packages of others add: a benchmark as `caliper new` writes it, and a backend."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from tests.fakes.command import Command, end, wait_for
from tests.fakes.plugin import install

FILES = ("--data", "things.jsonl", "--captions", "captions.json")
# Says yes to what has an e in it.
YES = "program:sh -c 'grep -q \"thing? [a-z]*e\" && echo yes || echo no'#vowel@1"


@pytest.fixture
def mentions(tmp_path: Path, caliper: Command) -> Command:
    """The command in the folder of the package, which is installed, as is a backend."""
    folder = tmp_path / "package"
    caliper("new", "benchmark", "mentions", "--out", folder, code=0)
    return Command(folder, install(folder))


def module(mentions: Command) -> Path:
    return mentions.folder / "caliper_mentions" / "benchmark.py"


def test_what_new_writes_passes_its_own_test(tmp_path: Path, caliper: Command) -> None:
    ended = caliper("new", "benchmark", "two_words", code=0)
    folder = caliper.folder / "two_words"
    assert "two_words written" in ended.out
    written = [file.read_text("utf-8") for file in folder.rglob("*") if file.is_file()]
    assert "mentions" not in "".join(written).lower()
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env=Command(folder, install(folder))._environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in tested.stdout, tested.stdout + tested.stderr


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


def test_the_services_make_the_same_report_by_a_backend_of_a_package(mentions: Command) -> None:
    served = ("serve", "--listen", "127.0.0.1:0", "--store", "there", "--judge", YES)
    process = mentions.start(*served)
    server = wait_for(process, r"Serving on (\S+)")[1]
    evaluate = ("evaluate", "mentions", *FILES, "--json")
    here = mentions(*evaluate, "--judge", YES, "--out", "here", code=0)
    there = mentions(*evaluate, "--server", server, "--out", "elsewhere", code=0)
    assert end(process, signal.SIGTERM).code == 0
    assert there.out == here.out
    (part,) = here.told["benchmarks"].values()
    assert part["mentioned"] == 25.0
    assert part["models"]["judge"] == "vowel (program of caliper-program 1.0, 1)"


def test_a_backend_of_a_package_writes_captions(mentions: Command) -> None:
    for name in ("hall", "yard", "pier"):
        Image.new("RGB", (8, 8)).save(mentions.folder / f"{name}.jpg")
    captioner = "program:sh -c 'grep -q mime && echo A dog near a tree.'#dogs@1"
    data = ("--data", "things.jsonl", "--captioner", captioner)
    told = mentions("evaluate", "mentions", *data, "--out", "one", "--json", code=0).told
    (part,) = told["benchmarks"].values()
    assert part["mentioned"] == 25.0
    assert part["models"]["captioner"] == "dogs (program of caliper-program 1.0, 1)"


def test_runs_of_others_are_the_same_beside_it_also_where_it_is_broken(
    mentions: Command, caliper: Command, config: Path
) -> None:
    """No digest of theirs depends on what else is installed."""
    alone = caliper("evaluate", "--config", config, "--out", "alone", "--json")
    beside = mentions("evaluate", "--config", config, "--out", "beside", "--json")
    assert beside.out == alone.out
    module(mentions).write_text("import caliper_nothing\n", "utf-8")
    (module(mentions).parent / "prompts" / "mention.yaml").write_text("nothing", "utf-8")
    again = mentions("evaluate", "--config", config, "--out", "again", "--json")
    assert (again.code, again.out) == (alone.code, alone.out)
    listed = mentions("plugins", "--json", code=1)
    assert [(each["group"], each["name"], each["problem"]) for each in listed.told] == [
        (
            "caliper.benchmarks",
            "mentions",
            "it cannot be imported: ModuleNotFoundError(\"No module named 'caliper_nothing'\")",
        ),
        ("caliper.backends", "program", ""),
    ]


def test_all_are_listed(mentions: Command, caliper: Command) -> None:
    shown = mentions("plugins", code=0).out.split()
    for word in ("caliper.benchmarks", "caliper-mentions", "1.0", "program", "ok"):
        assert word in shown
    assert caliper("plugins", code=0).out == "No plug-ins are installed.\n"


def test_one_that_is_broken_is_named(mentions: Command) -> None:
    module(mentions).write_text("BENCHMARK = 1\n", "utf-8")
    ended = mentions("evaluate", "mentions", *FILES, "--out", "one", code=2)
    assert "the package caliper-mentions 1.0" in ended.err
    assert "caliper_mentions.benchmark:BENCHMARK is not a Benchmark of that name" in ended.err
    assert "Traceback" not in ended.err
