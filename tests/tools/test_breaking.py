"""Every kind of break is found and named; additions break nothing."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

ROOT = Path(__file__).parents[2]
LANDED = FileDescriptorSet.FromString((ROOT / "proto" / "descriptors.binpb").read_bytes())


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("breaking", ROOT / "tools" / "breaking.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules["breaking"] = module
    spec.loader.exec_module(module)
    return module


breaks: Callable[[FileDescriptorSet, FileDescriptorSet], list[str]] = load().breaks


def changed() -> FileDescriptorSet:
    copy = FileDescriptorSet()
    copy.CopyFrom(LANDED)
    return copy


def file(descriptors: FileDescriptorSet, name: str) -> FileDescriptorProto:
    return next(one for one in descriptors.file if one.name.endswith(f"/{name}.proto"))


def message(descriptors: FileDescriptorSet, place: str, name: str) -> DescriptorProto:
    return next(one for one in file(descriptors, place).message_type if one.name == name)


def field(descriptors: FileDescriptorSet, place: str, name: str, of: str) -> FieldDescriptorProto:
    return next(one for one in message(descriptors, place, name).field if one.name == of)


def enum(descriptors: FileDescriptorSet, place: str, name: str) -> EnumDescriptorProto:
    return next(one for one in file(descriptors, place).enum_type if one.name == name)


def remove_file(it: FileDescriptorSet) -> None:
    del it.file[[one.name for one in it.file].index("caliper/api/judge/v1/judge.proto")]


def remove_message(it: FileDescriptorSet) -> None:
    del file(it, "messages").message_type[0]


def remove_enum(it: FileDescriptorSet) -> None:
    del file(it, "messages").enum_type[0]


def remove_service(it: FileDescriptorSet) -> None:
    del file(it, "aggregator").service[0]


def remove_method(it: FileDescriptorSet) -> None:
    del file(it, "evaluate").service[0].method[0]


def remove_field(it: FileDescriptorSet) -> None:
    del message(it, "outcome", "Score").field[0]


def renumber_field(it: FileDescriptorSet) -> None:
    field(it, "outcome", "Score", "numerator").number = 9


def rename_field(it: FileDescriptorSet) -> None:
    field(it, "outcome", "Score", "numerator").name = "top"


def retype_field(it: FileDescriptorSet) -> None:
    field(it, "outcome", "Score", "numerator").type = FieldDescriptorProto.TYPE_SINT64


def retype_message_field(it: FileDescriptorSet) -> None:
    field(it, "outcome", "Verdict", "evidence").type_name = ".caliper.api.types.v1.Score"


def repeat_field(it: FileDescriptorSet) -> None:
    field(it, "outcome", "Score", "numerator").label = FieldDescriptorProto.LABEL_REPEATED


def change_presence(it: FileDescriptorSet) -> None:
    field(it, "outcome", "Estimate", "low").proto3_optional = False


def leave_oneof(it: FileDescriptorSet) -> None:
    field(it, "outcome", "Verdict", "score").ClearField("oneof_index")


def remove_value(it: FileDescriptorSet) -> None:
    del enum(it, "outcome", "Reason").value[3]


def renumber_value(it: FileDescriptorSet) -> None:
    enum(it, "outcome", "Reason").value[3].number = 77


def stop_streaming(it: FileDescriptorSet) -> None:
    watch = next(m for m in file(it, "evaluate").service[0].method if m.name == "WatchEvaluation")
    watch.server_streaming = False


def answer_otherwise(it: FileDescriptorSet) -> None:
    method = file(it, "judge").service[0].method[0]
    method.output_type = ".caliper.api.judge.v1.DescribeResponse"


TYPES = "caliper.api.types.v1"
PLANTED: list[tuple[Callable[[FileDescriptorSet], None], str]] = [
    (remove_file, "file caliper/api/judge/v1/judge.proto is gone"),
    (remove_message, "message caliper.api.stream.v1.Caption is gone"),
    (remove_enum, "enum caliper.api.stream.v1.Source is gone"),
    (remove_service, "service caliper.api.aggregator.v1.AggregatorService is gone"),
    (remove_method, "method caliper.api.evaluate.v1.EvaluateService.StartEvaluation is gone"),
    (remove_field, f"field {TYPES}.Score.numerator = 1 is gone"),
    (renumber_field, f"field {TYPES}.Score.numerator = 1 is gone"),
    (rename_field, f"field {TYPES}.Score.numerator = 1: its name was numerator, now top"),
    (retype_field, f"field {TYPES}.Score.numerator = 1: its type was int64, now sint64"),
    (retype_message_field, f"field {TYPES}.Verdict.evidence = 4: its type was message"),
    (repeat_field, f"field {TYPES}.Score.numerator = 1: its label was optional, now repeated"),
    (change_presence, f"field {TYPES}.Estimate.low = 3: its presence was explicit, now implicit"),
    (leave_oneof, f"field {TYPES}.Verdict.score = 2: its oneof was outcome, now none"),
    (remove_value, f"value {TYPES}.Reason.REASON_MEDIA_MISSING = 3 is gone"),
    (renumber_value, f"value {TYPES}.Reason.REASON_MEDIA_MISSING = 3: its number is now 77"),
    (stop_streaming, "EvaluateService.WatchEvaluation: its server_streaming was True, now False"),
    (answer_otherwise, "JudgeService.Judge: its output_type was .caliper.api.judge.v1.Judge"),
]


@pytest.mark.parametrize(("plant", "told"), PLANTED, ids=[plant.__name__ for plant, _ in PLANTED])
def test_a_planted_break_is_named(plant: Callable[[FileDescriptorSet], None], told: str) -> None:
    planted = changed()
    plant(planted)
    assert any(told in problem for problem in breaks(LANDED, planted))


def test_a_change_inside_a_nested_message_is_found() -> None:
    planted = changed()
    message(planted, "run", "BenchmarkSpec").nested_type[0].field[1].name = "other"
    assert breaks(LANDED, planted) == [
        f"field {TYPES}.BenchmarkSpec.SettingsEntry.value = 2: its name was value, now other"
    ]


def test_what_is_only_added_breaks_nothing() -> None:
    grown = changed()
    message(grown, "outcome", "Score").field.add(name="more", number=99)
    enum(grown, "outcome", "Reason").value.add(name="REASON_MORE", number=99)
    file(grown, "outcome").message_type.add(name="More")
    file(grown, "judge").service[0].method.add(name="More")
    grown.file.add(name="caliper/api/more/v1/more.proto", package="caliper.api.more.v1")
    assert breaks(LANDED, grown) == []
    assert breaks(LANDED, LANDED) == []
