"""Records of Every Eval Ever, held against its published schemas."""

import hashlib
import json
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.fakes.results import fetched, files_in, in_state, kept_results

from caliper.adapters.packs.files import shipped_pack
from caliper.benchmarks.captionqa.metrics import gap_figure
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, NotReady
from caliper.core.tally import Tally
from caliper.local.exports import export
from caliper.ports.sinks import Results

SCHEMAS = Path(__file__).parent / "every_eval_ever"
MODEL = "team/captioner"


def schema(name: str) -> jsonschema.Draft7Validator:
    text = (SCHEMAS / f"{name}.schema.json").read_text()
    return jsonschema.Draft7Validator(json.loads(text))


async def records(results: Results, folder: Path, options: str = "") -> dict[str, dict[str, Any]]:
    """The records by benchmark, each valid, where the datastore has them."""
    await export(results, f"every_eval_ever:{folder},model={MODEL}{options}")
    found = {}
    for name, data in files_in(folder).items():
        _, benchmark_name, *owner_and_model, file = name.split("/")
        assert owner_and_model == MODEL.split("/")
        if file.endswith(".json"):
            assert uuid.UUID(file.removesuffix(".json")).version == 4
            found[benchmark_name] = json.loads(data)
            schema("eval").validate(found[benchmark_name])
    return found


async def samples(
    results: Results, folder: Path, options: str = ""
) -> dict[str, list[dict[str, Any]]]:
    """The verdicts by benchmark, each valid and as its record says."""
    found = {}
    for name, record in (await records(results, folder, options)).items():
        about = record["detailed_evaluation_results"]
        data = (folder / about["file_path"]).read_bytes()
        assert about["checksum"] == hashlib.sha256(data).hexdigest()
        rows = [json.loads(line) for line in data.splitlines()]
        assert len(rows) == about["total_rows"]
        for row in rows:
            schema("instance_level_eval").validate(row)
            assert row["evaluation_id"] == record["evaluation_id"]
            assert row["model_id"] == record["model_info"]["id"]
        found[name] = rows
    return found


def by_id(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["evaluation_result_id"]: each for each in record["evaluation_results"]}


