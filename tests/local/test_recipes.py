from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import runs

from caliper.benchmarks.registry import BUILT_IN, benchmark, recipe_names
from caliper.benchmarks.settings import resolve_settings
from caliper.cli.options import SharedOptions, from_file, from_flags, part_of
from caliper.core.errors import InvalidInput
from caliper.core.run import Identity
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import check_config, config_values
from caliper.local.recipes import recipe_gaps

SUPPLIED = {"data": "data", "captions": "captions.json"}
WRITTEN = {"data": "data", "captioner": "tgi:http://localhost"}


def part(name: str, given: Mapping[str, Any], recipe: str | None = "published") -> BenchmarkConfig:
    return check_config({"recipe": recipe, "benchmarks": {name: given}}).benchmarks[name]


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("source", [SUPPLIED, WRITTEN], ids=["supplied", "written"])
def test_every_value_of_a_recipe_is_one_that_a_run_can_have(
    name: str, source: Mapping[str, Any]
) -> None:
    found = part(name, source)
    assert resolve_settings(name, found.set).items() >= found.set.items()
    wanted = "captions" if source is SUPPLIED else "captioner"
    told = {
        **found.set,
        **{f"preparation.{key}": value for key, value in found.preparation.items()},
        **{key: str(getattr(found, key)) for key in ("prompt", "repeats", "caption_tokens")},
    }
    for one in benchmark(name).recipes["published"].ingredients:
        if one.needs in ("", wanted):
            assert told[one.key] == one.value
        else:
            assert told.get(one.key) != one.value


def test_without_a_recipe_nothing_is_set() -> None:
    found = part("comprecap", SUPPLIED, recipe=None)
    assert (found.set, found.repeats, found.prompt) == ({}, None, "simple")


def test_supplied_captions_are_shuffled_as_released() -> None:
    assert part("captionqa", SUPPLIED).set["shuffle"] == "released"
    assert "shuffle" not in part("captionqa", WRITTEN).set


def test_what_a_file_says_stands() -> None:
    given = {
        **WRITTEN,
        "prompt": "long",
        "repeats": 2,
        "caption_tokens": 64,
        "set": {"reading": "lenient"},
        "preparation": {"quality": "50"},
    }
    found = part("captionqa", given)
    assert (found.prompt, found.repeats, found.caption_tokens) == ("long", 2, 64)
    assert (found.set["reading"], found.set["caption_fence"]) == ("lenient", "off")
    assert found.preparation == {"quality": "50", "longest": "8192"}


def test_flags_win_over_a_file_and_a_file_over_its_recipe(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(
        "recipe: published\nbenchmarks:\n  comprecap:\n    data: anno.json\n"
        "    captions: captions.json\n    repeats: 5\n"
        "    set: {weights: text, s_cov: image, reading: bounded}\n"
    )
    shared = SharedOptions(settings=["s_cov=union", "reading=released"])
    found = from_file(file, shared).benchmarks["comprecap"]
    assert found.repeats == 5
    assert (found.set["weights"], found.set["s_cov"]) == ("text", "union")
    assert (found.set["reading"], found.set["relations"]) == ("released", "released")
    assert from_file(file, SharedOptions(repeats=1)).benchmarks["comprecap"].repeats == 1


def test_a_recipe_on_the_command_line_leaves_what_the_file_says(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(
        "benchmarks:\n  comprecap: {data: a.json, captions: c.json, set: {weights: text}}\n"
    )
    found = from_file(file, SharedOptions(recipe="published")).benchmarks["comprecap"]
    assert (found.set["weights"], found.set["relations"], found.repeats) == ("text", "released", 3)
    flags = part_of("comprecap")(data=Path("a.json"), captions=Path("c.json"))
    found = from_flags("comprecap", flags, SharedOptions(recipe="published")).benchmarks[
        "comprecap"
    ]
    assert (found.set["weights"], found.repeats) == ("table2", 3)


def test_run_yaml_keeps_what_was_set_and_not_its_recipe() -> None:
    config = check_config({"recipe": "published", "benchmarks": {"comprecap": SUPPLIED}})
    kept = config_values(config)
    assert "recipe" not in kept
    assert check_config(kept).benchmarks["comprecap"].set == config.benchmarks["comprecap"].set


def test_an_unknown_recipe_lists_those_that_there_are() -> None:
    assert recipe_names() == ("published",)
    with pytest.raises(InvalidInput, match="recipe: unknown recipe 'best'; known: published"):
        part("comprecap", SUPPLIED, recipe="best")


def test_what_cannot_be_set_is_told() -> None:
    judge = Identity("tgi", "local-8b", "")
    told = list(
        recipe_gaps(runs.spec(runs.part("capability", models={"judge": judge})), "published")
    )
    assert (
        "CAPability: published figures were judged by GPT-4-Turbo; this run is judged by local-8b"
        in told
    )
    assert not any("frames" in text for text in told)


def test_the_published_judge_is_no_difference() -> None:
    judge = Identity("tgi", "openai/gpt-4-turbo-2024-04-09", "")
    told = list(
        recipe_gaps(runs.spec(runs.part("capability", models={"judge": judge})), "published")
    )
    assert told
    assert not any("judged by" in text for text in told)


def test_a_captioner_has_gaps_of_its_own() -> None:
    models = {"reader": runs.JUDGE, "captioner": runs.JUDGE}
    spec = runs.spec(runs.part(captions=None, models=models))
    assert any(
        "shuffle=released needs supplied captions" in each
        for each in recipe_gaps(spec, "published")
    )
