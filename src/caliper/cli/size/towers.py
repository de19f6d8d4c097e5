"""Parameter counts of vision towers, with the layers that join them to a decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from caliper.cli.size.configuration import Configuration


def _linear(inputs: int, outputs: int) -> int:
    """A matrix and its bias."""
    return (inputs + 1) * outputs


def _block(width: int, inner: int) -> int:
    """Attention, two layers and two norms, all with biases."""
    attention = _linear(width, 3 * width) + _linear(width, width)
    return attention + _linear(width, inner) + _linear(inner, width) + 4 * width


def _patch(tower: Configuration) -> int:
    """The numbers of one patch, over its channels and frames."""
    frames = tower.number("temporal_patch_size", default=1)
    channels = tower.number("in_channels", "in_chans", "num_channels", default=3)
    return int(channels * frames * tower.number("patch_size") ** 2)


def _merger(width: int, norm: int, outputs: int) -> int:
    """Four neighbours become one token of the decoder."""
    return norm + _linear(4 * width, 4 * width) + _linear(4 * width, outputs)


def _qwen2(tower: Configuration, _hidden: int) -> int:
    width, outputs = tower.number("embed_dim"), tower.number("hidden_size")
    blocks = tower.number("depth") * _block(width, tower.number("mlp_ratio") * width)
    return _patch(tower) * width + blocks + _merger(width, 2 * width, outputs)


def _qwen2_5(tower: Configuration, _hidden: int) -> int:
    width, inner = tower.number("hidden_size"), tower.number("intermediate_size")
    layers = 2 * _linear(width, inner) + _linear(inner, width)
    block = _linear(width, 3 * width) + _linear(width, width) + layers + 2 * width
    merger = _merger(width, width, tower.number("out_hidden_size"))
    return _patch(tower) * width + tower.number("depth") * block + merger


def _qwen3(tower: Configuration, _hidden: int) -> int:
    width, outputs = tower.number("hidden_size"), tower.number("out_hidden_size")
    positions = tower.number("num_position_embeddings") * width
    blocks = tower.number("depth") * _block(width, tower.number("intermediate_size"))
    deeper = len(tower.values.get("deepstack_visual_indexes") or ())
    mergers = _merger(width, 2 * width, outputs) + deeper * _merger(width, 8 * width, outputs)
    return _linear(_patch(tower), width) + positions + blocks + mergers


def _vit(tower: Configuration) -> int:
    """Patches, their positions and the blocks."""
    width, layers = tower.number("hidden_size"), tower.number("num_hidden_layers")
    positions = (tower.number("image_size") // tower.number("patch_size")) ** 2 * width
    blocks = layers * _block(width, tower.number("intermediate_size"))
    return _linear(_patch(tower), width) + positions + blocks


def _siglip(tower: Configuration, hidden: int) -> int:
    width = tower.number("hidden_size")
    return _vit(tower) + 2 * width + width * hidden + width


def _intern(tower: Configuration, hidden: int) -> int:
    width, layers = tower.number("hidden_size"), tower.number("num_hidden_layers")
    # Two scales per layer; the largest towers norm queries and keys too, and leave out some biases.
    extra = 2 + 2 * tower.flag("qk_normalization") - 2 * (tower.text("norm_type") == "rms_norm")
    extra -= 3 * (not tower.flag("qkv_bias", default=True))
    joint = 8 * width + _linear(4 * width, hidden) + _linear(hidden, hidden)
    return _vit(tower) + 2 * width + layers * extra * width + joint


_TOWERS: Mapping[str, Callable[[Configuration, int], int]] = {
    "qwen2_vl": _qwen2,
    "qwen2_5_vl": _qwen2_5,
    "qwen3_vl": _qwen3,
    "qwen3_vl_moe": _qwen3,
    "siglip_vision_model": _siglip,
    "intern_vit_6b": _intern,
}
"""By the `model_type` of the tower's part of a config.json."""


def tower_parameters(tower: Configuration, hidden: int) -> int:
    """The numbers of a tower before a decoder of this hidden size. Raises InvalidInput for an
    unknown one.
    """
    kind = tower.text("model_type")
    if kind not in _TOWERS:
        raise tower.error(
            f"the tensors of a vision tower {kind!r} are unknown; name the folder or the "
            f"repository with its safetensors, or one of {', '.join(_TOWERS)}"
        )
    return _TOWERS[kind](tower, hidden)
