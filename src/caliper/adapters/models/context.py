"""A request that is longer than the model's context: how servers say it, and what to lower."""

from __future__ import annotations

import re

TOO_LONG = (
    "the prompt and the most tokens of the reply are more than the model's context holds; of a "
    "captioner lower --caption-tokens, or show it less (--preparation)"
)
_OF_THE_CONTEXT = re.compile(
    r"context (length|size|window)|max_model_len|max_(new_|completion_)?tokens"
    r"|maximum ((model|input|sequence) )?length|prompt .{0,30}too long",
    re.IGNORECASE,
)
"""What vLLM, SGLang, TGI, TensorRT-LLM and llama.cpp's server have in common in what they say
of it.
"""


def too_long(said: str) -> bool:
    """Whether that is what a server says of a request."""
    return _OF_THE_CONTEXT.search(said) is not None
