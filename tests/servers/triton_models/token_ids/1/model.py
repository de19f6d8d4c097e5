"""An encoder with a vector for every token: (id, id squared, 1, 0); the third is no
number for id 0."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [self._answered(request) for request in requests]

    def _answered(self, request):
        ids = pb_utils.get_input_tensor_by_name(request, "input_ids").as_numpy()
        ids = ids.astype(np.float32)
        hidden = np.stack([ids, ids**2, ids / ids, np.zeros_like(ids)], axis=-1)
        return pb_utils.InferenceResponse([pb_utils.Tensor("last_hidden_state", hidden)])
