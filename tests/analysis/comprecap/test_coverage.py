"""The area-weighted coverage, by hand."""

from fractions import Fraction

import pytest
from tests.fakes.scene_runs import LOST, planned, row, scene, scene_run

from caliper.analysis.comprecap.coverage import PixelCoverage, area_coverage, in_band
from caliper.analysis.comprecap.scenes import ExaminedScene, SceneSet
from caliper.core.outcome import Scored


def covered(*scenes: ExaminedScene) -> PixelCoverage:
    (run,) = area_coverage(SceneSet((scene_run("one", *scenes),))).runs
    return run


def test_three_readings_of_one_picture() -> None:
    # The dog's 4 pixels score 4, the frisbee's 2 score 2; one pixel is both, of 10.
    found = covered(scene(scores=(4, 2, 5)))
    assert found.paper == pytest.approx(100 * (4 * 0.4 + 2 * 0.2) / 5)
    # That pixel counts once: 3 pixels at .8, one at 1, one at .4.
    assert found.image == pytest.approx(100 * 3.8 / 10)
    assert found.union == pytest.approx(100 * 3.8 / 5)
    assert (found.pictures, found.unscored) == (1, 0)


def test_union_and_image_are_the_figures_of_reports() -> None:
    scenes = [scene(scores=scores) for scores in ((4, 2, 5), (None, 5, 1), (3, 3, None))]
    run = scene_run("one", *scenes)
    (found,) = area_coverage(SceneSet((run,))).runs
    assert found.union == pytest.approx(run.figures["s_cov"], abs=1e-6)


def test_an_unscored_instance_leaves_its_picture_out() -> None:
    found = covered(scene(), scene(scores=(4, LOST, 5)))
    assert (found.pictures, found.unscored) == (1, 1)
    assert found.union == covered(scene()).union
    bands = {band.low: band for band in found.bands}
    # The frisbee covers 20%: the lower bound belongs to a band.
    assert (bands[20].instances, bands[20].unscored) == (4, 1)


def test_repeats_are_averaged_after_clipping() -> None:
    one = scene(item=planned([row()], repeats=2)[0], scores=(5, 0, 1))
    found = {**one.outcomes, (2, 1): Scored(Fraction(5))}
    mean = covered(ExaminedScene(one.item, found))
    assert mean.image == pytest.approx(100 * (4 + 5) / 2 / 10)


def test_bands_count_what_is_omitted() -> None:
    found = covered(scene(scores=(None, 5, 1)), scene(scores=(4, None, 1)))
    (band,) = [band for band in found.bands if band.instances]
    assert (band.low, band.high, band.instances) == (20, 50, 4)
    assert (band.mentioned, band.score, band.omitted) == (50, (5 + 4) / 4, 100)
    assert band.covered == pytest.approx(100 * (2 * 1 + 4 * 0.8) / 12)


def test_bands_hold_every_area_once() -> None:
    bands = covered(scene()).bands
    for area in (0.0, 0.5, 1.0, 4.999, 5.0, 50.0, 100.0):
        assert sum(in_band(area, band.low, band.high) for band in bands) == 1


def test_nothing_scored_gives_a_remark() -> None:
    found = area_coverage(SceneSet((scene_run("one", scene(None, [LOST] * 3)),)))
    assert found.runs == ()
    assert "scores" in found.remark
