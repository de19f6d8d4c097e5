# ruff: noqa: INP001 - a module of the scripts
"""Renders the commands of the command line as sections of docs/cli.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.text import Text

_DEFAULT = re.compile(r"\[default: (.*?)\]")
_TYPES = {"Path": "PATH", "str": "TEXT", "int": "INTEGER", "float": "NUMBER"}
_SHARED = """## Shared options

Sections name those that apply."""


@dataclass(frozen=True, slots=True)
class _Option:
    """An option or argument on the page."""

    names: str
    meaning: str
    required: bool = False

    @property
    def flag(self) -> str:
        """The first of its names, without a value."""
        return self.names.partition(",")[0].strip("`").partition(" ")[0]

    @property
    def line(self) -> str:
        """The option as an element of a list, where `|` needs no escape."""
        return f"- {self.names}: {_unmarked(self.meaning)}{' Required.' * self.required}"

    def same(self, other: _Option) -> bool:
        """Whether both have the same names and meaning; `required` may differ."""
        return (self.names, self.meaning) == (other.names, other.meaning)


@dataclass(frozen=True, slots=True)
class _Command:
    """A command with its own options, without those of its group; `absent` are the options of the
    group that it does not have.
    """

    name: str
    help: str
    arguments: tuple[_Option, ...]
    options: tuple[_Option, ...]
    absent: tuple[_Option, ...]
    commands: tuple[_Command, ...]

    @property
    def link(self) -> str:
        return f"[{self.name}](#{self.name.replace(' ', '-')})"

    def repeats(self, other: _Command) -> bool:
        """Whether both are groups of the same commands, and this one has no additional options."""
        own, others = (
            [(each.help, each.arguments, each.options) for each in group.commands]
            for group in (self, other)
        )
        return own == others != [] and set(self.options) <= set(other.options)


class CommandReference:
    """Renders the sections of a command and its subcommands."""

    def __init__(self, declared: Any) -> None:
        self._root = root = _command(declared.name, declared, ())
        self._models = {
            each.name: other
            for at, each in enumerate(root.commands)
            for other in root.commands[:at]
            if each.repeats(other)
        }
        described = (each for each in self._described() if each.name not in self._models)
        options = [option for each in described for option in each.options]
        counts = Counter((option.names, option.meaning) for option in options)
        self._shared = [_Option(*text) for text, count in counts.items() if count > 1]
        self.flags = {option.flag for option in options}

    def _described(self) -> Iterator[_Command]:
        """The commands in the page's order, without subcommands of groups that repeat another."""
        yield self._root
        for group in self._root.commands:
            yield group
            if group.name not in self._models:
                yield from group.commands

    def sections(self) -> Iterator[str]:
        """The blocks of the page: shared options, then each command."""
        yield _SHARED
        yield "\n".join(option.line for option in self._shared)
        group = self._root
        for each in self._described():
            depth = each.name.count(" ")
            group = each if depth == 1 else group
            names = (each.name, *(argument.names for argument in each.arguments))
            yield " ".join(("##" if depth < 2 else "###", *names))
            yield each.help
            if each.name in self._models:
                yield _repeated(each, self._models[each.name])
            else:
                yield from self._options(each, group if depth > 1 else None)

    def _options(self, command: _Command, group: _Command | None) -> Iterator[str]:
        shared = [one for one in command.options if any(map(one.same, self._shared))]
        # An argument without a help text is explained by its name.
        described = (one for one in command.arguments if one.meaning)
        own = [one for one in (*described, *command.options) if one not in shared]
        if own:
            yield "\n".join(option.line for option in own)
        if shared:
            flags = (f"`{one.flag}`{' (required)' * one.required}" for one in shared)
            yield f"Shared: {', '.join(flags)}."
        if group and group.options:
            absent = ", ".join(f"`{one.flag}`" for one in command.absent)
            yield f"And the options of {group.link}" + (f", except {absent}." if absent else ".")


def _command(name: str, declared: Any, above: tuple[_Option, ...]) -> _Command:
    below: Mapping[str, Any] = getattr(declared, "commands", {})
    arguments: dict[str, list[str]] = {}
    options = []
    for entry in declared.params:
        if entry.param_type_name == "argument":
            arguments.setdefault(plain(entry.help or ""), []).append(entry.metavar)
        else:
            options.append(_option(entry))
    groups_first = sorted(below.items(), key=lambda entry: not hasattr(entry[1], "commands"))
    return _Command(
        name,
        _summary(plain(declared.help or "")),
        tuple(_Option(" ".join(names), meaning) for meaning, names in arguments.items()),
        tuple(option for option in options if option not in above),
        tuple(option for option in above if option not in options),
        tuple(_command(f"{name} {sub}", each, tuple(options)) for sub, each in groups_first),
    )


def _summary(text: str) -> str:
    """The first paragraph of a help text, and its part about exit codes."""
    first, _, rest = text.partition("\n\n")
    codes = rest.partition("Exit code")
    return f"{first}\n\n{codes[1]}{codes[2]}".strip()


def _option(entry: Any) -> _Option:
    value = "" if entry.is_flag else f" {entry.metavar or _TYPES[entry.bare_type()]}"
    names = ", ".join(f"`{name}{value}`" for name in (*entry.opts, *entry.secondary_opts))
    meaning = _DEFAULT.sub(r"Default: `\1`.", plain(entry.help or ""))
    if entry.default not in (None, "") and not entry.is_flag and not entry.required:
        meaning += f" Default: `{entry.default}`."
    return _Option(names, meaning, entry.required)


def _repeated(group: _Command, other: _Command) -> str:
    names = ", ".join(f"`{each.name}`" for each in group.commands)
    absent = ", ".join(f"`{one.flag}`" for one in other.options if one not in group.options)
    return f"{names}: as {other.link} and its commands" + (
        f", without {absent}." if absent else "."
    )


def plain(text: str) -> str:
    """Help text without markup, with one line per paragraph."""
    paragraphs = Text.from_markup(text).plain.split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _unmarked(text: str) -> str:
    """Escape `<` outside of backticks."""
    parts = text.split("`")
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)
