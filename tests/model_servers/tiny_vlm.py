"""A vision language model of random weights, in a folder: what servers take, and no more.

Runs in the environment of the model servers, as `python tiny_vlm.py FOLDER`. The architecture is
Qwen2-VL's with 1.8 million parameters; the tokenizer is trained on the lines below.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    Qwen2TokenizerFast,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen2VLImageProcessor,
    Qwen2VLProcessor,
    Qwen2VLVideoProcessor,
)

_SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
_LINES = (
    "A dog runs over the grass, and a child in a red coat laughs.",
    "What does the caption say about the number of the objects? Answer with JSON.",
    '{"score": 1, "reason": "The caption mentions it."} {"score": -1, "reason": "It is wrong."}',
    "(A) (B) (C) (D) one two three yes no none of them, can not be answered",
)
_TEMPLATE = """
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.content is string %}{{ message.content }}{% else %}
{%- for part in message.content -%}
{%- if 'image' in part.type %}<|vision_start|><|image_pad|><|vision_end|>
{%- elif 'video' in part.type %}<|vision_start|><|video_pad|><|vision_end|>
{%- else %}{{ part.text }}{% endif -%}
{%- endfor -%}
{%- endif %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
_HIDDEN, _LAYERS, _HEADS = 128, 2, 2
"""Heads of 64: vLLM's attention on the CPU fails with fewer."""
_PIXELS = {"shortest_edge": 28 * 28, "longest_edge": 112 * 112}
_CLIP_PIXELS = {"shortest_edge": 28 * 28, "longest_edge": 32 * 112 * 112}
"""Those of all frames together."""


def _tokenizer() -> Qwen2TokenizerFast:
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(_LINES, vocab_size=400, special_tokens=list(_SPECIAL))
    return Qwen2TokenizerFast(
        tokenizer_object=trained._tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(_SPECIAL[1:]),
        chat_template=_TEMPLATE,
    )


def _config(tokenizer: Qwen2TokenizerFast) -> Qwen2VLConfig:
    ids = dict(zip(_SPECIAL, tokenizer.convert_tokens_to_ids(list(_SPECIAL)), strict=True))
    ends = {"bos_token_id": ids["<|endoftext|>"], "eos_token_id": ids["<|im_end|>"]}
    rope = {"rope_type": "default", "mrope_section": [8, 12, 12], "rope_theta": 10000.0}
    return Qwen2VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": _HIDDEN,
            "intermediate_size": 2 * _HIDDEN,
            "num_hidden_layers": _LAYERS,
            "num_attention_heads": _HEADS,
            "num_key_value_heads": _HEADS,
            "max_position_embeddings": 8192,
            "rope_parameters": rope,
            **ends,
        },
        vision_config={
            "depth": 2,
            "embed_dim": _HIDDEN,
            "hidden_size": _HIDDEN,
            "num_heads": _HEADS,
            "mlp_ratio": 2,
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        **ends,
    )


def write(folder: Path) -> None:
    """Write the model, its tokenizer and its processor."""
    torch.manual_seed(0)
    tokenizer = _tokenizer()
    model = Qwen2VLForConditionalGeneration(_config(tokenizer))
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    Qwen2VLProcessor(
        image_processor=Qwen2VLImageProcessor(size=_PIXELS),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(size=_CLIP_PIXELS),
        chat_template=_TEMPLATE,
    ).save_pretrained(folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
