"""Where the values of a configuration come from, for errors about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import yaml

from caliper.core.errors import InvalidInput
from caliper.wiring.strict import line_of


@dataclass(frozen=True, slots=True)
class ConfigOrigin:
    """The `file` of a configuration and its document `root`, if it has lines. `typed`: all values
    are flags of a command line.
    """

    # Equal values are an equal configuration, wherever they come from.
    file: str = field(default="", compare=False)
    root: yaml.Node | None = field(default=None, compare=False, repr=False)
    typed: bool = field(default=False, compare=False)

    @contextmanager
    def naming(self, benchmark: str, key: str, value: str = "") -> Iterator[None]:
        """Let errors about a value of a benchmark name the flag, or file, line and field. `value`
        is a SPEC. Errors in other files stay as they are.
        """
        try:
            yield
        except InvalidInput as error:
            if error.file:
                raise
            raise self._named(error, benchmark, key, value) from error

    def _named(self, error: InvalidInput, benchmark: str, key: str, value: str) -> InvalidInput:
        # The kind of a SPEC is no field of ours.
        is_kind = bool(error.field) and value.startswith(f"{error.field}:")
        message = error.message if is_kind else str(error)
        if self.typed:
            return InvalidInput(message, field=flag(key))
        place = ("benchmarks", benchmark, key)
        line = line_of(self.root, place)
        return InvalidInput(message, file=self.file, line=line, field=".".join(place))


def flag(key: str) -> str:
    """The flag of a key of a run file."""
    return f"--{key.replace('_', '-')}"
