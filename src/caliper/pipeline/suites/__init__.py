"""Suites and their checkpoints: the registry in the store, and the loop that evaluates."""
