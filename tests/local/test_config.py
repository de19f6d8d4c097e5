from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from caliper.benchmarks.registry import BUILT_IN
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.local.config import RunConfig, check_config, read_config, relative_to

PART = {"data": "data", "captions": "captions.json"}


def config(**part: Any) -> dict[str, Any]:
    return {"benchmarks": {"captionqa": {**PART, **part}}}


def refused(written: dict[str, Any]) -> str:
    with pytest.raises(InvalidInput) as caught:
        check_config(written, file="run.yaml")
    return str(caught.value)


def test_defaults() -> None:
    found = check_config(config())
    part = found.benchmarks["captionqa"]
    assert (found.seed, found.limit, found.replicate, found.coverage_floor) == (0, None, 0, 0.99)
    assert (part.prompt, part.tagger, part.embedder, part.set) == ("simple", "rules", "ngram", {})


def test_unknown_keys_list_the_known_ones() -> None:
    told = refused({**config(), "sede": 3})
    assert told.startswith("run.yaml: sede: unknown key; known: anchors, benchmarks, ")
    assert "seed" in told
    told = refused(config(promt="long"))
    assert told.startswith(
        "run.yaml: benchmarks.captionqa.promt: unknown key; known: caption_tokens, "
    )
    assert "prompt" in told


@pytest.mark.parametrize(
    "part", [{"captions": None}, {"captioner": "tgi:http://localhost"}], ids=["neither", "both"]
)
def test_exactly_one_source_of_captions(part: dict[str, Any]) -> None:
    assert "give exactly one of captions and captioner" in refused(config(**part))


def captioned(preparation: dict[str, Any]) -> dict[str, Any]:
    part = {"captions": None, "captioner": "tgi:http://localhost", "preparation": preparation}
    return config(**part)


def test_what_a_captioner_is_shown() -> None:
    written = {"frames": 768, "fps": 2.0, "quality": "75"}
    shown = check_config(captioned(written)).benchmarks["captionqa"].prepared
    assert shown == Preparation(768, Fraction(2), quality=75)
    assert check_config(captioned({})).benchmarks["captionqa"].prepared == Preparation()
    assert check_config(config()).benchmarks["captionqa"].prepared is None


@pytest.mark.parametrize(
    ("preparation", "message"),
    [
        ({"frame": 8}, "unknown preparation 'frame'; known: frames, fps, longest"),
        ({"fps": 2}, "frames: fps needs a limit"),
        ({"longest": 1}, "longest: not from 16 to 8192"),
    ],
)
def test_a_wrong_preparation(preparation: dict[str, Any], message: str) -> None:
    told = refused(captioned(preparation))
    assert told.startswith(f"run.yaml: benchmarks.captionqa.preparation: {message}")


def test_a_taxonomy_is_for_the_prompt_that_lists_one() -> None:
    for part in ({"prompt": "taxonomy"}, {"captions": None, "captioner": "tgi:http://localhost"}):
        told = refused(config(taxonomy="tree.yaml", **part))
        assert "a taxonomy is for a captioner with the caption prompt taxonomy" in told


def test_supplied_captions_were_prepared_elsewhere() -> None:
    assert "only captioners write captions" in refused(config(caption_tokens=512))
    assert "only captioners see media" in refused(config(preparation={"frames": 8}))


def test_an_unknown_benchmark() -> None:
    told = refused({"benchmarks": {"coco": PART}})
    assert "unknown benchmark 'coco'; known: capability, captionqa, comprecap" in told


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", -1), ("limit", 0), ("replicate", -1), ("coverage_floor", 1.01),
        ("coverage_floor", float("nan")), ("concurrency", 0), ("seed", "many"), ("limit", 1.5),
        ("limit", True), ("coverage_floor", True),
        ("benchmarks", {}), ("benchmarks", None), ("benchmarks", [PART]), ("name", 3),
    ],
)  # fmt: skip
def test_values_out_of_range_name_their_field(key: str, value: Any) -> None:
    assert refused({**config(), key: value}).startswith(f"run.yaml: {key}: ")


@pytest.mark.parametrize("repeats", [0, 101, "x"])
def test_repeats_out_of_range(repeats: Any) -> None:
    assert refused(config(repeats=repeats)).startswith("run.yaml: benchmarks.captionqa.repeats: ")


