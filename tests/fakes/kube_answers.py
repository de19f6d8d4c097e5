"""A scripted API server over TLS, for the failures of a real one."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.fakes.certificates import certify


@dataclass
class Asked:
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
    asked: list[Asked] = field(default_factory=list)

    def next(self, asked: Asked) -> tuple[int, object]:
        self.asked.append(asked)
        return self.planned.pop(0) if len(self.planned) > 1 else self.planned[0]


def _handler(answers: Answers) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            token = self.headers.get("Authorization")
            status, content = answers.next(Asked(self.command, self.path, token, body))
            self.close_connection = True
            if status == 0:
                return
            text = content if isinstance(content, bytes) else json.dumps(content).encode("utf-8")
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            if status == 307:
                self.send_header("Location", f"{answers.url}/elsewhere")
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET  # noqa: N815 - as its base calls it

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base has it
            pass

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
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(answers))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ours.certificate, ours.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    answers.url = f"https://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield answers
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
