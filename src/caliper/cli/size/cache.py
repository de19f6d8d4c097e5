"""The KV cache of a model: the memory of a call in a GPU."""

from __future__ import annotations

from dataclasses import dataclass

from caliper.cli.size.configuration import Configuration
from caliper.cli.size.decoders import (
    family_of,
    head_width,
    is_latent,
    key_value_heads,
    with_defaults,
)

_BYTES = 2
_FULL, _SLIDING = "full_attention", "sliding_attention"


@dataclass(frozen=True, slots=True)
class Cache:
    """`layer` is the bytes of a token in one layer, in 16-bit numbers. `full` layers keep every
    token, `sliding` ones the last `window`. `heads` bounds what a server splits between GPUs.
    """

    layer: int
    full: int
    heads: int
    sliding: int = 0
    window: int = 0

    @property
    def token(self) -> int:
        """Bytes of a token that every layer keeps."""
        return self.layer * (self.full + self.sliding)

    def call(self, tokens: int) -> int:
        """Bytes of a call of `tokens` tokens."""
        return self.layer * (self.full * tokens + self.sliding * min(tokens, self.window))

    def share(self, gpus: int) -> float:
        """The part that each of `gpus` GPUs keeps: none has less than one head."""
        return 1 / min(gpus, self.heads)


def cache_of(configuration: Configuration) -> Cache:
    """Raises InvalidInput if a value is missing, and for layers of another kind of attention."""
    text = with_defaults(configuration.decoder)
    if is_latent(text):
        # One vector for all heads, which every GPU keeps whole.
        width, heads = text.number("kv_lora_rank") + text.number("qk_rope_head_dim"), 1
    else:
        heads = key_value_heads(text)
        width = 2 * heads * head_width(text)
    layers, sliding = text.number("num_hidden_layers"), _sliding_layers(text)
    window = text.number("sliding_window") if sliding else 0
    return Cache(width * _BYTES, layers - sliding, heads, sliding, window)


def _sliding_layers(text: Configuration) -> int:
    layers = text.number("num_hidden_layers")
    kinds = text.values.get("layer_types")
    if kinds:
        if other := sorted(set(kinds) - {_FULL, _SLIDING}):
            raise text.error(f"the cache of layer_types {other[0]!r} is unknown")
        return int(kinds.count(_SLIDING))
    if period := text.number("sliding_window_pattern", default=family_of(text).window_period):
        return layers - layers // period
    used = text.flag("use_sliding_window", default=True)
    return layers if used and text.number("sliding_window", default=0) else 0
