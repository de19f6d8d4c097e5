"""The JSON of `/v1/chat/completions`: requests from messages, completions from responses."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from caliper.core.errors import BackendUnavailable
from caliper.ports.models import ChatMessage, Completion, Image, Usage, WholeClip

# TGI's names of the two natural finish reasons.
_ENDS = {None: "stop", "eos_token": "stop", "stop_sequence": "stop"}
# The finish reasons of vLLM and SGLang for a reply that they aborted themselves.
_ABORTED = frozenset({"abort", "error"})


def message_json(message: ChatMessage) -> dict[str, Any]:
    """A message in the form of the request, with pictures and clips as data URLs."""
    if all(isinstance(part, str) for part in message.content):
        # Plain text rather than a list of one part: every server accepts that.
        text = "".join(part for part in message.content if isinstance(part, str))
        return {"role": message.role, "content": _without_surrogates(text)}
    return {"role": message.role, "content": [_part_json(part) for part in message.content]}


def _part_json(part: str | Image) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": _without_surrogates(part)}
    url = {"url": f"data:{part.mime};base64,{base64.b64encode(part.data).decode('ascii')}"}
    if isinstance(part, WholeClip):
        return {"type": "video_url", "video_url": url}
    return {"type": "image_url", "image_url": url}


def media_options(messages: Iterable[ChatMessage]) -> dict[str, Any]:
    """The options of a request with a whole clip, in vLLM's form: which frames the server takes.

    Its loader for Qwen's models ignores `num_frames`: it takes `fps` frames per second, 2 unless
    set, but from `min_frames` to `max_frames`. Other loaders ignore these two.
    """
    for message in messages:
        for part in message.content:
            if isinstance(part, WholeClip):
                count = part.frames
                rate = {"min_frames": count} if part.fps is None else {"fps": float(part.fps)}
                video = {"num_frames": count, "max_frames": count, **rate}
                return {"media_io_kwargs": {"video": video}}
    return {}


def _without_surrogates(text: str) -> str:
    """`text` with a question mark for every lone surrogate, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_completion(reply: Any) -> Completion:
    """The completion in the JSON of a response.

    Raises TypeError if it is not a completion, BackendUnavailable if the endpoint aborted it.
    """
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list):
        raise TypeError("it holds no list of choices")
    usage, model = _usage(reply.get("usage")), str(reply.get("model") or "")
    if not choices:
        return Completion("", "", usage, model)
    choice = choices[0] if isinstance(choices[0], dict) else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        raise TypeError("its choice has no message")
    finish, text = choice.get("finish_reason"), message.get("content")
    if refusal := message.get("refusal"):
        # A content filter may use the same field.
        end = finish if finish == "content_filter" else "refusal"
        return Completion(str(refusal), end, usage, model)
    if finish in _ABORTED:
        raise BackendUnavailable("the endpoint aborted its answer")
    if text is not None and not isinstance(text, str):
        raise TypeError("the content of its message is not text")
    return Completion(text or "", _ENDS.get(finish, str(finish)), usage, model)


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    return Usage(*(count if isinstance(count, int) else 0 for count in counts))
