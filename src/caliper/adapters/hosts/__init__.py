"""Servers of checkpoints: a command, Triton, an endpoint that others run, a pod."""
