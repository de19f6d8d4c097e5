"""The notices of what a release brings along: the license files of every package of the lock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution

from releases.bill import Pin

_FILE = re.compile(r"(LICEN[CS]E|NOTICE|COPYING|AUTHORS)", re.IGNORECASE)
_RULE = "=" * 100


def notices(pins: Iterable[Pin]) -> str:
    """One chapter per package. It says where nothing is known of one."""
    return "\n\n".join("\n".join([_RULE, *_chapter(pin)]) for pin in pins) + "\n"


def _chapter(pin: Pin) -> Iterator[str]:
    yield f"{pin.name} {pin.version}"
    if pin.installed is None:
        yield "Not for the system that this release was made on."
        return
    yield f"License: {pin.license or 'not said; see below'}"
    texts = list(_texts(pin.installed))
    if not texts:
        yield "It brings no license file."
    yield from texts


def _texts(found: Distribution) -> Iterator[str]:
    for file in sorted(found.files or (), key=str):
        if ".dist-info" in str(file) and _FILE.match(file.name):
            text = file.read_binary().decode("utf-8", errors="replace")
            yield f"\n--- {file.name}\n\n{text.strip()}"
