import json
import os
import pty
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes import tiny
from tests.fakes.command import Command

CAPABILITY = ("--data", "capability", "--captions", "captions/capability")
CAPTIONQA = ("--data", "captionqa.json", "--captions", "captions/captionqa.json")
COMPRECAP = ("--data", "anno.json", "--captions", "captions/comprecap.json")


def run_yaml(folder: Path) -> Any:
    return yaml.safe_load((folder / "run.yaml").read_text())


def test_version_and_a_command_that_nobody_named(caliper: Command) -> None:
    assert caliper("--version", code=0).out.startswith("caliper ")
    assert "Usage: caliper" in caliper(code=2).out
    assert "evaluat" in caliper("evaluat", code=2).err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "compare"),
        (("evaluate",), "captionqa"),
        (("evaluate", "capability"), "--judge"),
        (("evaluate", "captionqa"), "--reader"),
        (("evaluate", "comprecap"), "--tagger"),
        (("plan", "comprecap"), "--embedder"),
        (("report",), "RUN"),
        (("compare",), "Exit code 3"),
        (("validate",), "--as"),
    ],
)
def test_help_of_every_command(caliper: Command, words: tuple[str, ...], told: str) -> None:
    shown = caliper(*words, "--help", code=0)
    assert told in shown.out
    assert shown.err == ""
    # Markup that was meant for rich and got through, or was swallowed by it.
    assert "[/" not in shown.out
    if "capability" in words:
        assert "chat:URL[,URL...][#model[@revision]]" in shown.out
        assert "[default: 64]" in shown.out


def test_shell_completion(tmp_path: Path) -> None:
    asked = {"_CALIPER_COMPLETE": "complete_bash", "COMP_WORDS": "caliper ev", "COMP_CWORD": "1"}
    assert Command(tmp_path, asked)(code=0).out.split() == ["evaluate"]


def test_each_benchmark_by_its_own_flags_and_by_rules(caliper: Command, config: Path) -> None:
    """Without a word about models everything runs by rules, in its default directory."""
    for name, flags in (
        ("capability", CAPABILITY),
        ("captionqa", CAPTIONQA),
        ("comprecap", COMPRECAP),
    ):
        ended = caliper("evaluate", name, *flags, "--json", code=0)
        (part,) = ended.told["benchmarks"].values()
        assert "lexical" in "".join(part["models"].values())
        assert "never for comparison with published figures" in "".join(part["notes"])
        # The checkpoint is called after its captions.
        assert ended.told["name"] == name
        (kept,) = caliper.folder.glob(f"runs/{name}-*")
        assert kept.name == f"{name}-{run_yaml(kept)['run']}"


def test_quiet_prints_nothing(caliper: Command, config: Path) -> None:
    quiet = caliper("evaluate", "comprecap", *COMPRECAP, "--quiet", "--out", "run", code=0)
    assert (quiet.out, quiet.err) == ("", "")
    assert caliper("plan", "comprecap", *COMPRECAP, "-q", code=0).out == ""
    assert caliper("report", "run", "-q", code=0).out == ""
    assert caliper("validate", "run", "-q", code=0).out == ""


def test_plan_tells_what_a_run_would_take_and_writes_nothing(
    caliper: Command, config: Path
) -> None:
    before = sorted(caliper.folder.rglob("*"))
    told = caliper("plan", "--config", config, "--json", code=0).told
    assert {one["benchmark"]: one["questions"] for one in told["benchmarks"]} == {
        "capability": 11,
        "captionqa": 10,
        "comprecap": 5,
    }
    assert told["directory"] == f"runs/tiny-{told['run']}"
    assert sorted(caliper.folder.rglob("*")) == before
    caliper("evaluate", "--config", config, "--quiet", code=0)
    assert (caliper.folder / told["directory"] / "report.json").exists()
    table = caliper("plan", "--config", config, code=0).out
    assert f"run {told['run']} in runs/tiny-" in table


def test_a_flag_beats_set_beats_the_file_beats_the_default(caliper: Command, config: Path) -> None:
    written = yaml.safe_load(config.read_text())
    written |= {"seed": 5, "limit": 3}
    written["benchmarks"]["captionqa"]["set"] = {"max_tokens": 9, "reading": "released"}
    config.write_text(yaml.safe_dump(written))
    caliper(
        *("evaluate", "--config", config, "--out", "run", "--quiet", "--seed", "7"),
        *("--set", "max_tokens=12", "--set", "comprecap.weights=table2", "--repeats", "1"),
        code=0,
    )
    spec = run_yaml(caliper.folder / "run")["spec"]
    assert (spec["seed"], spec["limit"], spec["name"]) == (7, 3, "tiny")
    settings = {part["name"]: part["settings"] for part in spec["benchmarks"]}
    assert (
        settings["captionqa"] | {"max_tokens": "12", "reading": "released"} == settings["captionqa"]
    )
    assert settings["captionqa"]["yes_no"] == "released"
    assert settings["comprecap"]["weights"] == "table2"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("--set", "shufle=question"), "'shufle'; known: blank_caption, caption_fence, "),
        (("--set", "shuffle"), "--set: expected KEY=VALUE"),
        (("--set", "capability.shuffle=question"), "unknown setting"),
        (("--prompt", "detailed"), "'detailed'; known: simple, short, long, taxonomy"),
        (("--reader", "gpt"), "unknown model 'gpt'; known: lexical, chat:URL[,URL...][#model[@rev"),
        (("--reader", "chat:ftp://host"), "must start with http"),
        (("--judge", "lexical"), "No such option"),
        (("--repeats", "0"), "expected at least 1, found 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_told_with_what_can(
    caliper: Command, config: Path, wrong: tuple[str, str], told: str
) -> None:
    ended = caliper("evaluate", "captionqa", *CAPTIONQA, *wrong, code=2)
    assert told in " ".join(ended.err.split())
    assert "Traceback" not in ended.err
    assert ended.out == ""
    assert not list(caliper.folder.glob("runs/*"))


