"""`caliper analyze comprecap` on runs over the tiny data."""

import json
from dataclasses import replace
from pathlib import Path

import PIL.Image
import pytest
from tests.fakes import tiny
from tests.fakes.command import Command
from tests.fakes.java import java_stand_in
from tests.fakes.sources import EXAMPLES, ROOT, published

CAPTIONS = {"one": "A dog catches a frisbee.", "two": "A doggy. A thing.", "three": "A tree."}
_QA = {"p": "compreqa_p", "cap": "compreqa_cap"}
_FITS = "Which fits the 'frisbee'? A. A white frisbee. B. A black frisbee. C. A red frisbee."


def write_runs(caliper: Command, captions: dict[str, str]) -> None:
    """Runs over the scene of the tiny data, named as their models, and one caption each."""
    tiny.write_all(caliper.folder)
    for name, text in captions.items():
        tiny.value(caliper.folder / "captions.json", {"park.jpg": text})
        data = ("--data", "anno.json", "--captions", "captions.json", "--coverage-floor", "0.5")
        words = ("--name", name, "--out", f"runs/{name}", "--quiet")
        caliper("evaluate", "comprecap", *data, *words, code=0)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Runs of three models by the lexical judge, one that answered CompreQA, and one with another
    judge.
    """
    caliper = Command(tmp_path_factory.mktemp("analyze"))
    root = caliper.folder
    tiny.write_all(root)
    cap = {"image_name": "park.jpg", "category": "frisbee", "question": _FITS, "answer": "A"}
    tiny.value(root / "compreqa" / "compreqa_cap.json", [cap])
    reply = {"image": "park.jpg", "kind": "cap", "index": 0, "response": "B"}
    tiny.lines(root / "compreqa_answers" / "compreqa_cap.jsonl", [reply])
    qa = ("--qa", "compreqa", "--qa-replies", "compreqa_answers")
    for name, text in CAPTIONS.items():
        tiny.value(root / f"{name}.json", {"park.jpg": text})
    for name, caption, *flags in (
        ("one", "one", *qa),
        ("two", "two"),
        ("three", "three"),
        ("judged", "one", "--judge", "replay:scenes_judged", "--repeats", "1"),
    ):
        data = ("--data", "anno.json", "--captions", f"{caption}.json")
        label = ("--name", name, "--out", f"runs/{name}", "--quiet", "--coverage-floor", "0.5")
        caliper("evaluate", "comprecap", *data, *flags, *label, code=0)
    (root / "people.csv").write_text("model,score\none,4\ntwo,2.5\nthree,1\n")
    rows = [f"{name},park.jpg,{score}" for name, score in (("one", 5), ("two", 3), ("three", 0))]
    (root / "captions.csv").write_text("\n".join(["model,image_id,score", *rows]))
    tiny.value(root / "references.json", {"park.jpg": ["A brown dog catches a white frisbee."]})
    return caliper


THREE = ("one", "two", "three")
JAVA = """
    if isinstance(line, dict):
        return 0.5
    return [" ".join(["0.0"] * 23)] if line[0] == "S" else ["0.0"] * (line.count("|||") + 1)
