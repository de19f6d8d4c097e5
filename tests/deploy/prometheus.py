"""Asks a Prometheus what Grafana would ask it for a dashboard's panels and variables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

_LABEL_VALUES = re.compile(r"label_values\((?P<selector>.+), *(?P<label>\w+)\)")


class QueryFailed(Exception):
    """Prometheus did not answer a query as it should; says the query and what came back."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of an answer: its labels, and (Unix seconds, value) in the order of time."""

    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]


def substituted(text: str, values: Mapping[str, str]) -> str:
    """`text` as Grafana sends it: each `$name` by its value, a regular expression or a price."""
    known = {"__rate_interval": "1m", "prompt_price": "0.15", "completion_price": "0.6", **values}
    # The longest first: $model is also the beginning of $model_name.
    for name in sorted(known, key=len, reverse=True):
        text = text.replace(f"${{{name}}}", known[name]).replace(f"${name}", known[name])
    return text


class Prometheus:
    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def instant(self, expr: str) -> tuple[Series, ...]:
        """What `expr` is now. Raises QueryFailed."""
        found = self._get("query", {"query": expr})
        if found["resultType"] == "scalar":
            return (Series({}, (_point(found["result"]),)),)
        return tuple(Series(each["metric"], (_point(each["value"]),)) for each in found["result"])

    def over(self, expr: str, start: float, end: float, step: float) -> tuple[Series, ...]:
        """What `expr` was from `start` to `end` every `step` seconds. Raises QueryFailed."""
        asked = {"query": expr, "start": str(start), "end": str(end), "step": str(step)}
        found = self._get("query_range", asked)["result"]
        return tuple(Series(each["metric"], tuple(map(_point, each["values"]))) for each in found)

    def values(self, query: str) -> tuple[str, ...]:
        """What a variable's `label_values(SELECTOR, LABEL)` finds. Raises QueryFailed."""
        parts = _LABEL_VALUES.fullmatch(query)
        if parts is None:
            raise QueryFailed(f"{query}: not of the form label_values(SELECTOR, LABEL)")
        return tuple(self._get(f"label/{parts['label']}/values", {"match[]": parts["selector"]}))

    def _get(self, path: str, asked: Mapping[str, str]) -> Any:
        address = f"{self._url}/api/v1/{path}?{urlencode(asked)}"
        try:
            with urlopen(address, timeout=30) as answer:  # noqa: S310 - the address is the caller's
                return json.load(answer)["data"]
        except OSError as error:
            # Of a refused query Prometheus tells what is wrong in the body.
            said = error.read().decode("utf-8", "replace") if hasattr(error, "read") else ""
            raise QueryFailed(f"{dict(asked)}: {error} {said}") from error


def _point(pair: tuple[float, str]) -> tuple[float, float]:
    return float(pair[0]), float(pair[1])
