"""`caliper metrics`, as users run it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.command import Command
from tests.fakes.java import GOLDEN as FILE
from tests.fakes.java import java_stand_in

GOLDEN = json.loads(FILE.read_text("utf-8"))
CAPTIONS, REFERENCES = GOLDEN["captions"], GOLDEN["references"]


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def coco(folder: Path) -> Path:
    annotations = [
        {"id": 100 * int(image) + number, "image_id": int(image), "caption": text}
        for image, texts in REFERENCES.items()
        for number, text in enumerate(texts)
    ]
    images = [{"id": int(image), "file_name": f"{int(image):012}.jpg"} for image in REFERENCES]
    return write(folder / "annotations.json", {"images": images, "annotations": annotations})


def test_figures_are_those_of_cocos_evaluation(caliper: Command) -> None:
    results = [{"image_id": int(image), "caption": text} for image, text in CAPTIONS.items()]
    write(caliper.folder / "results.json", results)
    coco(caliper.folder)
    words = ("metrics", "results.json", "--references", "annotations.json")
    told = caliper(*words, "--json", code=0).told
    assert told["images"] == len(CAPTIONS)
    found = told["models"]["results"]
    assert {name: one["value"] for name, one in found.items()} == {
        name: pytest.approx(one["whole"], abs=1e-6) for name, one in GOLDEN["metrics"].items()
    }
    assert all(one["low"] < one["value"] < one["high"] for one in found.values())
    shown = caliper(*words, "--metric", "cider-d", code=0).out
    assert f"{GOLDEN['metrics']['CIDEr-D']['whole']:.4f}" in shown
    assert "BLEU" not in shown
    assert "12 images" in shown


def test_meteor_and_spice_are_those_of_their_jars(caliper: Command) -> None:
    write(caliper.folder / "m.json", CAPTIONS)
    write(caliper.folder / "r.json", REFERENCES)
    rows = [f"{image},{value}" for image, value in GOLDEN["meteor"]["by_image"].items()]
    (caliper.folder / "people.csv").write_text("\n".join(["image_id,score", *rows]))
    (caliper.folder / "some.jar").touch()
    java_stand_in(caliper.folder / "java")
    java = replace(caliper, environment={"JAVA_HOME": str(caliper.folder / "java")})
    words = ("m.json", "--references", "r.json", "--people", "people.csv", "--json")
    jars = ("--spice", "some.jar", "--meteor", "some.jar")
    told = java("metrics", *words, *jars, code=0).told
    assert list(told["models"]["m"])[-2:] == ["METEOR", "SPICE"]
    for name in ("METEOR", "SPICE"):
        found = told["models"]["m"][name]
        assert found["value"] == round(GOLDEN[name.casefold()]["whole"], 6)
        assert found["low"] < found["value"] < found["high"]
    assert told["people"]["metrics"]["METEOR"]["pearson"]["value"] == 1
    alone = java("metrics", *words, *jars[:2], "--metric", "spice", code=0).told["models"]["m"]
    assert alone == {"SPICE": told["models"]["m"]["SPICE"]}


def test_models_are_measured_on_the_images_of_all(caliper: Command) -> None:
    by_file = {f"{int(image):012}.jpg": text for image, text in CAPTIONS.items()}
    write(caliper.folder / "a.json", by_file)
    less = {image: text for image, text in by_file.items() if not image.endswith("12.jpg")}
    write(caliper.folder / "b.json", {**less, "none.jpg": None})
    coco(caliper.folder)
    words = ("a.json", "b.json", "--name", "one", "--name", "two", "--json")
    ended = caliper("metrics", *words, "--references", "annotations.json", code=0)
    assert ended.told["images"] == 11
    assert ended.told["models"]["one"] == ended.told["models"]["two"]
    assert "one: left out, without a caption of another model: 1" in ended.err


def test_people_score_captions(caliper: Command) -> None:
    write(caliper.folder / "m.json", CAPTIONS)
    write(caliper.folder / "refs.json", REFERENCES)
    rouge = GOLDEN["metrics"]["ROUGE-L"]["by_image"]
    rows = [f"{image},{100 * value}" for image, value in rouge.items()]
    text = "\n".join(["image_id,score", *rows, "other,3"])
    (caliper.folder / "people.csv").write_text(text, encoding="utf-8")
    words = ("metrics", "m.json", "--references", "refs.json", "--people", "people.csv")
    told = caliper(*words, "--json", code=0).told["people"]
    assert told["scored"] == "captions"
    one = told["metrics"]["ROUGE-L"]
    assert one["captions"] == 12
    assert one["pearson"]["value"] == one["kendall"]["value"] == one["kendall_c"]["value"] == 1
    assert told["metrics"]["CIDEr-D"]["spearman"]["low"] is not None
    assert "Kendall's tau-b" in caliper(*words, "--html", "page.html", code=0).out
    page = (caliper.folder / "page.html").read_text()
    assert "<title>Caption metrics" in page
    # The metrics of the one model, and Kendall's tau of each.
    assert page.count('class="charted"') == 2
    assert f"{GOLDEN['metrics']['ROUGE-L']['whole']:.4f}" in page


def test_people_score_models(caliper: Command) -> None:
    write(caliper.folder / "refs.json", REFERENCES)
    # Of each model, more captions are the first reference.
    for number in range(4):
        captions = {
            image: texts[0] if place < 3 * number else "something else"
            for place, (image, texts) in enumerate(REFERENCES.items())
        }
        write(caliper.folder / f"m{number}.json", captions)
    (caliper.folder / "people.csv").write_text("model,score\nm0,1\nm1,2\nm2,3\nm3,4\nz,5\n")
    models = [f"m{number}.json" for number in range(4)]
    words = ("metrics", *models, "--references", "refs.json", "--people", "people.csv", "--json")
    told = caliper(*words, code=0).told["people"]
    assert told["scored"] == "models"
    assert told["metrics"]["BLEU-4"]["models"] == 4
    assert told["metrics"]["CIDEr"]["kendall"]["value"] == 1
    assert "no interval below 5 models" in told["metrics"]["CIDEr"]["remark"]
    caliper(*words, "--html", "page.html", code=0)
    page = (caliper.folder / "page.html").read_text()
    assert 'aria-label="Over 12 images, as a radar"' in page
    assert "no interval below 5 models" in page


def test_captions_of_capability_and_csv(caliper: Command) -> None:
    folder = caliper.folder / "captions"
    folder.mkdir()
    (folder / "OCR.jsonl").write_text('{"file_id": "OCR_0", "caption": "A dog runs."}\n')
    (caliper.folder / "refs.csv").write_text("id,reference\nOCR/OCR_0,a dog runs\nOCR/OCR_0,cat\n")
    told = caliper("metrics", "captions", "--references", "refs.csv", "--json", code=0).told
    assert told["models"]["captions"]["ROUGE-L"]["value"] == 1


@pytest.mark.parametrize(
    ("captions", "references", "message"),
    [
        ({"a": 1}, {"a": "b"}, "m.json:1: value: expected a caption, found 1"),
        ([{"caption": "a"}], {"a": "b"}, "m.json:1: image_id: missing; so are file_id, image, id"),
        ([{"id": 1}], {"a": "b"}, "m.json:1: caption: expected a caption, there is none"),
        ({"a": None}, {"a": "b"}, "m.json: no captions"),
        (
            [{"id": 1, "caption": "a"}] * 2,
            {"a": "b"},
            "m.json:1: entry 2: caption: '1' has two captions",
        ),
        ({"a": "b"}, {"a": []}, "r.json:1: value: expected a reference, or a list of them"),
        ({"a": "b"}, {"a": ["b", " "]}, "r.json:1: value: expected a reference"),
        ({"a": "b"}, [{"id": "a", "text": "b"}], "r.json:1: references: missing"),
        ({"a": "b"}, {"annotations": [{"caption": "a"}]}, "r.json: entry 1: image_id: missing"),
        ({"a": "b"}, {"annotations": [1]}, "r.json: annotations: expected a list of objects"),
        ({"a": "b"}, {"c": "b"}, "no image has captions and references: captions of a; references"),
    ],
)
def test_files_that_cannot_be_measured(
    caliper: Command, captions: object, references: object, message: str
) -> None:
    write(caliper.folder / "m.json", captions)
    write(caliper.folder / "r.json", references)
    assert message in caliper("metrics", "m.json", "--references", "r.json", code=2).err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--metric", "meteor"), "--metric: METEOR needs --meteor"),
        (("--metric", "SPICE"), "--metric: SPICE needs --spice"),
        (("--metric", "rouge"), "unknown metric 'rouge'; known: BLEU-1"),
        (("--metric", "CLIPScore"), "CLIPScore needs --text-embedder"),
        (("--text-embedder", "ngram"), "--picture-embedder: CLIPScore needs it"),
        (
            ("--people", "people.csv"),
            "people.csv:3: image_id: the caption of 1 by m is scored twice",
        ),
        (("--people", "blank.csv"), "blank.csv:2: model: expected text, found ''"),
        (("--people", "other.csv"), "other.csv: image: no score of a measured model or caption"),
        (("m.json",), "--name: two of CAPTIONS are named m"),
        (("--name", "a", "--name", "b"), "--name: 2 names of 1 CAPTIONS"),
    ],
)
def test_options_that_cannot_be_used(caliper: Command, words: Any, message: str) -> None:
    write(caliper.folder / "m.json", CAPTIONS)
    write(caliper.folder / "r.json", REFERENCES)
    (caliper.folder / "people.csv").write_text("image_id,score\n1,1\n1,2\n")
    (caliper.folder / "blank.csv").write_text("model,image_id,score\n,1,1\n")
    (caliper.folder / "other.csv").write_text("image_id,score\nx,1\n")
    assert message in caliper("metrics", "m.json", "--references", "r.json", *words, code=2).err
