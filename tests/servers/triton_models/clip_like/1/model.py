"""An embedder of texts and of encoded pictures: a text is near a picture if it says `near`."""

import numpy as np
import triton_python_backend_utils as pb_utils

JPEG = b"\xff\xd8\xff"
PICTURE, NEAR, FAR = (1.0, 0.0), (0.6, 0.8), (0.0, 1.0)


class TritonPythonModel:
    def execute(self, requests):
        return [self._answered(request) for request in requests]

    def _answered(self, request):
        data = pb_utils.get_input_tensor_by_name(request, "data").as_numpy().ravel()
        rows = [
            PICTURE if one.startswith(JPEG) else NEAR if b"near" in one else FAR for one in data
        ]
        vectors = np.array(rows, dtype=np.float32)
        return pb_utils.InferenceResponse([pb_utils.Tensor("embedding", vectors)])
