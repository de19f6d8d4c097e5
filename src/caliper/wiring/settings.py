"""Settings from the environment: places, and how to reach them; they never affect scores.

Each process has one flat class of settings with its own prefix. A variable with the prefix that
the class does not define is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from caliper.adapters.media.bounds import DecoderOptions, MediaLimits
from caliper.core.errors import InvalidInput, UnknownName
from caliper.wiring.endpoint_tokens import (
    EndpointTokens,
    NamedToken,
    named_audiences,
    parse_audiences,
    read_token_lines,
)
from caliper.wiring.models import Access
from caliper.wiring.strict import problem_text

PREFIX = "CALIPER_"
SERVICES = ("AGGREGATOR", "BOOTSTRAP", "CAPTIONER", "GATEWAY", "JUDGE", "QA_READER", "SUITES")
"""Services by their part of a variable's name, as in CALIPER_JUDGE_LISTEN."""


class Settings(BaseSettings):
    """The base class of settings.

    A secret `x` can also be read from the file that a field `x_file` names.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, env_ignore_empty=True)

    others: ClassVar[tuple[str, ...]] = ()
    """Prefixes below this one that belong to other processes."""

    @model_validator(mode="before")
    @classmethod
    def _secrets_from_files(cls, values: dict[str, Any]) -> dict[str, Any]:
        result = dict(values)
        for name in cls.model_fields:
            file = result.get(f"{name}_file")
            if f"{name}_file" in cls.model_fields and file is not None and name not in result:
                result[name] = _secret(Path(file), variable(cls, f"{name}_file"))
        return result


class MediaLimitSettings(Settings):
    """Limits of media. Larger media are not shown to a captioner, their questions are Unscored, and
    reports have no thumbnails of them.

    MEDIA_PICTURE_BYTES: maximum size of a picture's file; MEDIA_CLIP_BYTES: of a clip's file;
    MEDIA_PIXELS: maximum pixels of a picture; MEDIA_FRAME_PIXELS: of a frame of a clip;
    MEDIA_FRAMES: maximum frames of a clip; MEDIA_SECONDS: its maximum length.
    """

    media_picture_bytes: int = Field(default=50_000_000, ge=1, le=1_000_000_000)
    media_clip_bytes: int = Field(default=500_000_000, ge=1, le=10_000_000_000)
    media_pixels: int = Field(default=178_956_970, ge=1, le=178_956_970)
    media_frame_pixels: int = Field(default=36_000_000, ge=1, le=178_956_970)
    media_frames: int = Field(default=216_000, ge=1, le=2_000_000)
    media_seconds: float = Field(default=3600.0, gt=0, le=86400)

    def media_limits(self) -> MediaLimits:
        """The limits of media."""
        return MediaLimits(
            picture_bytes=self.media_picture_bytes,
            clip_bytes=self.media_clip_bytes,
            pixels=self.media_pixels,
            frame_pixels=self.media_frame_pixels,
            frames=self.media_frames,
            seconds=self.media_seconds,
        )


class MediaSettings(MediaLimitSettings):
    """How media are decoded for a captioner.

    MEDIA_WORKERS: number of files decoded concurrently; MEDIA_CACHE_BYTES: size of the cache of
    decoded media; MEDIA_HELD_BYTES: maximum size of decoded media held for calls that wait or are
    in flight.
    """

    media_workers: int = Field(default=4, ge=1, le=64)
    media_cache_bytes: int = Field(default=128 * 2**20, ge=0, le=10_000_000_000)
    media_held_bytes: int = Field(default=256 * 2**20, ge=1, le=1_000_000_000_000)

    def decoders(self) -> DecoderOptions:
        """How media are decoded."""
        return DecoderOptions(
            self.media_limits(),
            self.media_workers,
            self.media_cache_bytes,
            self.media_held_bytes,
        )


class DataSettings(Settings):
    """The cache of datasets that are fetched by name.

    CALIPER_DATA_CACHE: their folder, by default `~/.cache/caliper/datasets`; CALIPER_DATA_BYTES:
    maximum size of one, with the pictures that are unpacked from it.
    """

    data_cache: Path | None = None
    data_bytes: int = Field(default=200_000_000_000, ge=1)


class CallSettings(Settings):
    """How the command line reaches model endpoints.

    CALIPER_TOKEN: bearer token; CALIPER_TOKEN_FILE: a file that holds it;
    CALIPER_TOKEN_HOSTS: hosts it is sent to; CALIPER_TOKENS_FILE: a file of tokens by host;
    CALIPER_CA: a PEM file of certificates to trust over https:// instead of this machine's;
    CALIPER_TIMEOUT: seconds a call may take; CALIPER_RETRY_BUDGET: seconds to retry
    failed calls before questions are Unscored; CALIPER_PRICES: prices per million prompt and reply
    tokens by model, such as MODEL=1/4,OTHER=2/8.
    """

    token: SecretStr | None = None
    token_file: Path | None = None
    token_hosts: str = ""
    tokens_file: Path | None = None
    ca: Path | None = None
    timeout: float = Field(default=120.0, gt=0, le=3600)
    retry_budget: float = Field(default=600.0, ge=0, le=86400)
    prices: str = ""

    def tokens(self, named: Iterable[str]) -> EndpointTokens:
        """The tokens of endpoints. `named` are the SPECs that do not come from a file.

        Raises InvalidInput naming the variable, or file and line.
        """
        file = self.tokens_file
        lines = () if file is None else read_token_lines(file, variable(type(self), "tokens_file"))
        from_file = self.token_file is not None and not os.environ.get(f"{PREFIX}TOKEN")
        source = variable(type(self), "token_file" if from_file else "token")
        token = NamedToken.of(self.token, source)
        if not self.token_hosts:
            return EndpointTokens(token, named_audiences(named), lines, strict=True)
        try:
            return EndpointTokens(token, parse_audiences(self.token_hosts), lines)
        except InvalidInput as error:
            field = variable(type(self), "token_hosts")
            raise InvalidInput(error.message, file="environment", field=field) from None


class ModelSettings(MediaSettings, DataSettings, CallSettings):
    """The command line: CALIPER_..."""

    others: ClassVar[tuple[str, ...]] = (
        *(f"{PREFIX}{service}_" for service in SERVICES),
        f"{PREFIX}STORE",
        f"{PREFIX}KAFKA_",
        f"{PREFIX}SERVER_",
        f"{PREFIX}WEBHOOK_SECRET_",
    )


Read = TypeVar("Read", bound=Settings)


def read_settings(kind: type[Read], **overrides: Any) -> Read:
    """The settings of that class from the environment; `overrides` take precedence.

    Raises InvalidInput naming the wrong variable, UnknownName for an unknown variable.
    """
    prefix = str(kind.model_config["env_prefix"])
    variables = tuple(variable(kind, name) for name in kind.model_fields)
    for name in sorted(os.environ):
        # Case-insensitive, like pydantic reads them.
        upper = name.upper()
        if (
            upper.startswith(prefix)
            and upper not in variables
            and not upper.startswith(kind.others)
        ):
            others = (f"{each}..." if each.endswith("_") else each for each in kind.others)
            raise UnknownName("environment variable", name, (*variables, *others))
    try:
        return kind(**overrides)
    except ValidationError as error:
        problem = error.errors()[0]
        field = variable(kind, str(problem["loc"][0])) if problem["loc"] else prefix
        raise InvalidInput(problem_text(problem), file="environment", field=field) from None


def variable(kind: type[Settings], field: str) -> str:
    """The environment variable of a field."""
    return f"{kind.model_config['env_prefix']}{field.upper()}"


def access(in_flight: int, named: Iterable[str | None] = ()) -> Access:
    """How the command line reaches endpoints, with at most `in_flight` concurrent calls. `named`
    are SPECs from the command line or a program: those in a file may be somebody else's.

    Raises what `read_settings` raises, and InvalidInput for an unusable file of tokens.
    """
    settings = read_settings(ModelSettings)
    tokens = settings.tokens(filter(None, named))
    return Access(tokens, settings.timeout, in_flight, settings.retry_budget, settings.ca)


def decoders() -> DecoderOptions:
    """How the command line decodes media. Raises what `read_settings` raises."""
    return read_settings(ModelSettings).decoders()


def _secret(file: Path, field: str) -> str:
    try:
        secret = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"cannot read the secret: {error}", file="environment", field=field
        ) from error
    if not secret:
        raise InvalidInput("the file holds no secret", file="environment", field=field)
    return secret
