"""E-mail by SMTP, in a thread; encrypted by STARTTLS unless the server is on this machine."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import Callable, Collection
from dataclasses import dataclass
from email.message import EmailMessage
from ipaddress import ip_address
from urllib.parse import SplitResult, unquote, urlsplit

from caliper.adapters.notices.bodies import mail_text
from caliper.core.errors import BackendRejected, BackendUnavailable, InvalidInput
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice

_SUBMISSION = 587


@dataclass(frozen=True, slots=True)
class Mailbox:
    """ports.notices.NoticeTarget. `url` is smtp://USER@HOST:PORT; `secret` is the user's password.
    `seconds` limit each answer of the server.
    """

    kinds: Collection[NoticeKind]
    url: Callable[[], str]
    secret: Callable[[], str] | None
    sender: str
    to: tuple[str, ...]
    seconds: float = 5.0

    async def deliver(self, notice: Notice) -> None:
        """Send the message once. It counts as taken if the server takes it for one address: sent
        again, it would come twice there.
        """
        try:
            await asyncio.to_thread(self._send, self._message(notice))
        except smtplib.SMTPResponseException as error:
            raise BackendRejected(f"answered with code {error.smtp_code}") from error
        except (smtplib.SMTPException, OSError) as error:
            raise BackendUnavailable(f"cannot be reached: {type(error).__name__}") from error

    def _message(self, notice: Notice) -> EmailMessage:
        message = EmailMessage()
        # A lone surrogate, of a file name, has no place in a header.
        message["Subject"] = notice.headline.encode("utf-8", "replace").decode()
        message["From"], message["To"] = self.sender, ", ".join(self.to)
        message["Message-ID"] = f"<{notice.id}@caliper>"
        message.set_content(mail_text(notice))
        return message

    def _send(self, message: EmailMessage) -> None:
        place = _parse(self.url())
        host = place.hostname or ""
        with smtplib.SMTP(host, place.port or _SUBMISSION, timeout=self.seconds) as server:
            if not _is_loopback(host):
                server.starttls(context=ssl.create_default_context())
            if place.username and self.secret is not None:
                server.login(unquote(place.username), self.secret())
            server.send_message(message)


def _parse(url: str) -> SplitResult:
    try:
        place = urlsplit(url)
        if place.scheme == "smtp" and place.hostname and place.port != 0:
            return place
    except ValueError:
        pass
    raise InvalidInput("expected smtp://USER@HOST:PORT", field="url")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