async def test_a_record_says_what_was_measured_and_how(tmp_path: Path) -> None:
    results = await kept_results("judged")
    found = await records(results, tmp_path, ",organization=Team,relationship=first_party")
    assert sorted(found) == ["capability", "captionqa", "comprecap"]
    record = found["capability"]
    assert record["schema_version"] == "0.3.0"
    assert record["retrieved_timestamp"] == record["evaluation_timestamp"] == "1795364074"
    assert record["evaluation_id"] == f"capability/{MODEL}/{results.run}/1795364074"
    assert record["source_metadata"]["evaluator_relationship"] == "first_party"
    assert record["model_info"]["name"] == "judged"
    part = results.report.benchmarks[0]
    headline, task = (
        part.estimates["average", "f1"],
        by_id(record)["capability.tasks.object_color.f1"],
    )
    score = by_id(record)["capability.average.f1"]["score_details"]
    assert score["score"] == headline.value
    interval = score["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (headline.low, headline.high)
    assert score["uncertainty"]["num_samples"] == part.coverage.scored
    error = score["uncertainty"]["standard_error"]["value"]
    assert error == pytest.approx((headline.high - headline.low) / 2 / 1.96, rel=1e-4)
    (judge,) = task["metric_config"]["llm_scoring"]["judges"]
    assert judge["model_info"]["name"] == "fake/judge-8b"
    assert judge["model_info"]["additional_details"]["revision"] == "0123456789abcdef" * 2 + (
        "01234567"
    )
    assert judge["temperature"] == 0.0
    prompt = task["metric_config"]["llm_scoring"]["input_prompt"]
    assert prompt.endswith(shipped_pack().template("capability/object_color").user.strip())
    assert task["metric_config"]["metric_name"] == "F1"
    written = by_id(found["captionqa"])["captionqa.overall.score"]["generation_config"]
    assert written["generation_args"] == {"max_tokens": 8192, "temperature": 0.0, "top_p": 1.0}
    supplied = by_id(found["comprecap"])["comprecap.s_unified"]["generation_config"]
    assert "generation_args" not in supplied
    assert supplied["additional_details"]["captions"].startswith("supplied, sha256:546fb43904ce")


async def test_only_what_a_model_judged_names_a_judge(tmp_path: Path) -> None:
    judged = await records(await kept_results("judged"), tmp_path / "judged")
    assert "llm_scoring" not in by_id(judged["comprecap"])["comprecap.s_object"]["metric_config"]
    unread = by_id(judged["captionqa"])["captionqa.qa_on_image.natural.score"]
    assert "llm_scoring" not in unread["metric_config"]
    assert "generation_args" not in unread["generation_config"]
    ruled = await records(await kept_results("first"), tmp_path / "ruled")
    assert "llm_scoring" not in json.dumps(ruled)
    notes = ruled["capability"]["source_metadata"]["additional_details"]["notes"]
    assert "never for comparison with published figures" in notes


async def test_scores_lie_within_their_bounds(tmp_path: Path) -> None:
    found = await records(await kept_results("judged"), tmp_path)
    for record in found.values():
        for result in record["evaluation_results"]:
            metric, score = result["metric_config"], result["score_details"]["score"]
            assert metric["min_score"] <= score <= metric["max_score"]
    gap = by_id(found["captionqa"])["captionqa.utility_gap.overall"]
    assert (gap["evaluation_name"], gap["metric_config"]["metric_id"]) == (
        "captionqa.overall",
        "captionqa.utility_gap",
    )
    assert gap["metric_config"]["lower_is_better"]


def test_benchmarks_declare_the_bounds_of_their_figures() -> None:
    comprecap, captionqa = benchmark("comprecap"), benchmark("captionqa")
    figures = comprecap.report(Tally(), {}).figures
    telling = [figure for figure in figures if str(comprecap.direction(figure.path)) == "more"]
    assert {figure.path[0] for figure in telling} > {"s_attribute", "s_unified"}
    for figure in telling:
        assert comprecap.bounds_of(figure.path) == figure.bounds
    gap = gap_figure(("utility_gap", "overall"), "domains", ())
    assert captionqa.bounds_of(gap.path) == gap.bounds


async def test_the_bytes_follow_from_the_run(tmp_path: Path) -> None:
    results = await kept_results("judged", with_verdicts=True)
    for folder in (tmp_path / "one", tmp_path / "two"):
        await records(results, folder)
    assert files_in(tmp_path / "one") == files_in(tmp_path / "two")
    assert len(files_in(tmp_path / "one")) == 6
    # Without verdicts, none stay behind.
    await records(replace(results, with_verdicts=False), tmp_path / "one")
    assert len(files_in(tmp_path / "one")) == 3


async def test_verdicts_refer_to_texts_unless_they_may_be_published(tmp_path: Path) -> None:
    results = await kept_results("judged", with_verdicts=True)
    texts = {
        *(json.loads(line)["caption"] for line in results.read("captions.jsonl").splitlines()),
        *(row.question for row in results.verdicts()),
        *(row.expected for row in results.verdicts() if len(row.expected) > 3),
    }
    for name, rows in (await samples(results, tmp_path / "references")).items():
        scored = [
            row for row in results.verdicts() if row.benchmark == name and row.score is not None
        ]
        assert [row["sample_id"] for row in rows] == [row.question_id for row in scored]
        assert [row["evaluation"]["score"] for row in rows] == [row.score for row in scored]
        for row in rows:
            assert not any(text in json.dumps(row["input"] | row["output"]) for text in texts)
            assert "reply" not in row["metadata"]
    rows = (await samples(results, tmp_path / "texts", ",texts=yes"))["capability"]
    verdict = next(row for row in results.verdicts() if row.benchmark == "capability")
    assert rows[0]["input"] == {"raw": verdict.question, "reference": [verdict.expected]}
    assert rows[0]["output"]["raw"][0] in texts
    assert rows[0]["evaluation_name"] == f"capability.tasks.{verdict.dimension}"
    assert not any("media" in row["metadata"] for row in rows)


async def test_texts_stay_without_verdicts(tmp_path: Path) -> None:
    await records(await kept_results("judged"), tmp_path, ",texts=yes")
    assert not [name for name in files_in(tmp_path) if name.endswith(".jsonl")]


async def test_data_are_from_where_people_say(tmp_path: Path) -> None:
    options = ",captionqa=Borise/CaptionQA@abc,comprecap=https://example.org/x"
    results = fetched(await kept_results("first"), "capability", "hf:lntzm/CAPability@def")
    found = await records(results, tmp_path / "named", options)
    source = {
        name: record["evaluation_results"][0]["source_data"] for name, record in found.items()
    }
    assert source["captionqa"]["hf_repo"] == "Borise/CaptionQA"
    assert source["captionqa"]["hf_revision"] == "abc"
    assert source["comprecap"]["url"] == ["https://example.org/x"]
    assert source["capability"]["hf_repo"] == "lntzm/CAPability"
    found = await records(await kept_results("first"), tmp_path / "local")
    other = found["capability"]["evaluation_results"][0]["source_data"]
    assert other["source_type"] == "other"
    assert other["source_id"].startswith("sha256:")


async def test_a_model_without_an_owner_is_of_an_unknown_one(tmp_path: Path) -> None:
    await export(await kept_results("first"), f"every_eval_ever:{tmp_path}")
    assert {"/".join(name.split("/")[2:4]) for name in files_in(tmp_path)} == {"unknown/first"}


@pytest.mark.parametrize("state", ["finished", "decided"])
async def test_only_complete_runs_are_published(tmp_path: Path, state: str) -> None:
    with pytest.raises(NotReady, match="only complete runs"):
        await export(in_state(await kept_results("first"), state), f"every_eval_ever:{tmp_path}")


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ("", "name a folder"),
        ("x,relationship=friend", "unknown relationship 'friend'"),
        ("x,texts=all", "unknown value of texts"),
        ("x,captionqa=CaptionQA", "captionqa: expected OWNER/NAME"),
    ],
)
async def test_a_target_says_what_it_lacks(where: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        await export(await kept_results("first"), f"every_eval_ever:{where}")