def test_options_before_the_name_of_a_benchmark_are_not_lost(
    caliper: Command, config: Path
) -> None:
    for words in (("--name", "x"), ("--config", config), ("--json",), ("--set", "a=b")):
        ended = caliper("evaluate", *words, "captionqa", *CAPTIONQA, code=2)
        assert "options of captionqa go after its name" in ended.err
    assert "--config" in caliper("evaluate", code=2).err


def test_an_unknown_variable_of_the_environment_is_an_error(tmp_path: Path) -> None:
    tiny.write_all(tmp_path)
    caliper = Command(tmp_path, {"CALIPER_TIMOUT": "3"})
    ended = caliper("evaluate", "captionqa", *CAPTIONQA, code=2)
    assert "'CALIPER_TIMOUT'; known: CALIPER_TOKEN, " in ended.err
    caliper = Command(tmp_path, {"CALIPER_RETRY_BUDGET": "soon"})
    assert "CALIPER_RETRY_BUDGET" in caliper("evaluate", "captionqa", *CAPTIONQA, code=2).err


def test_a_kept_run_is_found_shown_and_compared(caliper: Command, config: Path) -> None:
    caliper("evaluate", "--config", config, "--quiet", "--out", "runs/first", code=0)
    captions = caliper.folder / "captions" / "captionqa.json"
    captions.write_text(json.dumps({"nat_1": "Nothing.", "doc_1": "Signed by Bob."}))
    caliper("evaluate", "captionqa", *CAPTIONQA, "--quiet", "--out", "runs/second", code=0)
    caliper("evaluate", "comprecap", *COMPRECAP, "--quiet", "--out", "elsewhere", code=0)

    told = caliper("report", "first", "--json", code=0).told
    assert told["benchmarks"]["comprecap"]["s_unified"] == 86
    refused = caliper("compare", "first", "second", code=2)
    assert "captionqa model reader: replay" in refused.err
    shown = caliper("compare", "first", "second", "--anyway", code=0)
    assert "Differs: captionqa model reader" in shown.err
    compared = caliper("compare", "first", "second", "--anyway", "--json", code=0).told
    score = compared["candidates"][0]["figures"]["captionqa"]["overall.score"]
    assert score["value"] == score["second"] - score["first"]
    assert score["first"] == 31.25

    apart = caliper("compare", "second", "elsewhere", "--json", code=3)
    assert apart.told["candidates"][0]["figures"] == {}
    assert "share no benchmark" in caliper("compare", "second", "elsewhere", code=3).out
    lost = caliper("report", "third", code=2)
    assert "below runs/ there are: first, second" in lost.err


def test_a_run_directory_that_was_copied_elsewhere(caliper: Command, config: Path) -> None:
    caliper("evaluate", "--config", config, "--quiet", "--out", "run", code=0)
    (caliper.folder / "run").rename(caliper.folder / "moved")
    moved = caliper.folder / "moved"
    before = (moved / "report.json").read_bytes()
    (moved / "report.json").write_bytes(before.replace(b'"complete"', b'"finished"'))
    refused = caliper("export", "moved", "--to", "csv:figures", code=2)
    assert "report.json: not the file written" in refused.err
    for name in ("report.json", "report.html", "verdicts.parquet"):
        (caliper.folder / "moved" / name).unlink()
    for name in ("capability", "captions", "captionqa.json", "anno.json"):
        (caliper.folder / name).rename(caliper.folder / f"old-{name}")
    caliper("report", "moved", code=0)
    assert (caliper.folder / "moved" / "report.json").read_bytes() == before
    assert (caliper.folder / "moved" / "report.html").exists()
    caliper("export", "moved", "--to", "csv:figures", code=0)


def test_places_are_told_as_they_are(caliper: Command, config: Path) -> None:
    planned = caliper("plan", "--config", config, "--out", "[bold]x[/bold]", code=0)
    assert "in [bold]x[/bold]" in planned.out
    ended = caliper("evaluate", "--config", config, "--out", "[red]x", code=0)
    assert "[red]x/report.html" in ended.out


def test_an_option_is_not_blamed_on_the_file(caliper: Command, config: Path) -> None:
    ended = caliper("plan", "--config", config, "--limit", "0", code=2)
    assert "Error: --limit: expected at least 1, found 0" in ended.err


def test_nobody_reads_our_output(caliper: Command, config: Path) -> None:
    process = caliper.start("plan", "--config", config, "--json")
    assert process.stdout is not None
    process.stdout.close()
    process.wait(timeout=60)
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.returncode == 4


def test_progress_on_a_terminal(tmp_path: Path) -> None:
    """A line a stage with rate and running score, on standard error only."""
    tiny.write_scenes(tmp_path, 300)
    ours, theirs = pty.openpty()
    process = Command(tmp_path, {"TERM": "xterm"}).start(
        *("evaluate", "capability", "--data", "data", "--captions", "captions", "--json"),
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 65536):
            seen += piece
    except OSError:
        pass  # How Linux says that the other end has gone.
    finally:
        os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(out)["state"] == "complete"
    assert b"300/300" in seen
    assert b"/s" in seen
    assert b"average, F1" in seen
