"""An SMTP server on a free loopback port, which keeps what it gets."""

import asyncio
import base64
import ssl
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Self

from tests.fakes.certificates import Pair

_OK = "250 OK"


@dataclass
class MailServer:
    """The server. With `tls` it offers STARTTLS. `refused` addresses are answered with 550; with
    `silent` it never says a word. `said` lists the commands, with "TLS " before encrypted ones.
    """

    tls: Pair | None = None
    refused: tuple[str, ...] = ()
    silent: bool = False
    said: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if self.silent:
                await reader.read()
            else:
                await self._talk(reader, writer)
        except (ConnectionError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mark, answer = "", "220 ready"
        while True:
            writer.write(f"{answer}\r\n".encode())
            await writer.drain()
            line = (await reader.readline()).decode().strip()
            verb = line.partition(" ")[0].upper()
            if verb in ("", "QUIT"):
                return
            self.said.append(mark + line)
            answer = self._answer(verb, line, is_encrypted=bool(mark))
            if verb == "STARTTLS" and self.tls is not None:
                writer.write(f"{answer}\r\n".encode())
                await writer.drain()
                context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
                context.load_cert_chain(self.tls.certificate, self.tls.key)
                await writer.start_tls(context)
                mark = "TLS "
                line = (await reader.readline()).decode().strip()
                self.said.append(mark + line)
                answer = self._answer("EHLO", line, is_encrypted=True)
            elif verb == "DATA":
                writer.write(b"354 go on\r\n")
                data = await reader.readuntil(b"\r\n.\r\n")
                self.messages.append(message_from_bytes(data[:-5], policy=default))
                answer = _OK

    def _answer(self, verb: str, line: str, *, is_encrypted: bool) -> str:
        if verb == "EHLO":
            more = ["STARTTLS"] if self.tls and not is_encrypted else ["AUTH PLAIN"]
            return "\r\n".join([*("250-here",), *(f"250 {each}" for each in more)])
        if verb == "AUTH":
            return "235 welcome"
        if verb == "STARTTLS":
            return "220 go on" if self.tls else "502 no"
        if verb in ("MAIL", "RCPT") and any(each in line for each in self.refused):
            return "550 nobody of that name"
        return _OK

    @property
    def passwords(self) -> list[str]:
        """The passwords that it was told."""
        given = [line.partition("AUTH PLAIN ")[2] for line in self.said if "AUTH PLAIN" in line]
        return [base64.b64decode(each).decode().split("\0")[-1] for each in given]
