"""Port to the prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with `{field}` gaps, filled by plain substitution. `system` may be empty.

    `source` says where the words come from: a figure of a paper, or Caliper.
    """

    system: str
    user: str
    source: str


class PromptPack(Protocol):
    """Templates by name, such as `capability/object_number`."""

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str:
        """SHA-256 over all templates; part of every run."""
        ...

    def template(self, name: str) -> Template:
        """The template of that name. Raises UnknownName with the known ones."""
        ...
