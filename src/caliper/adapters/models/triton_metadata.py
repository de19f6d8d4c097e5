"""A Triton server's metadata of a model: tensors, version, and the configuration's digest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.keys import digest

_IDENTIFYING = (
    "name",
    "platform",
    "backend",
    "runtime",
    "default_model_filename",
    "input",
    "output",
    "parameters",
    "model_transaction_policy",
    "ensemble_scheduling",
)
"""The parts of a model's configuration that identify it. The rest (instances, batching, queues)
only says how it runs; changing that does not make it another model.
"""

Shape = tuple[int, ...]
ANY = -1
"""A dimension that may have any size."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or output. `shape` excludes the batch dimension; `ANY` marks a variable size."""

    name: str
    datatype: str
    shape: Shape

    def __str__(self) -> str:
        return f"{self.datatype} {list(self.shape)}"


@dataclass(frozen=True, slots=True)
class ExpectedTensor:
    """A required tensor: one of these types and one of these shapes, where `ANY` matches any size.

    An `optional` one may be absent.
    """

    name: str
    datatypes: tuple[str, ...]
    shapes: tuple[Shape, ...]
    optional: bool = False

    def matches(self, tensor: Tensor) -> bool:
        """Whether a tensor matches."""
        return tensor.datatype in self.datatypes and any(
            len(shape) == len(tensor.shape)
            and all(
                ANY in pair or pair[0] == pair[1] for pair in zip(shape, tensor.shape, strict=True)
            )
            for shape in self.shapes
        )

    def __str__(self) -> str:
        shapes = " or ".join(str(list(shape)) for shape in self.shapes)
        return f"{' or '.join(self.datatypes)} {shapes}"


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model as the server describes it.

    `revision` is its version with a digest of the identifying parts of its configuration. `batch`
    is the maximum batch size, 0 for a model without a batch dimension.
    """

    name: str
    version: str
    revision: str
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    decoupled: bool
    batch: int

    def check(self, inputs: Sequence[ExpectedTensor], outputs: Sequence[ExpectedTensor]) -> None:
        """Raises InvalidInput naming model, tensor, expected and actual type."""
        for kind, expectations, tensors in (
            ("input", inputs, self.inputs),
            ("output", outputs, self.outputs),
        ):
            for expected in expectations:
                tensor = tensors.get(expected.name)
                if tensor is None and not expected.optional:
                    raise self._wrong(kind, expected, f"no such tensor among {', '.join(tensors)}")
                if tensor is not None and not expected.matches(tensor):
                    raise self._wrong(kind, expected, str(tensor))

    def _wrong(self, kind: str, expected: ExpectedTensor, actual: str) -> InvalidInput:
        return InvalidInput(
            f"the Triton model {self.name}, version {self.version}, has another {kind} "
            f"{expected.name}: expected {expected}, found {actual}",
            field="triton",
        )


def read_model(metadata: Mapping[str, Any], config: Mapping[str, Any], version: str) -> ServedModel:
    """Parse the JSON answers to ModelMetadata and ModelConfig.

    `version` is the requested one; if empty, it is the highest ready version, which Triton
    answers with. Raises KeyError, TypeError or ValueError for malformed answers.
    """
    ready = [str(one) for one in metadata.get("versions", ())]
    batch = int(config.get("max_batch_size", 0))
    number = version or max(ready, key=int)
    identifying = {part: config[part] for part in _IDENTIFYING if part in config}
    return ServedModel(
        name=str(metadata["name"]),
        version=number,
        revision=f"{number}-{digest(identifying)}",
        inputs=_tensors(metadata.get("inputs", ()), batched=batch > 0),
        outputs=_tensors(metadata.get("outputs", ()), batched=batch > 0),
        decoupled=bool(config.get("model_transaction_policy", {}).get("decoupled", False)),
        batch=batch,
    )


def _tensors(entries: Sequence[Mapping[str, Any]], *, batched: bool) -> dict[str, Tensor]:
    tensors = {}
    for entry in entries:
        shape = tuple(int(size) for size in entry.get("shape", ()))
        inner = shape[1:] if batched else shape
        tensors[entry["name"]] = Tensor(entry["name"], entry["datatype"], inner)
    return tensors
