"""SPICE, on a stand-in with the golden scores (tests/golden/caption_metrics.py)."""

import json
from pathlib import Path

import pytest
from tests.fakes.java import GOLDEN, java_stand_in

from caliper.adapters.language.spice import measure_spice
from caliper.analysis.caption_metrics.measures import ReferencedCaption
from caliper.core.errors import InvalidInput
from caliper.lexical.treebank import tokenize

_GOLDEN = json.loads(GOLDEN.read_text("utf-8"))
ALL = {
    image: ReferencedCaption(
        tokenize(text), [tokenize(one) for one in _GOLDEN["references"][image]]
    )
    for image, text in _GOLDEN["captions"].items()
}
OTHER = {"a": ReferencedCaption(["b"], [["c"]])}


async def test_figures_are_those_of_cocos_evaluation(tmp_path: Path) -> None:
    few = dict(list(ALL.items())[:3])
    found = await measure_spice(java_stand_in(tmp_path), GOLDEN, {"all": ALL, "few": few})
    wanted, measure = _GOLDEN["spice"], found["all"]
    assert measure.by_image == wanted["by_image"]
    assert measure.whole.value == pytest.approx(wanted["whole"], abs=1e-9)
    assert measure.whole.low is not None
    assert measure.whole.high is not None
    assert measure.whole.low < wanted["whole"] < measure.whole.high
    assert found["few"].by_image == {image: wanted["by_image"][image] for image in few}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("sys.exit('Error: could not score\\njava.lang.NoClassDefFoundError: x\\n\\tat Error.y')",
         "SPICE ended: java.lang.NoClassDefFoundError: x; its folder lib needs stanford-corenlp"),
        ("sys.exit(0)", "SPICE ended; its folder lib needs"),
        ("return 'nan?'", "not SPICE 1.0: unexpected scores b'["),
        ("return None", "not SPICE 1.0"),
    ],
)  # fmt: skip
async def test_another_jar(tmp_path: Path, other: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=r"caption_metrics\.json: --spice: ") as error:
        await measure_spice(java_stand_in(tmp_path, other), GOLDEN, {"m": OTHER})
    assert message in str(error.value)


async def test_a_class_path_names_no_other_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a:b"
    folder.mkdir()
    (folder / "spice-1.0.jar").touch()
    with pytest.raises(InvalidInput, match="--spice: ':' in the path would split the class path"):
        await measure_spice(java_stand_in(tmp_path), folder / "spice-1.0.jar", {"m": OTHER})


async def test_no_jar(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="--spice: no such file; expected spice"):
        await measure_spice("java", tmp_path / "spice-1.0.jar", {"m": OTHER})
