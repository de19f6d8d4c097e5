from typing import Any

import pytest

from caliper.adapters.models.triton_metadata import ANY, ExpectedTensor, ServedModel, read_model
from caliper.core.errors import InvalidInput


def metadata(**changed: Any) -> dict[str, Any]:
    told = {
        "name": "captioner",
        "versions": ["2", "10"],
        "inputs": [{"name": "image", "datatype": "BYTES", "shape": ["-1", "1"]}],
        "outputs": [{"name": "caption", "datatype": "BYTES", "shape": ["-1", "1"]}],
    }
    return told | changed


def served(config: dict[str, Any] | None = None, version: str = "") -> ServedModel:
    return read_model(metadata(), {"max_batch_size": 8} if config is None else config, version)


def test_without_a_version_the_highest_number_answers() -> None:
    assert served().version == "10"
    assert served(version="2").version == "2"


def test_the_batch_dimension_is_no_part_of_a_shape() -> None:
    assert served().inputs["image"].shape == (1,)
    assert served({}).inputs["image"].shape == (ANY, 1)


def test_the_revision_follows_what_a_model_is_and_not_how_it_is_run() -> None:
    plain = served({"backend": "python"})
    run_otherwise = {"backend": "python", "instance_group": [{"count": 4}], "dynamic_batching": {}}
    assert served(run_otherwise).revision == plain.revision
    other = {"backend": "python", "parameters": {"checkpoint": {"string_value": "b"}}}
    assert served(other).revision != plain.revision
    assert served({"backend": "python"}, "2").revision != plain.revision


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        (
            ExpectedTensor("image", ("FP32",), ((1,),)),
            r"input image: expected FP32 \[1\], found BYTES",
        ),
        (
            ExpectedTensor("image", ("BYTES",), ((1, 1),)),
            r"expected BYTES \[1, 1\], found BYTES \[1\]",
        ),
        (
            ExpectedTensor("image", ("BYTES",), ((3,), (4,))),
            r"expected BYTES \[3\] or \[4\], found",
        ),
        (
            ExpectedTensor("prompt", ("BYTES",), ((1,),)),
            "input prompt.* no such tensor among image",
        ),
    ],
)
def test_a_wrong_tensor_is_named_with_what_is_expected_and_found(
    expected: ExpectedTensor, told: str
) -> None:
    with pytest.raises(InvalidInput, match=f"captioner, version 10, .*{told}"):
        served().check([expected], [])


def test_a_dimension_of_any_size_takes_every_size() -> None:
    served().check([ExpectedTensor("image", ("BYTES",), ((ANY,),))], [])
    served().check([ExpectedTensor("prompt", ("BYTES",), ((1,),), optional=True)], [])


@pytest.mark.parametrize("broken", [{"versions": []}, {"versions": ["new"]}, {"inputs": [{}]}])
def test_what_is_no_description_is_an_error(broken: dict[str, Any]) -> None:
    with pytest.raises((KeyError, ValueError)):
        read_model(metadata(**broken), {}, "")
