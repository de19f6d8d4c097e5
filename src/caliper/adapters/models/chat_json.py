"""The JSON of `/v1/chat/completions`: messages on the way out, completions on the way in."""

from __future__ import annotations

import base64
from typing import Any

from huggingface_hub import ChatCompletionOutput

from caliper.core.errors import BackendUnavailable
from caliper.ports.models import ChatMessage, Completion, Image, Usage

# What TGI calls the two natural ends of a text.
_ENDS = {None: "stop", "eos_token": "stop", "stop_sequence": "stop"}
# vLLM and SGLang end a text so when they broke off by themselves.
_BROKEN_OFF = frozenset({"abort", "error"})


def message_json(message: ChatMessage) -> dict[str, Any]:
    """A message as the request holds it; pictures go along as data URLs."""
    if all(isinstance(part, str) for part in message.content):
        # Plain text rather than a list of one part: every server takes that.
        text = "".join(part for part in message.content if isinstance(part, str))
        return {"role": message.role, "content": _sendable(text)}
    return {"role": message.role, "content": [_part_json(part) for part in message.content]}


def _part_json(part: str | Image) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": _sendable(part)}
    data = base64.b64encode(part.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{part.mime};base64,{data}"}}


def _sendable(text: str) -> str:
    """`text` with a question mark for every lone surrogate, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_completion(output: ChatCompletionOutput) -> Completion:
    """What the endpoint wrote.

    Raises TypeError when that is no completion, BackendUnavailable when the endpoint gave
    up in the middle of it.

    The library fills its classes without looking at types, so each is looked at here. They
    are dicts too, and keep as items what TGI's specification does not name.
    """
    choices: Any = output.choices
    if not isinstance(choices, list):
        raise TypeError("it holds no list of choices")
    usage, model = _usage(output.usage), str(output.model or "")
    if not choices:
        return Completion("", "", usage, model)
    message: Any = getattr(choices[0], "message", None)
    if not isinstance(message, dict):
        raise TypeError("its choice holds no message")
    finish, text = choices[0].finish_reason, message.get("content")
    if refusal := message.get("refusal"):
        # A filter behind the model may use the same field.
        end = finish if finish == "content_filter" else "refusal"
        return Completion(str(refusal), end, usage, model)
    if finish in _BROKEN_OFF:
        raise BackendUnavailable("the endpoint broke its own answer off")
    if text is not None and not isinstance(text, str):
        raise TypeError("the content of its message is no text")
    return Completion(text or "", _ENDS.get(finish, str(finish)), usage, model)


def _usage(written: Any) -> Usage:
    if not isinstance(written, dict):
        return Usage()
    details = written.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    counts = (written.get("prompt_tokens"), written.get("completion_tokens"), cached)
    return Usage(*(count if isinstance(count, int) else 0 for count in counts))
