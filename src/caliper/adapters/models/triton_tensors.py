"""Conversion of values to and from Triton's tensors."""

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
    """`data` in the form that the vLLM backend expects of pictures."""
    return base64.b64encode(data)


def encode_text(text: str) -> bytes:
    """UTF-8, with a question mark for every lone surrogate, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace")


def array_of(result: InferResult, name: str) -> NDArray[Any] | None:
    """An output, None if the answer lacks it. Raises BackendUnavailable for a malformed one."""
    try:
        array: NDArray[Any] | None = result.as_numpy(name)
    except (ValueError, IndexError, TypeError, InferenceServerException) as error:
        raise BackendUnavailable(f"the output {name} cannot be read: {error!s:.100}") from error
    return array


def text_of(result: InferResult, name: str) -> bytes:
    """The only text of an output. Raises BackendUnavailable unless it holds exactly one."""
    array = array_of(result, name)
    if array is None or array.size != 1:
        raise BackendUnavailable(f"the answer's output {name} does not hold one text")
    return bytes(array.ravel()[0])


def number_of(result: InferResult, name: str) -> int:
    """The only number of an output, 0 if the answer lacks it."""
    array = array_of(result, name)
    return 0 if array is None or array.size != 1 else int(array.ravel()[0])


def decode_text(text: bytes) -> str:
    """Decode UTF-8. Raises BackendUnavailable if it is invalid, such as a truncated text."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BackendUnavailable(f"the answer is not valid UTF-8: {error.reason}") from error


def _input(name: str, datatype: str, values: NDArray[Any]) -> InferInput:
    tensor = InferInput(name, list(values.shape), datatype)
    tensor.set_data_from_numpy(values)
    return tensor
