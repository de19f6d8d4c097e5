"""Reads values of a model's config.json; errors name those that are missing."""

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
        """The first of these that is set, else the default. Raises InvalidInput without one."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        if default is None:
            raise self.error(f"{' or '.join(names)} is missing")
        return default

    def flag(self, name: str, *, default: bool = False) -> bool:
        value = self.values.get(name)
        return value if isinstance(value, bool) else default

    def text(self, *names: str) -> str:
        """The first of these that is set, else an empty text."""
        return next((str(self.values[name]) for name in names if self.values.get(name)), "")

    def error(self, message: str) -> InvalidInput:
        return InvalidInput(message, file=self.file)

    @property
    def decoder(self) -> Configuration:
        """The part about the language model, with the values beside it as defaults."""
        parts = (self.values[name] for name in _PARTS if name in self.values)
        return Configuration({**self.values, **next(parts, {})}, self.file)

    @property
    def tower(self) -> Configuration | None:
        """The part about the vision tower; None for a model of texts. Without a family of its own
        it has that of the whole model.
        """
        part = self.values.get(_TOWER)
        if part is None:
            return None
        return Configuration({"model_type": self.values.get("model_type"), **part}, self.file)
