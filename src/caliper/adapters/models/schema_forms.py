"""The request forms that constrain a reply of `/v1/chat/completions` to a JSON schema.

There are two forms, and no server reports which one it obeys. If it obeys neither, only the
prompt asks for JSON.

The form is not part of the model's identity, so it is not part of any reply key. The first
reply reveals it, after identities were compared and keys computed, and it may differ between
replicas of one model. It does not change the question, which the key covers; like the server's
release or quantization, which no server reports either, it only affects how well the reply keeps
its format. Replies are parsed in the same way with and without a schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from caliper.adapters.models.transport import RESPONSE_FORMAT
from caliper.ports.models import Completion

Form = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Maps a schema to additions to the body of a request."""


def object_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The form of TGI (`value`) and llama-cpp-python (`schema`). vLLM and SGLang read it as "any
    JSON object".
    """
    form = {"type": "json_object", "value": dict(schema), "schema": dict(schema)}
    return {RESPONSE_FORMAT: form}


def schema_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The form of OpenAI's API, vLLM, SGLang and llama.cpp's own server."""
    form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": dict(schema)}}
    return {RESPONSE_FORMAT: form}


TGI_FORMS: tuple[Form, ...] = (object_form,)
OTHER_FORMS: tuple[Form, ...] = (schema_form, object_form)


def violates_schema(completion: Completion, schema: Mapping[str, Any]) -> bool:
    """Whether a finished reply violates the schema of its request: it is not a JSON object, or
    lacks required keys.
    """
    text = completion.text.strip()
    if completion.finish != "stop" or not text:
        return False
    try:
        value = json.loads(text)
    except ValueError:
        # Truncated JSON, or JSON followed by text, still obeys the schema.
        return not text.startswith("{")
    return not isinstance(value, dict) or not value.keys() >= set(schema.get("required", ()))
