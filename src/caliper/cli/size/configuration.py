"""The config.json of a model: values that are there, or an error that says what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import InvalidInput

_PARTS = ("text_config", "llm_config", "language_config")
_TOWER = "vision_config"


@dataclass(frozen=True, slots=True)
class Configuration:
    """The values of a config.json, or of its part for the decoder or the vision tower."""

    values: Mapping[str, Any]
    file: str

    def number(self, *names: str, default: int | None = None) -> int:
        """The first of these that is there. Raises InvalidInput if none is."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        if default is None:
            raise self.error(f"there is no {' or '.join(names)}")
        return default

    def flag(self, name: str, *, default: bool = False) -> bool:
        value = self.values.get(name)
        return value if isinstance(value, bool) else default

    def text(self, *names: str) -> str:
        """The first of these that is there, else an empty text."""
        return next((str(self.values[name]) for name in names if self.values.get(name)), "")

    def error(self, message: str) -> InvalidInput:
        return InvalidInput(message, file=self.file)

    @property
    def decoder(self) -> Configuration:
        """The part about the language model, which may lean on values beside it."""
        parts = (self.values[name] for name in _PARTS if name in self.values)
        return Configuration({**self.values, **next(parts, {})}, self.file)

    @property
    def tower(self) -> Configuration | None:
        """The part about the vision tower; None for a model of texts. Its family is that of the
        whole model where it names none.
        """
        part = self.values.get(_TOWER)
        if part is None:
            return None
        return Configuration({"model_type": self.values.get("model_type"), **part}, self.file)
