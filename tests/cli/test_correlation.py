import json
from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command

MODELS = {"a": 0, "b": 1, "c": 3, "d": 4}
"""How many of the four scenes a model tells."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    folder = tmp_path_factory.mktemp("correlation")
    tiny.lines(
        folder / "data" / "scene.jsonl",
        [tiny.element("scene", f"s{number}", "park") for number in range(4)],
    )
    caliper = Command(folder)
    for model, right in MODELS.items():
        told = ["A dog runs through a park."] * right + ["A dog runs in a kitchen."] * (4 - right)
        rows = [{"file_id": f"s{number}", "caption": text} for number, text in enumerate(told)]
        tiny.lines(folder / model / "scene.jsonl", rows)
        words = ("evaluate", "capability", "--data", "data", "--captions", model, "--name", model)
        caliper(*words, "--quiet", "--out", f"runs/{model}", code=0)
    return caliper


def people(folder: Path, text: str) -> Path:
    file = folder / "people.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_models_that_people_rank_alike(ran: Command) -> None:
    file = people(ran.folder, "model,score,notes\na,1.0,x\nb,2.5,\nc,3.0,\nd,4.5,\n")
    told = json.loads(ran("correlation", *MODELS, "--people", file, "--json", code=0).out)
    recall = told["capability"]["average.f1"]
    assert recall["models"] == 4
    assert recall["kendall"]["value"] == recall["spearman"]["value"] == 1
    # Of four models every twelfth order is perfect by chance: no interval says anything.
    assert recall["pearson"]["low"] is recall["pearson"]["high"] is None
    assert "no interval below 5 models" in recall["remark"]
    shown = ran("correlation", *MODELS, "--people", file, "--metric", "recall", code=0).out
    assert "average.recall" in shown
    assert shown.count("no interval below 5 models") == 1
    assert "Kendall's tau" in shown


def test_a_page_draws_the_metric_against_peoples_scores(ran: Command) -> None:
    file = people(ran.folder, "model,score\na,1.25\nb,2.5\nc,3.0\nd,4.5\n")
    ran("correlation", *MODELS, "--people", file, "--html", "page.html", "--json", code=0)
    page = (ran.folder / "page.html").read_text()
    assert "<title>Correlation with people" in page
    assert page.count('class="charted"') == 1
    assert "capability average.f1 against people" in page
    assert page.count('class="fill"') >= len(MODELS)
    assert "1.25" in page
    assert "no interval below 5 models" in page


def test_the_other_way_round_and_another_column(ran: Command) -> None:
    file = people(ran.folder, "model,human\na,4\nb,3\nc,2\nd,1\n")
    words = ("correlation", *MODELS, "--people", file, "--column", "human", "--json")
    told = json.loads(ran(*words, code=0).out)
    assert told["capability"]["average.f1"]["kendall"]["value"] == -1


def test_a_model_without_a_score_is_left_out_and_named(ran: Command) -> None:
    file = people(ran.folder, "model,score\na,1\nb,2\nc,3\n")
    ended = ran("correlation", *MODELS, "--people", file, "--json", code=0)
    assert "no score of d" in ended.err
    assert json.loads(ended.out)["capability"]["average.f1"]["models"] == 3


def test_one_model_or_two_tell_nothing(ran: Command) -> None:
    file = people(ran.folder, "model,score\na,1\nd,2\n")
    for runs in (("a",), ("a", "d")):
        ended = ran("correlation", *runs, "--people", file, code=3)
        assert "fewer than 3 models: two always lie on one line" in ended.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,points\na,1\n", "score: no such column; there are: model, points"),
        ("model,score\na,1\na,2\n", "people.csv:3: model: the model appears twice"),
        ("model,score\na,high\n", "people.csv:2: score: expected a number, found 'high'"),
        ("model,score\na\n", "expected a number, found None"),
        ("model,score\nz,1\n", "no run of a scored model: z"),
        ("", "there are: none"),
    ],
)
def test_scores_that_cannot_be_read(ran: Command, text: str, message: str) -> None:
    file = people(ran.folder, text)
    assert message in ran("correlation", *MODELS, "--people", file, code=2).err


def test_two_runs_of_one_model_are_refused(ran: Command) -> None:
    file = people(ran.folder, "model,score\na,1\nb,2\n")
    assert "two runs of the model a" in ran("correlation", "a", "a", "--people", file, code=2).err
