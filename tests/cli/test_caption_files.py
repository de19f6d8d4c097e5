"""Captions that other tools wrote give the figures of the same captions in the official layout."""

import csv
import json
from pathlib import Path

from tests.fakes.command import Command

RUN = ("evaluate", "captionqa", "--data", "captionqa.json", "--captions")


def test_figures_do_not_depend_on_how_captions_are_written(caliper: Command, config: Path) -> None:
    folder = caliper.folder
    texts = json.loads((folder / "captions" / "captionqa.json").read_text())
    logs = [
        {"doc_id": number, "target": sample, "filtered_resps": [text], "input": "Describe."}
        for number, (sample, text) in enumerate(texts.items())
    ]
    log = folder / "20261126_samples_captionqa.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in logs))
    with (folder / "model_CaptionQA.tsv").open("w", newline="") as file:
        rows = [
            (number, f"LMUData/images/{key}.jpg", text)
            for number, (key, text) in enumerate(texts.items())
        ]
        table = csv.writer(file, delimiter="\t", quoting=csv.QUOTE_ALL)
        table.writerows([("index", "image_path", "prediction"), *rows])
    official = caliper(*RUN, "captions/captionqa.json", "--name", "x", "--json", code=0)
    assert "captions:" not in official.err
    for file_name, line in (
        (log.name, "captionqa captions: lmms-eval log, 2 of 2 samples by target\n"),
        ("model_CaptionQA.tsv", "VLMEvalKit predictions, 2 of 2 samples by image_path\n"),
    ):
        ended = caliper(*RUN, file_name, "--name", "x", "--json", code=0)
        assert line in ended.err
        # The same captions of the same samples: it is the same run, which is over.
        assert {**official.told, "already_ended": None} == {**ended.told, "already_ended": None}
    assert "captions:" not in caliper(*RUN, log.name, "--name", "x", "--quiet", code=0).err
