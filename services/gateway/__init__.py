"""The gateway in its own process."""
