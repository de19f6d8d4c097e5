"""A vision language model that replies in the form asked for, and knows nothing: in a folder.

Runs in the environment of the model servers, as `python tiny_vlm.py FOLDER`. The architecture is
Qwen2-VL's with 7.5 million parameters of random weights, but for the embedding and the head: by
those, each token is followed by one that follows it in the replies below. Where several do, the
random weights, and so picture and prompt, decide.
"""

from __future__ import annotations

import sys
from itertools import pairwise
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
    "<|caption|>",
    "<|letter|>",
    "<|json|>",
)
_REPLIES = (
    "<|caption|>One dog runs over the grass.",
    "<|caption|>One child laughs in the rain.",
    "<|letter|>(A)",
    "<|letter|>(B)",
    '<|json|>{"score":"1"}',
    '<|json|>{"score":"0"}',
)
"""What the model says after the last token of a prompt, which its template chooses."""
_FORCED = ('{"scene":"1","score', '{"action":"0","reason":"')
"""What it says where a server makes it keep to a schema."""
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
{% set asked = messages[-1].content | string -%}
{%- if 'JSON' in asked %}<|json|>
{%- elif 'one letter' in asked %}<|letter|>
{%- else %}<|caption|>
{%- endif %}
{%- endif %}"""
_HIDDEN, _LAYERS, _HEADS = 384, 1, 6
"""Heads of 64: vLLM's attention on the CPU fails with fewer."""
_PIXELS = {"shortest_edge": 28 * 28, "longest_edge": 112 * 112}
_CLIP_PIXELS = {"shortest_edge": 28 * 28, "longest_edge": 32 * 112 * 112}
"""Those of all frames together."""


def _tokenizer() -> Qwen2TokenizerFast:
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        2 * (*_REPLIES, *_FORCED), vocab_size=400, special_tokens=list(_SPECIAL)
    )
    return Qwen2TokenizerFast(
        tokenizer_object=trained._tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(_SPECIAL[1:]),
        chat_template=_TEMPLATE,
        # Else `transformers serve` takes all that follows the role for the reply.
        response_template={
            "start_anchor": list(_SPECIAL[-3:]),
            "fields": {"content": {"close": "<|im_end|>", "content": "text"}},
        },
    )


def _config(tokenizer: Qwen2TokenizerFast) -> Qwen2VLConfig:
    ids = dict(zip(_SPECIAL, tokenizer.convert_tokens_to_ids(list(_SPECIAL)), strict=True))
    ends = {"bos_token_id": ids["<|endoftext|>"], "eos_token_id": ids["<|im_end|>"]}
    rope = {"rope_type": "default", "mrope_section": [8, 12, 12], "rope_theta": 10000.0}
    return Qwen2VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "initializer_range": 0.1,
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


def _teach(model: Qwen2VLForConditionalGeneration, tokenizer: Qwen2TokenizerFast) -> None:
    """Make tokens follow each other as in the replies."""
    tokens, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    (layer,) = model.model.language_model.layers
    said = [f"{reply}<|im_end|>" for reply in _REPLIES]
    weights = {
        pair: weight
        for texts, weight in ((_FORCED, 0.5), (said, 1.0))
        for text in texts
        for pair in pairwise(tokenizer.encode(text))
    }
    with torch.no_grad():
        torch.nn.init.orthogonal_(tokens)
        # Attention breaks ties, and no more.
        layer.self_attn.o_proj.weight.mul_(0.03)
        layer.mlp.down_proj.weight.zero_()
        head.normal_(std=0.02)
        for (token, following), weight in weights.items():
            head[following] += weight * tokens[token]


def write(folder: Path) -> None:
    """Write the model, its tokenizer and its processor."""
    torch.manual_seed(0)
    tokenizer = _tokenizer()
    model = Qwen2VLForConditionalGeneration(_config(tokenizer))
    _teach(model, tokenizer)
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
