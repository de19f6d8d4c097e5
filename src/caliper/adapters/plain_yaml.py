"""YAML without aliases: a few lines of them can stand for gigabytes."""

from __future__ import annotations

from typing import Any

import yaml


class PlainLoader(yaml.SafeLoader):
    """`yaml.SafeLoader`, but an alias (`*name`) raises ComposerError."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs lack its type
            problem = f"aliases such as *{event.anchor} are not supported; write the value out"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)


def load_yaml(text: str) -> Any:
    """The value of a YAML document. Raises yaml.YAMLError, also for aliases."""
    return yaml.load(text, PlainLoader)  # noqa: S506 - a SafeLoader


class _PlainDumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's
        return True


def dump_yaml(value: Any) -> str:
    """A document that `load_yaml` reads: what occurs twice is written twice."""
    text: str = yaml.dump(value, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True)
    return text
