"""Renders templates and their fields into the messages sent to a chat model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import UnknownName
from caliper.core.fence import Fence, neutralize
from caliper.core.question import Ask, Decoding
from caliper.ports.models import ChatMessage, Image, WholeClip
from caliper.ports.prompts import PromptPack, Template


@dataclass(frozen=True, slots=True)
class Request:
    """Everything sent to a chat model for one ask; equal requests are interchangeable.

    `affinity` is equal for all calls about one caption, or one sample's media.
    """

    messages: tuple[ChatMessage, ...]
    decoding: Decoding
    schema: Mapping[str, Any] | None = None
    affinity: str = ""

    def to_json(self) -> dict[str, Any]:
        """The messages and the schema of the reply, for reply keys."""
        return {"messages": messages_json(self.messages), "schema": self.schema}


# Matches names only, so that the braces of JSON in a prompt need no escaping.
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def render(template: Template, fields: Mapping[str, str]) -> tuple[ChatMessage, ...]:
    """Render a template: a system message if it has one, then the user message.

    Every `{name}` is replaced by the field of that name in one pass, so text that looks like a
    placeholder inside a caption stays unchanged, as do other braces. Raises UnknownName for a
    placeholder without a field.
    """

    def value(placeholder: re.Match[str]) -> str:
        name = placeholder[1]
        if name not in fields:
            raise UnknownName("placeholder in a prompt", name, tuple(sorted(fields)))
        return fields[name]

    parts = (("system", template.system), ("user", template.user))
    return tuple(
        ChatMessage(role, (_PLACEHOLDER.sub(value, text),)) for role, text in parts if text.strip()
    )


def render_ask(pack: PromptPack, ask: Ask) -> tuple[ChatMessage, ...]:
    """Render an ask. Raises what `render` raises, and UnknownName for an unknown template.

    The text of a caption is inserted in its neutral form. If it is fenced, the fence marks are
    inserted with it, and the system message ends with an explanation of the marks. A template
    without a system message does not get one, since not every model accepts one: there the
    explanation begins the user message. The template's own words stay unchanged.
    """
    template = pack.template(ask.prompt)
    if not ask.untrusted:
        return render(template, ask.fields)
    text = neutralize(ask.fields[ask.untrusted])
    if not ask.fence:
        return render(template, {**ask.fields, ask.untrusted: text})
    fence = Fence.of(pack.digest, ask.fence)
    system, user = template.system, template.user
    if system.strip():
        system = f"{system.rstrip()}\n{fence.explanation}"
    else:
        user = f"{fence.explanation}\n\n{user}"
    guarded = Template(system, user, template.source)
    return render(guarded, {**ask.fields, ask.untrusted: fence.wrap(text)})


def with_images(
    messages: tuple[ChatMessage, ...], images: Sequence[Image]
) -> tuple[ChatMessage, ...]:
    """Insert images before the text of the last message."""
    *others, last = messages
    return (*others, ChatMessage(last.role, (*images, *last.content)))


def messages_json(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """A JSON form of `messages` for reply keys: images and clips appear as their SHA-256
    and type.
    """
    return [
        {"role": message.role, "content": [_part_json(part) for part in message.content]}
        for message in messages
    ]


def _part_json(part: str | Image) -> dict[str, str]:
    if isinstance(part, WholeClip):
        sampling = {"frames": str(part.frames), "fps": str(part.fps)}
        return {"clip": hashlib.sha256(part.data).hexdigest(), "mime": part.mime, **sampling}
    if isinstance(part, Image):
        return {"image": hashlib.sha256(part.data).hexdigest(), "mime": part.mime}
    return {"text": part}
