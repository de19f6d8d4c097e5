"""The config.json of published models, as far as `caliper size` reads it, with the bytes of their
tensors: `total_size` in each repository's model.safetensors.index.json.
"""

from __future__ import annotations

from typing import Any


def decoder(
    kind: str, sizes: tuple[int, int, int], heads: tuple[int, int], words: int, **others: Any
) -> dict[str, Any]:
    """A decoder of sizes: hidden, intermediate, layers; heads: of queries, of keys and values."""
    hidden, intermediate, layers = sizes
    return {
        "model_type": kind,
        "torch_dtype": "bfloat16",
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": heads[0],
        "num_key_value_heads": heads[1],
        "vocab_size": words,
        "max_position_embeddings": 32_768,
        "sliding_window": None,
        "tie_word_embeddings": False,
        **others,
    }


def _qwen3_tower(depth: int, width: int, inner: int, out: int, deep: list[int]) -> dict[str, Any]:
    return {
        "model_type": "qwen3_vl",
        "depth": depth,
        "hidden_size": width,
        "intermediate_size": inner,
        "out_hidden_size": out,
        "num_position_embeddings": 2304,
        "deepstack_visual_indexes": deep,
        "in_channels": 3,
        "patch_size": 16,
        "temporal_patch_size": 2,
    }


_QWEN2 = {"in_chans": 3, "patch_size": 14, "temporal_patch_size": 2, "depth": 32}
_QWEN2_VL = {"embed_dim": 1280, "mlp_ratio": 4, "hidden_size": 3584}
_QWEN2_5_VL = {"hidden_size": 1280, "intermediate_size": 3420, "out_hidden_size": 3584}
_LATENT = {
    "kv_lora_rank": 512,
    "q_lora_rank": None,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "moe_intermediate_size": 1408,
    "first_k_dense_replace": 1,
}
_SIGLIP = {
    "model_type": "siglip_vision_model",
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 27,
    "image_size": 896,
    "patch_size": 14,
}
_INTERN = {
    "model_type": "intern_vit_6b",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "image_size": 448,
    "patch_size": 14,
    "qk_normalization": False,
    "qkv_bias": True,
    "norm_type": "layer_norm",
}
_EXPERTS = {"head_dim": 128, "num_experts": 128, "mlp_only_layers": []}
_QWEN_7B = ((3584, 18_944, 28), (28, 4), 152_064)
_LLAMA_8B = ((4096, 14_336, 32), (32, 8))
_QWEN3_8B = ((4096, 12_288, 36), (32, 8), 151_936)