def test_the_order_of_benchmarks_is_one() -> None:
    parts = dict.fromkeys(reversed(list(BUILT_IN)), PART)
    assert tuple(check_config({"benchmarks": parts}).benchmarks) == tuple(BUILT_IN)


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({"name": "ours"}, "ours"),
        ({}, "captions"),
        ({"benchmarks": {"captionqa": {**PART, "captions": "caps/blip.v2.json"}}}, "blip.v2"),
        ({"benchmarks": {"captionqa": {"data": "d", "captioner": "tgi:http://h/v1#org/m"}}}, "m"),
        ({"benchmarks": {"captionqa": {"data": "d", "captioner": "triton:h:1/m#load=yes"}}}, ""),
    ],
)
def test_the_label_of_the_checkpoint(changes: dict[str, Any], label: str) -> None:
    assert check_config({**config(), **changes}).label == label


def a_file(folder: Path, text: str | bytes) -> Path:
    file = folder / "run.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


WHOLE = """\
benchmarks:
  captionqa:
    data: ../data
    captions: /elsewhere/captions.json
    qa_replies: replies
    reader: replay:replies
    embedder: minilm:models/minilm
    set: {max_tokens: 64, reading: released}
seed: 3
store: kept
"""


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    found = read_config(a_file(tmp_path, WHOLE))
    part = found.benchmarks["captionqa"]
    assert part.data == tmp_path / "../data"
    assert part.captions == Path("/elsewhere/captions.json")
    assert part.qa_replies == tmp_path / "replies"
    assert part.reader == f"replay:{tmp_path}/replies"
    assert part.embedder == f"minilm:{tmp_path}/models/minilm"
    assert (found.store, found.out, part.media) == (tmp_path / "kept", None, None)
    assert part.set == {"max_tokens": "64", "reading": "released"}


@pytest.mark.parametrize("spec", ["lexical", "tgi:http://host/v1#m", "tgi:replay:x"])
def test_specs_that_hold_no_folder_stay(spec: str) -> None:
    found = relative_to(check_config(config(reader=spec)), Path("/base"))
    assert found.benchmarks["captionqa"].reader == spec


@pytest.mark.parametrize("embedder", ["ngram", "minilm"])
def test_an_embedder_without_a_folder_stays(embedder: str) -> None:
    found = relative_to(check_config(config(embedder=embedder)), Path("/base"))
    assert found.benchmarks["captionqa"].embedder == embedder


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("seed: [1\nname: x\n", "run.yaml:2: "),
        ("seed: 1\n  name: x\n", "run.yaml:2: "),
        ("seed: 1\nname: 'x\n", "run.yaml:3: "),
        ("seed: !!python/object:os.system x\n", "run.yaml:1: "),
        ("a: b\n---\nc: d\n", "run.yaml:2: "),
        (b"name: \xff\n", "run.yaml: not UTF-8"),
        ("name: \x01\n", "run.yaml: "),
        ("name: 2026-02-30\n", "run.yaml: not YAML: "),
        ("seed: 1\nname: x\nseed: 2\n", "run.yaml:3: the key seed appears twice"),
        ("a: &a [1]\nb: *a\n", "run.yaml:2: not YAML: aliases such as *a are not supported"),
        ("- [{a: 1, b: {c: 1, 'c': 2}}]\n", "run.yaml:1: the key c appears twice"),
        ("captionqa\n  - x: y: z\n", "run.yaml:2: not YAML: "),
        ("[" * 20000, "run.yaml: not YAML: "),
        ("", "expected a mapping"),
        ("- captionqa\n", "expected a mapping"),
        ("captionqa\n", "expected a mapping"),
    ],
)
def test_what_is_no_yaml_names_file_and_line(tmp_path: Path, text: str | bytes, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_config(a_file(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path / "run.yaml"))
    assert told in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(InvalidInput, match=f"{path}: cannot read it"):
            read_config(path)


def test_a_configuration_cannot_be_changed() -> None:
    found: Any = check_config(config())
    with pytest.raises(ValueError, match="frozen"):
        found.seed = 3
    assert isinstance(found, RunConfig)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("seed: 1\nsede: 3\n", "2: sede: unknown key"),
        ("seed: -1\n", "1: seed: "),
        (
            "benchmarks:\n  captionqa:\n    data: d\n    promt: long\n",
            "4: benchmarks.captionqa.promt",
        ),
        ("benchmarks:\n  captionqa:\n    data: d\n", "2: benchmarks.captionqa: give exactly one"),
    ],
)
def test_errors_name_file_line_and_field(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(text if "benchmarks" in text else f"{text}benchmarks: {{captionqa: {PART}}}\n")
    with pytest.raises(InvalidInput) as caught:
        read_config(file)
    assert str(caught.value).startswith(f"{file}:{told}")
