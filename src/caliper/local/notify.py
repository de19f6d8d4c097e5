"""The recipients of notices about a suite's checkpoints: `notify` in its file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from caliper.adapters.notices.bodies import event_body, slack_body
from caliper.adapters.notices.mail import Mailbox
from caliper.adapters.notices.trackers import WITH_FIGURES, MlflowTracker, WandbTracker
from caliper.adapters.notices.webhook import Webhook
from caliper.core.notice_marks import NoticeKind
from caliper.core.suites import Suite
from caliper.lazy import check_library
from caliper.ports.clock import Clock
from caliper.ports.notices import NoticeTarget
from caliper.wiring.references import is_reference, referenced, under
from caliper.wiring.strict import Strict

_SCHEMES = {
    "json": ("https", "http"),
    "slack": ("https", "http"),
    "email": ("smtp",),
    "mlflow": ("https", "http"),
}
_NEEDED = {
    "json": ("url", "secret"),
    "slack": ("url",),
    "email": ("url", "sender", "to"),
    "wandb": ("project",),
    "mlflow": ("project",),
}
_LIBRARIES = ("wandb", "mlflow")
_LITERAL_PASSWORD = re.compile(r"://[^/]*:[^/]*@")
TOPIC_NAME = "kafka"
"""The topic's name among the targets."""


def _check_name(name: str) -> str:
    if name == TOPIC_NAME or not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", name, re.ASCII):
        raise ValueError(f"expected lower-case letters, digits, - and _, and not {TOPIC_NAME}")
    return name


TargetName = Annotated[str, AfterValidator(_check_name)]


class NotifyTarget(Strict):
    """A target. `url` and `secret` are `env:NAME` or `file:PATH`; a URL that is not secret may be
    given directly. `sender` and `to` are e-mail addresses, `project` is a tracker's.
    """

    shape: Literal["json", "slack", "email", "wandb", "mlflow"] = "json"
    url: str = ""
    secret: str = ""
    kinds: tuple[NoticeKind, ...] = Field(default=tuple(NoticeKind), min_length=1)
    sender: str = ""
    to: tuple[str, ...] = ()
    project: str = ""

    @field_validator("secret")
    @classmethod
    def _named(cls, value: str) -> str:
        if value and not is_reference(value):
            raise ValueError("expected env:NAME or file:PATH, not the secret itself")
        return value

    @model_validator(mode="after")
    def _complete(self) -> NotifyTarget:
        for field in _NEEDED[self.shape]:
            if not getattr(self, field):
                raise ValueError(f"the shape {self.shape} needs a value for {field}")
        if self.url:
            _check_url(self.shape, self.url)
        return self


def _check_url(shape: str, url: str) -> None:
    """Raise ValueError for a URL that the shape cannot use, or that is secret."""
    if is_reference(url):
        return
    if shape == "slack":
        raise ValueError("Slack's URL is a secret: give it as env:NAME or file:PATH")
    if not _SCHEMES.get(shape):
        raise ValueError(f"the shape {shape} has no url")
    if _LITERAL_PASSWORD.search(url):
        raise ValueError("a URL with a password is a secret: give it as env:NAME or file:PATH")
    schemes = _SCHEMES[shape]
    if not url.startswith(tuple(f"{scheme}://" for scheme in schemes)):
        raise ValueError(f"expected a url with {' or '.join(schemes)}")


def stored_targets(targets: Mapping[str, NotifyTarget], folder: Path) -> dict[str, Any]:
    """The targets as stored in a suite; paths are resolved against a folder."""
    return {
        name: one.model_copy(
            update={"url": under(one.url, folder), "secret": under(one.secret, folder)}
        ).model_dump(mode="json", exclude_defaults=True)
        for name, one in targets.items()
    }


def notice_targets(suite: Suite, clock: Clock) -> dict[str, NoticeTarget]:
    """A suite's targets, by name."""
    targets = suite.values.get("notify", {})
    return {
        name: _target(name, NotifyTarget.model_validate(one), clock)
        for name, one in targets.items()
    }


def permitted_targets(suite: Suite, clock: Clock, folder: Path | None) -> dict[str, NoticeTarget]:
    """Those of `notice_targets` whose variables begin with NOTIFY_ and whose files are in the
    folder: anyone who applies a suite to an installation decides where its secrets are sent.
    """
    targets = suite.values.get("notify", {})
    return {
        name: target
        for name, target in notice_targets(suite, clock).items()
        if all(_is_permitted(targets[name].get(field, ""), folder) for field in ("url", "secret"))
    }


def _is_permitted(text: str, folder: Path | None) -> bool:
    kind, _, name = text.partition(":")
    if kind == "env":
        return name.startswith("NOTIFY_")
    if kind == "file":
        return folder is not None and Path(name).resolve().is_relative_to(folder.resolve())
    return True


def _target(name: str, config: NotifyTarget, clock: Clock) -> NoticeTarget:
    kinds = frozenset(config.kinds)
    url = partial(referenced, config.url, f"notify.{name}.url")
    secret = partial(referenced, config.secret, f"notify.{name}.secret") if config.secret else None
    if config.shape == "email":
        return Mailbox(kinds, url, secret, config.sender, config.to)
    if config.shape == "wandb":
        return WandbTracker(kinds & WITH_FIGURES, config.project)
    if config.shape == "mlflow":
        return MlflowTracker(kinds & WITH_FIGURES, config.project, url)
    body = slack_body if config.shape == "slack" else event_body
    return Webhook(kinds, url, secret, body, clock)


def check_targets(suite: Suite) -> None:
    """Raise InvalidInput if a variable, file or library that is named is missing."""
    for name, one in suite.values.get("notify", {}).items():
        for field in ("url", "secret"):
            referenced(one.get(field, ""), f"notify.{name}.{field}")
        if one.get("shape") in _LIBRARIES:
            check_library(one["shape"], field="shape")
