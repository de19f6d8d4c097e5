"""E-mail: what a server gets, and that no password crosses a network in plaintext."""

from pathlib import Path

import pytest
from tests.fakes.certificates import certify
from tests.fakes.mail_server import MailServer
from tests.fakes.notices import notice
from tests.fakes.receivers import SECRET

from caliper.adapters.notices.mail import Mailbox
from caliper.core.errors import (
    BackendRejected,
    BackendUnavailable,
    CaliperError,
    InvalidInput,
)
from caliper.core.notice_marks import NoticeKind

# No loopback address by its name, but this machine all the same.
ELSEWHERE = "0.0.0.0"  # noqa: S104 - not bound


def mailbox(url: str, *to: str, seconds: float = 30.0) -> Mailbox:
    kinds, given = frozenset(NoticeKind), to or ("a@team.test",)
    return Mailbox(kinds, lambda: url, lambda: SECRET, "caliper@team.test", given, seconds)


async def test_everybody_gets_the_message() -> None:
    async with MailServer() as server:
        box = mailbox(f"smtp://127.0.0.1:{server.port}", "a@team.test", "b@team.test")
        await box.deliver(notice(name="step-7 \udc80"))
    (message,) = server.messages
    assert message["To"] == "a@team.test, b@team.test"
    assert message["Subject"] == "nightly: step-7 ? (step 7) regressed: capability 41.2"
    assert message["Message-ID"] == f"<{notice(name='step-7 ?').id}@caliper>"
    text = str(message.get_payload())
    assert "capability average.f1: 41.25 (40.00 to 42.50)" in text
    assert "capability average.f1 -2.00" in text
    assert server.passwords == []


async def test_a_server_elsewhere_is_spoken_to_encrypted_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = certify(tmp_path, hosts=f"IP:{ELSEWHERE}")
    async with MailServer() as server:
        box = mailbox(f"smtp://caliper@{ELSEWHERE}:{server.port}")
        with pytest.raises(BackendUnavailable, match="SMTPNotSupportedError"):
            await box.deliver(notice())
    assert (server.passwords, server.messages) == ([], [])
    async with MailServer(pair) as server:
        box = mailbox(f"smtp://caliper@{ELSEWHERE}:{server.port}")
        with pytest.raises(BackendUnavailable, match="SSLCertVerificationError"):
            await box.deliver(notice())
        assert server.passwords == []
        monkeypatch.setenv("SSL_CERT_FILE", str(pair.certificate))
        await box.deliver(notice())
    assert (server.passwords, len(server.messages)) == ([SECRET], 1)
    assert all(line.startswith("TLS ") for line in server.said if "AUTH" in line or "RCPT" in line)


@pytest.mark.parametrize(
    ("server", "error", "told"),
    [
        (MailServer(silent=True), BackendUnavailable, "SMTPServerDisconnected"),
        (MailServer(refused=("a@", "b@")), BackendUnavailable, "SMTPRecipientsRefused"),
        (MailServer(refused=("FROM:",)), BackendRejected, "answered with code 550"),
    ],
)
async def test_what_a_server_does_not_take_is_an_error(
    server: MailServer, error: type[CaliperError], told: str
) -> None:
    async with server:
        url, seconds = f"smtp://127.0.0.1:{server.port}", 0.5 if server.silent else 30.0
        box = mailbox(url, "a@team.test", "b@team.test", seconds=seconds)
        with pytest.raises(error, match=told):
            await box.deliver(notice())


@pytest.mark.parametrize("url", ["http://h", "smtp://", "smtp://h:x", "secret"])
async def test_a_wrong_address_is_named_without_it(url: str) -> None:
    with pytest.raises(InvalidInput, match="expected smtp://USER@HOST:PORT") as caught:
        await mailbox(url).deliver(notice())
    assert "secret" not in str(caught.value)


async def test_one_address_that_is_refused_does_not_send_the_others_twice() -> None:
    async with MailServer(refused=("b@",)) as server:
        url = f"smtp://127.0.0.1:{server.port}"
        await mailbox(url, "a@team.test", "b@team.test").deliver(notice())
    assert len(server.messages) == 1
