"""Values into Triton's tensors and out of them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tritonclient.grpc import InferInput, InferResult
from tritonclient.utils import InferenceServerException

from caliper.core.errors import BackendUnavailable


def bytes_input(name: str, values: Sequence[bytes], shape: Sequence[int]) -> InferInput:
    """A BYTES tensor of that shape."""
    return _input(name, "BYTES", np.array(values, dtype=np.object_).reshape(shape))


def flag_input(name: str, *, value: bool) -> InferInput:
    """A BOOL tensor with one value."""
    return _input(name, "BOOL", np.array([value], dtype=np.bool_))


def integers_input(name: str, datatype: str, values: Sequence[Sequence[int]]) -> InferInput:
    """An INT32 or INT64 tensor of as many dimensions as `values` has."""
    kind = np.int32 if datatype == "INT32" else np.int64
    return _input(name, datatype, np.array(values, dtype=kind))


def base64_text(data: bytes) -> bytes:
    """`data` as the vLLM backend takes pictures."""
    return base64.b64encode(data)


def sendable(text: str) -> bytes:
    """UTF-8, with a question mark for every lone surrogate, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace")


def array_of(result: InferResult, name: str) -> NDArray[Any] | None:
    """An output, None where the answer lacks it. Raises BackendUnavailable for a broken one."""
    try:
        found: NDArray[Any] | None = result.as_numpy(name)
    except (ValueError, IndexError, TypeError, InferenceServerException) as error:
        raise BackendUnavailable(f"the output {name} cannot be read: {error!s:.100}") from error
    return found


def text_of(result: InferResult, name: str) -> bytes:
    """The one text of an output. Raises BackendUnavailable when it holds none."""
    found = array_of(result, name)
    if found is None or found.size != 1:
        raise BackendUnavailable(f"the answer's output {name} does not hold one text")
    return bytes(found.ravel()[0])


def number_of(result: InferResult, name: str) -> int:
    """The one number of an output that counts something, 0 where the answer lacks it."""
    found = array_of(result, name)
    return 0 if found is None or found.size != 1 else int(found.ravel()[0])


def decoded(text: bytes) -> str:
    """Raises BackendUnavailable for what is no UTF-8: a text that was cut in half."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BackendUnavailable(f"the answer is no UTF-8: {error.reason}") from error


def _input(name: str, datatype: str, values: NDArray[Any]) -> InferInput:
    tensor = InferInput(name, list(values.shape), datatype)
    tensor.set_data_from_numpy(values)
    return tensor
