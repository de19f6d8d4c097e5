"""Reads the quotas of teams from a YAML file:

default:            # of every team that is not named
runs_at_once: 4
teams:
vision:
calls_a_day: 200000
tokens_a_day: 50000000
bytes_stored: 20000000000
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from caliper.core.quotas import QuotaTable, TeamLimits
from caliper.wiring.strict import Strict, first_problem
from caliper.wiring.yaml_text import read_document

# The range of integers in messages.
_Limit = Annotated[int, Field(ge=0, lt=1 << 63, strict=True)]
_Team = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]


class _Limits(Strict):
    runs_at_once: _Limit | None = None
    calls_a_day: _Limit | None = None
    tokens_a_day: _Limit | None = None
    bytes_stored: _Limit | None = None

    def limits(self) -> TeamLimits:
        return TeamLimits(**self.model_dump())


class _Quotas(Strict):
    default: _Limits = _Limits()
    teams: dict[_Team, _Limits] = Field(default_factory=dict)


def read_quotas(path: Path) -> QuotaTable:
    """The quotas in a file. Raises InvalidInput naming file, line and field of a mistake."""
    root, value = read_document(path)
    try:
        quotas = _Quotas.model_validate({} if value is None else value)
    except ValidationError as error:
        is_inner = len(error.errors()[0]["loc"]) > 1
        fields = (_Limits if is_inner else _Quotas).model_fields
        raise first_problem(error, fields, str(path), root) from error
    teams = {name: each.limits() for name, each in quotas.teams.items()}
    return QuotaTable(teams, quotas.default.limits())
