import json
from pathlib import Path

import yaml
from tests.fakes.command import Command


def test_validate_knows_what_it_is_given(caliper: Command, config: Path) -> None:
    caliper("evaluate", "--config", config, "--quiet", "--out", "run", code=0)
    for path, told in {
        "capability": "capability data: 7 items, 8 questions",
        "captions/capability": "capability captions: 7",
        "captions/captionqa.json": "captionqa captions: 2",
        "anno.json": "comprecap data: 1 items, 10 questions",
        "captions/comprecap.json": "comprecap captions: 1",
        "run": "(tiny) over capability, captionqa, comprecap: complete",
        "capability/camera_angle.jsonl": "capability data: 2 items, 2 questions",
    }.items():
        assert told in caliper("validate", path, code=0).out, path
    ended = caliper("validate", "captionqa.json", "--json", code=1)
    assert ended.told["summary"] == "captionqa data: 2 items, 5 questions"
    assert ended.told["problems"] == [
        "doc_1: captionqa.json:1: entry 2: questions[1].answer: '3' is none of the choices"
    ]
    whole = caliper("validate", "all.yaml", "--json", code=1)
    assert whole.told["summary"] == "a run over capability, captionqa, comprecap"
    assert whole.told["problems"] == ended.told["problems"]
    assert "known: capability" in caliper("validate", "anno.json", "--as", "x", code=2).err
    assert "no such file" in caliper("validate", "nowhere.json", code=2).err


def test_validate_lists_captions_without_text(caliper: Command, config: Path) -> None:
    captions = {"nat_1": " \n", "doc_1": None, "doc_2": "A letter."}
    (caliper.folder / "captions" / "captionqa.json").write_text(json.dumps(captions))
    told = ["nat_1: blank", "doc_1: null, not a caption"]
    ended = caliper("validate", "captions/captionqa.json", "--json", code=1)
    assert ended.told["problems"] == told
    whole = caliper("validate", config, "--json", code=1)
    assert whole.told["problems"][1:] == told


def test_validate_names_what_is_broken(caliper: Command, config: Path) -> None:
    questions = (caliper.folder / "captionqa.json").read_bytes()
    (caliper.folder / "marked.json").write_bytes(b"\xef\xbb\xbf" + questions)
    caliper("validate", "marked.json", code=1)
    (caliper.folder / "deep.json").write_text("[" * 200_000)
    assert "deep.json: JSON nested too deeply" in caliper("validate", "deep.json", code=2).err
    rows = json.loads(questions)
    rows[1]["id"] = None
    (caliper.folder / "nameless.json").write_text(json.dumps(rows))
    for words in ((), ("--as", "captionqa")):
        ended = caliper("validate", "nameless.json", *words, code=2)
        assert "nameless.json:1: entry 2: id: missing" in ended.err
    written = yaml.safe_load(config.read_text())
    written["benchmarks"]["captionqa"]["data"] = "nowhere.json"
    (caliper.folder / "astray.yaml").write_text(yaml.safe_dump(written))
    assert "nowhere.json: it does not exist" in caliper("validate", "astray.yaml", code=2).err


def test_validate_says_how_captions_are_written(caliper: Command, config: Path) -> None:
    log = {"doc_id": 0, "target": "nat_1", "resps": [["A car."]]}
    (caliper.folder / "20261126_samples_captionqa.jsonl").write_text(json.dumps(log))
    (caliper.folder / "mine.csv").write_text("image,prediction,index\nnat_1.jpg,A car.,0\n")
    for path, kind in (
        ("20261126_samples_captionqa.jsonl", "lmms-eval log"),
        ("mine.csv", "VLMEvalKit predictions"),
    ):
        ended = caliper("validate", path, "--as", "captionqa", code=0)
        assert f"captionqa captions: 1 ({kind})" in ended.out
        refused = caliper("validate", path, code=2).err
        assert "captions do not name their benchmark; add --as" in refused
    written = yaml.safe_load(config.read_text())
    written["benchmarks"]["captionqa"]["captions"] = "mine.csv"
    (caliper.folder / "mine.yaml").write_text(yaml.safe_dump(written))
    caliper("validate", "mine.yaml", code=1)
    (caliper.folder / "mine.csv").write_text("image,caption\nnat_7.jpg,A car.\n")
    assert "no caption matches a sample" in caliper("validate", "mine.yaml", code=2).err