"""


def test_every_analysis_of_stored_runs(ran: Command) -> None:
    found = ran("analyze", "comprecap", *THREE, "judged", "--people", "people.csv", "--json").told
    assert found["runs"] == list(THREE)
    assert found["other_runs"] == ["judged"]
    models = {one["metric"]: one["estimate"] for one in found["people"]["models"]}
    assert models["S-unified"]["kendall"]["value"] == 1
    assert found["people"]["captions"] == []
    (answers,) = found["compreqa"]["runs"]
    groups = {(one["kind"], one["part"]): one for one in answers["groups"]}
    assert groups["p", "present"]["accuracy"]["value"] == 100
    assert groups["cap", "all"]["accuracy"]["value"] == 0
    assert [each["threshold"] for each in found["ablations"]["thresholds"]][:2] == [0, 0.3]
    (setup,) = found["ablations"]["setups"]
    assert "judge" in setup["differing"][0]
    assert [run["name"] for run in found["coverage"]["runs"]] == list(THREE)


def test_figures_without_a_threshold_are_those_of_the_report(ran: Command) -> None:
    found = ran("analyze", "comprecap", *THREE, "--threshold", "0.99", "--json", code=0).told
    for place, name in enumerate(THREE):
        report = json.loads((ran.folder / f"runs/{name}/report.json").read_text())
        figures = report["benchmarks"]["comprecap"]
        first, last = (each["runs"][place] for each in found["ablations"]["thresholds"])
        for metric, value in first["figures"].items():
            assert value == pytest.approx(figures[metric], abs=1e-6), metric
        assert first["left_out"] == last["left_out"] == 0
        assert last["figures"]["s_object"] <= first["figures"]["s_object"]


def test_pictures_that_were_not_drawn_are_no_part_of_it(caliper: Command) -> None:
    scenes = EXAMPLES / "comprecap" / "anno.json"
    captions = EXAMPLES / "captions" / "careless" / "comprecap.json"
    flags = ("--data", scenes, "--captions", captions, "--judge-share", "0.5", "--quiet")
    caliper("evaluate", "comprecap", *flags, "--out", "runs/drawn", code=0)
    whole = json.loads((caliper.folder / "runs/drawn/report.json").read_text())
    figures = whole["benchmarks"]["comprecap"]
    found = caliper("analyze", "comprecap", "drawn", "--threshold", "1", "--json", code=0).told
    (coverage,) = found["coverage"]["runs"]
    assert (coverage["pictures"], coverage["unscored"]) == (
        figures["counts"]["objects"]["n_scored"],
        0,
    )
    assert 0 < coverage["pictures"] < 7
    judged, strict = (each["runs"][0] for each in found["ablations"]["thresholds"])
    assert judged["figures"] == {name: pytest.approx(figures[name]) for name in judged["figures"]}
    counted = figures["counts"]
    phrases = counted["attribute"]["n_scored"] + counted["relation"]["n_scored"]
    assert strict["phrases"] == phrases


def test_runs_are_compared_over_the_pictures_of_all(caliper: Command) -> None:
    scenes = EXAMPLES / "comprecap" / "anno.json"
    whole = EXAMPLES / "captions" / "careless" / "comprecap.json"
    few = json.loads(whole.read_text())
    del few["coffee.jpg"], few["rocket.jpg"]
    tiny.value(caliper.folder / "few.json", few)
    for name, captions, code in (("whole", whole, 0), ("few", "few.json", 1)):
        flags = ("--data", scenes, "--captions", captions, "--quiet", "--out", f"runs/{name}")
        caliper("evaluate", "comprecap", *flags, "--name", name, code=code)
    words = ("analyze", "comprecap", "whole", "few", "--partial", "--threshold", "0.5", "--json")
    found = caliper(*words, code=0).told
    # The captions are the same, and so are all figures.
    for variant in found["ablations"]["thresholds"]:
        assert variant["runs"][0]["figures"] == variant["runs"][1]["figures"]
    assert [run["pictures"] for run in found["coverage"]["runs"]] == [5, 5]
    for name in ("people", "compreqa", "ablations", "coverage"):
        assert found[name]["remark"].startswith("2 pictures are left out: not all runs")


def test_tables_and_a_page(ran: Command) -> None:
    flags = ("--people", "captions.csv", "--references", "references.json", "--html", "page.html")
    ended = ran("analyze", "comprecap", *THREE, *flags, code=0)
    page = (ran.folder / "page.html").read_text()
    for title in (
        "Over models (Table 3)",
        "Over captions",
        "Answers from the pictures",
        "CompreQA-Cap by area",
        "S-unified by similarity threshold",
        "tau with people",
        "Objects by area",
        "BLEU-4",
    ):
        assert title in ended.out
        assert title in page
    # Charts are drawn where the paper has figures.
    assert page.count('class="charted"') >= 4
    assert 'aria-label="S-unified against people' in page


def test_people_agree_with_metrics_in_java(ran: Command) -> None:
    (ran.folder / "some.jar").touch()
    java_stand_in(ran.folder / "java", JAVA)
    java = replace(ran, environment={"JAVA_HOME": str(ran.folder / "java")})
    jars = ("--references", "references.json", "--meteor", "some.jar", "--spice", "some.jar")
    words = (*THREE, "--people", "captions.csv", "--only", "people", *jars, "--json")
    found = java("analyze", "comprecap", *words, code=0).told["people"]
    for part in ("models", "captions"):
        assert [one["metric"] for one in found[part]][-2:] == ["METEOR", "SPICE"]
    assert {one["metrics"]["SPICE"] for one in found["scored"]} == {0.5}


def test_clip_scores_are_correlated_too(caliper: Command, triton: str) -> None:
    """The stand-in for CLIP knows only these two words."""
    write_runs(caliper, {"one": "near", "two": "far", "three": "near"})
    PIL.Image.new("RGB", (8, 8)).save(caliper.folder / "park.jpg")
    tiny.value(caliper.folder / "references.json", {"park.jpg": ["near"]})
    (caliper.folder / "people.csv").write_text("model,score\none,3\ntwo,1\nthree,2\n")
    spec = f"triton:{triton}/clip_like"
    clip = ("--text-embedder", spec, "--picture-embedder", spec, "--media", ".")
    flags = ("--people", "people.csv", "--only", "people", "--references", "references.json")
    found = caliper("analyze", "comprecap", *THREE, *flags, *clip, "--json", code=0).told["people"]
    scored = {one["name"]: one["metrics"] for one in found["scored"]}
    assert scored["one"]["CLIPScore"] == pytest.approx(2.5 * 0.6)
    assert scored["two"]["CLIPScore"] == 0
    assert [one["metric"] for one in found["models"]][-2:] == ["CLIPScore", "RefCLIPScore"]


def test_metrics_of_ones_own_are_correlated_too(ran: Command) -> None:
    """Of S_Llama3, one model's caption has no score, and another model has no run."""
    rows = ["model,image_id,S_Llama3,mine", "one,park.jpg,4.5,1", "two,park.jpg,2,", "z,a.jpg,1,1"]
    (ran.folder / "own.csv").write_text("\n".join([*rows, "three,park.jpg,0.5,3"]))
    flags = ("--people", "captions.csv", "--scores", "own.csv", "--only", "people")
    found = ran("analyze", "comprecap", *THREE, *flags, "--json", code=0).told["people"]
    scored = {one["name"]: one["metrics"] for one in found["scored"]}
    assert (scored["one"]["S_Llama3"], scored["one"]["mine"]) == (4.5, 1)
    assert "mine" not in scored["two"]
    for part in ("models", "captions"):
        estimates = {one["metric"]: one["estimate"] for one in found[part]}
        assert estimates["S_Llama3"]["kendall"]["value"] == 1
        assert estimates["mine"]["models"] == 2
    assert "S_Llama3" in ran("analyze", "comprecap", *THREE, *flags, code=0).out


