"""What evaluates checkpoints by suites, in its own process."""
