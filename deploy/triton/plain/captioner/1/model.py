"""A captioner of one answer a request: pictures and a prompt in, a caption out.

It stands in the place of a checkpoint, so that everything around one can be tried on a bare
machine: its captions follow from the bytes of the pictures and from nothing that they show.
Put a model's own code into `describe`.
"""

import hashlib
import json

import numpy as np
import triton_python_backend_utils as pb_utils

COLOURS = ("red", "green", "blue", "yellow", "white", "black", "brown", "grey")
THINGS = ("dog", "car", "tree", "table", "person", "boat", "house", "street")


def describe(images, prompt, parameters):
    """The caption of encoded pictures: one, the frames of a clip, or none (empty bytes)."""
    state = hashlib.sha256(b"\0".join([*images, prompt])).digest()
    if not any(images):
        return f"There is no picture, and {len(prompt.split())} words were asked."
    first, second = THINGS[state[0] % 8], THINGS[state[1] % 8]
    words = f"A {COLOURS[state[2] % 8]} {first} beside a {COLOURS[state[3] % 8]} {second}.".split()
    return " ".join(words[: parameters.get("max_tokens", len(words))])


class TritonPythonModel:
    def execute(self, requests):
        return [self._answered(request) for request in requests]

    def _answered(self, request):
        images = pb_utils.get_input_tensor_by_name(request, "image").as_numpy()
        prompts = pb_utils.get_input_tensor_by_name(request, "prompt").as_numpy()
        # Decoding comes as parameters of the request: max_tokens, temperature, top_p, seed.
        parameters = json.loads(request.parameters())
        captions = [
            describe(list(shown), prompt, parameters).encode()
            for shown, prompt in zip(images, prompts.ravel(), strict=True)
        ]
        written = np.array(captions, dtype=object).reshape(prompts.shape)
        return pb_utils.InferenceResponse([pb_utils.Tensor("caption", written)])
