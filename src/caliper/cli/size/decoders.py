"""Parameter counts of language models, by family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from caliper.cli.size.configuration import Configuration


@dataclass(frozen=True, slots=True)
class Family:
    """A family of decoders where it differs from Llama's.

    `norms` counts the norms of a layer, `window_period` says that each so-manieth layer sees
    everything and those between a sliding window. `defaults` are values that its config.json may
    leave out.
    """

    qkv_bias: bool = False
    qk_norm: bool = False
    norms: int = 2
    window_period: int = 0
    defaults: Mapping[str, Any] = field(default_factory=dict)


_QWEN2, _QWEN3 = Family(qkv_bias=True), Family(qk_norm=True)
_GEMMA3 = {
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "vocab_size": 262_208,
    "sliding_window": 4096,
    "max_position_embeddings": 131_072,
}
FAMILIES: Mapping[str, Family] = {
    "llama": Family(),
    "mistral": Family(),
    "mixtral": Family(),
    "phi3": Family(),
    "internlm2": Family(),
    "deepseek_v2": Family(),
    "deepseek_v3": Family(),
    "qwen2": _QWEN2,
    "qwen2_vl": _QWEN2,
    "qwen2_vl_text": _QWEN2,
    "qwen2_5_vl": _QWEN2,
    "qwen2_5_vl_text": _QWEN2,
    "qwen3": _QWEN3,
    "qwen3_moe": _QWEN3,
    "qwen3_vl_text": _QWEN3,
    "qwen3_vl_moe_text": _QWEN3,
    "gemma2": Family(norms=4, window_period=2, defaults={"tie_word_embeddings": True}),
    "gemma3_text": Family(
        qk_norm=True,
        norms=4,
        window_period=6,
        defaults={"tie_word_embeddings": True, **_GEMMA3},
    ),
}
"""By the `model_type` of a config.json, or of its part for the language model."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Counts of numbers: of the decoder's linear layers, which quantization shrinks, and of all
    others.
    """

    linear: int
    other: int


def family_of(text: Configuration) -> Family:
    """The family; Llama's for an unknown one, which is enough for the KV cache."""
    return FAMILIES.get(text.text("model_type"), Family())


def with_defaults(text: Configuration) -> Configuration:
    """The configuration, with its family's defaults for missing values."""
    defaults = family_of(text).defaults
    there = {name: value for name, value in text.values.items() if value is not None}
    return Configuration({**defaults, **there}, text.file)


def decoder_parameters(text: Configuration) -> Parameters:
    """Count those of a configuration `with_defaults`. Raises InvalidInput for an unknown family,
    and if a value is missing.
    """
    kind = text.text("model_type")
    if kind not in FAMILIES:
        families = ", ".join(FAMILIES)
        raise text.error(
            f"the tensors of model_type {kind!r} are unknown; name the folder or the "
            f"repository with its safetensors, or one of {families}"
        )
    family, layers, hidden = FAMILIES[kind], text.number("num_hidden_layers"), _hidden(text)
    linear, other = _latent_attention(text) if is_latent(text) else _attention(text, family)
    experts, routers = _mixture(text)
    embeddings = text.number("vocab_size") * hidden
    heads = embeddings * (1 if text.flag("tie_word_embeddings") else 2)
    rest = layers * (other + family.norms * hidden) + hidden + heads
    return Parameters(layers * linear + experts, rest + routers)


def is_latent(text: Configuration) -> bool:
    """Whether keys and values are kept as one compressed vector (MLA)."""
    return "kv_lora_rank" in text.values


def head_width(text: Configuration) -> int:
    """The numbers in the vector of one head."""
    return text.number("head_dim", default=_hidden(text) // text.number("num_attention_heads"))


def key_value_heads(text: Configuration) -> int:
    """The heads of keys and values, which those of queries share (GQA, MQA)."""
    return text.number("num_key_value_heads", default=text.number("num_attention_heads"))


def _hidden(text: Configuration) -> int:
    return text.number("hidden_size")


def _attention(text: Configuration, family: Family) -> tuple[int, int]:
    """The numbers of one layer: in its projections, and in its biases and norms."""
    width, hidden = head_width(text), _hidden(text)
    queries = text.number("num_attention_heads") * width
    both = 2 * key_value_heads(text) * width
    bias = text.flag("attention_bias")
    biases = (queries + both) * (family.qkv_bias or bias) + hidden * bias
    return hidden * (2 * queries + both), biases + 2 * width * family.qk_norm


def _latent_attention(text: Configuration) -> tuple[int, int]:
    hidden, heads = _hidden(text), text.number("num_attention_heads")
    rank, rotary = text.number("kv_lora_rank"), text.number("qk_rope_head_dim")
    plain, value = text.number("qk_nope_head_dim"), text.number("v_head_dim")
    narrow = text.number("q_lora_rank", default=0)
    queries = heads * (plain + rotary)
    query_size = (hidden + queries) * narrow if narrow else hidden * queries
    cache_size = hidden * (rank + rotary) + rank * heads * (plain + value)
    return query_size + cache_size + heads * value * hidden, narrow + rank


def _mixture(text: Configuration) -> tuple[int, int]:
    """The numbers of all layers' feed-forward parts: in their matrices, and in routers."""
    hidden, layers = _hidden(text), text.number("num_hidden_layers")
    dense = 3 * hidden * text.number("intermediate_size")
    experts = text.number("num_local_experts", "num_experts", "n_routed_experts", default=0)
    if not experts:
        return layers * dense, 0
    one = 3 * hidden * text.number("moe_intermediate_size", "intermediate_size")
    plain = text.number("first_k_dense_replace", default=0)
    plain += len(text.values.get("mlp_only_layers") or ())
    sparse = layers - plain
    each = experts + text.number("n_shared_experts", default=0)
    router = experts * (hidden + (text.text("topk_method") == "noaux_tc"))
    return plain * dense + sparse * each * one, sparse * router
