"""From a template and its fields to the messages that a chat model is sent."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import UnknownName
from caliper.core.question import Ask, Decoding
from caliper.core.untrusted import Fence, neutral
from caliper.ports.models import ChatMessage, Image
from caliper.ports.prompts import PromptPack, Template


@dataclass(frozen=True, slots=True)
class Request:
    """What a chat model is sent for one ask: with equal requests it would do the same. `affinity`
    names what the calls about one caption, or one sample's media, have in common.
    """

    messages: tuple[ChatMessage, ...]
    decoding: Decoding
    schema: Mapping[str, Any] | None = None
    affinity: str = ""

    def to_json(self) -> dict[str, Any]:
        """The messages and the schema of the reply, for reply keys."""
        return {"messages": messages_json(self.messages), "schema": self.schema}


# Names only, so that the braces of JSON in a prompt need no escaping.
_GAP = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def render(template: Template, fields: Mapping[str, str]) -> tuple[ChatMessage, ...]:
    """The messages for `template`: a system message if it has one, then the user's.

    Every `{name}` is replaced by the field of that name in one pass, so what looks like a
    gap inside a caption stays as it is; other braces are left alone. Raises UnknownName for
    a gap that no field fills.
    """

    def filled(gap: re.Match[str]) -> str:
        name = gap[1]
        if name not in fields:
            raise UnknownName("gap of a prompt", name, tuple(sorted(fields)))
        return fields[name]

    parts = (("system", template.system), ("user", template.user))
    return tuple(
        ChatMessage(role, (_GAP.sub(filled, text),)) for role, text in parts if text.strip()
    )


def render_ask(pack: PromptPack, ask: Ask) -> tuple[ChatMessage, ...]:
    """The messages of an ask. Raises what `render` raises, and UnknownName for its template.

    The text of a caption goes in by its neutral form. Where it is fenced, the marks are a part
    of what fills the gap, and the system message ends with what they mean; a template that has
    none gets no message more, for not every model takes one: there the user's begins with it.
    The words of the template itself stay as they are.
    """
    template = pack.template(ask.prompt)
    if not ask.untrusted:
        return render(template, ask.fields)
    text = neutral(ask.fields[ask.untrusted])
    if not ask.fence:
        return render(template, {**ask.fields, ask.untrusted: text})
    fence = Fence.of(pack.digest, ask.fence)
    system, user = template.system, template.user
    if system.strip():
        system = f"{system.rstrip()}\n{fence.explanation}"
    else:
        user = f"{fence.explanation}\n\n{user}"
    guarded = Template(system, user, template.source)
    return render(guarded, {**ask.fields, ask.untrusted: fence.around(text)})


def with_images(
    messages: tuple[ChatMessage, ...], images: Sequence[Image]
) -> tuple[ChatMessage, ...]:
    """The messages, with the images before the words of the last one."""
    *before, last = messages
    return (*before, ChatMessage(last.role, (*images, *last.content)))


def messages_json(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """A JSON form of `messages` for reply keys: pictures stand for their SHA-256 and type."""
    return [
        {"role": message.role, "content": [_part_json(part) for part in message.content]}
        for message in messages
    ]


def _part_json(part: str | Image) -> dict[str, str]:
    if isinstance(part, Image):
        return {"image": hashlib.sha256(part.data).hexdigest(), "mime": part.mime}
    return {"text": part}
