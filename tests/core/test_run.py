import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import canonical_json
from caliper.core.plan import PlannedBenchmark, PlanSummary
from caliper.core.preparation import Preparation
from caliper.core.run import SCHEMA, BenchmarkSpec, Identity, RunSpec, check_name

JUDGE = Identity("tgi", "judge", "0123456789abcdef", cached=True)
PART = BenchmarkSpec(
    name="capability",
    data="d" * 64,
    captions="c" * 64,
    settings={"reply_reading": "lenient", "category_labels": "any"},
    models={"judge": JUDGE},
)
SPEC = RunSpec("ours", "0.1", "p" * 64, (PART,))
SUMMARY = PlanSummary("r" * 16, 2, (PlannedBenchmark("capability", 0, 7, 5, 4),))

CHANGES: dict[str, Any] = {
    "name": "theirs",
    "version": "0.2",
    "pack": "q" * 64,
    "benchmarks": (PART, PART),
    "seed": 1,
    "limit": 5,
    "replicate": 1,
    "coverage_floor": 0.5,
    "share_replies": True,
    "judge_share": 0.2,
    "judging": "f" * 64,
    "schema": 0,
}
PART_CHANGES: dict[str, Any] = {
    "name": "captionqa",
    "data": "e" * 64,
    "captions": None,
    "settings": {**PART.settings, "reply_reading": "strict"},
    "models": {"judge": replace(JUDGE, revision="1")},
    "qa_data": "f" * 64,
    "prompt": "long",
    "repeats": 3,
    "preparation": Preparation(frames=32, fps=Fraction(30000, 1001)),
    "taxonomy": {"natural": ("Attribute -> Color", "Attribute -> Shape")},
    "caption_tokens": 4096,
    "media": "f" * 64,
}


def again(spec: RunSpec) -> RunSpec:
    return RunSpec.from_json(json.loads(canonical_json(spec.to_json())))


@pytest.mark.parametrize(
    "spec",
    [
        SPEC,
        RunSpec("名\ud800", "0", "", ()),
        replace(SPEC, judge_share=0.2, judging="f" * 64),
        replace(SPEC, limit=3, replicate=2, seed=9, coverage_floor=1.0, share_replies=True),
        *(replace(SPEC, benchmarks=(replace(PART, **{k: v}),)) for k, v in PART_CHANGES.items()),
    ],
)
def test_json_round_trip(spec: RunSpec) -> None:
    assert again(spec) == spec
    assert again(spec).fingerprint == spec.fingerprint


def test_the_vector_of_a_fingerprint() -> None:
    assert SPEC.run_id == SPEC.fingerprint[:16] == "bc05596d05b1cc73"


def test_every_field_changes_the_fingerprint() -> None:
    assert set(CHANGES) == set(RunSpec.__dataclass_fields__)
    assert {*PART_CHANGES, "data_name"} == set(BenchmarkSpec.__dataclass_fields__)
    changed = [replace(SPEC, **{name: value}) for name, value in CHANGES.items()]
    changed += [
        replace(SPEC, benchmarks=(replace(PART, **{name: value}),))
        for name, value in PART_CHANGES.items()
    ]
    assert len({spec.fingerprint for spec in (SPEC, *changed)}) == 1 + len(changed)


@pytest.mark.parametrize("field", ["kind", "name", "revision", "origin"])
def test_every_part_of_an_identity_changes_the_fingerprint(field: str) -> None:
    model = replace(JUDGE, **{field: "other"})  # type: ignore[arg-type]  # these four are texts
    part = replace(PART, models={"judge": model})
    assert replace(SPEC, benchmarks=(part,)).fingerprint != SPEC.fingerprint


def test_neither_keeping_replies_nor_order_of_settings_changes_it() -> None:
    settings = dict(reversed(list(PART.settings.items())))
    part = replace(PART, settings=settings, models={"judge": replace(JUDGE, cached=False)})
    assert replace(SPEC, benchmarks=(part,)).fingerprint == SPEC.fingerprint


