import csv
import json

import pytest
import yaml
from tests.fakes.command import Command, with_runs
from tests.fakes.stuffed_captions import stuff, stuffed


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A folder with the run careless, and a policy."""
    folder = tmp_path_factory.mktemp("stuffing")
    check = {"benchmark": "capability", "figure": "average.f1", "max_drop": 1.0}
    (folder / "policy.yaml").write_text(yaml.safe_dump({"checks": [check]}))
    return with_runs(folder, careless=["careless"])


def test_a_caption_that_lists_everything_is_not_gated(ran: Command) -> None:
    config = stuff(ran.folder, stuffed())
    shown = ran("evaluate", "--config", config, "--out", "runs/stuffed", code=0)
    said = " ".join(shown.out.split())
    assert said.startswith("Not for comparison. Signs of stuffing in CAPability: 113 of 113")
    assert said.count("Signs of stuffing in") == 3
    gated = ran("gate", "--policy", "policy.yaml", "careless", "stuffed", code=3)
    why = "100.0% of the captions of the candidate show signs of stuffing"
    assert why in " ".join(gated.out.split())
    compared = ran("compare", "careless", "stuffed", code=0)
    said = "stuffed shows signs of stuffing in CAPability (100.00% of its captions), CaptionQA"
    assert f"\n{said}" in compared.out
    assert "careless shows" not in compared.out
    read = ran("compare", "careless", "stuffed", "--json", "--html", "compared.html", code=0).told
    assert read["base"]["stuffed"] == {}
    (candidate,) = read["candidates"]
    assert candidate["stuffed"] == dict.fromkeys(("capability", "captionqa", "comprecap"), 1.0)
    assert said in (ran.folder / "compared.html").read_text()
    files = ("--csv", "board.csv", "--markdown", "board.md", "--html", "board.html")
    ranked = ran("leaderboard", "careless", "stuffed", *files, code=0)
    assert "stuffed signs of stuffing" in " ".join(ranked.out.split())
    assert "- stuffed: signs of stuffing\n" in (ran.folder / "board.md").read_text()
    assert '<span class="flag">signs of stuffing</span>' in (ran.folder / "board.html").read_text()
    with (ran.folder / "board.csv").open() as text:
        rows = {row["checkpoint"]: row["stuffed"] for row in [*csv.DictReader(text)][:2]}
    assert rows == {"stuffed": "true", "careless": "false"}
    told = json.loads((ran.folder / "runs" / "stuffed" / "report.json").read_text())
    styles = told["benchmarks"]["capability"]["tasks"]["style"]
    assert (styles["f1"], styles["f1_one"], styles["labels"]) == (100.0, 0.0, 9.0)
    assert "Not for comparison" in (ran.folder / "runs" / "stuffed" / "report.html").read_text()


def test_most_camera_angles_in_other_words_are_not_gated(ran: Command) -> None:
    angles = "It is taken at eye level, from a bird's eye view, and with a canted frame."
    config = stuff(ran.folder / "angles", angles)
    shown = ran("evaluate", "--config", config, "--out", "runs/angles", code=0)
    said = "Signs of stuffing in CAPability: 9 of 113 captions (categories 9)"
    assert said in " ".join(shown.out.split())
    gated = ran("gate", "--policy", "policy.yaml", "careless", "angles", code=3)
    assert "8.0% of the captions of the candidate show signs" in " ".join(gated.out.split())
