"""Detection of requests that exceed the model's context, and the advice for them."""

from __future__ import annotations

import re

TOO_LONG = (
    "the prompt and the most tokens of the reply are more than the model's context holds; of a "
    "captioner lower --caption-tokens, or show it less (--preparation)"
)
_CONTEXT_ERROR = re.compile(
    r"context (length|size|window)|max_model_len|max_(new_|completion_)?tokens"
    r"|maximum ((model|input|sequence) )?length|prompt .{0,30}too long",
    re.IGNORECASE,
)
"""Matches the error messages of vLLM, SGLang, TGI, TensorRT-LLM and llama.cpp's server."""


def too_long(message: str) -> bool:
    """Whether a server's error message says that the request exceeds the context."""
    return _CONTEXT_ERROR.search(message) is not None
