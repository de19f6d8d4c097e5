"""A request/response model that does what its prompt says: a fault by its name, or a caption."""

import json
import time

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [self._answered(request) for request in requests]

    def _answered(self, request):
        images = pb_utils.get_input_tensor_by_name(request, "image").as_numpy().ravel()
        prompt = pb_utils.get_input_tensor_by_name(request, "prompt").as_numpy().ravel()[0]
        fault, _, rest = prompt.decode("utf-8").partition(" ")
        if fault == "fail":
            return pb_utils.InferenceResponse([], pb_utils.TritonError(rest))
        if fault == "crash":
            raise RuntimeError(rest)
        if fault == "slow":
            time.sleep(float(rest))
        caption = {"broken": b"cut \xe2\x82", "empty": b""}.get(fault)
        if caption is None:
            told = {"images": len(images), "bytes": [len(image) for image in images]}
            told |= {"prompt": prompt.decode("utf-8"), "asked": json.loads(request.parameters())}
            caption = json.dumps(told, sort_keys=True).encode()
        reason = {"long": b"length", "blocked": b"content_filter"}.get(fault, b"stop")
        return pb_utils.InferenceResponse(
            [_tensor("caption", caption), _tensor("finish_reason", reason)]
        )


def _tensor(name, value):
    return pb_utils.Tensor(name, np.array([[value]], dtype=object))