def test_nor_does_the_name_that_data_were_fetched_by_which_is_kept() -> None:
    named = replace(SPEC, benchmarks=(replace(PART, data_name="hf:owner/name@1"),))
    assert again(named).benchmarks[0].data_name == "hf:owner/name@1"
    assert named.fingerprint == SPEC.fingerprint
    assert named == SPEC


def test_the_part_of_a_benchmark() -> None:
    assert SPEC.benchmark("capability") is PART
    with pytest.raises(KeyError):
        SPEC.benchmark("comprecap")


def test_labels() -> None:
    assert Identity("tgi", "judge", "0123456789" * 4).label == "judge (tgi, 012345678901)"
    assert Identity("tgi", "vlm", "checkpoint-1500").label == "vlm (tgi, checkpoint-1500)"
    unknown = Identity("triton", "vlm", "", origin=f"1-{'ab' * 32}")
    assert unknown.label == "vlm (triton, no revision, origin 1-abababababab)"
    assert Identity("replay", "replay", "").label == "replay"


def test_the_model_that_a_spec_means() -> None:
    live = Identity("tgi", "judge", "", origin="o")
    assert all(live.matches(named) for named in (live, live.by_origin, replace(live, origin="")))
    for other in (replace(live, origin="p"), replace(live, revision="p"), JUDGE):
        assert not live.matches(other)


def test_a_newer_schema_is_refused_by_name() -> None:
    newer = {**SPEC.to_json(), "schema": SCHEMA + 1}
    with pytest.raises(NewerSchema, match=rf"run.yaml: schema: written with schema {SCHEMA + 1}"):
        RunSpec.from_json(newer, file="run.yaml")
    with pytest.raises(NewerSchema):
        PlanSummary.from_json({**SUMMARY.to_json(), "schema": SCHEMA + 1})


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": None},
        {"schema": "1"},
        {"benchmarks": None},
        {"benchmarks": ["capability"]},
        {"benchmarks": [{}]},
        {"benchmarks": [{**PART.to_json(), "models": {"judge": "me"}}]},
        {"benchmarks": [{**PART.to_json(), "models": None}]},
        {"benchmarks": [{**PART.to_json(), "colour": "red"}]},
        {"colour": "red"},
    ],
)
def test_what_is_no_spec(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"^run\.yaml: "):
        RunSpec.from_json({**SPEC.to_json(), **changes}, file="run.yaml")


@pytest.mark.parametrize("missing", ["name", "version", "pack", "benchmarks", "schema"])
def test_a_spec_that_lacks_something(missing: str) -> None:
    written = SPEC.to_json()
    del written[missing]
    with pytest.raises(InvalidInput):
        RunSpec.from_json(written)


def test_the_summary_of_a_plan() -> None:
    written = json.loads(canonical_json(SUMMARY.to_json()))
    assert PlanSummary.from_json(written) == SUMMARY
    assert SUMMARY.questions == 7


@pytest.mark.parametrize("changes", [{"benchmarks": None}, {"benchmarks": [{"name": "x"}]}])
def test_what_is_no_summary(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="not a plan"):
        PlanSummary.from_json({**SUMMARY.to_json(), **changes})


@pytest.mark.parametrize("name", ["Qwen2.5-VL 7B [a/b]", "模型 é", "half \ud83d of a sign", ""])
def test_names_of_checkpoints(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    "sign", ["\n", "\r", "\t", "\x00", "\x1b", "\x9b", "\u2028", "\u202e", "\u2066", "\u200b"]
)
def test_what_is_no_name_of_a_checkpoint(sign: str) -> None:
    with pytest.raises(InvalidInput, match="expected printable characters only") as caught:
        check_name(f"a{sign}b")
    assert caught.value.field == "name"
    assert str(caught.value).isprintable()
