"""A captioner's server as a command starts one.

    python checkpoint_host.py PORT REVISION FILE [TROUBLE]

It starts a process of its own, and writes the ids of both to the end of the file. TROUBLE: `slow`
is never ready, `hangs` stops answering at all with the first caption, `ends` ends with it, `waits`
gives none, and makes FILE.asked. With `hangs` the other process ignores SIGTERM.
"""

import os
import subprocess
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
from tests.fakes.http_answers import AnswerHandler

PORT, REVISION, FILE, TROUBLE = (*sys.argv[1:5], "", "", "", "")[:4]
_HANGS = threading.Event()


class Handler(AnswerHandler):
    def get(self) -> None:
        self._hang()
        if self.path == "/v1/models":
            self.answer({"data": [{"id": REVISION, "owned_by": "us", "root": REVISION}]})
        elif self.path == "/health":
            self.answer({}, 503 if TROUBLE == "slow" else 200)
        else:
            self.answer({}, 404)

    def post(self) -> None:
        if TROUBLE == "ends":
            sys.stderr.write("out of memory\n")
            os._exit(9)
        if TROUBLE == "hangs":
            _HANGS.set()
        if TROUBLE == "waits":
            Path(f"{FILE}.asked").touch()
            threading.Event().wait()
        self._hang()
        message = {"role": "assistant", "content": f"A park, says {REVISION}."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.answer({"model": REVISION, "choices": [choice], "id": "1", "created": 0})

    def _hang(self) -> None:
        if _HANGS.is_set():
            threading.Event().wait()


def main() -> None:
    deaf = "trap '' TERM; " if TROUBLE == "hangs" else ""
    child = subprocess.Popen(["sh", "-c", f"{deaf}exec sleep 600"])
    with Path(FILE).open("a") as file:
        file.write(f"{os.getpid()} {child.pid}\n")
    sys.stderr.write("loaded\n")
    ThreadingHTTPServer(("127.0.0.1", int(PORT)), Handler).serve_forever()


if __name__ == "__main__":
    main()
