"""Chat templates for servers that take one text: built-in ones, or a tokenizer's own.

The operator chooses the template. Inserted text, captions included, is never interpreted as
template, and special tokens in it are broken up first, so that no caption can end its own turn.
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

_BUILT_IN = files("caliper.adapters.models") / "chat_templates"
_TOKENIZER_FILES = ("chat_template.jinja", "tokenizer_config.json")
"""The files of a checkpoint that may contain its template: a separate one, or the tokenizer's."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A Jinja template over `messages`.

    `special` are the tokenizer's special tokens, and the words that begin a turn if no token
    does. `image` is the placeholder per picture; without one a message with pictures is a list of
    parts, as the templates of vision models expect. `begin` is a token that the server prepends
    itself.
    """

    source: str
    special: tuple[str, ...] = ()
    image: str | None = None
    begin: str = ""

    @property
    def digest(self) -> str:
        """The digest of everything that affects the rendered text."""
        return digest([self.source, sorted(self.special), self.image, self.begin])

    def render(self, messages: Sequence[ChatMessage]) -> str:
        """The prompt for these messages, up to where the model begins to write.

        Raises InvalidInput if the template fails on them.
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
        texts = [self._escaped(part) for part in message.content if isinstance(part, str)]
        if len(texts) == len(message.content):
            return "".join(texts)
        if self.image is not None:
            return "".join(
                self._escaped(part) if isinstance(part, str) else self.image
                for part in message.content
            )
        return [
            {"type": "text", "text": self._escaped(part)}
            if isinstance(part, str)
            else {"type": "image"}
            for part in message.content
        ]

    def _escaped(self, text: str) -> str:
        """`text` with a space after the first character of every special token and every image
        placeholder.
        """
        tokens = {*self.special, (self.image or "").strip()} - {""}
        if not tokens:
            return text
        longest_first = sorted(tokens, key=len, reverse=True)
        pattern = "|".join(re.escape(token) for token in longest_first)
        return re.sub(pattern, lambda match: f"{match[0][0]} {match[0][1:]}", text)


def chat_template(name: str, image: str | None = None) -> ChatTemplate:
    """The built-in template of that name, or the template of the tokenizer in a folder or file.

    `image` replaces the template's image placeholder. Raises UnknownName if `name` is neither,
    InvalidInput naming an unusable file.
    """
    built_in = dict(_built_in())
    if name in built_in:
        entry = yaml.safe_load(built_in[name])
        return ChatTemplate(entry["template"], tuple(entry["special"]), image or entry["image"])
    path = Path(name)
    if not path.exists():
        raise UnknownName("chat template", name, (*sorted(built_in), "a folder with a tokenizer"))
    return _checked(_tokenizer_template(path, image), path)


def _built_in() -> Iterator[tuple[str, str]]:
    for file in _BUILT_IN.iterdir():
        yield file.name.removesuffix(".yaml"), file.read_text("utf-8")


def _tokenizer_template(path: Path, image: str | None) -> ChatTemplate:
    folder = path if path.is_dir() else path.parent
    template_file, config = (folder / name for name in _TOKENIZER_FILES)
    try:
        settings = json.loads(config.read_text("utf-8")) if config.is_file() else {}
        source = template_file.read_text("utf-8") if template_file.is_file() else _source(settings)
        special = tuple(_special(settings))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidInput(f"not a tokenizer: {error!r}", file=str(folder)) from error
    if not isinstance(source, str):
        raise InvalidInput("the tokenizer has no chat template", file=str(folder))
    return ChatTemplate(source, special, image, _token(settings.get("bos_token")))


def _source(config: Mapping[str, Any]) -> Any:
    """The entry `chat_template`: a text, or the default of a list of named ones."""
    source = config.get("chat_template")
    if not isinstance(source, list):
        return source
    return next((each["template"] for each in source if each.get("name") == "default"), None)


def _special(config: Mapping[str, Any]) -> Iterator[str]:
    for token in config.get("added_tokens_decoder", {}).values():
        if token.get("special"):
            yield token["content"]
    tokens = (config.get(name) for name in ("bos_token", "eos_token", "pad_token"))
    for token in (*tokens, *config.get("additional_special_tokens", ())):
        if text := _token(token):
            yield text


def _token(value: Any) -> str:
    """The text of a token: the value itself, or the `content` of an object."""
    text = value.get("content") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""


def _checked(template: ChatTemplate, path: Path) -> ChatTemplate:
    try:
        template.render([ChatMessage("user", ("Hello",))])
    except InvalidInput as error:
        raise InvalidInput(error.message, file=str(path)) from error
    return template


@lru_cache(maxsize=16)
def _compiled(source: str) -> Template:
    # The settings that the templates of tokenizers are written for.
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _refuse
    return environment.from_string(source)


def _to_json(value: Any, indent: int | None = None) -> str:
    # Jinja's own filter escapes HTML.
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)
