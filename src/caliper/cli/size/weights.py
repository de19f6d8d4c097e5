"""The bytes of a model's weights by the type of its numbers, from its config.json alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caliper.cli.size.configuration import Configuration
from caliper.cli.size.decoders import decoder_parameters, with_defaults
from caliper.cli.size.towers import tower_parameters

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_SHORT = {"float32": "F32", "bfloat16": "BF16", "float16": "F16"}
_SCALE, _BLOCK_SCALE = 2, 4


def weight_bytes(configuration: Configuration) -> Mapping[str, int]:
    """Bytes by type: exact without quantization, else to about 0.1%. Raises InvalidInput for a
    family, type or quantization that is not known, and if a value is missing.
    """
    text = with_defaults(configuration.decoder)
    dtype = text.text("torch_dtype", "dtype")
    if dtype not in _BYTES:
        raise text.error(f"torch_dtype {dtype!r} is not one of {', '.join(_BYTES)}")
    decoder, tower = decoder_parameters(text), configuration.tower
    other = decoder.other
    if tower is not None:
        other += tower_parameters(tower, text.number("hidden_size"))
    quantization = text.values.get("quantization_config")
    if not quantization:
        return {_SHORT[dtype]: (decoder.linear + other) * _BYTES[dtype]}
    name, each = _quantization(Configuration(quantization, text.file))
    return {name: round(decoder.linear * each), _SHORT[dtype]: other * _BYTES[dtype]}


def _quantization(settings: Configuration) -> tuple[str, float]:
    """The name of a quantization, and its bytes per number with its scales."""
    method = settings.text("quant_method")
    if method == "fp8":
        rows, columns = settings.values.get("weight_block_size") or (0, 0)
        return "FP8", 1 + (_BLOCK_SCALE / (rows * columns) if rows else 0)
    if method in ("awq", "gptq"):
        bits, group = settings.number("bits"), settings.number("group_size")
        # Each group has a scale and a zero.
        return f"{method.upper()} {bits} bits", bits / 8 + (_SCALE + bits / 8) / group
    if method == "compressed-tensors":
        groups: Mapping[str, Any] = settings.values.get("config_groups") or {}
        weights = next((each.get("weights") for each in groups.values()), None) or {}
        form = Configuration(weights, settings.file)
        bits, group = form.number("num_bits"), form.number("group_size", default=0)
        return f"{bits} bits", bits / 8 + (_SCALE / group if group else 0)
    raise settings.error(
        f"the quantization {method!r} is unknown; name the folder or the repository with "
        "its safetensors"
    )
