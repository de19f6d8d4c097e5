"""Settings from the environment: where things are and how to reach them, never what is
measured. An unknown variable with the prefix CALIPER_ is an error.
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from caliper.core.errors import InvalidInput, UnknownName
from caliper.runtime.models import Access

_PREFIX = "CALIPER_"


class ModelSettings(BaseSettings):
    """How this process reaches model endpoints.

    CALIPER_TOKEN: bearer token; CALIPER_TOKEN_FILE: a file that holds it;
    CALIPER_TIMEOUT: seconds a call may take; CALIPER_RETRY_BUDGET: seconds for which what an
    endpoint failed to answer is tried again, before it becomes Unscored.
    """

    model_config = SettingsConfigDict(env_prefix=_PREFIX, frozen=True, env_ignore_empty=True)

    token: SecretStr | None = None
    token_file: Path | None = None
    timeout: float = Field(default=120.0, gt=0, le=3600)
    retry_budget: float = Field(default=600.0, ge=0, le=86400)


def access(in_flight: int) -> Access:
    """How to reach endpoints, at most `in_flight` calls at once.

    Raises InvalidInput naming the variable that is wrong, UnknownName for one that is not
    known.
    """
    known = tuple(f"{_PREFIX}{name.upper()}" for name in ModelSettings.model_fields)
    for variable in sorted(os.environ):
        # In any letters, as the settings are read.
        if variable.upper().startswith(_PREFIX) and variable.upper() not in known:
            raise UnknownName("environment variable", variable, known)
    try:
        settings = ModelSettings()
    except ValidationError as error:
        problem = error.errors()[0]
        field = f"{_PREFIX}{str(problem['loc'][0]).upper()}"
        raise InvalidInput(problem["msg"], file="environment", field=field) from None
    return Access(_token(settings), settings.timeout, in_flight, settings.retry_budget)


def _token(settings: ModelSettings) -> SecretStr | None:
    if settings.token is not None or settings.token_file is None:
        return settings.token
    field = f"{_PREFIX}TOKEN_FILE"
    try:
        token = settings.token_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"cannot read the token: {error}", file="environment", field=field
        ) from error
    if not token:
        raise InvalidInput("the file holds no token", file="environment", field=field)
    return SecretStr(token)