def test_table_3_of_the_paper_from_scores_of_ones_own(caliper: Command) -> None:
    """S_Llama3 (Table S4) and S-unified (Table S3) of eleven models, by their names."""
    direct, ours = (
        ROOT / "tests" / "golden" / f"comprecap_table_{name}.csv" for name in ("s4", "2_s3")
    )
    names = [row["model"] for row in published(direct.name)]
    write_runs(caliper, dict.fromkeys(names, "A tree."))
    for file, metric, printed in (
        (direct, "overall", (0.816, 0.309, 0.445)),
        # Printed: .989; r is .9865 from the rounded cells.
        (ours, "s_unified", (0.9865, 0.927, 0.982)),
    ):
        words = ("--people", file, "--column", "human", "--scores", file, "--only", "people")
        found = caliper("analyze", "comprecap", *names, *words, "--json", code=0).told["people"]
        (one,) = (each["estimate"] for each in found["models"] if each["metric"] == metric)
        coefficients = [one[name]["value"] for name in ("pearson", "kendall", "spearman")]
        assert one["models"] == 11
        assert coefficients == pytest.approx(printed, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model,mine\none,high\n", "own.csv:2: mine: expected a number, found 'high'"),
        ("model,mine\none,1\none,1\n", "own.csv:3: model: the model appears twice"),
        ("model,mine\nz,1\n", "own.csv: mine: no score of a measured model or caption"),
        ("model\none\n", "own.csv: no column of a metric"),
        ("mine\n1\n", "own.csv: model: no such column; there are: mine"),
        ("image_id,mine\npark.jpg,1\n", "own.csv: model: no such column"),
        (
            "model,image_id,mine\none,a,1\none,a,1\n",
            "own.csv:3: image_id: the caption of a by one is scored twice",
        ),
        ("model,S-unified\none,1\n", "own.csv:1: S-unified: a metric of Caliper has this name"),
    ],
)
def test_scores_of_ones_own_that_cannot_be_used(ran: Command, text: str, told: str) -> None:
    (ran.folder / "own.csv").write_text(text)
    words = ("--people", "people.csv", "--scores", "own.csv")
    ended = ran("analyze", "comprecap", *THREE, *words, code=2)
    assert told in ended.err
    assert ended.err.count("Error:") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("one", "--only", "beauty"), "unknown analysis 'beauty'"),
        (("one", "one"), "have the same label, one"),
        (("one", "--references", "references.json"), "it is only used with --people"),
        (("one", "--scores", "own.csv"), "--scores: it is only used with --people"),
        (("one", "--media", "."), "--media: it is only used with --references"),
        (("one", "--meteor", "meteor.jar"), "--meteor: it is only used with --references"),
        (("one", "--people", "nobody.csv"), "nobody.csv"),
        (("one", "--people", "captions.csv", "--column", "beauty"), "beauty"),
        (("one", "--tagger", "beauty"), "unknown tagger 'beauty'"),
        (("one", "--threshold", "2"), "--threshold"),
    ],
)
def test_bad_input_is_one_error(ran: Command, words: tuple[str, ...], told: str) -> None:
    ended = ran("analyze", "comprecap", *words, code=2)
    assert told in ended.err


def test_each_analysis_says_what_it_needs(ran: Command) -> None:
    ended = ran("analyze", "comprecap", "two", "--only", "people", "--only", "compreqa", code=3)
    assert "--people PATH" in ended.out
    assert "--qa" in ended.out


def test_other_benchmarks_have_no_scenes(caliper: Command, config: Path) -> None:
    flags = ("--data", "captionqa.json", "--captions", "captions/captionqa.json", "--quiet")
    caliper("evaluate", "captionqa", *flags, "--coverage-floor", "0.5", "--out", "questions")
    assert "has no CompreCap" in caliper("analyze", "comprecap", "questions", code=2).err
