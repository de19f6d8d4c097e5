"""What a Triton server tells of a model: tensors, version, and whatever tells weights apart."""

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
"""Those parts of a model's configuration that say what it is. The rest (instances, batching,
queues) says how it is run, and changing that makes no other model of it.
"""

Shape = tuple[int, ...]
ANY = -1
"""A dimension that may have any size."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or output. `shape` has no batch dimension, and `ANY` for what may vary."""

    name: str
    datatype: str
    shape: Shape

    def __str__(self) -> str:
        return f"{self.datatype} {list(self.shape)}"


@dataclass(frozen=True, slots=True)
class ExpectedTensor:
    """A tensor that is needed: one of these types, and one of these shapes, where `ANY` asks
    for nothing. An `optional` one may be absent.
    """

    name: str
    datatypes: tuple[str, ...]
    shapes: tuple[Shape, ...]
    optional: bool = False

    def takes(self, found: Tensor) -> bool:
        """Whether a tensor is one of those that are meant."""
        return found.datatype in self.datatypes and any(
            len(shape) == len(found.shape)
            and all(
                ANY in pair or pair[0] == pair[1] for pair in zip(shape, found.shape, strict=True)
            )
            for shape in self.shapes
        )

    def __str__(self) -> str:
        shapes = " or ".join(str(list(shape)) for shape in self.shapes)
        return f"{' or '.join(self.datatypes)} {shapes}"


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model as the server describes it. `revision` is its version with a digest of what of
    its configuration says what it is; `batch` the most requests in one, 0 for a model without
    a batch dimension.
    """

    name: str
    version: str
    revision: str
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    decoupled: bool
    batch: int

    def check(self, inputs: Sequence[ExpectedTensor], outputs: Sequence[ExpectedTensor]) -> None:
        """Raises InvalidInput with model, tensor, what is expected and what was found."""
        for kind, expected, found in (
            ("input", inputs, self.inputs),
            ("output", outputs, self.outputs),
        ):
            for one in expected:
                tensor = found.get(one.name)
                if tensor is None and not one.optional:
                    raise self._wrong(kind, one, f"no such tensor among {', '.join(found)}")
                if tensor is not None and not one.takes(tensor):
                    raise self._wrong(kind, one, str(tensor))

    def _wrong(self, kind: str, expected: ExpectedTensor, found: str) -> InvalidInput:
        return InvalidInput(
            f"the Triton model {self.name}, version {self.version}, has another {kind} "
            f"{expected.name}: expected {expected}, found {found}",
            field="triton",
        )


def read_served(
    metadata: Mapping[str, Any], config: Mapping[str, Any], version: str
) -> ServedModel:
    """The model in the answers to ModelMetadata and ModelConfig, as JSON.

    `version` is the one that was asked for; without one it is the highest that is ready,
    which is the one that Triton answers with. Raises KeyError, TypeError or ValueError for
    what is no such answer.
    """
    ready = [str(one) for one in metadata.get("versions", ())]
    batch = int(config.get("max_batch_size", 0))
    chosen = version or max(ready, key=int)
    described = {part: config[part] for part in _IDENTIFYING if part in config}
    return ServedModel(
        name=str(metadata["name"]),
        version=chosen,
        revision=f"{chosen}-{digest(described)}",
        inputs=_tensors(metadata.get("inputs", ()), batched=batch > 0),
        outputs=_tensors(metadata.get("outputs", ()), batched=batch > 0),
        decoupled=bool(config.get("model_transaction_policy", {}).get("decoupled", False)),
        batch=batch,
    )


def _tensors(listed: Sequence[Mapping[str, Any]], *, batched: bool) -> dict[str, Tensor]:
    found = {}
    for one in listed:
        shape = tuple(int(size) for size in one.get("shape", ()))
        found[one["name"]] = Tensor(one["name"], one["datatype"], shape[1:] if batched else shape)
    return found
