"""Agreement with people: Tables 3, S3 and S4 through the analysis, and captions by hand."""

import pytest
from tests.fakes.scene_runs import LOST, planned, row, scene, scene_run
from tests.fakes.sources import ROOT, published

from caliper.analysis.caption_metrics.measures import CaptionMeasure
from caliper.analysis.comprecap.people import HumanCorrelation, human_correlation, measures_of
from caliper.analysis.comprecap.scenes import SceneRun
from caliper.analysis.human_scores import HumanScores
from caliper.cli.metrics.ratings import read_metric_scores
from caliper.core.report import Estimate


def correlations(name: str) -> HumanCorrelation:
    """The correlations of every column of a published table with its column `human`."""
    rows = published(name)
    file = ROOT / "tests" / "golden" / name
    measures = read_metric_scores(file, [row["model"] for row in rows])
    human = HumanScores("models", {(row["model"], None): float(row["human"]) for row in rows})
    return human_correlation(measures, human)


def coefficients(found: HumanCorrelation, metric: str) -> list[float]:
    (one,) = [each.estimate for each in found.models if each.metric == metric]
    assert one.models == 11
    return [one.pearson.value, one.kendall.value, one.spearman.value]


def test_table_3_from_tables_s3_and_s4() -> None:
    ours, direct = correlations("comprecap_table_2_s3.csv"), correlations("comprecap_table_s4.csv")
    # Printed: .989, .927, .982; r is .9865 from the rounded cells.
    assert coefficients(ours, "s_unified") == pytest.approx([0.9865, 0.927, 0.982], abs=6e-4)
    assert coefficients(direct, "overall") == pytest.approx([0.816, 0.309, 0.445], abs=1e-3)
    assert len(ours.scored) == 11
    assert ours.scored[-1].human == 4
    assert ours.scored[-1].metrics["s_unified"] == 62.99
    assert ours.captions == ()


def test_every_metric_of_table_s3_agrees_more_than_its_direct_score() -> None:
    """A.2 and A.3 say so, and print no coefficients."""
    ours, direct = correlations("comprecap_table_2_s3.csv"), correlations("comprecap_table_s4.csv")
    for part in ("object", "attribute", "relation"):
        assert coefficients(ours, f"s_{part}")[1] > coefficients(direct, part)[1] + 0.3
    assert abs(coefficients(ours, "caption_length")[1]) < 0.5


def run(name: str, *scores: int) -> SceneRun:
    """One picture per score, which is that of all its phrases."""
    items = planned([row(f"{place}.jpg") for place in range(len(scores))])
    scenes = [
        scene("A dog has a frisbee.", [score] * 3, item=item)
        for score, item in zip(scores, items, strict=True)
    ]
    return scene_run(name, *scenes)


def test_captions_and_the_models_they_are_of() -> None:
    runs = [run("a", 1, 2, 5), run("b", 3, 4, 0), run("c", 5, 5, 5)]
    given = {"a": (1, 2, 5), "b": (3, 4, 0), "c": (4, 5, 5)}
    scores = {
        (name, f"{place}.jpg"): float(score)
        for name, all_scores in given.items()
        for place, score in enumerate(all_scores)
    }
    found = human_correlation(measures_of(runs), HumanScores("captions", scores))
    captions = {one.metric: one.estimate for one in found.captions}
    models = {one.metric: one.estimate for one in found.models}
    assert captions["S-attribute"].models == 9
    assert captions["S-attribute"].kendall.value > 0.9
    assert models["S-attribute"].models == 3
    assert models["S-attribute"].kendall.value == 1
    assert [each.human for each in found.scored] == pytest.approx([8 / 3, 7 / 3, 14 / 3])
    # All have the same objects and words; nobody was asked about the pictures.
    assert captions["S-object"].kendall.value is None
    assert "CompreQA-P" not in captions
    assert found.remark


def test_what_has_no_value_is_left_out_and_counted() -> None:
    lost = scene_run("d", scene(None, [LOST] * 3, objects=LOST))
    runs = [run("a", 1), run("b", 3), run("c", 5), lost]
    human = HumanScores("models", {(name, None): float(place) for place, name in enumerate("abcd")})
    found = human_correlation(measures_of(runs), human)
    estimates = {one.metric: one.estimate for one in found.models}
    assert estimates["S-unified"].models == 3
    assert estimates["S-unified"].kendall.value == 1
    assert found.scored[3].metrics == {}


def test_metrics_of_others_stand_beside_ours() -> None:
    others = {"a": [CaptionMeasure("BLEU-4", Estimate(0.5), {})]}
    measures = measures_of([run("a", 1)], others)
    assert measures["a"][-1].name == "BLEU-4"


def test_without_people() -> None:
    assert "--people" in human_correlation({}, None).remark


def test_means_of_people_are_over_the_images_scored_of_every_model() -> None:
    measures = measures_of([run("one", 5, 5), run("two", 5, 5)])
    given = {("one", "0.jpg"): 2.0, ("one", "1.jpg"): 5.0, ("two", "0.jpg"): 3.0}
    found = human_correlation(measures, HumanScores("captions", given))
    # The easy second image was scored of one model only.
    assert [model.human for model in found.scored] == [2, 3]
    assert "other images" not in found.remark
    del given["one", "0.jpg"]
    apart = human_correlation(measures, HumanScores("captions", given))
    assert [model.human for model in apart.scored] == [5, 3]
    assert "their means are over other images" in apart.remark
