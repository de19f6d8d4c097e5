"""The judge in its own process."""
