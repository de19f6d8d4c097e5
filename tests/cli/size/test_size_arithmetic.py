"""Weights and cache of published models, and what is said of unknown ones."""

from dataclasses import replace
from typing import Any

import pytest
from tests.deploy.model_table import sized
from tests.fakes.published_models import BYTES, CONFIGS, decoder

from caliper.cli.size.cache import cache_of
from caliper.cli.size.configuration import Configuration
from caliper.cli.size.gpus import MIB
from caliper.cli.size.weights import weight_bytes
from caliper.core.errors import InvalidInput

KIB = 1024
GIB = 1024 * MIB
SMALL = decoder("llama", (64, 128, 2), (4, 2), 100)
LINEAR = 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128)
OTHER = 5 * 64 + 2 * 100 * 64


def configuration(values: dict[str, Any]) -> Configuration:
    return Configuration(values, "config.json")


@pytest.mark.parametrize("name", CONFIGS)
def test_weights_are_those_of_the_published_index(name: str) -> None:
    assert weight_bytes(configuration(CONFIGS[name])) == {"BF16": BYTES[name]}


@pytest.mark.parametrize(
    ("name", "token", "call"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", 56 * KIB, 16_384 * 56 * KIB),
        ("Qwen/Qwen2.5-72B-Instruct", 320 * KIB, 5 * GIB),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", 96 * KIB, 16_384 * 96 * KIB),
        # One compressed vector of 512 + 64 numbers per layer.
        ("deepseek-ai/DeepSeek-V2-Lite-Chat", 27 * 576 * 2, 16_384 * 27 * 576 * 2),
        # Every sixth of 34 layers, and every second of 42, keeps everything.
        ("google/gemma-3-4b-it", 136 * KIB, (5 * 16_384 + 29 * 1024) * 4 * KIB),
        ("google/gemma-2-9b-it", 336 * KIB, (21 * 16_384 + 21 * 4096) * 8 * KIB),
    ],
)
def test_the_cache_of_a_token_and_of_a_call(name: str, token: int, call: int) -> None:
    cache = cache_of(configuration(CONFIGS[name]))
    assert (cache.token, cache.call(16_384)) == (token, call)


@pytest.mark.parametrize(
    ("more", "sliding"),
    [
        ({}, 0),
        ({"sliding_window": 8}, 2),
        ({"sliding_window": 8, "use_sliding_window": False}, 0),
        ({"sliding_window": 8, "layer_types": ["full_attention", "sliding_attention"]}, 1),
    ],
)
def test_layers_with_a_sliding_window(more: dict[str, Any], sliding: int) -> None:
    cache = cache_of(configuration({**SMALL, **more}))
    assert cache.call(100) == cache.layer * (100 * (2 - sliding) + 8 * sliding)


@pytest.mark.parametrize(
    ("quantization", "name", "each"),
    [
        ({"quant_method": "fp8"}, "FP8", 1),
        ({"quant_method": "fp8", "weight_block_size": [8, 8]}, "FP8", 1 + 4 / 64),
        ({"quant_method": "awq", "bits": 4, "group_size": 32}, "AWQ 4 bits", 0.5 + 2.5 / 32),
        ({"quant_method": "gptq", "bits": 8, "group_size": 32}, "GPTQ 8 bits", 1 + 3 / 32),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 32}}},
            },
            "4 bits",
            0.5 + 2 / 32,
        ),
    ],
    ids=["fp8", "fp8 in blocks", "awq", "gptq", "compressed-tensors"],
)
def test_quantization_shrinks_the_layers_alone(
    quantization: dict[str, Any], name: str, each: float
) -> None:
    found = weight_bytes(configuration({**SMALL, "quantization_config": quantization}))
    assert found == {name: LINEAR * each, "BF16": 2 * OTHER}


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"model_type": "mamba"}, "model_type 'mamba'"),
        ({"vision_config": {"model_type": "eye"}}, "vision tower 'eye'"),
        ({"vocab_size": None}, "vocab_size is missing"),
        ({"torch_dtype": "int3"}, "torch_dtype 'int3'"),
        ({"quantization_config": {"quant_method": "odd"}}, "quantization 'odd'"),
        ({"layer_types": ["full_attention", "linear_attention"]}, "'linear_attention'"),
    ],
)
def test_what_is_not_known_is_named(more: dict[str, Any], named: str) -> None:
    whole = configuration({**SMALL, **more})
    with pytest.raises(InvalidInput, match=named):
        (weight_bytes(whole), cache_of(whole))


def test_calls_at_once_by_the_number_of_gpus() -> None:
    judge = sized("Qwen/Qwen2.5-72B-Instruct")
    assert judge.fit(16 * GIB, 16_384) == {1: 0, 2: 0, 4: 0, 8: 0}
    assert judge.fit(80 * GIB, 16_384) == {1: 0, 2: 0, 4: 28, 8: 84}
    assert judge.fit(141 * GIB, 16_384) == {1: 0, 2: 22, 4: 72, 8: 172}


def test_heads_are_split_evenly_or_not_at_all() -> None:
    # 40 heads, 10 of keys and values: 4 GPUs hold it and cannot share it.
    model = sized("microsoft/phi-4")
    assert [model.calls(40 * GIB, gpus, 1024) > 0 for gpus in (1, 2, 4)] == [True, True, False]
    # 28 heads on 8.
    assert not sized("Qwen/Qwen2.5-7B-Instruct").calls(80 * GIB, 8, 1024)
    # Four heads of keys and values on eight GPUs: each keeps one, twice over.
    wide = sized("Qwen/Qwen3-30B-A3B-Instruct-2507")
    room = 80 * GIB * 0.9 - wide.bytes / 8 - 2 * GIB
    assert wide.calls(80 * GIB, 8, 1024) == room // (wide.cache.call(1024) / 4)


def test_pictures_need_room() -> None:
    name = "Qwen/Qwen2.5-VL-7B-Instruct"
    seeing = sized(name)
    blind = replace(seeing, sees=False)
    assert blind.calls(80 * GIB, 1, 1024) - seeing.calls(80 * GIB, 1, 1024) == GIB // (56 * MIB)
