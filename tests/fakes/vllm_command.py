"""Stands for the command `vllm`, for recipes that start it.

It takes the options that recipes use, as vLLM has them, and adds its id, model and GPUs to the file
`VLLM_CALLS`. A captioner's words are in the file `weights` of the model's folder; a judge finds
captions right that name a zebra. With a file `hold`, a captioner makes the file `asked` and hangs.
"""

import argparse
import json
import os
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2]))
from tests.fakes.http_answers import AnswerHandler


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("vllm", allow_abbrev=False)
    serve = parser.add_subparsers(required=True).add_parser("serve", allow_abbrev=False)
    serve.add_argument("model")
    serve.add_argument("--port", type=int, default=8000)
    serve.add_argument("--served-model-name", required=True)
    serve.add_argument("--tensor-parallel-size", type=int, default=1)
    serve.add_argument("--data-parallel-size", type=int, default=1)
    serve.add_argument("--limit-mm-per-prompt", type=json.loads, default={})
    return parser.parse_args()


class Handler(AnswerHandler):
    options: argparse.Namespace

    def get(self) -> None:
        name = self.options.served_model_name
        models = {"data": [{"id": name, "owned_by": "vllm", "root": self.options.model}]}
        bodies: dict[str, Any] = {"/health": {}, "/v1/models": models}
        self.answer(bodies.get(self.path), 200 if self.path in bodies else 404)

    def post(self) -> None:
        request = json.loads(self.body())
        content = request["messages"][-1]["content"]
        pictures = sum(part["type"] == "image_url" for part in content if isinstance(part, dict))
        if pictures and Path("hold").exists():
            Path("asked").touch()
            threading.Event().wait()
        score = 1 if "zebra" in json.dumps(content) else -1
        text = json.dumps({"score": score, "reason": ""})
        if pictures:
            text = Path(self.options.model, "weights").read_text()
        allowed = pictures <= self.options.limit_mm_per_prompt.get("image", 999)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        model = self.options.served_model_name
        body = {"model": model, "choices": [choice], "id": "1", "created": 0}
        self.answer(body, 200 if allowed else 400)


def main() -> None:
    chosen = Handler.options = options()
    devices = os.environ["CUDA_VISIBLE_DEVICES"].split(",")
    if chosen.tensor_parallel_size * chosen.data_parallel_size != len(devices):
        sys.exit(f"{len(devices)} GPUs for another number of workers")
    with Path(os.environ["VLLM_CALLS"]).open("a") as file:
        file.write(json.dumps([os.getpid(), chosen.model, devices]) + "\n")
    ThreadingHTTPServer(("127.0.0.1", chosen.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
