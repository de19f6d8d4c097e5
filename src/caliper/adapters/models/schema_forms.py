"""How servers of `/v1/chat/completions` are asked to keep to a JSON schema.

There are two forms, and no server says which it obeys. One that obeys neither is asked by the
prompt alone.

Which form an endpoint obeys is no part of the model's identity, and so of no reply's key. It is
found out by the first reply, after identities have been compared and keys computed, and may
differ between replicas of one model. It does not say what is asked, which the key does, but how
well the server helps with the form of the answer, as its release or its quantization does, which
no server tells either. A reply is read in one way only, whether it was kept to a schema or not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from caliper.adapters.models.transport import AS_IT_IS
from caliper.ports.models import Completion

Form = Callable[[Mapping[str, Any]], dict[str, Any]]
"""What a schema adds to a request of huggingface_hub's client."""


def by_object(schema: Mapping[str, Any]) -> dict[str, Any]:
    """As TGI takes it (`value`) and as llama-cpp-python does (`schema`). To vLLM and SGLang
    both say "any JSON object".
    """
    form = {"type": "json_object", "value": dict(schema), "schema": dict(schema)}
    return {"response_format": form}


def by_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """As OpenAI's API has it, and vLLM, SGLang and llama.cpp's own server."""
    form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": dict(schema)}}
    return {"extra_body": {AS_IT_IS: form}}


OF_TGI: tuple[Form, ...] = (by_object,)
OF_OTHERS: tuple[Form, ...] = (by_schema, by_object)


def ignores(completion: Completion, schema: Mapping[str, Any]) -> bool:
    """Whether a reply that was asked for with a schema came to its end, and is no JSON object or
    lacks what the schema requires of one.
    """
    text = completion.text.strip()
    if completion.finish != "stop" or not text:
        return False
    try:
        written = json.loads(text)
    except ValueError:
        # Cut or followed by more: that is no other form.
        return not text.startswith("{")
    return not isinstance(written, dict) or not written.keys() >= set(schema.get("required", ()))
