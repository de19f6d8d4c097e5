"""`caliper size`: the weights and the KV cache of a model, and the GPUs that hold them."""