CONFIGS: dict[str, dict[str, Any]] = {
    "Qwen/Qwen2.5-7B-Instruct": decoder("qwen2", *_QWEN_7B),
    "Qwen/Qwen2.5-14B-Instruct": decoder("qwen2", (5120, 13_824, 48), (40, 8), 152_064),
    "Qwen/Qwen2.5-72B-Instruct": decoder("qwen2", (8192, 29_568, 80), (64, 8), 152_064),
    "Qwen/Qwen2-VL-7B-Instruct": decoder(
        "qwen2_vl", *_QWEN_7B, vision_config={**_QWEN2, **_QWEN2_VL}
    ),
    "Qwen/Qwen2.5-VL-7B-Instruct": decoder(
        "qwen2_5_vl", *_QWEN_7B, vision_config={**_QWEN2, **_QWEN2_5_VL}
    ),
    "Qwen/Qwen3-8B": decoder("qwen3", *_QWEN3_8B, head_dim=128),
    "Qwen/Qwen3-30B-A3B-Instruct-2507": decoder(
        "qwen3_moe", (2048, 6144, 48), (32, 4), 151_936, moe_intermediate_size=768, **_EXPERTS
    ),
    "Qwen/Qwen3-235B-A22B": decoder(
        "qwen3_moe", (4096, 12_288, 94), (64, 4), 151_936, moe_intermediate_size=1536, **_EXPERTS
    ),
    "Qwen/Qwen3-VL-4B-Instruct": {
        "model_type": "qwen3_vl",
        "text_config": decoder(
            "qwen3_vl_text",
            (2560, 9728, 36),
            (32, 8),
            151_936,
            head_dim=128,
            tie_word_embeddings=True,
        ),
        "vision_config": _qwen3_tower(24, 1024, 4096, 2560, [5, 11, 17]),
    },
    "Qwen/Qwen3-VL-8B-Instruct": {
        "model_type": "qwen3_vl",
        "text_config": decoder("qwen3_vl_text", *_QWEN3_8B, head_dim=128),
        "vision_config": _qwen3_tower(27, 1152, 4304, 4096, [8, 16, 24]),
    },
    "meta-llama/Llama-3.1-8B-Instruct": decoder("llama", *_LLAMA_8B, 128_256),
    "meta-llama/Llama-3.1-70B-Instruct": decoder("llama", (8192, 28_672, 80), (64, 8), 128_256),
    "mistralai/Mistral-7B-Instruct-v0.3": decoder("mistral", *_LLAMA_8B, 32_768),
    "mistralai/Mixtral-8x7B-Instruct-v0.1": decoder(
        "mixtral", *_LLAMA_8B, 32_000, num_local_experts=8
    ),
    "microsoft/phi-4": decoder("phi3", (5120, 17_920, 40), (40, 10), 100_352),
    "google/gemma-2-9b-it": decoder(
        "gemma2",
        (3584, 14_336, 42),
        (16, 8),
        256_000,
        head_dim=256,
        sliding_window=4096,
        tie_word_embeddings=None,
    ),
    "google/gemma-3-4b-it": {
        "model_type": "gemma3",
        "torch_dtype": "bfloat16",
        "text_config": {
            "model_type": "gemma3_text",
            "hidden_size": 2560,
            "intermediate_size": 10_240,
            "num_hidden_layers": 34,
            "sliding_window": 1024,
        },
        "vision_config": _SIGLIP,
    },
    "deepseek-ai/DeepSeek-V2-Lite-Chat": decoder(
        "deepseek_v2", (2048, 10_944, 27), (16, 16), 102_400, **_LATENT
    ),
    "OpenGVLab/InternVL2_5-8B": {
        "model_type": "internvl_chat",
        "torch_dtype": "bfloat16",
        "llm_config": decoder("internlm2", *_LLAMA_8B, 92_553),
        "vision_config": _INTERN,
    },
}

BYTES = {
    "Qwen/Qwen2.5-7B-Instruct": 15_231_233_024,
    "Qwen/Qwen2.5-14B-Instruct": 29_540_067_328,
    "Qwen/Qwen2.5-72B-Instruct": 145_412_407_296,
    "Qwen/Qwen2-VL-7B-Instruct": 16_582_751_232,
    "Qwen/Qwen2.5-VL-7B-Instruct": 16_584_333_312,
    "Qwen/Qwen3-8B": 16_381_470_720,
    "Qwen/Qwen3-30B-A3B-Instruct-2507": 61_064_245_248,
    "Qwen/Qwen3-235B-A22B": 470_187_269_120,
    "Qwen/Qwen3-VL-4B-Instruct": 8_875_631_616,
    "Qwen/Qwen3-VL-8B-Instruct": 17_534_247_392,
    "meta-llama/Llama-3.1-8B-Instruct": 16_060_522_496,
    "meta-llama/Llama-3.1-70B-Instruct": 141_107_412_992,
    "mistralai/Mistral-7B-Instruct-v0.3": 14_496_047_104,
    "mistralai/Mixtral-8x7B-Instruct-v0.1": 93_405_585_408,
    "microsoft/phi-4": 29_319_014_400,
    "google/gemma-2-9b-it": 18_483_411_968,
    "google/gemma-3-4b-it": 8_600_158_944,
    "deepseek-ai/DeepSeek-V2-Lite-Chat": 31_412_968_448,
    "OpenGVLab/InternVL2_5-8B": 16_150_730_752,
}
