"""Webhooks that announce checkpoints: checks that deliveries are genuine, and reads them.

Headers and payloads are as their senders document them: MLflow's model registry webhooks, Hugging
Face's Hub webhooks, and W&B's webhook automations, with the payload of W&B's own example.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from caliper.core.checkpoints import CheckpointRevision, is_uri
from caliper.core.errors import InvalidInput
from caliper.core.keys import digest

Headers = Mapping[str, str]
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class WebhookSender:
    """A sender of webhooks. `is_genuine` takes the secret, headers and body of a delivery, and
    `checkpoints` reads its JSON. Raises LookupError, TypeError or ValueError for another shape.
    """

    is_genuine: Callable[[bytes, Headers, bytes], bool]
    checkpoints: Callable[[Any], list[CheckpointRevision]]

    def read(self, body: bytes) -> list[CheckpointRevision]:
        """The checkpoints that a delivery announces; none if it is about something else. Raises
        InvalidInput for an unreadable one.
        """
        try:
            checkpoints = self.checkpoints(json.loads(body))
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise InvalidInput(f"not as its sender documents it: {error!r:.80}") from error
        if any(len(each.source) + len(each.name) > _LONGEST for each in checkpoints):
            raise InvalidInput(f"a source and name of more than {_LONGEST:,} characters")
        return checkpoints


def _hmac(secret: bytes, content: bytes) -> bytes:
    return hmac.new(secret, content, hashlib.sha256).digest()


def _is_equal(expected: bytes | str, signature: str) -> bool:
    expected_bytes = expected.encode() if isinstance(expected, str) else expected
    return hmac.compare_digest(expected_bytes, signature.encode("utf-8", "surrogateescape"))


def _signed_by_mlflow(secret: bytes, headers: Headers, body: bytes) -> bool:
    parts = (headers.get(f"X-MLflow-{name}", "") for name in ("Delivery-Id", "Timestamp"))
    content = b".".join((*(part.encode("utf-8", "surrogateescape") for part in parts), body))
    expected = b"v1," + base64.b64encode(_hmac(secret, content))
    return _is_equal(expected, headers.get("X-MLflow-Signature", ""))


def _signed_by_wandb(secret: bytes, headers: Headers, body: bytes) -> bool:
    expected, signature = _hmac(secret, body), headers.get("X-Wandb-Signature", "")
    # Documented in base64 and in hexadecimal digits.
    forms = (base64.b64encode(expected).decode(), expected.hex())
    return any(_is_equal(form, signature) for form in forms)


def _known_to_hugging_face(secret: bytes, headers: Headers, _: bytes) -> bool:
    return _is_equal(secret, headers.get("X-Webhook-Secret", ""))


def _step(value: Any) -> int | None:
    """A step that people wrote down."""
    is_number = str(value).isascii() and str(value).isdecimal() and len(str(value)) <= 18
    return int(str(value)) if is_number else None


def _of_mlflow(payload: Any) -> list[CheckpointRevision]:
    if (payload["entity"], payload["action"]) != ("model_version", "created"):
        return []
    data = payload["data"]
    name, version = str(data["name"]), str(data["version"])
    place, run, tags = str(data.get("source") or ""), data.get("run_id"), data.get("tags") or {}
    source = place if is_uri(place) else f"models:/{name}/{version}"
    # A version number may recur after its model was deleted; the run does not.
    revision = digest(["mlflow", name, version, place, run])
    return [CheckpointRevision(source, revision, f"{name} {version}", _step(tags.get("step")))]


def _of_hugging_face(payload: Any) -> list[CheckpointRevision]:
    event, repo = payload["event"], payload["repo"]
    if repo["type"] != "model" or event["scope"] not in ("repo", "repo.content"):
        return []
    main = {"ref": "refs/heads/main", "newSha": repo.get("headSha")}
    checkpoints = []
    for ref in payload.get("updatedRefs") or [main]:
        _, kind, name = ref["ref"].split("/", 2)
        if ref["newSha"] and kind in ("heads", "tags"):
            tags = (name,) if kind == "tags" else ()
            label = f"{repo['name']} {name}"
            source = f"hf://{repo['name']}"
            checkpoints.append(CheckpointRevision(source, str(ref["newSha"]), label, tags=tags))
    return checkpoints


def _of_wandb(payload: Any) -> list[CheckpointRevision]:
    fields = payload.get("client_payload", payload)
    source = fields.get("artifact_version", "")
    if not is_uri(source):
        return []
    name = str(fields.get("artifact_version_string") or source)
    return [CheckpointRevision(source, digest(["wandb", source]), name, _step(fields.get("step")))]


SENDERS: Mapping[str, WebhookSender] = {
    "mlflow": WebhookSender(_signed_by_mlflow, _of_mlflow),
    "huggingface": WebhookSender(_known_to_hugging_face, _of_hugging_face),
    "wandb": WebhookSender(_signed_by_wandb, _of_wandb),
}
"""The senders by the last part of the path to which they deliver."""
