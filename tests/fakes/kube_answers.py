"""A scripted API server over TLS, for the failures of a real one."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.certificates import certify
from tests.fakes.http_answers import AnswerHandler, serving


@dataclass
class KubeRequest:
    method: str
    path: str
    token: str | None
    body: bytes


@dataclass
class Answers:
    """The answers in order, the last one repeated: status and body. Status 0 cuts the link."""

    planned: list[tuple[int, object]]
    url: str = ""
    account: Path = Path()
    asked: list[KubeRequest] = field(default_factory=list)

    def next(self, asked: KubeRequest) -> tuple[int, object]:
        self.asked.append(asked)
        return self.planned.pop(0) if len(self.planned) > 1 else self.planned[0]


def _handler(answers: Answers) -> type[AnswerHandler]:
    class Handler(AnswerHandler):
        protocol_version = "HTTP/1.1"

        def get(self) -> None:
            token = self.headers.get("Authorization")
            status, content = answers.next(KubeRequest(self.command, self.path, token, self.body()))
            self.close_connection = True
            if status != 0:
                there = {"Location": f"{answers.url}/elsewhere"} if status == 307 else {}
                self.answer(content, status, **there)

    return Handler


@contextmanager
def answering(folder: Path, *planned: tuple[int, object]) -> Iterator[Answers]:
    """Run such a server; `account` is a folder as in a pod, with the token `account-token`."""
    ours = certify(folder / "tls")
    account = folder / "account"
    account.mkdir()
    (account / "ca.crt").write_bytes(ours.certificate.read_bytes())
    (account / "token").write_text("account-token\n", "ascii")
    answers = Answers(list(planned), account=account)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ours.certificate, ours.key)
    with serving(_handler(answers), context) as address:
        answers.url = f"https://{address}"
        yield answers
