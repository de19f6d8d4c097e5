"""Port to prompt packs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with `{field}` placeholders, filled by plain substitution. `system` may be empty.

    `source` names the origin of the wording: a figure of a paper, or Caliper.
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
        """The template with this name. Raises UnknownName, which lists the known ones."""
        ...
