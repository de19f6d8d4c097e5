"""How it is found out by what name a vLLM backend takes schemas, when there is trouble as well."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np
import pytest
from tritonclient.grpc import InferInput

from caliper.adapters.models.chat_template import chat_template
from caliper.adapters.models.triton_metadata import ServedModel, Tensor
from caliper.adapters.models.triton_vllm import VllmShape
from caliper.core.errors import BackendOverloaded, BackendUnavailable
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage

SCHEMA = {"type": "object"}
INPUTS = {
    "text_input": "BYTES",
    "sampling_parameters": "BYTES",
    "exclude_input_in_output": "BOOL",
    "stream": "BOOL",
}


class TextResult:
    """tritonclient.grpc.InferResult, of one text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def as_numpy(self, name: str) -> Any:
        return np.array([self._text.encode()], dtype=object) if name == "text_output" else None


class Backend:
    """adapters.models.triton_client.TritonClient, of a backend that knows schemas by some names
    and fails in the first calls.
    """

    def __init__(self, known: Sequence[str], troubles: Sequence[Exception] = ()) -> None:
        self.known, self.troubles = known, list(troubles)
        self.sampling: list[dict[str, Any]] = []

    async def stream(self, inputs: Sequence[InferInput]) -> AsyncIterator[TextResult]:
        given = next(each for each in inputs if each.name() == "sampling_parameters")
        # As the client sends it: behind the length, in four bytes.
        sampling = json.loads(given._get_content()[4:])
        self.sampling.append(sampling)
        if self.troubles:
            raise self.troubles.pop(0)
        names = [name for name in ("structured_outputs", "guided_decoding") if name in sampling]
        if not set(names) <= set(self.known):
            raise BackendUnavailable("'NoneType' object has no attribute 'lora_name'")
        yield TextResult('{"answer": true}' if names else "A dog.")


def shape_of(backend: Backend) -> VllmShape:
    tensors = {name: Tensor(name, kind, (1,)) for name, kind in INPUTS.items()}
    output = {"text_output": Tensor("text_output", "BYTES", (-1,))}
    served = ServedModel("model", "1", "1-a", tensors, output, decoupled=True, batch=0)
    return VllmShape(backend, served, chat_template("plain", None))  # type: ignore[arg-type]  # see above


@pytest.mark.parametrize(
    ("known", "form"),
    [
        (("structured_outputs",), "structured_outputs"),
        (("guided_decoding",), "guided_decoding"),
        ((), ""),
    ],
)
@pytest.mark.parametrize("troubles", [0, 1, 2])
async def test_trouble_that_passes_does_not_turn_schemas_off(
    known: Sequence[str], form: str, troubles: int
) -> None:
    backend = Backend(known, [BackendUnavailable("server restarting")] * troubles)
    shape = shape_of(backend)
    shape.form = await shape.find_form()
    assert shape.form == form
    for _ in range(2):
        await shape.complete([ChatMessage("user", ("a",))], Decoding(), SCHEMA)
    names = [
        set(sampling) & {"structured_outputs", "guided_decoding"} for sampling in backend.sampling
    ]
    assert names[-2:] == [{form} - {""}] * 2


@pytest.mark.parametrize("error", [BackendUnavailable("gone"), BackendOverloaded("full")])
async def test_trouble_that_lasts_tells_nothing_of_schemas(error: Exception) -> None:
    with pytest.raises(type(error)):
        await shape_of(Backend((), [error] * 9)).find_form()


def test_replies_that_kept_to_a_schema_are_told_apart() -> None:
    guided, free = shape_of(Backend(())), shape_of(Backend(()))
    guided.form = "guided_decoding"
    assert guided.format_digest != free.format_digest
