"""HTTP servers in a thread, for clients that block."""

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class AnswerHandler(BaseHTTPRequestHandler):
    """Answers with bytes or as JSON, and logs nothing. Who changes something gets `post`."""

    def get(self) -> None:
        raise NotImplementedError

    def post(self) -> None:
        self.get()

    def do_GET(self) -> None:
        self.get()

    def do_POST(self) -> None:
        self.post()

    do_PUT = do_PATCH = do_POST  # noqa: N815 - as http.server names them

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, content: object, status: int = 200, **headers: str) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content_Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(
    handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Serve on a free loopback port, and give its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        # How often it looks whether it shall end, in seconds.
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
