"""The part of a target after the sink's name: a place, and options after commas."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.report import Report

_DATASET = re.compile(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?(?::([\w.-]+))?")
_FETCHED = re.compile(r"hf:([\w.-]+/[\w.-]+)(?:@([^/]+))?(?:/.*)?")
_FORM = "OWNER/NAME, OWNER/NAME@REVISION or OWNER/NAME:TASK"


@dataclass(frozen=True, slots=True)
class HubDataset:
    """A dataset on the Hugging Face Hub, with its revision if known, and a task of it."""

    name: str
    revision: str | None
    task: str

    @classmethod
    def parse(cls, text: str, field: str) -> HubDataset:
        """The dataset that an option names. Raises InvalidInput for anything else."""
        match = _DATASET.fullmatch(text)
        if match is None:
            raise InvalidInput(f"expected {_FORM}, found {text!r}", field=field)
        return cls(match[1], match[2], match[3] or "default")

    @classmethod
    def of_run(cls, report: Report, benchmark: str) -> HubDataset | None:
        """The dataset that the data of a benchmark were fetched from; None if they were not."""
        match = _FETCHED.fullmatch(report.spec.get("data_names", {}).get(benchmark, ""))
        return None if match is None else cls(match[1], match[2], "default")


def split_where(where: str, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """The place and the options of `PLACE,NAME=VALUE,...`.

    Raises UnknownName for an option that is not known, and InvalidInput for one without a value or
    a second one of a name.
    """
    place, *parts = where.split(",")
    options: dict[str, str] = {}
    for part in parts:
        name, _, value = part.partition("=")
        if name not in names:
            raise UnknownName("option", name, tuple(names))
        if not value or name in options:
            message = "expected a value" if not value else "given twice"
            raise InvalidInput(message, field=name)
        options[name] = value
    return place, options
