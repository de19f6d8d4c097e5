"""Keeps the contract of Triton's vLLM backend; its language model is a hash of what it reads.

A fault is asked for by its name in brackets in the prompt. Tokens are words.
"""

import base64
import hashlib
import json
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

SAMPLING = {"max_tokens", "temperature", "top_p", "seed", "stop"}
"""Those of vLLM's sampling parameters that are known here; its default of max_tokens is 16."""
RETURNS = ("return_finish_reason", "return_num_input_tokens", "return_num_output_tokens")
WORDS = ("dog", "car", "tree", "table", "person", "boat", "house", "street")
FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


class TritonPythonModel:
    def initialize(self, args):
        self._threads = []
        # By what name schemas are known here, which differs between releases of the backend.
        config = json.loads(args["model_config"])
        self._form = config["parameters"]["schemas"]["string_value"]
        self._cancelled = self._waiting = 0

    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            thread = threading.Thread(
                target=self._infer, args=(BackendRequest(request, self._form), sender)
            )
            thread.start()
            self._threads = [each for each in self._threads if each.is_alive()] + [thread]

    def finalize(self):
        for thread in self._threads:
            thread.join()

    def _infer(self, asked, sender):
        try:
            self._answer(asked, sender)
        except Exception as error:
            # As the backend does it: a text that is no answer, beside the error.
            failed = pb_utils.TritonError(f"Error generating stream: {error}")
            text = [pb_utils.Tensor("text_output", np.array(["N/A"], dtype=object))]
            sender.send(pb_utils.InferenceResponse(text, error=failed), flags=FINAL)

    def _counts(self):
        return {"[waiting]": self._waiting, "[cancelled]": self._cancelled}

    def _answer(self, asked, sender):
        asked.read()
        if "[silent]" in asked.prompt or "[endless]" in asked.prompt:
            self._waiting += 1
            while not sender.is_cancelled():
                if "[endless]" in asked.prompt:
                    sender.send(asked.response(" and", "None", 1))
                time.sleep(0.005)
            self._waiting -= 1
            self._cancelled += 1
            sender.send(flags=FINAL)
        elif "[nothing]" in asked.prompt:
            sender.send(flags=FINAL)
        elif asked.stream:
            words, reason = asked.generated(self._counts())
            for number, word in enumerate(words):
                last = number == len(words) - 1
                text = word if number == 0 else f" {word}"
                response = asked.response(text, reason if last else "None", 1)
                sender.send(response, flags=FINAL if last else 0)
        else:
            words, reason = asked.generated(self._counts())
            front = "" if asked.exclude_input else asked.prompt
            text = front + " ".join(words)
            sender.send(asked.response(text, reason, len(words)), flags=FINAL)


class BackendRequest:
    """A request of the vLLM backend."""

    def __init__(self, request, form):
        self._request, self._form = request, form
        self.prompt, self.stream, self.exclude_input = "", False, False
        self._images, self._returns, self._sampling = [], {}, None

    def read(self):
        self.prompt = self._tensor("text_input")[0].decode("utf-8")
        images = self._tensor("image")
        for image in [] if images is None else images:
            decoded = base64.b64decode(image.decode("utf-8"), validate=True)
            if not decoded.startswith((b"\x89PNG", b"\xff\xd8")):
                raise ValueError("cannot identify image file")
            self._images.append(decoded)
        self.stream = self._flag("stream")
        exclude = self._tensor("exclude_input_in_output")
        self.exclude_input = self.stream if exclude is None else bool(exclude[0])
        if self.stream and not self.exclude_input:
            raise ValueError("When streaming, `exclude_input_in_output` = False is not allowed.")
        self._returns = {name: self._flag(name) for name in RETURNS}
        self._sampling = self._sampling_parameters()
        # The backend only logs what it cannot use, and comes to grief over the None after that.
        if self._sampling is None:
            raise AttributeError("'NoneType' object has no attribute 'lora_name'")

    def _sampling_parameters(self):
        written = self._tensor("sampling_parameters")
        try:
            given = json.loads(written[0].decode("utf-8")) if written is not None else {}
        except ValueError:
            return None
        return given if set(given) <= SAMPLING | {self._form} else None

    def generated(self, counts):
        if "[fail]" in self.prompt:
            raise RuntimeError("the engine is out of memory")
        if "[long]" in self.prompt:
            raise ValueError(
                "The decoder prompt (length 5000) is longer than the maximum model length of 4096. "
                "Make sure that `max_model_len` is no smaller than the number of text tokens."
            )
        if "[empty]" in self.prompt:
            return [], "stop"
        if "[abort]" in self.prompt:
            return ["half"], "abort"
        for name, count in counts.items():
            if name in self.prompt:
                return [str(count)], "stop"
        if "[prompt]" in self.prompt:
            told = {"prompt": self.prompt, "images": len(self._images), **self._sampling}
            return [json.dumps(told)], "stop"
        if self._form in self._sampling:
            guided = json.loads(self._sampling[self._form])
            return [json.dumps(dict.fromkeys(guided["json"]["properties"], 1))], "stop"
        state = hashlib.sha256("\0".join([self.prompt, *map(str, self._images)]).encode()).digest()
        words = [WORDS[byte % 8] for byte in state[: 8 + state[0] % 8]]
        limit = int(self._sampling.get("max_tokens", 16))
        return words[:limit], "stop" if len(words) <= limit else "length"

    def response(self, text, reason, tokens):
        written = text.encode("utf-8") + (b"\xe2\x82" if "[broken]" in self.prompt else b"")
        outputs = [pb_utils.Tensor("text_output", np.array([written], dtype=object))]
        if self._returns["return_finish_reason"]:
            outputs.append(pb_utils.Tensor("finish_reason", np.array([reason], dtype=np.object_)))
        if self._returns["return_num_input_tokens"]:
            # A scalar, though the configuration says [1]: so does the backend.
            count = np.asarray(len(self.prompt.split()), dtype=np.uint32)
            outputs.append(pb_utils.Tensor("num_input_tokens", count))
        if self._returns["return_num_output_tokens"]:
            count = np.asarray([tokens], dtype=np.uint32)
            outputs.append(pb_utils.Tensor("num_output_tokens", count))
        return pb_utils.InferenceResponse(output_tensors=outputs)

    def _flag(self, name):
        tensor = self._tensor(name)
        return tensor is not None and bool(tensor[0])

    def _tensor(self, name):
        tensor = pb_utils.get_input_tensor_by_name(self._request, name)
        return None if tensor is None else tensor.as_numpy()
