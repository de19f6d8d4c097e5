"""The suites' evaluation of checkpoints, in its own process."""
