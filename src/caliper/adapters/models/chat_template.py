"""Chat templates, for servers that take one text: named ones of ours, or a tokenizer's own.

Templates are data that whoever runs Caliper chose. What is put into them, captions included, is
never read as template, and special tokens that stand in it are broken up first, so that no
caption can end its own turn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

import yaml
from jinja2 import Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.keys import digest
from caliper.ports.models import ChatMessage

_SHIPPED = files("caliper.adapters.models") / "chat_templates"
_OWN = ("chat_template.jinja", "tokenizer_config.json")
"""Where a checkpoint's folder keeps its template: in a file of its own, or with the tokenizer."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """`source` is Jinja over `messages`. `special` are the tokenizer's special tokens, and the
    words that begin a turn where no token does.

    `image` stands in a text for each picture; without one a message with pictures is a list
    of parts, as the templates of vision models take it. `begin` is a token that the server
    puts in front by itself.
    """

    source: str
    special: tuple[str, ...] = ()
    image: str | None = None
    begin: str = ""

    @property
    def digest(self) -> str:
        """Changes with whatever changes a rendered text."""
        return digest([self.source, sorted(self.special), self.image, self.begin])

    def render(self, messages: Sequence[ChatMessage]) -> str:
        """The text for these messages, up to where the model begins to write.

        Raises InvalidInput when the template cannot be used with them.
        """
        turns = [{"role": message.role, "content": self._content(message)} for message in messages]
        try:
            text = _compiled(self.source).render(
                messages=turns, add_generation_prompt=True, bos_token="", eos_token=""
            )
        except (TemplateError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            raise InvalidInput(
                f"the chat template cannot be used: {error}", field="template"
            ) from error
        return text.removeprefix(self.begin)

    def _content(self, message: ChatMessage) -> str | list[dict[str, str]]:
        texts = [self._harmless(part) for part in message.content if isinstance(part, str)]
        if len(texts) == len(message.content):
            return "".join(texts)
        if self.image is not None:
            return "".join(
                self._harmless(part) if isinstance(part, str) else self.image
                for part in message.content
            )
        return [
            {"type": "text", "text": self._harmless(part)}
            if isinstance(part, str)
            else {"type": "image"}
            for part in message.content
        ]

    def _harmless(self, text: str) -> str:
        """`text` with a space behind the first character of what the template gives a meaning.

        That is every special token, and what stands for a picture, chosen or the template's.
        """
        tokens = {*self.special, (self.image or "").strip()} - {""}
        if not tokens:
            return text
        longest_first = sorted(tokens, key=len, reverse=True)
        pattern = "|".join(re.escape(token) for token in longest_first)
        return re.sub(pattern, lambda found: f"{found[0][0]} {found[0][1:]}", text)


def chat_template(chosen: str, image: str | None = None) -> ChatTemplate:
    """The template of that name, or that of the tokenizer in a folder or file.

    `image` replaces what the template puts for a picture. Raises UnknownName for a name that
    is neither, InvalidInput naming a file that cannot be used.
    """
    shipped = dict(_shipped())
    if chosen in shipped:
        written = yaml.safe_load(shipped[chosen])
        return ChatTemplate(
            written["template"], tuple(written["special"]), image or written["image"]
        )
    path = Path(chosen)
    if not path.exists():
        raise UnknownName("chat template", chosen, (*sorted(shipped), "a folder with a tokenizer"))
    return _checked(_own(path, image), path)


def _shipped() -> Iterator[tuple[str, str]]:
    for file in _SHIPPED.iterdir():
        yield file.name.removesuffix(".yaml"), file.read_text("utf-8")


def _own(path: Path, image: str | None) -> ChatTemplate:
    folder = path if path.is_dir() else path.parent
    apart, config = (folder / name for name in _OWN)
    try:
        written = json.loads(config.read_text("utf-8")) if config.is_file() else {}
        source = apart.read_text("utf-8") if apart.is_file() else _source(written)
        special = tuple(_special(written))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidInput(f"this is no tokenizer: {error!r}", file=str(folder)) from error
    if not isinstance(source, str):
        raise InvalidInput("the tokenizer has no chat template", file=str(folder))
    return ChatTemplate(source, special, image, _token(written.get("bos_token")))


def _source(config: Mapping[str, Any]) -> Any:
    """`chat_template`: a text, or a list of named ones with a default."""
    found = config.get("chat_template")
    if not isinstance(found, list):
        return found
    return next((each["template"] for each in found if each.get("name") == "default"), None)


def _special(config: Mapping[str, Any]) -> Iterator[str]:
    for added in config.get("added_tokens_decoder", {}).values():
        if added.get("special"):
            yield added["content"]
    named = (config.get(name) for name in ("bos_token", "eos_token", "pad_token"))
    for token in (*named, *config.get("additional_special_tokens", ())):
        if text := _token(token):
            yield text


def _token(written: Any) -> str:
    """A token is written as a text, or as an object that holds it."""
    found = written.get("content") if isinstance(written, dict) else written
    return found if isinstance(found, str) else ""


def _checked(template: ChatTemplate, path: Path) -> ChatTemplate:
    try:
        template.render([ChatMessage("user", ("Hello",))])
    except InvalidInput as error:
        raise InvalidInput(error.message, file=str(path)) from error
    return template


@lru_cache(maxsize=16)
def _compiled(source: str) -> Template:
    # With the settings under which the templates of tokenizers are written.
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _refuse
    return environment.from_string(source)


def _to_json(value: Any, indent: int | None = None) -> str:
    # Jinja's own escapes for HTML.
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)
